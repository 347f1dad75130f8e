// How contractions are run, by their labels, extents and strides.

#include <einparallel/array/array.hpp>
#include <einparallel/array/einsum.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/kernel/contraction_decision.hpp>

#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace contraction_decision_test {

namespace {

namespace ep = einparallel;
using ep::contraction_decision;
using ep::contraction_way;
using ep::index;
using way = ep::contraction_way;

/// The decision for "ab,bc->ac" in dense row-major memory; `first` are the strides of operand 1 where it is not dense.
contraction_decision decided(std::string_view einsum, const std::map<char, index>& lengths,
                             ep::element_type type = ep::element_type_of<double>(),
                             ep::write_mode mode = ep::write_mode::overwrite, const std::vector<index>& first = {}) {
    const std::size_t comma = einsum.find(',');
    const std::size_t arrow = einsum.find("->");
    const std::array<std::string_view, 3> tensors{einsum.substr(0, comma), einsum.substr(comma + 1, arrow - comma - 1),
                                                  einsum.substr(arrow + 2)};
    std::vector<index> extents(26, 1);
    std::array<std::vector<ep::label_id>, 3> labels;
    std::array<std::vector<index>, 3> strides;
    for (std::size_t tensor = 0; tensor < 3; ++tensor) {
        index stride = 1;
        for (std::size_t position = tensors[tensor].size(); position-- > 0;) {
            const char name = tensors[tensor][position];
            extents[static_cast<std::size_t>(name - 'a')] = lengths.at(name);
            labels[tensor].insert(labels[tensor].begin(), static_cast<ep::label_id>(name - 'a'));
            strides[tensor].insert(strides[tensor].begin(), stride);
            stride *= lengths.at(name);
        }
    }
    if (!first.empty()) {
        strides[0] = first;
    }
    const std::array<ep::strided_block, 2> operands{
        {{nullptr, type, labels[0], strides[0]}, {nullptr, type, labels[1], strides[1]}}};
    return ep::decide({extents, operands, {nullptr, type, labels[2], strides[2]}, mode}, type);
}

}  // namespace

TEST_CASE("labels become m, n, k and a batch, and are counted in full") {
    const auto made = decided("xacd,xdeb->xaceb", {{'x', 3}, {'a', 20}, {'c', 30}, {'d', 70}, {'e', 10}, {'b', 40}});
    CHECK(made.batch == 3);
    CHECK(made.m == 600);
    CHECK(made.n == 400);
    CHECK(made.k == 70);
    CHECK(made.way == way::packed_product);
    CHECK(!made.swapped);
    CHECK(!made.sums_first);
    CHECK(!made.sums_second);
}

TEST_CASE("the columns are what the output has contiguous") {
    const std::map<char, index> lengths{{'a', 100}, {'b', 110}, {'c', 120}};
    CHECK(!decided("ab,bc->ac", lengths).swapped);
    CHECK(decided("ab,bc->ca", lengths).swapped);
    CHECK(decided("bc,ab->ac", lengths).swapped);
    const auto turned = decided("ab,bc->ca", lengths);
    CHECK(turned.m == 100);
    CHECK(turned.n == 120);
}

