#pragma once
// The constants of the time model, and what lies between two ranks of a machine with levels.

#include <einparallel/cost/numbering.hpp>
#include <einparallel/layout/levels.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace einparallel {

/// Constants of the time model. The defaults describe one core of a current server and a 100 Gbit/s network; they are
/// not measured unless the user asks: ranks and runs would disagree about values that are measured unasked.
///
///     ep::plan plan = ep::decompose(world, {.machine = ep::machine::h200}, Z);     // to run on GPUs
struct machine {
    double seconds_per_message = 2.0e-6;  ///< latency α
    double seconds_per_byte = 1.0e-10;    ///< inverse bandwidth β per rank
    double seconds_per_flop = 2.0e-11;    ///< inverse of the flop rate per rank
    double exposed = 0.1;  ///< share of the shorter of arithmetic and transfer that a ring's step does not hide
    double operations_per_touch = 24;  ///< operations that take as long as to pack, copy or add an element in memory
    /// Levels, innermost first, such as a node and the network. Where there are any, they say what messages and bytes
    /// take; seconds_per_message and seconds_per_byte are not used then. Without levels all ranks are alike.
    machine_levels levels{};
    /// By rank: the number of its node, where ranks do not fill one node after the other. Ranks then fill the levels in
    /// the order of their nodes, and within a node in the order of their own numbers. Empty: as they are numbered.
    numbers_of_ranks node_of_rank{};
    double seconds_per_stored_byte = 1.0e-9;    ///< to or from where tensors wait (options.paging)
    double seconds_per_host_byte = 1 / 16.0e9;  ///< between a device and pinned memory of its host, each way

    /// Constants for ranks that compute on one NVIDIA H200 each. From its data sheet: 67 Tflop/s of float and of double
    /// in matrix products, 4.8 TB/s of memory (an element of 8 bytes is read and written), PCIe 5 at 64 GB/s each way.
    /// The network of the defaults is slower than that, so its bandwidth counts. Assumed, not measured: 4 µs until a
    /// kernel or a copy begins, twice for a message through the host, and the value of `exposed`.
    static const machine h200;

    /// Nodes of 64 cores in two sockets, one rank on each core, and one network card of 100 Gbit/s on each node.
    /// Assumed, not measured: 10 GB/s and .5 µs within a socket, of which 8 ranks at once use all of the link between
    /// the sockets, 12.5 GB/s and 2 µs between nodes.
    static const machine two_socket_cluster;
    /// Nodes of 8 NVIDIA H200, one rank on each, with NVLink between them and one card of 400 Gbit/s for each. From the
    /// data sheets: 450 GB/s each way within a node, 50 GB/s for each card. Otherwise as h200.
    static const machine h200_nodes;
    /// Eight NVIDIA A100 of 40 GB, one rank on each. From the data sheets: 312 Tflop/s of halves in matrix
    /// products, 1.555 TB/s of memory, NVLink at 300 GB/s each way. Assumed, because the paper's text gives neither
    /// (EinDecomp §9): tensors wait in memory of the host behind 16 GB/s each way for each device; 4 µs until a kernel
    /// or a copy begins.
    static const machine a100_40gb;
    /// One rank on each node, 100 Gbit/s, full bisection. Assumed, not measured: 2 µs.
    static const machine cluster_100g;

    friend bool operator==(const machine&, const machine&) = default;
};

inline constexpr machine machine::h200{.seconds_per_message = 2.0e-6 + 2 * 4.0e-6,
                                       .seconds_per_byte = 1.0e-10,
                                       .seconds_per_flop = 1 / 67e12,
                                       .exposed = 0.1,
                                       .operations_per_touch = 2 * 8 / 4.8e12 * 67e12};

inline constexpr machine machine::two_socket_cluster{.levels = {{
                                                         {32, 0.5e-6, 1.0e-10, 1},
                                                         {64, 0.8e-6, 1.0e-10, 8},
                                                         {0, 2.0e-6, 0.8e-10, 1},
                                                     }}};
