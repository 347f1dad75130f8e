// Block-cyclic matrices as ScaLAPACK lays them out, against index arithmetic element by element.

#include <doctest/doctest.h>

#include <einparallel/data/block_cyclic.hpp>
#include <einparallel/data/evaluate.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/data/sources.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/layout/cycles.hpp>
#include <einparallel/plan/plan.hpp>

#include <support/graphs.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace block_cyclic_test {

namespace {

EINPARALLEL_LABELS(i, j, k);

/// ScaLAPACK's NUMROC.
int numroc(int n, int nb, int process, int source, int processes) {
    const int distance = (processes + process - source) % processes;
    const int blocks = n / nb;
    int count = blocks / processes * nb;
    const int extra = blocks % processes;
    if (distance < extra) {
        count += nb;
    } else if (distance == extra) {
        count += n % nb;
    }
    return count;
}

/// INDXG2P and INDXG2L, counted from 0.
int owner(int at, int nb, int source, int processes) {
    return (source + at / nb) % processes;
}
int local(int at, int nb, int processes) {
    return nb * (at / (nb * processes)) + at % nb;
}

template <class T>
struct dealt {
    std::array<int, 9> numbers{};
    ep::process_grid grid;
    int row = -1, column = -1;  // of this rank on the grid; -1 beyond it
    std::vector<T> memory;

    dealt(const ep::context& world, int m, int n, const ep::process_grid& on, std::mt19937& random) : grid(on) {
        const auto any = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
        numbers = {1, 0, m, n, 1 + any(5), 1 + any(5), any(grid.rows), any(grid.columns), 0};
        if (world.rank() < grid.rows * grid.columns) {
            const bool by_rows = grid.order == ep::grid_order::row_major;
            row = by_rows ? world.rank() / grid.columns : world.rank() % grid.rows;
            column = by_rows ? world.rank() % grid.columns : world.rank() / grid.rows;
        }
        const int rows = row < 0 ? 0 : numroc(m, numbers[4], row, numbers[6], grid.rows);
        const int columns = row < 0 ? 0 : numroc(n, numbers[5], column, numbers[7], grid.columns);
        numbers[8] = std::max(1, rows + any(3));
        memory.assign(static_cast<std::size_t>(numbers[8] * columns), T(-99));
    }

    ep::block_cyclic<T> on(ep::context& world) {
        int descriptor[9];
        std::ranges::copy(numbers, descriptor);
        return {world, descriptor, grid, memory.data()};
    }

    /// Calls f(i, j, element) for every element here.
    template <class F>
    void visit(F f) {
        for (int at = 0; at < numbers[2] && row >= 0; ++at) {
            for (int to = 0; to < numbers[3]; ++to) {
                if (owner(at, numbers[4], numbers[6], grid.rows) == row &&
                    owner(to, numbers[5], numbers[7], grid.columns) == column) {
                    f(at, to,
                      memory[static_cast<std::size_t>(local(at, numbers[4], grid.rows) +
                                                      local(to, numbers[5], grid.columns) * numbers[8])]);
                }
            }
        }
    }
};

double a_at(ep::index row, ep::index column) {
    return static_cast<double>((3 * row + 5 * column) % 7 - 3);
}
double b_at(ep::index row, ep::index column) {
    return static_cast<double>((2 * row + 3 * column) % 5 - 2);
}

std::vector<ep::process_grid> grids(int ranks) {
    std::vector<ep::process_grid> all;
    for (int rows = 1; rows <= ranks; ++rows) {
        for (int columns = 1; rows * columns <= ranks; ++columns) {
            all.push_back({rows, columns, ep::grid_order::row_major});
            all.push_back({rows, columns, ep::grid_order::column_major});
        }
    }
    return all;
}

}  // namespace

TEST_CASE("a box in cycles has every element once, along each dimension in three boxes at most") {
    if (ep::context(MPI_COMM_WORLD).rank() != 0) {
        return;  // nothing here depends on ranks
    }
    for (ep::index length = 1; length < 9; ++length) {
        for (ep::index begin = 0; begin <= 20; begin += 3) {
            for (ep::index end = begin; end <= 30; end += 2) {
                std::vector<ep::index> found;
                const std::vector<ep::box> boxes = ep::detail::in_cycles({{{begin, end}}}, {length});
                for (const ep::box& each : boxes) {
                    for (ep::index cycle = each.sides[0].begin; cycle < each.sides[0].end; ++cycle) {
                        for (ep::index in = each.sides[1].begin; in < each.sides[1].end; ++in) {
                            found.push_back(cycle * length + in);
                            REQUIRE(in < length);
                        }
                    }
                }
                std::vector<ep::index> wanted(static_cast<std::size_t>(end - begin));
                std::iota(wanted.begin(), wanted.end(), begin);
                REQUIRE(found == wanted);
                REQUIRE(boxes.size() <= 3);
            }
        }
    }
    CHECK(ep::detail::in_cycles({{{1, 9}, {2, 3}}}, {4, 2}).size() == 3);
    CHECK(ep::detail::in_cycles({{{1, 9}, {2, 2}}}, {4, 2}).empty());
}

