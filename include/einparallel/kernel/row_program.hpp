#pragma once
// The ⊗ of a vertex as steps over rows: each computes a row of up to a thousand points, in the first-level cache, from
// rows of operands and of steps before it.

#include <einparallel/kernel/function_tree.hpp>
#include <einparallel/kernel/simd/op_row.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/op_code.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operators.hpp>

#include <boost/hana/basic_tuple.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// A row: of operand r, number r; of numbers and steps, from there on.
using row_name = std::uint16_t;

struct row_step {
    row_function run;
    const void* functor;
    std::uint16_t first_source;  ///< in row_program::sources
    std::uint16_t source_count;
    row_name into;
};

/// A number of the expression, which fills a row of its own.
struct row_number {
    row_name into;
    std::uint16_t bytes;
    std::array<std::byte, 16> value;
};

/// Steps in the order of evaluation, the result last; none where the result is operand 0 itself.
struct row_program {
    std::uint16_t operands = 0;
    std::uint16_t widest = 0;  ///< bytes of the largest element of what follows
    small_vector<row_step, 8> steps;
    small_vector<row_name, 16> sources;
    small_vector<row_number, 4> numbers;
    small_vector<std::uint16_t, 16> held;  ///< bytes of an element in each row after the operands'; 0 in a free one

    /// A step with results of so many bytes each. What it reads is read by nobody else, but for operands and numbers:
    /// their rows are free again, and the result may lie where an argument of its size lay.
    EINPARALLEL_INLINE row_name push(row_function run, const void* functor, const row_name* arguments,
                                     std::size_t count, std::size_t bytes);
    EINPARALLEL_INLINE row_name push_number(const void* value, std::size_t bytes);

private:
    EINPARALLEL_INLINE row_name free_row(std::size_t bytes);
};

/// The type of a tree's values where they and those of all subtrees are elements, else void.
template <class Tree, class... In>
struct element_value;
template <std::size_t Leaf, class... In>
struct element_value<pick<Leaf>, In...> : std::tuple_element<Leaf, std::tuple<In...>> {};
template <class T, class... In>
struct element_value<number<T>, In...> : std::type_identity<T> {};
template <class Function, class... Branches, class... In>
struct element_value<apply<Function, Branches...>, In...> {
    template <class... T>
    static constexpr auto called() {
        if constexpr ((is_element<T> && ...)) {
            using Value = std::remove_cvref_t<std::invoke_result_t<const Function&, T...>>;
            return std::conditional_t<is_element<Value>, std::type_identity<Value>, std::type_identity<void>>();
        } else {
            return std::type_identity<void>();
        }
    }
    using type = typename decltype(called<typename element_value<Branches, In...>::type...>())::type;
};

/// The type in which a functor of the library's computes a Value from elements T…, to which they are cast; void where
/// it takes them as they are. As in op_program.
template <op_code Code, class Value, class... T>
constexpr auto computed_type() {
    if constexpr (compares(Code)) {
        return arithmetic_result<T...>();
    } else if constexpr (arity_of(Code) == 2 || (Code >= op_code::exp && Code < op_code::add)) {
        return std::type_identity<Value>();
    } else {
        return std::type_identity<void>();
    }
}

/// Writes trees of elements In… as steps. The functors that they call stay where the tree is.
template <class... In>
class row_program_writer {
public:
    explicit row_program_writer(row_program& into) : into_(into) { into_.operands = sizeof...(In); }

    /// Of a tree as a function, or of a functor that takes all operands. Ends with results of type Out.
    template <class Out, class Tree>
    void write_all(const tree_function<Tree>& function) {
        using Value = typename element_value<Tree, In...>::type;
        if constexpr (std::is_void_v<Value>) {
            call<tree_function<Tree>, Out, In...>(function, all_operands());
        } else {
            const row_name result = as<Out, Value>(write(function.tree));
            if (into_.steps.empty() && result >= sizeof...(In)) {  // a number
                call<unchanged, Out, Out>(cast, {result});
            }
        }
    }
    template <class Out, class Function>
    void write_all(const Function& function) {
        using Value = std::remove_cvref_t<std::invoke_result_t<const Function&, In...>>;
        if constexpr (!is_element<Value>) {
            call<Function, Out, In...>(function, all_operands());
        } else if constexpr (!std::is_same_v<Function, unchanged>) {
            as<Out, Value>(write_call<Function, In...>(function, all_operands()));
        } else {
            as<Out, In...>(0);
        }
    }

private:
    static constexpr unchanged cast{};

    static constexpr std::array<row_name, sizeof...(In)> all_operands() {
        std::array<row_name, sizeof...(In)> all{};
        for (std::size_t operand = 0; operand < all.size(); ++operand) {
            all[operand] = row_name(operand);
        }
        return all;
    }
    template <std::size_t Leaf>
    row_name write(const pick<Leaf>& /*tree*/) {
        return row_name(Leaf);
    }
    template <class T>
    row_name write(const number<T>& tree) {
        return into_.push_number(&tree.value, sizeof(T));
    }
    template <class Function, class... Branches>
    row_name write(const apply<Function, Branches...>& tree) {
        return [&]<std::size_t... Branch>(std::index_sequence<Branch...> /*all*/) {
            return write_call<Function, typename element_value<Branches, In...>::type...>(
                tree.function, {write(boost::hana::at_c<Branch>(tree.branches))...});
        }
        (std::index_sequence_for<Branches...>{});
    }

    template <class Function, class... T>
    row_name write_call(const Function& function, std::array<row_name, sizeof...(T)> arguments) {
        using Value = std::remove_cvref_t<std::invoke_result_t<const Function&, T...>>;
        if constexpr (has_op_code<Function>) {
            using C = typename decltype(computed_type<Function::code, Value, T...>())::type;
            if constexpr (!std::is_void_v<C>) {
                row_name* next = arguments.data();
                ((*next = as<C, T>(*next), ++next), ...);
                return call<Function, Value, std::conditional_t<true, C, T>...>(function, arguments);
            }
        }
        return call<Function, Value, T...>(function, arguments);
    }

    template <class To, class From>
    row_name as(row_name row) {
        if constexpr (std::is_same_v<To, From>) {
            return row;
        } else {
            return call<unchanged, To, From>(cast, {row});
        }
    }

    template <class Function, class Value, class... T>
    row_name call(const Function& function, std::array<row_name, sizeof...(T)> arguments) {
        return into_.push(row_function_of<Function, Value, T...>(), &function, arguments.data(), arguments.size(),
                          sizeof(Value));
    }

    row_program& into_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
