#pragma once
// Joins of strided boxes, with and without a sum: bodies of kernels.

#include <einparallel/device/body.hpp>
#include <einparallel/device/join_programs.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/host_device.hpp>

#include <cstdint>

namespace einparallel::detail {

/// Loops with the strides of the output and the operands: the output's, fastest first, and behind them those that are
/// summed, fastest first.
template <int Operands>
struct join_loops {
    int outputs;
    int all;
    struct {
        divisor extent;
        std::uint32_t size;
        index strides[1 + Operands];
    } loop[launch::most_loops];

    /// Adds the offsets of the point or term that a number stands for.
    EINPARALLEL_HOST_DEVICE void add(bool term, std::uint32_t number, index (&offsets)[1 + Operands]) const {
        const int end = term ? all : outputs;
        for (int position = term ? outputs : 0; position < end; ++position) {
            const auto& each = loop[position];
            const std::uint32_t next = each.extent.quotient(number);
            const auto digit = static_cast<index>(number - next * each.size);
            for (int tensor = 0; tensor <= Operands; ++tensor) {
                offsets[tensor] += digit * each.strides[tensor];
            }
            number = next;
        }
    }
};

/// Z = f(x…), or Z ⊕ f(x…), point by point in the order of Z.
template <class Program>
struct join_map {
    static constexpr int operands = Program::operands;

    Program program;
    void* output = nullptr;
    const void* from[operands] = {};
    std::uint32_t points = 0;
    bool combine = false;
    join_loops<operands> loops{};

    template <class Context>
    EINPARALLEL_HOST_DEVICE void operator()(Context& at) const {
        const auto threads = static_cast<std::uint32_t>(at.threads());
        const std::uint32_t first =
            static_cast<std::uint32_t>(at.block()) * (join_points * threads) + static_cast<std::uint32_t>(at.thread());
        auto held = program.begin(at);
        index targets[join_points];
        for (int point = 0; point < join_points; ++point) {
            const std::uint32_t number = first + static_cast<std::uint32_t>(point) * threads;
            index offsets[1 + operands] = {};
            loops.add(false, number, offsets);
            targets[point] = offsets[0];
            for (int operand = 0; operand < operands; ++operand) {
                program.load(at, held, operand, point, number < points, from[operand], offsets[1 + operand]);
            }
        }
        program.evaluate(held);
        for (int point = 0; point < join_points; ++point) {
            const bool active = first + static_cast<std::uint32_t>(point) * threads < points;
            auto made = program.identity;
            if (active) {  // functors see elements alone
                made = program.result(held, point);
            }
            if (combine) {
                made = program.reduce(program.load_result(at, active, output, targets[point]), made);
            }
            program.store(at, active, output, targets[point], made);
        }
    }
};

/// Z = ⊕ f(x…), or Z ⊕ (⊕ f(x…)): `across` points of a block, each summed by `along` threads, in a fixed order; in
/// pieces, each into a place of its own, where a sum is long and points are few.
template <class Program>
struct join_sum {
    static constexpr int operands = Program::operands;

    Program program;
    void* output = nullptr;  ///< where there are pieces, dense memory: piece by piece, point by point
    const void* from[operands] = {};
    std::uint32_t points = 0;
    std::uint32_t terms = 0;
    std::uint32_t piece_terms = 0;  ///< of each piece, but the last
    std::uint32_t pieces = 1;
    divisor by_pieces{};
    int across = 1;  ///< powers of two; across · along threads
    int along = 1;
    bool sum_fast = true;  ///< neighbouring threads have neighbouring terms, else neighbouring points
    bool combine = false;
    int sums_at = 0;  ///< byte of shared memory where threads' sums lie
    join_loops<operands> loops{};

    template <class Context>
    EINPARALLEL_HOST_DEVICE void operator()(Context& at) const {
        using value = typename Program::value;
        const auto block = static_cast<std::uint32_t>(at.block());
        const std::uint32_t group = by_pieces.quotient(block);
        const std::uint32_t piece = block - group * pieces;
        const int thread = at.thread();
        const int lane = sum_fast ? thread & (along - 1) : thread / across;
        const int column = sum_fast ? thread / along : thread & (across - 1);
        const std::uint32_t point_number =
            group * static_cast<std::uint32_t>(across) + static_cast<std::uint32_t>(column);
        index base[1 + operands] = {};
        loops.add(false, point_number, base);
        const std::uint32_t begin = piece * piece_terms;
        const std::uint32_t end = begin + piece_terms < terms ? begin + piece_terms : terms;
        value sum = program.identity;
        const auto step = static_cast<std::uint32_t>(along);
        for (std::uint32_t term = begin; term < end; term += step * join_points) {
            auto held = program.begin(at);
            for (int point = 0; point < join_points; ++point) {
                const std::uint32_t number =
                    term + static_cast<std::uint32_t>(point) * step + static_cast<std::uint32_t>(lane);
                index offsets[1 + operands];
                for (int tensor = 0; tensor <= operands; ++tensor) {
                    offsets[tensor] = base[tensor];
                }
                loops.add(true, number, offsets);
                for (int operand = 0; operand < operands; ++operand) {
                    program.load(at, held, operand, point, number < end && point_number < points, from[operand],
                                 offsets[1 + operand]);
                }
            }
            program.evaluate(held);
            for (int point = 0; point < join_points; ++point) {
                if (point_number < points &&
                    term + static_cast<std::uint32_t>(point) * step + static_cast<std::uint32_t>(lane) < end) {
                    sum = program.reduce(sum, program.result(held, point));
                }
            }
        }
        if (sum_fast && along <= warp_size) {
            for (int distance = along / 2; distance > 0; distance /= 2) {
                sum = program.reduce(sum, at.shuffle_down(sum, distance));
            }
        } else {
            auto* const all = reinterpret_cast<value*>(at.shared() + sums_at);
            const int next = sum_fast ? 1 : across;
            all[thread] = sum;
            for (int distance = along / 2; distance > 0; distance /= 2) {
                at.barrier();
                if (lane < distance) {
                    sum = program.reduce(sum, all[thread + distance * next]);
                    all[thread] = sum;
                }
            }
        }
        const bool writes = lane == 0 && point_number < points;
        const index target = pieces > 1 ? index{piece} * points + point_number : base[0];
        if (combine) {
            sum = program.reduce(program.load_result(at, writes, output, target), sum);
        }
        program.store(at, writes, output, target, sum);
    }
};

}  // namespace einparallel::detail
