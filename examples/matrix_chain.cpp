// The chain (A×B) + (C×(D×E)) of the EinDecomp paper's experiments, with square matrices and with skewed ones, checked
// against loops.
//
//     mpiexec -n 4 matrix_chain [S [TRACE]]        240 where nothing is said
//
// The trace of the square chain's run goes into the file TRACE, for ui.perfetto.dev or bench/trace_svg.py.
// With --device the ranks compute on GPUs, where there are any.

#include "example.hpp"

#include <einparallel.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace ep = einparallel;

namespace {

/// Extents of the labels in A(i, j) · B(j, m) + C(i, k) · D(k, l) · E(l, m).
struct sizes {
    ep::index i, j, k, l, m;
};

constexpr example::numbers first{1}, second{2}, third{3}, fourth{4}, fifth{5};  // A, B, C, D and E

/// A matrix for the reference: rows of numbers.
struct matrix {
    ep::index rows, columns;
    std::vector<double> elements;

    matrix(ep::index height, ep::index width)
        : rows(height), columns(width), elements(static_cast<std::size_t>(height * width)) {}
    matrix(ep::index height, ep::index width, const example::numbers& number) : matrix(height, width) {
        for (ep::index row = 0; row < rows; ++row) {
            for (ep::index column = 0; column < columns; ++column) {
                row_at(row)[column] = number(row, column);
            }
        }
    }
    double* row_at(ep::index row) { return elements.data() + row * columns; }
    [[nodiscard]] const double* row_at(ep::index row) const { return elements.data() + row * columns; }
};

/// X × Y by scalar loops, in blocks of Y that stay in the cache.
matrix product(const matrix& X, const matrix& Y) {
    constexpr ep::index block = 128;
    matrix Z(X.rows, Y.columns);
    for (ep::index from = 0; from < Y.rows; from += block) {
        for (ep::index left = 0; left < Y.columns; left += block) {
            const ep::index to = std::min(from + block, Y.rows);
            const ep::index right = std::min(left + block, Y.columns);
            for (ep::index row = 0; row < Z.rows; ++row) {
                for (ep::index inner = from; inner < to; ++inner) {
                    const double factor = X.row_at(row)[inner];
                    for (ep::index column = left; column < right; ++column) {
                        Z.row_at(row)[column] += factor * Y.row_at(inner)[column];
                    }
                }
            }
        }
    }
    return Z;
}

/// The chain without the library.
std::vector<double> reference(const sizes& n) {
    const matrix A(n.i, n.j, first), B(n.j, n.m, second), C(n.i, n.k, third), D(n.k, n.l, fourth), E(n.l, n.m, fifth);
    matrix Z = product(A, B);
    const matrix CDE = product(C, product(D, E));
    std::transform(Z.elements.begin(), Z.elements.end(), CDE.elements.begin(), Z.elements.begin(), std::plus<>{});
    return Z.elements;
}

/// True where the result is the reference's and the plan foretold every byte.
bool chain(ep::context& world, std::string_view title, const sizes& n, const std::string& trace) {
    const auto A = ep::generate<double>({n.i, n.j}, first).named("A");
    const auto B = ep::generate<double>({n.j, n.m}, second).named("B");
    const auto C = ep::generate<double>({n.i, n.k}, third).named("C");
    const auto D = ep::generate<double>({n.k, n.l}, fourth).named("D");
    const auto E = ep::generate<double>({n.l, n.m}, fifth).named("E");

    EINPARALLEL_LABELS(i, j, k, l, m);
    ep::tensor<double, 2> DE, Z;
    DE(k, m) = D(k, l) * E(l, m);
    Z(i, m) = A(i, j) * B(j, m) + C(i, k) * DE(k, m);  // each term is summed over its own labels
    DE.named("DE");
    Z.named("Z");

    // The fewest bytes among plans that occupy every rank. The default objective, time, may leave something as small as
    // this to fewer ranks.
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, Z);
    if (world.rank() == 0) {
        std::cout << title << '\n' << plan << '\n';
    }

    ep::trace seen;
    const ep::results run = example::run_plan(world, plan, seen);
    if (world.rank() == 0) {
        std::cout << seen;
        if (!trace.empty()) {
            std::ofstream(trace) << seen.to_json();
        }
    }
    const ep::array<double, 2> result = run.get(Z).gather(0);
    const bool as_predicted = example::moved_as_predicted(world, plan, run);
    const std::vector<double> expected = world.rank() == 0 ? reference(n) : std::vector<double>{};
    return example::agrees(world, {result.data(), static_cast<std::size_t>(result.size())}, expected) && as_predicted;
}

}  // namespace

int main(int argc, char** argv) {
    return example::run(argc, argv, [&](ep::context& world) {
        const ep::index s = example::argument(argc, argv, 1, 240);
        const std::string trace = argc > 2 ? argv[2] : "";
        const bool square = chain(world, "square", {.i = s, .j = s, .k = s, .l = s, .m = s}, trace);
        const bool skewed = chain(world, "\nskewed", {.i = s, .j = s / 10, .k = s / 10, .l = 10 * s, .m = s}, "");
        return square && skewed;
    });
}
