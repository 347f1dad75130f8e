// Seconds, memory, cost and gap of the planner on the named graphs and on random ones, for up to 100,000 ranks. No MPI,
// and nothing runs.
//
//     planner_scale [--only CELLS] [--random N] [--effort COUNT] [--nodes RANKS] [--limit SECONDS] [--memory MB]
//                   [--json FILE] [--compare FILE] [--measured FILE]
//
// A cell is a graph, a number of ranks p and an objective. CELLS: GRAPH/P/OBJECTIVE, separated by commas, where what is
// empty or left out is all of them: `ccsd`, `/64/time`, `ccsd/1000,df-mp2/512/paper`.
//
// Each cell is planned in a child process with 60 s of the processor and 4096 MB of address space (0: no limit). Shown:
// seconds of the processor in ep::decompose, the largest resident set (graph included), the plan's cost in its
// objective, its lower bound, the gap cost / bound − 1, and whether the plan is exact.
//
// --random N plans the random graphs random-1 … random-N instead of the named ones and prints a line for each p and
// objective, besides the cells over 2 s, without a plan or with a wrong bound.
// --effort sets options.effort. --nodes plans for nodes of so many ranks, the last of which may be short: 25 GB/s and
// .5 us within them, 12.5 GB/s, shared by a node's ranks, and 2 us between them; bytes are then those between nodes.
// --json appends one line of JSON per cell to FILE. --compare prints cost / cost of the same cell in FILE and flags
// what is above 1.005. --measured takes the cells from FILE, a part of them perhaps, instead of planning.
//
// Ends with 1 where a cell has no plan, a lower bound above its cost, or is flagged.

#include "child.hpp"
#include "graphs/named.hpp"
#include "graphs/random.hpp"
#include "text.hpp"

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/search/options.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace ep = einparallel;
using bench::formatted;
using bench::separated;
using bench::whole_number;
using bench::word_for;
using experiments::graph;
using experiments::outputs;

std::vector<graph> random_graphs(int count) {
    std::vector<graph> graphs;
    for (int seed = 1; seed <= count; ++seed) {
        graphs.push_back({"random-" + std::to_string(seed),
                          [seed] { return experiments::build_random_graph(static_cast<unsigned>(seed)); }});
    }
    return graphs;
}

constexpr std::array<int, 8> all_ranks{64, 512, 1000, 1024, 4095, 4096, 65'536, 100'000};

// --- one cell --------------------------------------------------------------------------------------------------------

/// Plain data: it goes through a pipe.
struct planned {
    double seconds = 0;
    double cost = 0;
    double bound = std::nan("");  ///< NaN: none
    bool exact = false;
    std::array<char, 200> failure{};  ///< why there is no plan
};

struct cell {
    std::string graph;
    int ranks = 0;
    std::string objective;
    double seconds = 0;
    double megabytes = 0;
    std::optional<double> cost;
    std::optional<double> bound;
    bool exact = false;
    int limit = 0;
    std::string failure;

    [[nodiscard]] std::string key() const { return graph + "/" + std::to_string(ranks) + "/" + objective; }
    [[nodiscard]] std::optional<double> gap() const {
        return !cost || !bound ? std::nullopt : std::optional(*cost == *bound ? 0 : *cost / *bound - 1);
    }
    /// A lower bound above the cost of a plan.
    [[nodiscard]] bool refuted() const { return gap() && *gap() < -1e-9; }
};

double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

planned plan_here(const graph& each, const ep::options& asked) {
    planned made;
    try {
        const outputs wanted = each.record();
        const double start = processor_seconds();
        const ep::plan plan = ep::decompose_vertices(asked, wanted);
        made.seconds = processor_seconds() - start;
        made.cost = plan.objective_cost();
        made.bound = plan.lower_bound().value_or(made.bound);
        made.exact = std::abs(made.cost - made.bound) <= 1e-12 * made.cost;
    } catch (const std::exception& failure) {
        const std::string_view text = failure.what();
        std::copy_n(text.begin(), std::min(text.size(), made.failure.size() - 1), made.failure.begin());
    }
    return made;
}

/// Nodes of `each` ranks.
ep::machine nodes_of(int each, int ranks) {
    ep::machine made;
    made.levels[0] = {.ranks = each, .seconds_per_message = 0.5e-6, .seconds_per_byte = 4e-11};
    made.levels[1] = {.seconds_per_message = 2e-6, .seconds_per_byte = 8e-11};
    if (ranks > each && ranks % each != 0) {
        made.levels[0].uneven = {{{ranks / each, each}, {1, ranks % each}}};
    }
    return made;
}

