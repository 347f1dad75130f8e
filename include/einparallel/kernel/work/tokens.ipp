#pragma once
// Tokens of a select: read whatever their type, and checked before anything is written.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/work/select.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Calls visit(i, token) for i = 0 … count − 1, where token i lies i · stride elements after `first`.
void for_each_token(element_type element, const std::byte* first, index stride, index count, const auto& visit) {
    with_element(element, [&]<class T>(std::type_identity<T> /*element*/) {
        if constexpr (std::is_integral_v<T>) {
            const T* const tokens = reinterpret_cast<const T*>(first);
            for (index at = 0; at < count; ++at) {
                visit(at, index(tokens[at * stride]));
            }
        }
    });
}

/// Where a token stands in its tensor: "element (3, 1) of the indices"; "the index" where it has no labels.
EINPARALLEL_INLINE std::string name_of_token(const block_call& call, const strided_block& token, index_span at) {
    std::string position;
    for (std::size_t dimension = 0; dimension < at.size(); ++dimension) {
        const label_id label = token.labels[dimension];
        const index first = label == no_label ? 0 : call.first_along(label);
        position += (position.empty() ? "" : ", ") + std::to_string(first + at[dimension]);
    }
    return position.empty() ? "the index" : "element (" + position + ") of the indices";
}

/// Throws where a token of the operand is outside its dimension.
EINPARALLEL_INLINE void check_tokens(const block_call& call, const strided_block& token, const data_index& index_of) {
    const std::size_t rank = token.labels.size();
    const small_vector<index, 8> extents = extents_of(call, token.labels);
    if (any_in(extents, [](index extent) { return extent == 0; })) {
        return;
    }
    loop_nest tokens(1 + rank);  // slot 0 is the operand, the others are positions
    for (std::size_t dimension = 0; dimension < rank; ++dimension) {
        index* const moves = tokens.add(extents[dimension]);
        moves[0] = token.strides[dimension];
        moves[1 + dimension] = 1;
    }
    const odometer::loop_list outer = loops_that(tokens, [&](std::size_t loop) { return loop + 1 < rank; });
    odometer walk(tokens, outer);
    small_vector<index, 9> at(1 + rank, 0);
    const index length = rank == 0 ? 1 : extents[rank - 1];
    const index stride = rank == 0 ? 0 : token.strides[rank - 1];
    do {
        const auto* const first = static_cast<const std::byte*>(token.data) + at[0] * index(index_of.element.bytes);
        std::uint64_t largest = 0;
        for_each_token(index_of.element, first, stride, length,
                       [&](index, index value) { largest = std::max(largest, std::uint64_t(value)); });
        if (largest >= std::uint64_t(index_of.extent)) {
            index wrong = -1;
            for_each_token(index_of.element, first, stride, length, [&](index position, index value) {
                if (wrong < 0 && std::uint64_t(value) >= std::uint64_t(index_of.extent)) {
                    wrong = position;
                    largest = std::uint64_t(value);
                }
            });
            at.back() = wrong;  // of a scalar nobody asks
            throw error("einsum: " + name_of_token(call, token, {at.data() + 1, rank}) + " is " +
                        std::to_string(index(largest)) + ", outside the extent " + std::to_string(index_of.extent) +
                        " of " + index_of.name);
        }
    } while (walk.advance(at.data()));
}

}  // namespace einparallel::EINPARALLEL_DETAIL
