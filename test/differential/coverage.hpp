#pragma once
// What the cases of a run covered: counted by class, printed as a table, and held to what is required.

#include "oracle.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace differential {

class coverage {
public:
    void count(const std::string& group, const std::string& what, long times = 1) { counts_[group][what] += times; }

    /// Classes that must not be empty: "group: what".
    void require(const std::string& group, const std::vector<std::string>& all) {
        for (const std::string& what : all) {
            counts_[group][what] += 0;
            required_.emplace_back(group, what);
        }
    }

    /// All that indices may be.
    void require_indices();

    /// Adds what the text of a case shows: operands, ranks, types, label classes, extents.
    void count_case(std::string_view truth, std::string_view extents, std::string_view types, std::string_view notes);

    /// One line for each group.
    [[nodiscard]] std::string table() const;

    /// The required classes that stayed empty, as one text.
    [[nodiscard]] std::string missing() const;

    [[nodiscard]] long at(const std::string& group, const std::string& what) const;

private:
    void count_indices(const oracle::leaf& operand, const std::string& where);

    std::map<std::string, std::map<std::string, long>> counts_;
    std::vector<std::pair<std::string, std::string>> required_;
};

/// The class of a label in a binary einsum X, Y → Z: the table of classes in examples/pages/placements.md.
[[nodiscard]] std::string class_of(bool in_x, bool in_y, bool in_z);

}  // namespace differential
