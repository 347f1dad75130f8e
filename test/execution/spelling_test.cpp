// Einsums of which labels, types and spelling are known at run time only: strings, networks and ep::unranked, of views
// and of tensors.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include "spelling_runs.hpp"

#include <support/long_suite.hpp>
#include <support/spelled.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace spelling_test {

namespace ep = einparallel;
using ep::index;
using namespace ep::testing;

namespace {

const auto all_types = []<class... Half, class... T>(ep::detail::type_list<Half...> /*halves*/,
                                                     ep::detail::type_list<T...> /*others*/) {
    return std::array{ep::element_type_of<Half>()..., ep::element_type_of<T>()...};
}(ep::detail::half_elements(), ep::detail::whole_elements());
ep::element_type drawn_type(std::mt19937& random) {
    return all_types[random() % all_types.size()];
}
/// visit(std::type_identity<T>()) for a type that a network may have.
void with_computed(ep::element_type type, const auto& visit) {
    ep::detail::with_element(type, [&]<class T>(std::type_identity<T> identity) {
        if constexpr (!ep::detail::is_half<T>) {
            visit(identity);
        }
    });
}

/// A matrix of some type, and the tensor that it is on ranks.
struct operand {
    virtual ~operand() = default;
    [[nodiscard]] virtual std::vector<number> numbers() const = 0;
    [[nodiscard]] virtual ep::element_type type() const = 0;
};
template <class A>
struct operand_of final : operand {
    laid_out<A, 2> memory;
    ep::tensor<A, 2> tensor;

    operand_of(ep::context& world, const std::array<index, 2>& extents, std::mt19937& random, draw how)
        : memory(drawn_operand<A, 2>(extents, random, how)),
          tensor(ep::from_root(std::as_const(memory).elements(),
                               static_cast<int>(random() % static_cast<unsigned>(world.size())))) {}
    [[nodiscard]] std::vector<number> numbers() const override { return numbers_of(memory.elements()); }
    [[nodiscard]] ep::element_type type() const override { return ep::element_type_of<A>(); }
};

/// Calls visit(operand) for the type that it is of, where a network of T takes it.
template <class T>
void with_operand(const operand& given, const auto& visit) {
    ep::detail::with_element(given.type(), [&]<class A>(std::type_identity<A>) {
        if constexpr (std::is_same_v<ep::detail::arithmetic_t<A, T>, T>) {
            visit(static_cast<const operand_of<A>&>(given));
        }
    });
}

/// One einsum that is drawn.
struct drawn_einsum {
    letters said;
    std::array<index, 26> extents{};
    std::vector<std::unique_ptr<operand>> operands;
    ep::element_type common{'b', 1}, output;
    bool is_rough;
    expectation expected, expected_alone;

