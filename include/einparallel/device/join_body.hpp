#pragma once
// The body of a kernel for joins of strided boxes, with and without a sum.

#include <einparallel/device/body.hpp>
#include <einparallel/device/join_programs.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <cstdint>

namespace einparallel::detail {

/// Loops with the strides of the output and the operands. The loops of the output come first, behind them the loops
/// that are summed; each of these groups begins with its fastest loop.
template <int Operands>
struct join_loops {
    int outputs;
    int all;
    struct {
        divisor extent;
        std::uint32_t size;
        index strides[1 + Operands];
    } loop[launch::most_loops];

    /// Adds to `offsets` those of output point `number`, or with `term` of term `number`, in the output and in the
    /// first `operands` operands.
    EINPARALLEL_HOST_DEVICE void add(bool term, std::uint32_t number, int operands,
                                     index (&offsets)[1 + Operands]) const {
        const int end = term ? all : outputs;
        for (int position = term ? outputs : 0; position < end; ++position) {
            const auto& each = loop[position];
            const std::uint32_t next = each.extent.quotient(number);
            const auto digit = index(number - next * each.size);
            for (int tensor = 0; tensor <= operands; ++tensor) {
                offsets[tensor] += digit * each.strides[tensor];
            }
            number = next;
        }
    }
};

/// How the points and terms of a join are distributed over blocks and threads.
struct join_shape {
    std::uint32_t points = 1;
    std::uint32_t terms = 1;        ///< of each point; 1 where nothing is summed
    std::uint32_t splits = 1;       ///< number of parts into which each sum is split
    std::uint32_t split_terms = 1;  ///< terms of each part; the last may have fewer
    int across = 1;                 ///< points of a block; a power of two
    int along = 1;                  ///< threads of a point; a power of two
    bool sums = false;              ///< true: something is summed
    bool sum_fast = true;           ///< true: neighbouring threads have neighbouring terms; false: neighbouring points

    [[nodiscard]] std::size_t workspace_bytes(std::size_t element) const {
        return splits == 1 ? 0 : std::size_t{splits} * points * element;
    }
    /// Number of blocks: one for each split of each group of points. A thread computes `points_of_thread` points.
    [[nodiscard]] index blocks(index points_of_thread = 1) const {
        return (points + across * points_of_thread - 1) / (across * points_of_thread) * splits;
    }
    [[nodiscard]] int threads() const { return across * along; }

    /// Number of a thread among the threads of its point, and number of that point in the block.
    [[nodiscard]] EINPARALLEL_HOST_DEVICE int lane(int thread) const {
        return sum_fast ? thread & (along - 1) : thread / across;
    }
    [[nodiscard]] EINPARALLEL_HOST_DEVICE int column(int thread) const {
        return sum_fast ? thread / along : thread & (across - 1);
    }

    /// Combines the values x of all threads of a point by ⊕, in a fixed order. The first thread of the point gets the
    /// result. `all`: shared memory for one value per thread.
    template <class Context, class T, class Reduce>
    EINPARALLEL_HOST_DEVICE T reduced(Context& at, T x, T* all, const Reduce& by) const {
        const int thread = at.thread();
        at.barrier();  // no thread needs the old contents any more
        all[thread] = x;
        for (int distance = along / 2; distance > 0; distance /= 2) {
            at.barrier();
            if (lane(thread) < distance) {
                x = by(x, all[thread + distance * (sum_fast ? 1 : across)]);
                all[thread] = x;
            }
        }
        return x;
    }
};

/// The body of a join. Without a sum it computes Z = f(x…), or Z = Z ⊕ f(x…), point by point in the order of Z. With a
/// sum it computes Z = ⊕ f(x…), or Z = Z ⊕ (⊕ f(x…)): a block has `across` points, each summed by `along` threads in a
/// fixed order. Where sums are long and points are few, each sum is computed in splits, each into memory of its own.
template <class Program>
struct join_body {
    static constexpr int operands = Program::most_operands;

