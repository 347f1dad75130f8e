// Plans under a memory limit beside brute force, and what a smaller limit costs a layer of LLaMA-7B. No MPI, and
// nothing runs.
//
//     memory_limit [--random N] [--llama PERCENTS]
//
// --random N (300): for each objective, limits drawn between the smallest peak that any plan by hand has and the peak
// of the plan without a limit, on as many random DAGs of two to four einsums. Brute force makes the plan by hand of
// every assignment of partition vectors with the limit. Shown: limits that some plan by hand keeps to and ep::decompose
// refuses, plans that exceed their limit, plans dearer than the best by hand, and by how much.
// --llama PERCENTS (100,90,80,70,60,50,40): peak, bytes and seconds on 8 ranks for limits of so many per cent of the
// peak without one, under each objective.
//
// Ends with 1 where a plan exceeds its limit.

#include "graphs/named.hpp"
#include "text.hpp"

#include <einparallel/notation/error.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/plan.hpp>
#include <plan/random_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

namespace ep = einparallel;
using bench::word_for;
using experiments::outputs;

std::size_t peak_of(const ep::plan& plan) {
    std::size_t peak = 0;
    for (int rank = 0; rank < plan.processes(); ++rank) {
        peak = std::max(peak, plan.peak_bytes(rank));
    }
    return peak;
}

/// The plan, or nothing where there is none.
template <class Make>
std::optional<ep::plan> planned(const Make& make) {
    try {
        return make();
    } catch (const ep::error&) {
        return std::nullopt;
    }
}

/// All assignments of partition vectors to the einsums of a graph: under bytes over as many ranks as their extents
/// allow, under time over any number.
class assignments {
public:
    assignments(const outputs& graph, const ep::options& asked) {
        for (const test::node& each : ep::detail::collect(graph).vertices) {
            if (each->is_input()) {
                continue;
            }
            std::vector<ep::label_parts>& vectors = vectors_[each.get()];
            for (int ranks = asked.processes; ranks > 0; --ranks) {
                for (const std::vector<int>& row : test::vectors_by_trying(each->extents, ranks)) {
                    ep::label_parts& parts = vectors.emplace_back();
                    for (std::size_t label = 0; label < row.size(); ++label) {
                        parts.emplace_back(each->form.names[label], row[label]);
                    }
                }
                if (asked.objective == ep::objective::bytes && !vectors.empty()) {
                    break;
                }
            }
            count_ *= static_cast<double>(vectors.size());
            turn_[each.get()] = 0;
        }
    }

    [[nodiscard]] double count() const { return count_; }

    /// Calls visit(rule) for each of them.
    template <class Visit>
    void each(const Visit& visit) {
        const ep::cutting_rule rule = [this](const ep::vertex_to_cut& cut) {
            return vectors_.at(&cut.einsum)[turn_.at(&cut.einsum)];
        };
        for (bool more = true; more;) {
            visit(rule);
            more = false;
            for (auto place = turn_.begin(); place != turn_.end() && !more; ++place) {
                more = ++place->second < vectors_.at(place->first).size();
                place->second = more ? place->second : 0;
            }
        }
    }

private:
    std::map<const ep::vertex*, std::vector<ep::label_parts>> vectors_;
    std::map<const ep::vertex*, std::size_t> turn_;
    double count_ = 1;
};

struct outcome {
    int limits = 0;    ///< that some plan by hand keeps to
    int refused = 0;   ///< of these, by ep::decompose
    int exceeded = 0;  ///< plans
    int dearer = 0;    ///< plans, by more than 5 %
    int cheaper = 0;   ///< than all by hand
    double worst = 1;  ///< cost over that of the best plan by hand
    double sum = 0;    ///< of these
    int compared = 0;  ///< as many
};

