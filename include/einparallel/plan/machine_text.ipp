#pragma once

#include <einparallel/plan/machine_text.hpp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

/// How many per second, of what takes `seconds_each`.
EINPARALLEL_INLINE std::string rate_text(double seconds_each, const char* unit) {
    return (seconds_each > 0 ? counted(std::min(1 / seconds_each, 1e21)) : "unlimited ") + unit + "/s";
}

EINPARALLEL_INLINE std::string machine_text(const machine& shown) {
    return duration_text(shown.seconds_per_message) + " per message, " + rate_text(shown.seconds_per_byte, "B") + ", " +
           rate_text(shown.seconds_per_flop, "flop") + ", " + three_digits(100 * shown.exposed) +
           "% of the shorter of arithmetic and transfer exposed";
}

}  // namespace einparallel::EINPARALLEL_DETAIL
