#pragma once
// Joins of strided boxes, with and without a sum: the body of a kernel.

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

    /// Adds the offsets of the point or term that a number stands for, in the output and the first operands.
    EINPARALLEL_HOST_DEVICE void add(bool term, std::uint32_t number, int operands,
                                     index (&offsets)[1 + Operands]) const {
        const int end = term ? all : outputs;
        for (int position = term ? outputs : 0; position < end; ++position) {
            const auto& each = loop[position];
            const std::uint32_t next = each.extent.quotient(number);
            const auto digit = static_cast<index>(number - next * each.size);
            for (int tensor = 0; tensor <= operands; ++tensor) {
                offsets[tensor] += digit * each.strides[tensor];
            }
            number = next;
        }
    }
};

/// Without a sum Z = f(x…), or Z ⊕ f(x…), point by point in the order of Z. With one Z = ⊕ f(x…), or Z ⊕ (⊕ f(x…)):
/// `across` points of a block, each summed by `along` threads, in a fixed order; in pieces, each into a place of its
/// own, where a sum is long and points are few.
template <class Program>
struct join_body {
    static constexpr int operands = Program::most_operands;

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
    bool sums = false;
    bool sum_fast = true;  ///< neighbouring threads have neighbouring terms, else neighbouring points
    bool combine = false;
    join_loops<operands> loops{};

    template <class Context>
    EINPARALLEL_HOST_DEVICE void operator()(Context& at) const {
        sums ? sum(at) : map(at);
    }

private:
    /// Loads the operands of a point or term. Returns its offset in the output.
    template <class Context, class Registers>
    EINPARALLEL_HOST_DEVICE index load(Context& at, Registers& held, int place, bool active, bool term,
                                       std::uint32_t number, const index (&base)[1 + operands]) const {
        index offsets[1 + operands];
        for (int tensor = 0; tensor <= program.operand_count(); ++tensor) {
            offsets[tensor] = base[tensor];
        }
        loops.add(term, number, program.operand_count(), offsets);
        for (int operand = 0; operand < program.operand_count(); ++operand) {
            program.load(at, held, operand, place, active, from[operand], offsets[1 + operand]);
        }
        return offsets[0];
    }

    template <class Context>
    EINPARALLEL_HOST_DEVICE void store(Context& at, bool active, index target, typename Program::value made) const {
        if (combine) {
            made = program.reduce(program.load_result(at, active, output, target), made);
        }
        program.store(at, active, output, target, made);
    }

    template <class Context>
    EINPARALLEL_HOST_DEVICE void map(Context& at) const {
        const auto threads = static_cast<std::uint32_t>(at.threads());
        const std::uint32_t first =
            static_cast<std::uint32_t>(at.block()) * (join_points * threads) + static_cast<std::uint32_t>(at.thread());
        const auto is_inside = [&](int place) { return first + static_cast<std::uint32_t>(place) * threads < points; };
        auto held = program.begin(at);
        const index base[1 + operands] = {};
        index targets[join_points];
        for (int place = 0; place < join_points; ++place) {
            const std::uint32_t number = first + static_cast<std::uint32_t>(place) * threads;
            targets[place] = load(at, held, place, is_inside(place), false, number, base);
        }
        program.evaluate(held);
        for (int place = 0; place < join_points; ++place) {  // functors see elements alone
            store(at, is_inside(place), targets[place],
                  is_inside(place) ? program.result(held, place) : program.identity);
        }
    }

    template <class Context>
    EINPARALLEL_HOST_DEVICE void sum(Context& at) const {
        using value = typename Program::value;
        const auto block = static_cast<std::uint32_t>(at.block());
        const std::uint32_t group = by_pieces.quotient(block);
        const std::uint32_t piece = block - group * pieces;
        const int thread = at.thread();
        const int lane = sum_fast ? thread & (along - 1) : thread / across;
        const int column = sum_fast ? thread / along : thread & (across - 1);
        const std::uint32_t point = group * static_cast<std::uint32_t>(across) + static_cast<std::uint32_t>(column);
        index base[1 + operands] = {};
        loops.add(false, point, program.operand_count(), base);
        const std::uint32_t begin = piece * piece_terms;
        const std::uint32_t end = begin + piece_terms < terms ? begin + piece_terms : terms;
        value total = program.identity;
        const auto step = static_cast<std::uint32_t>(along);
        for (std::uint32_t term = begin; term < end; term += step * join_points) {
            const auto number = [&](int place) {
                return term + static_cast<std::uint32_t>(place) * step + static_cast<std::uint32_t>(lane);
            };
            auto held = program.begin(at);
            for (int place = 0; place < join_points; ++place) {
                load(at, held, place, number(place) < end && point < points, true, number(place), base);
            }
            program.evaluate(held);
            for (int place = 0; place < join_points; ++place) {
                if (number(place) < end && point < points) {
                    total = program.reduce(total, program.result(held, place));
                }
            }
        }
        at.barrier();  // no thread needs its registers any longer
        auto* const all = reinterpret_cast<value*>(at.shared());
        const int next = sum_fast ? 1 : across;
        all[thread] = total;
        for (int distance = along / 2; distance > 0; distance /= 2) {
            at.barrier();
            if (lane < distance) {
                total = program.reduce(total, all[thread + distance * next]);
                all[thread] = total;
            }
        }
        store(at, lane == 0 && point<points, pieces> 1 ? index{piece} * points + point : base[0], total);
    }
};

}  // namespace einparallel::detail