/// One graph and one limit, where there is something to compare.
void compare(const outputs& graph, ep::options asked, test::random_graphs& random, outcome& made) {
    constexpr double most = 400;  // assignments
    assignments all(graph, asked);
    if (all.count() > most || all.count() < 2) {
        return;
    }
    const std::size_t largest = peak_of(ep::decompose_vertices(asked, graph));
    std::size_t smallest = largest;
    all.each([&](const ep::cutting_rule& rule) {
        smallest = std::min(smallest, peak_of(ep::plan_vertices_with(asked, rule, graph)));
    });
    if (smallest == largest) {
        return;
    }
    asked.memory_limit = smallest + (largest - smallest) * static_cast<std::size_t>(random.between(0, 99)) / 100;
    double best = std::numeric_limits<double>::infinity();
    all.each([&](const ep::cutting_rule& rule) {
        const auto by_hand = planned([&] { return ep::plan_vertices_with(asked, rule, graph); });
        best = by_hand ? std::min(best, by_hand->objective_cost()) : best;
    });
    if (best == std::numeric_limits<double>::infinity()) {
        return;  // what travels is chosen for seconds where a vertex alone keeps to the limit: none by hand keeps to it
    }
    ++made.limits;
    const auto found = planned([&] { return ep::decompose_vertices(asked, graph); });
    if (!found) {
        ++made.refused;
        return;
    }
    made.exceeded += peak_of(*found) > asked.memory_limit ? 1 : 0;
    const double cost = found->objective_cost();
    const double ratio = cost == best ? 1 : cost / best;
    made.dearer += ratio > 1.05 ? 1 : 0;
    made.cheaper += ratio < 1 - 1e-9 ? 1 : 0;
    made.worst = std::max(made.worst, best > 0 ? ratio : 1);
    made.sum += best > 0 ? ratio : 0;
    made.compared += best > 0 ? 1 : 0;
}

outcome compare_all(ep::objective objective, int count) {
    outcome made;
    test::random_graphs random(7);
    while (made.limits < count) {
        const int processes = random.between(2, 4);
        test::graph_shape shape;
        shape.vertices = random.between(2, 4);
        shape.tree = false;
        shape.processes = processes;
        shape.lengths = {8, 12, 16, 20, 24, 32};
        compare(random.graph(shape), {.processes = processes, .objective = objective}, random, made);
    }
    return made;
}

void show_llama(const std::vector<int>& percents) {
    const outputs layer = experiments::record<float>(experiments::graph_of("llama:1"));
    for (const ep::objective objective : {ep::objective::time, ep::objective::bytes, ep::objective::paper}) {
        ep::options asked{.processes = 8, .objective = objective};
        const std::size_t peak = peak_of(ep::decompose_vertices(asked, layer));
        for (const int percent : percents) {
            asked.memory_limit = peak * static_cast<std::size_t>(percent) / 100;
            std::cout << "LLaMA-7B, one layer, 8 ranks, " << word_for(objective) << ", limit " << percent << " %: ";
            try {
                const ep::plan made = ep::decompose_vertices(asked, layer);
                std::cout << "peak " << peak_of(made) / 1'000'000 << " MB, sent " << made.bytes_sent() / 1'000'000
                          << " MB, " << made.seconds() << " s" << std::endl;
            } catch (const ep::error& refusal) {
                std::cout << refusal.what() << std::endl;
            }
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        int count = 300;
        std::vector<int> percents{100, 90, 80, 70, 60, 50, 40};
        const auto read_percents = [&](const std::string& value) {
            percents.clear();
            for (const std::string& word : bench::separated(value)) {
                percents.push_back(bench::whole_number(word, 1));
            }
        };
        bench::read_options(argc, argv,
                            {{"--random", [&](const std::string& value) { count = bench::whole_number(value, 0); }},
                             {"--llama", read_percents}});
        int exceeded = 0;
        for (const ep::objective objective : {ep::objective::time, ep::objective::bytes}) {
            const outcome made = compare_all(objective, count);
            std::cout << word_for(objective) << ": " << made.limits << " limits, " << made.refused << " refused, "
                      << made.exceeded
                      << " exceeded; plans dearer than the best by hand by more than 5 %: " << made.dearer
                      << ", at most " << bench::formatted("%.3f", made.worst) << " times, in the mean "
                      << bench::formatted("%.4f", made.sum / std::max(made.compared, 1))
                      << "; cheaper: " << made.cheaper << std::endl;
            exceeded += made.exceeded;
        }
        show_llama(percents);
        return exceeded > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    } catch (const std::exception& failure) {
        std::cerr << "memory_limit: " << failure.what() << '\n';
        return EXIT_FAILURE;
    }
}
