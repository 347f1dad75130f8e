// The planner on the EinDecomp paper's experiments, beside decompositions made by hand. No MPI, and nothing runs.
//
//     planner [--graph NAMES] [--ranks NUMBERS] [--objective NAMES] [--layers N] [--repeat N] [--limit SECONDS]
//
// Lists are separated by commas; what is not said is all graphs (chain-square, chain-skewed, classifier-128,
// classifier-512, llama-7b, llama-65b), 2,4,8,16,64,256,1024 ranks, the objectives paper,bytes,time, all layers, the
// median of 3 times (of one where that takes longer than 5 s) and 120 s for one plan. Every plan is made in a process
// of its own, whose peak memory (graph included) is shown.
//
// Ends with 1 where EinDecomp's exact plan costs more, in its own objective, than a rival or than the linearised plan,
// or where there is none within the limit. Under paper and bytes a rival competes where no vertex of it leaves ranks
// idle that its extents could occupy: on one rank nothing would move. Under time all rivals compete.

#include "child.hpp"
#include "graphs/named.hpp"
#include "text.hpp"

#include <einparallel/notation/error.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/partition.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace ep = einparallel;
using bench::formatted;
using bench::separated;
using bench::whole_number;
using bench::word_for;

using experiments::outputs;

// --- the experiments -------------------------------------------------------------------------------------------------

struct experiment {
    std::string name;
    std::string title;
    experiments::sized_graph graph;

    [[nodiscard]] outputs record() const { return experiments::record<float>(graph); }
};

std::vector<experiment> all_experiments(int layers) {
    const auto classifier = [](const std::string& batch) {
        return experiment{"classifier-" + batch,
                          "classifier, 597540 features, 8192 hidden, 14588 classes, batch " + batch + ", one step",
                          experiments::graph_of("classifier:" + batch)};
    };
    const auto llama = [layers](std::string name, std::string title, const std::string& sizes) {
        experiment made{std::move(name), std::move(title), experiments::graph_of("llama:" + sizes)};
        std::vector<ep::index>& n = made.graph.n;
        n[0] = layers > 0 ? std::min<ep::index>(layers, n[0]) : n[0];
        made.title += ", prefill, " + std::to_string(n[0]) + " layers, " + std::to_string(n[1]) + " prompts of " +
                      std::to_string(n[2]) + " tokens";
        return made;
    };
    return {{"chain-square", "(AB) + (C(DE)), all matrices 10240 x 10240", experiments::graph_of("chain-square")},
            {"chain-skewed", "(AB) + (C(DE)), s = 10240, skewed", experiments::graph_of("chain-skewed")},
            classifier("128"),
            classifier("512"),
            llama("llama-7b", "LLaMA-7B", "32x8x1024"),
            llama("llama-65b", "LLaMA-65B", "80x16x1024x8192x64x128x22016")};
}

// --- one plan in a process of its own --------------------------------------------------------------------------------

/// What a process says about the plan that it made. Plain data: it goes through a pipe.
struct figures {
    double cost = 0;     ///< numbers moved, the paper's upper bound
    double bytes = 0;    ///< of all ranks
    double seconds = 0;  ///< by the time model
    double planned_in = 0;
    double megabytes = 0;          ///< largest resident set of the process
    int idle = 0;                  ///< vertices that leave ranks idle
    std::array<char, 200> what{};  ///< why there is no plan

    [[nodiscard]] bool exists() const { return what[0] == '\0'; }
    [[nodiscard]] double in(ep::objective objective) const {
        return objective == ep::objective::paper ? cost : objective == ep::objective::bytes ? bytes : seconds;
    }
};

void set_text(figures& made, std::string_view text) {
    const std::size_t length = std::min(text.size(), made.what.size() - 1);
    std::copy_n(text.begin(), length, made.what.begin());
    made.what[length] = '\0';
}

int idle_vertices(const ep::plan& plan) {
    int count = 0;
    for (const ep::planned_vertex& each : plan.vertices()) {
        count += !each.is_input() && each.work.ranks.size() < ep::largest_product(each.work.extents, plan.processes())
                     ? 1
                     : 0;
    }
    return count;
}

