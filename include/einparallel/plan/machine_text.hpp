#pragma once
// The constants of the time model as a line that a person reads.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/options.hpp>

#include <string>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::string machine_text(const machine& shown);

}  // namespace EINPARALLEL_DETAIL

/// "2.00us per message, 10.0GB/s, 50.0Gflop/s, 10.0% of the shorter of arithmetic and transfer exposed".
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream, const machine& shown) {
    return stream << detail::machine_text(shown);
}

}  // namespace einparallel
