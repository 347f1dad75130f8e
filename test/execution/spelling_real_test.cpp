// Products of double, complex numbers and halves and all types, in every spelling.

#include "spelling_pairs.hpp"

TEST_CASE("products of double, complex numbers and halves are the same in every spelling") {
    spelling_test::try_cases(spelling_test::pairs_of<10, 5>, 3010, 850, 100);
}
