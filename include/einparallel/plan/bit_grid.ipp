#pragma once

#include <einparallel/plan/bit_grid.hpp>

#include <algorithm>
#include <array>
#include <bit>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE bit_grid::bit_grid(const std::vector<index>& bounds, const mesh& ranks,
                                      const std::vector<label_id>& labels, std::size_t cut)
    : bits(bounds.size()) {
    const auto all = static_cast<unsigned>(ranks.size());
    if (!std::has_single_bit(all)) {
        return;
    }
    rank_bits = std::countr_zero(all);
    int high = rank_bits;
    std::vector<int> replicating;
    for (const mesh_axis& axis : ranks.axes) {
        const int width = std::countr_zero(static_cast<unsigned>(axis.parts));
        if (!std::has_single_bit(static_cast<unsigned>(axis.parts))) {
            return;
        }
        std::vector<int>* into = &replicating;
        for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
            if (labels[dimension] == axis.label) {
                if (into != &replicating) {
                    return;  // a diagonal: its blocks do not cover the tensor
                }
                into = &bits[dimension];
            }
        }
        for (int bit = 0; bit < width; ++bit) {
            into->push_back(--high);
        }
    }
    if (!replicating.empty()) {
        if (bounds.empty()) {
            return;
        }
        bits[cut].insert(bits[cut].end(), replicating.begin(), replicating.end());
    }
    for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
        const index parts = index{1} << bits[dimension].size();
        if (bounds[dimension] % parts != 0) {
            return;
        }
        each *= static_cast<double>(bounds[dimension] / parts);
    }
    valid = true;
}

EINPARALLEL_INLINE traffic traffic_between(const bit_grid& from, const bit_grid& to) {
    constexpr int most_bits = 32;
    std::array<int, most_bits + 1> parent{};
    const int count = std::max(from.rank_bits, to.rank_bits);
    for (int bit = 0; bit <= count; ++bit) {
        parent[static_cast<std::size_t>(bit)] = bit;
    }
    const auto root = [&](int bit) {
        while (parent[static_cast<std::size_t>(bit)] != bit) {
            bit = parent[static_cast<std::size_t>(bit)];
        }
        return bit;
    };
    int classes = count + 1;
    const auto join = [&](int a, int b) {
        a = root(a);
        b = root(b);
        classes -= a != b ? 1 : 0;
        parent[static_cast<std::size_t>(a)] = b;
    };
    for (int bit = std::min(from.rank_bits, to.rank_bits); bit < count; ++bit) {
        join(bit, count);  // ranks that have both boxes have zeroes there; the last class stands for zero
    }
    double kept = from.each;
    double sources = 1;
    double targets = 1;
    for (std::size_t dimension = 0; dimension < from.bits.size(); ++dimension) {
        const std::vector<int>& before = from.bits[dimension];
        const std::vector<int>& after = to.bits[dimension];
        const std::size_t both = std::min(before.size(), after.size());
        for (std::size_t place = 0; place < both; ++place) {
            join(before[place], after[place]);
        }
        const auto finer = static_cast<double>(std::size_t{1} << (after.size() - both));
        kept /= finer;
        targets *= finer;
        sources *= static_cast<double>(std::size_t{1} << (before.size() - both));
    }
    const double keeping = static_cast<double>(std::size_t{1} << (classes - 1));
    const double senders = static_cast<double>(std::size_t{1} << from.rank_bits);
    const double receivers = static_cast<double>(std::size_t{1} << to.rank_bits);
    traffic moving;
    moving.elements = receivers * to.each - keeping * kept;
    if (moving.elements > 0) {
        const bool all_keep_sent = keeping == senders;
        const bool all_keep_received = keeping == receivers;
        moving.busiest = std::max(from.each - (all_keep_sent ? kept : 0), to.each - (all_keep_received ? kept : 0));
        moving.messages = std::max(targets - (all_keep_sent ? 1 : 0), sources - (all_keep_received ? 1 : 0));
    }
    return moving;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
