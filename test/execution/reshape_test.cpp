// Parts of tensors, tensors one behind the other and with other extents, on any number of ranks: the same as on arrays
// (test/array/index_test.cpp has these against loops); bytes as the plan says, and no more than what is lacked.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include <support/graphs.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

namespace reshape_test {

namespace ep = einparallel;
using ep::index;
using ep::testing::sentence_of;

namespace {

EINPARALLEL_LABELS(i, j, k, l, r);

class random_numbers {
public:
    explicit random_numbers(unsigned seed) : bits_(seed) {}
    index operator()(index from, index to) { return std::uniform_int_distribution<index>(from, to)(bits_); }

private:
    std::mt19937 bits_;
};

/// Element `at` in row-major order is at + 1.
template <std::size_t Rank>
ep::array<double, Rank> counted(const std::array<index, Rank>& extents, double first = 1) {
    ep::array<double, Rank> made(extents);
    for (index at = 0; at < made.size(); ++at) {
        made.data()[at] = first + static_cast<double>(at);
    }
    return made;
}

/// The same as a tensor: on each rank, on one, bound at the run, or made by an einsum.
template <std::size_t Rank>
struct given {
    ep::array<double, Rank> elements;
    ep::tensor<double, Rank> tensor;
    ep::tensor<double, Rank> bound;

    given(const std::array<index, Rank>& extents, index kind, double first = 1)
        : elements(counted(extents, first)), bound(ep::placeholder<double>(extents)) {
        if (kind == 0) {
            tensor = ep::from_root(elements, 0);
        } else if (kind == 1) {
            tensor = bound;
        } else {
            const auto copied = [&](auto... labels) { tensor(labels...) = 1.0 * bound(labels...); };
            if constexpr (Rank == 1) {
                copied(i);
            } else if constexpr (Rank == 2) {
                copied(i, j);
            } else if constexpr (Rank == 3) {
                copied(i, j, k);
            } else {
                copied(i, j, k, l);
            }
        }
    }
    given(const given&) = delete;
};

template <std::size_t Rank>
bool agrees(const ep::array<double, Rank>& got, const ep::array<double, Rank>& expected) {
    return got.extents() == expected.extents() &&
           std::equal(got.data(), got.data() + got.size(), expected.data());
}

template <std::size_t Rank>
std::array<index, Rank> factors_of(index count, random_numbers& random) {
    std::array<index, Rank> made{};
    for (std::size_t dimension = 0; dimension + 1 < Rank; ++dimension) {
        do {
            made[dimension] = random(1, 7);
        } while (count % made[dimension] != 0);
        count /= made[dimension];
    }
    made[Rank - 1] = count;
    std::shuffle(made.begin(), made.end(), std::mt19937(unsigned(random(0, 1000))));
    return made;
}

template <class Target, class Operand>
void copy(Target& to, const Operand& from) {
    if constexpr (Operand::rank == 1) {
        to(i) = from(i);
    } else if constexpr (Operand::rank == 2) {
        to(i, j) = from(i, j);
    } else if constexpr (Operand::rank == 3) {
        to(i, j, k) = from(i, j, k);
    } else {
        to(i, j, k, l) = from(i, j, k, l);
    }
}

/// Counts what a plan's run does otherwise than it should.
struct mistakes {
    int elements = 0;
    int bytes = 0;
};

template <std::size_t From, std::size_t To>
void reshape_randomly(ep::context& world, random_numbers& random, mistakes& found) {
    std::array<index, From> extents{};
    for (index& extent : extents) {
        extent = random(1, 4) * random(1, 3);
    }
    const index kind = random(0, 3);
    const given<From> X(extents, kind);
    const std::array<index, To> wanted = factors_of<To>(X.elements.size(), random);
    ep::tensor<double, To> Z;
    copy(Z, ep::reshape(X.tensor, wanted));
    ep::tensor<double, To> Y = Z;
    if (random(0, 2) == 0) {  // cut along whichever dimensions
        const int parts = world.size();
        const index longest = *std::max_element(wanted.begin(), wanted.end());
        const auto along = std::size_t(std::find(wanted.begin(), wanted.end(), longest) - wanted.begin());
        if (longest >= parts) {
            Z.pinned({{along, parts}});
        }
    }
    const ep::options asked{.objective = random(0, 1) == 0 ? ep::objective::bytes : ep::objective::time};
    const ep::plan plan = ep::decompose(world, asked, Z);
    const ep::results made = kind == 0 ? plan.run(world) : plan.run(world, ep::bind(X.bound, X.elements));
    found.elements += agrees(made.get(Z).allgather(), counted(wanted)) ? 0 : 1;
    found.bytes += made.bytes_sent() == plan.bytes_sent(world.rank()) ? 0 : 1;
}

std::size_t all_bytes(const ep::plan& plan) {
    std::size_t all = 0;
    for (int rank = 0; rank < plan.processes(); ++rank) {
        all += plan.bytes_sent(rank);
    }
    return all;
}

}  // namespace

TEST_CASE("random tensors with other extents") {
    ep::context world(MPI_COMM_WORLD);
    random_numbers random(3);
    mistakes found;
    for (int round = 0; round < 12; ++round) {
        reshape_randomly<1, 2>(world, random, found);
        reshape_randomly<2, 1>(world, random, found);
        reshape_randomly<2, 2>(world, random, found);
        reshape_randomly<3, 2>(world, random, found);
        reshape_randomly<2, 4>(world, random, found);
        reshape_randomly<4, 3>(world, random, found);
        reshape_randomly<4, 4>(world, random, found);
    }
    CHECK(found.elements == 0);
    CHECK(found.bytes == 0);
}

}  // namespace reshape_test
