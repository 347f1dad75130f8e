#pragma once

#include <einparallel/graph/text.hpp>
#include <einparallel/io/text.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/plan.hpp>

#include <einparallel/plan/layers.ipp>
#include <einparallel/plan/names.hpp>
#include <einparallel/plan/paged_plan.ipp>
#include <einparallel/plan/statistics.hpp>
#include <einparallel/search/pins.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM std::string label_text(const planned_vertex& each, label_id label) {
    return printable(each.work.form.names[std::size_t(label)]);
}

/// The extents as text: `64 32` for an input, `i:64 k:32` for an einsum.
EINPARALLEL_SELDOM std::string extents_text(const planned_vertex& each) {
    if (each.is_input()) {
        return numbers_text(each.bounds, " ");
    }
    const std::vector<std::string>& names = each.work.form.names;
    return joined(names, " ", [&, label = std::size_t{0}](const std::string& name) mutable {
        return printable(name) + ":" + std::to_string(each.work.extents[label++]);
    });
}

/// Sizes of the groups of all levels, innermost first.
EINPARALLEL_SELDOM std::vector<int> sizes_of(const rank_groups& groups) {
    std::vector<int> sizes;
    for (std::size_t level = 0; level < groups.levels(); ++level) {
        sizes.push_back(groups.size(level));
    }
    return sizes;
}

/// The sizes of groups that end within an axis between two strides, one inside the other.
EINPARALLEL_SELDOM std::vector<int> sizes_that_cut(const rank_groups& groups, int inner, int outer) {
    std::vector<int> cut;
    for (const int size : groups.is_even() ? sizes_of(groups) : std::vector<int>()) {
        if (size > inner && size < outer && size % inner == 0 && outer % size == 0) {
            cut.push_back(size);
            inner = size;
        }
    }
    return cut;
}

/// The partition vector as text: `i:2 k:4` in the order of the mesh, outermost axis first; `1` for a vertex on one
/// rank. On a machine with levels, `i:2 | k:4` where the parts of k lie in one group, and `i:2 | i:4` where groups have
/// four of the parts of i.
EINPARALLEL_SELDOM std::string partition_text(const planned_vertex& each, const rank_groups& groups) {
    std::string written;
    int ranks = 1;
    for (std::size_t number = each.work.ranks.axes.size(); number-- > 0;) {
        const mesh_axis& axis = each.work.ranks.axes[number];
        std::string parts;
        int left = axis.parts;
        for (const int size : sizes_that_cut(groups, ranks, ranks * axis.parts)) {
            parts = sentence({" | ", label_text(each, axis.label), ":", size / ranks, parts});
            left /= size / ranks;
            ranks = size;
        }
        ranks *= left;
        const bool is_boundary = number > 0 && found_in(ranks, sizes_of(groups)) && groups.is_even();
        written = sentence({is_boundary ? "| " : "", label_text(each, axis.label), ":", left, parts,
                            written.empty() ? "" : " ", written});
    }
    return written.empty() ? "1" : written;
}

/// The algorithm as text: `mn ring A`, `k ring`, or its name alone where nothing goes round a ring; `master_worker from
/// rank 0`. `c, pending` means that the vertex leaves the sum to its readers. `mn holds A` means that whole blocks of A
/// are gathered once before the vertex, for several readers or for all runs.
EINPARALLEL_SELDOM std::string algorithm_text(const plan& shown, const planned_vertex& each) {
    std::string word = name_for(each.algorithm);
    const auto name_of = [&](std::size_t operand) { return shown.vertices()[each.inputs[operand]].name; };
    if (each.work.travelling == all_travel) {
        word += " from rank " + std::to_string(each.work.feed.master);
    } else if (each.work.travelling != nothing_travels) {
        const bool of_output = each.work.travelling == output_travels;
        word += of_output ? " ring" : " ring " + name_of(std::size_t(each.work.travelling));
    }
    word += each.work.held != 0 ? " holds " + joined(each.work.held_operands(), ", ", name_of) : "";
    return word + (each.work.pending != no_label ? ", pending" : "");
}

