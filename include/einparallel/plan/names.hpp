#pragma once
// Names of options and of the vertices of a plan, and a machine as text.

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

EINPARALLEL_INLINE std::string machine_text(const machine& shown);

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

/// Writes the constants: "2.00us per message, 10.0GB/s, 50.0Gflop/s, 24.0 flop in the time of a copied element, 10.0%
/// of the shorter of arithmetic and transfer exposed".
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream, const machine& shown) {
    return stream << detail::machine_text(shown);
}

}  // namespace einparallel
