// Products of elements of 8 bits and all types, in every spelling.

#include "spelling_pairs.hpp"

TEST_CASE("products of float8 are the same in every spelling") {
    spelling_test::try_cases(spelling_test::pairs_of<15, 2>, 3015, 340, 40);
}
