// Op programs: random expressions by the interpreter and by the functors, as text and back, and as formulas.

#include "../support/functors.hpp"
#include "../support/json.hpp"
#include "../support/op_evaluate.hpp"

#include <einparallel.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace op_program_test {

namespace {

using namespace einparallel;

template <class T, class... Some>
constexpr bool is_among = (std::is_same_v<T, Some> || ...);
using namespace einparallel::detail;

/// Σ scale · x · y · … of `count` operands of type T.
template <class T>
op_program product_of(T scale, std::size_t count) {
    return product_program(scale, std::vector<element_type>(count, element_type_of<T>()));
}
using einparallel::index;  // not that of <strings.h>
using testing::json;

using all_types = std::tuple<float, double, std::complex<float>, std::complex<double>, bool, std::int8_t, std::int16_t,
                             std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

/// Points at which an expression is computed.
constexpr std::size_t points = 4;
template <class T>
using values_of = std::array<T, points>;
template <class>
struct variant_of;
template <class... T>
struct variant_of<std::tuple<T...>> {
    using type = std::variant<values_of<T>...>;
};
using any_values = variant_of<all_types>::type;

/// An expression: its register, and its values by the functors.
struct part {
    op_register at = 0;
    any_values values;
};

template <class T>
constexpr bool is_any_complex = is_complex<T>::value;

template <class T>
T random_value(std::mt19937& random) {
    const double whole = static_cast<double>(random() % 17) - 8;
    if constexpr (std::is_same_v<T, bool>) {
        return whole > 0;
    } else if constexpr (is_complex<T>::value) {
        using Real = typename T::value_type;
        return T(random_value<Real>(random), random_value<Real>(random));
    } else if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(random() % 4 == 0 ? static_cast<T>(random()) : static_cast<T>(static_cast<int>(whole)));
    } else {
        const auto kind = random() % 40;
        return kind == 0   ? std::numeric_limits<T>::quiet_NaN()
               : kind == 1 ? -std::numeric_limits<T>::infinity()
               : kind == 2 ? T(-0.0)
               : kind < 20 ? static_cast<T>(whole)
                           : static_cast<T>(static_cast<double>(random()) / 4e8 - 5.0);
    }
}

/// Bit for bit, but that every NaN is like any other.
template <class T>
bool agree(const T& a, const T& b) {
    if constexpr (is_complex<T>::value) {
        return agree(a.real(), b.real()) && agree(a.imag(), b.imag());
    } else {
        using bytes = std::array<unsigned char, sizeof(T)>;
        return std::bit_cast<bytes>(a) == std::bit_cast<bytes>(b) || (a != a && b != b);
    }
}

/// Functors of one element, and of two.
using maps = decltype(std::tuple_cat(testing::functors_of<1>(), std::tuple<unchanged>()));
using joins = testing::functors_of<2>;

/// Calls visit(std::type_identity<element number `which`>).
template <class List, class Visit>
void with_one_of(std::size_t which, const Visit& visit) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        static_cast<void>(((I == which && (visit(std::type_identity<std::tuple_element_t<I, List>>()), true)) || ...));
    }
    (std::make_index_sequence<std::tuple_size_v<List>>{});
}

/// One random expression, written into a program while its functors are called, with operands of mixed types.
class random_expression {
public:
    explicit random_expression(std::uint32_t seed) : random_(seed) {
        std::vector<element_type> types;
        for (std::size_t operand = 0, count = 1 + random_() % 4; operand < count; ++operand) {
            operands_.push_back({static_cast<op_register>(operand), values()});
            types.push_back(type_of(operands_.back().values));
        }
        program = op_program(static_cast<reduction>(1 + random_() % (reductions.size() - 1)), types);
        result = tree(5);
        std::visit(
            [&]<class T>(const values_of<T>& x) {  // the last register is the result
                result = called<plus, T, T>({}, {result.at, result.at}, x, x);
            },
            any_values(result.values));
        if (random_() % 2 == 0) {  // as elements of another type, where that is defined
            std::visit(
                [&]<class T>(const values_of<T>& from) {
                    if constexpr (std::is_integral_v<T>) {
                        result = stored<double>(from);
                    } else if constexpr (std::is_same_v<T, float>) {
                        result = stored<std::complex<double>>(from);
                    } else if constexpr (std::is_same_v<T, std::complex<double>>) {
                        result = stored<std::complex<float>>(from);
                    }
                },
                any_values(result.values));
        }
    }

