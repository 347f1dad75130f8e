#pragma once
// Joins of strided boxes, with and without a sum: bodies of kernels.

#include <einparallel/device/body.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/device/op_cells.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/host_device.hpp>
#include <einparallel/notation/op_code.hpp>

#include <cstddef>
#include <cstdint>

namespace einparallel::detail {

/// Points of a thread at once: loads in flight.
inline constexpr int join_points = 4;

/// a ⊕ b of one of the types that have kernels of their own.
template <class T>
EINPARALLEL_HOST_DEVICE T reduced_by(reduction by, T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        switch (by) {
            case reduction::max:
                return op::max_type{}(a, b);
            case reduction::min:
                return op::min_type{}(a, b);
            default:
                break;
        }
    }
    return by == reduction::prod ? a * b : a + b;
}

/// What programs have in common whose registers hold elements, and whose result is one.
template <class T, class Registers>
struct element_program {
    using value = T;
    using registers = Registers;

    template <class Context>
    EINPARALLEL_HOST_DEVICE registers begin(Context& /*at*/) const {
        return {};
    }
    EINPARALLEL_HOST_DEVICE void evaluate(registers& /*held*/) const {}
    template <class Context>
    [[nodiscard]] EINPARALLEL_HOST_DEVICE T load_result(Context& at, bool active, const void* first,
                                                        index offset) const {
        return at.load(active, static_cast<const T*>(first) + offset);
    }
    template <class Context>
    EINPARALLEL_HOST_DEVICE void store(Context& at, bool active, void* first, index offset, T x) const {
        at.store(active, static_cast<T*>(first) + offset, x);
    }
};

/// Some of the points of operands of one type.
template <class T, int Operands>
struct plain_registers {
    T x[join_points][Operands];
};

/// A function of `Operands` operands of one type with a kernel of its own: `Function` has `T operator()(const T*)`.
template <class T, int Operands, class Function>
struct plain_program : element_program<T, plain_registers<T, Operands>> {
    static constexpr int operands = Operands;
    using registers = plain_registers<T, Operands>;

    Function function;
    reduction by;
    T identity;

    template <class Context>
    EINPARALLEL_HOST_DEVICE void load(Context& at, registers& held, int operand, int point, bool active,
                                      const void* first, index offset) const {
        held.x[point][operand] = at.load(active, static_cast<const T*>(first) + offset);
    }
    [[nodiscard]] EINPARALLEL_HOST_DEVICE T result(const registers& held, int point) const {
        return function(held.x[point]);
    }
    [[nodiscard]] EINPARALLEL_HOST_DEVICE T reduce(T a, T b) const { return reduced_by(by, a, b); }
};

/// scale · x · …
template <class T, int Operands>
struct scaled_product {
    T scale;
    EINPARALLEL_HOST_DEVICE T operator()(const T* x) const {
        T product = x[0];
        for (int operand = 1; operand < Operands; ++operand) {
            product = product * x[operand];
        }
        return scale * product;
    }
};

/// first · x + second · y
template <class T>
struct scaled_sum {
    T first;
    T second;
    EINPARALLEL_HOST_DEVICE T operator()(const T* x) const { return first * x[0] + second * x[1]; }
};

template <class T>
struct quotient {
    EINPARALLEL_HOST_DEVICE T operator()(const T* x) const { return x[0] / x[1]; }
};

template <class T>
struct exponential_of_difference {
    EINPARALLEL_HOST_DEVICE T operator()(const T* x) const { return std::exp(x[0] - x[1]); }
};

/// Any program, instruction by instruction, registers in shared memory.
template <int Words, int Operands>
struct cell_program {
    static constexpr int operands = Operands;
    static constexpr int most_instructions = 64;
    using value = op_cell<Words>;
    struct registers {
        value* cells;
        int apart;
    };

    cell_type operand_types[Operands];
    int operand_count;
    int count;
    std::uint8_t result_register;
    cell_type type;  ///< of the result
    op_code by;      ///< ⊕ as ⊗
    value identity;
    cell_instruction code[most_instructions];

    template <class Context>
    EINPARALLEL_HOST_DEVICE registers begin(Context& at) const {
        return {reinterpret_cast<value*>(at.shared()) + at.thread(), at.threads()};
    }
    template <class Context>
    EINPARALLEL_HOST_DEVICE void load(Context& at, registers& held, int operand, int point, bool active,
                                      const void* first, index offset) const {
        if (operand < operand_count) {
            held.cells[(operand * join_points + point) * held.apart] =
                load_cell(at, operand_types[operand], active, first, offset);
        }
    }
    EINPARALLEL_HOST_DEVICE void evaluate(registers& held) const {
        interpret(code, count, held.cells, join_points, held.apart);
    }
    [[nodiscard]] EINPARALLEL_HOST_DEVICE value result(const registers& held, int point) const {
        return held.cells[(result_register * join_points + point) * held.apart];
    }
    [[nodiscard]] EINPARALLEL_HOST_DEVICE value reduce(value a, value b) const {
        return computed(by, type, type, a, b, b);
    }
    template <class Context>
    [[nodiscard]] EINPARALLEL_HOST_DEVICE value load_result(Context& at, bool active, const void* first,
                                                            index offset) const {
        return load_cell(at, type, active, first, offset);
    }
    template <class Context>
    EINPARALLEL_HOST_DEVICE void store(Context& at, bool active, void* first, index offset, value x) const {
        switch (type.bytes) {
            case 1:
                at.store(active, static_cast<std::uint8_t*>(first) + offset, static_cast<std::uint8_t>(x.words[0]));
                return;
            case 2:
                at.store(active, static_cast<std::uint16_t*>(first) + offset, static_cast<std::uint16_t>(x.words[0]));
                return;
            case 4:
                at.store(active, static_cast<std::uint32_t*>(first) + offset, static_cast<std::uint32_t>(x.words[0]));
                return;
            case 8:
                at.store(active, static_cast<std::uint64_t*>(first) + offset, x.words[0]);
                return;
            default:
                if constexpr (Words == 2) {
                    at.store(active, static_cast<value*>(first) + offset, x);
                }
        }
    }

private:
    template <class Context>
    static EINPARALLEL_HOST_DEVICE value load_cell(Context& at, cell_type of, bool active, const void* first,
                                                   index offset) {
        const auto whole = [&](auto x) { return value{{static_cast<std::uint64_t>(static_cast<std::int64_t>(x))}}; };
        const bool is_signed = of.kind == cell_kind::whole;
        switch (of.bytes) {
            case 1: {
                const auto bits = at.load(active, static_cast<const std::uint8_t*>(first) + offset);
                return is_signed ? whole(static_cast<std::int8_t>(bits)) : value{{bits}};
            }
            case 2: {
                const auto bits = at.load(active, static_cast<const std::uint16_t*>(first) + offset);
                return is_signed ? whole(static_cast<std::int16_t>(bits)) : value{{bits}};
            }
            case 4: {
                const auto bits = at.load(active, static_cast<const std::uint32_t*>(first) + offset);
                return is_signed ? whole(static_cast<std::int32_t>(bits)) : value{{bits}};
            }
            case 8:
                return {{at.load(active, static_cast<const std::uint64_t*>(first) + offset)}};
            default:
                if constexpr (Words == 2) {
                    return at.load(active, static_cast<const value*>(first) + offset);
                }
                return {};
        }
    }
};

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
