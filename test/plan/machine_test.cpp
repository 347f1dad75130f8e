// The constants of the time model, in words.

#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/names.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>

namespace ep = einparallel;

namespace machine_test {

namespace {

std::string text_of(const ep::machine& shown) {
    std::ostringstream stream;
    stream << shown;
    return stream.str();
}

}  // namespace

TEST_CASE("constants as rates, and what takes no time") {
    CHECK(text_of({}) ==
          "2.00us per message, 10.0GB/s, 50.0Gflop/s, 24.0 flop in the time of a copied element, 10.0% of the shorter "
          "of arithmetic and transfer exposed");
    CHECK(
        text_of(
            {.seconds_per_message = 3.1e-7, .seconds_per_byte = 1 / 1.25e6, .seconds_per_flop = 1e-2, .exposed = 1}) ==
        "310ns per message, 1.25MB/s, 100flop/s, 24.0 flop in the time of a copied element, 100% of the shorter of "
        "arithmetic and transfer exposed");
    CHECK(text_of({.seconds_per_message = 0, .seconds_per_byte = 0, .seconds_per_flop = 1e-300, .exposed = 0}) ==
          "0s per message, unlimited B/s, 1000Eflop/s, 24.0 flop in the time of a copied element, 0.00% of the shorter "
          "of arithmetic and transfer exposed");
}

TEST_CASE("a device's constants price its plans by the same formulas") {
    CHECK(
        text_of(ep::machine::h200) ==
        "10.0us per message, 10.0GB/s, 67.0Tflop/s, 223 flop in the time of a copied element, 10.0% of the shorter of "
        "arithmetic and transfer exposed");
    const ep::tensor<double, 2> A = ep::placeholder<double>({4096, 4096});
    const ep::tensor<double, 2> Z = ep::einsum<"ij,jk->ik">(A, A);
    const auto seconds = [&](int ranks, const ep::machine& constants) {
        return ep::decompose({.processes = ranks, .objective = ep::objective::bytes, .machine = constants}, Z)
            .seconds();
    };
    CHECK(seconds(1, ep::machine::h200) == doctest::Approx(2 * 4096.0 * 4096 * 4096 / 67e12));
    // Two ranks of a host hide the transfer of half an operand behind their arithmetic; two devices on its network do
    // not.
    CHECK(seconds(2, {}) < 0.55 * seconds(1, {}));
    CHECK(seconds(2, ep::machine::h200) > 4096.0 * 4096 / 2 * 8 * ep::machine::h200.seconds_per_byte);
    ep::machine touched = ep::machine::h200;
    touched.operations_per_touch *= 2;
    CHECK(seconds(4, touched) > seconds(4, ep::machine::h200));
}

}  // namespace machine_test
