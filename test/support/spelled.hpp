#pragma once
// What the suite of spellings draws: extents, elements of which every operation is exact, memory of any layout; and how
// results are compared.

#include <einparallel/array/array.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/notation/element_type.hpp>

#include <doctest/doctest.h>

#include <support/exact_number.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace einparallel::testing {

/// visit(indices) for every element of these extents, in row-major order.
template <class Visit>
void for_each_place(const std::vector<index>& extents, const Visit& visit) {
    std::vector<index> at(extents.size(), 0);
    for (index left = detail::element_count(extents); left > 0; --left) {
        visit(std::as_const(at));
        for (std::size_t dimension = at.size(); dimension-- > 0 && ++at[dimension] == extents[dimension];) {
            at[dimension] = 0;
        }
    }
}

/// 0, 1, odd, prime, even: rarely divisible by the number of ranks.
inline index drawn_extent(std::mt19937& random, index least = 0) {
    constexpr std::array<index, 12> all{0, 1, 1, 2, 3, 3, 5, 7, 8, 9, 11, 13};
    return std::max(least, all[random() % all.size()]);
}

/// How elements are drawn.
enum class draw : std::uint8_t {
    any,    ///< integers of all bits
    small,  ///< of which sums of products are exact in float
    rough   ///< floating-point numbers with all bits of their fractions, and large integers
};

/// The draw with which statements of a type are exact.
constexpr draw exact_draw(element_type statement) {
    return is_integer(statement) ? draw::any : draw::small;
}

/// No zeros, which some statements divide by, and whose signs a sum may lose.
template <class T>
T drawn_element(std::mt19937& random, draw how) {
    if constexpr (std::is_same_v<T, bool>) {
        return random() % 2 != 0;
    } else if constexpr (std::is_integral_v<T>) {
        const std::uint64_t high = random();
        const std::uint64_t all = high << 32U | random();
        const auto bits = static_cast<T>(how == draw::rough ? all >> 28U : all);
        if (how == draw::small || random() % 3 == 0) {
            const auto size = static_cast<T>(1 + random() % 4);
            return std::is_signed_v<T> && random() % 2 == 0 ? static_cast<T>(-size) : size;
        }
        return bits == 0 ? T(1) : bits;
    } else if constexpr (detail::is_complex<T>::value) {
        using Real = typename T::value_type;
        const auto real = drawn_element<Real>(random, how);
        return {real, drawn_element<Real>(random, how)};
    } else if (how == draw::rough) {
        const double fraction = 1 + std::generate_canonical<double, 53>(random);
        return T(std::ldexp(random() % 2 == 0 ? fraction : -fraction, static_cast<int>(random() % 5) - 3));
    } else {
        const auto halves = static_cast<double>(1 + random() % 8);
        return T((random() % 2 == 0 ? -0.5 : 0.5) * halves);
    }
}

/// Elements in memory of any layout: dimensions in any order, forwards or backwards, with gaps or without.
template <class T, std::size_t Rank>
class laid_out {
public:
    laid_out(const std::array<index, Rank>& extents, std::mt19937& random) : extents_(extents) {
        std::array<std::size_t, Rank> order{};
        std::iota(order.begin(), order.end(), std::size_t{0});
        const bool is_dense = random() % 3 == 0;
        if (!is_dense) {
            std::shuffle(order.begin(), order.end(), random);
        }
        index step = is_dense ? 1 : 1 + static_cast<index>(random() % 2);
        for (std::size_t place = Rank; place-- > 0;) {
            const std::size_t dimension = order[place];
            const bool backwards = !is_dense && random() % 4 == 0;
            strides_[dimension] = backwards ? -step : step;
            first_ += backwards ? step * std::max<index>(extents[dimension] - 1, 0) : 0;
            step *= extents[dimension] + (is_dense ? 0 : static_cast<index>(random() % 2));
            step = std::max<index>(step, 1);
        }
        memory_ = array<T, 1>({step + 1});
    }

    [[nodiscard]] view<T, Rank> elements() { return {memory_.data() + first_, extents_, strides_}; }
    [[nodiscard]] view<const T, Rank> elements() const { return {memory_.data() + first_, extents_, strides_}; }
    /// What lies between them is still 0.
    [[nodiscard]] bool has_clean_gaps() {
        array<T, 1> kept = memory_;
        for_each_place({extents_.begin(), extents_.end()}, [&](const std::vector<index>& at) {
            kept.data()[std::inner_product(at.begin(), at.end(), strides_.begin(), first_)] = T{};
        });
        return std::all_of(kept.data(), kept.data() + kept.size(), [](T each) { return each == T{}; });
    }

private:
    std::array<index, Rank> extents_;
    std::array<index, Rank> strides_{};
    index first_ = 0;
    array<T, 1> memory_;
};

template <class T, std::size_t Rank>
laid_out<T, Rank> drawn_operand(const std::array<index, Rank>& extents, std::mt19937& random, draw how) {
    laid_out<T, Rank> made(extents, random);
    const view<T, Rank> all = made.elements();
    for_each_place({extents.begin(), extents.end()}, [&](const std::vector<index>& at) {
        all.data()[std::inner_product(at.begin(), at.end(), all.strides().begin(), index{0})] =
            drawn_element<T>(random, how);
    });
    return made;
}

/// The elements of an array or view in row-major order.
template <class Elements>
std::vector<number> numbers_of(const Elements& elements) {
    std::vector<number> made;
    const auto strides = elements.strides();
    for_each_place({elements.extents().begin(), elements.extents().end()}, [&](const std::vector<index>& at) {
        made.push_back(number_of(elements.data()[std::inner_product(at.begin(), at.end(), strides.begin(), index{0})]));
    });
    return made;
}