cell measure(const graph& each, ep::options asked, int nodes, const bench::child_limits& limits) {
    if (nodes > 0) {
        asked.machine = nodes_of(nodes, asked.processes);
        asked.level = asked.objective == ep::objective::bytes ? 0 : -1;
    }
    const auto result = bench::in_child(limits, [&] { return plan_here(each, asked); });
    cell made;
    made.graph = each.name;
    made.ranks = asked.processes;
    made.objective = word_for(asked.objective);
    made.megabytes = result.megabytes;
    made.limit = limits.seconds;
    if (!result.value) {
        made.seconds = limits.seconds;
        made.failure = result.late ? "> " + std::to_string(limits.seconds) + " s" : result.failure;
        return made;
    }
    made.seconds = result.value->seconds;
    made.failure = result.value->failure.data();
    if (made.failure.empty()) {
        made.cost = result.value->cost;
        made.bound = std::isnan(result.value->bound) ? std::nullopt : std::optional(result.value->bound);
        made.exact = result.value->exact;
    }
    return made;
}

// --- cells as lines of JSON ------------------------------------------------------------------------------------------

std::string json_of(const cell& made) {
    const auto number = [](const std::optional<double>& value) {
        return value ? formatted("%.17g", *value) : std::string("null");
    };
    std::string failure;
    for (const char letter : made.failure) {
        failure += letter == '"' || letter == '\\' ? '\'' : letter == '\n' ? ' ' : letter;
    }
    return R"({"graph":")" + made.graph + R"(","p":)" + std::to_string(made.ranks) + R"(,"objective":")" +
           made.objective + R"(","seconds":)" + formatted("%.4f", made.seconds) + R"(,"megabytes":)" +
           formatted("%.1f", made.megabytes) + R"(,"cost":)" + number(made.cost) + R"(,"lower_bound":)" +
           number(made.bound) + R"(,"exact":)" + (made.exact ? "true" : "false") + R"(,"limit":)" +
           std::to_string(made.limit) + R"(,"failure":")" + failure + "\"}";
}

/// What stands behind "key": in a line that json_of() wrote.
std::string field(const std::string& line, const std::string& key) {
    const std::size_t at = line.find("\"" + key + "\":");
    if (at == std::string::npos) {
        throw ep::error("this line has no field '" + key + "': " + line);
    }
    const std::size_t begin = at + key.size() + 3;
    return line[begin] == '"' ? line.substr(begin + 1, line.find('"', begin + 1) - begin - 1)
                              : line.substr(begin, line.find_first_of(",}", begin) - begin);
}

cell cell_of(const std::string& line) {
    const auto number = [&](const std::string& key) {
        const std::string text = field(line, key);
        return text == "null" ? std::nullopt : std::optional(std::strtod(text.c_str(), nullptr));
    };
    return {.graph = field(line, "graph"),
            .ranks = whole_number(field(line, "p"), 1),
            .objective = field(line, "objective"),
            .seconds = number("seconds").value_or(0),
            .megabytes = number("megabytes").value_or(0),
            .cost = number("cost"),
            .bound = number("lower_bound"),
            .exact = field(line, "exact") == "true" && number("cost") >= number("lower_bound"),
            .limit = whole_number(field(line, "limit"), 0),
            .failure = field(line, "failure")};
}

/// Cells by key; a later line replaces an earlier one.
std::map<std::string, cell> read_cells(const std::string& file) {
    std::ifstream from(file);
    if (!from) {
        throw ep::error("the file '" + file + "' cannot be read");
    }
    std::map<std::string, cell> cells;
    for (std::string line; std::getline(from, line);) {
        if (!line.empty()) {
            const cell made = cell_of(line);
            cells[made.key()] = made;
        }
    }
    return cells;
}

// --- what is asked for -----------------------------------------------------------------------------------------------

struct request {
    std::vector<std::array<std::string, 3>> only;  ///< graph, p, objective; "" is any
    int random = 0;
    int nodes = 0;        ///< ranks of a node; 0: all ranks are alike
    ep::options options;  ///< but for p and objective
    bench::child_limits limits{.seconds = 60, .memory = std::size_t{4096} << 20};
    std::string json, compare, measured;

    [[nodiscard]] bool wants(const std::string& graph, int ranks, const std::string& objective) const {
        const auto is = [](const std::string& pattern, const std::string& word) {
            return pattern.empty() || pattern == word;
        };
        return only.empty() || std::any_of(only.begin(), only.end(), [&](const auto& each) {
                   return is(each[0], graph) && is(each[1], std::to_string(ranks)) && is(each[2], objective);
               });
    }
};

