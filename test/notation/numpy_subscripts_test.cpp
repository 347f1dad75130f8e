// numpy.einsum's language, read at compile time.

#include <einparallel/notation/einsum_spec.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace subscripts_test {

namespace ep = einparallel;

namespace {

template <ep::subscripts Text, std::size_t... Ranks>
std::string output() {
    constexpr auto& table = ep::detail::subscript_table_of<Text, Ranks...>;
    static_assert(table.problem == ep::detail::subscript_problem::none);
    std::string names;
    for (std::size_t at = 0; at < table.output_rank; ++at) {
        names += std::string(at > 0 ? " " : "") +
                 std::string(table.names[static_cast<std::size_t>(table.output[at])].view());
    }
    return names;
}

template <ep::subscripts Text, std::size_t... Ranks>
constexpr auto problem = ep::detail::subscript_table_of<Text, Ranks...>.problem;

}  // namespace

TEST_CASE("explicit output") {
    CHECK(output<"ij,jk->ik", 2, 2>() == "i k");
    CHECK(output<" i j , j k -> k i ", 2, 2>() == "k i");
    CHECK(output<"ij->", 2>().empty());
    CHECK(output<"->", 0>().empty());
    CHECK(output<"ii->i", 2>() == "i");
}

TEST_CASE("implicit output: labels that stand once, in the order of their characters, behind the ellipsis") {
    CHECK(output<"ij,jk", 2, 2>() == "i k");
    CHECK(output<"ba", 2>() == "a b");
    CHECK(output<"zB", 2>() == "B z");
    CHECK(output<"ii", 2>().empty());
    CHECK(output<"", 0>().empty());
    CHECK(output<"b...a", 4>() == "...1 ...0 a b");
    CHECK(output<",", 0, 0>().empty());
}

TEST_CASE("an ellipsis is counted from the last dimension, and may stand for none") {
    CHECK(output<"...ij,...jk->...ik", 4, 3>() == "...1 ...0 i k");
    CHECK(output<"...ij,...jk->...ik", 2, 2>() == "i k");
    CHECK(output<"...,...->...", 1, 3>() == "...2 ...1 ...0");
}

TEST_CASE("labels are characters of Unicode") {
    CHECK(output<"αβ,βγ", 2, 2>() == "α γ");
    CHECK(output<"日本,本k->k日", 2, 2>() == "k 日");
}

TEST_CASE("mistakes") {
    using ep::detail::subscript_problem;
    static_assert(problem<"i1,1k->ik", 2, 2> == subscript_problem::character);
    static_assert(problem<"i-j", 2> == subscript_problem::arrow);
    static_assert(problem<"ij->i->j", 2> == subscript_problem::arrow);
    static_assert(problem<"ij->i,j", 2> == subscript_problem::arrow);
    static_assert(problem<"..ij->ij", 4> == subscript_problem::dots);
    static_assert(problem<"...i...->i", 4> == subscript_problem::dots);
    static_assert(problem<"ij->ij", 2, 2> == subscript_problem::operand_count_more);
    static_assert(problem<"ij,jk->ik", 2> == subscript_problem::operand_count_less);
    static_assert(problem<"ijk->ijk", 2> == subscript_problem::rank);
    static_assert(problem<"i->i", 2> == subscript_problem::rank);
    static_assert(problem<"...ijk->...ijk", 2> == subscript_problem::ellipsis_rank);
    static_assert(problem<"...i->i", 2> == subscript_problem::ellipsis_output);
    static_assert(problem<"...i->i", 1> == subscript_problem::none);
    static_assert(problem<"ij->ik", 2> == subscript_problem::output_unknown);
    static_assert(problem<"ij->ii", 2> == subscript_problem::output_repeated);
    static_assert(problem<"ij->ijij", 2> == subscript_problem::output_repeated);
    static_assert(problem<"[i, ]->i", 2> == subscript_problem::function);
    static_assert(problem<"[i->i", 1> == subscript_problem::function);
    static_assert(problem<"i]->i", 2> == subscript_problem::function);
    static_assert(problem<"[i, j->i", 2> == subscript_problem::function);
    static_assert(problem<"2i->i", 2> == subscript_problem::character);
    static_assert(problem<"[i r]->i", 1> == subscript_problem::function);
    static_assert(problem<"[i, i*r]->i", 2> == subscript_problem::function);
    static_assert(problem<"[i, 9223372036854775808]->i", 2> == subscript_problem::function);
    static_assert(problem<"[4611686018427387904*2*i]->i", 1> == subscript_problem::function);
    static_assert(problem<"i->[i + 1]", 1> == subscript_problem::output_function);
    CHECK(true);
}

TEST_CASE("functions of labels, bare with '+' and '*', or in brackets") {
    using ep::detail::subscript_problem;
    constexpr const auto& table = ep::detail::subscript_table_of<"...2*i+rj,[3 - r*2, i + i]->...ij", 4, 2>;
    static_assert(table.problem == subscript_problem::none);
    static_assert(table.dimension_count == 6 && table.function_count == 3);
    static_assert(table.dimensions[2] == ep::no_label && table.dimensions[3] == table.output[3]);
    static_assert(table.terms[2].coefficient == -2 && table.functions[1].constant == 3);
    static_assert(table.terms[3].coefficient == 2 && table.functions[2].dimension == 5);
    CHECK(output<"[i + r, 0],[r]", 2, 1>() == "i");
    CHECK(output<"[ ],[i ]", 0, 1>() == "i");
    CHECK(output<"[i, j]->[j, i]", 2>() == "j i");
}

TEST_CASE("a specification's classes and run-time form") {
    using spec = ep::einsum_spec<"cmkx,cnky->cmn">;
    static_assert(spec::label_class<"c">() == ep::label_class::c);
    static_assert(spec::label_class<"m">() == ep::label_class::m);
    static_assert(spec::label_class<"n">() == ep::label_class::n);
    static_assert(spec::label_class<"k">() == ep::label_class::k);
    static_assert(spec::label_class<"x">() == ep::label_class::x_only);
    static_assert(spec::label_class<"y">() == ep::label_class::y_only);
    static_assert(spec::labels == 6 && spec::output_rank == 3 && spec::operands == 2);
    const ep::einsum_form form = spec::form();
    CHECK(form.text() == "cmkx,cnky->cmn");
    CHECK(form.class_of(3) == ep::label_class::x_only);
    const ep::einsum_form long_names{{"head", "s"}, {{0, 1}}, {1}};
    CHECK(long_names.text() == "head s->s");
}

}  // namespace subscripts_test