/// What elements should be, and how far off they may be: 0 where every operation is exact.
struct expectation {
    std::vector<index> extents;
    std::vector<number> numbers;
    std::vector<long double> bounds{};

    /// The same, converted to another type.
    [[nodiscard]] expectation in(element_type type) const {
        expectation made = *this;
        for (std::size_t at = 0; at < numbers.size(); ++at) {
            made.numbers[at] = as(bounds.empty() ? type : unrounded(type), numbers[at]);
            if (!bounds.empty() && !is_integer(type)) {
                const std::size_t bytes = type.kind == 'c' ? type.bytes / 2 : type.bytes;
                const number_format format = format_of(type.kind, bytes);
                made.bounds[at] += std::ldexp(magnitude(numbers[at]), -format.digits) + format.smallest_half();
                if (magnitude(numbers[at]) > .99L * format.most) {
                    made.bounds[at] = std::numeric_limits<long double>::infinity();
                }
            }
        }
        return made;
    }
};

/// What is wrong with elements; nothing where they are as expected.
inline std::string difference_of(const std::vector<index>& extents, const std::vector<number>& made,
                                 const expectation& expected) {
    std::ostringstream wrong;
    if (extents != expected.extents) {
        return "other extents";
    }
    for (std::size_t at = 0; at < made.size() && wrong.str().empty(); ++at) {
        const number& right = expected.numbers[at];
        const bool is_right = expected.bounds.empty() ? made[at] == right
                                                      : std::isinf(expected.bounds[at]) ||
                                                            magnitude(as({'c', 32}, made[at]) - as({'c', 32}, right)) <=
                                                                expected.bounds[at];
        if (!is_right) {
            wrong << "element " << at << " is " << made[at] << ", not " << right;
        }
    }
    return wrong.str();
}

/// Checks elements of one spelling.
template <class Elements>
void check_elements(const std::string& spelling, const Elements& elements, const expectation& expected) {
    const std::vector<index> extents{elements.extents().begin(), elements.extents().end()};
    const std::string wrong = difference_of(extents, numbers_of(elements), expected);
    CHECK_MESSAGE(wrong.empty(), spelling, ": ", wrong);
}

/// An einsum by plain loops: labels are letters.
struct letters {
    std::vector<std::string> operands;
    std::string output;

    /// Of "ij,jk->ik".
    explicit letters(const std::string& text) : operands(1), output(text.substr(text.find("->") + 2)) {
        for (const char each : text.substr(0, text.find("->"))) {
            if (each == ',') {
                operands.emplace_back();
            } else {
                operands.back() += each;
            }
        }
    }
    [[nodiscard]] std::string text() const {
        std::string made;
        for (const std::string& each : operands) {
            made += (made.empty() && &each == &operands.front() ? "" : ",") + each;
        }
        return made + "->" + output;
    }
    /// Every label once, those of the output first.
    [[nodiscard]] std::string labels() const {
        std::string made = output;
        for (const std::string& each : operands) {
            for (const char label : each) {
                made += made.find(label) == std::string::npos ? std::string(1, label) : "";
            }
        }
        return made;
    }
};

/// The einsum in a type. @param extents  of 'a', 'b', …  @param is_rough  within (n + 3) ε Σ |terms| of what it is
inline expectation einsum_in(element_type type, const letters& said, const std::array<index, 26>& extents,
                             const std::vector<std::vector<number>>& operands, bool is_rough) {
    const auto extent_of = [&](char label) { return extents[static_cast<std::size_t>(label - 'a')]; };
    const std::string labels = said.labels();
    std::vector<index> all;
    std::transform(labels.begin(), labels.end(), std::back_inserter(all), extent_of);
    expectation made{{all.begin(), all.begin() + static_cast<std::ptrdiff_t>(said.output.size())}, {}};
    const auto count = static_cast<std::size_t>(detail::element_count(made.extents));
    const element_type exact = is_rough ? unrounded(type) : type;
    made.numbers.assign(count, as(exact, number_of(false)));
    std::vector<long double> sizes(count, 0);
    std::vector<std::vector<number>> read = operands;
    for (std::vector<number>& each : read) {
        std::transform(each.begin(), each.end(), each.begin(), [&](const number& x) { return as(exact, x); });
    }
    const auto place = [&](const std::string& own, const std::vector<index>& at) {
        index made_place = 0;
        for (const char label : own) {
            made_place = made_place * extent_of(label) + at[labels.find(label)];
        }
        return static_cast<std::size_t>(made_place);
    };
    for_each_place(all, [&](const std::vector<index>& at) {
        number product = read[0][place(said.operands[0], at)];
        for (std::size_t operand = 1; operand < read.size(); ++operand) {
            product = product * read[operand][place(said.operands[operand], at)];
        }
        const std::size_t into = place(said.output, at);
        made.numbers[into] = made.numbers[into] + product;
        sizes[into] += magnitude(product);
    });
    if (is_rough && !is_integer(type)) {
        const std::size_t bytes = type.kind == 'c' ? type.bytes / 2 : type.bytes;
        const long double epsilon = bytes == 4 ? std::numeric_limits<float>::epsilon()
                                               : static_cast<long double>(std::numeric_limits<double>::epsilon());
        const auto terms = static_cast<long double>(detail::element_count(all)) /
                           static_cast<long double>(std::max<std::size_t>(count, 1));
        for (const long double size : sizes) {
            made.bounds.push_back((terms + 3) * epsilon * size);
        }
    }
    return made;
}

}  // namespace einparallel::testing
