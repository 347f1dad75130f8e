// What is compiled for every instruction set, against plain loops, with each that this processor has: packing of
// operands in any order, dot products, planes that are transposed, tiles of general operators.

#include "../instruction_sets.hpp"

#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/product/gemm.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/kernel/simd/vector_product.hpp>
#include <einparallel/kernel/work/join.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace vector_test {

namespace {

using einparallel::index;
using namespace einparallel::detail;
using kernel_test::gemm_call;
using kernel_test::pick;
using kernel_test::sets_here;
using kernel_test::small_integer;
using kernel_test::with_each_set;

/// One loop of a product: which axis (0 m, 1 n, 2 k), and its strides in A, B and C.
struct product_loop {
    int axis = 0;
    index extent = 0;
    index strides[3] = {0, 0, 0};
};

/// Lays the loops of two axes out in one dense matrix, in random order; some run backwards.
index lay_out(std::vector<product_loop>& loops, int matrix, int without, std::mt19937& random, index& first) {
    std::vector<product_loop*> own;
    for (product_loop& loop : loops) {
        if (loop.axis != without) {
            own.push_back(&loop);
        }
    }
    std::shuffle(own.begin(), own.end(), random);
    index size = 1;
    for (product_loop* loop : own) {
        loop->strides[matrix] = size;
        size *= loop->extent;
        if (pick(random, 0, 9) == 0) {
            first += (loop->extent - 1) * loop->strides[matrix];
            loop->strides[matrix] = -loop->strides[matrix];
        }
    }
    return size;
}

/// Visits every point of the loops with its offsets in A, B and C.
template <class Visit>
void for_each(const std::vector<product_loop>& loops, Visit&& visit, std::size_t position = 0, index a = 0, index b = 0,
              index c = 0) {
    if (position == loops.size()) {
        visit(a, b, c);
        return;
    }
    const product_loop& loop = loops[position];
    for (index step = 0; step < loop.extent; ++step) {
        for_each(loops, visit, position + 1, a + step * loop.strides[0], b + step * loop.strides[1],
                 c + step * loop.strides[2]);
    }
}

template <class T>
void check_random_product(std::mt19937& random, instruction_set set) {
    std::vector<product_loop> loops;
    index points = 1;
    for (int axis = 0; axis < 3; ++axis) {
        const index count = pick(random, 1, 3);
        for (index each = 0; each < count; ++each) {
            const index usual[] = {1, 2, 3, 5, 7, 8, 12, 16, 17, 31, 32, 48, 65, 130};
            const index extent = usual[pick(random, 0, 13)];
            if (points * extent <= 400000) {
                loops.push_back({axis, extent, {0, 0, 0}});
                points *= extent;
            }
        }
    }
    for (int axis = 0; axis < 3; ++axis) {
        if (std::none_of(loops.begin(), loops.end(), [&](const product_loop& loop) { return loop.axis == axis; })) {
            loops.push_back({axis, 1, {0, 0, 0}});
        }
    }
    index a_first = 0;
    index b_first = 0;
    index c_first = 0;
    std::vector<T> a(static_cast<std::size_t>(lay_out(loops, 0, 1, random, a_first)));
    std::vector<T> b(static_cast<std::size_t>(lay_out(loops, 1, 0, random, b_first)));
    std::vector<T> c(static_cast<std::size_t>(lay_out(loops, 2, 2, random, c_first)));
    for (auto* values : {&a, &b, &c}) {
        for (T& value : *values) {
            value = small_integer<T>(random);
        }
    }
    gemm_call<T> call;
    call.add = pick(random, 0, 1) == 1;
    call.scale = pick(random, 0, 1) == 1 ? T(2) : T(1);
    std::vector<T> expected = c;
    if (!call.add) {
        expected.assign(expected.size(), T(0));
    }
    for_each(loops, [&](index x, index y, index z) {
        T& into = expected[static_cast<std::size_t>(c_first + z)];
        into = static_cast<T>(into + call.scale * a[static_cast<std::size_t>(a_first + x)] *
                                         b[static_cast<std::size_t>(b_first + y)]);
    });
    std::string shape;
    for (const product_loop& loop : loops) {
        gemm_axis& axis = loop.axis == 0 ? call.m : loop.axis == 1 ? call.n : call.k;
        const index* by = loop.strides;
        axis.add(loop.extent, loop.axis == 1 ? by[1] : by[0], loop.axis == 2 ? by[1] : by[2]);
        shape += std::string(1, "mnk"[loop.axis]) + std::to_string(loop.extent) + " ";
    }
    const bool sorted = pick(random, 0, 3) > 0;
    if (sorted) {
        call.m.move_contiguous(false);
        call.n.move_contiguous(true);
        call.k.move_contiguous(false);
    }
    CAPTURE(shape);
    CAPTURE(sorted);
    CAPTURE(call.add);
    CAPTURE(name_of(set));
    kernel_test::gemm<T>(call, a.data() + a_first, b.data() + b_first, c.data() + c_first, set);
    CHECK(c == expected);
}

template <class T, instruction_set Set>
void check_dots(std::mt19937& random) {
    for (const index count : {0, 1, 2, 7, 8, 31, 64, 65, 127, 200, 517}) {
        std::vector<T> x(4 * static_cast<std::size_t>(count + 3));
        std::vector<T> y(x.size());
        std::generate(x.begin(), x.end(), [&] { return small_integer<T>(random); });
        std::generate(y.begin(), y.end(), [&] { return small_integer<T>(random); });
        for (const index y_row : {index{0}, count + 1}) {
            T expected[4] = {0, 0, 0, 0};
            for (index row = 0; row < 4; ++row) {
                for (index at = 0; at < count; ++at) {
                    expected[row] += x[static_cast<std::size_t>(row * (count + 3) + at)] *
                                     y[static_cast<std::size_t>(row * y_row + at)];
                }
            }
            T sums[4];
            using products = vector_product<T, Set>;
            products::template dots<4>(count, x.data(), count + 3, y.data(), y_row, sums);
            CHECK(std::equal(sums, sums + 4, expected));
            products::template dots<1>(count, x.data(), 0, y.data(), 0, sums);
            CHECK(sums[0] == expected[0]);
        }
    }
}

/// Transposes a plane whose sides are cut into runs, given by tables, and looks at what is beside it too.
template <class T, instruction_set Set>
void check_transposition() {
    for (const bool streams : {false, true}) {
        for (const index rows : {1, 3, 8, 15, 33, 66}) {
            for (const index columns : {1, 2, 7, 8, 16, 17, 40, 70}) {
                for (const index run : {3, 18, 100}) {
                    CAPTURE(rows);
                    CAPTURE(columns);
                    CAPTURE(run);
                    CAPTURE(streams);
                    constexpr auto bytes = static_cast<index>(sizeof(T));
                    const index first = streams ? 3 : 1;                      // elements past a cache line
                    const auto gap = [&](index at) { return at / run * 2; };  // two elements between runs
                    const index into_row = (columns + gap(columns) + first + 40) / 16 * 16;
                    const index from_column = rows + gap(rows) + 5;
                    std::vector<index> tables[4];
                    for (index column = 0; column < columns; ++column) {
                        tables[0].push_back((first + column + gap(column)) * bytes);
                        tables[1].push_back(column * from_column * bytes);
                    }
                    for (index row = 0; row < rows; ++row) {
                        tables[2].push_back(row * into_row * bytes);
                        tables[3].push_back((row + gap(row)) * bytes);
                    }
                    std::vector<T> from(static_cast<std::size_t>(columns * from_column));
                    for (std::size_t at = 0; at < from.size(); ++at) {
                        from[at] = static_cast<T>(at);
                    }
                    const std::size_t size = static_cast<std::size_t>(rows * into_row);
                    const std::unique_ptr<T[]> memory(new T[size + 64]);
                    T* into = memory.get();
                    while (reinterpret_cast<std::uintptr_t>(into) % 64 != 0) {
                        ++into;
                    }
                    std::fill(into, into + size, T(-1));
                    std::vector<T> expected(size, T(-1));
                    einparallel::detail::copy_tile tile;
                    tile.columns = {tables[0].data(), tables[1].data(), columns, run};
                    tile.rows = {tables[2].data(), tables[3].data(), rows, run};
                    tile.streams = streams;
                    for (index column = 0; column < columns; ++column) {
                        for (index row = 0; row < rows; ++row) {
                            expected[static_cast<std::size_t>(row * into_row + first + column + gap(column))] =
                                from[static_cast<std::size_t>(column * from_column + row + gap(row))];
                        }
                    }
                    vector_copy<T, Set>::copy(reinterpret_cast<std::byte*>(into),
                                              reinterpret_cast<const std::byte*>(from.data()), tile);
                    end_streaming();
                    CHECK(std::equal(expected.begin(), expected.end(), into));
                }
            }
        }
    }
}

template <instruction_set Set>
void check_stream() {
    std::vector<std::byte> from(700);
    for (std::size_t at = 0; at < from.size(); ++at) {
        from[at] = static_cast<std::byte>(at * 7 % 251);
    }
    for (const std::size_t place : {0U, 1U, 8U, 63U}) {
        for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 128U, 500U}) {
            std::vector<std::byte> into(800, std::byte{0xAA});
            std::vector<std::byte> expected = into;
            std::copy_n(from.begin() + 5, count, expected.begin() + static_cast<std::ptrdiff_t>(place));
            vector_copy<double, Set>::stream(into.data() + place, from.data() + 5, count);
            end_streaming();
            CHECK(into == expected);
        }
    }
}