    /// Registers, by instruction and point, are computed where the program reads these.
    [[nodiscard]] bool agrees() const {
        bool same = true;
        for (std::size_t point = 0; point < points; ++point) {
            std::vector<const void*> places;
            for (const part& operand : operands_) {
                std::visit([&](const auto& held) { places.push_back(&held[point]); }, operand.values);
            }
            std::visit(
                [&]<class T>(const values_of<T>& expected) {
                    T computed{};
                    same = same && program.type() == element_type_of<T>();
                    if (same) {
                        testing::evaluate(program, places.data(), &computed);
                        same = agree(computed, expected[point]);
                    }
                },
                result.values);
        }
        return same;
    }

    op_program program;
    part result;

private:
    static element_type type_of(const any_values& values) {
        return std::visit([]<class T>(const values_of<T>&) { return element_type_of<T>(); }, values);
    }

    any_values values() {
        any_values made;
        with_one_of<all_types>(random_() % std::tuple_size_v<all_types>, [&]<class T>(std::type_identity<T>) {
            values_of<T> drawn{};
            std::ranges::generate(drawn, [&] { return random_value<T>(random_); });
            made = drawn;
        });
        return made;
    }

    part leaf() {
        if (random_() % 3 != 0) {
            return operands_[random_() % operands_.size()];
        }
        part made{0, values()};
        std::visit(
            [&]<class T>(values_of<T>& drawn) {
                drawn.fill(drawn[0]);
                made.at = program.number(element_type_of<T>(), bits_of(drawn[0]));
            },
            made.values);
        return made;
    }

    template <class F, class... T>
    part called(const F& f, std::array<op_register, sizeof...(T)> from, const values_of<T>&... x) {
        using Value = std::remove_cvref_t<std::invoke_result_t<const F&, T...>>;
        values_of<Value> values{};
        for (std::size_t point = 0; point < points; ++point) {
            values[point] = f(x[point]...);
        }
        join_work none;
        const op_register* next = from.data();
        const std::tuple arguments{value_at<T>{0, *next++}...};
        const auto call = [&](auto... each) {
            return call_writer<false, true>(none, &program).call(f, distributes_over<op::sum_type, F>, each...);
        };
        return {std::apply(call, arguments).at, values};
    }

    template <class To, class From>
    part stored(const values_of<From>& from) {
        values_of<To> values{};
        std::ranges::transform(from, values.begin(), [](const From& x) { return converted<To>(x); });
        return {program.call({op_code::cast}, element_type_of<To>(), {}, std::array{result.at}), values};
    }

    part tree(int depth) {
        if (depth == 0 || random_() % 8 == 0) {
            return leaf();
        }
        const part a = tree(depth - 1);
        part made = a;
        const auto kind = random_() % 20;
        if (kind < 8) {
            std::visit(
                [&]<class A>(const values_of<A>& x) {
                    with_one_of<maps>(random_() % std::tuple_size_v<maps>, [&]<class F>(std::type_identity<F>) {
                        if constexpr (testing::takes<F, A>) {
                            made = called<F, A>({}, {a.at}, x);
                        }
                    });
                },
                a.values);
            return made;
        }
        const part b = random_() % 3 == 0 ? a : tree(depth - 1);
        std::visit(
            [&]<class A>(const values_of<A>& x) {
                if (kind < 16) {
                    join(a.at, x, b, made);
                } else if (kind < 19 && std::holds_alternative<values_of<bool>>(b.values)) {
                    choose<bool>(b, a.at, x, made);
                } else if (kind < 19 && std::holds_alternative<values_of<double>>(b.values)) {
                    choose<double>(b, a.at, x, made);
                } else if (kind < 19 && std::holds_alternative<values_of<std::complex<float>>>(b.values)) {
                    choose<std::complex<float>>(b, a.at, x, made);
                } else {
                    const auto* const y = std::get_if<values_of<A>>(&b.values);
                    const op_register right = y != nullptr ? b.at : a.at;
                    if constexpr (is_any_complex<A>) {
                        made = called<shifted_exponential, A, A>({}, {a.at, right}, x, y != nullptr ? *y : x);
                    } else {
                        const op_register place = program.number(element_type_of<index>(), bits_of(index{3}));
                        made = called<position_where, A, A, index>({}, {a.at, right, place}, x, y != nullptr ? *y : x,
                                                                   {3, 3, 3, 3});
                    }
                    if constexpr (std::is_floating_point_v<A>) {
                        if (random_() % 2 == 0) {
                            made = called<shifted_exponential, A, A>({}, {a.at, right}, x, y != nullptr ? *y : x);
                        }
                    }
                }
            },
            a.values);
        return made;
    }

