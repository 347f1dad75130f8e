// The progress hook: called between blocks of every kind of contraction, without a trace in the results.

#include <einparallel/kernel/contraction_decision.hpp>
#include <einparallel/kernel/progress.hpp>

#include <support/kernels.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace progress_test {

namespace {

namespace ep = einparallel;
using ep::index;
using ep::label_id;

/// Labels by letter, dense row-major tensors.
struct dense_call {
    std::string x, y, z;
    std::vector<index> extents;  ///< of a, b, c, …
};

template <class T>
struct dense_tensor {
    dense_tensor(const dense_call& of, const std::string& letters) {
        index size = 1;
        for (std::size_t at = letters.size(); at-- > 0;) {
            labels.insert(labels.begin(), static_cast<label_id>(letters[at] - 'a'));
            strides.insert(strides.begin(), size);
            size *= of.extents[static_cast<std::size_t>(letters[at] - 'a')];
        }
        elements.resize(static_cast<std::size_t>(size));
        for (std::size_t at = 0; at < elements.size(); ++at) {
            elements[at] = static_cast<T>(1.0F / (1.0F + static_cast<float>((at * 7 + at / 13) % 101)));
        }
    }

    std::vector<label_id> labels;
    std::vector<index> strides;
    std::vector<T> elements;
};

/// Runs a kernel on dense tensors under a hook.
template <class T>
struct hooked {
    explicit hooked(const dense_call& of) : call(of), x(of, of.x), y(of, of.y), z(of, of.z) {}

    std::vector<T> run(const ep::kernel& work, ep::write_mode mode, ep::progress_hook* hook) {
        const std::vector<ep::strided_block> operands{{x.elements.data(), x.labels, x.strides},
                                                      {y.elements.data(), y.labels, y.strides}};
        const std::vector<T> before = z.elements;
        const ep::block_call made{call.extents, operands, {z.elements.data(), z.labels, z.strides}, mode, hook};
        way = ep::decide(made, ep::element_type_of<T>()).way;
        try {
            work.contract(made);
        } catch (...) {
            z.elements = before;
            throw;
        }
        std::vector<T> result = z.elements;
        z.elements = before;
        return result;
    }

    [[nodiscard]] double points() const {
        double product = 1;
        for (const index extent : call.extents) {
            product *= static_cast<double>(extent);
        }
        return product;
    }

    const dense_call call;
    dense_tensor<T> x, y, z;
    ep::contraction_way way = ep::contraction_way::nothing;
};

/// The same bits with a hook that is never done, one that is done at its third call, and none; at least a call per
/// `units` intervals; and a hook that throws is heard.
template <class T>
void check(const dense_call& of, const ep::kernel& work, double units) {
    CAPTURE(of.x);
    CAPTURE(of.y);
    CAPTURE(of.z);
    hooked<T> tensors(of);
    for (const ep::write_mode mode : {ep::write_mode::overwrite, ep::write_mode::combine}) {
        const std::vector<T> expected = tensors.run(work, mode, nullptr);
        int calls = 0;
        const auto never_done = [&] {
            ++calls;
            return false;
        };
        ep::progress_hook hook(never_done);
        CHECK(tensors.run(work, mode, &hook) == expected);
        CHECK(calls >= tensors.points() / (units * static_cast<double>(ep::progress_hook::interval)) - 1);
        REQUIRE(calls >= 3);

        calls = 0;
        const auto done_soon = [&] { return ++calls == 3; };
        ep::progress_hook short_lived(done_soon);
        CHECK(tensors.run(work, mode, &short_lived) == expected);
        CHECK(calls == 3);

        calls = 0;
        const auto throws = [&]() -> bool { throw std::runtime_error("hook"); };
        ep::progress_hook throwing(throws);
        CHECK_THROWS_AS(tensors.run(work, mode, &throwing), std::runtime_error);
        CHECK(tensors.run(work, mode, nullptr) == expected);
    }
}

template <class T>
void check_product(const dense_call& of, ep::contraction_way way, double units = 4) {
    CAPTURE(sizeof(T));
    hooked<T> tensors(of);
    const ep::testing::product_kernel<T> work(T(1), 2);
    static_cast<void>(tensors.run(work, ep::write_mode::overwrite, nullptr));
    CHECK(tensors.way == way);
    check<T>(of, work, units);
}

struct largest {
    template <class T>
    static constexpr T identity() {
        return std::numeric_limits<T>::lowest();
    }
    template <class T>
    T operator()(T a, T b) const {
        return a < b ? b : a;
    }
};
struct apart {
    template <class T>
    T operator()(T a, T b) const {
        return a < b ? static_cast<T>(b - a) : static_cast<T>(a - b);
    }
};

}  // namespace

