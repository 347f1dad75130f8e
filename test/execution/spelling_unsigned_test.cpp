// Products of unsigned integers and float and all types, in every spelling.

#include "spelling_pairs.hpp"

TEST_CASE("products of unsigned integers and float are the same in every spelling") {
    spelling_test::try_cases(spelling_test::pairs_of<5, 5>, 3005, 850, 100);
}