TEST_CASE("a rank holds as many rows and columns as NUMROC says") {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 random(9);
    for (const ep::process_grid& grid : grids(world.size())) {
        dealt<double> a(world, static_cast<int>(random() % 30), static_cast<int>(random() % 30), grid, random);
        const auto [type, context, m, n, rows, columns, first_row, first_column, leading] = a.numbers;
        const std::vector<ep::index> wanted =
            a.row < 0 ? std::vector<ep::index>{0, 0}
                      : std::vector<ep::index>{numroc(m, rows, a.row, first_row, grid.rows),
                                               numroc(n, columns, a.column, first_column, grid.columns)};
        CHECK(ep::detail::extents_of(a.on(world).memory()->elements.held) == wanted);
    }
}

TEST_CASE("matrices that lie block-cyclic are read, and results are put there") {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 random(7);
    int turn = 0;
    for (const ep::process_grid& grid : grids(world.size())) {
        if (world.size() > 6 && random() % 4 != 0) {
            continue;  // of the many grids of many ranks a part
        }
        const int m = 1 + static_cast<int>(random() % 17);
        const int n = 1 + static_cast<int>(random() % 13);
        dealt<double> a(world, m, n, grid, random), z(world, n, m, grid, random), g(world, n, n, grid, random);
        a.visit([](int row, int column, double& element) { element = a_at(row, column); });
        const ep::tensor<double, 2> A = ep::placeholder<double>({m, n}).named("A");
        const ep::tensor<double, 2> B = ep::generate<double>({m, n}, b_at);
        ep::tensor<double, 2> Z, G;
        Z(j, i) = 2.0 * A(i, j) + B(i, j);
        G(i, j) = A(k, i) * A(k, j);
        const ep::objective wanted = turn++ % 2 == 0 ? ep::objective::time : ep::objective::bytes;
        const ep::plan plan = ep::decompose(world, {.objective = wanted}, Z, G);
        const ep::results run =
            plan.run(world, ep::bind(A, a.on(world)), ep::into(Z, z.on(world)), ep::into(G, g.on(world)));
        const auto gram = [&](int row, int column) {
            double sum = 0;
            for (int at = 0; at < m; ++at) {
                sum += a_at(at, row) * a_at(at, column);
            }
            return sum;
        };
        std::ptrdiff_t written = 0;
        std::size_t sent = 0;  // from a's memory, and from where the plan leaves Z and G
        const ep::distribution* reads = nullptr;
        for (const ep::planned_vertex& each : plan.vertices()) {
            reads = each.name == "A" ? &each.resting : reads;
        }
        a.visit([&](int row, int column, double) {
            const ep::box mine = reads->held_by(world.rank());
            sent += contains(mine, {{{row, row + 1}, {column, column + 1}}}) ? 0 : 1;
        });
        const auto count_sent = [&](const ep::box& held, const dealt<double>& to) {
            for (ep::index row = held.sides[0].begin; row < held.sides[0].end; ++row) {
                for (ep::index column = held.sides[1].begin; column < held.sides[1].end; ++column) {
                    sent +=
                        owner(static_cast<int>(row), to.numbers[4], to.numbers[6], grid.rows) == to.row &&
                                owner(static_cast<int>(column), to.numbers[5], to.numbers[7], grid.columns) == to.column
                            ? 0
                            : 1;
                }
            }
        };
        z.visit([&](int row, int column, double element) {
            CHECK(element == 2 * a_at(column, row) + b_at(column, row));
            ++written;
        });
        CHECK(std::ranges::count(z.memory, -99.0) == static_cast<std::ptrdiff_t>(z.memory.size()) - written);
        written = 0;
        g.visit([&](int row, int column, double element) {
            CHECK(element == gram(row, column));
            written += gram(row, column) == -99 ? 0 : 1;
        });
        CHECK(std::ranges::count(g.memory, -99.0) == static_cast<std::ptrdiff_t>(g.memory.size()) - written);
        count_sent(run.get(Z).held(), z);
        count_sent(run.get(G).held(), g);
        CHECK(run.extra_bytes_sent() == sent * sizeof(double));
        CHECK(run.bytes_sent() == plan.bytes_sent(world.rank()));
        run.get(G).for_each_local([&](const auto& at, double element) {
            CHECK(element == gram(static_cast<int>(at[0]), static_cast<int>(at[1])));
        });
    }
}

