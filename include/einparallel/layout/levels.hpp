#pragma once
// The levels of a machine: which ranks share a socket, a node, a switch; and the order in which a ring passes ranks.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

namespace einparallel {

/// The most levels that a machine has.
inline constexpr std::size_t most_levels = 6;

/// `count` groups of `ranks` ranks each.
struct group_run {
    int count = 0;
    int ranks = 0;

    friend bool operator==(const group_run&, const group_run&) = default;
};

/// One level of a machine. Ranks form groups, such as the ranks of a socket, of a node, or under one switch. Groups of
/// a level lie in groups of the next level. Ranks fill them one after the other, unless machine::node_of_rank says
/// otherwise.
struct machine_level {
    int ranks = 0;                   ///< ranks in each group; 0, on the outermost level: all ranks
    double seconds_per_message = 0;  ///< latency α between two ranks whose smallest common group is of this level
    double seconds_per_byte = 0;     ///< inverse bandwidth β of one such transfer
    /// How many transfers at once a group of the level inside (on the innermost level: a rank) sends at full speed.
    /// More of them share the link. A node with one network card has 1. A switch of 16 nodes with one link each has 16
    /// without taper, and 8 with taper 2.
    double transfers = 1;
    /// Where groups differ: runs of equal groups, in the order in which ranks fill them. `ranks` is not used then.
    std::array<group_run, 8> uneven{};

    [[nodiscard]] constexpr bool is_uneven() const { return uneven.front().count > 0; }
    /// False for the empty places behind a machine's levels.
    [[nodiscard]] constexpr bool is_given() const { return !(*this == machine_level{}); }

