#pragma once
// How a small_call is cut into strips: some rows and some columns as vectors, and the way through them.

#include <einparallel/kernel/product/small_call.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// A loop of a strip: bytes from one iteration to the next, in A, B, C and what is prefetched of A.
struct strip_loop {
    index count;
    index a;
    index b;
    index c;
    index ahead;

    /// Goes on from where a loop inside ends.
    void follow(const strip_loop& inside) {
        a -= inside.count * inside.a;
        b -= inside.count * inside.b;
        c -= inside.count * inside.c;
        ahead -= inside.count * inside.ahead;
    }
};

/// A part of a small_call: some rows, and some columns as vectors.
template <class T>
struct strip_of {
    const T* a;
    const T* b;
    T* c;
    const index* a_rows;  ///< offsets of its rows; where they are evenly apart, a and c begin with the first one
    const index* c_rows;
    index high;         ///< rows
    strip_loop inner;   ///< rows, or columns
    strip_loop outer;   ///< the others
    strip_loop around;  ///< points, unless `outer` would have one iteration
    index by_ahead;     ///< bytes that are prefetched in a step
    index ahead;        ///< bytes from a row to the one that is prefetched meanwhile
    index asked;        ///< bytes of each row ahead that a group prefetches; 0: none
    index asks_from;    ///< the number of its first group
    index groups;       ///< of Vectors vectors of columns
    index next_b;       ///< from one group to the next
    index next_c;
    index last_of_b;  ///< from the first vector to the last one
    index last_of_c;
    unsigned short first;  ///< lanes of the vectors before the last one, as bits
    unsigned short last;   ///< … of the last vector
    bool add;
    bool is_flat;  ///< points are in `outer`
    bool by_rows;  ///< some rows are finished before the next ones, else columns

    /// Notes the loops of strips of so many rows each.
    void take_loops(const small_call& call, index rows_of_one) {
        constexpr auto size = index(sizeof(T));
        const index a_row = call.is_even && high > 1 ? (a_rows[1] - a_rows[0]) * size : 0;
        const index c_row = call.is_even && high > 1 ? (c_rows[1] - c_rows[0]) * size : 0;
        const strip_loop rows{high / rows_of_one, rows_of_one * a_row, 0, rows_of_one * c_row, rows_of_one * a_row};
        const strip_loop columns{groups, 0, next_b * size, next_c * size, rows_of_one * asked};
        by_ahead = asked * rows_of_one / call.k;
        ahead += asks_from * rows_of_one * asked;
        inner = by_rows ? columns : rows;
        outer = by_rows ? rows : columns;
        around = {1, call.a_point * size, call.b_point * size, call.c_point * size, call.a_point * size};
        is_flat = outer.count == 1;
        if (is_flat) {  // one loop less for each point
            std::swap(outer, around);
        } else {
            around.follow(outer);
        }
        outer.follow(inner);
    }

    void take_points(index points) { (is_flat ? outer : around).count = points; }
};

/// A strip_of and the kernel that computes it.
template <class T>
struct strip_piece {
    using kernel = void (*)(const small_call&, const strip_of<T>&);

    kernel compute;
    strip_of<T> call;
};

/// Cuts rows into the tallest strips of `high`, and then lower ones. Never inlined: it would be code to compile.
/// @return how many pieces there are
template <class T>
[[gnu::noinline]] index cut_rows(const small_call& call, const strip_of<T>& columns, index top, index rows,
                                 std::span<const index> high, const typename strip_piece<T>::kernel* kernels,
                                 strip_piece<T>* pieces, index count) {
    for (index row = top; row < top + rows;) {
        std::size_t position = high.size() - 1;
        while (high[position] > top + rows - row) {
            --position;
        }
        const index whole = (top + rows - row) / high[position] * high[position];
        strip_piece<T>& made = pieces[count++] = {kernels[position], columns};
        made.call.a_rows = call.a_rows + row;
        made.call.c_rows = call.c_rows + row;
        made.call.high = whole;
        made.call.take_loops(call, high[position]);
        if (call.is_even) {
            made.call.a += call.a_rows[row] + call.along[0].a;
            made.call.b += call.along[0].b;
            made.call.c += call.c_rows[row];
        }
        row += whole;
    }
    return count;
}

/// How many bytes of each row ahead a group asks for, and how many bytes ahead the first one of these rows is. Many
/// rows that follow one another in memory may come from far away. Never inlined.
[[gnu::noinline]] inline std::pair<index, index> asks_of(const small_call& call, index groups, index element) {
    constexpr index fewest = 64;     // rows
    constexpr index shortest = 256;  // bytes of a row: processors fetch ahead along shorter ones
    constexpr index rows_ahead = 12;
    if (!call.is_even || call.m <= fewest || call.k * element < shortest || call.along[1].a - call.along[0].a != 1) {
        return {0, 0};
    }
    const index row = (call.a_rows[1] - call.a_rows[0]) * element;
    const index asked = row / groups;
    return {asked > 0 && 6 * asked <= 64 * call.k ? asked : 0, rows_ahead * row};
}

}  // namespace einparallel::EINPARALLEL_DETAIL