TEST_CASE("evaluate_into takes values and block-cyclic memory, the same for both too") {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 random(8);
    dealt<std::complex<float>> a(world, 11, 11, {1, world.size(), ep::grid_order::row_major}, random);
    const auto number = [](int row, int column) { return std::complex<float>(float(row), float(column)); };
    a.visit([&](int row, int column, auto& element) { element = number(row, column); });
    const ep::tensor<std::complex<float>, 2> A = ep::placeholder<std::complex<float>>({11, 11});
    ep::tensor<std::complex<float>, 2> Z;
    Z(i, j) = A(j, i);
    const ep::block_cyclic<std::complex<float>> matrix = a.on(world);
    ep::evaluate_into(world, ep::into(Z, matrix), ep::bind(A, matrix));
    a.visit([&](int row, int column, auto& element) { CHECK(element == number(column, row)); });
}

TEST_CASE("descriptors that make no sense are refused on every rank") {
    ep::context world(MPI_COMM_WORLD);
    std::vector<double> memory(64);
    const auto refused = [&](std::array<int, 9> numbers, ep::process_grid grid) {
        int descriptor[9];
        std::ranges::copy(numbers, descriptor);
        const std::string got =
            sentence_of([&] { static_cast<void>(ep::block_cyclic<double>(world, descriptor, grid, memory.data())); });
        CHECK(same_everywhere(world, got));
        return got;
    };
    CHECK(refused({1, 0, 8, 8, 2, 2, 0, 0, 8}, {1, world.size()}).empty());
    CHECK(refused({501, 0, 8, 8, 2, 2, 0, 0, 8}, {}) ==
          "block_cyclic: the descriptor is of type 501, but dense matrices are of type 1");
    CHECK(refused({1, 0, -1, 8, 2, 2, 0, 0, 8}, {}) == "block_cyclic: a matrix cannot be -1 x 8");
    CHECK(refused({1, 0, 8, 8, 0, 2, 0, 0, 8}, {}) == "block_cyclic: blocks cannot be 0 x 2");
    CHECK(refused({1, 0, 8, 8, 2, 2, 1, 0, 8}, {}) ==
          "block_cyclic: the first block is on process (1, 0), the grid is 1 x 1");
    CHECK(refused({1, 0, 8, 8, 2, 2, 0, 0, 8}, {world.size() + 1, 1}).find("block_cyclic: a grid of ") == 0);
    CHECK(refused({1, 0, 8, 8, 2, 2, 0, 0, 7}, {})
              .find("block_cyclic: rank 0: the leading dimension is 7, this rank has 8 rows") == 0);
    if (world.size() > 1) {
        CHECK(refused({1, 0, 8, 8, world.rank() == 1 ? 3 : 2, 2, 0, 0, 8}, {}) ==
              "block_cyclic: the descriptor or the grid is not the same on all ranks");
        CHECK(refused({1, world.rank(), 8, 8, 2, 2, 0, 0, 8 + world.rank()}, {}).empty());
    }
    const auto at_null = [&](int rank) {
        const int descriptor[9] = {1, 0, 8, 8, 2, 2, 0, 0, 8};
        const std::string got = sentence_of([&] {
            double* const local = world.rank() == rank ? nullptr : memory.data();
            static_cast<void>(ep::block_cyclic<double>(world, descriptor, {1, std::min(2, world.size())}, local));
        });
        CHECK(same_everywhere(world, got));
        return got;
    };
    const int last = std::min(1, world.size() - 1);
    CHECK(at_null(last) == "block_cyclic: rank " + std::to_string(last) + ": the elements are at a null pointer");
    if (world.size() > 2) {
        CHECK(at_null(2).empty());  // which holds nothing
    }
    const ep::tensor<double, 2> X = ep::placeholder<double>({8, 7}).named("X");
    ep::tensor<double, 2> Z;
    Z(i, j) = 2.0 * X(i, j);
    Z.named("Z");
    const ep::plan plan = ep::decompose(world, Z);
    const int descriptor[9] = {1, 0, 8, 8, 2, 2, 0, 0, 8};
    const ep::block_cyclic<double> matrix(world, descriptor, {}, memory.data());
    const ep::array<double, 2> x({8, 7});
    CHECK(sentence_of([&] { static_cast<void>(plan.run(world, ep::bind(X, matrix))); })
              .find("run: the value bound to placeholder 'X' does not fit: the value is double, 8 x 8; the placeholder "
                    "is double, 8 x 7") == 0);
    CHECK(sentence_of([&] {
              static_cast<void>(plan.run(world, ep::bind(X, x), ep::into(Z, matrix)));
          }).find("run: the memory for output 'Z' does not fit: it is ") == 0);
}

}  // namespace block_cyclic_test
