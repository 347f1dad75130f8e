#pragma once

#include <einparallel/run/agreement.hpp>

#include <einparallel/mpi/collective.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE fingerprint& fingerprint::add(std::uint64_t number) {
    for (unsigned byte = 0; byte < 8; ++byte) {
        mix(static_cast<unsigned char>(number >> (8 * byte)));
    }
    return *this;
}

EINPARALLEL_INLINE fingerprint& fingerprint::add(std::string_view text) {
    for (const char letter : text) {
        mix(static_cast<unsigned char>(letter));
    }
    return add(static_cast<std::uint64_t>(text.size()));
}

EINPARALLEL_INLINE fingerprint& fingerprint::add(const box& region) {
    add(region.empty() ? 1 : 0);
    for (std::size_t dimension = 0; !region.empty() && dimension < region.rank(); ++dimension) {
        add(region.sides[dimension].begin);
        add(region.sides[dimension].end);
    }
    return *this;
}

EINPARALLEL_INLINE bool agree(const communicator& control, std::string_view failure,
                              std::initializer_list<common> numbers, bool ready) {
    // The smallest value and the smallest complement, which is the largest value, of each number: they meet where all
    // are the same.
    std::array<std::uint64_t, 10> least{};
    const std::size_t count = std::min<std::size_t>(numbers.size(), 4);
    least[0] = static_cast<std::uint64_t>(failure.empty() ? control.size() : control.rank());
    for (std::size_t number = 0; number < count; ++number) {
        least[2 + 2 * number] = numbers.begin()[number].value;
        least[3 + 2 * number] = ~numbers.begin()[number].value;
    }
    least[1] = ready ? 1 : 0;
    allreduce_minimum(control, std::span(least).first(2 + 2 * count));
    if (least[0] < static_cast<std::uint64_t>(control.size())) {
        std::array<char, longest_sentence> text{};
        std::copy_n(failure.begin(), std::min(failure.size(), text.size() - 1), text.begin());
        broadcast(control, text.data(), text.size(), static_cast<int>(least[0]));
        throw error(text.data());
    }
    for (std::size_t number = 0; number < count; ++number) {
        if (least[2 + 2 * number] != ~least[3 + 2 * number]) {
            throw error(std::string(numbers.begin()[number].sentence));
        }
    }
    return least[1] == 1;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
