// Blocks of a select against loops: of the labels that tokens choose a block holds some places only.

#include <einparallel/kernel/work/select.hpp>

#include <support/sentence_of.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace select_test {

namespace {

namespace ep = einparallel;
using ep::index;
using ep::label_id;
using ep::write_mode;
using ep::detail::data_index;

/// Labels i, d and v, the place along v that token[i] names; all extents of a block, and its first place.
struct block {
    std::array<index, 3> extents;
    index first;
    std::vector<int> token;

    /// Z[i, d] or Z[v, d], of X[v, d] or X[i, d].
    void run(std::vector<double>& z, const std::vector<double>& x, bool gathers, write_mode mode, index whole,
             std::span<const index> starts = {}) const {
        static constexpr label_id by_token[] = {0, 1};
        static constexpr label_id by_place[] = {2, 1};
        const index lines[] = {extents[1], 1};
        const index one[] = {1};
        const index begins[] = {0, 0, first};
        const ep::strided_block operands[] = {{x.data(), gathers ? by_place : by_token, lines},
                                              {token.data(), std::span(by_token, 1), one},
                                              {&first, std::span(by_place, 1), one}};
        ep::detail::run_select(
            {extents,
             operands,
             {z.data(), gathers ? by_token : by_place, lines},
             mode,
             nullptr,
             starts.empty() ? begins : starts},
            ep::detail::select_work_of<double>({data_index{ep::element_type_of<int>(), whole, "label v"}}, false));
    }
};

}  // namespace

TEST_CASE("blocks that hold some of the places") {
    std::mt19937 bits(3);
    const auto random = [&](index from, index to) { return std::uniform_int_distribution<index>(from, to)(bits); };
    int wrong = 0;
    for (int round = 0; round < 200; ++round) {
        const index whole = random(1, 12);
        const index first = random(0, whole);
        // More tokens than are read together, now and then.
        const block of{
            {random(0, 1) == 0 ? random(0, 9) : random(250, 520), random(1, 5), random(0, whole - first)}, first, {}};
        block made = of;
        for (index at = 0; at < made.extents[0]; ++at) {
            made.token.push_back(int(random(0, whole - 1)));
        }
        const auto [m, width, held] = made.extents;
        const bool gathers = random(0, 1) == 0;
        const write_mode mode = random(0, 1) == 0 ? write_mode::overwrite : write_mode::combine;
        std::vector<double> x(std::size_t((gathers ? held : m) * width)), z(std::size_t((gathers ? m : held) * width));
        std::generate(x.begin(), x.end(), [&] { return double(random(-9, 9)); });
        std::generate(z.begin(), z.end(), [&] { return double(random(-9, 9)); });
        std::vector<double> expected = z;
        std::fill(expected.begin(), mode == write_mode::overwrite ? expected.end() : expected.begin(), 0.0);
        for (index at = 0; at < m; ++at) {
            const index place = made.token[std::size_t(at)] - first;
            for (index d = 0; d < width && place >= 0 && place < held; ++d) {
                const auto row = std::size_t((gathers ? at : place) * width + d);
                expected[row] += x[std::size_t((gathers ? place : at) * width + d)];
            }
        }
        made.run(z, x, gathers, mode, whole);
        wrong += z == expected ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a token outside is named by its place in the tensor, and nothing is written") {
    const block of{{4, 2, 3}, 2, {0, 4, 5, 1}};
    std::vector<double> x(6, 1.0), z(8, 7.0);
    const std::array<index, 3> starts{10, 0, 2};
    CHECK(ep::testing::sentence_of([&] { of.run(z, x, true, write_mode::overwrite, 5, starts); }) ==
          "einsum: element (12) of the indices is 5, outside the extent 5 of label v");
    CHECK(z == std::vector<double>(8, 7.0));
}

}  // namespace select_test
