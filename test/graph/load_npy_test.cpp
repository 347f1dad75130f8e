// Inputs from files: what recording takes from the header, and failures that wait in the handle.

#include <doctest/doctest.h>

#include <einparallel/graph/inputs.hpp>

#include <string>
#include <vector>

namespace load_npy_test {

namespace {

namespace ep = einparallel;

std::string fixture(const std::string& name) {
    return std::string(EINPARALLEL_TEST_DIR) + "/io/fixtures/" + name + ".npy";
}

}  // namespace

TEST_CASE("a file becomes an input vertex that every rank can read a box of") {
    for (const char* name : {"c_f8", "fortran_f8"}) {
        CAPTURE(name);
        const ep::tensor<double, 3> loaded = ep::load_npy<double, 3>(fixture(name));
        const auto node = loaded.node();
        REQUIRE(node != nullptr);
        CHECK(node->failure.empty());
        CHECK(node->bounds == std::vector<ep::index>{3, 4, 5});
        CHECK(node->element == ep::element_type_of<double>());
        CHECK(node->is_input());
        REQUIRE(node->origin != nullptr);
        CHECK(node->origin->kind() == ep::source_kind::everywhere);
        CHECK(node->origin->description() == fixture(name));
        std::vector<double> part(4, 0.0);
        node->origin->read({{{1, 2}, {2, 4}, {3, 5}}, false}, part.data());
        CHECK(part == std::vector<double>{34, 35, 39, 40});  // element (i, j, k) is 20 i + 5 j + k + 1
    }
}

TEST_CASE("what cannot be used is said by the handle, not thrown on the rank that noticed") {
    const auto failure = [](const auto& loaded) { return loaded.node()->failure; };
    const std::string path = fixture("c_f4");
    CHECK(failure(ep::load_npy<double, 3>(path)) ==
          "'" + path + "' is of type float and rank 3, and type double and rank 3 are asked for");
    CHECK(failure(ep::load_npy<float, 2>(path)) ==
          "'" + path + "' is of type float and rank 3, and type float and rank 2 are asked for");
    const auto absent = ep::load_npy<float, 2>("/nowhere/w.npy");
    CHECK(failure(absent) == "'/nowhere/w.npy' cannot be opened: No such file or directory");
    CHECK(absent.node()->bounds.size() == 2);
}

}  // namespace load_npy_test