    Program program;
    void* output = nullptr;  ///< with splits: dense memory for all points of the first split, then of the next
    const void* from[operands] = {};
    join_shape shape{};
    divisor by_splits{};
    bool combine = false;
    join_loops<operands> loops{};

    EINPARALLEL_HOST_DEVICE void operator()(auto& at) const { shape.sums ? sum(at) : map(at); }

private:
    /// Loads the operands of a point or term. Returns its offset in the output.
    EINPARALLEL_HOST_DEVICE index load(auto& at, auto& held, int slot, bool active, bool term, std::uint32_t number,
                                       const index (&base)[1 + operands]) const {
        index offsets[1 + operands];
        for (int tensor = 0; tensor <= program.operand_count(); ++tensor) {
            offsets[tensor] = base[tensor];
        }
        loops.add(term, number, program.operand_count(), offsets);
        for (int operand = 0; operand < program.operand_count(); ++operand) {
            program.load(at, held, operand, slot, active, from[operand], offsets[1 + operand]);
        }
        return offsets[0];
    }

    EINPARALLEL_HOST_DEVICE void store(auto& at, bool active, index target, typename Program::value made) const {
        if (combine) {
            made = program.reduce(program.load_result(at, active, output, target), made);
        }
        program.store(at, active, output, target, made);
    }

    EINPARALLEL_HOST_DEVICE void map(auto& at) const {
        const auto threads = std::uint32_t(at.threads());
        const std::uint32_t first = std::uint32_t(at.block()) * (join_points * threads) + std::uint32_t(at.thread());
        const auto is_inside = [&](int slot) { return first + std::uint32_t(slot) * threads < shape.points; };
        auto held = program.begin(at);
        const index base[1 + operands] = {};
        index targets[join_points];
        for (int slot = 0; slot < join_points; ++slot) {
            const std::uint32_t number = first + std::uint32_t(slot) * threads;
            targets[slot] = load(at, held, slot, is_inside(slot), false, number, base);
        }
        unsigned active = 0;
        for (int slot = 0; slot < join_points; ++slot) {
            active |= unsigned{is_inside(slot)} << slot;
        }
        program.evaluate(held, active);
        for (int slot = 0; slot < join_points; ++slot) {  // functors must see only elements of tensors
            store(at, is_inside(slot), targets[slot], is_inside(slot) ? program.result(held, slot) : program.identity);
        }
    }

    EINPARALLEL_HOST_DEVICE void sum(auto& at) const {
        using value = typename Program::value;
        const auto block = std::uint32_t(at.block());
        const std::uint32_t group = by_splits.quotient(block);
        const std::uint32_t split = block - group * shape.splits;
        const auto lane = std::uint32_t(shape.lane(at.thread()));
        const std::uint32_t point = group * std::uint32_t(shape.across) + std::uint32_t(shape.column(at.thread()));
        index base[1 + operands] = {};
        loops.add(false, point, program.operand_count(), base);
        const std::uint32_t begin = split * shape.split_terms;
        const std::uint32_t end = begin + shape.split_terms < shape.terms ? begin + shape.split_terms : shape.terms;
        value total = program.identity;
        const auto step = std::uint32_t(shape.along);
        for (std::uint32_t term = begin; term < end; term += step * join_points) {
            const auto number = [&](int slot) { return term + std::uint32_t(slot) * step + lane; };
            auto held = program.begin(at);
            unsigned active = 0;
            for (int slot = 0; slot < join_points; ++slot) {
                const bool is_inside = number(slot) < end && point < shape.points;
                active |= unsigned{is_inside} << slot;
                load(at, held, slot, is_inside, true, number(slot), base);
            }
            program.evaluate(held, active);
            for (int slot = 0; slot < join_points; ++slot) {
                if ((active >> slot & 1U) != 0) {
                    total = program.reduce(total, program.result(held, slot));
                }
            }
        }
        total = shape.reduced(at, total, reinterpret_cast<value*>(at.shared()),
                              [&](value a, value b) { return program.reduce(a, b); });
        store(at, lane == 0 && point<shape.points, shape.splits> 1 ? index{split} * shape.points + point : base[0],
              total);
    }
};

}  // namespace einparallel::detail
