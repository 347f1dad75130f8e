#pragma once
// Runs a loop nest row by row, with code that is compiled once for all types and functors; the caller computes the
// rows.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/simd/functor_identity.hpp>
#include <einparallel/kernel/simd/op_row.hpp>
#include <einparallel/kernel/simd/vector_fold.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// An operand as rows read it: its first element and its element type.
struct row_operand {
    const std::byte* data = nullptr;
    element_type element{};
    index counts_from = -1;  ///< for indices that are not in memory: the first of them

    row_operand() = default;
    row_operand(const void* first, element_type type) : data(static_cast<const std::byte*>(first)), element(type) {}

    /// True where its elements are of type T.
    template <class T>
    [[nodiscard]] bool is() const {
        return element == element_type_of<T>();
    }
    template <class T>
    [[nodiscard]] const T* elements() const {
        return reinterpret_cast<const T*>(data);
    }
    [[nodiscard]] index bytes() const { return index(element.bytes); }
    [[nodiscard]] const std::byte* at(index offset) const { return data + offset * bytes(); }
};
using row_operands = small_vector<row_operand, 4>;

/// ⊕ of elements of one type, as a function over rows.
struct row_reduction {
    row_function run = nullptr;
    const void* functor = nullptr;
    index bytes = 0;  ///< bytes of an element
    std::array<std::byte, 16> identity{};
    identity_function told = nullptr;  ///< tells the identity of the application's functor; null for the library's ⊕
    element_type element{};
    fold_function fold = nullptr;  ///< ⊕ along rows
};
template <class Out, class Reduce>
row_reduction row_reduction_of(const Reduce& reduce) {
    row_reduction made{row_function_of<0, Reduce, Out, Out, Out>(), state_of(reduce), index(sizeof(Out)), {}};
    made.element = register_type<Out>();
    made.fold = fold_function_of<Reduce, Out>();
    const Out identity = Reduce::template identity<Out>();
    __builtin_memcpy(made.identity.data(), &identity, sizeof(Out));
    if constexpr (!has_op_code<Reduce>) {
        made.told = &identity_of<Reduce>;
    }
    return made;
}

class row_walk;

/// The part of a row-by-row computation that knows the types: accumulates rows of ⊗ in private memory, the results, and
/// writes these to the output. A row is up to `width` points of the innermost loop, few enough for the first-level
/// cache.
class row_worker : private not_copied {
public:
    /// @param results  memory of the caller for `width` elements
    row_worker(const row_reduction& reduction, void* output, const row_operands& operands, write_mode mode,
               void* results, index width)
        : reduction_(reduction),
          output_(static_cast<std::byte*>(output)),
          mode_(mode),
          results_(static_cast<std::byte*>(results)),
          width_(width),
          operands_(operands) {
        if (reduction.fold != nullptr) {
            folds.longest = std::min(width, least_width) / 4;
            folds.shortest = shortest_vector_row(std::size_t(reduction.bytes));
        }
    }

    /// results[i] = ⊗ at point i where `first`, results[i] ⊕= ⊗ otherwise. Point i of operand r lies i · moves[r]
    /// elements after from[r]. After straight(true, …) it may write to the output at once instead.
    virtual void accumulate(const std::byte* const* from, const index* moves, index count, bool first) = 0;
    /// Runs the walk, which is a share of the nest, on a new worker with the same operands. Where `number` is
    /// to_output, it writes to the output. Otherwise the share is a split of long sums: it writes to this worker's
    /// results, from `number` on.
    virtual void run_own(const row_walk& walk, index number) = 0;
    static constexpr index to_output = -1;
    /// Every worker has room for at least `least_width` results, and for at most `largest_row` bytes of them.
    static constexpr index least_width = 1024;
    static constexpr std::size_t largest_row = 16384;
    /// Points at a time where the row itself is summed: enough lanes to hide the latency of a sum.
    index summed_width = 64;
    /// Points at a time where nothing is summed.
    index mapped_width = 256;
    /// Whether to write an output that outgrows the caches past them. This costs a copy of rows that could be computed
    /// in the output at once.
    bool streams_rows = true;
    /// Whether accumulate() takes any moves where something is summed. Otherwise, and always where nothing is summed,
    /// all moves are 1, and other rows are first gathered into contiguous memory.
    bool reads_any_move = false;
    /// Whether accumulate() gets indices that are not in memory as two numbers where they count along the row: the
    /// first of them in place of its address, and as its move by how much they grow. Otherwise they are written to
    /// memory, and the move is in_memory.
    bool counts = false;
    static constexpr index in_memory = std::numeric_limits<index>::min();
    /// Which stretches fold_rows() sums, and fold_operands().
    row_folds folds;
    /// Set by accumulate() where it has left the sum of all points of a row in the first result.
    bool is_folded = false;

