// Where inputs have their elements: what is copied, owned and referred to, what a placeholder takes, and what a run
// says of an array that is gone or that differs between ranks. Against loops written here.

#include <doctest/doctest.h>
#include <Eigen/Core>

#include <einparallel.hpp>

#include <support/graphs.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ep = einparallel;
using ep::testing::same_everywhere;
using ep::testing::sentence_of;

namespace sources_test {

namespace {

EINPARALLEL_LABELS(i, j);

constexpr ep::index rows = 6, columns = 5;

ep::array<double, 2> filled(double value) {
    ep::array<double, 2> made({rows, columns});
    for (ep::index element = 0; element < made.size(); ++element) {
        made.data()[element] = value;
    }
    return made;
}

/// Z(i) = Σ_j 1·X(i, j), planned to move its input.
struct row_sums {
    ep::tensor<double, 2> X;
    ep::tensor<double, 1> Z;

    explicit row_sums(const ep::tensor<double, 2>& of) : X(of) { Z(i) = X(i, j); }
    [[nodiscard]] ep::plan plan(ep::context& world, bool check_inputs = false) const {
        return ep::decompose(world, {.objective = ep::objective::bytes, .check_inputs = check_inputs}, Z);
    }
};

double total(const ep::distributed<double, 1>& z) {
    const ep::array<double, 1> whole = z.allgather();
    double sum = 0;
    for (ep::index row = 0; row < whole.size(); ++row) {
        sum += whole(row);
    }
    return sum;
}

template <class... Bindings>
double total_of(ep::context& world, const ep::plan& plan, const Bindings&... bound) {
    const ep::distributed<double, 1> z = plan.run(world, bound...);
    return total(z);
}

/// A tensor whose array is gone when the function returns: what a user's read_inputs() does.
ep::tensor<double, 2> input_of_a_function(double value, int root) {
    const ep::array<double, 2> local = filled(value);
    return ep::from_root(local, root);
}
ep::tensor<double, 1> input_of_a_vector(int root) {
    const std::vector<double> local{1, 2, 3, 4};
    return ep::from_root(local, root);
}

}  // namespace

TEST_CASE("from_root: sources that die before the run were copied; only the root's elements count") {
    ep::context world(MPI_COMM_WORLD);
    const int root = world.size() - 1;
    const bool here = world.rank() == root;
    const auto sum_of = [&](const ep::tensor<double, 2>& input) {
        return total_of(world, row_sums(input).plan(world));
    };
    CHECK(sum_of(input_of_a_function(here ? 1 : -1, root)) == 30);
    const ep::distributed<double, 1> vector = ep::evaluate(world, input_of_a_vector(root));
    CHECK(total(vector) == 10);

    ep::array<double, 2> elements = filled(here ? 1 : -1);
    const ep::tensor<double, 2> copied = ep::from_root(elements, root);
    const ep::tensor<double, 2> kept = ep::from_root(ep::array<double, 2>(elements), root);
    const ep::tensor<double, 2> referred = ep::from_root(ep::borrow(elements), root);
    const row_sums again(referred);
    const ep::plan plan = again.plan(world);
    CHECK(total_of(world, plan) == 30);
    elements(0, 0) += 2;
    CHECK(sum_of(copied) == 30);
    CHECK(sum_of(kept) == 30);
    CHECK(total_of(world, plan) == (30 + 2));

    // columns of a row-major array: a strided view, and a view that is a temporary itself
    const ep::view<double, 2> turned(elements.data(), {rows, columns}, {1, rows});
    const ep::tensor<double, 2> of_view = ep::from_root(turned, root);
    const ep::tensor<double, 2> of_borrowed = ep::from_root(ep::borrow(ep::view<double, 2>(turned)), root);
    elements(0, 0) += 1;
    CHECK(sum_of(of_view) == 32);
    CHECK(sum_of(of_borrowed) == 33);

    // column-major, of another library
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Constant(rows, columns, here ? 1 : -1);
    const ep::tensor<double, 2> of_matrix = ep::from_root(matrix, root);
    const ep::tensor<double, 2> of_map = ep::from_root(Eigen::Map<Eigen::MatrixXd>(matrix.data(), rows, columns), root);
    const ep::tensor<double, 2> of_rvalue = ep::from_root(Eigen::MatrixXd(matrix), root);
    const ep::tensor<double, 2> of_lent = ep::from_root(ep::borrow(matrix), root);
    matrix(5, 0) += 1;
    CHECK(sum_of(of_matrix) == 30);
    CHECK(sum_of(of_map) == 30);
    CHECK(sum_of(of_rvalue) == 30);
    CHECK(sum_of(of_lent) == 31);
    matrix = Eigen::MatrixXd();
    CHECK(sum_of(of_matrix) == 30);
}

/// The second column of a matrix, as a Kokkos::View has it.
struct column_of {
    static constexpr std::size_t rank = 1;
    double* matrix;
    [[nodiscard]] double* data() const { return matrix + 1; }
    [[nodiscard]] std::size_t extent(std::size_t /*dimension*/) const { return 6; }
    [[nodiscard]] std::size_t stride(std::size_t /*dimension*/) const { return 3; }
};

TEST_CASE("elements of another library's strided view") {
    ep::context world(MPI_COMM_WORLD);
    std::vector<double> matrix(18);
    std::iota(matrix.begin(), matrix.end(), 0.0);
    const column_of column{matrix.data()};
    const ep::tensor<double, 1> X = ep::placeholder<double>({6});
    for (const ep::tensor<double, 1>& given :
         {ep::from_root(column, world.size() - 1), ep::from_root(ep::borrow(column), 0), X}) {
        ep::tensor<double, 1> Z;
        Z(i) = 2.0 * given(i);
        const ep::plan plan = ep::decompose(world, Z);
        const ep::results made = given.node() == X.node() ? plan.run(world, ep::bind(X, column)) : plan.run(world);
        const ep::array<double, 1> got = made.get(Z).allgather();
        for (ep::index at = 0; at < 6; ++at) {
            CHECK(got(at) == double(2 * (3 * at + 1)));
        }
    }
}

TEST_CASE("an array that is gone when it is read is a sentence") {
    ep::context world(MPI_COMM_WORLD);
    const row_sums graph(ep::placeholder<double>({rows, columns}).named("X"));
    const ep::plan plan = graph.plan(world);
    std::optional<ep::array<double, 2>> lent = filled(1);
    std::optional<ep::array<double, 2>> bound = filled(2);
    const row_sums of_lent(ep::from_root(ep::borrow(*lent), 0).named("B"));
    const ep::plan reads_lent = of_lent.plan(world);
    const ep::binding stored = ep::bind(graph.X, *bound);
    CHECK(total_of(world, plan, stored) == 60);
    CHECK(total_of(world, reads_lent) == 30);

    // Elements that were moved live on, with their new owner.
    ep::array<double, 2> owner = std::move(*bound);
    bound.reset();
    CHECK(total_of(world, plan, stored) == 60);
    owner = filled(3);
    const std::string of_bound = sentence_of([&] { plan.run(world, stored); });
    CHECK(of_bound ==
          "run: the value bound to placeholder 'X' is an array that is gone: bind refers to it until run returns, "
          "bind(X, std::move(array)) owns it");
    CHECK(same_everywhere(world, of_bound));
    lent.reset();
    CHECK(
        sentence_of([&] { reads_lent.run(world); }) ==
        "run: the array of input 'B' is gone: ep::borrow only refers to it; from_root without ep::borrow keeps a copy");
    // What is owned stays.
    const ep::binding owned = ep::bind(graph.X, std::move(owner));
    CHECK(total_of(world, plan, owned) == 90);
}

TEST_CASE("own blocks in an array: one that is moved in is kept, one that is gone is a sentence") {
    ep::context world(MPI_COMM_WORLD);
    const ep::index first = 2 * world.rank();
    const ep::index all = 2 * world.size();
    const auto block = [&] {
        ep::array<double, 1> made({2});
        made.data()[0] = static_cast<double>(first);
        made.data()[1] = static_cast<double>(first + 1);
        return made;
    };
    ep::tensor<double, 0> total;
    total() = ep::sum(ep::from_distributed(ep::distributed<double, 1>(world, {all}, {first}, block()))(i));
    CHECK(*ep::evaluate(world, total).allgather().data() == static_cast<double>(all * (all - 1) / 2));

    ep::tensor<double, 0> lost;
    ep::distributed<double, 1> gone;
    {
        ep::array<double, 1> short_lived = block();
        gone = ep::distributed<double, 1>(world, {all}, {first}, short_lived);
        lost() = ep::sum(ep::from_distributed(gone)(i));
        CHECK(*ep::evaluate(world, lost).allgather().data() == static_cast<double>(all * (all - 1) / 2));
    }
    const auto refused = [](const std::string& sentence, auto&& call) {
        CHECK(sentence_of(call).find(sentence) != std::string::npos);
    };
    refused("is gone: ep::distributed only refers to it", [&] { static_cast<void>(ep::evaluate(world, lost)); });
    ep::tensor<double, 1> twice;
    twice(i) = 2 * ep::generate<double>({all}, [](auto at) { return static_cast<double>(at); })(i);
    refused("the memory for output 'twice' is an array that is gone",
            [&] { ep::evaluate_into(world, ep::into(twice.named("twice"), gone)); });
}

TEST_CASE("evaluate takes values of placeholders; one at a null pointer is a sentence") {
    ep::context world(MPI_COMM_WORLD);
    const ep::tensor<double, 1> x = ep::placeholder<double>({3});
    ep::tensor<double, 1> twice;
    ep::tensor<double, 0> total;
    twice(i) = 2 * x(i);
    total() = ep::sum(x(i));
    ep::array<double, 1> given({3});
    for (ep::index at = 0; at < 3; ++at) {
        given.data()[at] = static_cast<double>(at + 1);
    }
    CHECK(*ep::evaluate(world, total, ep::bind(x, given)).allgather().data() == 6);
    const auto [one, other] =
        ep::evaluate(world, {.objective = ep::objective::bytes}, twice, total, ep::bind(x, given));
    CHECK(one.allgather().data()[2] == 6);
    CHECK(*other.allgather().data() == 6);
    const ep::view<const double, 1> nothing(nullptr, {3});
    CHECK(sentence_of([&] {
              static_cast<void>(ep::evaluate(world, total, ep::bind(x, nothing)));
          }).find("bind: the elements are at a null pointer") != std::string::npos);
}

TEST_CASE(
    "elements at a null pointer are refused before a run begins, whoever reads them, and none are needed of none") {
    ep::context world(MPI_COMM_WORLD);
    const ep::view<double, 2> nowhere(nullptr, {rows, columns});
    const int last = world.size() - 1;
    const ep::array<double, 2> whole = filled(1);
    for (const int parts : {1, std::min(world.size(), int(rows))}) {
        row_sums graph(ep::placeholder<double>({rows, columns}).named("X"));
        graph.Z.pinned({{"i", parts}});
        for (const bool checks : {false, true}) {
            const ep::plan plan = graph.plan(world, checks);
            const auto refused = [&](const ep::binding& x) {
                const std::string said = sentence_of([&] { static_cast<void>(total_of(world, plan, x)); });
                CHECK(same_everywhere(world, said));
                return said.find("the elements are at a null pointer") != std::string::npos;
            };
            CHECK(refused(ep::bind(graph.X, nowhere)));
            CHECK(refused(ep::bind(graph.X, ep::view<double, 2>(nullptr, {rows, columns}, {1, rows}))));
            CHECK(refused(ep::bind(graph.X, ep::from_root(ep::borrow(nowhere), last))));
            CHECK(refused(ep::bind(graph.X, ep::from_root(nowhere, last))));
        }
        for (const bool is_borrowed : {false, true}) {
            row_sums of(is_borrowed ? ep::from_root(ep::borrow(nowhere), last) : ep::from_root(nowhere, last));
            of.Z.pinned({{"i", parts}});
            const std::string said = sentence_of([&] { static_cast<void>(total_of(world, of.plan(world))); });
            CHECK(said.find("the elements are at a null pointer") != std::string::npos);
            CHECK(same_everywhere(world, said));
        }
        // of another rank's elements nobody looks at the pointer
        if (world.size() > 1) {
            row_sums of(ep::from_root(ep::borrow(world.rank() == last ? ep::view<const double, 2>(whole)
                                                                      : ep::view<const double, 2>(nowhere)),
                                      last));
            of.Z.pinned({{"i", parts}});
            CHECK(total_of(world, of.plan(world)) == 30);
        }
    }
    const std::string hole = sentence_of([&] {
        const ep::index first = world.rank() == last ? 0 : rows;
        const ep::view<double, 2> none(nullptr, {rows - first, columns});
        static_cast<void>(ep::distributed<double, 2>(world, {rows, columns}, {first, 0}, none));
    });
    CHECK(hole == "distributed: the parts hold 0 of 30 elements: no rank has the element at (0, 0)");
}

TEST_CASE("whatever has the data can be bound") {
    ep::context world(MPI_COMM_WORLD);
    const row_sums graph(ep::placeholder<double>({rows, columns}).named("X"));
    const ep::plan plan = graph.plan(world);
    for (int root = 0; root < world.size(); ++root) {
        const ep::array<double, 2> elements = filled(world.rank() == root ? root + 1 : -1);
        CHECK(total_of(world, plan, ep::bind(graph.X, ep::from_root(elements, root))) == 30 * (root + 1));
        CHECK(total_of(world, plan, ep::bind(graph.X, ep::from_root(ep::borrow(elements), root))) == 30 * (root + 1));
    }
    CHECK(total_of(world, plan, ep::bind(graph.X, ep::generate<double>({rows, columns}, [](auto row, auto column) {
                                             return static_cast<double>(row * columns + column);
                                         }))) == 29 * 30 / 2);

    const std::string path = "sources_test." + std::to_string(world.size()) + ".npy";
    if (world.rank() == 0) {  // a .npy file by hand: version 1.0, header padded to 128 bytes
        std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (6, 5), }";
        header.resize(128 - 10 - 1, ' ');
        header += '\n';
        std::FILE* const file = std::fopen(path.c_str(), "wb");
        const std::string magic("\x93NUMPY\x01\x00\x76\x00", 10);
        std::fwrite(magic.data(), 1, magic.size(), file);
        std::fwrite(header.data(), 1, header.size(), file);
        const ep::array<double, 2> elements = filled(4);
        std::fwrite(elements.data(), sizeof(double), static_cast<std::size_t>(elements.size()), file);
        std::fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(total_of(world, plan, ep::bind(graph.X, ep::load_npy<double, 2>(path))) == 120);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank() == 0) {
        std::remove(path.c_str());
    }

