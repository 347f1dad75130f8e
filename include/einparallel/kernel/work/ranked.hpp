#pragma once
// The elements of a row by their rank in it, the largest first, and their positions.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// z[i] = the element of rank ranks[i] in a row of `length` elements, or its position there. The largest element has
/// rank 0. Of equal elements the first comes first, NaN last. `positions` is memory for `length` numbers. Work: length
/// · log(largest rank).
struct ranked_row {
    void* z;
    index z_step;
    const void* x;
    index x_step;
    index length;
    const index* ranks;
    index rank_step;
    index count;
    index* positions;
};
template <class T, bool IsPosition>
void rank_row(const ranked_row& row) {
    const T* const x = static_cast<const T*>(row.x);
    index most = 0;
    for (index at = 0; at < row.count; ++at) {
        most = std::max(most, row.ranks[at * row.rank_step] + 1);
    }
    std::iota(row.positions, row.positions + row.length, index{0});
    std::partial_sort(row.positions, row.positions + most, row.positions + row.length, [&](index a, index b) {
        const T first = x[a * row.x_step];
        const T second = x[b * row.x_step];
        const bool a_is_nan = first != first;
        const bool b_is_nan = second != second;
        return a_is_nan != b_is_nan ? b_is_nan : first > second || (!(first < second) && a < b);
    });
    using Out = std::conditional_t<IsPosition, index, T>;
    for (index at = 0; at < row.count; ++at) {
        const index position = row.positions[row.ranks[at * row.rank_step]];
        if constexpr (IsPosition) {
            static_cast<Out*>(row.z)[at * row.z_step] = position;
        } else {
            static_cast<Out*>(row.z)[at * row.z_step] = x[position * row.x_step];
        }
    }
}

/// Z[…, k] = the element of rank ranks[k] among X[…, j], or its position.
struct ranked_work {
    element_type element;  ///< element type of X
    element_type made;     ///< element type of Z
    bool is_position = false;
    void (*row)(const ranked_row&) = nullptr;
};
template <class T, class Function>
ranked_work ranked_work_of() {
    using Out = std::conditional_t<Function::is_position, index, T>;
    return {element_type_of<T>(), element_type_of<Out>(), Function::is_position, &rank_row<T, Function::is_position>};
}

/// Says what is wrong where `count` elements of a row of `length` elements are asked for; empty where nothing is.
inline std::string too_many_ranks(index count, index length) {
    return count <= length ? "" : sentence({"ep::top_k: ", count, " elements are asked for, but rows have ", length});
}

/// Computes ranked_work. The operands of the call are X and the ranks: 0, 1, 2, …, or some of these. Where X has a
/// label that is contracted, the output has the label of the ranks.
EINPARALLEL_INLINE void run_ranked(const block_call& call, const ranked_work& work);

}  // namespace einparallel::EINPARALLEL_DETAIL
