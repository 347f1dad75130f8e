#pragma once
// Where the inputs of a graph lie before anything is planned.

#include <einparallel/graph/source.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/constraints.ipp>

#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Inputs that lie somewhere already: on one rank, in somebody's own distribution, or where a pin binds them. All
/// others are read by every rank as it needs them, at no cost.
EINPARALLEL_INLINE bool lies_somewhere(const vertex& input) {
    return input.is_input() && input.origin != nullptr &&
           (input.origin->kind() == source_kind::root || input.origin->kind() == source_kind::resting ||
            is_pinned_input(input));
}

/// Inputs that are bound at the run, where one of their readers or a pin wants them.
EINPARALLEL_INLINE bool is_placeholder(const vertex& input) {
    return input.is_input() && input.origin != nullptr && input.origin->kind() == source_kind::placeholder;
}

/// A tensor that is brought from one place to its readers: what an einsum makes, and inputs that rest somewhere.
EINPARALLEL_INLINE bool is_moved(const vertex& tensor) {
    return !tensor.is_input() || lies_somewhere(tensor) || is_placeholder(tensor);
}

/// Where an input lies that lies somewhere.
EINPARALLEL_INLINE distribution resting_of_source(const vertex& input) {
    if (is_pinned_input(input)) {
        return pinned_resting(input);
    }
    if (input.origin->kind() == source_kind::root) {
        return held_by_one(input.bounds, input.origin->root());
    }
    std::vector<box> boxes;
    for (int rank = 0; rank < input.origin->holders(); ++rank) {
        boxes.push_back(input.origin->held_by(rank));
    }
    return {input.bounds, std::move(boxes)};
}

}  // namespace einparallel::EINPARALLEL_DETAIL
