// Steps over rows: random trees of functors on strided blocks against plain recursion, point by point.

#include "block_oracle.hpp"

#include <einparallel/kernel/row_program.hpp>
#include <einparallel/kernel/work/join.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace row_program_test {

namespace {

using namespace einparallel;
using namespace einparallel::detail;
using einparallel::index;  // not that of <strings.h>
using kernel_test::pick;
using kernel_test::random_source;

using all_types = std::tuple<float, double, std::complex<float>, std::complex<double>, bool, std::int8_t, std::int16_t,
                             std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
constexpr std::size_t type_count = std::tuple_size_v<all_types>;
template <std::size_t Number>
using type_at = std::tuple_element_t<Number, all_types>;

template <class T>
constexpr std::size_t number_of() {
    std::size_t number = 0;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((number += std::is_same_v<T, type_at<I>> ? I : 0), ...);
    }
    (std::make_index_sequence<type_count>{});
    return number;
}

/// visit(std::integral_constant<std::size_t, I>()) for all I below Count.
template <std::size_t Count, class Visit>
void for_each_number(const Visit& visit) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (visit(std::integral_constant<std::size_t, I>()), ...);
    }
    (std::make_index_sequence<Count>{});
}
template <class Visit>
void with_type(std::size_t type, const Visit& visit) {
    for_each_number<type_count>([&](auto number) {
        if (number == type) {
            visit(std::type_identity<type_at<number>>());
        }
    });
}

template <class T>
constexpr bool is_any_complex = is_complex<T>::value;

/// An element of any type.
struct element {
    alignas(16) std::array<std::byte, 16> bytes{};
};
template <class T>
T loaded(const void* from) {
    T value;
    std::memcpy(static_cast<void*>(&value), from, sizeof(T));
    return value;
}
template <class T>
void store(void* into, const T& value) {
    std::memcpy(into, &value, sizeof(T));
}

template <class T>
T random_element(random_source& random) {
    const double whole = static_cast<double>(pick(random, -8, 8));
    if constexpr (std::is_same_v<T, bool>) {
        return whole > 0;
    } else if constexpr (is_any_complex<T>) {
        using Real = typename T::value_type;
        return T(random_element<Real>(random), random_element<Real>(random));
    } else if constexpr (std::is_integral_v<T>) {
        return random() % 4 == 0 ? static_cast<T>(random()) : static_cast<T>(static_cast<int>(whole));
    } else {
        const auto kind = random() % 400;
        return kind == 0    ? std::numeric_limits<T>::quiet_NaN()
               : kind == 1  ? -std::numeric_limits<T>::infinity()
               : kind < 10  ? T(-0.0)
               : kind < 250 ? static_cast<T>(whole)
                            : static_cast<T>(static_cast<double>(random() % 4096) / 512 - 4);
    }
}

/// Bit for bit, but that every NaN is like any other.
template <class T>
bool agree(const T& a, const T& b) {
    if constexpr (is_any_complex<T>) {
        return agree(a.real(), b.real()) && agree(a.imag(), b.imag());
    } else {
        return std::memcmp(&a, &b, sizeof(T)) == 0 || (a != a && b != b);
    }
}

// --- operations -----------------------------------------------------------------------------------------------------

using writer = call_writer<true, false>;

/// A functor on arguments of these types, of which some are numbers.
struct operation {
    std::size_t value;
    std::vector<std::size_t> arguments;
    unsigned numbers;
    bool divides;  ///< by an integer, the second argument
    const void* functor;
    row_name (*write)(writer& into, const void* functor, const row_name* arguments);
    void (*compute)(const void* functor, void* into, const void* const* from);  ///< one point
};

/// The functors whose rows differ from scalar calls in the last places: elementary functions, which are vectors, and
/// products of complex numbers, whose parts may be fused multiply-adds.
template <class Function, class C>
constexpr bool rounds_by_rows() {
    if constexpr (has_op_code<Function>) {
        return has_vector_math<Function::code, C> ||
               (is_any_complex<C> && (Function::code == op_code::multiply || Function::code == op_code::silu));
    } else {
        return false;
    }
}

template <class Function, unsigned Numbers, class... T>
struct operation_of {
    using Value = std::remove_cvref_t<std::invoke_result_t<const Function&, T...>>;

    static row_name write(writer& into, const void* functor, const row_name* arguments) {
        return [&]<std::size_t... P>(std::index_sequence<P...>) {
            const auto& function = *static_cast<const Function*>(functor);
            return into.call(function, false, value_at<T, (Numbers >> P & 1) != 0>{arguments[P]}...).row;
        }
        (std::index_sequence_for<T...>{});
    }

    static void compute(const void* functor, void* into, const void* const* from) {
        [&]<std::size_t... P>(std::index_sequence<P...>) {
            if constexpr (rounds_by_rows<Function, Value>()) {
                static const row_function row =
                    row_function_of<0, Function, Value, std::conditional_t<true, Value, T>...>();
                const std::tuple arguments{converted<Value>(loaded<T>(from[P]))...};
                const void* const places[] = {&std::get<P>(arguments)...};
                Value made{};
                row(nullptr, &made, places, 1);
                store(into, made);
            } else {
                store<Value>(into, (*static_cast<const Function*>(functor))(loaded<T>(from[P])...));
            }
        }
        (std::index_sequence_for<T...>{});
    }
};

// Functors of the test, with state and without.
struct moved_by {
    double by;
    double operator()(double x) const { return x < by ? by : x - by; }
};
struct masked_sum {
    std::uint32_t mask;
    std::int64_t operator()(std::uint8_t a, std::int16_t b, std::int64_t c) const {
        return static_cast<std::int64_t>((a ^ static_cast<std::uint64_t>(c)) + (mask & static_cast<unsigned>(b)));
    }
};
const auto is_below = [](std::int32_t a, double b) { return a < b; };
const auto mirrored = [](float x) { return std::complex<float>(x, -x); };
const auto real_part = [](std::complex<double> x) { return x.real(); };
const auto step_at_two = [](double x) -> std::int8_t { return x > 2 ? 7 : -3; };
const auto of_bool = [](bool x) -> std::uint16_t { return x ? 65535 : 2; };
const auto high_part = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
const auto larger_part = [](std::complex<float> x, float y) { return x.real() > y ? x.real() : y; };
const auto alternative = [](bool c, std::uint32_t a, std::uint16_t b) -> std::uint8_t {
    return static_cast<std::uint8_t>(c ? a : b);
};
const auto quarter = [](std::int16_t x) { return std::complex<double>(x, 0.25); };
const moved_by moved{1.5};
const masked_sum masked{0xff0f};

