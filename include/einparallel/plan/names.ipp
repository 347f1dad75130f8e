#pragma once

#include <einparallel/plan/names.hpp>

#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::string name_for(algorithm named) {
    return name_at(named, {"automatic", "c", "mn", "k", "master_worker"});
}
EINPARALLEL_INLINE std::string name_for(objective named) {
    return name_at(named, {"time", "paper", "bytes"});
}
EINPARALLEL_INLINE std::string name_for(method named) {
    return name_at(named, {"exact", "linearized"});
}
EINPARALLEL_INLINE std::string name_for(order named) {
    return name_at(named, {"fewest_operations", "best_plan"});
}

EINPARALLEL_INLINE std::string source_text(const planned_vertex& each) {
    return each.origin->origin != nullptr ? each.origin->origin->description() : "";
}

EINPARALLEL_INLINE std::string three_digits(double value) {
    char written[64];
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return {written, std::to_chars(written, written + sizeof written, value, std::chars_format::fixed, decimals).ptr};
}

/// In the largest unit, each a thousand times the one before, of which there is at least one.
EINPARALLEL_INLINE std::string in_units(double value, std::initializer_list<const char*> units) {
    const char* const* unit = units.begin();
    for (; value >= 999.5 && unit + 1 != units.end(); ++unit) {
        value /= 1000;
    }
    return three_digits(value) + *unit;
}

EINPARALLEL_INLINE std::string counted(double value) {
    return value < 99'999.5 ? std::to_string(static_cast<long long>(value + 0.5))
                            : in_units(value / 1000, {"k", "M", "G", "T", "P", "E"});
}

EINPARALLEL_INLINE std::string duration_text(double seconds) {
    return seconds == 0 ? "0s" : in_units(seconds * 1e9, {"ns", "us", "ms", "s"});
}

EINPARALLEL_INLINE std::string aligned(const text_rows& rows, const std::string& alignment) {
    std::vector<std::size_t> width(alignment.size(), 0);
    for (const std::vector<std::string>& row : rows) {
        for (std::size_t column = 0; column < row.size(); ++column) {
            width[column] = std::max(width[column], letters_in(row[column]));
        }
    }
    std::string written;
    for (const std::vector<std::string>& row : rows) {
        std::string line;
        for (std::size_t column = 0; column < row.size(); ++column) {
            const std::string blanks(width[column] - letters_in(row[column]), ' ');
            line += column > 0 ? "  " : "";
            line += alignment[column] == 'r' ? blanks + row[column] : row[column] + blanks;
        }
        written += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return written;
}

/// How many per second, of what takes `seconds_each`.
EINPARALLEL_INLINE std::string rate_text(double seconds_each, const char* unit) {
    return (seconds_each > 0 ? counted(std::min(1 / seconds_each, 1e21)) : "unlimited ") + unit + "/s";
}

EINPARALLEL_INLINE std::string machine_text(const machine& shown) {
    return duration_text(shown.seconds_per_message) + " per message, " + rate_text(shown.seconds_per_byte, "B") + ", " +
           rate_text(shown.seconds_per_flop, "flop") + ", " + three_digits(shown.operations_per_touch) +
           " flop in the time of a copied element, " + three_digits(100 * shown.exposed) +
           "% of the shorter of arithmetic and transfer exposed";
}

EINPARALLEL_INLINE std::string formula_text(const plan& shown, const planned_vertex& each) {
    return formula_text(*each.origin, each.inputs, [&](std::size_t input) { return shown.vertices()[input].name; });
}

EINPARALLEL_INLINE std::string full_name(const plan& shown, const planned_vertex& each) {
    return full_name(*each.origin, each.name, [&] { return formula_text(shown, each); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
