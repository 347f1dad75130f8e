// Single contractions: bytes of the plan chosen for the fewest bytes, per rank against the tight lower bound, and in
// all against the best integer grid. Prints a table; fails where a plan is worse than the best grid.

#include "graphs/best_grid.hpp"

#include <einparallel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace ep = einparallel;

namespace {

struct measured {
    double over_bound = 0;
    double over_grid = 0;
};

measured measure(const ep::contraction_shape& shape, int processes) {
    const ep::tensor<double, 2> x = ep::placeholder<double>({shape.m, shape.k});
    const ep::tensor<double, 2> y = ep::placeholder<double>({shape.k, shape.n});
    const ep::tensor<double, 2> z = ep::einsum<"ij,jk->ik">(x, y);
    const ep::plan plan = ep::decompose({.processes = processes, .objective = ep::objective::bytes}, z);
    std::size_t most = 0;
    for (int rank = 0; rank < processes; ++rank) {
        most = std::max(most, plan.bytes_sent(rank));
    }
    const double words = static_cast<double>(most) / sizeof(double);
    const double all_words = static_cast<double>(plan.bytes_sent()) / sizeof(double);
    return {words / ep::lower_bound_words(shape, processes),
            all_words / bench::best_grid(shape, processes).total_words};
}

const char* word(int travelling) {
    return travelling == ep::nothing_travels  ? "no ring    "
           : travelling == ep::output_travels ? "k ring     "
           : travelling >= 0                  ? "m/n ring   "
                                              : "fed        ";
}

std::size_t largest_peak(const ep::plan& plan) {
    std::size_t peak = 0;
    for (int rank = 0; rank < plan.processes(); ++rank) {
        peak = std::max(peak, plan.peak_bytes(rank));
    }
    return peak;
}

/// The same product under smaller and smaller memory limits, until no plan keeps to them.
void print_tight(ep::index side, int processes) {
    const ep::tensor<double, 2> x = ep::placeholder<double>({side, side});
    const ep::tensor<double, 2> y = ep::placeholder<double>({side, side});
    const ep::tensor<double, 2> z = ep::einsum<"ij,jk->ik">(x, y);
    const double share = 3.0 * static_cast<double>(side * side) * sizeof(double) / processes;
    const ep::contraction_shape shape{1, side, side, side};
    ep::options asked{.processes = processes};
    asked.machine.seconds_per_byte = 1e-9;
    for (std::size_t before = 0;;) {
        try {
            const ep::plan plan = ep::decompose(asked, z);
            const std::size_t peak = largest_peak(plan);
            std::size_t most = 0;
            for (int rank = 0; rank < processes; ++rank) {
                most = std::max(most, plan.bytes_sent(rank));
            }
            std::string cuts;
            for (const auto& [label, parts] : plan.partition(z)) {
                cuts += " " + label + "/" + std::to_string(parts);
            }
            if (peak != before) {
                const int travelling = plan.vertices().back().work.travelling;
                std::printf("%5d %8.2f %10.3f %12.3f   %s%s\n", processes, static_cast<double>(peak) / share,
                            static_cast<double>(most) / sizeof(double) / ep::lower_bound_words(shape, processes),
                            1e3 * plan.seconds(), word(travelling), cuts.c_str());
            }
            before = peak;
            asked.memory_limit = peak - 1;
        } catch (const ep::error&) {
            return;
        }
    }
}

}  // namespace

int main() {
    // Extents that every number of ranks here divides, pieces included: 4608 = 2^9 · 9.
    constexpr ep::index unit = 4608;
    struct named_shape {
        const char* name;
        ep::contraction_shape shape;
    };
    const std::vector<named_shape> shapes{{"square", {1, unit, unit, unit}},
                                          {"box 4:2:1", {1, 4 * unit, 2 * unit, unit}},
                                          {"flat output", {1, 32 * unit, 32 * unit, unit}},
                                          {"flat X", {1, 32 * unit, unit, 32 * unit}},
                                          {"flat Y", {1, unit, 32 * unit, 32 * unit}},
                                          {"inner-heavy", {1, unit, unit, 128 * unit}},
                                          {"tall", {1, 128 * unit, unit, unit}},
                                          {"wide", {1, unit, 128 * unit, unit}},
                                          {"needle", {1, 4096 * unit, 2 * unit, unit}}};
    const std::vector<int> processes{2, 3, 4, 6, 8, 12, 16, 36, 64, 256, 512};
    std::vector<std::vector<measured>> all;
    for (const named_shape& each : shapes) {
        std::vector<measured>& row = all.emplace_back();
        for (const int p : processes) {
            row.push_back(measure(each.shape, p));
        }
    }
    const auto print = [&](const char* title, double measured::*ratio) {
        std::printf("%s\n%-12s %-24s", title, "shape", "m x n x k");
        for (const int p : processes) {
            std::printf(" %6d", p);
        }
        for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
            char extents[64];
            const ep::contraction_shape& of = shapes[shape].shape;
            std::snprintf(extents, sizeof extents, "%lld x %lld x %lld", static_cast<long long>(of.m),
                          static_cast<long long>(of.n), static_cast<long long>(of.k));
            std::printf("\n%-12s %-24s", shapes[shape].name, extents);
            for (const measured& each : all[shape]) {
                std::printf(" %6.3f", each.*ratio);
            }
        }
        std::printf("\n\n");
    };
    print("Bytes that the busiest rank sends / the lower bound, by number of ranks:", &measured::over_bound);
    print("Bytes that all ranks send / what they send in the best integer grid of all of them:", &measured::over_grid);
    std::printf(
        "A square product in less and less memory (4608, double; a network of 8 Gbit/s per rank):\n"
        "ranks  peak/share  sent/bound  ms by model\n");
    for (const int p : {4, 8, 9, 16, 64}) {
        print_tight(unit, p);
    }
    for (const std::vector<measured>& row : all) {
        for (const measured& each : row) {
            if (each.over_grid > 1 + 1e-12) {
                std::printf("a plan is worse than the best grid\n");
                return 1;
            }
        }
    }
}