/// All operations that are tested.
class operation_table {
public:
    operation_table() {
        for_each_number<std::tuple_size_v<maps>>(
            [&](auto function) { for_each_number<type_count>([&](auto type) { map<function, type>(); }); });
        for_each_number<std::tuple_size_v<joins>>([&](auto function) {
            for_each_number<type_count>([&](auto type) {
                join<function, type, type>();
                for_each_number<type_count>([&](auto other) {
                    if constexpr (other != type && (type + 3 * other + function) % type_count == 0 &&
                                  (type + function) % 2 == 0) {
                        join<function, type, other>();
                    }
                });
            });
        });
        for_each_number<type_count>([&](auto type) { choose<type>(); });
        choose_among<bool, bool, float, 0, 4>();
        choose_among<bool, float, bool, 0, 2>();
        choose_among<bool, bool, double, 0, 6>();
        choose_among<bool, double, bool, 0, 4>();
        choose_among<float, float, float, 0, 1>();
        add<0, bool>(of_bool);
        add<0, double>(moved);
        add<1, double>(moved);
        add<0, std::uint8_t, std::int16_t, std::int64_t>(masked);
        add<5, std::uint8_t, std::int16_t, std::int64_t>(masked);
        add<0, std::int32_t, double>(is_below);
        add<2, std::int32_t, double>(is_below);
        add<0, float>(mirrored);
        add<0, std::complex<double>>(real_part);
        add<0, double>(step_at_two);
        add<0, std::uint64_t>(high_part);
        add<0, std::complex<float>, float>(larger_part);
        add<1, std::complex<float>, float>(larger_part);
        add<0, bool, std::uint32_t, std::uint16_t>(alternative);
        add<2, bool, std::uint32_t, std::uint16_t>(alternative);
        add<0, std::int16_t>(quarter);
    }