/// A share as text: `3.4 %`.
EINPARALLEL_SELDOM std::string percent_text(double share) {
    char written[32];
    const bool is_small = share < 1;
    const auto end = std::to_chars(written, written + sizeof written, 100 * share,
                                   is_small ? std::chars_format::general : std::chars_format::fixed, is_small ? 2 : 0)
                         .ptr;
    return std::string(written, end) + " %";
}

/// Notes on vertices that leave ranks without work: one line for all vertices that use the same number of ranks.
EINPARALLEL_SELDOM std::string idle_text(const plan& shown) {
    constexpr std::size_t most_named = 6;
    std::map<int, std::vector<std::string>> users;  // names by number of ranks
    for (const planned_vertex& each : shown.vertices()) {
        if (!each.is_input() && each.work.ranks.size() != shown.processes()) {
            users[each.work.ranks.size()].push_back(printable(each.name));
        }
    }
    std::string written;
    for (auto& [ranks, names] : users) {
        if (names.size() > most_named) {
            names[most_named] = std::to_string(names.size() - most_named) + " more";
            names.resize(most_named + 1);
        }
        const std::string last = names.back();
        names.pop_back();
        written += sentence({"note: ", joined(names, ", ", std::identity()), names.empty() ? "" : " and ", last,
                             names.empty() ? " uses " : " use ", ranks, " of ", shown.processes(), " ranks\n"});
    }
    return written;
}

/// Notes on everything that is out of the ordinary, one line each.
EINPARALLEL_SELDOM std::string notes_text(const plan& shown, const std::vector<repetition>& layers) {
    std::string written;
    const auto note = [&](bool holds, std::initializer_list<word> words) {
        written += holds ? "note: " + sentence(words) + "\n" : "";
    };
    const options& asked = shown.asked();
    note(shown.processes() != asked.processes,
         {asked.processes, " processes rounded up to ", shown.processes(), ", a power of two"});
    for (std::size_t number = 0; number < shown.vertices().size(); ++number) {
        const planned_vertex& each = shown.vertices()[number];
        if (layers[number].layer_of(number) > 0) {
            continue;
        }
        const std::string name = printable(each.name);
        note(each.constraints.pin.has_value(), {name, " is pinned to ", printable(each.constraints.pin_text())});
        for (const mesh_axis& axis : each.work.ranks.axes) {
            note(!axis.points.empty(),
                 {name, " is cut along ", label_text(each, axis.label), cell(points_text(axis.points), 60)});
        }
        note(each.constraints.without_communication, {name, " is marked to run without communication"});
        note(each.work.pending != no_label, {name, " is left in ", each.work.parts(each.work.pending),
                                             " summands (the label +), which its readers take as they are"});
        note(!each.twins.empty(), {name, " is computed once for ", each.twins.size() + 1, " equal expressions"});
        note(each.origin->is_again, {name, ": it is not kept for its later readers, for options.memory_limit"});
        note(each.fell_back, {name, " falls back to the automatic choice, algorithm ", name_for(asked.algorithm),
                              " has no label to cut there"});
    }
    note(any_in(shown.vertices(), &planned_vertex::lasts), {"* is read or computed in the first of ", asked.runs,
                                                            " runs only; each rank keeps what later runs need of it"});
    written += paging_text(shown);
    written += idle_text(shown);
    const double cost = shown.objective_cost();
    const double least = shown.lower_bound().value_or(cost);
    note(cost > least * (1 + 1e-9) && shown.paging().which == paged_tensors::none,
         {"the search was not exact, ",
          least > 0 ? "this plan is at most " + percent_text(cost / least - 1) + " above the best one" +
                          (shown.asked().memory_limit > 0 ? " without a memory limit" : "")
                    : std::string("there may be a plan that costs less"),
          "; more options.effort looks further"});
    return written;
}

