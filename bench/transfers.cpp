// Messages of strided boxes between two ranks, and a redistribution, beside doing it by hand.
//
//     mpiexec -n 2 transfers [--rounds N]
//
// Message: 8 MiB in runs of some length, each apart from the next by as much, both ways at once. Redistribution:
// 8192 x 8192 doubles from row blocks to column blocks (fetch_into), beside MPI_Alltoallw and a memcpy of as much on
// both ranks at once; GB/s are of the elements that a rank has at the end. Variants are alternated; best and median of
// the rounds, of the slower rank.

#include <mpi.h>
#include <einparallel.hpp>
#include <einparallel/kernel/copy.hpp>
#include <einparallel/mpi/transfer.hpp>
#include <einparallel/schedule/packing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

namespace ep = einparallel;
using ep::index;

struct variant {
    std::string name;
    std::function<void()> run;
    std::vector<double> seconds{};
};

void measure(std::vector<variant>& variants, int rounds, double bytes) {
    for (int round = -1; round < rounds; ++round) {
        for (variant& each : variants) {
            MPI_Barrier(MPI_COMM_WORLD);
            const double begin = MPI_Wtime();
            each.run();
            double seconds = MPI_Wtime() - begin;
            MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            if (round >= 0) {  // the first one touches memory
                each.seconds.push_back(seconds);
            }
        }
    }
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (variant& each : variants) {
        std::ranges::sort(each.seconds);
        const double best = each.seconds.front();
        const double median = each.seconds[each.seconds.size() / 2];
        if (rank == 0) {
            std::printf("    %-22s %8.3f / %8.3f ms   %6.2f GB/s   %.2f x the first\n", each.name.c_str(), 1e3 * best,
                        1e3 * median, bytes / best / 1e9, best / variants.front().seconds.front());
        }
    }
}

/// 8 MiB in runs of `run` doubles.
void strided_message(index run, int rounds) {
    const index rows = (index{1} << 20) / run;
    const ep::communicator ranks = ep::communicator::duplicate_of(MPI_COMM_WORLD);
    const int peer = 1 - ranks.rank();
    const ep::box place{{{0, rows}, {0, 2 * run}}};
    const ep::box region{{{0, rows}, {0, run}}};
    const std::size_t row = static_cast<std::size_t>(run) * sizeof(double);
    std::vector<double> from(static_cast<std::size_t>(place.size()), 1.0);
    std::vector<double> into(from.size());
    std::vector<double> packed(static_cast<std::size_t>(region.size()));
    std::vector<double> arrived(packed.size());
    const ep::box_type strided = ep::type_of_box(place, region, sizeof(double));
    const ep::box_type dense = ep::type_of_box(region, region, sizeof(double));
    ep::transfers flight(ranks);
    const auto exchange = [&](const ep::box_type& type, const std::vector<double>& sent, std::vector<double>& got) {
        flight.receive(got.data(), type, peer);
        flight.send(sent.data(), type, peer);
        flight.wait();
    };
    const auto copy_rows = [&](double* to, index to_stride, const double* of, index of_stride) {
        for (index at = 0; at < rows; ++at) {
            std::memcpy(to + at * to_stride, of + at * of_stride, row);
        }
    };
    std::vector<variant> variants;
    variants.push_back({"packed by hand", [&] {
                            copy_rows(packed.data(), run, from.data(), 2 * run);
                            exchange(dense, packed, arrived);
                            copy_rows(into.data(), 2 * run, arrived.data(), run);
                        }});
    variants.push_back({"datatype", [&] { exchange(strided, from, into); }});
    variants.push_back({"packed by copy_box", [&] {
                            const std::vector<index> extents{rows, run};
                            const std::vector<index> apart{2 * run, 1};
                            const std::vector<index> close{run, 1};
                            ep::copy_box(extents, sizeof(double), packed.data(), close, from.data(), apart);
                            exchange(dense, packed, arrived);
                            ep::copy_box(extents, sizeof(double), into.data(), apart, arrived.data(), close);
                        }});
    variants.push_back({"contiguous", [&] { exchange(dense, packed, arrived); }});
    if (ranks.rank() == 0) {
        std::printf("message, %lld rows of %zu bytes%s\n", static_cast<long long>(rows), row,
                    row < ep::packing_rule{}.shortest_run ? " (plans pack)" : " (plans take the datatype)");
    }
    measure(variants, rounds, static_cast<double>(region.size()) * sizeof(double));
}

void redistribution(int rounds) {
    constexpr index side = 8192;
    constexpr index half = side / 2;
    ep::context world{MPI_COMM_WORLD};
    const index lower = half * world.rank();
    ep::array<double, 2> rows({half, side});
    ep::array<double, 2> columns({side, half});
    const auto copied = static_cast<std::size_t>(rows.size()) * sizeof(double);
    const ep::distributed<double, 2> spread(world, {side, side}, {lower, 0}, ep::view<double, 2>(rows));
    std::vector<MPI_Datatype> sent(2);
    std::vector<MPI_Datatype> received(2);
    for (int peer = 0; peer < 2; ++peer) {
        const int block[] = {half, half};
        const int in_rows[] = {half, side};
        const int in_columns[] = {side, half};
        const int column[] = {0, static_cast<int>(half) * peer};
        const int row[] = {static_cast<int>(half) * peer, 0};
        MPI_Type_create_subarray(2, in_rows, block, column, MPI_ORDER_C, MPI_DOUBLE, &sent[std::size_t(peer)]);
        MPI_Type_create_subarray(2, in_columns, block, row, MPI_ORDER_C, MPI_DOUBLE, &received[std::size_t(peer)]);
        MPI_Type_commit(&sent[std::size_t(peer)]);
        MPI_Type_commit(&received[std::size_t(peer)]);
    }
    std::vector<variant> variants;
    variants.push_back({"memcpy", [&] { std::memcpy(columns.data(), rows.data(), copied); }});
    variants.push_back({"fetch_into", [&] { spread.fetch_into({0, lower}, ep::view<double, 2>(columns)); }});
    variants.push_back({"MPI_Alltoallw", [&] {
                            const int ones[] = {1, 1};
                            const int zeros[] = {0, 0};
                            MPI_Alltoallw(rows.data(), ones, zeros, sent.data(), columns.data(), ones, zeros,
                                          received.data(), MPI_COMM_WORLD);
                        }});
    if (world.rank() == 0) {
        std::printf("redistribution, row blocks to column blocks of 8192 x 8192 doubles\n");
    }
    measure(variants, rounds, static_cast<double>(copied));
    for (int peer = 0; peer < 2; ++peer) {
        MPI_Type_free(&sent[std::size_t(peer)]);
        MPI_Type_free(&received[std::size_t(peer)]);
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int rounds = argc > 2 && std::string(argv[1]) == "--rounds" ? std::max(1, std::atoi(argv[2])) : 9;
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks == 2) {
        for (const ep::index run : {1024, 256, 32, 4}) {
            strided_message(run, rounds);
        }
        redistribution(rounds);
    }
    MPI_Finalize();
    return ranks == 2 ? 0 : 1;
}
