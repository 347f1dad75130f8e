// ep::array as memory: where it begins, and where AddressSanitizer says that it ends.

#include <einparallel/array/array.hpp>
#include <einparallel/array/einsum.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace array_test {

#if defined(__GNUC__) && defined(__ELF__)
extern "C" int address_is_forbidden(const volatile void* place) __asm__("__asan_address_is_poisoned")
    __attribute__((weak));
#endif

namespace ep = einparallel;

TEST_CASE("what einsum returns has a size that can be counted") {
    const double one = 1;
    for (const int power : {31, 32, 40}) {
        CAPTURE(power);
        const ep::view<const double, 1> wide(&one, {ep::index{1} << power}, {ep::index{0}});
        CHECK_THROWS_WITH_AS((ep::einsum<"i,j->ij">(wide, wide)), doctest::Contains("extents make more than"),
                             ep::error);
    }
}

TEST_CASE("memory that an array gave back is given to the next one of this size, with zeros") {
    for (const ep::index size : {ep::index{100}, ep::index{10000}, ep::index{200000}, ep::index{400000}}) {
        const void* before = nullptr;
        for (int round = 0; round < 12; ++round) {
            CAPTURE(size);
            ep::array<double, 1> made({size});
            CHECK(std::all_of(made.data(), made.data() + size, [](double value) { return value == 0; }));
            std::fill_n(made.data(), size, 7.0);
            if (round > 0 && (size == 10000 || size == 200000)) {  // 80 kB and 1.6 MB are kept by this thread
                CHECK(made.data() == before);
            }
            before = made.data();
            const ep::array<double, 1> other({size + round});  // a size of its own: never the same memory
            CHECK(other.data() != made.data());
        }
    }
    static ep::array<double, 1> whole_program({20000});  // it is freed after what this thread keeps
    whole_program.data()[0] = 1;
}

TEST_CASE_TEMPLATE("an array begins with a cache line, and nothing beside it may be touched", T, float, double, char) {
    std::vector<ep::array<T, 1>> kept;
    for (ep::index count = 0; count < 70; ++count) {
        CAPTURE(count);
        ep::array<T, 1> made({count});
        REQUIRE(made.size() == count);
        CHECK(reinterpret_cast<std::uintptr_t>(made.data()) % 64 == 0);
        for (ep::index at = 0; at < count; ++at) {
            CHECK(made(at) == T(0));
            made(at) = static_cast<T>(at);
        }
#if defined(__GNUC__) && defined(__ELF__)
        if (auto* const forbidden = &address_is_forbidden; forbidden != nullptr) {
            CHECK(forbidden(made.data() - 1) != 0);
            CHECK((count == 0 || forbidden(made.data()) == 0));
            CHECK((count == 0 || forbidden(made.data() + count - 1) == 0));
            CHECK(forbidden(made.data() + count) != 0);
        }
#endif
        kept.push_back(std::move(made));
    }
    for (ep::index count = 0; count < 70; ++count) {
        const auto& one = kept[static_cast<std::size_t>(count)];
        CHECK((count == 0 || one(count - 1) == static_cast<T>(count - 1)));
    }
    kept.clear();
    const ep::array<T, 1> again({5});
    CHECK(again(4) == T(0));
}

}  // namespace array_test
