// Products of bool and signed integers and all types, in every spelling.

#include "spelling_pairs.hpp"

TEST_CASE("products of bool and signed integers are the same in every spelling") {
    spelling_test::try_cases(spelling_test::pairs_of<0, 5>, 3000, 850, 100);
}
