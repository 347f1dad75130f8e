// A linked BLAS: what it says of itself, when it is used, and that it computes the same. Part of two programs: one
// links a BLAS, the other none.

#include "../block_oracle.hpp"

#include <einparallel/kernel/contraction_decision.hpp>
#include <einparallel/kernel/product/blas.hpp>
#include <einparallel/kernel/progress.hpp>

#include <support/kernels.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

namespace blas_test {

namespace {

namespace ep = einparallel;
using ep::contraction_way;
using ep::gemm_choice;
using ep::index;
using ep::detail::blas_library;
using ep::detail::instruction_set;
using kernel_test::random_source;
using kernel_test::random_value;

/// Puts the choice back that was.
struct chosen {
    explicit chosen(gemm_choice choice) : before(ep::detail::chosen_gemm().load()) { ep::use_gemm(choice); }
    chosen(const chosen&) = delete;
    chosen& operator=(const chosen&) = delete;
    ~chosen() { ep::use_gemm(before); }
    gemm_choice before;
};

/// A(i, j) · B(j, k) with each matrix stored by rows or by columns, rows or columns apart by `gap` more than needed.
struct layout {
    bool a_turned;
    bool b_turned;
    bool c_turned;
    index gap;
};

template <class T>
void check_product(random_source& random, const layout& as, index m, index n, index k, ep::write_mode mode) {
    const auto strides = [&](index rows, index columns, bool turned) {
        return turned ? std::array<index, 2>{1, rows + as.gap} : std::array<index, 2>{columns + as.gap, 1};
    };
    const auto size = [&](index rows, index columns) {
        return static_cast<std::size_t>((rows + as.gap) * (columns + as.gap));
    };
    const auto a_strides = strides(m, k, as.a_turned);
    const auto b_strides = strides(k, n, as.b_turned);
    const auto c_strides = strides(m, n, as.c_turned);
    std::vector<T> a(size(m, k));
    std::vector<T> b(size(k, n));
    std::vector<T> c(size(m, n));
    for (std::vector<T>* each : {&a, &b, &c}) {
        std::generate(each->begin(), each->end(), [&] { return random_value<T>(random); });
    }
    const std::vector<T> before = c;
    const std::array<ep::label_id, 2> a_labels{0, 1};
    const std::array<ep::label_id, 2> b_labels{1, 2};
    const std::array<ep::label_id, 2> c_labels{0, 2};
    const std::array<index, 3> extents{m, k, n};
    const std::array<ep::strided_block, 2> operands{{{a.data(), a_labels, a_strides}, {b.data(), b_labels, b_strides}}};
    const ep::block_call call{extents, operands, {c.data(), c_labels, c_strides}, mode};
    const T scale(2);
    const auto way = ep::decide(call, ep::element_type_of<T>()).way;
    CHECK((way == contraction_way::library_product) == ep::detail::blas_runs());
    ep::testing::product_kernel<T>(scale, 2).contract(call);
    double worst = 0;
    std::vector<bool> written(c.size(), false);
    for (index i = 0; i < m; ++i) {
        for (index j = 0; j < n; ++j) {
            const auto place = static_cast<std::size_t>(i * c_strides[0] + j * c_strides[1]);
            written[place] = true;
            T expected = mode == ep::write_mode::combine ? before[place] : T(0);
            for (index p = 0; p < k; ++p) {
                expected += scale * a[static_cast<std::size_t>(i * a_strides[0] + p * a_strides[1])] *
                            b[static_cast<std::size_t>(p * b_strides[0] + j * b_strides[1])];
            }
            worst = std::max(worst, static_cast<double>(std::abs(expected - c[place])));
        }
    }
    CHECK(worst <= 1e-3);
    bool untouched = true;
    for (std::size_t place = 0; place < c.size(); ++place) {
        untouched = untouched && (written[place] || c[place] == before[place]);
    }
    CHECK(untouched);
}

}  // namespace

TEST_CASE("what libraries call their kernels") {
    CHECK(blas_library::set_of("Prescott") == instruction_set::baseline);
    CHECK(blas_library::set_of("Nehalem") == instruction_set::baseline);
    CHECK(blas_library::set_of("Sandybridge") == instruction_set::baseline);
    CHECK(blas_library::set_of("generic") == instruction_set::baseline);
    CHECK(blas_library::set_of("Haswell") == instruction_set::avx2);
    CHECK(blas_library::set_of("ZEN") == instruction_set::avx2);
    CHECK(blas_library::set_of("zen3") == instruction_set::avx2);
    CHECK(blas_library::set_of("SkylakeX") == instruction_set::avx512);
    CHECK(blas_library::set_of("SapphireRapids") == instruction_set::avx512);
    CHECK(blas_library::set_of("skx") == instruction_set::avx512);
}

TEST_CASE("the line about the kernels") {
    const blas_library& found = blas_library::get();
    const std::string line = ep::local_kernels();
    INFO(line);
    CHECK(line.starts_with(ep::detail::name_of(ep::detail::best_instruction_set())));
#if defined(EINPARALLEL_HAS_BLAS)
    CHECK(found.linked);
    CHECK(line.find(found.name) != std::string::npos);
#else
    CHECK(!found.linked);
    CHECK(line.ends_with("no BLAS linked"));
#endif
    if (found.linked) {
        const chosen own(gemm_choice::own);
        CHECK(ep::local_kernels().ends_with("not used, as chosen"));
        CHECK(!ep::detail::blas_runs());
    }
    const chosen blas(gemm_choice::blas);
    CHECK(ep::detail::blas_runs() == found.linked);
    CHECK(!ep::detail::blas_computes(ep::element_type_of<int>()));
}

TEST_CASE("a library with kernels of an older processor is not used unless that is chosen") {
    const blas_library& found = blas_library::get();
    const chosen automatic(gemm_choice::automatic);
    const bool older = found.set < ep::detail::best_instruction_set();
    CHECK(ep::detail::blas_runs() == (found.linked && found.knows_itself && !older));
    if (found.linked && found.knows_itself && older) {
        CHECK(ep::local_kernels().ends_with("not used, its kernels are for an older processor"));
    }
}

TEST_CASE("a word in the environment that means nothing is said") {
    const char* const before = std::getenv("EINPARALLEL_GEMM");
    const std::string word = before == nullptr ? "" : before;
    setenv("EINPARALLEL_GEMM", "openblas", 1);
    CHECK(ep::local_kernels().ends_with(
        "; EINPARALLEL_GEMM=openblas is neither own nor blas nor automatic, and not heeded"));
    setenv("EINPARALLEL_GEMM", word.c_str(), 1);
    CHECK(ep::local_kernels().find("EINPARALLEL_GEMM") == std::string::npos);
}

TEST_CASE("matrices that BLAS knows") {
    using ep::detail::is_blas_matrix;
    CHECK(is_blas_matrix(8, 5, 1, 8));
    CHECK(is_blas_matrix(9, 5, 1, 8));
    CHECK(is_blas_matrix(1, 5, 5, 8));
    CHECK(!is_blas_matrix(7, 5, 1, 8));  // rows overlap
    CHECK(!is_blas_matrix(2, 5, 16, 8));
    CHECK(!is_blas_matrix(-8, 5, 1, 8));
    CHECK(!is_blas_matrix(0, 5, 1, 8));
    if (!blas_library::get().wide) {
        CHECK(!is_blas_matrix(index{1} << 33, 2, 1, 8));
    }
}

TEST_CASE_TEMPLATE("products of a BLAS against plain loops", T, float, double, std::complex<float>,
                   std::complex<double>) {
    const chosen blas(gemm_choice::blas);
    random_source random(11);
    for (int layouts = 0; layouts < 16; ++layouts) {
        const layout as{(layouts & 1) != 0, (layouts & 2) != 0, (layouts & 4) != 0, (layouts & 8) != 0 ? 3 : 0};
        const auto mode = layouts % 3 == 0 ? ep::write_mode::combine : ep::write_mode::overwrite;
        check_product<T>(random, as, 67, 71, 83, mode);
    }
    check_product<T>(random, {false, false, false, 0}, 2, 1031, 257, ep::write_mode::overwrite);
}

TEST_CASE("under a hook a product of a BLAS is a few calls along the longer side, and the same product") {
    const chosen blas(gemm_choice::blas);
    const auto calls_of = [](index m, index n, index k) {
        std::vector<double> x(static_cast<std::size_t>(m * k));
        std::vector<double> y(static_cast<std::size_t>(k * n));
        for (std::size_t at = 0; at < x.size(); ++at) {
            x[at] = static_cast<double>(at % 7) - 3;
        }
        for (std::size_t at = 0; at < y.size(); ++at) {
            y[at] = static_cast<double>(at % 5) - 2;
        }
        const ep::label_id xl[] = {0, 1};
        const ep::label_id yl[] = {1, 2};
        const ep::label_id zl[] = {0, 2};
        const index xs[] = {k, 1};
        const index ys[] = {n, 1};
        const index zs[] = {n, 1};
        const index extents[] = {m, k, n};
        const std::array<ep::strided_block, 2> operands{ep::strided_block{x.data(), xl, xs},
                                                        ep::strided_block{y.data(), yl, ys}};
        const ep::testing::product_kernel<double> work(1, 2);
        const auto product = [&](ep::progress_hook* hook) {
            std::vector<double> z(static_cast<std::size_t>(m * n), -1);
            work.contract({extents, operands, {z.data(), zl, zs}, ep::write_mode::overwrite, hook});
            return z;
        };
        const std::vector<double> expected = product(nullptr);
        int calls = 0;
        const auto count = [&] {
            ++calls;
            return false;
        };
        ep::progress_hook hook(count);
        CHECK(product(&hook) == expected);  // whole numbers
        return calls;
    };
    if (blas_library::get().linked) {
        CHECK(calls_of(600, 500, 500) == 2);
        CHECK(calls_of(500, 600, 500) == 2);
        CHECK(calls_of(250, 250, 1200) == 1);
        CHECK(calls_of(300, 1100, 900) == 4);
    } else {
        CHECK(calls_of(600, 500, 500) > 8);
    }
}

}  // namespace blas_test
