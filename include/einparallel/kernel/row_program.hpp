#pragma once
// The ⊗ of a vertex as steps over rows, and as a program. A step computes a row of up to a thousand points, in the
// first-level cache, from rows of operands and of steps before it.

#include <einparallel/kernel/function_tree.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/op_chain.hpp>
#include <einparallel/kernel/simd/op_row.hpp>
#include <einparallel/kernel/simd/row_call.hpp>
#include <einparallel/kernel/simd/tile_kernel.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/op_program.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// The name of a value that a step reads or writes. Name r is operand r; the names behind the last operand are rows
/// that steps write; names from number_name on are numbers of the expression.
using row_name = std::uint16_t;
inline constexpr row_name number_name = 0x8000;

struct row_step {
    row_function run;
    const void* functor;
    std::uint16_t first_source;  ///< its first source in row_program::sources
    std::uint16_t source_count;
    row_name into;
    row_function alone = nullptr;  ///< for a chain: the function of its first link alone
};

/// The bytes of a number of the expression.
using row_number = std::array<std::byte, 16>;

/// The steps that compute an expression, in the order of evaluation. The last step writes the result. There are no
/// steps where the result is an operand or a number itself.
struct row_program {
    std::uint16_t operands = 0;
    std::uint16_t widest = 0;  ///< bytes of the largest element that a step writes
    bool finds = false;        ///< a step finds the position of an extreme element, so that there must be an element
    small_vector<row_step, 8> steps;
    small_vector<row_name, 16> sources;
    small_vector<op_link, 16> links;  ///< one for each source; only chains read them
    small_vector<row_number, 4> numbers;
    small_vector<std::uint16_t, 16> held;  ///< bytes of an element in each row that steps write; 0 for a free row

    /// Adds a step whose results have `bytes` bytes each, and returns the row that it writes. Rows that it reads are
    /// free afterwards, except arguments whose bits are set in `kept`. The result may take the row of an argument with
    /// elements of the same size.
    EINPARALLEL_INLINE row_name push(row_call call, const row_name* arguments, std::size_t count, std::size_t bytes,
                                     unsigned kept = 0);
    /// Adds an operation on two arguments, floats (`bytes` = 4) or doubles (8). If the step before is a chain, and its
    /// result is exactly one of the arguments and not in `kept`, the operation becomes a link of that chain. Otherwise
    /// it begins a chain. `alone`: the function of this operation by itself.
    EINPARALLEL_INLINE row_name push_arithmetic(op_code code, row_function alone, const row_name* arguments,
                                                std::size_t bytes, unsigned kept = 0);
    EINPARALLEL_INLINE row_name push_number(const void* value, std::size_t bytes) {
        numbers.push_back({});
        __builtin_memcpy(numbers.back().data(), value, bytes);
        return row_name(number_name + numbers.size() - 1);
    }
};

/// What a join computes, without its types. It points to functors of the application, which it does not own.
struct join_work {
    row_program rows;
    row_reduction reduction;
    tile_kernel tiles;                ///< `run` is null where the join has no tiles
    small_vector<row_call, 8> calls;  ///< one for each instruction of the program that calls a functor, in their order
    bool divides_integers = false;    ///< a divisor of integers may be zero
};

/// Where the value of a node is: a row for steps, and a register of the program.
template <class T, bool IsNumber = false>
struct value_at {
    row_name row = 0;
    op_register at = 0;
};

/// Writes numbers and calls as steps over rows, as instructions of a program, or both.
template <bool Steps, bool Program>
class call_writer {
public:
    /// @param program  null where no program is written
    call_writer(join_work& steps, op_program* program) : work_(steps), steps_(steps.rows), program_(program) {}

    template <class T>
    [[gnu::noinline]] value_at<T, true> number(const T& value) {
        value_at<T, true> made;
        if constexpr (Steps) {
            made.row = steps_.push_number(&value, sizeof(T));
        }
        if constexpr (Program) {
            made.at = program_->number(register_type<T>(), bits_of(value));
        }
        return made;
    }

