#include <doctest/doctest.h>

#include <einparallel/mpi/communicator.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace ep = einparallel;

static_assert(!std::is_copy_constructible_v<ep::communicator>);
static_assert(!std::is_convertible_v<ep::communicator, MPI_Comm>);
static_assert(std::is_nothrow_move_constructible_v<ep::communicator>);
static_assert(std::is_nothrow_destructible_v<ep::communicator>);

TEST_CASE("a duplicate has the ranks of its original, a context of its own and errors that return") {
    int rank = -1;
    int size = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const ep::communicator own = ep::communicator::duplicate_of(MPI_COMM_WORLD);
    CHECK(own.rank() == rank);
    CHECK(own.size() == size);
    int relation = MPI_UNEQUAL;
    MPI_Comm_compare(MPI_COMM_WORLD, own.native(), &relation);
    CHECK(relation == MPI_CONGRUENT);

    MPI_Errhandler handler{};
    MPI_Comm_get_errhandler(own.native(), &handler);
    CHECK(handler == MPI_ERRORS_RETURN);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    CHECK(handler == MPI_ERRORS_ARE_FATAL);
}

TEST_CASE("moving leaves nothing behind") {
    ep::communicator first = ep::communicator::duplicate_of(MPI_COMM_WORLD);
    const MPI_Comm handle = first.native();
    const ep::communicator second = std::move(first);
    CHECK(second.native() == handle);
    CHECK(first.native() == MPI_COMM_NULL);
    int size = 0;
    CHECK(MPI_Comm_size(second.native(), &size) == MPI_SUCCESS);
}

TEST_CASE("what cannot be duplicated is refused") {
    CHECK_THROWS_AS(static_cast<void>(ep::communicator::duplicate_of(MPI_COMM_NULL)), ep::error);
    CHECK_NOTHROW(ep::communicator());
}

TEST_CASE("an error of MPI becomes an exception with the call's name and MPI's words") {
    const ep::communicator own = ep::communicator::duplicate_of(MPI_COMM_WORLD);
    std::string text;
    try {
        ep::broadcast(own, nullptr, 8, own.size() + 7);
    } catch (const ep::mpi_error& failure) {
        text = failure.what();
        CHECK(failure.code() != MPI_SUCCESS);
    }
    CHECK(text.find("MPI_Bcast failed: ") == 0);
    CHECK(text.size() > std::string("MPI_Bcast failed: ").size());
}

TEST_CASE("collective helpers") {
    const ep::communicator own = ep::communicator::duplicate_of(MPI_COMM_WORLD);
    const auto rank = static_cast<std::uint64_t>(own.rank());
    std::array<std::uint64_t, 3> numbers{rank + 5, ~rank, 7};
    ep::allreduce_minimum(own, numbers);
    CHECK(numbers[0] == 5);
    CHECK(numbers[1] == ~(static_cast<std::uint64_t>(own.size()) - 1));
    CHECK(numbers[2] == 7);

    std::vector<int> sent(1000, own.rank() == own.size() - 1 ? 42 : 0);
    ep::broadcast(own, sent.data(), sent.size() * sizeof(int), own.size() - 1);
    CHECK(sent == std::vector<int>(1000, 42));

    const std::array<std::int64_t, 2> mine{own.rank(), -own.rank()};
    std::vector<std::int64_t> all(2 * static_cast<std::size_t>(own.size()), 99);
    ep::allgather(own, mine, all);
    for (std::size_t each = 0; each < static_cast<std::size_t>(own.size()); ++each) {
        CHECK(all[2 * each] == static_cast<std::int64_t>(each));
        CHECK(all[2 * each + 1] == -static_cast<std::int64_t>(each));
    }
}
