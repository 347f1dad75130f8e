#pragma once
// Plans for readers: a table, and a drawing for Graphviz. (For programs: plan/json.hpp.)

#include <einparallel/plan/json.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/words.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace einparallel {

namespace detail {

/// A table of text, columns as wide as their widest cell.
template <class Lazy = void>
class text_table {
public:
    /// One letter per column: l for words, r for numbers.
    explicit text_table(std::string alignment) : alignment_(std::move(alignment)) {}

    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

    [[nodiscard]] std::string text() const {
        std::vector<std::size_t> width(alignment_.size(), 0);
        for (const std::vector<std::string>& row : rows_) {
            for (std::size_t column = 0; column < row.size(); ++column) {
                width[column] = std::max(width[column], row[column].size());
            }
        }
        std::string written;
        for (const std::vector<std::string>& row : rows_) {
            std::string line;
            for (std::size_t column = 0; column < row.size(); ++column) {
                const std::string blanks(width[column] - row[column].size(), ' ');
                line += column > 0 ? "  " : "";
                line += alignment_[column] == 'r' ? blanks + row[column] : row[column] + blanks;
            }
            written += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
        }
        return written;
    }

private:
    std::string alignment_;
    std::vector<std::vector<std::string>> rows_;
};

/// 3 significant digits for seconds, whole numbers for what is counted.
template <class Lazy = void>
std::string short_number(double value) {
    char written[32];
    const auto end = std::to_chars(written, written + sizeof written, value, std::chars_format::general, 3).ptr;
    return {written, end};
}

template <class Lazy = void>
std::string counted(double value) {
    char written[64];
    const auto end = value < 1e15 ? std::to_chars(written, written + sizeof written, value, std::chars_format::fixed, 0)
                                  : std::to_chars(written, written + sizeof written, value);
    return {written, end.ptr};
}

/// `i:512 j:64`, by label.
template <class Lazy = void>
std::string extents_text(const planned_vertex& each) {
    std::string written;
    if (each.is_input()) {
        for (const index bound : each.bounds) {
            written += (written.empty() ? "" : " ") + std::to_string(bound);
        }
    }
    for (std::size_t label = 0; label < each.work.extents.size(); ++label) {
        written += (label > 0 ? " " : "") + printable(each.work.form.names[label]) + ":" +
                   std::to_string(each.work.extents[label]);
    }
    return written;
}

/// `i:2 k:4` in the order of the mesh, outermost axis first; `1` for a vertex on one rank.
template <class Lazy = void>
std::string partition_text(const planned_vertex& each) {
    std::string written;
    for (const mesh_axis& axis : each.work.ranks.axes) {
        written += (written.empty() ? "" : " ") +
                   printable(each.work.form.names[static_cast<std::size_t>(axis.label)]) + ":" +
                   std::to_string(axis.parts);
    }
    return written.empty() ? "1" : written;
}

template <class Lazy = void>
std::string travelling_text(const plan& shown, const planned_vertex& each) {
    if (each.work.travelling == nothing_travels) {
        return "-";
    }
    return each.work.travelling == output_travels
               ? "output"
               : printable(shown.vertices()[each.inputs[static_cast<std::size_t>(each.work.travelling)]].name);
}

template <class Lazy = void>
std::string notes_text(const plan& shown) {
    std::string written;
    if (shown.processes() != shown.asked().processes) {
        written += "note: " + std::to_string(shown.asked().processes) + " processes rounded up to " +
                   std::to_string(shown.processes()) + ", a power of two\n";
    }
    for (const planned_vertex& each : shown.vertices()) {
        if (each.fell_back) {
            written += "note: " + printable(each.name) + " falls back to the automatic choice, algorithm " +
                       word_for(shown.asked().algorithm) + " has no label to cut there\n";
        }
        if (!each.is_input() && each.work.ranks.size() < shown.processes()) {
            written += "note: " + printable(each.name) + " uses " + std::to_string(each.work.ranks.size()) + " of " +
                       std::to_string(shown.processes()) + " ranks\n";
        }
    }
    return written;
}

template <class Lazy = void>
std::string table_text(const plan& shown) {
    text_table<Lazy> table("llllllllrrrrr");
    table.add({"vertex", "reads", "einsum", "formula", "extents", "d", "algorithm", "travels", "bytes", "join",
               "aggregation", "repartition", "seconds"});
    for (const planned_vertex& each : shown.vertices()) {
        if (each.is_input()) {
            table.add({printable(each.name), "", "input", printable(source_text(each)), extents_text(each), "-", "-",
                       "-", "-", "-", "-", "-", "-"});
            continue;
        }
        std::string reads;
        for (const std::size_t input : each.inputs) {
            reads += (reads.empty() ? "" : " ") + printable(shown.vertices()[input].name);
        }
        table.add({printable(each.name), std::move(reads), printable(each.work.form.text()),
                   printable(formula_text(each)), extents_text(each), partition_text(each), word_for(each.algorithm),
                   travelling_text(shown, each), std::to_string(each.bytes), counted(each.join),
                   counted(each.aggregation), counted(each.repartition), short_number(each.seconds)});
    }
    return "plan for " + std::to_string(shown.processes()) + (shown.processes() == 1 ? " rank" : " ranks") +
           " (objective " + word_for(shown.asked().objective) + "): " + std::to_string(shown.bytes_sent()) +
           " bytes sent, cost " + counted(shown.cost()) + " numbers, " + short_number(shown.seconds()) + " s\n" +
           table.text() + notes_text(shown);
}

/// Text inside the quotes of a Graphviz label.
template <class Lazy = void>
std::string dot_text(const std::string& text) {
    std::string written;
    for (const char letter : printable(text)) {
        written += letter == '"' || letter == '\\' ? std::string{'\\', letter} : std::string(1, letter);
    }
    return written;
}

}  // namespace detail

