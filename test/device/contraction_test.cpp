// Contractions as matrix products and transpositions, run on the processor, against plain loops.

#include "emulation.hpp"

#include "kernel/block_oracle.hpp"
#include "support/json.hpp"

#include <einparallel/device/contraction.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <array>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace einparallel;
using einparallel::index;
using kernel_test::pick;
using kernel_test::random_source;
namespace device = einparallel::detail;

/// What a BLAS does, by plain loops, and what it would refuse: sums of T of products of In.
template <class T, class In>
void multiply(const device::blas_product& product, const void* a, const void* b, void* c, T scale, bool add) {
    const auto [m, n, k, batch, of_a, of_b, of_c] = product;
    const auto [transpose_a, lda, a_step] = of_a;
    const auto [transpose_b, ldb, b_step] = of_b;
    const auto [transpose_c, ldc, c_step] = of_c;
    REQUIRE(!transpose_c);
    REQUIRE(m >= 1);
    REQUIRE(lda >= (transpose_a ? k : m));
    REQUIRE(ldb >= (transpose_b ? n : k));
    REQUIRE(ldc >= m);
    REQUIRE(a_step >= 0);
    REQUIRE(b_step >= 0);
    REQUIRE((c_step > 0 || batch == 1));
    for (index matrix = 0; matrix < batch; ++matrix) {
        const In* const x = static_cast<const In*>(a) + matrix * a_step;
        const In* const y = static_cast<const In*>(b) + matrix * b_step;
        T* const z = static_cast<T*>(c) + matrix * c_step;
        for (index column = 0; column < n; ++column) {
            for (index row = 0; row < m; ++row) {
                T sum{};
                for (index step = 0; step < k; ++step) {
                    sum += (transpose_a ? x[step + row * lda] : x[row + step * lda]) *
                           (transpose_b ? y[column + step * ldb] : y[step + column * ldb]);
                }
                T& into = z[row + column * ldc];
                into = scale * sum + (add ? into : T{});
            }
        }
    }
}

struct statistics {
    int products = 0;
    int joins = 0;
    int copies[3] = {0, 0, 0};
    int host_loops = 0;
    int summed = 0;
};

/// One random contraction. The values of T are values of In as well.
template <class T, class In = T>
void check(random_source& random, statistics& seen, index largest, index most_points) {
    auto each = kernel_test::make_case<T>(random, 2, 7, largest, most_points);
    const T scale = pick(random, 0, 1) == 0 ? T(1) : T(-2);
    const write_mode mode = pick(random, 0, 2) == 0 ? write_mode::combine : write_mode::overwrite;
    for (T& element : each.output.memory) {
        element = mode == write_mode::overwrite ? kernel_test::poison<T>() : kernel_test::random_value<T>(random);
    }
    std::vector<strided_block> blocks;
    const block_call call = kernel_test::call_of(each, blocks, mode);
    std::vector<std::vector<In>> read;
    for (std::size_t operand = 0; operand < blocks.size(); ++operand) {
        const auto& given = each.operands[operand];
        read.emplace_back(given.memory.begin(), given.memory.end());
        blocks[operand].data = read.back().data() + given.origin;
    }
    device::device_limits rates;  // small cases are joins: here they are slow, and launches cheap
    rates.joined_points = pick(random, 0, 3) == 0 ? 1e9 : 1e3;
    rates.launch = pick(random, 0, 1) == 0 ? 1e-7 : 1e-12;
    rates.multiply_adds = rates.of_halves = pick(random, 0, 1) == 0 ? 1e9 : 1e13;
    const auto decide = [&] {
        return device::decide_on_device(call, element_type_of<T>(), rates, element_type_of<In>());
    };
    const device::device_contraction decided = decide();
    CHECK(decided.text() == decide().text());
    if (decided.way != device::device_way::products) {
        seen.joins += decided.way == device::device_way::join ? 1 : 0;
        return;
    }
    ++seen.products;
    for (int slot = 0; slot < 3; ++slot) {
        const auto& copy = decided.copies[static_cast<std::size_t>(slot)];
        seen.copies[slot] += copy.elements > 0 ? 1 : 0;
        seen.summed += copy.sums ? 1 : 0;
    }
    seen.host_loops += decided.loops.size() == 0 ? 0 : 1;
    auto expected = each.output.memory;
    const auto sums = each.labels_of(false);
    each.for_each(each.labels_of(true), [&](const std::vector<index>& point) {
        T sum{};
        std::vector<index> full = point;
        const std::function<void(std::size_t)> descend = [&](std::size_t depth) {
            if (depth == sums.size()) {
                sum += each.operands[0].memory[static_cast<std::size_t>(each.operands[0].offset(full))] *
                       each.operands[1].memory[static_cast<std::size_t>(each.operands[1].offset(full))];
                return;
            }
            const auto label = static_cast<std::size_t>(sums[depth]);
            for (full[label] = 0; full[label] < each.extents[label]; ++full[label]) {
                descend(depth + 1);
            }
            full[label] = 0;
        };
        descend(0);
        T& into = expected[static_cast<std::size_t>(each.output.offset(point))];
        into = (mode == write_mode::combine ? into : T{}) + scale * sum;
    });
    std::vector<std::byte> workspace(decided.workspace_bytes + 256, std::byte{0xff});
    auto* const room = workspace.data() + (256 - reinterpret_cast<std::uintptr_t>(workspace.data()) % 256) % 256;
    const double factor = scale == T(1) ? 1 : -2;
    const auto sum = device::launch::device_program_of(op_program(reduction::sum, std::array{element_type_of<T>()}));
    device::run_on_device(nullptr, decided, sum.get(), factor, call, room, [&](const device::blas_call& products) {
        const auto& [type, operand, by, product, a, b, c, add] = products;
        REQUIRE(type == element_type_of<T>());
        REQUIRE(operand == element_type_of<In>());
        multiply<T, In>(product, a, b, c, static_cast<T>(static_cast<float>(by.real())), add);
    });
    for (std::size_t element = 0; element < expected.size(); ++element) {
        const T& found = each.output.memory[element];
        const T& wanted = expected[element];
        const auto size = std::abs(wanted);
        const bool same = std::abs(found - wanted) <= (sizeof(decltype(size)) == 4 ? 1e-3F : 1e-10F) * (1 + size) ||
                          (wanted != wanted && found != found);
        if (!same) {
            CAPTURE(decided.text());
            REQUIRE(same);
        }
    }
}