    /// @param distributes  whether a functor of the application distributes over ⊕: op_function::distributes
    template <class Function, class... T, bool... IsNumber>
    [[gnu::noinline]] auto call(const Function& function, [[maybe_unused]] bool distributes,
                                value_at<T, IsNumber>... arguments) {
        using Value = std::remove_cvref_t<std::invoke_result_t<const Function&, T...>>;
        value_at<Value> made;
        if constexpr (Program) {
            made.at = instruction<Function, Value, T...>(distributes, {arguments.at...});
        }
        if constexpr (Steps) {
            constexpr unsigned numbers = bits_set<IsNumber...>();
            made.row = step<numbers, Function, Value, T...>(function, {arguments.row...});
        }
        return made;
    }

    /// The element in the type that functors take: a half as a float.
    template <class T, bool IsNumber>
    auto computed(value_at<T, IsNumber> element) {
        if constexpr (is_half<T>) {
            return read<float>(element);
        } else {
            return element;
        }
    }
    /// The element converted to T.
    template <class T, class From, bool IsNumber>
    auto read(value_at<From, IsNumber> element) {
        value_at<T> made;
        if constexpr (Program) {
            made.at = program_->call({op_code::cast}, element_type_of<T>(), {}, {&element.at, 1});
        }
        if constexpr (Steps) {
            made.row = as<T, From, IsNumber>(element.row);
        }
        return made;
    }

    /// Writes a functor of all operands, with elements In…, as the only step.
    template <class Out, class... In, class Function>
    void whole(const Function& function) {
        std::array<row_name, sizeof...(In)> all{};
        for (std::size_t operand = 0; operand < all.size(); ++operand) {
            all[operand] = row_name(operand);
        }
        push<0, Function, Out, In...>(function, all);
    }

private:
    template <class Function, class Value, class... T>
    op_register instruction(bool distributes, std::array<op_register, sizeof...(T)> arguments) {
        op_function called;
        element_type compared;
        if constexpr (has_op_code<Function>) {
            called.code = Function::code;
            if constexpr (compares(Function::code)) {
                compared = element_type_of<typename decltype(arithmetic_result<T...>())::type>();
            }
        } else {
            called.has_state = !std::is_empty_v<Function>;
            called.distributes = distributes;
            called.name = name_of_functor<Function>();
        }
        return program_->call(called, register_type<Value>(), compared, arguments);
    }

    template <bool... IsNumber>
    static constexpr unsigned bits_set() {
        unsigned bits = 0;
        unsigned bit = 1;
        ((bits |= IsNumber ? bit : 0, bit *= 2), ...);
        return bits;
    }

    template <unsigned Numbers, class Function, class Value, class... T>
    row_name step(const Function& function, std::array<row_name, sizeof...(T)> arguments) {
        if constexpr (has_op_code<Function>) {
            using C = typename decltype(computed_type<Function::code, Value, T...>())::type;
            if constexpr (!std::is_void_v<C>) {
                constexpr unsigned cast = bits_set<!std::is_same_v<C, T>...>();
                return [&]<std::size_t... Position>(std::index_sequence<Position...> /*all*/) {
                    ((arguments[Position] = as<C, T, (Numbers >> Position & 1) != 0>(arguments[Position])), ...);
                    return push<(Numbers & ~cast), Function, Value, std::conditional_t<true, C, T>...>(function,
                                                                                                       arguments);
                }
                (std::index_sequence_for<T...>{});
            }
        }
        return push<Numbers, Function, Value, T...>(function, arguments);
    }

    template <class To, class From, bool IsNumber>
    row_name as(row_name row) {
        if constexpr (std::is_same_v<To, From>) {
            return row;
        } else {
            return push<unsigned{IsNumber}, unchanged, To, From>(unchanged{}, {row});
        }
    }

    template <unsigned Numbers, class Function, class Value, class... T>
    row_name push(const Function& function, std::array<row_name, sizeof...(T)> arguments) {
        const row_call call = call_of<Numbers, Value, T...>(function);
        work_.calls.push_back(call);
        if constexpr (has_op_code<Function> && std::is_integral_v<Value>) {
            steps_.finds = steps_.finds || Function::code == op_code::position;
            work_.divides_integers = work_.divides_integers || divides(Function::code);
        }
        if constexpr (has_op_code<Function> && std::is_floating_point_v<Value> && (std::is_same_v<Value, T> && ...)) {
            if constexpr (Function::code >= op_code::add && Function::code <= op_code::divide) {
                return steps_.push_arithmetic(Function::code, call.run, arguments.data(), sizeof(Value));
            }
        }
        return steps_.push(call, arguments.data(), arguments.size(), sizeof(Value));
    }

