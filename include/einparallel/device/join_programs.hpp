#pragma once
// What a join computes of its operands' elements, as kernels take it: a function with a kernel of its own, or any
// program.

#include <einparallel/device/op_cells.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/host_device.hpp>
#include <einparallel/notation/op_code.hpp>
#include <einparallel/notation/operators.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>

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

}  // namespace einparallel::detail