    friend bool operator==(const machine_level&, const machine_level&) = default;
};

/// Numbers, one for each rank. Unlike a vector it may be part of a constant (empty), whatever library is used.
class numbers_of_ranks {
public:
    constexpr numbers_of_ranks() = default;
    constexpr numbers_of_ranks(std::initializer_list<int> numbers)
        : numbers_of_ranks(numbers.begin(), numbers.size()) {}
    // A vector is a list of numbers, too.
    numbers_of_ranks(const std::vector<int>& numbers)  // NOLINT(google-explicit-constructor)
        : numbers_of_ranks(numbers.data(), numbers.size()) {}
    constexpr numbers_of_ranks(const numbers_of_ranks& other) : numbers_of_ranks(other.begin(), other.size()) {}
    constexpr numbers_of_ranks(numbers_of_ranks&& other) noexcept
        : first_(std::exchange(other.first_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    constexpr numbers_of_ranks& operator=(numbers_of_ranks other) noexcept {
        std::swap(first_, other.first_);
        std::swap(size_, other.size_);
        return *this;
    }
    constexpr ~numbers_of_ranks() { delete[] first_; }

    [[nodiscard]] constexpr const int* begin() const { return first_; }
    [[nodiscard]] constexpr const int* end() const { return first_ + size_; }
    [[nodiscard]] constexpr std::size_t size() const { return size_; }
    [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
    [[nodiscard]] constexpr int operator[](std::size_t rank) const { return first_[rank]; }

    friend constexpr bool operator==(const numbers_of_ranks& a, const numbers_of_ranks& b) {
        bool equal = a.size_ == b.size_;
        for (std::size_t rank = 0; equal && rank < a.size_; ++rank) {
            equal = a.first_[rank] == b.first_[rank];
        }
        return equal;
    }

private:
    constexpr numbers_of_ranks(const int* numbers, std::size_t size)
        : first_(size > 0 ? new int[size] : nullptr), size_(size) {
        for (std::size_t rank = 0; rank < size; ++rank) {
            first_[rank] = numbers[rank];
        }
    }

    int* first_ = nullptr;
    std::size_t size_ = 0;
};

/// Levels, innermost first.
using machine_levels = std::array<machine_level, most_levels>;

/// Number of levels that are given; 0 for a machine on which all ranks are alike.
[[nodiscard]] constexpr std::size_t count_of(const machine_levels& levels) {
    std::size_t count = 0;
    while (count < levels.size() && levels[count].is_given()) {
        ++count;
    }
    return count;
}

/// Which ranks lie together. Level 0 has the smallest groups. All ranks are in one group of the outermost level.
class rank_groups {
public:
    /// All ranks lie together.
    rank_groups() = default;

    /// @param node_of_rank  by rank, or empty: ranks fill the groups in the order of their nodes, and of their own
    /// numbers within a node
    EINPARALLEL_INLINE explicit rank_groups(const machine_levels& levels, const numbers_of_ranks& node_of_rank = {});

    /// Number of levels whose groups may differ: one less than the machine has.
    [[nodiscard]] std::size_t levels() const { return levels_; }

    /// Ranks in each group of a level; 0 where groups differ.
    [[nodiscard]] int size(std::size_t level) const { return sizes_[level]; }
    /// The most ranks in a group of a level.
    [[nodiscard]] int largest(std::size_t level) const { return largest_[level]; }
    /// True where ranks fill groups of equal sizes in the order of their numbers.
    [[nodiscard]] bool is_even() const { return even_; }

    /// True where ranks fill the groups in the order of their numbers.
    [[nodiscard]] bool is_in_order() const { return slots_.empty(); }

    /// Position of a rank when ranks are counted group by group.
    [[nodiscard]] int slot(int rank) const { return slots_.empty() ? rank : slots_[std::size_t(rank)]; }
    /// Number of the group of a level in which a rank lies.
    [[nodiscard]] int group(std::size_t level, int rank) const {
        const int at = slot(rank);
        return sizes_[level] > 0 ? at / sizes_[level] : group_in_runs(level, at);
    }
    /// The smallest level on which two ranks share a group.
    [[nodiscard]] std::size_t between(int one, int other) const {
        std::size_t level = 0;
        while (level < levels_ && group(level, one) != group(level, other)) {
            ++level;
        }
        return level;
    }

private:
    EINPARALLEL_INLINE [[nodiscard]] int group_in_runs(std::size_t level, int at) const;

    std::size_t levels_ = 0;
    bool even_ = true;
    std::array<int, most_levels> sizes_{};
    std::array<int, most_levels> largest_{};
    std::array<std::array<group_run, 8>, most_levels> runs_{};
    std::vector<int> slots_;  // by rank; empty: the ranks themselves
};

/// How the rings of a tensor lie on the levels: every block that ranks share has a ring. Ranks follow each other group
/// by group, so that a ring goes round a node before it leaves it.
struct ring_shape {
    /// One stage of a ring: `together` ranks in a row lie in one group of `level`.
    struct stage {
        int together = 1;
        std::size_t level = 0;

        friend bool operator==(const stage&, const stage&) = default;
    };
    /// Innermost first; the last one has all ranks of the ring. Where groups have different numbers of a ring's ranks,
    /// one stage of all ranks.
    std::array<stage, most_levels> stages{stage{}};
    std::size_t count = 1;
    bool is_mixed = false;  ///< the one stage has neighbours on several levels
    /// By level: the most rings that meet one group and also ranks outside of it.
    std::array<double, most_levels> leaving{};
    /// By level, on average over the rings, where all pieces are equal: how many times its block leaves groups while
    /// the pieces go round stage by stage, and while they go round in a plain ring.
    std::array<double, most_levels> staged{};
    std::array<double, most_levels> plain{};

    /// True where any two ranks of the ring are as far from each other.
    [[nodiscard]] bool is_flat() const { return count == 1 && !is_mixed; }
    /// Ranks of the ring.
    [[nodiscard]] int size() const { return stages[count - 1].together; }
    /// The outermost level that the ring needs.
    [[nodiscard]] std::size_t level() const { return stages[count - 1].level; }

    /// Appends a stage, unless it has no more ranks than the one before.
    void add(int together, std::size_t level) {
        if (together > (count == 0 ? 1 : size())) {
            stages[count++] = {together, level};
        }
    }
    friend bool operator==(const ring_shape&, const ring_shape&) = default;
};

/// The ranks that share the block of `rank`, in the order in which their ring passes them.
EINPARALLEL_INLINE std::vector<int> ring_of(const distribution& resting, int rank, const rank_groups& groups);

namespace EINPARALLEL_DETAIL {

/// Calls visit(ring) for each ring of a tensor, with its ranks in order.
void for_each_ring(const distribution& resting, const rank_groups& groups, auto visit) {
    for (int rank = 0; rank < resting.holders(); ++rank) {
        if (resting.replica_number(rank) == 0) {
            visit(ring_of(resting, rank, groups));
        }
    }
}

}  // namespace EINPARALLEL_DETAIL

/// The shape of one ring, whose ranks are in its order. `leaving` is not set.
EINPARALLEL_INLINE ring_shape shape_of_ring(const std::vector<int>& ring, const rank_groups& groups);

/// The shape of all rings of a tensor together: that of each, where they are alike, and otherwise mixed. Of a tensor
/// over more than `most` ranks whose rings are not alike by the digits of their ranks, it is an estimate. Time: its
/// digits, or ranks.
EINPARALLEL_INLINE ring_shape shape_of_rings(const distribution& resting, const rank_groups& groups, int most);

}  // namespace einparallel
