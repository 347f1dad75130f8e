// Operands of recorded tensors.

#include "operands.hpp"

namespace operands {

int check_tensors(ep::context& world, std::map<std::string, numbers>& expected);

int check_tensors(ep::context& world, std::map<std::string, numbers>& expected) {
    return check_operands(of_tensors{world}, expected);
}

}  // namespace operands
