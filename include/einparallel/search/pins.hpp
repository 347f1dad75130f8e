#pragma once
// What a user has fixed about a vertex, and where inputs lie. Every search obeys this.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/source.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/schedule/task.hpp>

#include <string_view>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The cost, under every objective, of a move that is not allowed, such as a move into a vertex that is marked to run
/// without communication. It is larger than the cost of any plan, and finite, because tables take no infinities. A plan
/// with this cost breaks a mark.
inline constexpr double forbidden_move = 1e60;

/// True for an input that is bound when the plan runs. It lies where its pin or one of its readers wants it.
inline bool is_placeholder(const vertex& input) {
    return kind_of(input) == source_kind::placeholder;
}

/// The label of an einsum that has this name; no_label where there is none.
EINPARALLEL_INLINE label_id label_named(const einsum_form& form, std::string_view name);

/// The label along which a pin cuts. For an input it is the number of the dimension. It is no_label where the pin names
/// no dimension of the tensor.
EINPARALLEL_INLINE label_id label_of(const vertex& pinned, const pinned_part& pin);

/// The distribution of an input: for a placeholder the cut of its pin, otherwise what its source says.
EINPARALLEL_INLINE distribution resting_of_source(const vertex& input);

/// True where the axes that cut a vertex's output are those of its pin, in the same order. Other axes may stand between
/// them. True for a vertex without a pin.
EINPARALLEL_INLINE bool follows_pin(const vertex& einsum, const mesh& ranks);

/// True where a contraction that is to be run as `wanted` may be cut along labels of this class.
constexpr bool may_cut(algorithm wanted, label_class kind) {
    return wanted == algorithm::automatic ? true
           : wanted == algorithm::c       ? kind == label_class::c
           : wanted == algorithm::mn      ? kind == label_class::m || kind == label_class::n
           : wanted == algorithm::k       ? kind == label_class::k
                                          : true;  // master–worker: pinned and marked contractions run otherwise
}

}  // namespace einparallel::EINPARALLEL_DETAIL
