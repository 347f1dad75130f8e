#pragma once
// The constants of the time model as a line that a person reads.

#include <einparallel/plan/explain.hpp>
#include <einparallel/plan/options.hpp>

#include <algorithm>
#include <iosfwd>
#include <string>

namespace einparallel {

namespace detail {

/// How many per second, of what takes `seconds_each`.
template <class Lazy = void>
std::string rate_text(double seconds_each, const char* unit) {
    return (seconds_each > 0 ? counted(std::min(1 / seconds_each, 1e21)) : "unlimited ") + unit + "/s";
}

template <class Lazy = void>
std::string machine_text(const machine& shown) {
    return duration_text(shown.seconds_per_message) + " per message, " + rate_text(shown.seconds_per_byte, "B") + ", " +
           rate_text(shown.seconds_per_flop, "flop") + ", " + three_digits(100 * shown.exposed) +
           "% of the shorter of arithmetic and transfer exposed";
}

}  // namespace detail

/// "2.00us per message, 10.0GB/s, 50.0Gflop/s, 10.0% of the shorter of arithmetic and transfer exposed".
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream, const machine& shown) {
    return stream << detail::machine_text(shown);
}

}  // namespace einparallel
