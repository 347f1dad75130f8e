#pragma once

#include <einparallel/run/calibrate.hpp>

#include <einparallel/kernel/product/blas.hpp>
#include <einparallel/kernel/product/contract.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/message_progress.ipp>
#include <einparallel/run/transport.ipp>

#include <mpi.h>

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

EINPARALLEL_INLINE void allreduce_largest(const communicator& ranks, std::span<double> figures) {
    std::array<std::uint64_t, 4> complements{};
    const std::size_t count = std::min(figures.size(), complements.size());
    for (std::size_t figure = 0; figure < count; ++figure) {
        complements[figure] = ~std::bit_cast<std::uint64_t>(figures[figure] > 0 ? figures[figure] : 0.0);
    }
    allreduce_minimum(ranks, std::span(complements).first(count));
    for (std::size_t figure = 0; figure < count; ++figure) {
        figures[figure] = std::bit_cast<double>(~complements[figure]);
    }
}

/// What is measured with. Devices have larger messages, which pass through the host in slabs, larger products, and
/// copies that no cache holds.
struct calibration_sizes {
    std::size_t message_bytes = std::size_t{4} << 20U;
    index product = 512;    ///< side of the largest
    index step_side = 256;  ///< of the matrix that a ring's step multiplies slices with
    index transposed = 0;   ///< side of the largest matrix; 0: operations_per_touch is not measured
};