TEST_CASE("the ways") {
    const std::map<char, index> large{{'a', 100}, {'b', 110}, {'c', 120}, {'x', 50}};
    CHECK(decided("ab,bc->ac", large).way == way::packed_product);
    CHECK(decided("ab,bc->ac", large, ep::element_type_of<int>()).way == way::packed_product);
    CHECK(decided("xab,xab->xab", large).way == way::elementwise);
    CHECK(decided("a,b->ab", large).way == way::elementwise);
    CHECK(decided("ab,b->a", large).way == way::dots);
    CHECK(decided("b,ab->a", large).way == way::dots);
    CHECK(decided("a,a->", large).way == way::dots);
    CHECK(decided("xb,xcab->ca", large).way == way::dots);  // x is summed around the dot products
    CHECK(decided("ba,b->a", large).way == way::rows);
    CHECK(decided("ab,b->a", {{'a', 30}, {'b', 40}}, ep::element_type_of<std::complex<double>>()).way == way::rows);
    CHECK(decided("ax,bx->abx", {{'a', 3}, {'b', 3}, {'x', 1000}}).way == way::elementwise);
    CHECK(decided("akx,kbx->abx", {{'a', 3}, {'b', 3}, {'k', 3}, {'x', 100}}).way == way::rows);
    const std::map<char, index> small{{'a', 8}, {'b', 8}, {'c', 8}, {'x', 1000}};
    CHECK(decided("xab,xbc->xac", small).way == way::small_products);
    CHECK(decided("xab,xbc->xac", small, ep::element_type_of<int>()).way == way::small_products);
    const std::map<char, index> middle{{'a', 32}, {'b', 32}, {'c', 32}, {'x', 100}};
    CHECK(decided("xab,xbc->xac", middle).way == way::small_products);
    std::map<char, index> longest{{'a', 64}, {'b', 64}, {'c', 64}, {'x', 100}, {'y', 2}};
    CHECK(decided("xab,xbc->xac", longest).way == way::small_products);
    longest = {{'a', 65}, {'b', 65}, {'c', 65}, {'x', 100}};
    CHECK(decided("xab,xbc->xac", longest).way == way::packed_product);
    const std::map<char, index> tiny{{'a', 2}, {'b', 2}, {'c', 2}, {'x', 2}};
    CHECK(decided("ab,bc->ac", tiny).way == way::few_points);
    CHECK(decided("xab,xbc->xac", tiny).way == way::few_points);
    CHECK(decided("xyab,xybc->xyac", {{'x', 2}, {'y', 1}, {'a', 2}, {'b', 2}, {'c', 2}}).way == way::few_points);
    CHECK(decided("xaxb,xbxc->xac", tiny).way == way::few_points);  // diagonals
    CHECK(decided("xab,xbc->xac", {{'x', 3}, {'a', 3}, {'b', 2}, {'c', 2}}).way == way::small_products);
}

TEST_CASE("products with short labels are cut into panels") {
    using lanes = ep::lane_role;
    const std::map<char, index> small{{'a', 8}, {'b', 8}, {'c', 8}, {'x', 10000}};
    const auto last = decided("abx,bcx->acx", small);
    CHECK(last.way == way::panels);
    CHECK(last.lanes == lanes::points);
    CHECK(last.panel_nanoseconds < last.nanoseconds);
    CHECK(decided("abx,bcx->acx", small, ep::element_type_of<int>()).lanes == lanes::points);
    const auto turned = decided("xab,xcb->xac", small);  // no columns side by side
    CHECK(turned.way == way::panels);
    CHECK((turned.packs[1] || turned.packs[2]));
    for (const char* form : {"axb,cxb->axc", "xab,bcx->acx", "bxa,xcb->axc"}) {
        CAPTURE(form);
        CHECK(decided(form, small).way == way::panels);
        CHECK(decided(form, small, ep::element_type_of<std::complex<float>>()).way == way::panels);
    }
    const std::map<char, index> short_row{{'a', 256}, {'b', 12}, {'x', 256}};  // rows of 12 elements
    CHECK(decided("xa,xb->xab", short_row).way == way::panels);
    const std::map<char, index> long_column{{'a', 4}, {'b', 8}, {'c', 100000}};
    CHECK(decided("ab,bc->ca", long_column, ep::element_type_of<int>()).lanes == lanes::columns);
    const std::map<char, index> long_sum{{'a', 3}, {'b', 100000}, {'c', 4}};
    CHECK(decided("ab,cb->ac", long_sum, ep::element_type_of<int>()).lanes == lanes::terms);
}

TEST_CASE("vectors of columns that combine fill whole vectors, or are parts of vectors") {
    const std::map<char, index> odd{{'a', 30}, {'b', 30}, {'c', 31}};
    const bool masks = ep::detail::has_masks(ep::detail::best_instruction_set());
    CHECK(decided("ab,bc->ac", odd).way == way::small_products);
    CHECK(decided("ab,bc->ac", odd, ep::element_type_of<double>(), ep::write_mode::combine).way ==
          (masks ? way::small_products : way::packed_product));
}

TEST_CASE("extents of 1 and 0") {
    CHECK(decided("ab,bc->ac", {{'a', 1}, {'b', 100}, {'c', 1}}).way == way::dots);
    CHECK(decided("ab,bc->ac", {{'a', 1}, {'b', 1}, {'c', 1}}).way == way::few_points);
    CHECK(decided("ab,bc->ac", {{'a', 0}, {'b', 5}, {'c', 5}}).way == way::nothing);
    CHECK(decided("ab,bc->ac", {{'a', 5}, {'b', 0}, {'c', 5}}).way == way::identities);
    const auto made = decided("xab,bc->xac", {{'x', 1}, {'a', 100}, {'b', 110}, {'c', 120}});
    CHECK(made == decided("ab,bc->ac", {{'a', 100}, {'b', 110}, {'c', 120}}));
}