/// One cell of --only. Numbers of ranks beyond all_ranks may be asked for.
std::array<std::string, 3> pattern_of(const std::string& text) {
    const std::vector<std::string> parts = separated(text, '/');
    if (parts.size() > 3) {
        throw ep::error("'" + text + "' is not GRAPH/P/OBJECTIVE");
    }
    std::array<std::string, 3> pattern;
    std::copy(parts.begin(), parts.end(), pattern.begin());
    if (!pattern[1].empty()) {
        whole_number(pattern[1], 1);
    }
    if (!pattern[2].empty()) {
        bench::objective_for(pattern[2]);
    }
    return pattern;
}

request read_arguments(int argc, char** argv) {
    request asked;
    bench::read_options(
        argc, argv,
        {{"--only",
          [&](const std::string& value) {
              for (const std::string& word : separated(value)) {
                  asked.only.push_back(pattern_of(word));
              }
          }},
         {"--random", [&](const std::string& value) { asked.random = whole_number(value, 1); }},
         {"--effort",
          [&](const std::string& value) { asked.options.effort = static_cast<std::size_t>(whole_number(value, 1)); }},
         {"--nodes", [&](const std::string& value) { asked.nodes = whole_number(value, 1); }},
         {"--limit", [&](const std::string& value) { asked.limits.seconds = whole_number(value, 0); }},
         {"--memory",
          [&](const std::string& value) {
              asked.limits.memory = static_cast<std::size_t>(whole_number(value, 0)) << 20;
          }},
         {"--json", [&](const std::string& value) { asked.json = value; }},
         {"--compare", [&](const std::string& value) { asked.compare = value; }},
         {"--measured", [&](const std::string& value) { asked.measured = value; }}});
    return asked;
}

std::vector<graph> graphs_of(const request& asked) {
    std::vector<graph> graphs = asked.random > 0 ? random_graphs(asked.random) : experiments::named_graphs();
    for (const auto& pattern : asked.only) {
        if (!pattern[0].empty()) {
            static_cast<void>(experiments::graph_named(graphs, pattern[0]));
        }
    }
    return graphs;
}