TEST_CASE("products of every kind report as they go, and compute the same bits") {
    using way = ep::contraction_way;
    // packed: squares, several labels per index, a batch
    check_product<double>({"ab", "bc", "ac", {300, 200, 260}}, way::packed_product);
    check_product<float>({"ba", "cb", "ac", {301, 199, 263}}, way::packed_product, 8);
    check_product<std::complex<float>>({"ab", "bc", "ac", {120, 90, 260}}, way::packed_product);
    check_product<std::int32_t>({"ab", "bc", "ac", {220, 90, 160}}, way::packed_product);
    check_product<double>({"dab", "dbc", "dac", {100, 90, 110, 6}}, way::packed_product);
    // packed or in panels, as the processor has it
    check<double>({"abc", "cbd", "dab", {20, 17, 40, 150}}, ep::testing::product_kernel<double>(1, 2), 4);
    check<double>({"ab", "bc", "ac", {9000, 100, 32}}, ep::testing::product_kernel<double>(1, 2), 16);
    check<double>({"ab", "bc", "ac", {24, 60000, 24}}, ep::testing::product_kernel<double>(1, 2), 4);
    check<float>({"ba", "cb", "ca", {9000, 40, 5}}, ep::testing::product_kernel<float>(1, 2), 4);
    // summed first over a label of one operand
    check_product<double>({"abd", "bc", "ac", {200, 110, 100, 9}}, way::packed_product, 16);
    check_product<double>({"dab", "dbc", "dac", {16, 16, 16, 1000}}, way::small_products);
    check_product<float>({"dab", "dbc", "dac", {8, 8, 8, 9000}}, way::small_products);
    check_product<double>({"abd", "bcd", "acd", {16, 16, 16, 1000}}, way::panels);
    check_product<std::complex<double>>({"abd", "dbc", "dac", {4, 4, 4, 20000}}, way::panels);
    check_product<std::int32_t>({"ab", "cb", "ca", {6, 90000, 5}}, way::panels);
    check_product<double>({"ab", "a", "b", {1500, 1200}}, way::rows);
    check_product<double>({"a", "b", "ab", {1500, 1200}}, way::elementwise);
    check_product<double>({"ab", "cb", "ac", {1, 90000, 40}}, way::dots);
    check_product<double>({"ab", "ab", "a", {3, 900000}}, way::dots);
    check_product<float>({"ab", "ab", "ab", {1700, 1200}}, way::elementwise);
    check_product<double>({"ab", "b", "ab", {2, 1200000}}, way::elementwise);
    check_product<double>({"acb", "acb", "bac", {90, 50, 300}}, way::rows);
    check_product<double>({"ba", "ba", "a", {1500, 1200}}, way::rows);
}

TEST_CASE("joins report as they go, in tiles and by rows") {
    const ep::testing::join_kernel<double, largest, apart, double, double> work(largest{}, apart{});
    check<double>({"ab", "bc", "ac", {200, 210, 160}}, work, 4);
    check<double>({"ab", "ab", "a", {1200, 1100}}, work, 4);
    check<double>({"ab", "ab", "b", {1200, 1100}}, work, 4);
    check<double>({"ab", "ba", "ab", {1200, 1100}}, work, 4);
    check<double>({"a", "a", "", {3000000}}, work, 8);
}

TEST_CASE("little work calls nothing") {
    int calls = 0;
    const auto count = [&] {
        ++calls;
        return false;
    };
    ep::progress_hook hook(count);
    hooked<double> tensors({"ab", "bc", "ac", {20, 30, 40}});
    static_cast<void>(tensors.run(ep::testing::product_kernel<double>(1, 2), ep::write_mode::overwrite, &hook));
    CHECK(calls == 0);
}

}  // namespace progress_test
