#pragma once
// The function that a join computes of its operands' elements, as kernels need it: by functors, or by instructions.

#include <einparallel/device/launch.hpp>
#include <einparallel/device/op_cells.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace einparallel::detail {

/// Points or terms that a thread computes at once, so that their loads overlap.
inline constexpr int join_points = 4;

/// A ⊕ of the library, given by its number.
struct numbered_reduction {
    reduction by;

    template <class T>
    EINPARALLEL_HOST_DEVICE T operator()(T a, T b) const {
        T made = a;
        with_reduction<T>(by, [&](auto reduce) { made = reduce(a, b); });
        return made;
    }
};

/// The elements of an operand at the points that a thread computes at once.
template <class T>
struct points_of {
    T x[join_points];
};

/// Computes ⊕ over f(x1, …, xr) with functors.
template <class Out, class Reduce, class Function, class... In>
struct functor_program {
    using value = Out;
    using registers = std::tuple<points_of<In>...>;
    static constexpr int most_operands = sizeof...(In);

    Reduce by;
    Function function;
    Out identity;

    static EINPARALLEL_HOST_DEVICE constexpr int operand_count() { return most_operands; }
    static constexpr int register_bytes() { return 0; }
    [[nodiscard]] functor_program<Out, Reduce, unchanged, Out> of_sums() const { return {by, {}, identity}; }

    EINPARALLEL_HOST_DEVICE registers begin(auto& /*at*/) const { return {}; }
    EINPARALLEL_HOST_DEVICE void load(auto& at, registers& held, int operand, int point, bool active, const void* first,
                                      index offset) const {
        const auto load_one = [&]<class T>(points_of<T>& into, int number) {
            if (number == operand) {
                into.x[point] = at.load(active, static_cast<const T*>(first) + offset);
            }
        };
        const auto load_from = [&]<int... Number>(std::integer_sequence<int, Number...> /*all*/) {
            (load_one(std::get<Number>(held), Number), ...);
        };
        load_from(std::make_integer_sequence<int, most_operands>());
    }
    EINPARALLEL_HOST_DEVICE void evaluate(registers& /*held*/, unsigned /*active*/) const {}
    [[nodiscard]] EINPARALLEL_HOST_DEVICE Out result(const registers& held, int point) const {
        return std::apply([&](const auto&... each) { return converted<Out>(function(each.x[point]...)); }, held);
    }
    [[nodiscard]] EINPARALLEL_HOST_DEVICE Out reduce(Out a, Out b) const { return Out(by(a, b)); }
    [[nodiscard]] EINPARALLEL_HOST_DEVICE Out load_result(auto& at, bool active, const void* first,
                                                          index offset) const {
        return at.load(active, static_cast<const Out*>(first) + offset);
    }
    EINPARALLEL_HOST_DEVICE void store(auto& at, bool active, void* first, index offset, Out x) const {
        at.store(active, static_cast<Out*>(first) + offset, x);
    }
};

/// Calls visit(bits) with an unsigned integer of `bytes` bytes.
EINPARALLEL_HOST_DEVICE void with_bits(int bytes, const auto& visit) {
    switch (bytes) {
        case 1:
            return visit(std::uint8_t());
        case 2:
            return visit(std::uint16_t());
        case 4:
            return visit(std::uint32_t());
        default:
            return visit(std::uint64_t());
    }
}

/// Runs any op program, instruction by instruction. Its registers lie in shared memory.
template <int Words>
struct cell_program {
    static constexpr int most_operands = launch::most_operands;
    static constexpr int most_instructions = 64;
    using value = op_cell<Words>;
    struct registers {
        value* cells;
        int apart;
    };

    cell_type operand_types[most_operands];
    int operands;
    int count;
    int register_count;
    std::uint8_t result_register;
    cell_type type;  ///< of the result
    op_code by;      ///< ⊕ as an instruction
    value identity;
    std::uint32_t* divided;  ///< becomes 1 where an integer is divided by zero
    cell_instruction code[most_instructions];

    [[nodiscard]] EINPARALLEL_HOST_DEVICE int operand_count() const { return operands; }
    /// Bytes of shared memory for each thread.
    [[nodiscard]] int register_bytes() const { return register_count * join_points * int(sizeof(value)); }
    [[nodiscard]] cell_program of_sums() const {
        cell_program made = *this;
        made.operand_types[0] = type;
        made.operands = 1;
        made.count = 0;
        made.register_count = 1;
        made.result_register = 0;
        return made;
    }

    EINPARALLEL_HOST_DEVICE registers begin(auto& at) const {
        return {reinterpret_cast<value*>(at.shared()) + at.thread(), at.threads()};
    }
    EINPARALLEL_HOST_DEVICE void load(auto& at, registers& held, int operand, int point, bool active, const void* first,
                                      index offset) const {
        held.cells[(operand * join_points + point) * held.apart] =
            load_cell(at, operand_types[operand], active, first, offset);
    }
    EINPARALLEL_HOST_DEVICE void evaluate(registers& held, unsigned active) const {
        interpret(code, count, held.cells, join_points, held.apart, active, divided);
    }
    [[nodiscard]] EINPARALLEL_HOST_DEVICE value result(const registers& held, int point) const {
        return held.cells[(result_register * join_points + point) * held.apart];
    }
    [[nodiscard]] EINPARALLEL_HOST_DEVICE value reduce(value a, value b) const {
        return computed(by, type, type, a, b, b);
    }
    [[nodiscard]] EINPARALLEL_HOST_DEVICE value load_result(auto& at, bool active, const void* first,
                                                            index offset) const {
        return load_cell(at, type, active, first, offset);
    }
    EINPARALLEL_HOST_DEVICE void store(auto& at, bool active, void* first, index offset, value x) const {
        if (type.bytes == 16) {
            at.store(active, static_cast<value*>(first) + offset, x);
        } else {
            with_bits(type.bytes, [&](auto bits) {
                using word = decltype(bits);
                at.store(active, static_cast<word*>(first) + offset, static_cast<word>(x.words[0]));
            });
        }
    }

private:
    static EINPARALLEL_HOST_DEVICE value load_cell(auto& at, cell_type of, bool active, const void* first,
                                                   index offset) {
        if (of.bytes == 16) {
            return at.load(active, static_cast<const value*>(first) + offset);
        }
        value made{};
        with_bits(of.bytes, [&](auto bits) {
            made.words[0] = wrapped(at.load(active, static_cast<const decltype(bits)*>(first) + offset), of);
        });
        return made;
    }
};

}  // namespace einparallel::detail
