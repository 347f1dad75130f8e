#pragma once

#include <einparallel/array/resolve.hpp>

#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstdlib>

namespace einparallel::EINPARALLEL_DETAIL {

/// A read of one dimension, and its name in errors: `index i + r of dimension 0 of operand 2`.
struct dimension_read {
    std::span<const statement_read> operands;
    std::size_t operand;
    std::size_t dimension;

    [[nodiscard]] const statement_read& owner() const { return operands[operand]; }
    [[nodiscard]] const index_function& at() const { return owner().at.functions[dimension]; }
    [[nodiscard]] index_kind written() const { return owner().written[dimension]; }
    [[nodiscard]] index extent() const { return owner().at.bounds[dimension]; }
    [[nodiscard]] bool has(label_id label) const {
        return find_in(at().terms, label, &index_term::label) != at().terms.end();
    }
    [[nodiscard]] std::string where() const {
        return owner().is_output ? "the output" : owner().is_iota ? "iota" : "operand " + std::to_string(operand);
    }
    [[nodiscard]] std::string text(std::span<const std::string_view> names) const {
        return "index " + function_text(at(), names) + " of dimension " + std::to_string(dimension) + " of " + where();
    }
    /// The range of all indices that are read, with labels of these extents.
    [[nodiscard]] interval reach(const std::vector<index>& extents) const {
        return range_of(at(), whole_box(extents).sides);
    }
    /// The largest extent of `label` with which no index lies outside. @pre `extents` has 1 for `label`
    [[nodiscard]] index valid(label_id label, const std::vector<index>& extents) const {
        const interval reached = reach(extents);
        const index factor = find_in(at().terms, label, &index_term::label)->coefficient;
        const index room = factor > 0 ? extent() - reached.end : reached.begin;
        return room < 0 ? 0 : room / std::abs(factor) + 1;
    }
};

EINPARALLEL_INLINE std::string find_extents(std::span<const std::string_view> names,
                                            std::span<const statement_read> operands, std::span<index> extents) {
    std::vector<dimension_read> reads;
    for (std::size_t operand = 0; operand < operands.size(); ++operand) {
        for (std::size_t dimension = 0; dimension < operands[operand].at.bounds.size(); ++dimension) {
            reads.push_back({operands, operand, dimension});
        }
    }
    // If an operand is also read at a function of a label, the label need not run to the end of its dimension.
    const auto is_incomplete = [&](const dimension_read& read) {
        return read.written() != index_kind::label || any_in(reads, [&](const dimension_read& other) {
                   return other.owner().tensor == read.owner().tensor && other.written() != index_kind::label &&
                          other.has(read.at().terms[0].label);
               });
    };
    std::vector<const dimension_read*> said(names.size(), nullptr);
    for (const dimension_read& read : reads) {
        if (!read.owner().is_forgotten && !is_incomplete(read)) {
            const auto label = std::size_t(read.at().terms[0].label);
            const bool differs = extents[label] >= 0 && extents[label] != read.extent();
            if (differs) {
                return "einsum: label " + std::string(names[label]) + " has extent " + std::to_string(extents[label]) +
                       " in " + said[label]->where() + " and " + std::to_string(read.extent()) + " in " + read.where();
            }
            said[label] = &read;
            extents[label] = read.extent();
        }
    }
    for (bool forgotten = false, found = true; found || !forgotten;) {
        forgotten = forgotten || !found;
        found = false;
        std::vector<index> valid(extents.begin(), extents.end());
        for (const dimension_read& read : reads) {
            std::vector<index> others(extents.begin(), extents.end());
            label_id unknown = no_label;
            std::size_t unknowns = 0;
            for (const index_term& term : read.at().terms) {
                if (extents[std::size_t(term.label)] < 0) {
                    unknown = term.label;
                    ++unknowns;
                    others[std::size_t(unknown)] = 1;
                }
            }
            if (unknowns == 1 && (forgotten || !read.owner().is_forgotten)) {
                index& extent = valid[std::size_t(unknown)];
                const index fits = read.valid(unknown, others);
                if (fits == 0) {
                    return "einsum: " + read.text(names) + " leaves no value for label " +
                           std::string(names[std::size_t(unknown)]) + ": the dimension has extent " +
                           std::to_string(read.extent());
                }
                extent = extent < 0 ? fits : std::min(extent, fits);
                found = true;
            }
        }
        std::copy(valid.begin(), valid.end(), extents.begin());
    }
    for (std::size_t label = 0; label < names.size(); ++label) {
        if (extents[label] < 0) {
            return "einsum: the extent of label " + std::string(names[label]) +
                   " is not known: give the left-hand side extents, or let an operand have the label as a dimension of "
                   "its own";
        }
    }
    for (const dimension_read& read : reads) {
        const bool is_read =
            read.written() != index_kind::data &&
            any_in(read.owner().written, [](index_kind each) { return each != index_kind::label; }) &&
            all_in(read.owner().at.functions, [&](const index_function& each) {
                return all_in(each.terms, [&](const index_term& term) { return extents[std::size_t(term.label)] > 0; });
            });
        const interval reached = is_read ? read.reach({extents.begin(), extents.end()}) : interval{};
        if (reached.begin < 0 || reached.end > read.extent()) {
            const std::string last = std::to_string(reached.end - 1);
            const bool is_one = reached.begin + 1 == reached.end;
            return "einsum: " + read.text(names) +
                   (is_one ? " is " + last : " runs from " + std::to_string(reached.begin) + " to " + last) +
                   ", outside the extent " + std::to_string(read.extent());
        }
    }
    return {};
}

}  // namespace einparallel::EINPARALLEL_DETAIL
