#pragma once
// Names of options and of the vertices of a plan.

#include <einparallel/graph/names.hpp>
#include <einparallel/graph/text.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/search/options.hpp>

#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::string name_for(algorithm named);
EINPARALLEL_INLINE std::string name_for(objective named);
EINPARALLEL_INLINE std::string name_for(method named);
EINPARALLEL_INLINE std::string name_for(order named);

inline std::string source_text(const planned_vertex& each) {
    return each.origin->origin != nullptr ? each.origin->origin->description() : "";
}

/// What a vertex computes: `sum A*B`, `max |A - B|`. The word for ⊕ is left out where every label is in the output.
EINPARALLEL_INLINE std::string formula_text(const plan& shown, const planned_vertex& each);

/// A name that users recognise: their own name of the vertex, or, where it only has a number, the number and what it
/// computes: `v24.6 = sum A*B`.
EINPARALLEL_INLINE std::string full_name(const plan& shown, const planned_vertex& each);

}  // namespace einparallel::EINPARALLEL_DETAIL