figures measure(const experiment& of, const std::function<ep::plan(const outputs&)>& make, int repeat) {
    figures made;
    try {
        const outputs graph = of.record();
        std::vector<double> times;
        std::optional<ep::plan> plan;
        while (times.empty() || (static_cast<int>(times.size()) < repeat && times.front() < 5)) {
            plan.reset();
            const auto start = std::chrono::steady_clock::now();
            plan = make(graph);
            times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
        std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
        made.planned_in = times[times.size() / 2];
        made.cost = plan->cost();
        made.bytes = static_cast<double>(plan->bytes_sent());
        made.seconds = plan->seconds();
        made.idle = idle_vertices(*plan);
    } catch (const std::exception& failure) {
        set_text(made, failure.what());
    }
    return made;
}

/// measure() in a child process, which is killed after `limit` seconds of the processor.
figures measure_apart(const experiment& of, const std::function<ep::plan(const outputs&)>& make, int repeat,
                      int limit) {
    const auto result = bench::in_child({.seconds = limit}, [&] { return measure(of, make, repeat); });
    figures made = result.value.value_or(figures{});
    if (!result.value) {
        set_text(made, result.failure);
    }
    made.megabytes = result.megabytes;
    return made;
}

// --- what is asked for -----------------------------------------------------------------------------------------------

struct request {
    std::vector<std::string> graphs;
    std::vector<int> ranks{2, 4, 8, 16, 64, 256, 1024};
    std::vector<ep::objective> objectives{ep::objective::paper, ep::objective::bytes, ep::objective::time};
    int layers = 0;
    int repeat = 3;
    int limit = 120;
};

request read_arguments(int argc, char** argv) {
    request asked;
    bench::read_options(argc, argv,
                        {{"--graph", [&](const std::string& value) { asked.graphs = separated(value); }},
                         {"--ranks",
                          [&](const std::string& value) {
                              asked.ranks.clear();
                              for (const std::string& word : separated(value)) {
                                  asked.ranks.push_back(whole_number(word, 1));
                              }
                          }},
                         {"--objective",
                          [&](const std::string& value) {
                              asked.objectives.clear();
                              for (const std::string& word : separated(value)) {
                                  asked.objectives.push_back(bench::objective_for(word));
                              }
                          }},
                         {"--layers", [&](const std::string& value) { asked.layers = whole_number(value, 1); }},
                         {"--repeat", [&](const std::string& value) { asked.repeat = whole_number(value, 1); }},
                         {"--limit", [&](const std::string& value) { asked.limit = whole_number(value, 1); }}});
    for (const std::string& name : asked.graphs) {
        const std::vector<experiment> known = all_experiments(0);
        if (std::none_of(known.begin(), known.end(), [&](const experiment& each) { return each.name == name; })) {
            std::string names;
            for (const experiment& each : known) {
                names += (names.empty() ? "" : ", ") + each.name;
            }
            throw ep::error("the graph '" + name + "' is none of " + names);
        }
    }
    return asked;
}

// --- the table -------------------------------------------------------------------------------------------------------

/// A row: the plan, the objective that it is for, three figures, two ratios, time and memory, a remark.
using row = std::array<std::string, 10>;

void print(const row& cells) {
    constexpr std::array<int, 10> widths{-16, -10, 11, 11, 11, 10, 8, 10, 8, 0};
    std::string line;
    for (std::size_t column = 0; column < cells.size(); ++column) {
        const auto width = static_cast<std::size_t>(std::abs(widths[column]));
        const std::string blanks(width > cells[column].size() ? width - cells[column].size() : 0, ' ');
        line += widths[column] > 0 ? blanks + cells[column] : cells[column] + blanks;
        line += column + 1 < cells.size() ? "  " : "";
    }
    std::cout << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
}

row row_of(const std::string& plan, const std::string& objective, const figures& made) {
    row cells{plan, objective};
    if (made.exists()) {
        cells[2] = formatted("%.4g", made.cost);
        cells[3] = formatted("%.4g", made.bytes);
        cells[4] = formatted("%.4g", made.seconds);
        cells[9] = made.idle == 0
                       ? ""
                       : "idle ranks at " + std::to_string(made.idle) + (made.idle == 1 ? " vertex" : " vertices");
    } else {
        cells[9] = made.what.data();
    }
    cells[7] = made.exists() ? formatted("%.3g", made.planned_in) : "";
    cells[8] = formatted("%.0f", made.megabytes);
    return cells;
}

/// The best rival in an objective, among those that compete in it.
struct best_rival {
    double value = std::numeric_limits<double>::infinity();
    std::string name;
};

best_rival best_in(ep::objective objective, const std::vector<experiments::rival>& made,
                   const std::vector<figures>& figures_of) {
    best_rival best;
    for (std::size_t number = 0; number < made.size(); ++number) {
        const figures& its = figures_of[number];
        const bool competes = its.exists() && (objective == ep::objective::time || its.idle == 0);
        if (competes && its.in(objective) < best.value) {
            best = {its.in(objective), made[number].name};
        }
    }
    return best;
}

/// a ÷ b as people read it: nothing against nothing is 1.
double ratio(double a, double b) {
    return a == b ? 1 : a / b;
}

constexpr double tolerance = 1 + 1e-9;

/// All plans for one graph on one number of ranks. Appends a sentence for everything that EinDecomp loses.
void compare(const experiment& graph, int ranks, const request& asked, std::vector<std::string>& losses) {
    std::cout << '\n' << graph.title << ", p = " << ranks << '\n';
    print({"plan", "objective", "numbers", "bytes", "seconds", "/ rival", "/ exact", "planned s", "MB", ""});
    const std::vector<experiments::rival> opponents = experiments::rivals_of(graph.graph, ranks);
    std::vector<figures> theirs;
    for (const experiments::rival& each : opponents) {
        theirs.push_back(measure_apart(
            graph, [&](const outputs& made) { return ep::plan_vertices_with({.processes = ranks}, each.rule, made); },
            1, asked.limit));
    }
    for (const ep::objective objective : asked.objectives) {
        const best_rival best = best_in(objective, opponents, theirs);
        std::array<figures, 2> ours;
        for (const ep::method method : {ep::method::exact, ep::method::linearized}) {
            figures& made = ours[method == ep::method::exact ? 0 : 1];
            made = measure_apart(
                graph,
                [&](const outputs& wanted) {
                    return ep::decompose_vertices({.processes = ranks, .objective = objective, .method = method},
                                                  wanted);
                },
                asked.repeat, asked.limit);
            row cells = row_of(method == ep::method::exact ? "exact" : "linearised", word_for(objective), made);
            const double value = made.in(objective);
            if (made.exists() && std::isfinite(best.value)) {
                cells[5] = formatted("%.4f", ratio(value, best.value));
                cells[9] = "rival: " + best.name + (cells[9].empty() ? "" : "; " + cells[9]);
            }
            if (made.exists() && ours[0].exists()) {
                cells[6] = formatted("%.4f", ratio(value, ours[0].in(objective)));
            }
            print(cells);
        }
        const std::string where =
            graph.name + ", p = " + std::to_string(ranks) + ", objective " + word_for(objective) + ": ";
        if (!ours[0].exists()) {
            losses.push_back(where + ours[0].what.data());
        } else {
            const double value = ours[0].in(objective);
            if (value > best.value * tolerance) {
                losses.push_back(where + "exact " + formatted("%.6g", value) + ", " + best.name + " " +
                                 formatted("%.6g", best.value) + " (" + formatted("%.4f", value / best.value) + ")");
            }
            if (ours[1].exists() && value > ours[1].in(objective)*tolerance) {
                losses.push_back(where + "exact " + formatted("%.6g", value) + ", linearised " +
                                 formatted("%.6g", ours[1].in(objective)));
            }
        }
    }
    for (std::size_t number = 0; number < opponents.size(); ++number) {
        print(row_of(opponents[number].name, "", theirs[number]));
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const request asked = read_arguments(argc, argv);
        std::vector<std::string> losses;
        std::cout << "numbers moved (the paper's upper bound), bytes sent by all ranks, seconds by the time model;\n"
                     "/ rival and / exact: in the plan's own objective, to the best rival that competes and to the "
                     "exact plan\n";
        for (const experiment& graph : all_experiments(asked.layers)) {
            const bool wanted = asked.graphs.empty() ||
                                std::find(asked.graphs.begin(), asked.graphs.end(), graph.name) != asked.graphs.end();
            for (std::size_t number = 0; wanted && number < asked.ranks.size(); ++number) {
                compare(graph, asked.ranks[number], asked, losses);
            }
        }
        std::cout << '\n'
                  << (losses.empty() ? "No rival beats EinDecomp in its own objective.\n" : "EinDecomp loses:\n");
        for (const std::string& loss : losses) {
            std::cout << "  " << loss << '\n';
        }
        return losses.empty() ? 0 : 1;
    } catch (const std::exception& failure) {
        std::cerr << "planner: " << failure.what() << '\n';
        return 2;
    }
}
