#pragma once
// The labels of a subscript string, for operands whose extents are known.

#include <einparallel/array/immediate.hpp>
#include <einparallel/array/resolve.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/kernel/joined.hpp>
#include <einparallel/notation/affine_map.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/numpy_subscripts.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// An operand of a subscript string: the tensor, which identifies it, and its extents.
struct string_operand {
    const void* tensor = nullptr;
    index_span extents;
};
template <class T, std::size_t Rank>
string_operand shape_of(const view<T, Rank>& seen) {
    return {seen.data(), seen.extents()};
}

/// The labels of a subscript string, as spans. An ellipsis dimension of extent 1 is marked no_label if it is longer in
/// another operand: this is numpy's broadcasting. Only ellipsis dimensions broadcast, so that a named label never has
/// two extents. An operand that is read at functions of labels is treated as one that has these labels.
template <class Table>
class subscript_labels {
public:
    /// @param output  the output, if it has extents already
    subscript_labels(const Table& table, std::span<const string_operand> operands, const string_operand& output = {})
        : output_(table.output.data(), table.output_rank), dimensions_(table.dimensions), first_(table.first) {
        if constexpr (requires { extents_.resize(0); }) {
            extents_.resize(table.label_count);
        }
        std::fill(extents_.begin(), extents_.end(), 1);
        const auto extent_of = [&](std::size_t at) {
            return operands[table.operand[at]].extents[at - table.first[table.operand[at]]];
        };
        const auto for_each_label = [&](const auto& visit) {
            for (std::size_t at = 0; at < table.dimension_count; ++at) {
                if (const label_id label = table.dimensions[at]; label != no_label) {
                    visit(at, std::size_t(label));
                }
            }
        };
        for_each_label([&](std::size_t at, std::size_t label) {
            extents_[label] = extents_[label] == 1 ? extent_of(at) : extents_[label];
        });
        for_each_label([&](std::size_t at, std::size_t label) {
            if (table.is_ellipsis[label] && extent_of(at) == 1 && extents_[label] != 1) {
                dimensions_[at] = no_label;
            }
        });
        if (table.function_count > 0) {
            read_functions(table, operands, output);
        }
    }

    /// The labels of an operand, including those in its functions.
    [[nodiscard]] label_span of(std::size_t operand) const {
        return {dimensions_.data() + first_[operand], dimensions_.data() + first_[operand + 1]};
    }
    [[nodiscard]] label_span output() const { return output_; }
    /// The extent of a label. An ellipsis dimension has the extent of the operands in which it is not 1, if there are
    /// any.
    [[nodiscard]] index extent(label_id label) const { return extents_[std::size_t(label)]; }
    /// Says why functions of labels cannot be read; empty where they can.
    [[nodiscard]] const std::string& failure() const { return failure_; }
    /// The map at which an operand is read; null if it is read at its labels.
    [[nodiscard]] const affine_map* map(std::size_t operand) const {
        return reads_.empty() || is_plain_[operand] ? nullptr : &reads_[operand + 1].at;
    }
    /// Gives `blocks`, the output and then the operands, their labels. An operand that is read at functions of labels
    /// is replaced by a block with these labels.
    void see(std::span<strided_block> blocks) {
        blocks[0].labels = output_;
        for (std::size_t operand = 0; operand + 1 < blocks.size(); ++operand) {
            blocks[operand + 1] = {seen(operand, blocks[operand + 1]), of(operand)};
        }
    }
    [[nodiscard]] strided_block seen(std::size_t operand, const strided_block& given) {
        expect(failure_.empty(), failure_);
        const affine_map* const at = map(operand);
        if (at == nullptr) {
            return given;
        }
        const label_span labels = of(operand);
        std::vector<index>& numbers =
            numbers_.emplace_back(list_of(labels, [&](label_id each) { return extent(each); }));
        numbers.resize(2 * labels.size());
        const std::span<index> strides = std::span(numbers).subspan(labels.size());
        const std::size_t rank = given.extents.size();
        const index offset = at->strides_along(labels, no_box(rank), {given.strides, rank}, strides);
        strided_block made = given;
        made.data = static_cast<std::byte*>(given.data) + offset * index(given.element.bytes);
        made.extents = std::span(numbers).first(labels.size());
        made.strides = strides.data();
        return made;
    }

private:
    template <class T>
    using row = typename Table::template row<T>;

    void read_functions(const Table& table, std::span<const string_operand> operands, const string_operand& output) {
        const row<label_id> given = dimensions_;
        const auto add = [&](const string_operand& of, label_span labels, bool is_output) -> affine_map& {
            const bool is_unknown = is_output && all_in(of.extents, [](index extent) { return extent == 0; });
            affine_map at = affine_map::at_labels(labels);
            at.bounds.assign(of.extents.begin(), is_unknown ? of.extents.begin() : of.extents.end());
            std::vector<index_kind> written = list_of(
                labels, [](label_id each) { return each == no_label ? index_kind::function : index_kind::label; });
            reads_.push_back({of.tensor, std::move(at), std::move(written), is_output});
            return reads_.back().at;
        };
        add(output, output_, true);
        const subscript_function* function = table.functions.data();
        std::size_t count = 0;
        const auto labels_of = [&](std::size_t operand) {
            return label_span(given.data() + table.first[operand], given.data() + table.first[operand + 1]);
        };
        for (std::size_t operand = 0; operand < operands.size(); ++operand) {
            const label_span own = labels_of(operand);
            bool is_plain = true;  // a tensor that is read at functions elsewhere is not read to its end here
            for (std::size_t other = 0; other < operands.size(); ++other) {
                const bool is_same = operands[other].tensor == operands[operand].tensor;
                is_plain = is_plain && !(is_same && found_in(no_label, labels_of(other)));
            }
            is_plain_.push_back(is_plain);
            affine_map& at = add(operands[operand], own, false);
            first_[operand] = count;
            for (std::size_t dimension = 0; dimension < own.size(); ++dimension) {
                index_function& made = at.functions[dimension];
                if (own[dimension] == no_label && function->dimension == table.first[operand] + dimension) {
                    const index_term* const terms = table.terms.data();
                    made = {{terms + function[0].first_term, terms + function[1].first_term}, function->constant};
                    ++function;
                }
                for (const index_term& term : made.terms) {
                    const label_span known(dimensions_.data() + first_[operand], dimensions_.data() + count);
                    if (is_plain || !found_in(term.label, known)) {
                        dimensions_[count++] = term.label;
                    }
                }
                std::erase_if(made.terms, [](const index_term& term) { return term.coefficient == 0; });
            }
        }
        first_[operands.size()] = count;
        const auto names = list_of(std::span(table.names).first(table.label_count), &label_name::view);
        std::fill_n(extents_.begin(), names.size(), -1);
        failure_ = find_extents(names, reads_, std::span(extents_).first(names.size()));
        std::transform(extents_.begin(), extents_.end(), extents_.begin(),
                       [&](index extent) { return failure_.empty() ? extent : 0; });
    }

    label_span output_;
    row<label_id> dimensions_;
    row<std::size_t> first_;
    row<index> extents_{};
    std::vector<statement_read> reads_;        // of the output and the operands, where there are functions
    std::vector<bool> is_plain_;               // by operand
    std::vector<std::vector<index>> numbers_;  // extents and strides of what is seen
    std::string failure_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