    /// Of matrices whose dimensions have any labels; the result has up to three.
    drawn_einsum(ep::context& world, std::mt19937& random, std::size_t number, bool rough)
        : said("->"), is_rough(rough) {
        std::generate(extents.begin(), extents.end(), [&] { return drawn_extent(random); });
        const std::size_t count = 1 + random() % 3;
        std::array<ep::element_type, 3> types{all_types[number % all_types.size()],
                                              all_types[number / all_types.size() % all_types.size()],
                                              drawn_type(random)};
        for (std::size_t each = 0; each < count; ++each) {
            common = common_type(common, types[each]);
        }
        // What is assigned to holds the others' values.
        do {
            output = drawn_type(random);
        } while (is_integer(output) && !is_integer(common));
        output = common_type(common, output);
        said.operands.assign(count, "");
        for (std::string& labels : said.operands) {
            labels = {letter(random), letter(random)};
        }
        std::string left = said.labels();
        std::shuffle(left.begin(), left.end(), random);
        said.output = left.substr(0, random() % (std::min<std::size_t>(left.size(), 3) + 1));
        const draw how = is_rough ? draw::rough : exact_draw(output);
        std::vector<std::vector<testing_number>> numbers;
        for (std::size_t each = 0; each < count; ++each) {
            ep::detail::with_element(types[each], [&]<class A>(std::type_identity<A>) {
                const std::string& labels = said.operands[each];
                operands.push_back(std::make_unique<operand_of<A>>(
                    world, std::array{extent_of(labels[0]), extent_of(labels[1])}, random, how));
            });
            numbers.push_back(operands.back()->numbers());
        }
        expected = einsum_in(output, said, extents, numbers, is_rough);
        expected_alone = einsum_in(common, said, extents, numbers, is_rough);
    }

private:
    using testing_number = ep::testing::number;
    static char letter(std::mt19937& random) { return static_cast<char>('a' + random() % 5); }
    [[nodiscard]] index extent_of(char label) const { return extents[static_cast<std::size_t>(label - 'a')]; }
};

/// An ep::unranked as what can be compared.
template <class T>
ep::view<const T, 1> elements_of(const ep::unranked<T>& made) {
    return {made.data(), {made.size()}};
}
/// The same expectation of one dimension.
expectation flat(expectation expected) {
    expected.extents = {ep::detail::element_count(expected.extents)};
    return expected;
}

template <class T>
void try_network(ep::context& world, const drawn_einsum& drawn) {
    ep::network<T> at_once, recorded;
    for (std::size_t each = 0; each < drawn.operands.size(); ++each) {
        const std::string& labels = drawn.said.operands[each];
        with_operand<T>(*drawn.operands[each], [&](const auto& given) {
            at_once.add(given.memory.elements(), labels);
            recorded.add(given.tensor, labels);
        });
    }
    const ep::unranked<T> made = at_once.result(drawn.said.output);
    CHECK(made.extents() == drawn.expected.extents);
    check_elements("a network", elements_of(made), flat(drawn.expected));
    const ep::unranked<T> on_ranks = recorded.result(drawn.said.output);
    const auto check = [&]<std::size_t Rank>(const ep::tensor<T, Rank>& tensor) {
        check_runs("a network", world, {}, tensor, drawn.expected);
    };
    switch (drawn.said.output.size()) {
        case 0:
            check(ep::tensor<T, 0>(on_ranks));
            break;
        case 1:
            check(ep::tensor<T, 1>(on_ranks));
            break;
        case 2:
            check(ep::tensor<T, 2>(on_ranks));
            break;
        default:
            check(ep::tensor<T, 3>(on_ranks));
    }
}

/// Operands whose elements are of the common type already.
template <class T>
void try_unranked(const drawn_einsum& drawn) {
    std::vector<ep::unranked<T>> given;
    for (std::size_t each = 0; each < drawn.operands.size(); ++each) {
        with_operand<T>(*drawn.operands[each], [&](const auto& of_type) {
            const auto read = of_type.memory.elements();
            ep::unranked<T>& made = given.emplace_back(std::vector<index>{read.extent(0), read.extent(1)});
            ep::view<T, 2> into(made.data(), {read.extent(0), read.extent(1)});
            EINPARALLEL_LABELS(a, b);
            into(a, b) = read(a, b);
        });
    }
    const std::string text = drawn.said.text();
    const auto check = [&](const auto&... operands) {
        const ep::unranked<T> made = ep::einsum(text, operands...);
        CHECK(made.extents() == drawn.expected_alone.extents);
        check_elements("einsum() of ep::unranked", elements_of(made), flat(drawn.expected_alone));
    };
    switch (given.size()) {
        case 1:
            check(given[0]);
            break;
        case 2:
            check(given[0], given[1]);
            break;
        default:
            check(given[0], given[1], given[2]);
    }
}

/// Products of two views of the types that they are of.
void try_views(const drawn_einsum& drawn) {
    if (drawn.operands.size() != 2) {
        return;
    }
    ep::detail::with_element(drawn.operands[0]->type(), [&]<class A>(std::type_identity<A>) {
        ep::detail::with_element(drawn.operands[1]->type(), [&]<class B>(std::type_identity<B>) {
            const auto made =
                ep::einsum(drawn.said.text(), static_cast<const operand_of<A>&>(*drawn.operands[0]).memory.elements(),
                           static_cast<const operand_of<B>&>(*drawn.operands[1]).memory.elements());
            check_elements("einsum() of views", elements_of(made), flat(drawn.expected_alone));
        });
    });
}

void try_einsums(int exact, int rough) {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 random(3050);
    for (int time = 0; time < exact + rough; ++time) {
        const drawn_einsum drawn(world, random, static_cast<std::size_t>(time) * 7, time >= exact);
        INFO(time, ": ", drawn.said.text(), " by ", ep::detail::name_of_element(drawn.output));
        try_views(drawn);
        with_computed(drawn.common, [&]<class T>(std::type_identity<T>) { try_unranked<T>(drawn); });
        with_computed(drawn.output, [&]<class T>(std::type_identity<T>) { try_network<T>(world, drawn); });
    }
}

}  // namespace

TEST_CASE("einsums of any labels and types, known at run time, are the same in every spelling") {
    try_einsums(tried_cases(900), tried_cases(240));
}

}  // namespace spelling_test