    [[nodiscard]] const std::vector<operation>& of_value(std::size_t type) const { return by_value_[type]; }
    /// Rows of a number.
    [[nodiscard]] const operation& row_of_number(std::size_t type) const { return by_value_[type][rows_[type]]; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    /// Functors, and the arguments that they take besides real floating-point numbers and integers.
    template <class F, bool Complex, bool Integer = true, bool Bool = true>
    struct taken_by {
        using functor = F;
        template <class... T>
        static constexpr bool fits = (Complex || !(is_any_complex<T> || ...)) &&
                                     (Integer || !(std::is_integral_v<T> || ...)) &&
                                     (Bool || !(std::is_same_v<T, bool> && ...));
    };
    using maps =
        std::tuple<taken_by<negate, true>, taken_by<absolute, true>, taken_by<conjugate, true>,
                   taken_by<floor_function, false>, taken_by<round_function, false>, taken_by<sign_function, false>,
                   taken_by<relu_function, false>, taken_by<exp_function, true>, taken_by<log_function, true>,
                   taken_by<sqrt_function, true>, taken_by<tanh_function, true>, taken_by<sin_function, true>,
                   taken_by<cos_function, true>, taken_by<tan_function, true>, taken_by<erf_function, false>,
                   taken_by<sigmoid_function, true>, taken_by<silu_function, true>, taken_by<gelu_function, false>,
                   taken_by<unchanged, true>>;
    using joins = std::tuple<taken_by<plus, true>, taken_by<minus, true>, taken_by<times, true>,
                             taken_by<over, true, true, false>, taken_by<larger, false>, taken_by<smaller, false>,
                             taken_by<power, true>, taken_by<atan2_function, false>, taken_by<less, false>,
                             taken_by<less_equal, false>, taken_by<greater, false>, taken_by<greater_equal, false>,
                             taken_by<equal, true>, taken_by<not_equal, true>>;

    template <unsigned Numbers, class... T, class Function>
    void add(const Function& function, bool divides = false) {
        using made = operation_of<Function, Numbers, T...>;
        by_value_[number_of<typename made::Value>()].push_back({number_of<typename made::Value>(),
                                                                {number_of<T>()...},
                                                                Numbers,
                                                                divides,
                                                                &function,
                                                                &made::write,
                                                                &made::compute});
        ++size_;
    }
    /// A functor of the library.
    template <unsigned Numbers, class Function, class... T>
    void add_own(bool divides = false) {
        static const Function function{};
        add<Numbers, T...>(function, divides);
    }

    template <std::size_t Number, std::size_t Type>
    void map() {
        using By = std::tuple_element_t<Number, maps>;
        using T = type_at<Type>;
        constexpr bool in_double = std::is_integral_v<T> && By::functor::code >= op_code::exp;
        if constexpr (By::template fits<T> && (!in_double || (Number + Type) % 3 == 0)) {
            add_own<0, typename By::functor, T>();
            if constexpr (std::is_same_v<typename By::functor, unchanged>) {
                rows_[Type] = by_value_[Type].size();
                add_own<1, unchanged, T>();
            } else if constexpr ((Number + Type) % 6 == 0) {
                add_own<1, typename By::functor, T>();
            }
        }
    }

    template <std::size_t Number, std::size_t First, std::size_t Second>
    void join() {
        using By = std::tuple_element_t<Number, joins>;
        using F = typename By::functor;
        using A = type_at<First>;
        using B = type_at<Second>;
        if constexpr (By::template fits<A, B> && (!compares(F::code) || (Number + First) % 2 == 0)) {
            if constexpr (std::is_same_v<F, over> && std::is_integral_v<arithmetic_t<A, B>>) {
                if constexpr (!std::is_same_v<B, bool>) {
                    add_own<2, F, A, B>(true);
                }
            } else {
                constexpr unsigned number = (Number + First) % 2 == 0 ? 1 : 2;
                if constexpr (First == Second || (Number + Second) % 3 != 0) {
                    add_own<0, F, A, B>();
                }
                if constexpr ((Number + Second) % 3 == 0) {
                    add_own<number, F, A, B>();
                }
            }
        }
    }

    template <class C, class A, class B, unsigned... Numbers>
    void choose_among() {
        (add_own<Numbers, choice, C, A, B>(), ...);
    }
    template <std::size_t Type>
    void choose() {
        using A = type_at<Type>;
        using B = type_at<(Type * 5 + 4) % type_count>;
        choose_among<bool, A, A, 0, 2, 4, 6>();
        choose_among<bool, A, B, 0, (Type % 2 == 0 ? 2 : 4)>();
        if constexpr (Type % 3 == 0) {
            choose_among<bool, A, A, 1>();
            choose_among<std::int32_t, A, A, 0>();
            choose_among<std::complex<float>, A, A, 0, 4>();
        }
        if constexpr (std::is_floating_point_v<A> || is_any_complex<A>) {
            add_own<0, shifted_exponential, A, A>();
            add_own<Type % 2 == 0 ? 1 : 2, shifted_exponential, A, A>();
        }
        if constexpr (!is_any_complex<A> && Type % 2 == 0) {
            add_own<0, position_where, A, A, index>();
            add_own<4, position_where, A, A, index>();
        }
    }

    std::array<std::vector<operation>, type_count> by_value_;
    std::array<std::size_t, type_count> rows_{};
    std::size_t size_ = 0;
};

// --- ⊕ --------------------------------------------------------------------------------------------------------------

/// Of integers: bits in which an odd number of terms is 1, among those of a mask.
struct parity {
    static constexpr bool associative_commutative = true;
    std::uint64_t mask;
    template <class T>
    static constexpr T identity() {
        return T(0);
    }
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>((static_cast<std::uint64_t>(a) ^ static_cast<std::uint64_t>(b)) & mask);
    }
};
/// The one farther from 0.
struct farthest {
    static constexpr bool associative_commutative = true;
    template <class T>
    static constexpr T identity() {
        return T(0);
    }
    template <class T>
    T operator()(T a, T b) const {
        const T x = std::abs(a);
        const T y = std::abs(b);
        return x < y || (x == y && a < b) || b != b ? b : a;
    }
};
const parity odd_bits{0xffff'ffff'ffff'3f7f};

enum class sums { exactly, extremes, in_any_order, products };

/// ⊕ on elements of one type.
struct reduction_case {
    row_reduction work;
    element identity;
    void (*apply)(const void* functor, void* into, const void* from);
    const void* functor;
    sums kind;
};
template <class T, class Reduce>
reduction_case case_of(const Reduce& reduce) {
    reduction_case made;
    made.work = row_reduction_of<T>(reduce);
    store(made.identity.bytes.data(), Reduce::template identity<T>());
    made.functor = &reduce;
    made.apply = [](const void* functor, void* into, const void* from) {
        if constexpr (rounds_by_rows<Reduce, T>()) {
            const void* const both[] = {into, from};
            row_reduction_of<T>(Reduce{}).run(nullptr, into, both, 1);
        } else {
            store<T>(into, (*static_cast<const Reduce*>(functor))(loaded<T>(into), loaded<T>(from)));
        }
    };
    made.kind = std::is_integral_v<T>                   ? sums::exactly
                : std::is_same_v<Reduce, op::sum_type>  ? sums::in_any_order
                : std::is_same_v<Reduce, op::prod_type> ? sums::products
                                                        : sums::extremes;
    return made;
}
reduction_case draw_reduction(random_source& random, std::size_t type) {
    reduction_case made;
    with_type(type, [&]<class T>(std::type_identity<T>) {
        const auto kind = random() % 5;
        if constexpr (!is_any_complex<T>) {
            if (kind == 0) {
                made = case_of<T>(op::max);
                return;
            }
            if (kind == 1) {
                made = case_of<T>(op::min);
                return;
            }
        }
        if constexpr (std::is_floating_point_v<T>) {
            static const farthest by_distance{};
            if (kind == 2) {
                made = case_of<T>(by_distance);
                return;
            }
        } else if constexpr (std::is_same_v<T, std::uint8_t> || std::is_same_v<T, std::int32_t> ||
                             std::is_same_v<T, std::int64_t>) {
            if (kind == 2) {
                made = case_of<T>(odd_bits);
                return;
            }
        }
        made = kind % 2 == 0 ? case_of<T>(op::prod) : case_of<T>(op::sum);
    });
    return made;
}

/// What ⊕ of several elements may be: bounds of its rounding errors.
struct tolerance {
    double magnitude = 0;  ///< sum of absolute values
    double above = 1;      ///< product of those above 1, and of those below
    double below = 1;
    index terms = 0;
    bool finite = true;

    template <class T>
    void add(const T& x) {
        const double size = static_cast<double>(std::abs(x));
        ++terms;
        finite = finite && std::isfinite(size);
        magnitude += size;
        above *= std::max(1.0, 2 * size);
        below *= size > 0 && size < 1 ? size / 2 : 1;
    }

    /// 1 where the elements agree, 0 where they do not, −1 where nothing is known.
    template <class T>
    [[nodiscard]] int compare(const T& made, const T& expected, sums kind) const {
        if constexpr (!std::is_integral_v<T>) {
            using Real = real_part_t<T>;
            const double eps = std::numeric_limits<Real>::epsilon();
            if (kind == sums::extremes && terms > 1) {
                return made == expected || agree(made, expected) ? 1 : 0;
            }
            if (terms > 1 && kind != sums::exactly) {
                const double most = std::numeric_limits<Real>::max() / 64;
                const double least = std::numeric_limits<Real>::min() / eps;
                if (!finite || magnitude > most || (kind == sums::products && (above > most || below < least))) {
                    return -1;
                }
                const double scale = kind == sums::products ? static_cast<double>(std::abs(expected)) : magnitude;
                const double error = static_cast<double>(std::abs(made - expected));
                return error <= 4 * static_cast<double>(terms + 4) * eps * scale ? 1 : 0;
            }
        }
        return agree(made, expected) ? 1 : 0;
    }
};

// --- trees ----------------------------------------------------------------------------------------------------------

/// A tree of operations; leaves are operands and numbers.
struct node {
    std::size_t type = 0;
    const operation* called = nullptr;
    std::size_t operand = no_operand;
    element number;
    std::vector<node> arguments;

    static constexpr std::size_t no_operand = 99;
    [[nodiscard]] bool is_number() const { return called == nullptr && operand == no_operand; }
};

struct random_block {
    std::size_t type = 0;
    kernel_test::strided_tensor<std::uint8_t> layout;  ///< its memory is not used
    std::vector<std::byte> own;                        ///< its elements

    [[nodiscard]] std::byte* at(index offset, std::size_t bytes) {
        return own.data() + static_cast<std::size_t>(offset) * bytes;
    }
};

std::size_t bytes_of(std::size_t type) {
    std::size_t bytes = 0;
    with_type(type, [&]<class T>(std::type_identity<T>) { bytes = sizeof(T); });
    return bytes;
}

/// Casts that are compiled: half of those that are defined for all values, or for small ones.
template <class From, class To>
constexpr bool casts = std::is_same_v<From, To> ||
                       ((is_any_complex<To> || !is_any_complex<From>)&&(number_of<From>() + number_of<To>()) % 2 == 1);
template <class From, class To>
constexpr bool casts_small = std::is_floating_point_v<From>&& std::is_integral_v<To> && !std::is_same_v<To, bool>;
/// Those of numbers that are compiled.
template <std::size_t From, std::size_t To>
constexpr bool casts_number = From == To || (From + To) % 8 == 1;

class random_case {
public:
    random_case(const operation_table& table, std::uint64_t seed) : table_(table), random_(seed) {
        most_operands_ = pick(random_, 0, 30) == 0 ? 0 : static_cast<std::size_t>(pick(random_, 1, 4));
        tree_ = draw(static_cast<std::size_t>(pick(random_, 0, type_count - 1)), static_cast<int>(pick(random_, 0, 5)),
                     true);
        draw_labels();
        compute_points();
        draw_output();
        expect();
    }

    /// Computes by steps. @return "" or what is wrong
    std::string run() {
        join_work work;
        work.reduction = reduction_.work;
        work.rows.operands = static_cast<std::uint16_t>(operands_.size());
        std::vector<strided_block> blocks;
        for (random_block& operand : operands_) {
            const element_type type{'f', static_cast<std::uint32_t>(bytes_of(operand.type))};  // its size alone counts
            blocks.push_back({operand.at(operand.layout.origin, bytes_of(operand.type)), type, operand.layout.labels,
                              operand.layout.strides});
        }
        writer calls(work, nullptr);
        const row_name last = write(calls, tree_);
        end(calls, last);
        steps = work.rows.steps.size();
        random_block& output = aliased_ == node::no_operand ? output_ : operands_[aliased_];
        run_join({extents_,
                  blocks,
                  {output.at(output_.layout.origin, bytes_of(output_.type)),
                   {},
                   output_.layout.labels,
                   output_.layout.strides},
                  mode_},
                 work);
        return difference(output.own);
    }

    std::size_t steps = 0;
    index known = 0;    ///< output elements that were compared
    index unknown = 0;  ///< and those that no order is known to round to
    std::set<const operation*> called;

    [[nodiscard]] std::size_t operands() const { return operands_.size(); }
    [[nodiscard]] bool aggregates() const { return !summed_.empty(); }
    [[nodiscard]] bool aliases() const { return aliased_ != node::no_operand; }
    [[nodiscard]] bool converts() const { return output_.type != tree_.type; }

private:
    node number(std::size_t type, bool divides) {
        node made;
        made.type = type;
        with_type(type, [&]<class T>(std::type_identity<T>) {
            T value = random_element<T>(random_);
            if constexpr (std::is_integral_v<T>) {
                while (divides && (value == T(0) || value == static_cast<T>(-1))) {
                    value = static_cast<T>(pick(random_, 2, 9));
                }
            }
            store(made.number.bytes.data(), value);
        });
        return made;
    }

    node leaf(std::size_t type, bool also_number) {
        if (also_number && random_() % 3 == 0) {
            return number(type, false);
        }
        node made;
        made.type = type;
        std::vector<std::size_t> fitting;
        for (std::size_t operand = 0; operand < operands_.size(); ++operand) {
            if (operands_[operand].type == type) {
                fitting.push_back(operand);
            }
        }
        if (!fitting.empty() && (operands_.size() >= most_operands_ || random_() % 2 == 0)) {
            made.operand = fitting[random_() % fitting.size()];
        } else if (operands_.size() < most_operands_) {
            made.operand = operands_.size();
            operands_.emplace_back();
            operands_.back().type = type;
        } else {
            made.called = &table_.row_of_number(type);
            made.arguments.push_back(number(type, false));
        }
        return made;
    }

    node draw(std::size_t type, int depth, bool also_number) {
        if (depth == 0 || random_() % 8 == 0) {
            return leaf(type, also_number);
        }
        const auto& list = table_.of_value(type);
        node made;
        made.type = type;
        made.called = &list[random_() % list.size()];
        if (made.called->arguments.size() == 1 && random_() % 2 == 0) {
            made.called = &list[random_() % list.size()];
        }
        for (std::size_t argument = 0; argument < made.called->arguments.size(); ++argument) {
            const std::size_t wanted = made.called->arguments[argument];
            made.arguments.push_back((made.called->numbers >> argument & 1) != 0
                                         ? number(wanted, made.called->divides && argument == 1)
                                         : draw(wanted, depth - 1, false));
        }
        called.insert(made.called);
        return made;
    }

    void draw_labels() {
        const auto labels = static_cast<std::size_t>(pick(random_, 0, 4));
        const auto longest = random_() % 3 == 0 && labels > 0 ? random_() % labels : labels;
        index size = 1;
        std::vector<label_id> all;
        for (std::size_t label = 0; label < labels; ++label) {
            index extent = label == longest ? pick(random_, 300, 3000) : pick(random_, 1, 40);
            extent = pick(random_, 0, 80) == 0 ? 0 : extent;
            while (extent > 1 && size * extent > (label == longest ? 3000 : 1000)) {
                extent = extent / 4 + 1;
            }
            size *= std::max<index>(extent, 1);
            extents_.push_back(extent);
            all.push_back(static_cast<label_id>(label));
        }
        for (const label_id label : all) {
            (operands_.empty() || random_() % 5 < 3 ? written_ : summed_).push_back(label);
        }
        if (random_() % 2 == 0) {
            written_.insert(written_.end(), summed_.begin(), summed_.end());
            summed_.clear();
        }
        std::vector<std::vector<label_id>> lists(operands_.size());
        for (const label_id label : all) {
            bool used = false;
            for (std::vector<label_id>& list : lists) {
                if (random_() % 4 != 0) {
                    list.push_back(label);
                    used = true;
                }
            }
            if (!used && !lists.empty() && std::ranges::find(summed_, label) != summed_.end()) {
                lists[random_() % lists.size()].push_back(label);
            }
        }
        for (std::size_t operand = 0; operand < operands_.size(); ++operand) {
            std::vector<label_id>& list = lists[operand];
            if (!list.empty() && pick(random_, 0, 9) == 0) {  // a diagonal
                list.push_back(list[random_() % list.size()]);
            }
            if (pick(random_, 0, 11) == 0) {
                list.push_back(no_label);
            }
            if (random_() % 2 == 0) {
                std::shuffle(list.begin(), list.end(), random_);
            }
            fill(operands_[operand], list, true);
        }
    }

    void fill(random_block& block, const std::vector<label_id>& labels, bool broadcast) {
        block.layout = kernel_test::random_layout<std::uint8_t>(random_, labels, extents_, broadcast);
        const std::size_t count = block.layout.memory.size();
        with_type(block.type, [&]<class T>(std::type_identity<T>) {
            block.own.resize(count * sizeof(T));
            for (std::size_t at = 0; at < count; ++at) {
                store(block.own.data() + at * sizeof(T), random_element<T>(random_));
            }
        });
    }

    /// visit(point) for every point of these labels, last one fastest.
    template <class Visit>
    void for_each_point(const std::vector<label_id>& labels, std::vector<index>& point, const Visit& visit,
                        std::size_t depth = 0) {
        if (depth == labels.size()) {
            visit();
            return;
        }
        const auto label = static_cast<std::size_t>(labels[depth]);
        for (point[label] = 0; point[label] < extents_[label]; ++point[label]) {
            for_each_point(labels, point, visit, depth + 1);
        }
    }

    void compute_points() {
        std::vector<index> point(extents_.size(), 0);
        std::vector<const void*> places(operands_.size());
        for_each_point(written_, point, [&] {
            for_each_point(summed_, point, [&] {
                for (std::size_t operand = 0; operand < operands_.size(); ++operand) {
                    random_block& block = operands_[operand];
                    places[operand] = block.at(block.layout.offset(point), bytes_of(block.type));
                }
                values_.emplace_back();
                compute(tree_, places, values_.back().bytes.data());
            });
        });
    }
    static void compute(const node& tree, const std::vector<const void*>& places, void* into) {
        if (tree.called == nullptr) {
            const void* const from = tree.is_number() ? tree.number.bytes.data() : places[tree.operand];
            std::memcpy(into, from, bytes_of(tree.type));
            return;
        }
        std::array<element, 3> arguments;
        std::array<const void*, 3> from{};
        for (std::size_t argument = 0; argument < tree.arguments.size(); ++argument) {
            compute(tree.arguments[argument], places, arguments[argument].bytes.data());
            from[argument] = arguments[argument].bytes.data();
        }
        tree.called->compute(tree.called->functor, into, from.data());
    }

    /// The tree's type, or one to which its values can be cast.
    void draw_output() {
        output_.type = tree_.type;
        const auto wanted = random_() % 2 == 0 ? tree_.type : random_() % type_count;
        with_cast(tree_.type, wanted, tree_.is_number(), [&]<class From, class To>(auto) {
            bool small = true;
            if constexpr (casts_small<From, To>) {
                for (const element& value : values_) {
                    const auto x = loaded<From>(value.bytes.data());
                    small = small && (std::is_signed_v<To> ? x >= From(-100) : x >= From(0)) && x <= From(100);
                }
                if (tree_.is_number()) {  // cast even where there is no point
                    const auto x = loaded<From>(tree_.number.bytes.data());
                    small = small && x >= From(0) && x <= From(100);
                }
            }
            if (small) {
                output_.type = wanted;
                for (element& value : values_) {
                    store(value.bytes.data(), converted<To>(loaded<From>(value.bytes.data())));
                }
            }
        });
        reduction_ = draw_reduction(random_, output_.type);
        mode_ = random_() % 3 == 0 ? write_mode::combine : write_mode::overwrite;
        if (summed_.empty() && mode_ == write_mode::overwrite && random_() % 2 == 0) {
            for (std::size_t operand = 0; operand < operands_.size(); ++operand) {
                random_block& block = operands_[operand];
                std::vector<label_id> labels = block.layout.labels;
                std::ranges::sort(labels);
                bool same = block.type == output_.type && labels == written_;
                for (std::size_t dimension = 0; same && dimension < labels.size(); ++dimension) {
                    same = block.layout.strides[dimension] != 0;
                }
                if (same) {
                    aliased_ = operand;
                }
            }
        }
        if (aliased_ != node::no_operand) {
            output_.layout = operands_[aliased_].layout;
            output_.own = operands_[aliased_].own;
        } else {
            std::vector<label_id> labels = written_;
            if (random_() % 2 == 0) {
                std::shuffle(labels.begin(), labels.end(), random_);
            }
            if (pick(random_, 0, 11) == 0) {
                labels.push_back(no_label);
            }
            fill(output_, labels, false);
        }
    }

    void expect() {
        expected_ = output_.own;
        const std::size_t bytes = bytes_of(output_.type);
        tolerances_.assign(output_.own.size() / bytes, {});
        std::vector<index> point(extents_.size(), 0);
        std::size_t next = 0;
        for_each_point(written_, point, [&] {
            const auto at = static_cast<std::size_t>(output_.layout.offset(point));
            std::byte* const into = expected_.data() + at * bytes;
            element total = reduction_.identity;
            tolerance& bound = tolerances_[at];
            index count = 0;
            const auto note = [&](const void* value) {
                with_type(output_.type, [&]<class T>(std::type_identity<T>) {
                    if constexpr (!std::is_integral_v<T>) {
                        bound.add(loaded<T>(value));
                    }
                });
            };
            for_each_point(summed_, point, [&] {
                const element& value = values_[next++];
                note(value.bytes.data());
                count++ == 0 ? void(total = value)
                             : reduction_.apply(reduction_.functor, total.bytes.data(), value.bytes.data());
            });
            if (mode_ == write_mode::overwrite) {
                std::memcpy(into, total.bytes.data(), bytes);
            } else if (count > 0) {
                if (count > 1) {
                    note(into);
                }
                reduction_.apply(reduction_.functor, into, total.bytes.data());
            }
        });
    }

    static row_name write(writer& into, const node& tree) {
        if (tree.called == nullptr) {
            row_name name = row_name(tree.operand);
            if (tree.is_number()) {
                with_type(tree.type, [&]<class T>(std::type_identity<T>) {
                    name = into.number(loaded<T>(tree.number.bytes.data())).row;
                });
            }
            return name;
        }
        std::array<row_name, 3> arguments{};
        for (std::size_t argument = 0; argument < tree.arguments.size(); ++argument) {
            arguments[argument] = write(into, tree.arguments[argument]);
        }
        return tree.called->write(into, tree.called->functor, arguments.data());
    }

    /// visit<From, To>(whether it is a number), where that cast is compiled.
    template <class Visit>
    static void with_cast(std::size_t from, std::size_t to, bool is_number, const Visit& visit) {
        for_each_number<type_count * type_count>([&](auto pair) {
            constexpr std::size_t first = pair / type_count;
            constexpr std::size_t second = pair % type_count;
            using From = type_at<first>;
            using To = type_at<second>;
            if constexpr (casts<From, To>) {
                if (from == first && to == second && !is_number) {
                    visit.template operator()<From, To>(std::false_type());
                }
                if constexpr (casts_number<first, second>) {
                    if (from == first && to == second && is_number) {
                        visit.template operator()<From, To>(std::true_type());
                    }
                }
            }
        });
    }

    void end(writer& into, row_name last) {
        with_cast(tree_.type, output_.type, tree_.is_number(), [&]<class From, class To>(auto is_number) {
            into.template read<To>(value_at<From, is_number>{last});
        });
    }

    std::string difference(const std::vector<std::byte>& made) {
        std::string wrong;
        with_type(output_.type, [&]<class T>(std::type_identity<T>) {
            for (std::size_t at = 0; at < tolerances_.size() && wrong.empty(); ++at) {
                const auto* const x = made.data() + at * sizeof(T);
                const auto* const y = expected_.data() + at * sizeof(T);
                if constexpr (std::is_same_v<T, bool>) {
                    wrong = *x == *y ? "" : "bool";
                    ++known;
                } else {
                    const int same = tolerances_[at].compare(loaded<T>(x), loaded<T>(y), reduction_.kind);
                    (same < 0 ? unknown : known) += 1;
                    if (same == 0) {
                        wrong = text(loaded<T>(x)) + " where " + text(loaded<T>(y)) + " is expected";
                    }
                }
                if (!wrong.empty()) {
                    wrong += ", element " + std::to_string(at) + " of " + std::to_string(tolerances_.size()) +
                             ", type " + name_of_element(element_type_of<T>());
                }
            }
        });
        return wrong;
    }
    template <class T>
    static std::string text(const T& x) {
        if constexpr (is_any_complex<T>) {
            return '(' + std::to_string(x.real()) + ", " + std::to_string(x.imag()) + ')';
        } else {
            return std::to_string(x);
        }
    }

    const operation_table& table_;
    random_source random_;
    std::size_t most_operands_ = 0;
    std::vector<random_block> operands_;
    node tree_;
    std::vector<index> extents_;
    std::vector<label_id> written_;
    std::vector<label_id> summed_;
    std::vector<element> values_;  ///< of the tree, by point of written_, then summed_
    random_block output_;
    std::size_t aliased_ = node::no_operand;  ///< the operand in whose memory the output is
    reduction_case reduction_;
    write_mode mode_ = write_mode::overwrite;
    std::vector<std::byte> expected_;    ///< all of the output's memory
    std::vector<tolerance> tolerances_;  ///< by element of it
};

}  // namespace