    const ep::distributed<double, 2> spread = ep::evaluate(world, ep::from_root(filled(5), 0));
    CHECK(total_of(world, plan, ep::bind(graph.X, ep::from_distributed(spread))) == 150);
    CHECK(total_of(world, plan, ep::bind(graph.X, spread)) == 150);

    // what has no elements
    const auto refused = [&](const ep::tensor<double, 2>& value) {
        return sentence_of([&] { plan.run(world, ep::bind(graph.X, value)); });
    };
    ep::tensor<double, 2> computed;
    computed(i, j) = graph.X(i, j) + graph.X(i, j);
    const std::string no_elements =
        "run: the value bound to placeholder 'X' has no elements yet: bind the result of ep::evaluate, an array or an "
        "input";
    CHECK(refused(computed) == no_elements);
    CHECK(refused(graph.X) == no_elements);
    CHECK(refused(ep::tensor<double, 2>()) == "run: the value bound to placeholder 'X' is an empty handle");
    CHECK(refused(ep::from_root(filled(1), world.size())) == "run: the value bound to placeholder 'X' is on rank " +
                                                                 std::to_string(world.size()) + ", the plan is for " +
                                                                 std::to_string(world.size()) + " ranks");
    CHECK(refused(ep::load_npy<double, 2>("no such file.npy")).starts_with("run: placeholder 'X': "));
    CHECK(refused(ep::generate<double>({rows, 4}, [](auto...) { return 0.0; })) ==
          "run: the value bound to placeholder 'X' does not fit: the value is double, " + std::to_string(rows) +
              " x 4; the placeholder is double, " + std::to_string(rows) + " x 5");
}