inline constexpr machine machine::h200_nodes{.seconds_per_flop = 1 / 67e12,
                                             .exposed = 0.1,
                                             .operations_per_touch = 2 * 8 / 4.8e12 * 67e12,
                                             .levels = {{
                                                 {8, 2.0e-6 + 2 * 4.0e-6, 1 / 450e9, 1},
                                                 {0, 2.0e-6 + 2 * 4.0e-6, 1 / 50e9, 8},
                                             }}};
inline constexpr machine machine::a100_40gb{.seconds_per_message = 4.0e-6,
                                            .seconds_per_byte = 1 / 300e9,
                                            .seconds_per_flop = 1 / 312e12,
                                            .exposed = 0.1,
                                            .operations_per_touch = 2 * 2 / 1.555e12 * 312e12,
                                            .seconds_per_stored_byte = 1 / 16e9,
                                            .seconds_per_host_byte = 1 / 16e9};
inline constexpr machine machine::cluster_100g{.seconds_per_message = 2.0e-6, .seconds_per_byte = 0.8e-10};

namespace EINPARALLEL_DETAIL {

/// Calls visit(name, field) once for every field of a machine, of a level, or of a run of groups.
template <class Fields>
constexpr void for_each_field(Fields& of, const auto& visit) {
    if constexpr (std::is_same_v<std::remove_const_t<Fields>, group_run>) {
        visit("count", of.count);
        visit("ranks", of.ranks);
    } else if constexpr (std::is_same_v<std::remove_const_t<Fields>, machine_level>) {
        visit("ranks", of.ranks);
        visit("seconds_per_message", of.seconds_per_message);
        visit("seconds_per_byte", of.seconds_per_byte);
        visit("transfers", of.transfers);
        visit("uneven", of.uneven);
    } else {
        visit("seconds_per_message", of.seconds_per_message);
        visit("seconds_per_byte", of.seconds_per_byte);
        visit("seconds_per_flop", of.seconds_per_flop);
        visit("exposed", of.exposed);
        visit("operations_per_touch", of.operations_per_touch);
        visit("levels", of.levels);
        visit("node_of_rank", of.node_of_rank);
        visit("seconds_per_stored_byte", of.seconds_per_stored_byte);
        visit("seconds_per_host_byte", of.seconds_per_host_byte);
    }
}

}  // namespace EINPARALLEL_DETAIL

/// Calls visit(name, value) once for every field, with lists of what is given. JSON, hashes and the ranks' agreement
/// use this list.
template <class Fields>
    requires(std::is_same_v<Fields, machine> || std::is_same_v<Fields, machine_level> ||
             std::is_same_v<Fields, group_run>)
constexpr void describe(const Fields& of, const auto& visit) {
    detail::for_each_field(of, [&](const char* name, const auto& field) {
        if constexpr (requires {
                          field.max_size();
                          field.back().ranks;
                      }) {
            using item = std::remove_cvref_t<decltype(field.front())>;
            visit(name, std::vector<item>(field.begin(), std::find(field.begin(), field.end(), item{})));
        } else {
            visit(name, field);
        }
    });
}

namespace EINPARALLEL_DETAIL {

/// The groups of a machine's ranks.
inline rank_groups groups_of(const machine& on) {
    return rank_groups(on.levels, on.node_of_rank);
}

/// What a message between two ranks takes: the level that it needs, and its seconds there.
struct link {
    std::size_t level = 0;
    double seconds_per_message = 0;
    double seconds_per_byte = 0;
};

/// A machine whose ranks are sorted into groups: what the costs of work and moves are worked out with.
class wired_machine {
public:
    // Wherever a machine is given, a wired one is meant.
    wired_machine(const machine& constants)  // NOLINT(google-explicit-constructor)
        : constants_(constants), groups_(detail::groups_of(constants)) {
        if (!constants.levels.front().is_given()) {
            constants_.levels.front() = {0, constants.seconds_per_message, constants.seconds_per_byte, 1};
        }
    }

