// Inputs: functions of the index, placeholders, files.

#include <einparallel/graph/inputs.hpp>
#include <einparallel/io/npy.hpp>

#include <support/sentence_of.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace inputs_test {

namespace ep = einparallel;
using ep::testing::sentence_of;

TEST_CASE("generate calls its function for the elements of a box, in its row-major order") {
    const ep::tensor<double, 2> X =
        ep::generate<double>({10, 20L}, [](auto i, auto j) { return 100.0 * double(i) + double(j); });
    CHECK(X.extents() == std::vector<ep::index>{10, 20});
    CHECK(X.node()->is_input());
    std::vector<double> part(6);
    X.node()->origin->read({{{2, 4}, {5, 8}}}, part.data());
    CHECK(part == std::vector<double>{205, 206, 207, 305, 306, 307});
    X.node()->origin->read({{{2, 2}, {5, 8}}}, nullptr);
    const ep::tensor<int, 0> s = ep::generate<int>({}, [] { return 42; });
    int value = 0;
    s.node()->origin->read({}, &value);
    CHECK(value == 42);
}

TEST_CASE("a negative extent poisons the handle") {
    const ep::tensor<double, 2> X = ep::placeholder<double>({3, -2});
    CHECK(X.node()->failure == "placeholder: extent -2 of dimension 1 is negative");
}

TEST_CASE("a file becomes an input; what is wrong with it poisons the handle") {
    const std::string path = "inputs_test.npy";
    const std::vector<double> values{1, 2, 3, 4, 5, 6};
    ep::write_npy<double>(path, {2, 3}, values);
    const ep::tensor<double, 2> X = ep::load_npy<double, 2>(path);
    CHECK(X.node()->failure.empty());
    CHECK(X.extents() == std::vector<ep::index>{2, 3});
    std::vector<double> column(2);
    X.node()->origin->read({{{0, 2}, {1, 2}}}, column.data());
    CHECK(column == std::vector<double>{2, 5});
    CHECK(ep::load_npy<float, 2>(path).node()->failure.find("type") != std::string::npos);
    CHECK(ep::load_npy<double, 3>(path).node()->failure.find("rank") != std::string::npos);
    CHECK(ep::load_npy<double, 2>("no_such_file.npy").node()->failure.find("no_such_file.npy") != std::string::npos);
    std::remove(path.c_str());
}

TEST_CASE("an array is written to a file, and read from it") {
    const std::string path = "inputs_test_array.npy";
    const auto same = [&]<class T, std::size_t Rank>(const ep::array<T, Rank>& written) {
        ep::write_npy(path, written);
        const ep::array<T, Rank> read = ep::read_npy<T, Rank>(path);
        return read.extents() == written.extents() &&
               std::equal(written.data(), written.data() + written.size(), read.data());
    };
    CHECK(same(ep::array<double, 2>{{1, 2, 3}, {4, 5, 6}}));
    CHECK(same(ep::array<std::int8_t, 1>{1, -2, 3}));
    CHECK(same(ep::array<std::complex<float>, 3>({2, 0, 3})));
    CHECK(same(ep::array<bool, 2>{{true, false}, {false, true}}));
    CHECK(same(ep::array<double, 0>()));
    CHECK(sentence_of([&] { static_cast<void>(ep::read_npy<float, 1>(path)); }) ==
          "'inputs_test_array.npy' is of type double and rank 0, and type float and rank 1 are asked for");
    CHECK(sentence_of([&] { static_cast<void>(ep::read_npy<float, 1>("/nowhere/x.npy")); }) ==
          "'/nowhere/x.npy' cannot be opened: No such file or directory");
    CHECK(sentence_of([&] {
              ep::write_npy("/nowhere/x.npy", ep::array<float, 1>{1, 2});
          }).find("'/nowhere/x.npy' cannot be opened for writing") == 0);
    std::remove(path.c_str());
}

}  // namespace inputs_test
