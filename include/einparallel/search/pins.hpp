#pragma once
// What a user has fixed of a vertex, and where inputs lie: what every search obeys.

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

/// What a move into a vertex that is marked "no communication here" costs in the search, in any objective's unit: more
/// than all that a plan may cost, and finite, for tables take no infinities. A plan that pays it is no plan.
inline constexpr double forbidden_move = 1e60;

/// Inputs that are bound at the run, where one of their readers or a pin wants them.
inline bool is_placeholder(const vertex& input) {
    return kind_of(input) == source_kind::placeholder;
}

/// The label of an einsum with this name; no_label where it has none.
EINPARALLEL_INLINE label_id label_named(const einsum_form& form, std::string_view name);

/// The label along which a pin cuts: of the einsum, or for inputs the number of the dimension; no_label where it means
/// no dimension of the tensor.
EINPARALLEL_INLINE label_id label_of(const vertex& pinned, const pinned_part& pin);

/// Where an input lies that is distributed, or pinned.
EINPARALLEL_INLINE distribution resting_of_source(const vertex& input);

/// True where the axes that cut a vertex's output stand as its pin wants them, whatever stands between them.
EINPARALLEL_INLINE bool follows_pin(const vertex& einsum, const mesh& ranks);

/// True where `wanted`, asked of a contraction, lets labels of this class be cut.
constexpr bool may_cut(algorithm wanted, label_class kind) {
    return wanted == algorithm::automatic ? true
           : wanted == algorithm::c       ? kind == label_class::c
           : wanted == algorithm::mn      ? kind == label_class::m || kind == label_class::n
           : wanted == algorithm::k       ? kind == label_class::k
                                          : true;  // master–worker: what is pinned or marked runs otherwise
}

}  // namespace einparallel::EINPARALLEL_DETAIL
