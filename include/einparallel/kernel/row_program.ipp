#pragma once

#include <einparallel/kernel/row_program.hpp>

#include <algorithm>
#include <cstring>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE row_name row_program::push_number(const void* value, std::size_t bytes) {
    numbers.push_back({});
    std::memcpy(numbers.back().data(), value, bytes);
    return row_name(number_name + numbers.size() - 1);
}

EINPARALLEL_INLINE row_name row_program::push(row_function run, const void* functor, const row_name* arguments,
                                              std::size_t count, std::size_t bytes) {
    row_step made{run, functor, std::uint16_t(sources.size()), std::uint16_t(count), 0};
    std::size_t into = std::size_t(std::find(held.begin(), held.end(), 0) - held.begin());
    for (std::size_t argument = count; argument-- > 0;) {
        const row_name name = arguments[argument];
        if (name >= operands && name < number_name && held[name - operands] == bytes) {
            into = std::size_t(name - operands);
        }
    }
    for (std::size_t argument = 0; argument < count; ++argument) {
        const row_name name = arguments[argument];
        sources.push_back(name);
        if (name >= operands && name < number_name) {
            held[name - operands] = 0;
        }
    }
    if (into == held.size()) {
        held.push_back(0);
    }
    held[into] = std::uint16_t(bytes);
    widest = std::max(widest, held[into]);
    made.into = row_name(operands + into);
    steps.push_back(made);
    return made.into;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