    join_work& work_;
    row_program& steps_;
    op_program* program_;
};

/// Writes an expression. A node that is an operand is given to `Leaves`: leaf(node) returns its value_at.
template <class Reduce, class Writer, class Leaves>
class node_writer {
public:
    node_writer(Writer writer, Leaves& leaves) : writer_(writer), leaves_(leaves) {}

    auto write(const auto& node) { return leaves_.leaf(node); }
    template <class T, class Operand, class Labels>
    auto write(const leaf<read_as<T, Operand>, Labels>& node) {
        return writer_.template read<T>(leaves_.leaf(node));
    }
    template <class T, class Number>
    auto write(const constant<T, Number>& node) {
        return writer_.number(T(node.value));
    }
    template <class Function, class... Arguments, class... Written>
    auto write(const join_node<Function, Arguments...>& node, Written... written) {
        if constexpr (sizeof...(Written) == sizeof...(Arguments)) {
            return writer_.call(node.function, distributes_over<Reduce, Function>, written...);
        } else {
            return write(node, written..., writer_.computed(write(argument<sizeof...(Written)>(node.arguments))));
        }
    }
    /// Writes the whole expression, with a result of type Out.
    template <class Out, class E>
    void write_all(const E& node) {
        writer_.template read<Out>(write(node));
    }

private:
    Writer writer_;
    Leaves& leaves_;
};

/// For a tree: leaf number `Leaf` is operand number `Leaf`.
struct tree_leaves {
    template <std::size_t Leaf, class T>
    value_at<T> leaf(const pick<Leaf, T>& /*node*/) const {
        return {row_name(Leaf), op_register(Leaf)};
    }
};

/// A program with operands of elements In…, and with ⊕, but without further instructions.
template <class Reduce, class... In>
op_program started_program() {
    constexpr std::array<element_type, sizeof...(In)> operands{element_type_of<In>()...};
    return op_program(reduction_of<Reduce>, operands,
                      reduction_of<Reduce> == reduction::unknown && !std::is_empty_v<Reduce>);
}

/// Writes ⊕ and a functor of elements In…, or ⊕ and a tree of functors. The functors must outlive the work.
template <class Out, class Reduce, class... In>
class join_work_writer {
public:
    static join_work written(const Reduce& reduce, const auto& function) {
        join_work made;
        made.reduction = row_reduction_of<Out>(reduce);
        made.rows.operands = sizeof...(In);
        write(made, function);
        return made;
    }

private:
    using writer = call_writer<true, false>;

    template <class Tree>
    static void write(join_work& into, const tree_function<Tree>& function) {
        if constexpr (has_elements<Tree>) {
            const tree_leaves leaves;
            node_writer<Reduce, writer, const tree_leaves>({into, nullptr}, leaves)
                .template write_all<Out>(function.tree);
        } else {
            writer(into, nullptr).template whole<Out, In...>(function);
        }
    }
    template <class Function>
    static void write(join_work& into, const Function& function) {
        using Value = std::remove_cvref_t<std::invoke_result_t<const Function&, In...>>;
        if constexpr (is_element<Value>) {
            [&]<std::size_t... Operand>(std::index_sequence<Operand...> /*all*/) {
                writer calls(into, nullptr);
                calls.template read<Out>(calls.call(function, false, value_at<In>{row_name(Operand)}...));
            }
            (std::index_sequence_for<In...>{});
        } else {
            writer(into, nullptr).template whole<Out, In...>(function);
        }
    }
};

/// The program of a vertex whose ⊗ is `tree`, with results of type Out.
template <class Out, class Reduce, class... In, class Tree>
op_program program_of(const Tree& tree) {
    op_program made = started_program<Reduce, In...>();
    join_work none;
    const tree_leaves leaves;
    node_writer<Reduce, call_writer<false, true>, const tree_leaves>({none, &made}, leaves)
        .template write_all<Out>(tree);
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
