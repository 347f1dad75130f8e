#pragma once
// The instruction sets that this processor has, for tests that run each of them.

#include <einparallel/kernel/instruction_set.hpp>

#include <vector>

namespace kernel_test {

inline std::vector<einparallel::detail::instruction_set> sets_here() {
    using einparallel::detail::instruction_set;
    std::vector<instruction_set> sets;
    for (const instruction_set set : {instruction_set::baseline, instruction_set::avx2, instruction_set::avx512}) {
        if (einparallel::detail::supported(set)) {
            sets.push_back(set);
        }
    }
    return sets;
}

}  // namespace kernel_test
