#pragma once
// Rows of ⊕ over f(x1, …, xr): where the functors are inlined into loops. Those that are an exp between two simple
// steps are taken apart, so that rows of them use vectors.

#include <einparallel/kernel/function_tree.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/softmax.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operators.hpp>

#include <boost/hana/basic_tuple.hpp>

#include <cstddef>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// f(x…) = result(exp(argument(x…)), x…), where there is such a form.
template <class Function>
struct exp_form {
    static constexpr bool exists = false;
};
#define EINPARALLEL_DETAIL_EXP_FORM(function, before, after)                                     \
    template <>                                                                                  \
    struct exp_form<function> {                                                                  \
        static constexpr bool exists = true;                                                     \
        template <class T>                                                                       \
        static T argument(const function& /*f*/, T x, [[maybe_unused]] T c = T(0)) {             \
            return before;                                                                       \
        }                                                                                        \
        template <class T>                                                                       \
        static T result(const function& /*f*/, T of_exp, [[maybe_unused]] T x, T /*c*/ = T(0)) { \
            return after;                                                                        \
        }                                                                                        \
    }
EINPARALLEL_DETAIL_EXP_FORM(exp_function, x, of_exp);
EINPARALLEL_DETAIL_EXP_FORM(shifted_exponential, x - c, of_exp);
EINPARALLEL_DETAIL_EXP_FORM(sigmoid_function, -x, T(1) / (T(1) + of_exp));
EINPARALLEL_DETAIL_EXP_FORM(silu_function, -x, x*(T(1) / (T(1) + of_exp)));
#undef EINPARALLEL_DETAIL_EXP_FORM

/// Such a function of one subtree.
template <class Function, class Branch>
struct exp_form<tree_function<apply<Function, Branch>>> {
    static constexpr bool exists = exp_form<Function>::exists;
    using tree = tree_function<apply<Function, Branch>>;
    template <class... T>
    static auto of_branch(const tree& f, T... x) {
        return boost::hana::at_c<0>(f.tree.branches)(boost::hana::basic_tuple<T...>(x...));
    }
    template <class... T>
    static auto argument(const tree& f, T... x) {
        return exp_form<Function>::argument(f.tree.function, of_branch(f, x...));
    }
    template <class Out, class... T>
    static Out result(const tree& f, Out of_exp, T... x) {
        return exp_form<Function>::result(f.tree.function, of_exp, of_branch(f, x...));
    }
};

/// Rows of Function on elements In… are computed with vector exponentials: all is float, or all is double.
template <class Out, class Function, class... In>
constexpr bool has_exp_form() {
    if constexpr (exp_form<Function>::exists && std::is_floating_point_v<Out> && (std::is_same_v<In, Out> && ...)) {
        return std::is_same_v<std::invoke_result_t<const Function&, In...>, Out>;
    } else {
        return false;
    }
}

/// Points of a row at most: every operand may need a copy of its own beside the results.
inline constexpr index join_row_width = row_worker::least_width;

/// One operand's elements along a row, side by side: the tensor itself where it has them so, else a copy.
template <class T>
class gathered_row {
public:
    /// @param x element of the row's first point. The result is valid until the next call.
    const T* get(const T* x, index move, index count) {
        if (move == 1) {
            return x;
        }
        if (move != 0 || x != constant_ || count > filled_) {
            for (index i = 0; i < count; ++i) {
                copy_[i] = x[i * move];
            }
            constant_ = move == 0 ? x : nullptr;
            filled_ = count;
        }
        return copy_;
    }

private:
    const T* constant_ = nullptr;  ///< what the copy is filled with, where it is one value
    index filled_ = 0;
    T copy_[join_row_width];
};

/// The operands of a call, with elements of so many bytes each.
inline row_operands operands_of(const block_call& call, std::initializer_list<std::size_t> bytes) {
    row_operands list;
    for (std::size_t operand = 0; operand < bytes.size(); ++operand) {
        list.push_back({static_cast<const std::byte*>(call.operands[operand].data), index(bytes.begin()[operand])});
    }
    return list;
}

/// Rows of ⊕ over f(x1, …, xr).
template <class Out, class Reduce, class Function, class... In>
class join_rows final : public reduced_rows<Out, Reduce> {
public:
    join_rows(const Reduce& reduce, const Function& function, Out* output, const row_operands& operands,
              write_mode mode)
        : reduced_rows<Out, Reduce>(reduce, output, operands, mode), function_(function) {}

    void accumulate(const std::byte* const* places, const index* moves, index count, bool first) override {
        accumulate(places, moves, count, first, std::index_sequence_for<In...>{});
    }

    void run_own(const row_walk& walk, index place) override {
        const bool piece = place != row_worker::to_output;
        join_rows own(this->reduce_, function_, piece ? this->results_ + place : this->output_, this->operands(),
                      piece ? write_mode::overwrite : this->mode_);
        run_walk(walk, own);
    }

private:
    template <std::size_t... R>
    void accumulate([[maybe_unused]] const std::byte* const* places, [[maybe_unused]] const index* moves, index count,
                    bool first, std::index_sequence<R...>) {
        const auto compute = [&](auto is_first) {
            rows<is_first.value>(this->results_, this->reduce_, function_, count,
                                 std::get<R>(rows_).get(reinterpret_cast<const In*>(places[R]), moves[R], count)...);
        };
        first ? compute(std::true_type{}) : compute(std::false_type{});
    }

    /// results[i] = f(x[i]…) where First, else results[i] ⊕= f(x[i]…). Blocks of constant length, and results that are
    /// declared (as a parameter: g++ looks nowhere else) to alias nothing: what -O2 vectorises.
    template <bool First, class... X>
    static void rows(Out* __restrict results, const Reduce& reduce, const Function& function, index count,
                     const X*... x) {
        constexpr index block = 16;
        const auto store = [&reduce](Out& result, Out value) { result = First ? value : Out(reduce(result, value)); };
        if constexpr (has_exp_form<Out, Function, In...>()) {
            using form = exp_form<Function>;
            Out mapped[join_row_width];
            for (index i = 0; i < count; ++i) {
                mapped[i] = form::argument(function, x[i]...);
            }
            exponentials(mapped, count);
            for (index i = 0; i < count; ++i) {
                store(results[i], form::result(function, mapped[i], x[i]...));
            }
            return;
        }
        index i = 0;
        for (; i + block <= count; i += block) {
            for (index lane = 0; lane < block; ++lane) {
                store(results[i + lane], converted<Out>(function(x[i + lane]...)));
            }
        }
        for (; i < count; ++i) {
            store(results[i], converted<Out>(function(x[i]...)));
        }
    }

    const Function& function_;
    std::tuple<gathered_row<In>...> rows_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