EINPARALLEL_SELDOM std::string headline(const plan& shown) {
    const rank_groups groups = groups_of(shown.asked().machine);
    std::string between;
    for (std::size_t level = 0; level < groups.levels(); ++level) {
        between += sentence({level == 0 ? " (" : ", ", shown.bytes_between(level), " between groups of ",
                             groups.size(level) > 0 ? "" : "up to ", groups.largest(level),
                             level + 1 == groups.levels() ? " ranks)" : ""});
    }
    const std::string first =
        sentence({"plan for ", shown.processes(), shown.processes() == 1 ? " rank" : " ranks", " (objective ",
                  name_for(shown.asked().objective), "): ", shown.bytes_sent(), " bytes sent", between, ", cost ",
                  counted(shown.cost()), " numbers, ", duration_text(shown.seconds())});
    const std::string seconds = duration_text(shown.seconds_again());
    if (shown.asked().runs == 1) {
        return first;
    }
    if (shown.bytes_sent_again() == shown.bytes_sent() && seconds == duration_text(shown.seconds())) {
        return sentence({first, " in each run"});
    }
    return sentence(
        {first, " in the first run, ", shown.bytes_sent_again(), " bytes sent, ", seconds, " in each later one"});
}

EINPARALLEL_SELDOM std::string table_text(const plan& shown) {
    const bool in_numbers = shown.asked().objective == objective::paper;
    text_rows rows{{"vertex", "einsum", "computes", "extents", "d", "algorithm", "in", "aggregated", "moved", "held",
                    "seconds", "/bound"}};
    if (in_numbers) {
        rows.front().push_back("cost");
    }
    const rank_groups groups = groups_of(shown.asked().machine);
    const bool pages = shown.paging().which != paged_tensors::none;
    if (pages) {
        rows.front().push_back("paged");
    }
    for (std::size_t level = 0; level < groups.levels(); ++level) {
        rows.front().push_back(sentence({"between ", level}));
    }
    const auto bytes_text = [](std::size_t bytes) { return counted(double(bytes)); };
    const plan_statistics statistics = statistics_of(shown);
    const std::vector<repetition> layers = layers_of(shown, statistics.vertices);
    for (std::size_t number = 0; number < shown.vertices().size(); ++number) {
        const planned_vertex& each = shown.vertices()[number];
        const repetition& run = layers[number];
        if (number == run.first + run.length) {
            rows.push_back({sentence({"× ", run.times}), sentence({run.length, " rows"}),
                            cell("to " + shown.vertices()[run.first + run.length * run.times - 1].name, 32)});
        }
        if (run.layer_of(number) > 0) {
            continue;
        }
        const std::string name = each.lasts ? cell(each.name, 22) + " *" : cell(each.name, 24);
        if (each.is_input()) {
            rows.push_back({name, "input", cell(source_text(each), 28), cell(extents_text(each), 32)});
            continue;
        }
        const vertex_statistics& of = statistics.vertices[number];
        const std::optional<double> ratio = of.over_least(each.work.ranks.size());
        rows.push_back({name, cell(each.work.form.text(), 24), cell(formula_text(shown, each), 32),
                        cell(extents_text(each), 32), cell(partition_text(each, groups), 24),
                        cell(algorithm_text(shown, each), 18), bytes_text(of.gathered_bytes),
                        bytes_text(of.aggregated_bytes), bytes_text(of.repartitioned_bytes), bytes_text(of.held_bytes),
                        duration_text(each.seconds), ratio ? three_digits(*ratio) : "-"});
        if (in_numbers) {
            rows.back().push_back(counted(each.numbers()));
        }
        if (pages) {
            rows.back().push_back(bytes_text(of.paged_bytes));
        }
        for (std::size_t level = 0; level < groups.levels(); ++level) {
            rows.back().push_back(bytes_text(each.bytes_between[level]));
        }
    }
    return headline(shown) + ", rank 0 holds up to " + std::to_string(statistics.peak_bytes) + " bytes\n" +
           aligned(rows, "llllllrrrrrrrrrrrrr") + notes_text(shown, layers);
}

