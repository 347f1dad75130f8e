#include <doctest/doctest.h>

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/transfer.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace ep = einparallel;

namespace {

/// Calls f(position in `region`'s row-major order, byte offset in a dense buffer over `place`) by counting, without
/// strides: the oracle.
template <class F>
void for_each_element(const ep::box& place, const ep::box& region, std::size_t element_bytes, F&& f) {
    if (region.empty()) {
        return;
    }
    std::vector<ep::index> at(region.rank());
    for (std::size_t d = 0; d < region.rank(); ++d) {
        at[d] = region.sides[d].begin;
    }
    for (ep::index position = 0;; ++position) {
        ep::index element = 0;
        for (std::size_t d = 0; d < region.rank(); ++d) {
            element = element * place.sides[d].size() + at[d] - place.sides[d].begin;
        }
        f(static_cast<std::size_t>(position), static_cast<std::size_t>(element) * element_bytes);
        std::size_t d = region.rank();
        while (d > 0 && ++at[d - 1] == region.sides[d - 1].end) {
            at[d - 1] = region.sides[d - 1].begin;
            --d;
        }
        if (d == 0) {
            return;
        }
    }
}

unsigned char byte_of(int sender, std::size_t position, std::size_t byte) {
    return static_cast<unsigned char>(1 + (static_cast<std::size_t>(sender) * 89 + position * 31 + byte * 7) % 255);
}

/// A random box, a random place around it, and a second place around the same extents elsewhere.
struct round_trip {
    std::size_t element_bytes;
    ep::box from_place, from_region, to_place, to_region;
};

round_trip random_round_trip(std::mt19937& random) {
    const auto below = [&](ep::index bound) {
        return static_cast<ep::index>(random() % static_cast<std::uint32_t>(bound));
    };
    round_trip made;
    constexpr std::size_t sizes[] = {1, 2, 4, 8, 16};
    made.element_bytes = sizes[below(5)];
    const std::size_t rank = static_cast<std::size_t>(below(5));
    for (std::size_t d = 0; d < rank; ++d) {
        const ep::index length = 1 + below(5);
        const auto place = [&](ep::box& around, ep::box& region) {
            const ep::index lower = below(10) - 5;
            const ep::index before = below(3) == 0 ? below(3) : 0;
            const ep::index after = below(3) == 0 ? below(3) : 0;
            around.sides.push_back({lower, lower + before + length + after});
            region.sides.push_back({lower + before, lower + before + length});
        };
        place(made.from_place, made.from_region);
        place(made.to_place, made.to_region);
    }
    return made;
}

}  // namespace

