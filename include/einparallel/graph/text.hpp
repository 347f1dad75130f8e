#pragma once
// Text for users: cells of tables, numbers with their units, and tables.

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

/// Numbers as text, as in `2 x 3`.
std::string numbers_text(const auto& numbers, std::string_view between = ", ") {
    return joined(numbers, between, [](auto number) { return std::to_string(number); });
}

/// The text without line breaks and other control characters, which would break a table.
EINPARALLEL_INLINE std::string printable(std::string text);

/// The text of a table's cell. Where it is wider than `width` characters, its middle is left out, for names often
/// differ at their ends.
EINPARALLEL_INLINE std::string cell(std::string text, std::size_t width);

/// `value` with two decimals below 10, with one below 100, and with none above.
EINPARALLEL_INLINE std::string three_digits(double value);

/// A count as text: a whole number of up to five digits, larger ones in thousands (k), millions (M), ….
EINPARALLEL_INLINE std::string counted(double value);

EINPARALLEL_INLINE std::string duration_text(double seconds);

/// Rows of a table, cell by cell.
using text_rows = std::vector<std::vector<std::string>>;

/// The table as text. Each column is as wide as its widest cell. @param alignment one letter per column: l for words, r
/// for numbers
EINPARALLEL_INLINE std::string aligned(const text_rows& rows, const std::string& alignment);

}  // namespace einparallel::EINPARALLEL_DETAIL
