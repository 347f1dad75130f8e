#pragma once
// Tables of text, and numbers in few digits.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// `value` with three significant digits, at least.
EINPARALLEL_INLINE std::string three_digits(double value);

/// What is counted: whole up to five digits, then in thousands (k), millions (M), ….
EINPARALLEL_INLINE std::string counted(double value);

EINPARALLEL_INLINE std::string duration_text(double seconds);

/// A cell of a table: what is too wide for a reader loses its middle, for names often differ in their ends.
EINPARALLEL_INLINE std::string cell(std::string text, std::size_t width);

/// A table of text, columns as wide as their widest cell.
class text_table {
public:
    /// One letter per column: l for words, r for numbers.
    explicit text_table(std::string alignment) : alignment_(std::move(alignment)) {}

    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

    EINPARALLEL_INLINE [[nodiscard]] std::string text() const;

private:
    std::string alignment_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
