// A product compiled with wider instructions than the rest of the program; see units_test.cpp.

#include "units.hpp"

void kernel_test::multiply_elsewhere(const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& c,
                                     einparallel::index n) {
    multiply(a, b, c, n);
}