TEST_CASE("random boxes travel round a ring between buffers of different shape, also through split datatypes") {
    const ep::communicator own = ep::communicator::duplicate_of(MPI_COMM_WORLD);
    const int next = (own.rank() + 1) % own.size();
    const int previous = (own.rank() + own.size() - 1) % own.size();
    std::mt19937 random(2024);  // the same boxes on every rank
    int wrong = 0;
    int outside = 0;
    std::size_t predicted = 0;
    ep::transfers flight(own);
    for (int repetition = 0; repetition < 150; ++repetition) {
        const round_trip trip = random_round_trip(random);
        const ep::index limit = repetition % 2 == 0 ? ep::detail::largest_count : 2 + repetition % 7;
        std::vector<unsigned char> sent(static_cast<std::size_t>(trip.from_place.size()) * trip.element_bytes, 0);
        std::vector<unsigned char> got(static_cast<std::size_t>(trip.to_place.size()) * trip.element_bytes, 0);
        for_each_element(trip.from_place, trip.from_region, trip.element_bytes, [&](std::size_t i, std::size_t at) {
            for (std::size_t b = 0; b < trip.element_bytes; ++b) {
                sent[at + b] = byte_of(own.rank(), i, b);
            }
        });
        const ep::box_type from = ep::type_of_box(trip.from_place, trip.from_region, trip.element_bytes, limit);
        const ep::box_type to = ep::type_of_box(trip.to_place, trip.to_region, trip.element_bytes, limit);
        predicted += static_cast<std::size_t>(trip.from_region.size()) * trip.element_bytes;
        flight.receive(got.data(), to, previous);
        flight.send(sent.data(), from, next);
        if (repetition % 3 == 0) {
            while (!flight.poll()) {
            }
        }
        flight.wait();
        CHECK(flight.poll());
        std::size_t nonzero = 0;
        for_each_element(trip.to_place, trip.to_region, trip.element_bytes, [&](std::size_t i, std::size_t at) {
            for (std::size_t b = 0; b < trip.element_bytes; ++b) {
                wrong += got[at + b] == byte_of(previous, i, b) ? 0 : 1;
                ++nonzero;
            }
        });
        for (const unsigned char byte : got) {
            nonzero -= byte != 0 ? 1 : 0;
        }
        outside += nonzero == 0 ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(outside == 0);
    CHECK(flight.bytes_sent() == predicted);
}

TEST_CASE("contiguous boxes need no derived datatype, others do, and the size is exact") {
    const ep::box place{{{0, 6}, {0, 5}, {0, 4}}};
    const ep::box_type rows = ep::type_of_box(place, {{{2, 4}, {0, 5}, {0, 4}}}, 8);
    CHECK(rows.offset == 2 * 20 * 8);
    CHECK(rows.count == 40);
    CHECK(rows.type.native() == MPI_UINT64_T);
    CHECK(rows.bytes == 320);

    const ep::box_type columns = ep::type_of_box(place, {{{0, 6}, {1, 3}, {0, 4}}}, 8);
    CHECK(columns.count == 1);
    CHECK(columns.type.native() != MPI_UINT64_T);
    int size = 0;
    MPI_Type_size(columns.type.native(), &size);
    CHECK(size == 6 * 2 * 4 * 8);
    CHECK(columns.bytes == static_cast<std::size_t>(size));

    CHECK(ep::type_of_box(place, {{{0, 6}, {2, 2}, {0, 4}}}, 8).count == 0);
    CHECK(ep::type_of_box({}, {}, 16).bytes == 16);
    CHECK(ep::type_of_box({}, ep::no_box(0), 16).bytes == 0);
}

#if !defined(SMPI_H)
TEST_CASE("the contiguous run inside a strided box is a contiguous type") {
    const ep::box place{{{0, 64}, {0, 6}, {0, 50}}};
    // 30 of 50 elements of each row, rows of 6 fused with the 64; then whole rows of 50 as one run of 4 · 50
    for (const ep::box& region : {ep::box{{{0, 64}, {0, 6}, {10, 40}}}, ep::box{{{0, 64}, {1, 5}, {0, 50}}}}) {
        const ep::box_type made = ep::type_of_box(place, region, 4);
        REQUIRE(made.count == 1);
        int combiner = MPI_COMBINER_NAMED;
        std::vector<int> integers(3);
        std::vector<MPI_Aint> addresses(2);
        MPI_Datatype inner = MPI_DATATYPE_NULL;
#if MPI_VERSION >= 4
        std::vector<MPI_Count> counts(3);
        MPI_Count sizes[4] = {0, 0, 0, 0};
        MPI_Type_get_envelope_c(made.type.native(), &sizes[0], &sizes[1], &sizes[2], &sizes[3], &combiner);
        CHECK(combiner == MPI_COMBINER_HVECTOR);
        MPI_Type_get_contents_c(made.type.native(), sizes[0], sizes[1], sizes[2], sizes[3], integers.data(),
                                addresses.data(), counts.data(), &inner);
        MPI_Type_get_envelope_c(inner, &sizes[0], &sizes[1], &sizes[2], &sizes[3], &combiner);
#else
        int sizes[3] = {0, 0, 0};
        MPI_Type_get_envelope(made.type.native(), &sizes[0], &sizes[1], &sizes[2], &combiner);
        CHECK(combiner == MPI_COMBINER_HVECTOR);
        MPI_Type_get_contents(made.type.native(), sizes[0], sizes[1], sizes[2], integers.data(), addresses.data(),
                              &inner);
        MPI_Type_get_envelope(inner, &sizes[0], &sizes[1], &sizes[2], &combiner);
#endif
        CHECK(combiner == MPI_COMBINER_CONTIGUOUS);
        MPI_Type_free(&inner);
    }
}
#endif

TEST_CASE("types hold counts beyond 2^31") {
    for (const ep::index limit : {ep::detail::largest_count, ep::index{2147483647}}) {
        const ep::index rows = 3000000001;
        const ep::box place{{{0, rows}, {0, 4}}};
        for (const ep::index width : {ep::index{4}, ep::index{3}}) {
            const ep::box_type whole = ep::type_of_box(place, {{{0, rows}, {0, width}}}, 2, limit);
            MPI_Count size = 0;
            MPI_Type_size_x(whole.type.native(), &size);
            CHECK(static_cast<ep::index>(size) * whole.count == rows * width * 2);
            MPI_Count lower = 0;
            MPI_Count length = 0;
            MPI_Type_get_true_extent_x(whole.type.native(), &lower, &length);
            CHECK(static_cast<ep::index>(lower) == 0);
            CHECK(static_cast<ep::index>(length) * whole.count == (rows - 1) * 8 + (width == 4 ? 8 : 6));
        }
    }
}

TEST_CASE("permuted strides") {
    const ep::communicator own = ep::communicator::duplicate_of(MPI_COMM_WORLD);
    const int next = (own.rank() + 1) % own.size();
    const int previous = (own.rank() + own.size() - 1) % own.size();
    std::vector<std::int32_t> sent(12);
    for (std::size_t i = 0; i < sent.size(); ++i) {
        sent[i] = static_cast<std::int32_t>(i) + 100 * own.rank();
    }
    // element (a, b) of a 3 x 4 box lies at a + 3 b: a transpose
    const ep::box whole{{{0, 3}, {0, 4}}};
    const ep::box_type from = ep::type_of_box(whole, whole, 4, ep::detail::largest_count, {1, 3});
    std::vector<std::int32_t> got(12, -1);
    const ep::box_type to = ep::type_of_box(whole, whole, 4);
    ep::transfers flight(own);
    flight.receive(got.data(), to, previous);
    flight.send(sent.data(), from, next);
    flight.wait();
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 4; ++b) {
            CHECK(got[static_cast<std::size_t>(4 * a + b)] == a + 3 * b + 100 * previous);
        }
    }
}