TEST_CASE("random trees are computed as recursion computes them, point by point") {
    const operation_table table;
    std::set<const operation*> called;
    std::array<int, 5> by_operands{};
    int aggregated = 0;
    int aliased = 0;
    int converted = 0;
    index known = 0;
    index unknown = 0;
    std::size_t most_steps = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        CAPTURE(seed);
        random_case made(table, seed);
        const std::string wrong = made.run();
        REQUIRE(wrong == "");
        called.insert(made.called.begin(), made.called.end());
        ++by_operands[made.operands()];
        aggregated += made.aggregates() ? 1 : 0;
        aliased += made.aliases() ? 1 : 0;
        converted += made.converts() ? 1 : 0;
        known += made.known;
        unknown += made.unknown;
        most_steps = std::max(most_steps, made.steps);
    }
    CHECK(called.size() > table.size() * 17 / 20);
    CHECK(std::ranges::all_of(by_operands, [](int count) { return count > 50; }));
    CHECK(aggregated > 300);
    CHECK(aliased > 50);
    CHECK(converted > 300);
    CHECK(unknown < known / 50);
    CHECK(most_steps > 25);
}

namespace {

template <std::size_t Operand, class T>
using leaf_of = einparallel::detail::pick<Operand, T>;

constexpr std::array<label_id, 1> along{0};

/// Z[i] = what the work makes of operands with these strides.
template <class Out, class... In>
void run_along(const join_work& work, index count, Out* into, index stride,
               const std::array<index, sizeof...(In)>& strides, const In*... operands) {
    const std::array<index, 1> extents{count};
    std::array<strided_block, sizeof...(In)> blocks{strided_block{operands, along, {}}...};
    for (std::size_t operand = 0; operand < blocks.size(); ++operand) {
        blocks[operand].strides = &strides[operand];
    }
    run_join({extents, blocks, {into, along, {&stride, 1}}}, work);
}

template <class Out, class... In, class Tree>
join_work work_of(const tree_function<Tree>& function) {
    return join_work_writer<Out, op::sum_type, In...>::written(op::sum, function);
}
template <class Tree>
tree_function<Tree> as_function(const Tree& tree) {
    return {tree};
}

std::vector<double> halves(index count) {
    std::vector<double> made;
    for (index at = 0; at < count; ++at) {
        made.push_back(static_cast<double>(at % 97) / 2 - 20);
    }
    return made;
}

}  // namespace

