#pragma once

#include <einparallel/mpi/interface.hpp>
#include <einparallel/run/calibrate.hpp>

#include <einparallel/kernel/product/blas.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/work/work.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/calibrate_storage.ipp>
#include <einparallel/run/nodes.ipp>
#include <einparallel/run/replay.ipp>
#include <einparallel/run/transport.ipp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Sizes of the measured work. Devices get larger messages (these pass through the host in slabs), larger products, and
/// copies that fit into no cache.
struct calibration_sizes {
    std::size_t message_bytes = std::size_t{4} << 20U;
    index product = 512;    ///< side of the largest matrix product
    index step_side = 256;  ///< side of the matrix that a ring's step multiplies pieces with
    index transposed = 0;   ///< side of the largest transposed matrix; 0: operations_per_touch is not measured
};

/// One rank's part of a calibration, with blocks and messages in one memory space. All ranks compute and send at the
/// same time, as in a run. Every duration is that of the slowest rank, so all ranks see the same numbers and take the
/// same decisions.
EINPARALLEL_INLINE class calibration {
public:
    calibration(const context_state& world, const memory_space& space, double seconds, std::string folder)
        : world_(world), space_(space), seconds_(seconds), folder_(std::move(folder)) {}

    machine measure() {
        failure_ = failure_of("calibrate: rank " + std::to_string(rank_), [&] { allocate(); });
        agree(control_, failure_);
        machine found;
        if (space_.is_host()) {
            choose_gemm();
        }
        const double per_operation = arithmetic();
        found.seconds_per_flop = measured(per_operation, found.seconds_per_flop);
        found.operations_per_touch = measured(touching() / found.seconds_per_flop, found.operations_per_touch);
        if (ranks_ > 1) {
            const double few = duration(0.15, 256, step_of({.bytes = few_bytes}));
            const double shifted = duration(0.25, 8, step_of({.bytes = sizes_.message_bytes}));
            found.seconds_per_byte =
                measured((shifted - few) / double(sizes_.message_bytes - few_bytes), found.seconds_per_byte);
            found.seconds_per_message =
                measured(few - double(few_bytes) * found.seconds_per_byte, found.seconds_per_message);
            if (per_operation > 0) {
                found.exposed = exposed(shifted, found);
            }
            measure_levels(found);
        }
        storage_calibration(control_, failure_).measure(found, space_, memory_[3], folder_);
        agree(control_, failure_);
        return found;
    }

private:
    /// Finds the nodes, and measures each level by messages between neighbouring groups: of one rank of each group, and
    /// of all ranks at once. One node, or nodes of one rank each, are no levels.
    void measure_levels(machine& found) {
        const std::vector<int> nodes = nodes_of(control_);
        const std::vector<int> sockets = sockets_of(control_, nodes);
        const auto counted = [](const std::vector<int>& groups) {
            return *std::max_element(groups.begin(), groups.end()) + 1;
        };
        std::vector<std::vector<int>> groups;
        for (const std::vector<int>* const each : {&sockets, &nodes}) {
            const int count = counted(*each);
            if (count > 1 && count < ranks_ && (groups.empty() || count < counted(groups.back()))) {
                groups.push_back(*each);
            }
        }
        if (groups.empty() || !set_groups(found, groups)) {
            return;
        }
        const rank_groups at = groups_of(found);
        for (std::size_t level = 0; level < groups.size() + 1; ++level) {
            machine_level& made = found.levels[level];
            const auto seconds = [&](double share, index repetitions, std::size_t bytes, bool all) {
                const int partner = partner_of(at, level, rank_, ranks_, all);
                const std::size_t sent = partner < 0 ? 0 : bytes;
                return duration(share, repetitions, step_of({.bytes = sent, .partner = std::max(partner, 0)}));
            };
            const double few = seconds(0.05, 64, few_bytes, false);
            const double alone = seconds(0.1, 8, sizes_.message_bytes, false);
            made.seconds_per_byte =
                measured((alone - few) / double(sizes_.message_bytes - few_bytes), found.seconds_per_byte);
            made.seconds_per_message =
                measured(few - double(few_bytes) * made.seconds_per_byte, found.seconds_per_message);
            if (level > 0) {
                const double all = seconds(0.1, 8, sizes_.message_bytes, true);
                const double sharing = std::max(1.0, (all - few) / std::max(alone - few, 1e-12));
                made.transfers = std::max(1.0, at.largest(level - 1) / sharing);
            }
        }
    }

    static constexpr std::size_t few_bytes = 4096;  ///< shorter messages take 1/4 of the start-up time of longer ones
    static constexpr index small = 128;             ///< side of a product whose operands fit into the L2 cache
    static constexpr index step_rows = 2048;
    static constexpr double shortest_sample = 2e-4;  ///< seconds that any clock resolves
    static constexpr double clock_stands = 1e-6;     ///< seconds; a shorter sample means that the clock stands still
    static constexpr int most_rounds = 25;
    /// More than 0: if a ring's step hid everything, bytes would cost nothing in the time model.
    static constexpr double least_exposed = 0.01;

    void allocate() {
        const index square = sizes_.product * sizes_.product;
        const index most_elements =
            std::max({square, step_rows * sizes_.step_side, sizes_.transposed * sizes_.transposed});
        const auto message = index(sizes_.message_bytes / sizeof(double));
        memory_ = {filled(most_elements, 0.5), filled(square, 0.25), filled(most_elements, 0.0), filled(message, 1.0),
                   filled(message, 0.0)};
        flight_.reserve(step_of({.bytes = sizes_.message_bytes}).messages());
        samples_.reserve(most_rounds);
    }
    memory_block filled(index count, double value) const {
        memory_block made(space_, std::size_t(count) * sizeof(double));
        space_.fill({{{0, count}}}, made.data(), sizeof(double), [&](const box& region, void* into) {
            std::fill_n(static_cast<double*>(into), region.size(), value);
        });
        return made;
    }

    /// The measured figure, or the built-in one where the clock could not resolve it.
    static double measured(double figure, double built_in) {
        return std::isfinite(figure) && figure > std::numeric_limits<double>::min() ? figure : built_in;
    }

    /// The median duration of a program in seconds; 0 where the clock does not advance. A short program is repeated, up
    /// to about `repetitions` times, until a sample is long enough. Stops after the part `share` of seconds_.
    /// Collective.
    double duration(double share, index repetitions, program_replay work) {
        const run_watch watch{.rank = rank_, .call = "calibrate"};
        const auto replay = [&] { work.replay(space_, flight_, nullptr, watch, failure_); };
        samples_.clear();
        const double begin = MPI_Wtime();
        replay();  // memory is touched, connections are made
        index repeated = 1;
        for (int round = 0; round < most_rounds; ++round) {
            std::array<double, 2> figures{};
            allreduce_largest(control_, figures);  // nobody begins before all are here
            const double start = MPI_Wtime();
            for (index repetition = 0; repetition < repeated; ++repetition) {
                replay();
            }
            const double now = MPI_Wtime();
            figures = {now - start, now - begin};
            allreduce_largest(control_, figures);
            const bool too_short = figures[0] < shortest_sample;
            if (too_short && repeated < repetitions) {
                repeated *= 2;
                continue;
            }
            if (figures[0] < clock_stands) {
                return 0;
            }
            samples_.push_back(figures[0] / double(repeated));
            if (figures[1] > share * seconds_) {
                break;
            }
        }
        if (samples_.empty()) {
            return 0;
        }
        sort_range(samples_);
        return samples_[samples_.size() / 2];
    }

    /// Load of a step: one message of `bytes` bytes, and meanwhile `products` products of a rows × side and a side ×
    /// side matrix.
    struct step_load {
        std::size_t bytes = 0;
        int products = 0;
        index rows = 0;
        index side = 0;
        int partner = -1;  ///< with which the message is exchanged; -1: it goes half a ring further
    };

    /// A step like a ring's, but its message goes to the rank half a ring away. Where ranks fill one node after the
    /// other, all ranks of a node then share its link.
    program_replay step_of(const step_load& load) const {
        const box sent{{{0, index(load.bytes / sizeof(double))}}};
        const box square{{{0, load.side}, {0, load.side}}};
        const box tall{{{0, load.rows}, {0, load.side}}};
        program made;
        for (const box& each : {tall, square, tall, sent, sent}) {
            made.add_buffer(each, sizeof(double));
        }
        const int half = (ranks_ + 1) / 2;
        const bool is_pair = load.partner >= 0;
        step& only = made.steps.emplace_back();
        only.send(is_pair ? load.partner : (rank_ + ranks_ - half) % ranks_, 3, sent);
        only.receive(is_pair ? load.partner : (rank_ + half) % ranks_, 4, sent);
        only.work.assign(std::size_t(load.products),
                         contraction{0, {0, 1}, 2, {{0, load.rows}, {0, load.side}, {0, load.side}}});
        return in_memory(std::move(made));
    }
    program_replay product_of(index side) const { return step_of({0, 1, side, side, -1}); }

    program_replay transposition_of(index side) const {
        const box square{{{0, side}, {0, side}}};
        program made;
        const buffer_id from = made.add_buffer(square, sizeof(double));
        const buffer_id into = made.add_buffer(square, sizeof(double));
        made[from].strides = {1, side};
        made.steps.emplace_back().move(into, from, square);
        return in_memory(std::move(made));
    }

    program_replay in_memory(program moves) const {
        moves.vertices = {{"matrix product", work_.get(), form_}};
        program_replay made(std::move(moves), space_.staging());
        for (std::size_t number = 0; number < made.of_rank().buffers.size(); ++number) {
            made.bind(buffer_id(number), memory_[number].data(), made.of_rank().buffers[number].strides);
        }
        made.lay_out(space_);
        return made;
    }

    double operations(index rows, index inner, index columns) const {
        return work_->operations_per_point() * double(rows * inner * columns);
    }

    /// Where all ranks have linked a BLAS and none has called use_gemm: measures its product and the library's own. The
    /// one that is faster on the slowest rank computes plain products from now on.
    void choose_gemm() {
        const bool open = blas_library::get().linked && chosen_gemm().load() == gemm_choice::automatic;
        if (!all_of(control_, open)) {
            return;
        }
        const auto timed = [&](gemm_choice choice) {
            use_gemm(choice);
            return duration(0.1, 1, product_of(sizes_.product));
        };
        const double own = timed(gemm_choice::own);
        const double blas = timed(gemm_choice::blas);
        use_gemm(own == 0 || blas == 0 ? gemm_choice::automatic : blas < own ? gemm_choice::blas : gemm_choice::own);
    }

    /// Seconds per operation. On the host this is the mean of a small and a large product; on a device it is that of
    /// the largest product alone, because the time to start it is then negligible. Leaves out products that would take
    /// too long.
    double arithmetic() {
        double found = duration(0.1, 16, product_of(small)) / operations(small, small, small);
        for (index side = 4 * small; side <= sizes_.product; side *= 4) {
            const double all = operations(side, side, side);
            if (found == 0 || found * all > 0.1 * seconds_) {
                break;
            }
            const double larger = duration(0.2, 1, product_of(side)) / all;
            found = larger == 0 ? found : space_.is_host() ? (found + larger) / 2 : larger;
        }
        return found;
    }

    /// Seconds per element of the largest transposition that does not take too long; 0 where none is measured.
    double touching() {
        double found = 0;
        for (index side = 512; side <= sizes_.transposed; side *= 2) {
            const auto elements = double(side * side);
            if (found * elements > 0.05 * seconds_) {
                break;
            }
            found = duration(0.1, 16, transposition_of(side)) / elements;
        }
        return found;
    }

    /// The time that a ring's step takes beyond the longer of its computation and its transfer, as a fraction of the
    /// shorter one. The step computes, and polls, for about as long as its message is in flight.
    double exposed(double transfer, const machine& found) {
        index side = sizes_.step_side;
        while (side > small && operations(8, side, side) * found.seconds_per_flop > transfer) {
            side /= 2;
        }
        const double per_row = operations(1, side, side) * found.seconds_per_flop;
        const index rows = std::clamp(index(std::min(transfer / per_row, 1e9)), index{8}, step_rows);
        const int times = std::clamp(int(std::min(transfer / (per_row * double(rows)), 64.0)), 1, 64);
        const double alone = duration(0.1, 4, step_of({0, times, rows, side, -1}));
        const double both = duration(0.2, 4, step_of({sizes_.message_bytes, times, rows, side, -1}));
        const double shorter = std::min(alone, transfer);
        if (shorter <= 0 || both <= 0) {
            return found.exposed;
        }
        return std::clamp((both - std::max(alone, transfer)) / shorter, least_exposed, 1.0);
    }

    const context_state& world_;
    const memory_space& space_;
    double seconds_;
    std::string folder_;
    const communicator& control_ = world_.control;
    int rank_ = world_.payload.rank();
    int ranks_ = world_.payload.size();
    calibration_sizes sizes_ =
        space_.is_host() ? calibration_sizes{} : calibration_sizes{std::size_t{32} << 20U, 2048, 2048, 4096};
    const std::shared_ptr<const kernel> work_ = make_product_kernel<double>(1.0, 2);
    const einsum_form form_{{"i", "j", "k"}, {{0, 1}, {1, 2}}, {0, 2}};
    std::array<memory_block, 5> memory_;  ///< memory of a step's buffers
    std::vector<double> samples_;
    std::string failure_;
    transport flight_{world_.payload, space_};  ///< last: its destructor completes messages in the memory above
};

EINPARALLEL_SELDOM machine machine_of_space(const context& world, const memory_space& space, double seconds,
                                            const std::string& folder) {
    const exclusive guard(*world.state(), "calibrate");
    const std::string failure = std::isfinite(seconds) && seconds > 0
                                    ? std::string()
                                    : "calibrate: the seconds to spend must be positive and finite";
    agree(world.control(), failure,
          {{std::bit_cast<std::uint64_t>(seconds), "calibrate: the seconds to spend are not the same on all ranks"}});
    return calibration(*world.state(), space, seconds, folder).measure();
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_SELDOM machine measured_machine(const context& world, double seconds) {
    return detail::machine_of_space(world, detail::the_host, seconds);
}

EINPARALLEL_SELDOM machine measured_machine(const context& world, const std::string& folder, double seconds) {
    detail::agree(world.control(), folder.empty() ? "calibrate: the folder has no name" : "");
    return detail::machine_of_space(world, detail::the_host, seconds, folder);
}

}  // namespace einparallel
