#pragma once

#include <einparallel/plan/partition.hpp>

#include <einparallel/notation/sort_range.hpp>

#include <algorithm>
#include <map>

namespace einparallel::EINPARALLEL_DETAIL {

/// Divisors of a number, ascending.
EINPARALLEL_INLINE std::vector<int> divisors_of(int number) {
    std::vector<int> divisors;
    for (int divisor = 1; divisor <= number / divisor; ++divisor) {
        if (number % divisor == 0) {
            divisors.insert(divisors.end(), {divisor, number / divisor});
        }
    }
    sort_unique(divisors);
    return divisors;
}

/// The ways to place numbers of parts on labels, one label after the other, none cut finer than its extent.
class partition_choices {
public:
    EINPARALLEL_INLINE explicit partition_choices(std::span<const index> extents)
        : extents_(extents.begin(), extents.end()) {}

    /// Parts of a label with which the product `left` can be placed on it and the labels behind it, ascending.
    const std::vector<int>& choices(std::size_t label, int left) { return at(label, left).parts; }
    /// Ways to place it; they stop at the largest std::size_t.
    std::size_t count(std::size_t label, int left) { return at(label, left).count; }

private:
    struct choice_set {
        std::vector<int> parts;
        std::size_t count = 0;
    };

    EINPARALLEL_INLINE const choice_set& at(std::size_t label, int left) {
        const auto [known, fresh] = known_.try_emplace({label, left});
        choice_set& made = known->second;
        if (label == extents_.size()) {
            made.count = left == 1 ? 1 : 0;
        }
        for (const int parts : fresh&& label < extents_.size() ? divisors_of(left) : std::vector<int>{}) {
            const std::size_t more = parts == 1 || parts <= extents_[label] ? count(label + 1, left / parts) : 0;
            made.count += std::min(more, std::numeric_limits<std::size_t>::max() - made.count);
            if (more > 0) {
                made.parts.push_back(parts);
            }
        }
        return made;
    }

    std::vector<index> extents_;
    std::map<std::pair<std::size_t, int>, choice_set> known_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE std::span<const int> partition_vectors::operator[](std::size_t number) const {
    return std::span<const int>(entries).subspan(number * labels, labels);
}

EINPARALLEL_INLINE std::size_t count_partitions(std::span<const index> extents, int product) {
    return detail::partition_choices(extents).count(0, product);
}

EINPARALLEL_INLINE partition_vectors all_partitions(std::span<const index> extents, int product) {
    detail::partition_choices tree(extents);
    partition_vectors found{product, extents.size(), tree.count(0, product), {}};
    found.entries.reserve(found.count * found.labels);
    std::vector<int> row(extents.size());
    const auto place = [&](const auto& place_rest, std::size_t label, int left) -> void {
        if (label == row.size()) {
            found.entries.insert(found.entries.end(), row.begin(), row.end());
            return;
        }
        for (const int part : tree.choices(label, left)) {
            row[label] = part;
            place_rest(place_rest, label + 1, left / part);
        }
    };
    place(place, 0, product);
    return found;
}

EINPARALLEL_INLINE int largest_product(std::span<const index> extents, int processes, bool powers_of_two) {
    index capacity = 1;
    for (const index extent : extents) {
        capacity = std::min<index>(capacity * std::clamp<index>(extent, 1, index{1} << 30), index{1} << 30);
    }
    int product = planned_processes(processes, powers_of_two);
    product = powers_of_two ? product : static_cast<int>(std::min<index>(product, capacity));
    detail::partition_choices tree(extents);
    while (product > 1 && tree.count(0, product) == 0) {
        product = powers_of_two ? product / 2 : product - 1;
    }
    return product;
}

EINPARALLEL_INLINE partition_vectors viable(std::span<const index> extents, int processes, bool powers_of_two) {
    return all_partitions(extents, largest_product(extents, processes, powers_of_two));
}

}  // namespace einparallel
