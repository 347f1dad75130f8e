// The constants of the time model, in words.

#include <einparallel/plan/words.hpp>

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
          "2.00us per message, 10.0GB/s, 50.0Gflop/s, 10.0% of the shorter of arithmetic and transfer exposed");
    CHECK(
        text_of(
            {.seconds_per_message = 3.1e-7, .seconds_per_byte = 1 / 1.25e6, .seconds_per_flop = 1e-2, .exposed = 1}) ==
        "310ns per message, 1.25MB/s, 100flop/s, 100% of the shorter of arithmetic and transfer exposed");
    CHECK(text_of({.seconds_per_message = 0, .seconds_per_byte = 0, .seconds_per_flop = 1e-300, .exposed = 0}) ==
          "0s per message, unlimited B/s, 1000Eflop/s, 0.00% of the shorter of arithmetic and transfer exposed");
}

}  // namespace machine_test