TEST_CASE("a number alone, with conversion and without, overwrites or is added") {
    for (const index count : {1, 5, 64, 1000}) {
        for (const write_mode mode : {write_mode::overwrite, write_mode::combine}) {
            join_work work;
            work.reduction = row_reduction_of<double>(op::sum);
            writer calls(work, nullptr);
            SUBCASE("double") {
                calls.read<double>(calls.number(-7.0));
            }
            SUBCASE("int") {
                calls.read<double>(calls.number(-7));
            }
            std::vector<double> made(static_cast<std::size_t>(2 * count), 3);
            const std::array<index, 1> extents{count};
            const std::array<index, 1> stride{2};
            run_join({extents, {}, {made.data(), along, stride}, mode}, work);
            bool good = true;
            for (std::size_t at = 0; at < made.size(); ++at) {
                good = good && made[at] == (at % 2 != 0 ? 3 : mode == write_mode::overwrite ? -7 : -4);
            }
            CHECK(good);
        }
    }
}

TEST_CASE("a tree of one leaf is a copy, with conversion") {
    const std::vector<double> x = halves(1001);
    const auto leaf = as_function(leaf_of<0, double>());
    std::vector<double> same(x.size());
    run_along<double, double>(work_of<double, double>(leaf), 1001, same.data(), 1, {1}, x.data());
    CHECK(same == x);
    std::vector<int> whole(x.size());
    run_along<int, double>(work_of<int, double>(leaf), 1001, whole.data() + 1000, -1, {1}, x.data());
    bool good = true;
    for (std::size_t at = 0; at < x.size(); ++at) {
        good = good && whole[1000 - at] == static_cast<int>(x[at]);
    }
    CHECK(good);
}