TEST_CASE("what a single operand sums, and what it repeats") {
    const std::map<char, index> lengths{{'a', 100}, {'b', 110}, {'c', 120}, {'x', 5}, {'y', 6}};
    const auto both = decided("axb,byc->ac", lengths);
    CHECK(both.sums_first);
    CHECK(both.sums_second);
    CHECK(both.k == 110);
    const auto second = decided("ab,byc->ac", lengths);
    CHECK(!second.sums_first);
    CHECK(second.sums_second);
    // A stride of 0 is a label that the operand lacks: here a is nobody's, and each of its points gets the same.
    const auto broadcast =
        decided("ab,bc->ac", lengths, ep::element_type_of<double>(), ep::write_mode::overwrite, {0, 1});
    CHECK(broadcast.m == 1);
    CHECK(broadcast.batch == 100);
    CHECK(broadcast.n == 120);
}

TEST_CASE("the decision prints") {
    const std::map<char, index> lengths{{'a', 100}, {'b', 110}, {'c', 120}, {'x', 5}};
    CHECK(decided("ab,bc->ac", lengths).text() == "packed product of m = 100, n = 120, k = 110; 1 thread");
    CHECK(decided("xab,xbc->xca", lengths).text() ==
          "packed product of m = 100, n = 120, k = 110, batch 5 with n as rows; 1 thread");
    const auto panels = decided("abx,bcx->acx", {{'a', 8}, {'b', 8}, {'c', 8}, {'x', 10000}});
    CHECK(panels.text().find("panels of m = 8, n = 8, k = 8, batch 10000, vectors of points") == 0);
    CHECK(panels.text().find("; about ") != std::string::npos);
    CHECK(decided("axb,b->a", lengths).text() ==
          "dot products of m = 100, n = 1, k = 110; operand 1 is summed first over what only it has; 1 thread");
    // A row past a matrix whose rows are summed: nothing is packed.
    CHECK(decided("b,cb->c", lengths).text() == "dot products of m = 1, n = 120, k = 110; 1 thread");
    const std::map<char, index> few{{'a', 4}, {'b', 110}, {'c', 80}, {'x', 2}};
    CHECK(decided("ab,bc->ac", few).text() == "packed product of m = 4, n = 80, k = 110; 1 thread");
    CHECK(decided("ab,bc->ac", {{'a', 0}, {'b', 5}, {'c', 5}}).text() == "nothing");
    std::ostringstream stream;
    stream << decided("a,a->a", lengths);
    CHECK(stream.str() == "element-wise pass of m = 1, n = 1, k = 1, batch 100; 1 thread");
}

TEST_CASE("the decision for arrays and views") {
    ep::array<double, 2> a({100, 110});
    ep::array<double, 2> b({110, 120});
    CHECK(ep::explain<"ij,jk->ik">(a, b) == decided("ab,bc->ac", {{'a', 100}, {'b', 110}, {'c', 120}}));
    CHECK(ep::explain<"ij,jk->ki">(a, b).swapped);
    const ep::array<float, 3> batch({40, 16, 16});
    CHECK(ep::explain<"xij,xjk->xik">(batch, batch).way == way::small_products);
    const ep::array<float, 1> numbers({40});
    CHECK(ep::explain<"i,i->">(numbers, numbers).way == way::dots);
    // Halves are summed as floats.
    const ep::array<ep::bfloat16, 2> halves({512, 300}), others({300, 512});
    CHECK(ep::explain<"ij,jk->ik">(halves, others).way == way::packed_product);
    CHECK(ep::explain<"ij,ji->i">(halves, others).way != way::few_points);
    // Short rows are summed in the lanes of vectors, long ones are dot products.
    const ep::array<float, 2> rows({1000, 8}), long_rows({1000, 80});
    CHECK(ep::explain<"ij,ij->i">(rows, rows).way == way::rows);
    CHECK(ep::explain<"ij,ij->i">(long_rows, long_rows).way == way::dots);
}

}  // namespace contraction_decision_test