    /// Of two elements of one type, or with one of these.
    template <class A>
    void join(op_register left, const values_of<A>& x, const part& b, part& made) {
        std::visit(
            [&]<class B>(const values_of<B>& y) {
                if constexpr (std::is_same_v<A, B> || is_among<B, float, double, std::complex<double>, bool, int,
                                                               std::uint8_t, std::uint64_t>) {
                    with_one_of<joins>(random_() % std::tuple_size_v<joins>, [&]<class F>(std::type_identity<F>) {
                        if constexpr (testing::takes<F, A, B>) {
                            made = called<F, A, B>({}, {left, b.at}, x, y);
                        }
                    });
                }
            },
            b.values);
    }

    template <class C, class A>
    void choose(const part& condition, op_register at, const values_of<A>& x, part& made) {
        const part other = random_() % 2 == 0 ? made : leaf();
        std::visit(
            [&]<class B>(const values_of<B>& y) {
                if constexpr (std::is_same_v<A, B> || is_among<B, double, int>) {
                    made = called<choice, C, A, B>({}, {condition.at, at, other.at},
                                                   std::get<values_of<C>>(condition.values), x, y);
                }
            },
            other.values);
    }

    std::mt19937 random_;
    std::vector<part> operands_;
};

op_program read_as_json(const op_program& written) {
    const json object = json::parse("{\"program\":\"" + written.text() + "\"}");
    return op_program::parse(object["program"].text());
}

}  // namespace

TEST_CASE("random expressions: the interpreter is the functors, bit for bit; programs go into JSON and back") {
    std::map<op_code, std::set<std::pair<char, std::size_t>>> seen;
    std::set<std::string> texts;
    std::mt19937 random(11);
    std::size_t longest = 0;
    int refused = 0;
    for (std::uint32_t seed = 0; seed < 4000; ++seed) {
        CAPTURE(seed);
        const random_expression made(seed);
        const op_program& program = made.program;
        CAPTURE(program.text());
        REQUIRE(made.agrees());
        CHECK_FALSE(program.is_opaque());
        const op_program read = read_as_json(program);
        CHECK(read == program);
        CHECK(read.formula() == program.formula());
        texts.insert(program.text());
        longest = std::max(longest, program.instructions().size());
        for (const op_instruction& each : program.instructions()) {
            const bool is_leaf = arity_of(each.code) == 0;
            const element_type type =
                is_leaf ? each.type() : program.instructions()[each.from[each.code == op_code::choice ? 1 : 0]].type();
            seen[each.code].insert({type.kind, type.bytes});
        }
        // Another text is another program, or none.
        std::string other = program.text();
        const std::string letters = "0123456789abcdef;* fuicb-";
        other[random() % other.size()] = letters[random() % letters.size()];
        try {
            const op_program parsed = op_program::parse(other);
            CHECK((parsed == program) == (parsed.text() == program.text()));
        } catch (const error&) {
            ++refused;
        }
    }
    CHECK(texts.size() > 1800);
    CHECK(longest > 25);
    CHECK(refused > 500);
    // Every operation in every type that it has.
    std::size_t missing = 0;
    for (auto code = op_code::operand; code <= op_code::position;
         code = static_cast<op_code>(static_cast<int>(code) + 1)) {
        if (code == op_code::opaque || code == op_code::argument) {
            continue;
        }
        CAPTURE(static_cast<int>(code));
        std::size_t types = 0;
        [&]<class... T>(std::type_identity<std::tuple<T...>> /*all*/) {
            types = (std::size_t{computes_in(code, element_type_of<T>())} + ...);
        }(std::type_identity<all_types>());
        types -= code == op_code::divide ? 1 : 0;  // no bool by a bool
        CHECK(seen[code].size() == types);
        missing += seen[code].size() < types ? 1 : 0;
    }
    CHECK(missing == 0);
}