TEST_CASE_TEMPLATE("many rows are held at once", T, float, double, std::complex<double>, std::int16_t) {
    constexpr std::size_t depth = 20;
    const auto count = static_cast<index>(1003);
    std::vector<T> x;
    for (index at = 0; at < count; ++at) {
        x.push_back(static_cast<T>(static_cast<std::int16_t>(at % 9 - 4)));
    }
    for (const index stride : {1, -1}) {
        join_work work;
        work.rows.operands = 1;
        work.reduction = row_reduction_of<T>(op::sum);
        writer calls(work, nullptr);
        // x + (2 x − (3 x + …)): left arguments first
        std::array<value_at<T>, depth> held;
        for (std::size_t each = 0; each < depth; ++each) {
            held[each] = calls.call(times{}, true, value_at<T>{},
                                    calls.number(static_cast<T>(static_cast<std::int16_t>(each + 1))));
        }
        value_at<T> last = held[depth - 1];
        for (std::size_t each = depth - 1; each-- > 0;) {
            last = each % 2 == 0 ? calls.call(plus{}, true, held[each], last)
                                 : calls.call(minus{}, true, held[each], last);
        }
        calls.read<T>(last);
        CHECK(work.rows.held.size() == depth);
        // Of floats and doubles the last product goes into the chain before it, and what follows are links of that.
        CHECK(work.rows.steps.size() == (std::is_floating_point_v<T> ? depth - 1 : 2 * depth - 1));
        std::vector<T> made(x.size());
        run_along<T, T>(work, count, made.data(), 1, {stride}, x.data() + (stride < 0 ? count - 1 : 0));
        bool good = true;
        for (index at = 0; at < count; ++at) {
            const T from = x[static_cast<std::size_t>(stride < 0 ? count - 1 - at : at)];
            T expected = times{}(from, static_cast<T>(static_cast<std::int16_t>(depth)));
            for (std::size_t each = depth - 1; each-- > 0;) {
                const T term = times{}(from, static_cast<T>(static_cast<std::int16_t>(each + 1)));
                expected = each % 2 == 0 ? plus{}(term, expected) : minus{}(term, expected);
            }
            good = good && made[static_cast<std::size_t>(at)] == expected;
        }
        CHECK(good);
    }
}

