// Two units of one program, compiled for different processors, contract alike: kernels are chosen at run time, and what
// differs between instruction sets differs in its name.

#include "units.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

TEST_CASE("units compiled for different processors link and agree") {
    for (const einparallel::index n : {2, 3, 17, 64, 301}) {
        const auto size = static_cast<std::size_t>(n * n);
        std::vector<double> a(size), b(size), here(size), there(size);
        for (std::size_t at = 0; at < size; ++at) {
            a[at] = static_cast<double>(at % 11) - 5;
            b[at] = static_cast<double>(at % 7) - 3;
        }
        kernel_test::multiply(a, b, here, n);
        kernel_test::multiply_elsewhere(a, b, there, n);
        CHECK(here == there);
        std::vector<double> expected(size, 0.0);
        const auto side = static_cast<std::size_t>(n);
        for (std::size_t i = 0; i < side; ++i) {
            for (std::size_t j = 0; j < side; ++j) {
                for (std::size_t k = 0; k < side; ++k) {
                    expected[i * side + k] += a[i * side + j] * b[j * side + k];
                }
            }
        }
        CHECK(here == expected);
    }
}