TEST_CASE_TEMPLATE("random contractions equal plain loops", T, float, double, std::complex<float>,
                   std::complex<double>) {
    random_source random(11);
    statistics seen;
    for (int number = 0; number < 1500; ++number) {
        CAPTURE(number);
        check<T>(random, seen, number % 3 == 0 ? 70 : 9, 20000);
    }
    CHECK(seen.products > 150);
    CHECK(seen.joins > 100);
    for (const int copies : seen.copies) {
        CHECK(copies > 5);
    }
    CHECK(seen.host_loops > 5);
    CHECK(seen.summed > 5);
}

TEST_CASE("random contractions of halves are sums of floats, and halves are not summed on the way") {
    random_source random(12);
    statistics seen;
    for (int number = 0; number < 1500; ++number) {
        CAPTURE(number);
        check<float, float16>(random, seen, number % 3 == 0 ? 70 : 9, 20000);
    }
    CHECK(seen.products > 100);
    for (const int copies : seen.copies) {
        CHECK(copies > 5);
    }
    CHECK(seen.summed == 0);
}

/// Row-major tensors of an einsum "ab,bc->ac".
struct dense_einsum {
    std::vector<index> extents;
    std::vector<std::vector<label_id>> labels;
    std::vector<std::vector<index>> strides;
    std::vector<strided_block> operands;

    dense_einsum(const std::string& text, const testing::json& sizes) {
        std::string names;
        labels.emplace_back();
        for (const char letter : text) {
            if (letter == ',' || letter == '>') {
                labels.emplace_back();
            } else if (letter != '-') {
                if (names.find(letter) == std::string::npos) {
                    names += letter;
                    extents.push_back(static_cast<index>(sizes[std::string(1, letter)].number()));
                }
                labels.back().push_back(static_cast<label_id>(names.find(letter)));
            }
        }
        for (const auto& tensor : labels) {
            index size = 1;
            std::vector<index> made(tensor.size());
            for (std::size_t dimension = tensor.size(); dimension-- > 0;) {
                made[dimension] = size;
                size *= extents[static_cast<std::size_t>(tensor[dimension])];
            }
            strides.push_back(made);
        }
        const element_type real = element_type_of<double>();
        operands = {{nullptr, real, labels[0], strides[0]}, {nullptr, real, labels[1], strides[1]}};
    }

    [[nodiscard]] block_call call() const {
        return {extents, operands, {nullptr, element_type_of<double>(), labels[2], strides[2]}};
    }
};

TEST_CASE("plain matrix products of any transposition are not copied") {
    for (const char* const text : {"ab,bc->ac", "ba,bc->ac", "ab,cb->ac", "ba,cb->ac", "ab,bc->ca", "dab,dbc->dac",
                                   "adb,dbc->dac", "aebf,efc->abc", "bshd,bthd->bhst", "bhst,bthd->bshd"}) {
        const testing::json sizes =
            testing::json::parse(R"({"a":256,"b":192,"c":320,"d":64,"e":16,"f":32,"s":512,"t":256,"h":8})");
        const dense_einsum each(text, sizes);
        const auto decided = device::decide_on_device(each.call(), {'f', 8});
        CAPTURE(text);
        CAPTURE(decided.text());
        CHECK(decided.way == device::device_way::products);
        if (std::string(text) != "aebf,efc->abc") {
            CHECK(decided.transposed_bytes == 0);
        }
    }
}

TEST_CASE("the shared contractions: what each transposes") {
    const char* const path = std::getenv("EINPARALLEL_CONTRACTIONS");
    if (path == nullptr || !std::filesystem::exists(path)) {
        return;
    }
    const testing::json all = testing::json::read(path);
    for (const testing::json& each : all["cases"].items()) {
        const dense_einsum shape(each["einsum"].text(), each["sizes"]);
        for (const element_type type : {element_type{'f', 4}, element_type{'f', 8}}) {
            const auto decided = device::decide_on_device(shape.call(), type);
            std::printf("%-22s f%u %-24s %8.1f MB transposed %9.1f us  %s\n", each["id"].text().c_str(), 8 * type.bytes,
                        each["einsum"].text().c_str(), static_cast<double>(decided.transposed_bytes) / 1e6,
                        decided.seconds * 1e6, decided.text().c_str());
        }
    }
}

}  // namespace
