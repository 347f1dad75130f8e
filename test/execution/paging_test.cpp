// Runs whose tensors wait in files: the same numbers as with everything in memory, as many bytes as the plan says, and
// one sentence where storage fails.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include <support/graphs.hpp>
#include <support/long_suite.hpp>
#include <support/most_of.hpp>
#include <support/sentence_of.hpp>
#include <support/shared_folder.hpp>

#include <sys/resource.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ep = einparallel;
using ep::testing::most_of, ep::testing::sentence_of, ep::testing::shared_folder;

namespace paging_test {

namespace {

EINPARALLEL_LABELS(b, i, j, k, l);

double small(ep::index row, ep::index column) {
    return static_cast<double>((7 * row + 3 * column) % 5 - 2);
}

/// Every rank's moves are in the trace, one after the other, with the plan's bytes.
void check_trace(const ep::trace& seen, const ep::plan& plan) {
    std::vector<std::size_t> moved(static_cast<std::size_t>(plan.processes()));
    std::vector<double> last(moved.size(), 0);
    bool in_order = true;
    for (const ep::trace_span& each : seen.spans()) {
        if (each.what == ep::activity::load || each.what == ep::activity::evict) {
            const auto rank = static_cast<std::size_t>(each.rank);
            moved[rank] += static_cast<std::size_t>(each.bytes);
            in_order = in_order && last[rank] <= each.begin && each.begin <= each.end;
            last[rank] = each.end;
        }
    }
    CHECK(in_order);
    std::size_t all = 0;
    for (int rank = 0; rank < plan.processes(); ++rank) {
        CHECK(moved[static_cast<std::size_t>(rank)] == plan.bytes_paged(rank));
        all += plan.bytes_paged(rank);
    }
    const bool says =
        seen.summary().find("storage ") != std::string::npos && seen.to_json().find("\"storage\"") != std::string::npos;
    CHECK(says == (all > 0));
}

/// Runs a graph under limits from what fits downwards, and compares with the run without a limit. Returns the number of
/// plans that paged.
template <class... Outputs>
int check_limits(ep::context& world, const std::string& folder, const std::vector<ep::binding>& bound,
                 const Outputs&... outputs) {
    const ep::options plain{.effort = ep::testing::short_search};
    const ep::plan whole = ep::decompose(world, plain, outputs...);
    const ep::results expected = ep::execute(whole, world, bound);
    const std::size_t most = most_of(whole);
    int paged = 0;
    for (const int percent : {90, 70, 55, 40, 30, 20}) {
        ep::options asked = plain;
        asked.memory_limit = most * static_cast<std::size_t>(percent) / 100;
        asked.paging = true;
        ep::plan plan;
        if (!sentence_of([&] { plan = ep::decompose(world, asked, outputs...); }).empty()) {
            continue;
        }
        std::vector<ep::binding> all = bound;
        all.push_back(ep::scratch(folder));
        const ep::results found = ep::execute(plan, world, all);
        ep::trace seen;
        const ep::results again = ep::detail::carry_out(plan, world, all, ep::detail::the_host, &seen);
        INFO(percent << " % of " << most << " bytes\n" << plan);
        CHECK(most_of(plan) <= asked.memory_limit);
        CHECK(found.bytes_paged() == plan.bytes_paged(world.rank()));
        CHECK(again.bytes_paged() == plan.bytes_paged(world.rank()));
        CHECK(found.bytes_sent() == plan.bytes_sent(world.rank()));
        check_trace(seen, plan);
        paged += plan.paging().which != ep::paged_tensors::none ? 1 : 0;
        const auto is_same = [&](const auto& output) {
            const auto one = expected.get(output).allgather();
            for (const ep::results& other : {found, again}) {
                const auto two = other.get(output).allgather();
                CHECK(std::equal(one.data(), one.data() + one.size(), two.data()));
            }
        };
        (is_same(outputs), ...);
    }
    return paged;
}

}  // namespace

TEST_CASE("a chain with a gradient, under limits down to a fifth of what it holds") {
    ep::context world(MPI_COMM_WORLD);
    const shared_folder folder(world);
    constexpr ep::index n = 24;
    const ep::tensor<double, 2> A = ep::generate<double>({n, n}, small);
    const ep::tensor<double, 2> X = ep::placeholder<double>({n, n});
    ep::tensor<double, 2> Y, Z, W;
    Y(i, k) = A(i, j) * X(j, k);
    Z(i, k) = ep::max(ep::abs(Y(i, j) - X(j, k)));
    W(i, k) = Z(i, j) * Y(k, j) + A(i, k);
    ep::tensor<double, 0> s;
    s() = W(i, j) * X(i, j);
    auto [dA, dX] = ep::gradient(s, A, X);
    ep::array<double, 2> x({n, n});
    for (ep::index row = 0; row < n; ++row) {
        for (ep::index column = 0; column < n; ++column) {
            x(row, column) = small(column, row + 1);
        }
    }
    CHECK(check_limits(world, folder.path, {ep::bind(X, x)}, s, dA, dX) > 0);
    CHECK(folder.is_empty());
}

TEST_CASE("what travels between ranks need not fit into memory") {
    ep::context world(MPI_COMM_WORLD);
    const shared_folder folder(world);
    constexpr ep::index n = 90;
    const ep::tensor<double, 2> A = ep::generate<double>({n, n}, small);
    ep::tensor<double, 2> Z;
    Z(i, k) = A(i, j) * A(k, j);
    ep::tensor<double, 1> u;
    u(i) = Z(i, k) * Z(i, k);
    const auto expected = ep::evaluate(world, u).allgather();
    for (const std::size_t part : {std::size_t{2}, std::size_t{4}, std::size_t{12}}) {
        ep::options asked{.memory_limit = n * n * sizeof(double) / part, .paging = true};
        const ep::plan plan = ep::decompose(world, asked, u);
        CHECK(most_of(plan) <= asked.memory_limit);
        CHECK((plan.vertices()[plan.outputs().front()].work.ranks.size() > 1 || world.size() == 1));
        const auto found = ep::distributed<double, 1>(plan.run(world, ep::scratch(folder.path))).allgather();
        CHECK(std::equal(found.data(), found.data() + n, expected.data()));
    }
}

TEST_CASE("every kind of work: shifts, indices that are data, running sums, rows of a softmax, the largest elements") {
    ep::context world(MPI_COMM_WORLD);
    const shared_folder folder(world);
    constexpr ep::index n = 30, m = 17;
    const ep::tensor<double, 2> A = ep::generate<double>({n, m}, small);
    const ep::tensor<double, 1> w = ep::generate<double>({3}, [](auto at) { return double(at + 1); });
    const auto token = ep::generate<std::int32_t>({m}, [](auto at) { return std::int32_t((at * 7) % n); });
    ep::tensor<double, 2> shifted, picked, sums, turned;
    shifted(i, k) = A(i + l, k) * w(l);
    picked(j, k) = A(token(j), k);
    sums(i, k) = ep::cumsum(i, A(i, k));
    turned(k, i) = A(i, k) + sums(i, k);
    ep::tensor<double, 1> all;
    all(k) = shifted(i, k) * shifted(i, k) + picked(j, k) + turned(k, i) * A(i, k);
    CHECK(check_limits(world, folder.path, {}, all, picked, sums) >= 0);
    ep::tensor<double, 2> scores, rows;
    scores(i, j) = A(i, k) * A(j, k);
    rows(i, j) = ep::round(1024 * ep::softmax(j, scores(i, j)));
    ep::tensor<double, 2> out;
    out(i, k) = rows(i, j) * A(j, k);
    const int of_rows = check_limits(world, folder.path, {}, out);
    CHECK((of_rows > 0 || world.size() > 3));
}

#if !defined(SMPI_H)  // which writes no files of several ranks
TEST_CASE("inputs from files are read in parts: both orders, another byte order, halves") {
    ep::context world(MPI_COMM_WORLD);
    const shared_folder folder(world);
    constexpr ep::index n = 60, m = 40;
    const std::string plain = folder.path + "/a.npy", turned = folder.path + "/b.npy";
    const std::string halves = folder.path + "/c.safetensors";
    if (world.rank() == 0) {
        ep::array<double, 2> a({n, m});
        for (ep::index row = 0; row < n; ++row) {
            for (ep::index column = 0; column < m; ++column) {
                a(row, column) = small(row, column);
            }
        }
        ep::write_npy(plain, a);
        std::ifstream from(plain, std::ios::binary);
        std::string bytes((std::istreambuf_iterator<char>(from)), {});
        const std::size_t order = bytes.find("False");
        bytes.replace(order, 6, "True, ");  // the same bytes are another matrix in Fortran order
        std::ofstream(turned, std::ios::binary) << bytes;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const auto half =
        ep::evaluate(world, ep::tensor<ep::bfloat16, 2>(ep::generate<ep::bfloat16>(
                                {n, m}, [](auto x, auto y) { return ep::bfloat16(float(small(x, y))); })));
    ep::save_safetensors(halves, {{"w", half}});
    const ep::tensor<double, 2> A = ep::load_npy<double, 2>(plain), B = ep::load_npy<double, 2>(turned);
    const auto C = ep::load_safetensors<ep::bfloat16, 2>(halves, "w");
    ep::tensor<double, 2> G;
    G(j, l) = A(i, j) * B(i, l);
    ep::tensor<double, 1> s;
    s(j) = A(i, j) * B(i, j) + G(j, l);
    ep::tensor<float, 2> H;
    H(j, l) = C(i, j) * C(i, l);
    CHECK(check_limits(world, folder.path, {}, s) > 0);
    CHECK(check_limits(world, folder.path, {}, s, H) > 0);
    // Without options.paging inputs are read in parts where no other plan keeps to the limit, and nothing is written.
    ep::tensor<double, 0> square;
    square() = A(i, j) * A(i, j);
    const ep::options little{.memory_limit = 4000};
    const ep::plan plan = ep::decompose(world, little, square);
    CHECK(plan.paging().which == ep::paged_tensors::inputs);
    CHECK(most_of(plan) <= 4000);
    double expected = 0;
    for (ep::index row = 0; row < n; ++row) {
        for (ep::index column = 0; column < m; ++column) {
            expected += small(row, column) * small(row, column);
        }
    }
    CHECK(ep::distributed<double, 0>(plan.run(world)).allgather().value() == expected);
}
#endif

TEST_CASE("one sentence where storage is missing, the same on every rank") {
    ep::context world(MPI_COMM_WORLD);
    const shared_folder folder(world);
    constexpr ep::index n = 32;
    const ep::tensor<double, 2> A = ep::generate<double>({n, n}, small);
    ep::tensor<double, 2> B, C, D;
    B(i, k) = A(i, j) * A(j, k);
    C(i, k) = B(i, j) * A(k, j);
    D(i, k) = C(i, j) * C(j, k);
    ep::tensor<double, 0> s;
    s() = B(i, j) * D(i, j);
    ep::options asked{.effort = ep::testing::short_search};
    const std::size_t most = most_of(ep::decompose(world, asked, s));
    asked.paging = true;
    ep::plan plan;
    int evicts = -1;  // a rank that writes
    for (std::size_t tenths = 6; tenths > 2 && evicts < 0; --tenths) {
        asked.memory_limit = most * tenths / 10;
        plan = ep::decompose(world, asked, s);
        for (int rank = 0; rank < world.size(); ++rank) {
            for (const ep::stored_tensor& each : plan.program_of(rank).stored) {
                evicts = each.input == ep::stored_tensor::no_vertex ? rank : evicts;
            }
        }
    }
    REQUIRE(evicts >= 0);
    const std::string missing = sentence_of([&] { plan.run(world); });
    CHECK(missing.find("options.paging") != std::string::npos);
    CHECK(missing.find("ep::scratch") != std::string::npos);
    CHECK(sentence_of([&] {
              plan.run(world, ep::scratch(folder.path + "/nowhere"));
          }).find("cannot hold scratch files") != std::string::npos);
    CHECK(sentence_of([&] {
              plan.run(world, ep::scratch(folder.path), ep::scratch(folder.path));
          }).find("two folders are given") != std::string::npos);
    CHECK(sentence_of([&] { static_cast<void>(ep::scratch("")); }) == "scratch: the folder has no name");
    // One rank without a folder: every rank says so.
    const std::string one = sentence_of([&] {
        world.rank() == evicts ? plan.run(world, ep::scratch("/nowhere at all"))
                               : plan.run(world, ep::scratch(folder.path));
    });
    CHECK(one.find("/nowhere at all") != std::string::npos);
    CHECK(sentence_of([&] { plan.run(world, ep::scratch(folder.path)); }).empty());
    CHECK(folder.is_empty());
    asked.memory_limit = 64;
    CHECK(sentence_of([&] { static_cast<void>(ep::decompose(world, asked, s)); }).find("options.memory_limit is 64") !=
          std::string::npos);
}

TEST_CASE("a file that changes while plans read it") {
    ep::context world(MPI_COMM_WORLD);
    const shared_folder folder(world);
    const std::string file = folder.path + "/a.npy";
    constexpr ep::index n = 200, m = 30;
    if (world.rank() == 0) {
        ep::write_npy(file, ep::array<double, 2>({n, m}));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const ep::tensor<double, 2> A = ep::load_npy<double, 2>(file);
    ep::tensor<double, 2> G;
    G(j, k) = A(i, j) * A(i, k);
    const ep::plan plan = ep::decompose(world, {.memory_limit = 20'000, .paging = true}, G);
    CHECK(plan.paging().which != ep::paged_tensors::none);
    CHECK(sentence_of([&] { plan.run(world, ep::scratch(folder.path)); }).empty());
    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank() == 0) {
        std::filesystem::resize_file(file, 20'000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string sentence = sentence_of([&] { plan.run(world, ep::scratch(folder.path)); });
    CHECK(sentence.find("was changed after it was opened") != std::string::npos);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank() == 0) {
        ep::array<double, 2> other({n, m});
        other(0, 0) = 1;
        ep::write_npy(file, other);  // as long as before
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(sentence_of([&] { plan.run(world, ep::scratch(folder.path)); }).find("was changed after it was opened") !=
          std::string::npos);
}

TEST_CASE("einsums from files into a file, in less memory than any of them takes") {
    ep::context world(MPI_COMM_WORLD);
    const shared_folder folder(world);
    if (world.rank() > 0) {
        return;
    }
    const std::string a = folder.path + "/a.npy", c = folder.path + "/b.npy", made = folder.path + "/made.npy";
    const auto written = [&](const std::string& path, ep::index rows, ep::index columns, ep::index shift) {
        ep::array<double, 2> matrix({rows, columns});
        for (ep::index row = 0; row < rows; ++row) {
            for (ep::index column = 0; column < columns; ++column) {
                matrix(row, column) = small(row, column + shift);
            }
        }
        ep::write_npy(path, matrix);
        return matrix;
    };
    const ep::array<double, 2> A = written(a, 90, 61, 0), B = written(c, 61, 83, 2);
    for (const std::size_t limit : {std::size_t{0}, std::size_t{60'000}, std::size_t{20'000}, std::size_t{6'000}}) {
        INFO(limit);
        ep::einsum_files("ij,jk->ik", {a, c}, made, {.memory_limit = limit, .overwrite = true});
        const ep::array<double, 2> product = ep::einsum<"ij,jk->ik">(A, B), found = ep::read_npy<double, 2>(made);
        CHECK(std::equal(product.data(), product.data() + product.size(), found.data()));
        ep::einsum_files("ki,kj->ji", {a, a}, made, {.memory_limit = limit, .overwrite = true});
        const ep::array<double, 2> gram = ep::einsum<"ki,kj->ji">(A, A), files = ep::read_npy<double, 2>(made);
        CHECK(std::equal(gram.data(), gram.data() + gram.size(), files.data()));
        ep::einsum_files("ij,jk->kij", {a, c}, made, {.memory_limit = limit, .overwrite = true});
        const ep::array<double, 3> outer = ep::einsum<"ij,jk->kij">(A, B), all = ep::read_npy<double, 3>(made);
        CHECK(std::equal(outer.data(), outer.data() + outer.size(), all.data()));
        ep::einsum_files("ij->ji", {a}, made, {.memory_limit = limit, .overwrite = true});
        const ep::array<double, 2> turned = ep::einsum<"ij->ji">(A), flipped = ep::read_npy<double, 2>(made);
        CHECK(std::equal(turned.data(), turned.data() + turned.size(), flipped.data()));
        ep::einsum_files("ij,jk,lk->il", {a, c, c}, made, {.memory_limit = limit, .overwrite = true});
        const ep::array<double, 2> chain = ep::einsum<"ij,jk,lk->il">(A, B, B), three = ep::read_npy<double, 2>(made);
        CHECK(std::equal(chain.data(), chain.data() + chain.size(), three.data()));
    }
    const auto refused = [&](const std::string& text, const std::vector<std::string>& inputs, const std::string& output,
                             const ep::file_options& how = {}) {
        return sentence_of([&] { ep::einsum_files(text, inputs, output, how); });
    };
    std::filesystem::remove(made);
    CHECK(refused("ij,jk->ik", {a, c}, a, {.overwrite = true}) == "einsum_files: the output '" + a + "' is an input");
    CHECK(refused("ij->ji", {a}, c) == "einsum_files: '" + c + "' exists: say .overwrite = true to replace it");
    CHECK(refused("ij,kj->ik", {a, c}, made).find("j") != std::string::npos);
    CHECK(refused("ij,j", {a}, made).find("einsum") != std::string::npos);
    CHECK(refused("ij->ij", {folder.path + "/none.npy"}, made).find("none.npy") != std::string::npos);
    CHECK(refused("ij,jk->ik", {a, c}, made, {.memory_limit = 8}).find("options.memory_limit is 8") !=
          std::string::npos);
    CHECK(refused("ij,jk->ik", {a, c}, folder.path + "/no/made.npy").find("cannot be opened for writing") !=
          std::string::npos);
    ep::write_npy(folder.path + "/f.npy", ep::array<float, 2>({61, 3}));
    CHECK(refused("ij,jk->ik", {a, folder.path + "/f.npy"}, made).find("is of type float") != std::string::npos);
    // A disk without room: nothing is left, and the older file is whole.
    ep::einsum_files("ij->ji", {a}, made);
    const auto before = std::filesystem::file_size(made);
    rlimit small_files{};
    getrlimit(RLIMIT_FSIZE, &small_files);
    const rlimit limits = small_files;
    small_files.rlim_cur = 10'000;
    const auto signal_before = ::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small_files);
    const std::string full = refused("ij,jk->ik", {a, c}, made, {.overwrite = true});
    setrlimit(RLIMIT_FSIZE, &limits);
    ::signal(SIGXFSZ, signal_before);
    CHECK(full.find("cannot be written") != std::string::npos);
    CHECK(std::filesystem::file_size(made) == before);
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(folder.path)) {
        ++files;
    }
    CHECK(files == 4);
}

}  // namespace paging_test