namespace {

/// Programs of trees as statements record them.
template <class Reduce, class... In, class Tree>
std::string formula_of_tree(const Tree& tree) {
    const op_program made = program_of<double, Reduce, In...>(tree);
    CHECK(read_as_json(made) == made);
    return made.formula();
}

struct named {
    static constexpr const char* name = "user's \"f\\;%";
    double operator()(double x, float y) const { return x + static_cast<double>(y); }
};
struct pair_of_numbers {
    double a = 0;
};
struct doubled_product {
    double operator()(double x, double y) const { return 2 * x * y; }
};

}  // namespace

}  // namespace op_program_test

template <>
inline constexpr bool einparallel::distributes_over<einparallel::op::sum_type, op_program_test::doubled_product> = true;

namespace op_program_test {

TEST_CASE("formulas as their readers write them") {
    const auto x = pick<0, double>{};
    const auto y = pick<1, double>{};
    const auto z = pick<2, double>{};
    const auto f = [](double a) { return a; };
    const auto difference = make_join(minus{}, x, y);
    CHECK(formula_of_tree<op::max_type, double, double>(make_join(absolute{}, difference)) == "max |x - y|");
    CHECK(formula_of_tree<op::sum_type, double, double, double>(
              make_join(over{}, x, make_join(minus{}, make_join(plus{}, y, z), x))) == "sum x/(y + z - x)");
    CHECK(formula_of_tree<op::sum_type, double, double>(make_join(times{}, difference, difference)) ==
          "sum (x - y)*(x - y)");
    CHECK(formula_of_tree<op::sum_type, double, double>(make_join(minus{}, x, difference)) == "sum x - (x - y)");
    CHECK(formula_of_tree<op::sum_type, double, double>(make_join(negate{}, difference)) == "sum -(x - y)");
    CHECK(formula_of_tree<op::sum_type, double, double>(make_join(times{}, make_join(negate{}, x), y)) == "sum -x*y");
    CHECK(formula_of_tree<op::prod_type, double>(make_join(exp_function{}, x)) == "prod exp(x)");
    CHECK(formula_of_tree<op::min_type, double, float>(make_join(larger{}, x, pick<1, float>{})) == "min max(x, y)");
    CHECK(formula_of_tree<op::sum_type, double, double>(make_join(shifted_exponential{}, x, y)) == "sum exp(x - y)");
    CHECK(formula_of_tree<op::sum_type, double>(make_join(unchanged{}, x)) == "sum x");
    CHECK(formula_of_tree<op::sum_type, float, double>(make_join(choice{}, make_join(less{}, pick<0, float>{}, y),
                                                                 pick<0, float>{}, y)) == "sum where(x < y, x, y)");
    CHECK(formula_of_tree<op::sum_type, double>(make_join(f, x)) == "sum f(x)");
    CHECK(formula_of_tree<op::sum_type, double>(
              make_join(times{}, constant<double>(0.5), make_join(f, make_join(f, x)))) == "sum 0.5*f(f(x))");
    CHECK(formula_of_tree<op::sum_type, double, float>(make_join(named{}, x, pick<1, float>{})) ==
          "sum user's \"f\\;%(x, y)");
    CHECK(formula_of_tree<op::sum_type, int>(make_join(plus{}, pick<0, int>{}, constant<int>(-3))) == "sum x + (-3)");
    CHECK(formula_of_tree<op::sum_type, float>(make_join(times{}, pick<0, float>{}, constant<float>(0.1F))) ==
          "sum x*0.1");
    const std::vector<std::string> names{"A", "'the B'"};
    const op_program apart = program_of<double, op::sum_type, double, double>(difference);
    CHECK(apart.formula(names, true) == "sum(A - 'the B')");
    CHECK(apart.formula(names, false) == "A - 'the B'");
    CHECK(product_of(2.5, 3).formula() == "sum 2.5*x*y*z");
    CHECK(product_of(-1.0F, 2).formula() == "sum -x*y");
    CHECK(product_of(std::complex<double>(0, 1), 1).formula() == "sum (0,1)*x");
    CHECK(product_of<std::uint8_t>(1, 2).text() == "sum; operand u1; operand u1; * u1 0 1");
}

TEST_CASE("programs say every conversion") {
    const auto x = pick<0, double>{};
    const auto y = pick<1, double>{};
    CHECK(program_of<float, op::sum_type, int, double>(make_join(times{}, pick<0, int>{}, y)).text() ==
          "sum; operand i4; operand f8; cast f8 0; * f8 2 1; cast f4 3");
    CHECK(program_of<bool, op::max_type, float, int>(make_join(less{}, pick<0, float>{}, pick<1, int>{})).text() ==
          "max; operand f4; operand i4; cast f4 1; < b1 0 2");
    CHECK(program_of<double, op::sum_type, std::int16_t>(make_join(gelu_function{}, pick<0, std::int16_t>{})).text() ==
          "sum; operand i2; cast f8 0; gelu f8 1");
    CHECK(program_of<double, op::sum_type, std::complex<double>>(make_join(absolute{}, pick<0, std::complex<double>>{}))
              .text() == "sum; operand c16; abs f8 0");
    CHECK(program_of<double, op::sum_type, double>(make_join(times{}, x, constant<double>(2))).text() ==
          "sum; operand f8; number f8 4000000000000000; * f8 0 1");
}

TEST_CASE("a functor of the user's is one opaque instruction") {
    const auto x = pick<0, double>{};
    const auto y = pick<1, double>{};
    const double shift = 2;
    const auto plain = [](double a) { return a + 1; };
    const auto shifted = [shift](double a) { return a + shift; };
    const auto packed = [](double a) { return pair_of_numbers{a}; };
    const auto unpacked = [](pair_of_numbers a) { return a.a; };
    const auto of = [&](auto f) { return program_of<double, op::sum_type, double>(make_join(f, x)); };
    CHECK(of(plain).text() == "sum; operand f8; argument f8 0; opaque f8 1 f");
    CHECK(of(plain).is_opaque());
    CHECK_FALSE(of(plain).has_state());
    CHECK(of(shifted).has_state());
    CHECK(of(plain) != of(shifted));
    const op_program pairs = program_of<double, op::sum_type, double>(make_join(unpacked, make_join(packed, x)));
    CHECK(pairs.text() == "sum; operand f8; argument f8 0; opaque V0 1 f; argument V0 2; opaque f8 1 f");
    CHECK(read_as_json(pairs) == pairs);
    CHECK(pairs.formula() == "sum f(f(x))");
    const op_program two = program_of<double, op::sum_type, double, float>(make_join(named{}, x, pick<1, float>{}));
    REQUIRE(two.instructions().back().code == op_code::opaque);
    CHECK(two.name_of(two.instructions().back()) == named::name);
    const op_program declared = program_of<double, op::sum_type, double, double>(make_join(doubled_product{}, x, y));
    CHECK(read_as_json(declared) == declared);
    CHECK(declared.takes_summands(1));
    CHECK(declared.takes_summands(2));
    CHECK_FALSE(declared.takes_summands(3));
    CHECK_FALSE(program_of<double, op::max_type, double, double>(make_join(doubled_product{}, x, y)).takes_summands(1));
    CHECK_FALSE(op_program().takes_summands(1));
    CHECK(op_program().is_opaque());
}

TEST_CASE("texts that are no programs") {
    for (const std::string text : {"",
                                   "sum",
                                   "total; operand f8",
                                   "sum; operand f3",
                                   "sum; operand",
                                   "sum; number f8 1; operand f8",
                                   "sum; operand f8; + f8 0 1",
                                   "sum; operand f8; + f8 0",
                                   "sum; operand f8; + f4 0 0",
                                   "sum; operand f8; < f8 0 0",
                                   "sum; operand f8; exp f8 0 0",
                                   "sum; operand i4; exp i4 0",
                                   "sum; operand c16; max c16 0 0",
                                   "sum; operand c16; cast f8 0",
                                   "sum; operand b1; neg b1 0",
                                   "sum; operand f8; frobenius f8 0",
                                   "sum; operand f8; opaque f8 1 f",
                                   "sum; operand f8; place f8 0 0 0",
                                   "sum; number f8 1g",
                                   "sum; number c16 1",
                                   "sum; operand f8; cast f8 0",
                                   "sum; operand f8;; exp f8 0",
                                   "sum; operand f8; exp f8 -1"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(static_cast<void>(op_program::parse(text)), error);
    }
    CHECK_THROWS_WITH_AS(static_cast<void>(op_program::parse("sum; operand f8; + f8 0 7")),
                         "op program: '+ f8 0 7' is no instruction that can stand there", error);
}

}  // namespace op_program_test
