#pragma once
// What a vertex computes, as its user wrote it: a kernel's formula with the operands' names in it.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/plan.hpp>

#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

/// `sum A*B`, `max |A - B|`; without the word for ⊕ where every label is in the output.
EINPARALLEL_INLINE std::string formula_text(const plan& shown, const planned_vertex& each);

}  // namespace einparallel::EINPARALLEL_DETAIL
