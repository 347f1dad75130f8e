#pragma once

#include <einparallel/graph/section.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM std::string failure_of_section(const inverse_map& section, bool once) {
    return !section.is_solved
               ? "einsum: on the left of a recorded tensor each label must stand with the factor 1 or -1 in some "
                 "dimension; to write every second row, Z(2 * i, j), use an integer tensor of indices: Z(row(i), j)"
           : once && !section.is_injective()
               ? "einsum: several indices on the left name one element: say += to add up what is assigned to it"
               : "";
}

}  // namespace einparallel::EINPARALLEL_DETAIL