/// The node of a vertex in the language of Graphviz.
EINPARALLEL_SELDOM std::string dot_node(const plan& shown, std::size_t number, const rank_groups& groups) {
    const planned_vertex& each = shown.vertices()[number];
    std::vector<std::string> lines{each.name, extents_text(each)};
    std::string look = "shape=ellipse, style=filled, fillcolor=\"#f2f2f2\"";
    if (!each.is_input()) {
        lines = {each.name + " = " + cell(formula_text(shown, each), 48), each.work.form.text(),
                 "cut " + partition_text(each, groups) + "   " + algorithm_text(shown, each),
                 each.bytes == 0 ? "nothing sent" : counted(double(each.bytes)) + " bytes"};
        for (std::size_t level = 0; level < most_levels && each.bytes_between[level] > 0; ++level) {
            lines.back() += sentence({", ", counted(double(each.bytes_between[level])), " between ", level});
        }
        look = "shape=box, fillcolor=";
        look += each.algorithm == algorithm::mn  ? "\"#dbe9f9\""
                : each.algorithm == algorithm::k ? "\"#fde7cf\""
                                                 : "\"#e2f3e0\"";
    }
    return "    v" + std::to_string(number) + " [label=\"" +
           joined(lines, "\\n", [](const std::string& line) { return escaped(printable(line)); }) + "\", " + look +
           (found_in(number, shown.outputs()) ? ", peripheries=2];\n" : "];\n");
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

/// The TaskGraph for Graphviz (`dot -Tsvg`). Inputs are ellipses. Einsums are boxes that show what they compute, their
/// einsum, cuts and algorithm, and the bytes that all ranks send. The colour shows the algorithm. Outputs have a double
/// border. An edge is dashed where a tensor has to change ranks. Of equal layers the first is drawn, in a frame with
/// their number; an edge inside the frame shows what a layer reads from the layer before it.
EINPARALLEL_SELDOM std::string plan::to_dot() const {
    std::string written =
        "digraph plan {\n    rankdir=TB;\n    labelloc=t;\n    fontname=\"Helvetica\";\n    label=\"" +
        detail::headline(*this) +
        "\\n \";\n    node [fontname=\"Helvetica\", fontsize=11, style=\"filled,rounded\", "
        "color=\"#555555\"];\n    edge [color=\"#555555\", arrowsize=0.7];\n";
    const std::vector<detail::repetition> layers = detail::layers_of(*this, statistics_of(*this).vertices);
    const rank_groups groups = detail::groups_of(options_.machine);
    std::string edges;  // written after all nodes: an edge written inside a frame would draw its ends into the frame
    for (std::size_t number = 0; number < vertices_.size(); ++number) {
        const detail::repetition& run = layers[number];
        const std::size_t layer = run.layer_of(number);
        if (run.times > 1 && number == run.first) {
            written += "    subgraph cluster_v" + std::to_string(number) + " {\n    label=\"× " +
                       std::to_string(run.times) + "\";\n";
        }
        written += layer == 0 ? detail::dot_node(*this, number, groups) : "";
        written += run.times > 1 && number + 1 == run.first + run.length ? "    }\n" : "";
        const planned_vertex& each = vertices_[number];
        for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
            const std::size_t input = each.inputs[operand];
            const bool carried = layer == 1 && input >= run.first && run.layer_of(input) == 0;
            if (layer > 0 && !carried) {
                continue;
            }
            const planned_vertex& read = vertices_[input];
            const bool moves = detail::is_moved(*read.origin) && !(read.resting == each.work.operands[operand]);
            edges += "    v" + std::to_string(layers[input].shown_for(input)) + " -> v" +
                     std::to_string(run.shown_for(number)) + (moves ? " [style=dashed];\n" : ";\n");
        }
    }
    return written + edges + "}\n";
}

}  // namespace einparallel
