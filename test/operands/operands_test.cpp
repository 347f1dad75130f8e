// Operands of arrays, and what those of tensors are compared with.

#include "operands.hpp"

namespace operands {

int check_tensors(ep::context& world, std::map<std::string, numbers>& expected);

TEST_CASE("every kind of operand in every function") {
    ep::context world(MPI_COMM_WORLD);
    std::map<std::string, numbers> expected;
    const int of_arrays_checked = check_operands(of_arrays{world}, expected);
    const int forms = int(expected.size());
    CHECK(forms == 38);
    CHECK(of_arrays_checked == 7 * forms);
    CHECK(check_tensors(world, expected) == 3 * forms);
}

}  // namespace operands