/// A table: one row per vertex with its einsum, extents, partition vector d (mesh order, outermost axis first), the
/// algorithm and what travels, bytes that all ranks send for it, the paper's costs in numbers moved and the time
/// model's seconds; then a line for everything out of the ordinary.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream, const plan& shown) {
    return stream << detail::table_text(shown);
}

/// The TaskGraph for Graphviz: inputs are ellipses, einsums boxes with their cuts, outputs have a double border. An
/// edge is dashed where a tensor has to be redistributed.
template <class Lazy>
std::string plan::to_dot() const {
    std::string written =
        "digraph plan {\n    rankdir=TB;\n    node [fontname=\"Helvetica\", fontsize=11];\n    edge "
        "[color=\"#555555\"];\n";
    for (std::size_t number = 0; number < vertices_.size(); ++number) {
        const planned_vertex& each = vertices_[number];
        const bool is_output = std::ranges::find(outputs_, number) != outputs_.end();
        written += "    v" + std::to_string(number) + " [label=\"" + detail::dot_text(each.name);
        if (each.is_input()) {
            written += "\\n" + detail::dot_text(detail::extents_text(each)) + "\", shape=ellipse";
        } else {
            written += "\\n" + detail::dot_text(each.work.form.text()) + "\\n" +
                       detail::dot_text(detail::partition_text(each)) + "  (" + detail::word_for(each.algorithm) +
                       ")\\n" + std::to_string(each.bytes) + " bytes\", shape=box, style=rounded";
        }
        written += is_output ? ", peripheries=2];\n" : "];\n";
        for (std::size_t operand = 0; operand < each.inputs.size(); ++operand) {
            const planned_vertex& read = vertices_[each.inputs[operand]];
            const bool moves =
                !(read.resting == each.work.operands[operand]) && !(read.is_input() && detail::read_by_all(read));
            written += "    v" + std::to_string(each.inputs[operand]) + " -> v" + std::to_string(number) +
                       (moves ? " [style=dashed];\n" : ";\n");
        }
    }
    return written + "}\n";
}

}  // namespace einparallel