template <class T>
bool same(T a, T b) {
    return a == b || (a != a && b != b);
}

/// Σ, max, … of f(x, y) as C(i, j) over p with A(p, i), B(j, p), by tiles, in every set. `spoil` puts what is rare into
/// A and B. (A value: as many tiles are compiled as there are functions, not as there are ways to spoil.)
template <class Out, class A, class B, class Reduce, class Function>
void check_join(Reduce reduce, Function function,
                const std::function<void(A* a, index a_size, B* b, index b_size)>& spoil = nullptr) {
    std::mt19937 random(9);
    const join_functors<Reduce, Function> functors{reduce, function};
    with_each_set([&]<instruction_set Set>() {
        for (const auto& shape : {std::array<index, 3>{4, 64, 16}, {6, 33, 30}, {25, 70, 11}, {7, 66, 330}}) {
            const index m = shape[0];
            const index n = shape[1];
            const index k = shape[2];
            for (const bool combine : {false, true}) {
                CAPTURE(m);
                CAPTURE(n);
                CAPTURE(k);
                CAPTURE(combine);
                const auto a = std::make_unique<A[]>(static_cast<std::size_t>(m * k));
                const auto b = std::make_unique<B[]>(static_cast<std::size_t>(n * k));
                const auto c = std::make_unique<Out[]>(static_cast<std::size_t>(m * n));
                std::generate_n(a.get(), m * k, [&] { return static_cast<A>(pick(random, 1, 5)); });
                std::generate_n(b.get(), n * k, [&] { return static_cast<B>(pick(random, 1, 5)); });
                if (spoil) {
                    spoil(a.get(), m * k, b.get(), n * k);
                }
                std::fill_n(c.get(), m * n, Out(1));
                loop_nest nest(3);
                const auto add = [&](index extent, index z, index x, index y) {
                    index* const moves = nest.add(extent);
                    moves[0] = z;
                    moves[1] = x;
                    moves[2] = y;
                };
                add(m, n, 1, 0);
                add(n, 1, 0, k);
                add(k, 0, m, 1);
                const tile_kernel kernel = join_tile_kernel<Out, Reduce, Function, A, B>(Set, functors);
                auto tiles = einparallel::detail::in_tiles(nest, kernel);
                if (!tiles) {
                    continue;
                }
                einparallel::detail::run_blocked(
                    kernel, tiles->axes,
                    {nest, tiles->batch, a.get(), einparallel::detail::x_slot, b.get(), einparallel::detail::y_slot,
                     c.get(), combine, tiles->threads, tiles->threads_inside});
                bool right = true;
                for (index i = 0; i < m; ++i) {
                    for (index j = 0; j < n; ++j) {
                        Out expected = converted<Out>(
                            function(a[static_cast<std::size_t>(i)], b[static_cast<std::size_t>(j * k)]));
                        for (index p = 1; p < k; ++p) {
                            expected =
                                reduce(expected, converted<Out>(function(a[static_cast<std::size_t>(p * m + i)],
                                                                         b[static_cast<std::size_t>(j * k + p)])));
                        }
                        expected = combine ? reduce(Out(1), expected) : expected;
                        right = right && same(c[static_cast<std::size_t>(i * n + j)], expected);
                    }
                }
                CHECK(right);
            }
        }
    });
}

}  // namespace