/// One calibration, on one rank, with blocks and messages of one memory space. All ranks work and send at the same
/// time, as they do in a run; every duration is the slowest rank's, so that all ranks see the same numbers and decide
/// the same.
EINPARALLEL_INLINE class calibration {
public:
    calibration(const context_state& world, const memory_space& space, double seconds)
        : control_(world.control),
          space_(space),
          sizes_(space.is_host() ? calibration_sizes{} : calibration_sizes{std::size_t{32} << 20U, 2048, 2048, 4096}),
          rank_(world.payload.rank()),
          ranks_(world.payload.size()),
          seconds_(seconds),
          flight_(world.payload, space) {}

    machine measure() {
        attempt([&] { allocate(); });
        agree(control_, failure_);
        machine found;
        if (space_.is_host()) {
            choose_gemm();
        }
        const double per_operation = arithmetic();
        found.seconds_per_flop = measured(per_operation, found.seconds_per_flop);
        found.operations_per_touch = measured(touching() / found.seconds_per_flop, found.operations_per_touch);
        if (ranks_ > 1) {
            const prepared_messages kilobytes = shift_of(few_bytes);
            const double few = duration(0.15, 256, [&] { shift(kilobytes, [] {}); });
            const prepared_messages megabytes = shift_of(sizes_.message_bytes);
            const double shifted = duration(0.25, 8, [&] { shift(megabytes, [] {}); });
            found.seconds_per_byte = measured((shifted - few) / static_cast<double>(sizes_.message_bytes - few_bytes),
                                              found.seconds_per_byte);
            found.seconds_per_message =
                measured(few - static_cast<double>(few_bytes) * found.seconds_per_byte, found.seconds_per_message);
            if (per_operation > 0) {
                found.exposed = exposed(shifted, megabytes, found);
            }
        }
        agree(control_, failure_);
        return found;
    }

private:
    static constexpr std::size_t few_bytes = 4096;  ///< shorter messages cost a quarter of what longer ones begin at
    static constexpr index small = 128;             ///< operands of such a product lie in the second-level cache
    static constexpr index step_rows = 2048;
    static constexpr double shortest_sample = 2e-4;  ///< what any clock resolves
    static constexpr double clock_stands = 1e-6;     ///< no repeated work is as short as this
    static constexpr int most_rounds = 25;
    /// A ring's step that hid everything would make bytes free.
    static constexpr double least_exposed = 0.01;

    void allocate() {
        const index square = sizes_.product * sizes_.product;
        const index slices = std::max({square, step_rows * sizes_.step_side, sizes_.transposed * sizes_.transposed});
        const auto message = static_cast<index>(sizes_.message_bytes / sizeof(double));
        left_ = filled(slices, 0.5);
        right_ = filled(square, 0.25);
        product_ = filled(slices, 0.0);
        sent_ = filled(message, 1.0);
        received_ = filled(message, 0.0);
        starts_ = {sent_.data(), received_.data()};
        message_room most;
        most.add(shift_of(sizes_.message_bytes), space_.staging() > 0);
        flight_.reserve(most);
        samples_.reserve(most_rounds);
    }
    [[nodiscard]] memory_block filled(index count, double value) const {
        const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(double);
        memory_block made(space_, bytes);
        const memory_block from(space_.on_host(), bytes);
        std::fill_n(reinterpret_cast<double*>(from.data()), count, value);
        const std::array<index, 1> extents{count}, strides{1};
        space_.finish(space_.bring_in({extents, made.data(), strides, from.data(), strides, sizeof(double)}, no_work));
        return made;
    }

    /// A figure that the clock resolved, else the built-in one.
    static double measured(double figure, double built_in) {
        return std::isfinite(figure) && figure > std::numeric_limits<double>::min() ? figure : built_in;
    }

    /// The median duration of work(); 0 where the clock does not move. Short work is repeated, up to `repetitions`
    /// times, until a sample is long enough. Stops after `share` of the seconds. Collective.
    double duration(double share, index repetitions, function_ref<void()> work) {
        samples_.clear();
        const double begin = MPI_Wtime();
        work();  // memory is touched, connections are made
        index repeated = 1;
        for (int round = 0; round < most_rounds; ++round) {
            std::array<double, 2> figures{};
            allreduce_largest(control_, figures);  // nobody begins before all are here
            const double start = MPI_Wtime();
            for (index repetition = 0; repetition < repeated; ++repetition) {
                work();
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
            samples_.push_back(figures[0] / static_cast<double>(repeated));
            if (figures[1] > share * seconds_) {
                break;
            }
        }
        if (samples_.empty()) {
            return 0;
        }
        std::ranges::sort(samples_);
        return samples_[samples_.size() / 2];
    }

    /// A ring's transfer by half the ring: where ranks fill one node after the other, all of a node share its link.
    [[nodiscard]] prepared_messages shift_of(std::size_t bytes) const {
        const box region{{{0, static_cast<index>(bytes / sizeof(double))}}};
        program moves;
        step& shifted = moves.steps.emplace_back();
        const int half = (ranks_ + 1) / 2;
        shifted.sends.push_back({(rank_ + ranks_ - half) % ranks_, moves.add_buffer(region, sizeof(double)), region});
        shifted.receives.push_back({(rank_ + half) % ranks_, moves.add_buffer(region, sizeof(double)), region});
        return prepared_messages(moves, moves.steps.front(), space_.staging());
    }
    /// Computes while the messages are under way.
    void shift(const prepared_messages& shifted, function_ref<void()> compute) {
        flight_.start(shifted, starts_);
        compute();
        attempt([&] { flight_.complete(); });
        finish_work();
    }
    void finish_work() {
        attempt([&] { space_.finish(space_.given()); });
    }

    /// f(); what it throws first is this rank's failure.
    void attempt(function_ref<void()> f) {
        const std::string thrown = failure_of(doing_, f);
        failure_ = failure_.empty() ? thrown : failure_;
    }

    void transpose(index side) {
        const std::array<index, 2> extents{side, side}, rows{side, 1}, columns{1, side};
        attempt([&] { space_.copy({extents, product_.data(), rows, left_.data(), columns, sizeof(double)}); });
        finish_work();
    }

    /// Z(i,k) = X(i,j) Y(j,k) as the kernel of a vertex, dense and row-major; may go on after the call.
    void start_product(index rows, index inner, index columns, progress_hook* hook = nullptr) {
        static constexpr std::array<label_id, 2> x{0, 1};
        static constexpr std::array<label_id, 2> y{1, 2};
        static constexpr std::array<label_id, 2> z{0, 2};
        const std::array<index, 3> extents{rows, inner, columns};
        const std::array<index, 2> by_inner{inner, 1};
        const std::array<index, 2> by_column{columns, 1};
        const std::array<operand_block, 2> operands{operand_block{left_.data(), x, by_inner},
                                                    operand_block{right_.data(), y, by_column}};
        attempt([&] {
            const block_call call{extents, operands, {product_.data(), z, by_column}, write_mode::overwrite, hook};
            space_.prepare(space_.workspace(work_, call));
            space_.contract(work_, call);
        });
    }
    void multiply(index side) {
        start_product(side, side, side);
        finish_work();
    }

    [[nodiscard]] double operations(index rows, index inner, index columns) const {
        return work_.operations_per_point() * static_cast<double>(rows * inner * columns);
    }

    /// Where all ranks have linked a BLAS and none has chosen: the faster of it and of the library's own product, on
    /// the slowest rank, computes plain products from now on.
    void choose_gemm() {
        const bool open = blas_library::get().linked && chosen_gemm().load() == gemm_choice::automatic;
        if (!all_of(control_, open)) {
            return;
        }
        const auto timed = [&](gemm_choice choice) {
            use_gemm(choice);
            return duration(0.1, 1, [&] { multiply(sizes_.product); });
        };
        const double own = timed(gemm_choice::own);
        const double blas = timed(gemm_choice::blas);
        use_gemm(own == 0 || blas == 0 ? gemm_choice::automatic : blas < own ? gemm_choice::blas : gemm_choice::own);
    }

    /// Seconds per operation: the mean of a small and of a large product, on a device that of the largest alone, beside
    /// which its start is short; none is run that would take too long.
    double arithmetic() {
        double found = duration(0.1, 16, [&] { multiply(small); }) / operations(small, small, small);
        for (index side = 4 * small; side <= sizes_.product; side *= 4) {
            const double all = operations(side, side, side);
            if (found == 0 || found * all > 0.1 * seconds_) {
                break;
            }
            const double larger = duration(0.2, 1, [&] { multiply(side); }) / all;
            found = larger == 0 ? found : space_.is_host() ? (found + larger) / 2 : larger;
        }
        return found;
    }

    /// Seconds per element of a transposition, of the largest that does not take too long.
    double touching() {
        double found = 0;
        for (index side = 512; side <= sizes_.transposed; side *= 2) {
            const auto elements = static_cast<double>(side * side);
            if (found * elements > 0.05 * seconds_) {
                break;
            }
            found = duration(0.1, 16, [&] { transpose(side); }) / elements;
        }
        return found;
    }

    /// What a ring's step takes beyond the longer of its arithmetic and its transfer, as a share of the shorter. The
    /// step computes for as long as its message is under way, and polls.
    double exposed(double transfer, const prepared_messages& megabytes, const machine& found) {
        index side = sizes_.step_side;
        while (side > small && operations(8, side, side) * found.seconds_per_flop > transfer) {
            side /= 2;
        }
        const double per_row = operations(1, side, side) * found.seconds_per_flop;
        const index rows = std::clamp(static_cast<index>(std::min(transfer / per_row, 1e9)), index{8}, step_rows);
        const int times =
            std::clamp(static_cast<int>(std::min(transfer / (per_row * static_cast<double>(rows)), 64.0)), 1, 64);
        const auto compute = [&] {
            paced_polls polls(flight_, nullptr);
            progress_hook hook(polls);
            for (int time = 0; time < times; ++time) {
                start_product(rows, side, side, &hook);
            }
        };
        const double alone = duration(0.1, 4, [&] {
            compute();
            finish_work();
        });
        const double both = duration(0.2, 4, [&] { shift(megabytes, compute); });
        const double shorter = std::min(alone, transfer);
        if (shorter <= 0 || both <= 0) {
            return found.exposed;
        }
        return std::clamp((both - std::max(alone, transfer)) / shorter, least_exposed, 1.0);
    }

    const communicator& control_;
    const memory_space& space_;
    calibration_sizes sizes_;
    int rank_;
    int ranks_;
    double seconds_;
    const product_kernel<double> work_{1.0, 2};
    memory_block left_, right_, product_, sent_, received_;
    std::array<std::byte*, 2> starts_{};  ///< of the shift's buffers
    std::vector<double> samples_;
    const std::string doing_ = "calibrate: rank " + std::to_string(rank_);
    std::string failure_;
    transport flight_;  ///< last: its destructor completes what uses the memory above
};

EINPARALLEL_INLINE machine machine_of_space(const context& world, const memory_space& space, double seconds) {
    const exclusive guard(*world.state(), "calibrate");
    const std::string failure = std::isfinite(seconds) && seconds > 0
                                    ? std::string()
                                    : "calibrate: the seconds to spend must be positive and finite";
    agree(world.control(), failure,
          {{std::bit_cast<std::uint64_t>(seconds), "calibrate: the seconds to spend are not the same on all ranks"}});
    return calibration(*world.state(), space, seconds).measure();
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE machine measured_machine(const context& world, double seconds) {
    return detail::machine_of_space(world, detail::the_host, seconds);
}

}  // namespace einparallel
