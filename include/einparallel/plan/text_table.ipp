#pragma once

#include <einparallel/plan/text_table.hpp>

#include <charconv>

#include <algorithm>
#include <string_view>

namespace einparallel::EINPARALLEL_DETAIL {

/// True for a byte that goes on with a letter of UTF-8.
constexpr bool continues_letter(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

EINPARALLEL_INLINE std::size_t letters_in(const std::string& text) {
    return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues_letter));
}

EINPARALLEL_INLINE std::string three_digits(double value) {
    char written[64];
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return {written, std::to_chars(written, written + sizeof written, value, std::chars_format::fixed, decimals).ptr};
}

EINPARALLEL_INLINE std::string counted(double value) {
    if (value < 99'999.5) {
        return std::to_string(static_cast<long long>(value + 0.5));
    }
    constexpr std::string_view units = "kMGTPE";
    std::size_t unit = 0;
    for (value /= 1000; value >= 999.5 && unit + 1 < units.size(); ++unit) {
        value /= 1000;
    }
    return three_digits(value) + units[unit];
}

EINPARALLEL_INLINE std::string duration_text(double seconds) {
    return seconds == 0     ? "0s"
           : seconds < 1e-6 ? three_digits(seconds * 1e9) + "ns"
           : seconds < 1e-3 ? three_digits(seconds * 1e6) + "us"
           : seconds < 1    ? three_digits(seconds * 1e3) + "ms"
                            : three_digits(seconds) + "s";
}

EINPARALLEL_INLINE std::string cell(std::string text, std::size_t width) {
    text = printable(std::move(text));
    const std::size_t letters = letters_in(text);
    if (letters <= width) {
        return text;
    }
    const std::size_t before = (width - 2) / 2;
    const std::size_t after = letters - (width - 2 - before);
    std::string kept;
    std::size_t letter = 0;  // how many have begun
    for (const char byte : text) {
        letter += continues_letter(byte) ? 0 : 1;
        if (letter == before + 1 && !continues_letter(byte)) {
            kept += "..";
        }
        if (letter <= before || letter > after) {
            kept += byte;
        }
    }
    return kept;
}

EINPARALLEL_INLINE std::string text_table::text() const {
    std::vector<std::size_t> width(alignment_.size(), 0);
    for (const std::vector<std::string>& row : rows_) {
        for (std::size_t column = 0; column < row.size(); ++column) {
            width[column] = std::max(width[column], letters_in(row[column]));
        }
    }
    std::string written;
    for (const std::vector<std::string>& row : rows_) {
        std::string line;
        for (std::size_t column = 0; column < row.size(); ++column) {
            const std::string blanks(width[column] - letters_in(row[column]), ' ');
            line += column > 0 ? "  " : "";
            line += alignment_[column] == 'r' ? blanks + row[column] : row[column] + blanks;
        }
        written += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return written;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