TEST_CASE_TEMPLATE("products of operands in any order of their labels", T, double, float, std::complex<double>,
                   std::complex<float>, std::int32_t, std::int8_t) {
    std::mt19937 random(77);
    for (int repetition = 0; repetition < 120; ++repetition) {
        for (const instruction_set set : sets_here()) {
            check_random_product<T>(random, set);
        }
    }
}

TEST_CASE_TEMPLATE("dot products", T, double, float) {
    std::mt19937 random(5);
    with_each_set([&]<instruction_set Set>() { check_dots<T, Set>(random); });
}

TEST_CASE_TEMPLATE("planes transposed", T, double, float) {
    with_each_set([]<instruction_set Set>() { check_transposition<T, Set>(); });
}

TEST_CASE("runs go past the caches from any place, and nothing beside them is written") {
    with_each_set([]<instruction_set Set>() { check_stream<Set>(); });
}

TEST_CASE_TEMPLATE("maxima and minima in tiles lose no NaN, wherever it comes from", T, double, float) {
    namespace op = einparallel::op;
    const T nan = std::numeric_limits<T>::quiet_NaN();
    const T infinity = std::numeric_limits<T>::infinity();
    const auto check_all = [&] {
        for (const index place : {index{0}, index{9}, index{63}}) {
            const auto in_first = [=](T* x, index size, T* /*y*/, index) { x[size * place / 64] = nan; };
            const auto in_second = [=](T* /*x*/, index, T* y, index size) { y[size * place / 64] = -nan; };
            const auto made = [=](T* x, index x_size, T* y, index y_size) {
                x[x_size * place / 64] = infinity;
                std::fill(y + y_size / 2, y + y_size, -infinity);
            };
            const auto none = [=](T* x, index size, T* y, index) { x[size * place / 64] = y[0] = -infinity; };
            check_join<T, T, T>(op::max, plus{}, in_first);
            check_join<T, T, T>(op::min, plus{}, in_second);
            check_join<T, T, T>(op::max, plus{}, made);
            check_join<T, T, T>(op::max, plus{}, none);
            check_join<T, T, T>(op::max, smaller{}, in_first);
            check_join<T, T, T>(op::sum, larger{}, in_second);
            check_join<T, T, T>(
                op::min, [](T x, T y) { return x < y ? y : x; }, in_first);
        }
        check_join<T, T, T>(op::max, times{}, [=](T* x, index size, T*, index) { std::fill(x, x + size, nan); });
        const auto asks = [](T x, T y) {  // a function that looks at the flag itself, and lowers it for that
            std::feclearexcept(FE_INVALID);
            const T sum = x + y;
            return std::fetestexcept(FE_INVALID) != 0 ? std::numeric_limits<T>::quiet_NaN() : sum;
        };
        check_join<T, T, T>(op::max, asks, [=](T* x, index size, T*, index) { x[size / 3] = nan; });
    };
    check_all();
    for (const bool raised : {true, false}) {  // before: whoever asks afterwards is told what is so
        std::feclearexcept(FE_INVALID);
        if (raised) {
            std::feraiseexcept(FE_INVALID);
        }
        const int before = std::fetestexcept(FE_INVALID);  // emulators may keep no flag
        check_join<T, T, T>(op::max, plus{});
        CHECK(std::fetestexcept(FE_INVALID) == before);
    }
    check_all();
}