    /// Writes (or combines) `count` results, from result `number` on, into the output: from element `offset` on, `move`
    /// elements apart.
    virtual void write(index number, index offset, index move, index count) = 0;
    /// results[i] = ⊕ of results[i + s · elements], s = 0 … count − 1, for every i below `elements`.
    EINPARALLEL_INLINE void fold(index elements, index count);

    /// results[r] = ⊕ of the r-th of `rows` rows of `length` results.
    void fold_rows(index length, index rows) const { reduction_.fold(results_, results_, length, length, rows); }
    /// results[r] = ⊕ of the elements of the first operand in row r: `length` elements, which lie side by side.
    /// @param moves   of every slot: from one point of a row to the next
    /// @param beyond  of every slot: from one row to the next
    virtual void fold_operands(const std::byte* const* from, [[maybe_unused]] const index* moves, const index* beyond,
                               index length, index rows) {
        reduction_.fold(results_, from[0], beyond[1], length, rows);
    }

    [[nodiscard]] index width() const { return width_; }
    [[nodiscard]] const row_operands& operands() const { return operands_; }
    /// Given whether the output outgrows the caches, sets and returns whether it is written past them.
    bool stream(bool streams) { return streams_ = streams && streams_rows; }
    index mapped_row() const { return std::min(width_, mapped_width); }
    /// Says that the next row goes to the output at `offset`, and whether it is contiguous there and written only once.
    void straight(bool is_straight, index offset) {
        straight_ = is_straight && mode_ == write_mode::overwrite ? output_at(offset) : nullptr;
    }

protected:
    ~row_worker() = default;

    [[nodiscard]] std::byte* output_at(index offset) const { return output_ + offset * reduction_.bytes; }
    [[nodiscard]] std::byte* result(index number) const { return results_ + number * reduction_.bytes; }
    EINPARALLEL_INLINE void write_row(index number, index offset, index move, index count) const;
    /// into[i] = into[i] ⊕ from[i].
    void reduce(std::byte* into, const std::byte* from, index count) const {
        const void* const both[] = {into, from};
        reduction_.run(reduction_.functor, into, both, count);
    }

    row_reduction reduction_;
    std::byte* output_;
    write_mode mode_;
    std::byte* results_;
    std::byte* straight_ = nullptr;

private:
    index width_;
    row_operands operands_;
    bool streams_ = false;
};

/// Computes the points of the walk through `worker`, whose width is 64 at least.
EINPARALLEL_INLINE void run_walk(const row_walk& walk, row_worker& worker);

/// Computes every output element of the nest through `worker`, on several threads where that is worth it.
/// @pre no extent of the nest is 0; loops sorted by the output's stride
EINPARALLEL_INLINE void run_rows(const loop_nest& nest, row_worker& worker);

/// Bytes from one row of `bytes` bytes to the next. They are not close to a multiple of a page: otherwise reading one
/// row would wait for writing another.
constexpr index row_pitch(index bytes) {
    constexpr index page = 4096;
    const index whole = (bytes + 63) / 64 * 64;
    return whole + ((whole + page / 8) % page < page / 4 ? page / 4 : 0);
}

/// A row of stretches: points lie `move` elements apart, stretches `beyond` elements.
struct row_steps {
    const void* first;
    index move = 1;
    index beyond = 0;
};
/// Copies `count` stretches of `length` elements each from one row to another. An element has 1, 2, 4, 8 or 16 bytes.
EINPARALLEL_INLINE void copy_rows(index bytes, const row_steps& to, const row_steps& from, index length,
                                  index count = 1);

/// Whether there is something to aggregate. Where not, writes the identity to every element of the output if the call
/// overwrites.
EINPARALLEL_INLINE bool has_points(const loop_nest& nest, const block_call& call, const row_reduction& reduction);

}  // namespace einparallel::EINPARALLEL_DETAIL