    [[nodiscard]] const rank_groups& groups() const { return groups_; }
    [[nodiscard]] double seconds_per_flop() const { return constants_.seconds_per_flop; }
    [[nodiscard]] double exposed() const { return constants_.exposed; }
    /// Seconds to copy or add elements.
    [[nodiscard]] double touch_seconds(double elements) const {
        return elements * constants_.operations_per_touch * constants_.seconds_per_flop;
    }
    [[nodiscard]] const machine_level& level(std::size_t number) const { return constants_.levels[number]; }
    /// Number of levels, at least 1.
    [[nodiscard]] std::size_t levels() const { return groups_.levels() + 1; }
    [[nodiscard]] bool is_flat() const { return groups_.levels() == 0; }

    /// The machine as if all ranks were alike: as slow as a step in which all ranks of each group send out of it.
    [[nodiscard]] machine as_one_level() const {
        machine made = constants_;
        made.levels = {};
        made.node_of_rank = {};
        made.seconds_per_message = level(0).seconds_per_message;
        made.seconds_per_byte = level(0).seconds_per_byte;
        for (std::size_t number = 1; number < levels(); ++number) {
            const double sharing = std::max(1.0, groups_.largest(number - 1) / level(number).transfers);
            made.seconds_per_message = std::max(made.seconds_per_message, level(number).seconds_per_message);
            made.seconds_per_byte = std::max(made.seconds_per_byte, sharing * level(number).seconds_per_byte);
        }
        return made;
    }

    /// What a message takes on a level while others leave the same groups.
    /// @param leaving  by level: messages that leave one of its groups at the same time
    [[nodiscard]] link at(std::size_t level, const std::array<double, most_levels>& leaving) const {
        link made{level, this->level(level).seconds_per_message, this->level(level).seconds_per_byte};
        for (std::size_t passed = 1; passed <= level; ++passed) {
            const double sharing = leaving[passed - 1] / this->level(passed).transfers;
            made.seconds_per_byte =
                std::max(made.seconds_per_byte, sharing > 1 ? sharing * this->level(passed).seconds_per_byte : 0.0);
        }
        return made;
    }

    /// The shape of a tensor's rings, worked out once for all tensors whose ranks share blocks alike.
    EINPARALLEL_INLINE [[nodiscard]] const ring_shape& shape_of(const distribution& resting, int most) const {
        std::vector<index> key{resting.holders(), most};
        for (const rank_digit& digit : resting.digits()) {
            if (digit.is_piece) {
                key.insert(key.end(), {digit.stride, digit.radix});
            }
        }
        return shapes_.at(key, [&] { return shape_of_rings(resting, groups_, most); });
    }

    /// The least that a message takes over the slowest link between ranks of which `ranks` share a block.
    [[nodiscard]] link least_for(double ranks) const {
        std::size_t level = 0;
        while (level < groups_.levels() && groups_.largest(level) < ranks) {
            ++level;
        }
        link made = at(level, {});
        for (std::size_t outer = level + 1; outer < levels(); ++outer) {  // outer links may be as fast
            made.seconds_per_message = std::min(made.seconds_per_message, this->level(outer).seconds_per_message);
            made.seconds_per_byte = std::min(made.seconds_per_byte, this->level(outer).seconds_per_byte);
        }
        return made;
    }

    /// The fewest groups of a level over which this many ranks lie; the ranks themselves below level 0.
    [[nodiscard]] double groups_of(double ranks, int level) const {
        const auto number = std::size_t(level);
        return level < 0                    ? ranks
               : number >= groups_.levels() ? 1
                                            : std::max(1.0, std::ceil(ranks / groups_.largest(number)));
    }

private:
    machine constants_;
    rank_groups groups_;
    mutable memo<ring_shape> shapes_;
};

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