TEST_CASE("tiles of general operators") {
    namespace op = einparallel::op;
    check_join<double, double, double>(op::max, plus{});
    check_join<float, float, float>(op::min, plus{});
    check_join<double, float, double>(op::sum, [](float x, double y) { return (x - y) * (x - y); });
    check_join<std::int32_t, std::int32_t, std::int32_t>(op::sum, times{});
    check_join<std::int16_t, std::int8_t, std::int16_t>(op::max, minus{});
    check_join<std::int64_t, std::int64_t, std::int32_t>(op::sum, [](std::int64_t x, std::int32_t y) { return x / y; });
    check_join<bool, std::int32_t, std::int32_t>(op::sum, [](int x, int y) { return x == y; });
    check_join<bool, double, double>(op::prod, [](double x, double y) { return x < y + 4; });
    check_join<std::int8_t, std::int64_t, std::int8_t>(op::max, [](std::int64_t x, std::int8_t y) { return x - y; });
    check_join<std::int32_t, double, float>(op::sum, [](double x, float y) { return x < y ? 1 : 0; });
}

TEST_CASE("an index is cut into rectangular blocks that keep cache lines whole") {
    using einparallel::index;
    gemm_axis axis;  // contiguous along the outer label in the one matrix, along the inner one in the other
    axis.add(1000, 1, 5000);
    axis.add(1000, 7000, 1);
    const index block = axis.cut(1024, 8, 32, 8);
    CHECK(axis.loops[0].tile == 32);
    CHECK(axis.loops[1].tile % 8 == 0);
    CHECK(block == axis.loops[0].tile * axis.loops[1].tile);
    CHECK(block <= 1024);
    std::vector<index> tables(2 * static_cast<std::size_t>(block));
    gemm_blocks blocks(axis, block, tables.data());
    index values = 0;
    for (index number = 0; number < axis.block_count(); ++number) {
        blocks.go_to(number);
        values += blocks.count;
    }
    CHECK(values == axis.size);
    index period = 0;
    index run = 0;
    blocks.go_to(0);
    blocks.stretch(period, run);
    CHECK(run == axis.loops[0].tile);
    CHECK(period == axis.loops[1].tile);
    CHECK(blocks.first()[period] == blocks.first()[0] + 1);
}

}  // namespace vector_test