TEST_CASE("options.check_inputs: an array that differs between ranks") {
    ep::context world(MPI_COMM_WORLD);
    const row_sums graph(ep::placeholder<double>({rows, columns}).named("X"));
    const ep::plan plan = graph.plan(world, true);
    const int last = world.size() - 1;
    ep::array<double, 2> elements = filled(1);
    CHECK(total_of(world, plan, ep::bind(graph.X, elements)) == 30);
    if (world.rank() == last) {
        elements(rows - 1, columns - 1) = 2;
    }
    const auto said = [&](const ep::binding& bound) { return sentence_of([&] { plan.run(world, bound); }); };
    const std::string wanted =
        last == 0 ? ""
                  : "run: the array bound to placeholder 'X' is not the same on rank 0 and rank " +
                        std::to_string(last) + "; where one rank has the data, bind ep::from_root(array, rank)";
    const std::string heard = said(ep::bind(graph.X, elements));
    CHECK(heard == wanted);
    CHECK(same_everywhere(world, heard));
    // transposed, so that what differs is found in strided memory too
    const ep::view<double, 2> strided(elements.data(), {rows, columns}, {1, rows});
    CHECK(said(ep::bind(graph.X, strided)) == wanted);
    // Where one rank has the data there is nothing to compare, and a function's values are taken for equal.
    CHECK(total_of(world, plan, ep::bind(graph.X, ep::from_root(elements, last))) == 31);
    CHECK(said(ep::bind(graph.X, ep::generate<double>({rows, columns}, [](auto...) { return 1.0; }))).empty());
    CHECK(plan.asked().check_inputs);
}

}  // namespace sources_test
