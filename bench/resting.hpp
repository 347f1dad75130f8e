#pragma once
// What benchmarks over MPI share: barriers without spinning, rounds of variants, and inputs that rest where a plan
// reads them.

#include <mpi.h>
#include <einparallel.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <unistd.h>

namespace bench {

namespace ep = einparallel;

/// Nobody goes on before all have arrived; ranks sleep meanwhile, since one that spins takes a core's resources.
inline void meet(MPI_Comm ranks) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(ranks, &request);
    for (int done = 0; done == 0;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done == 0) {
            usleep(200);
        }
    }
    MPI_Barrier(ranks);
}

/// Durations of one way to do something.
struct samples {
    std::vector<double> seconds;

    [[nodiscard]] double best() const { return *std::ranges::min_element(seconds); }
    [[nodiscard]] double median() const {
        std::vector<double> sorted = seconds;
        std::ranges::sort(sorted);
        return sorted[sorted.size() / 2];
    }
};

/// One way to run something, ready to be run again and again. Durations are the slowest rank's.
struct variant : samples {
    std::string name;
    std::function<void()> run;  ///< null on ranks that have nothing to do
    double bytes = 0;           ///< sent
};

/// Seconds of one repetition. Collective.
inline double seconds_of(const std::function<void()>& run, int repetitions = 1) {
    meet(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int repetition = 0; run && repetition < repetitions; ++repetition) {
        run();
    }
    double seconds = (MPI_Wtime() - begin) / repetitions;
    meet(MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

/// Rounds of all variants in turns. What is short is repeated in a round until it is some milliseconds long.
/// Collective.
inline void measure(std::vector<variant>& variants, int rounds) {
    std::vector<int> repetitions;
    for (variant& each : variants) {
        const double first = seconds_of(each.run);
        repetitions.push_back(first > 0.1 ? 1 : std::clamp(static_cast<int>(0.01 / seconds_of(each.run)), 1, 50));
    }
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t number = 0; number < variants.size(); ++number) {
            variants[number].seconds.push_back(seconds_of(variants[number].run, repetitions[number]));
        }
    }
}

/// This rank's part of an input, where a plan reads it; element (i, j, …) is a function of its number, row-major.
template <class T, std::size_t Rank>
struct resting_input {
    template <class Element>
    resting_input(ep::context& world, const ep::plan& plan, const ep::tensor<T, Rank>& input, int rank,
                  Element element) {
        std::array<ep::extent, Rank> whole{};
        std::array<ep::extent, Rank> lower{};
        ep::box held;
        std::array<ep::index, Rank> lengths{};
        for (const ep::planned_vertex& each : plan.vertices()) {
            if (each.origin != input.node()) {
                continue;
            }
            held = each.resting.held_by(rank);
            for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
                whole[dimension] = each.bounds[dimension];
                lower[dimension] = held.empty() ? 0 : held.sides[dimension].begin;
                lengths[dimension] = held.empty() ? 0 : held.sides[dimension].size();
            }
        }
        elements = ep::array<T, Rank>(lengths);
        for (ep::index at = 0; at < elements.size(); ++at) {
            ep::index rest = at;
            ep::index number = 0;
            ep::index weight = 1;
            for (std::size_t dimension = Rank; dimension-- > 0;) {
                number += weight * (held.sides[dimension].begin + rest % lengths[dimension]);
                weight *= static_cast<ep::index>(whole[dimension]);
                rest /= lengths[dimension];
            }
            elements.data()[at] = static_cast<T>(element(number));
        }
        part = ep::distributed<T, Rank>(world, whole, lower, ep::view<T, Rank>(elements));
    }

    ep::array<T, Rank> elements;
    ep::distributed<T, Rank> part;
};

}  // namespace bench
