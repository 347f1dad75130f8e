#pragma once

#include <einparallel/graph/text.hpp>
#include <einparallel/notation/search_range.hpp>

#include <einparallel/notation/label.hpp>

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM std::string printable(std::string text) {
    for (char& letter : text) {
        letter = static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f ? '?' : letter;
    }
    return text;
}

EINPARALLEL_SELDOM std::size_t letters_in(const std::string& text) {
    return text.size() - std::size_t(count_if_in(text, continues_character));
}

/// The offset in bytes at which letter number `letter` begins.
EINPARALLEL_SELDOM std::size_t offset_of(const std::string& text, std::size_t letter) {
    std::size_t at = 0;
    for (; at < text.size() && (letter > 0 || continues_character(text[at])); ++at) {
        letter -= continues_character(text[at]) ? 0 : 1;
    }
    return at;
}

EINPARALLEL_SELDOM std::string cell(std::string text, std::size_t width) {
    text = printable(std::move(text));
    const std::size_t letters = letters_in(text);
    const std::size_t before = (width - 2) / 2;
    return letters <= width ? text
                            : text.substr(0, offset_of(text, before)) + ".." +
                                  text.substr(offset_of(text, letters - (width - 2 - before)));
}

EINPARALLEL_SELDOM std::string three_digits(double value) {
    char written[64];
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return {written, std::to_chars(written, written + sizeof written, value, std::chars_format::fixed, decimals).ptr};
}

/// The value in the largest unit of which it has at least one. Each unit is a thousand times the one before.
EINPARALLEL_SELDOM std::string in_units(double value, std::initializer_list<const char*> units) {
    const char* const* unit = units.begin();
    for (; value >= 999.5 && unit + 1 != units.end(); ++unit) {
        value /= 1000;
    }
    return three_digits(value) + *unit;
}

EINPARALLEL_SELDOM std::string counted(double value) {
    return value < 99'999.5 ? std::to_string(static_cast<long long>(value + 0.5))
                            : in_units(value / 1000, {"k", "M", "G", "T", "P", "E"});
}

EINPARALLEL_SELDOM std::string duration_text(double seconds) {
    return seconds == 0 ? "0s" : in_units(seconds * 1e9, {"ns", "us", "ms", "s"});
}

EINPARALLEL_SELDOM std::string aligned(const text_rows& rows, const std::string& alignment) {
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

}  // namespace einparallel::EINPARALLEL_DETAIL
