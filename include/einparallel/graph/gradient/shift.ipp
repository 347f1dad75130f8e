#pragma once
// Tensors that a loss does not change with: what is subtracted before an exponential and added behind the logarithm.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/operations/op_program.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// How a value changes where c is added to an element that it is made of: to value + adds · c, or to value · exp(grows
/// · c).
struct shift {
    double adds = 0;
    double grows = 0;
    std::vector<label_id> labels{};  ///< labels of c's dimensions; in a tensor, numbers of its dimensions

    [[nodiscard]] bool is_none() const { return adds == 0 && grows == 0; }
};

/// The shift of an instruction's result, from the shifts of its arguments; none where it changes in another way.
EINPARALLEL_SELDOM std::optional<shift> shift_through(op_code code, const shift& a, const shift& b) {
    if (a.is_none() && b.is_none()) {
        return shift{};
    }
    if (!a.is_none() && !b.is_none() && a.labels != b.labels) {
        return std::nullopt;
    }
    const std::vector<label_id>& labels = a.is_none() ? b.labels : a.labels;
    const bool adds = a.grows == 0 && b.grows == 0;
    const bool grows = a.adds == 0 && b.adds == 0;
    switch (code) {
        case op_code::cast:
        case op_code::conjugate:
            return a;
        case op_code::negate:
            return shift{-a.adds, a.grows, labels};
        case op_code::exp:
            return adds ? std::optional(shift{0, a.adds, labels}) : std::nullopt;
        case op_code::log:
            return grows ? std::optional(shift{a.grows, 0, labels}) : std::nullopt;
        case op_code::shifted_exponential:
            return adds ? std::optional(shift{0, a.adds - b.adds, labels}) : std::nullopt;
        case op_code::add:
        case op_code::subtract:
            return adds ? std::optional(shift{a.adds + (code == op_code::add ? b.adds : -b.adds), 0, labels})
                   : grows && a.grows == b.grows ? std::optional(a)
                                                 : std::nullopt;
        case op_code::multiply:
        case op_code::divide:
            return grows ? std::optional(shift{0, a.grows + (code == op_code::multiply ? b.grows : -b.grows), labels})
                         : std::nullopt;
        default:
            return std::nullopt;
    }
}

/// The shift of a vertex's elements, where those of its operands are shifted as `known` says; none where they change in
/// another way.
EINPARALLEL_SELDOM std::optional<shift> shift_of(const vertex& made,
                                                 const std::unordered_map<const vertex*, shift>& known) {
    const std::vector<operand_read> reads = made.form.listed_reads();
    const std::vector<op_instruction>& program = made.work->program().instructions();
    std::vector<shift> values;
    for (std::size_t number = 0; number < program.size(); ++number) {
        std::optional<shift> value = shift{};
        if (program[number].code == op_code::operand) {
            const operand_read& read = reads[values.size()];
            const auto is_shifted = [&](const operand_read& each) {
                return known.contains(made.operands[each.operand].get());
            };
            if (is_shifted(read) && read.at.is_plain()) {
                value = known.at(made.operands[read.operand].get());
                value->labels = list_of(value->labels, [&](label_id label) { return read.labels[std::size_t(label)]; });
            } else if (is_shifted(read) || any_in(read.elsewhere, is_shifted)) {
                value.reset();
            }
        } else if (const std::vector<op_register> from = sources_of(program, number); !from.empty()) {
            value = shift_through(program[number].code, values[from[0]], from.size() > 1 ? values[from[1]] : shift{});
        }
        if (!value) {
            return std::nullopt;
        }
        values.push_back(*value);
    }
    if (values.empty() || made.form.running.terms != no_label) {
        return std::nullopt;
    }
    shift all = values.back();
    if (all.is_none()) {
        return all;
    }
    const std::vector<label_id>& out = made.form.output;
    const bool sums = made.work->program().aggregates_by() == reduction::sum && all.adds == 0;
    for (std::size_t label = 0; label < made.extents.size(); ++label) {
        if (!found_in(label_id(label), out) && (!sums || found_in(label_id(label), all.labels))) {
            return std::nullopt;
        }
    }
    all.labels = list_of(all.labels, [&](label_id label) { return label_id(find_in(out, label) - out.begin()); });
    return all;
}

/// True where the operations alone show that the last vertex stays the same, whatever is added to an element of `of`.
/// An example is m in log Σ exp(x − m) + m. `order`: vertices that are made of others, operands first.
EINPARALLEL_SELDOM bool cancels(const vertex& of, std::span<const std::shared_ptr<vertex>> order) {
    std::unordered_map<const vertex*, shift> known{{&of, {1, 0, first_labels(of.bounds.size())}}};
    for (const std::shared_ptr<vertex>& each : order) {
        if (!any_in(each->operands, [&](const auto& operand) { return known.contains(operand.get()); })) {
            continue;
        }
        const std::optional<shift> made = shift_of(*each, known);
        if (!made) {
            return false;
        }
        if (!made->is_none()) {
            known.emplace(each.get(), *made);
        }
    }
    return !known.contains(order.back().get());
}

}  // namespace einparallel::EINPARALLEL_DETAIL
