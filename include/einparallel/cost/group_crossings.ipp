#pragma once

// What a redistribution moves across the groups of a machine's levels.

#include <einparallel/cost/places.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Adds up what crosses the groups of every level, message by message.
class crossing_count {
public:
    EINPARALLEL_INLINE crossing_count(const rank_groups& groups, int ranks)
        : groups_(groups), ranks_(std::size_t(ranks) * groups.levels()), sent_(groups.levels()), received_(sent_) {}

    /// A message of this many elements.
    EINPARALLEL_INLINE void add(int from, int to, double elements, traffic& into) {
        for (std::size_t level = 0; level < groups_.levels(); ++level) {
            if (groups_.group(level, from) == groups_.group(level, to)) {
                break;
            }
            crossing& all = into.crossings[level];
            all.elements += elements;
            for (const auto& [counts, rank] : {std::pair{&sent_, from}, {&received_, to}}) {
                double& here = at((*counts)[level], groups_.group(level, rank));
                here += elements;
                all.busiest = std::max(all.busiest, here);
                crossing& own = ranks_[std::size_t(rank) * groups_.levels() + level];
                double& of_rank = counts == &sent_ ? own.elements : own.busiest;
                of_rank += elements;
                all.of_rank = std::max(all.of_rank, of_rank);
            }
        }
    }

private:
    static double& at(std::vector<double>& counts, int number) {
        counts.resize(std::max(counts.size(), std::size_t(number) + 1));
        return counts[std::size_t(number)];
    }

    const rank_groups& groups_;
    std::vector<crossing> ranks_;  // by rank and level: elements sent, and, as `busiest`, received
    std::vector<std::vector<double>> sent_;
    std::vector<std::vector<double>> received_;
};

/// Classes of equal things, as a tree.
class equal_things {
public:
    EINPARALLEL_INLINE explicit equal_things(std::size_t count) : classes(count) {
        std::iota(like_.begin(), like_.begin() + std::ptrdiff_t(count), std::size_t{0});
    }
    EINPARALLEL_INLINE void join(std::size_t a, std::size_t b) {
        for (; like_[a] != a; a = like_[a]) {
        }
        for (; like_[b] != b; b = like_[b]) {
        }
        classes -= a != b ? 1 : 0;
        like_[a] = b;
    }
    std::size_t classes;

private:
    std::array<std::size_t, 96> like_;  // the first `count` are set: this is asked for every pair of places
};

EINPARALLEL_INLINE bool are_binary(const rank_groups& groups) {
    bool all = groups.is_even();
    for (std::size_t level = 0; level < groups.levels(); ++level) {
        all = all && std::has_single_bit(unsigned(groups.size(level)));
    }
    return all;
}

/// What two binary places move across groups of `size` ranks, a power of two. An element stays if the bits of its
/// owner's number above the group agree with its reader's. Each of these bits is a bit of one of the element's indices,
/// or zero.
EINPARALLEL_INLINE crossing binary_crossing(const place& from, const place& to, int size, double elements) {
    const auto low = std::size_t(std::countr_zero(unsigned(size)));
    const auto most = std::size_t(std::countr_zero(unsigned(std::max(from.ranks, to.ranks))));
    if (most <= low) {
        return {};
    }
    constexpr std::size_t none = 95;  // stands for zero
    std::array<std::size_t, 32> of_owner;
    std::array<std::size_t, 32> of_reader;
    of_owner.fill(none);
    of_reader.fill(none);
    std::array<bool, 96> is_known{};  // by bit of indices: owner and reader have it in their numbers
    std::size_t bits = 0;
    equal_things group_bits(most + 1);
    for (std::size_t dimension = 0; dimension < from.bits.size(); ++dimension) {
        const std::vector<int>& before = from.bits[dimension];
        const std::vector<int>& after = to.bits[dimension];
        for (std::size_t digit = 0; digit < std::max(before.size(), after.size()); ++digit, ++bits) {
            if (digit < before.size()) {
                of_owner[std::size_t(before[digit])] = bits;
            }
            if (digit < after.size()) {
                of_reader[std::size_t(after[digit])] = bits;
            }
            is_known[bits] = digit < before.size() && digit < after.size();
            if (is_known[bits] && std::size_t(before[digit]) >= low && std::size_t(after[digit]) >= low) {
                group_bits.join(std::size_t(before[digit]), std::size_t(after[digit]));
            }
        }
    }
    equal_things index_bits(96);
    // Owners, and readers, that have no element which stays, beside others of their group.
    bool some_owners = false;
    bool some_readers = false;
    for (std::size_t bit = low; bit < most; ++bit) {
        some_owners = some_owners || (of_owner[bit] != of_reader[bit] && is_known[of_reader[bit]]);
        some_readers = some_readers || (of_owner[bit] != of_reader[bit] && is_known[of_owner[bit]]);
        index_bits.join(of_owner[bit], of_reader[bit]);
        if (of_owner[bit] == none || of_reader[bit] == none) {
            group_bits.join(bit, most);
        }
    }
    for (std::size_t bit = 0; bit < low; ++bit) {
        group_bits.join(bit, most);
    }
    const std::size_t groups_that_keep = std::size_t{1} << (group_bits.classes - 1);
    const double stays = elements / double(std::size_t{1} << (96 - index_bits.classes));
    crossing made{elements - stays};
    if (made.elements > 0) {
        for (const auto& [ranks, some] : {std::pair{from.ranks, some_owners}, {to.ranks, some_readers}}) {
            const double all = std::max(1.0, double(ranks) / size);
            const double kept = double(groups_that_keep) >= all ? stays / all : 0;
            const double moves = some ? 1 : 1 - kept * all / elements;
            made.busiest = std::max(made.busiest, elements / all - kept);
            made.of_rank = std::max(made.of_rank, moves * elements / ranks);
        }
    }
    return made;
}

