#pragma once

#include <einparallel/kernel/row_program.hpp>

#include <algorithm>
#include <cstring>

namespace einparallel::EINPARALLEL_DETAIL {

/// In row_program::held, for a row that is never free.
inline constexpr std::uint16_t of_number = 256;

EINPARALLEL_INLINE row_name row_program::free_row(std::size_t bytes) {
    widest = std::max(widest, std::uint16_t(bytes));
    const auto* const found = std::find(held.begin(), held.end(), 0);
    const auto row = std::size_t(found - held.begin());
    if (row == held.size()) {
        held.push_back(0);
    }
    return row_name(operands + row);
}

EINPARALLEL_INLINE row_name row_program::push_number(const void* value, std::size_t bytes) {
    row_number made{free_row(bytes), std::uint16_t(bytes), {}};
    std::memcpy(made.value.data(), value, bytes);
    numbers.push_back(made);
    held[made.into - operands] = of_number;
    return made.into;
}

EINPARALLEL_INLINE row_name row_program::push(row_function run, const void* functor, const row_name* arguments,
                                              std::size_t count, std::size_t bytes) {
    row_step made{run, functor, std::uint16_t(sources.size()), std::uint16_t(count), 0};
    bool in_place = false;
    for (std::size_t argument = 0; argument < count; ++argument) {
        sources.push_back(arguments[argument]);
        if (!in_place && arguments[argument] >= operands && held[arguments[argument] - operands] == bytes) {
            made.into = arguments[argument];
            in_place = true;
        }
    }
    made.into = in_place ? made.into : free_row(bytes);
    for (std::size_t argument = 0; argument < count; ++argument) {
        if (arguments[argument] >= operands && held[arguments[argument] - operands] != of_number) {
            held[arguments[argument] - operands] = 0;
        }
    }
    held[made.into - operands] = std::uint16_t(bytes);
    steps.push_back(made);
    return made.into;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
