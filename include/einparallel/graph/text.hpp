#pragma once
// Text for readers: what fits into a cell, numbers with their units, and tables of them.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The texts of some items with a separator between them.
std::string joined(const auto& items, std::string_view separator, auto&& text_of) {
    std::string written;
    for (bool first = true; const auto& item : items) {
        written.append(std::exchange(first, false) ? "" : separator).append(text_of(item));
    }
    return written;
}

/// `2 x 3`
std::string numbers_text(const auto& numbers, std::string_view between = ", ") {
    return joined(numbers, between, [](auto number) { return std::to_string(number); });
}

/// The text without line breaks and other control characters, which would break a table.
EINPARALLEL_INLINE std::string printable(std::string text);

/// A cell of a table: what is too wide for a reader loses its middle, for names often differ in their ends.
EINPARALLEL_INLINE std::string cell(std::string text, std::size_t width);

/// `value` with three significant digits, at least.
EINPARALLEL_INLINE std::string three_digits(double value);

/// What is counted: whole up to five digits, then in thousands (k), millions (M), ….
EINPARALLEL_INLINE std::string counted(double value);

EINPARALLEL_INLINE std::string duration_text(double seconds);

/// Rows of a table, cell by cell.
using text_rows = std::vector<std::vector<std::string>>;

/// The table, columns as wide as their widest cell. @param alignment one letter per column: l for words, r for numbers
EINPARALLEL_INLINE std::string aligned(const text_rows& rows, const std::string& alignment);

}  // namespace einparallel::EINPARALLEL_DETAIL