TEST_CASE("what a functor throws arrives, and the work can be run again") {
    const std::vector<double> x = halves(700);
    bool throws = true;
    const auto careful = [&throws](double value) {
        if (throws && value == 28) {
            throw std::domain_error("28");
        }
        return value;
    };
    const auto tree = as_function(
        make_join(plus{}, leaf_of<0, double>(), make_join(careful, make_join(negate{}, leaf_of<0, double>()))));
    const join_work work = work_of<double, double>(tree);
    const auto run = [&](double value) {
        std::vector<double> from = x;
        from[650] = -value;
        std::vector<double> made(from.size(), 1);
        run_along<double, double>(work, 700, made.data(), 1, {1}, from.data());
        return std::ranges::count(made, 0) == 700;
    };
    CHECK_THROWS_AS(run(28), std::domain_error);
    throws = false;
    CHECK(run(28));
}

TEST_CASE("choices between bool and numbers, for counts that are no multiple of a vector, with strides") {
    const std::vector<double> x = halves(3000);
    std::vector<float> y;
    std::vector<std::uint8_t> bits;
    for (const double value : x) {
        y.push_back(static_cast<float>(value) + 0.25F);
        bits.push_back(static_cast<int>(value) % 3 == 0 ? 1 : 0);
    }
    const auto* const flags = reinterpret_cast<const bool*>(bits.data());
    const auto between = as_function(make_join(choice{}, make_join(less{}, leaf_of<0, double>(), constant<double>(3)),
                                               leaf_of<1, bool>(), leaf_of<2, float>()));
    const auto otherwise = as_function(make_join(choice{}, leaf_of<1, bool>(),
                                                 make_join(over{}, leaf_of<0, double>(), constant<double>(8)),
                                                 make_join(equal{}, leaf_of<2, float>(), constant<float>(0.25F))));
    const join_work first = work_of<float, double, bool, float>(between);
    const join_work second = work_of<double, double, bool, float>(otherwise);
    std::vector<index> counts{255, 256, 257, 1023, 1025};
    for (index count = 1; count < 70; ++count) {
        counts.push_back(count);
    }
    for (const index count : counts) {
        for (const index stride : {1, 2}) {
            CAPTURE(count);
            CAPTURE(stride);
            std::vector<float> one(static_cast<std::size_t>(count) + 1, -1);
            std::vector<double> two(static_cast<std::size_t>(2 * count), -1);
            run_along<float, double, bool, float>(first, count, one.data(), 1, {1, stride, stride}, x.data(), flags,
                                                  y.data());
            run_along<double, double, bool, float>(second, count, two.data(), stride, {stride, 1, 1}, x.data(), flags,
                                                   y.data());
            bool good = one.back() == -1;
            for (index at = 0; at < count; ++at) {
                const auto near = static_cast<std::size_t>(at);
                const auto far = static_cast<std::size_t>(stride * at);
                good = good && one[near] == (x[near] < 3 ? static_cast<float>(bits[far]) : y[far]) &&
                       two[far] == (bits[near] != 0    ? x[far] / 8
                                    : y[near] == 0.25F ? 1
                                                       : 0);
            }
            CHECK(good);
        }
    }
}

