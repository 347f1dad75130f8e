// Products of double, complex numbers and halves and all types, in every spelling.

#include "spelling_pairs.hpp"

TEST_CASE("products of double, complex numbers and halves are the same in every spelling") {
    spelling_test::try_cases(spelling_test::pairs_of_five<10>, 3010, 750, 100);
}
