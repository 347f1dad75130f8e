// Einsums of one operand into every type that holds it, and of three, in every spelling.

#include "spelling_pairs.hpp"

namespace spelling_test {

namespace {

template <std::size_t Number>
constexpr run_case one_case() {
    using forms = std::tuple<transposition, sum_of_columns, trace>;
    using in = nth_type<Number>;
    using out = typename decltype(drawn_output<Number / 15 * 4 + Number, in>())::type;
    return &product_case<Number % 2 == 0, std::tuple_element_t<Number / 2 % 3, forms>, out, in>::run;
}
template <std::size_t Number>
constexpr run_case three_case() {
    using forms = std::tuple<chain, weighted_product, elementwise_product>;
    using a = nth_type<Number>;
    using b = nth_type<Number / 15 * 4 + 7 * Number + 2>;
    using c = nth_type<11 * Number + 5>;
    using out = typename decltype(drawn_output<Number + 1, a, b, c>())::type;
    return &product_case<Number % 2 == 0, std::tuple_element_t<Number / 2 % 3, forms>, out, a, b, c>::run;
}
template <std::size_t... Number>
constexpr auto all_cases(std::index_sequence<Number...> /*cases*/) {
    return std::array{one_case<every * Number>()..., three_case<every * Number>()...};
}

}  // namespace

TEST_CASE("einsums of one operand and of three are the same in every spelling") {
    constexpr auto cases = all_cases(std::make_index_sequence<45 / every>());
    try_cases(cases, 3020, 360, 60);
}

}  // namespace spelling_test