TEST_CASE_TEMPLATE("chains of arithmetic give what single steps give, to the bit, in place too", T, float, double) {
    random_source random(1611);
    // Each round writes an expression of operands, numbers and of what was computed before, and computes it by points.
    for (int round = 0; round < 300; ++round) {
        const auto count = static_cast<index>(pick(random, 1, 300));
        std::array<std::vector<T>, 3> rows;
        for (std::vector<T>& row : rows) {
            for (index at = 0; at < count; ++at) {
                row.push_back(static_cast<T>(pick(random, -999, 999)) / 7);
            }
        }
        rows[2][0] = T(0) * T(-1);
        join_work work;
        work.rows.operands = 3;
        work.reduction = row_reduction_of<T>(op::sum);
        writer calls(work, nullptr);
        struct value {
            bool is_number;
            row_name row;
            std::vector<T> points;
        };
        std::vector<value> stack;
        const auto push = [&] {
            if (const auto which = static_cast<std::size_t>(pick(random, 0, 4)); which < 3) {
                stack.push_back({false, static_cast<row_name>(which), rows[which]});
            } else {
                const T number = which == 3 ? T(0) * T(-1) : static_cast<T>(pick(random, -9, 9)) / 3;
                stack.push_back({true, calls.number(number).row, std::vector<T>(rows[0].size(), number)});
            }
        };
        const auto apply = [&](auto function) {
            const value second = stack.back();
            stack.pop_back();
            value& first = stack.back();
            const auto call = [&]<bool A, bool B>(std::bool_constant<A>, std::bool_constant<B>) {
                return calls.call(function, true, value_at<T, A>{first.row}, value_at<T, B>{second.row}).row;
            };
            first.row = first.is_number    ? second.is_number ? call(std::true_type(), std::true_type())
                                                              : call(std::true_type(), std::false_type())
                           : second.is_number ? call(std::false_type(), std::true_type())
                                           : call(std::false_type(), std::false_type());
            first.is_number = false;
            for (std::size_t at = 0; at < first.points.size(); ++at) {
                first.points[at] = function(first.points[at], second.points[at]);
            }
        };
        const index length = pick(random, 1, 12);
        push();
        for (index each = 0; each < length || stack.size() > 1; ++each) {
            if (stack.size() < 2 || (each < length && pick(random, 0, 2) == 0)) {
                push();
                continue;
            }
            switch (pick(random, 0, 3)) {
                case 0:
                    apply(plus{});
                    break;
                case 1:
                    apply(minus{});
                    break;
                case 2:
                    apply(times{});
                    break;
                default:
                    apply(over{});
            }
        }
        if (stack.back().is_number || work.rows.steps.empty()) {
            continue;
        }
        std::vector<T>& into = rows[static_cast<std::size_t>(pick(random, 0, 2))];
        std::vector<T> apart(into.size());
        const bool in_place = pick(random, 0, 1) == 0;
        std::vector<T>& made = in_place ? into : apart;
        CAPTURE(round);
        run_along<T, T, T, T>(work, count, made.data(), 1, {1, 1, 1}, rows[0].data(), rows[1].data(), rows[2].data());
        CHECK(std::equal(made.begin(), made.end(), stack.back().points.begin(), [](T a, T b) {
            return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
        }));
    }
}

}  // namespace row_program_test
