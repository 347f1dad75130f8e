#pragma once
// Plans for readers: a table, and a drawing for Graphviz. (For programs: plan/json.hpp.)

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/plan.hpp>

#include <string>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::string table_text(const plan& shown);

}  // namespace EINPARALLEL_DETAIL

/// A table with one row per vertex: its einsum, what it computes, extents, the partition vector d (mesh order,
/// outermost axis first; 1 where one rank does it all), the algorithm, what goes round its ring, and whether the sum is
/// left pending (a label + in the einsum then stands for the summands); bytes that all
/// ranks send to hand its operands round (in), to aggregate its output, and to bring operands from where they rest
/// (moved); bytes that rank 0 holds at most meanwhile; the time model's seconds; and for contractions how many times
/// the least possible they communicate (/bound). Under the paper's objective also its cost in numbers. Of three and
/// more equal layers, one after the other, the first is shown with their number (× 78). Then a line for everything out
/// of the ordinary.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream, const plan& shown) {
    return stream << detail::table_text(shown);
}

}  // namespace einparallel