EINPARALLEL_INLINE rank_sample::rank_sample(const rank_groups& groups, int all, int most) : ranks(all), tried(most) {
    const bool is_whole = all <= most;
    std::vector<int> by_slot;
    by_slot.resize(std::size_t(all));
    std::iota(by_slot.begin(), by_slot.end(), 0);
    std::stable_sort(by_slot.begin(), by_slot.end(), [&](int a, int b) { return groups.slot(a) < groups.slot(b); });
    while (levels < groups.levels() && groups.largest(levels) <= most_together) {
        ++levels;
    }
    // Whole groups of the outermost of these levels, spread over the machine.
    std::vector<std::pair<int, int>> found;
    for (int first = 0; first < all && levels > 0;) {
        int end = first + 1;
        const int group = groups.group(levels - 1, by_slot[std::size_t(first)]);
        while (end < all && groups.group(levels - 1, by_slot[std::size_t(end)]) == group) {
            ++end;
        }
        found.emplace_back(first, end);
        first = end;
    }
    const auto count =
        std::max<std::size_t>(1, is_whole ? found.size() : found.size() * std::size_t(most) / std::size_t(all));
    for (std::size_t number = 0; number < count && !found.empty(); ++number) {
        const auto [first, end] = found[number * found.size() / count];
        members.insert(members.end(), by_slot.begin() + first, by_slot.begin() + end);
    }
    for (std::size_t level = 0; level < levels; ++level) {
        ends[level].push_back(0);
        for (std::size_t at = 1; at <= members.size(); ++at) {
            if (at == members.size() || groups.group(level, members[at]) != groups.group(level, members[at - 1])) {
                ends[level].push_back(at);
            }
        }
    }
}

/// Appends what a rank has of a tensor at a valid place: one interval per dimension.
EINPARALLEL_INLINE void add_cells(const place& of, int rank, std::vector<interval>& into) {
    for (std::size_t dimension = 0; dimension < of.parts.size(); ++dimension) {
        into.push_back(rank < of.ranks ? of.resting.sides()[dimension].cell(of.resting.cell_of(rank, dimension))
                                       : interval{});
    }
}

/// The cells that the ranks of a sample have, rank by rank.
EINPARALLEL_INLINE const std::vector<interval>& cells_of(place& of, const rank_sample& sample) {
    const auto [known, fresh] = of.cells.try_emplace({-sample.ranks, sample.tried});
    for (std::size_t at = 0; fresh && at < sample.members.size(); ++at) {
        add_cells(of, sample.members[at], known->second);
    }
    return known->second;
}

/// What two valid places move across the groups of levels, from the cells of a sample of ranks. It is exact where these
/// are all ranks, and groups not larger than a sample looks through. Of larger groups it is an estimate. Time: ranks
/// times ranks of a group.
EINPARALLEL_INLINE void add_crossings(place& from, place& to, const rank_groups& groups, const rank_sample& sample,
                                      traffic& into) {
    const std::vector<interval>& had = cells_of(from, sample);
    const std::vector<interval>& wanted = cells_of(to, sample);
    const std::size_t dimensions = from.parts.size();
    into.crossings.assign(groups.levels(), {});
    const auto elements_of = [&](const std::vector<interval>& cells, std::size_t at) {
        double elements = 1;
        for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
            elements *= double(cells[at * dimensions + dimension].size());
        }
        return elements;
    };
    const double scale = double(sample.ranks) / double(std::max<std::size_t>(sample.members.size(), 1));
    for (std::size_t level = 0; level < sample.levels; ++level) {
        crossing& made = into.crossings[level];
        const std::vector<std::size_t>& ends = sample.ends[level];
        for (std::size_t group = 0; group + 1 < ends.size(); ++group) {
            std::array<double, rank_sample::most_together> sends{};
            std::array<double, rank_sample::most_together> receives{};
            const std::size_t first = ends[group];
            const std::size_t size = ends[group + 1] - first;
            for (std::size_t owner = 0; owner < size; ++owner) {
                sends[owner] += elements_of(had, first + owner);
                receives[owner] += elements_of(wanted, first + owner);
                for (std::size_t reader = 0; reader < size; ++reader) {
                    double common = 1;
                    for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
                        const interval& a = had[(first + owner) * dimensions + dimension];
                        const interval& b = wanted[(first + reader) * dimensions + dimension];
                        common *= double(std::max<index>(0, std::min(a.end, b.end) - std::max(a.begin, b.begin)));
                    }
                    sends[owner] -= common;
                    receives[reader] -= common;
                }
            }
            double leaves = 0;
            double comes = 0;
            for (std::size_t rank = 0; rank < size; ++rank) {
                leaves += sends[rank];
                comes += receives[rank];
                made.of_rank = std::max({made.of_rank, sends[rank], receives[rank]});
            }
            made.elements += scale * comes;
            made.busiest = std::max({made.busiest, leaves, comes});
        }
    }
    for (std::size_t level = sample.levels; level < groups.levels(); ++level) {
        // As if the elements that leave the groups inside were spread evenly over all other ranks.
        const double inside = level == 0 ? 1 : groups.largest(level - 1);
        const double group = std::min(groups.largest(level), sample.ranks);
        const double leaves = sample.ranks > inside ? (sample.ranks - group) / (sample.ranks - inside) : 0;
        const crossing before =
            level == 0 ? crossing{into.elements, into.busiest, into.busiest} : into.crossings[level - 1];
        into.crossings[level] = {leaves * before.elements, leaves * before.busiest * group / inside,
                                 leaves * before.of_rank};
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