std::vector<int> ranks_of(const request& asked) {
    std::vector<int> ranks(all_ranks.begin(), all_ranks.end());
    for (const auto& pattern : asked.only) {
        if (!pattern[1].empty()) {
            ranks.push_back(whole_number(pattern[1], 1));
        }
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
}

// --- the table -------------------------------------------------------------------------------------------------------

constexpr double slow = 2;        // seconds
constexpr double large = 300;     // MB
constexpr double wide = 0.05;     // gap
constexpr double dearer = 1.005;  // than before

void print(const std::vector<std::string>& cells) {
    constexpr std::array<int, 10> widths{-14, 7, 9, 9, 7, 12, 12, 8, -6, 8};
    std::string line;
    for (std::size_t column = 0; column < cells.size(); ++column) {
        const int width = column < widths.size() ? widths[column] : 0;
        const std::size_t length = cells[column].size();
        const auto least = static_cast<std::size_t>(std::abs(width));
        const std::string blanks(least > length ? least - length : 0, ' ');
        line += (column == 0 ? "" : "  ") + (width > 0 ? blanks + cells[column] : cells[column] + blanks);
    }
    std::cout << line.substr(0, line.find_last_not_of(' ') + 1) << std::endl;
}

/// What the cells of a table come to.
struct summary {
    int cells = 0, unplanned = 0, slow_ones = 0, large_ones = 0, exact = 0, bounded = 0, narrow = 0, refuted = 0,
        compared = 0;
    double seconds = 0, megabytes = 0, ratio = 0;
    cell slowest;
    std::vector<std::string> flagged;

    void add(const cell& made, const cell* before) {
        ++cells;
        unplanned += made.cost ? 0 : 1;
        slow_ones += !made.cost || made.seconds > slow ? 1 : 0;
        large_ones += made.megabytes > large ? 1 : 0;
        exact += made.exact ? 1 : 0;
        bounded += made.gap() ? 1 : 0;
        narrow += made.gap() && *made.gap() <= wide && !made.refuted() ? 1 : 0;
        refuted += made.refuted() ? 1 : 0;
        seconds += made.seconds;
        megabytes = std::max(megabytes, made.megabytes);
        if (cells == 1 || made.seconds > slowest.seconds) {
            slowest = made;
        }
        if (before != nullptr && before->cost) {
            ++compared;
            const double its = ratio_of(made, *before);
            ratio = std::max(ratio, its);
            if (its > dearer) {
                flagged.push_back(made.key() + ": " + (made.cost ? formatted("%.4f", its) : "no plan any more"));
            }
        }
    }

    /// Infinite where there is no plan any more.
    static double ratio_of(const cell& made, const cell& before) {
        return !made.cost ? INFINITY : *made.cost == *before.cost ? 1 : *made.cost / *before.cost;
    }
};

void print_cell(const cell& made, const cell* before) {
    std::vector<std::string> row{made.graph,
                                 std::to_string(made.ranks),
                                 made.objective,
                                 made.cost ? formatted("%.3f", made.seconds) : "",
                                 formatted("%.0f", made.megabytes),
                                 made.cost ? formatted("%.6g", *made.cost) : "",
                                 made.bound ? formatted("%.6g", *made.bound) : "-",
                                 made.gap() ? formatted("%.2f %%", 100 * *made.gap()) : "-",
                                 made.exact ? "exact" : "",
                                 "",
                                 made.failure};
    if (made.refuted()) {
        row[10] += "BOUND ABOVE THE COST ";
    }
    if (before != nullptr && before->cost && made.cost) {
        const double ratio = summary::ratio_of(made, *before);
        row[9] = formatted("%.4f", ratio);
        row[10] += ratio > dearer ? "DEARER" : "";
    }
    print(row);
}

void print_summary(const std::string& title, const summary& made, bool compare) {
    if (made.cells == 0) {
        return;
    }
    std::cout << title << ": " << made.cells << " cells, " << made.unplanned << " without a plan, " << made.slow_ones
              << " over 2 s, " << made.large_ones << " over 300 MB; " << made.exact << " exact, " << made.bounded
              << " with a bound, " << made.narrow << " with a gap of at most 5 %, " << made.refuted
              << " above the cost; " << formatted("%.1f", made.seconds) << " s together, the slowest "
              << formatted("%.2f", made.slowest.seconds) << " s (" << made.slowest.key() << "), the largest "
              << formatted("%.0f", made.megabytes) << " MB\n";
    if (compare) {
        std::cout << "  " << made.compared << " compared, cost / before at most " << formatted("%.4f", made.ratio)
                  << ", " << made.flagged.size() << " dearer by more than 0.5 %\n";
        for (const std::string& each : made.flagged) {
            std::cout << "    " << each << '\n';
        }
    }
    std::cout.flush();
}

int run(const request& asked) {
    const std::vector<graph> graphs = graphs_of(asked);
    const std::map<std::string, cell> before =
        asked.compare.empty() ? std::map<std::string, cell>{} : read_cells(asked.compare);
    const std::map<std::string, cell> measured =
        asked.measured.empty() ? std::map<std::string, cell>{} : read_cells(asked.measured);
    std::ofstream json;
    if (!asked.json.empty()) {
        json.open(asked.json, std::ios::app);
        if (!json) {
            throw ep::error("the file '" + asked.json + "' cannot be written");
        }
    }

    std::vector<std::string> head{"graph", "p", "objective", "seconds", "MB", "cost", "bound", "gap", "exact"};
    if (!asked.compare.empty()) {
        head.emplace_back("/ before");
    }
    print(head);
    summary all;
    summary part;
    const auto visit = [&](const graph& each, int ranks, ep::objective objective) {
        const std::string key = each.name + "/" + std::to_string(ranks) + "/" + word_for(objective);
        const auto known = measured.find(key);
        if (!asked.wants(each.name, ranks, word_for(objective)) ||
            (!asked.measured.empty() && known == measured.end())) {
            return;
        }
        ep::options options = asked.options;
        options.processes = ranks;
        options.objective = objective;
        const cell made = known != measured.end() ? known->second : measure(each, options, asked.nodes, asked.limits);
        const auto old = before.find(key);
        const cell* const its = old == before.end() ? nullptr : &old->second;
        if (json.is_open()) {
            json << json_of(made) << std::endl;
        }
        if (asked.random == 0 || !made.cost || made.seconds > slow || made.refuted()) {
            print_cell(made, its);
        }
        all.add(made, its);
        part.add(made, its);
    };
    const std::size_t objectives = bench::all_objectives.size();
    for (const int ranks : ranks_of(asked)) {
        for (std::size_t number = 0; number < graphs.size() * objectives; ++number) {
            const bool random = asked.random > 0;  // then objective by objective, for their summaries
            const ep::objective objective =
                bench::all_objectives[random ? number / graphs.size() : number % objectives];
            visit(graphs[random ? number % graphs.size() : number / objectives], ranks, objective);
            if (random && (number + 1) % graphs.size() == 0) {
                print_summary("p = " + std::to_string(ranks) + ", " + word_for(objective), part, !before.empty());
                part = {};
            }
        }
    }
    print_summary("all", all, !before.empty());
    return all.unplanned == 0 && all.refuted == 0 && all.flagged.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(read_arguments(argc, argv));
    } catch (const std::exception& failure) {
        std::cerr << "planner_scale: " << failure.what() << '\n';
        return 2;
    }
}