TEST_CASE("a message that fails does not keep the others from completing") {
    const ep::communicator own = ep::communicator::duplicate_of(MPI_COMM_WORLD);
    const int next = (own.rank() + 1) % own.size();
    const int previous = (own.rank() + own.size() - 1) % own.size();
    const ep::box whole{{{0, 8}}};
    const ep::box_type type = ep::type_of_box(whole, whole, 8);
    std::vector<std::uint64_t> sent(8, 7);
    std::vector<std::uint64_t> got(8, 0);
    ep::transfers flight(own);
    flight.receive(got.data(), type, previous);
    flight.send(sent.data(), type, own.size() + 3);  // no such rank
    flight.send(sent.data(), type, next);
    std::string text;
    try {
        flight.wait();
    } catch (const ep::mpi_error& failure) {
        text = failure.what();
    }
    CHECK(text.find("MPI_Isend of a message to rank " + std::to_string(own.size() + 3) + " failed: ") == 0);
    CHECK(got == sent);
    CHECK_NOTHROW(flight.wait());
}

TEST_CASE("a message that fails on its way is named by call and peer") {
    const ep::communicator own = ep::communicator::duplicate_of(MPI_COMM_WORLD);
    const int next = (own.rank() + 1) % own.size();
    const int previous = (own.rank() + own.size() - 1) % own.size();
    const ep::box whole{{{0, 8}}};
    const ep::box_type all = ep::type_of_box(whole, whole, 8);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // MPICH asks it, not the communicator's
    const ep::box_type half = ep::type_of_box(whole, {{{0, 4}}}, 8);
    std::vector<std::uint64_t> sent(8, 7);
    std::vector<std::uint64_t> got(16, 0);
    for (const bool polls : {false, true}) {
        ep::transfers flight(own);
        flight.receive(got.data(), all, previous);
        flight.receive(got.data() + 8, half, previous);  // too short for what comes
        flight.send(sent.data(), all, next);
        flight.send(sent.data(), all, next);
        while (polls && !flight.poll()) {
        }
        std::string text;
        try {
            flight.wait();
        } catch (const ep::mpi_error& failure) {
            text = failure.what();
        }
        const std::string call = polls ? "MPI_Test" : "MPI_Wait";
        if (own.size() == 1) {  // OpenMPI's send sees it
            CHECK(text.find(" rank 0 failed: ") != std::string::npos);
        } else {
            CHECK(text.find(call + " of a message from rank " + std::to_string(previous) + " failed: ") == 0);
        }
        CHECK_NOTHROW(flight.wait());
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
