#pragma once

#include <einparallel/kernel/joined.hpp>

#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void cut_into_boxes(
    const std::vector<interval>& ranges, std::span<const boxed_read* const> reads, label_span output,
    function_ref<void(const std::vector<interval>&, std::span<const std::size_t> found, bool combines)> work) {
    std::vector<interval> within = ranges;
    const auto range = [&](label_id label) -> interval& { return within[std::size_t(label)]; };
    // Computes three parts apart: what reads only one side of `bound`, what reads both sides, and what reads only the
    // other.
    const auto cut = [&](const auto& compute, const index_function& at, index bound) {
        label_id along = no_label;
        index factor = 0;
        for (const index_term& term : at.terms) {
            if (along == no_label || range(term.label).size() > range(along).size()) {
                along = term.label;
                factor = term.coefficient;
            }
        }
        const interval whole = std::exchange(range(along), {0, 1});
        const interval others = range_of(at, within);
        const index rising = std::abs(factor);
        // The first one that is not wholly on the near side, and the first one that is wholly on the far side.
        index near = factor > 0 ? quotient_above(bound - others.end + 1, rising)
                                : quotient_above(others.begin - bound + 1, rising);
        index far =
            factor > 0 ? quotient_above(bound - others.begin, rising) : quotient_above(others.end - bound, rising);
        near = std::clamp(near, whole.begin, whole.end);
        far = std::clamp(far, near, whole.end);
        if (near == whole.begin && far == whole.end) {
            near = far = whole.begin + (whole.size() + 1) / 2;
        }
        for (const interval own : {interval{whole.begin, near}, interval{near, far}, interval{far, whole.end}}) {
            range(along) = own;
            if (!own.empty()) {
                compute(compute);
            }
        }
        range(along) = whole;
    };
    // Cuts until every read is in one box.
    const auto compute = [&](const auto& again) -> void {
        std::vector<std::size_t> found(reads.size(), in_no_box);
        for (std::size_t number = 0; number < reads.size(); ++number) {
            if (reads[number] == nullptr || any_in(within, &interval::empty)) {
                continue;
            }
            const boxed_read& read = *reads[number];
            const std::vector<index_function>& functions = read.at.functions;
            const box region{list_of(functions, [&](const index_function& each) { return range_of(each, within); })};
            for (std::size_t position = 0; position < read.boxes.size(); ++position) {
                const box common = intersect(read.boxes[position], region);
                for (std::size_t dimension = 0; !common.empty() && dimension < region.rank(); ++dimension) {
                    const interval side = region.sides[dimension];
                    const interval inside = common.sides[dimension];
                    if (side != inside) {
                        return cut(again, functions[dimension], side.begin < inside.begin ? inside.begin : inside.end);
                    }
                }
                found[number] = common.empty() ? found[number] : position;
            }
        }
        bool combines = false;
        for (std::size_t label = 0; label < within.size(); ++label) {
            combines = combines || (within[label].begin > ranges[label].begin && !found_in(label_id(label), output));
        }
        work(within, found, combines);
    };
    compute(compute);
}

EINPARALLEL_INLINE void split_at_joins(const block_call& call, function_ref<void(const block_call&)> work) {
    if (all_in(call.operands, [](const strided_block& each) { return each.joined == nullptr; })) {
        work(call);
        return;
    }
    const std::vector<interval> ranges = list_of(call.extents, [](index extent) { return interval{0, extent}; });
    const std::vector<const boxed_read*> reads =
        list_of(call.operands, [](const strided_block& each) -> const boxed_read* { return each.joined; });
    const auto compute = [&](const std::vector<interval>& own, std::span<const std::size_t> found, bool combines) {
        small_vector<index, 16> extents;
        small_vector<index, 16> starts;
        for (const interval range : own) {
            extents.push_back(range.size());
            starts.push_back(range.begin);
        }
        // The first element of the ranges.
        const auto go_to_ranges = [&](strided_block& block) {
            index offset = 0;
            for (std::size_t dimension = 0; dimension < block.labels.size(); ++dimension) {
                const label_id label = block.labels[dimension];
                offset += label == no_label ? 0 : own[std::size_t(label)].begin * block.strides[dimension];
            }
            block.data = static_cast<std::byte*>(block.data) + offset * index(block.element.bytes);
        };
        std::vector<strided_block> operands(call.operands.begin(), call.operands.end());
        std::vector<std::vector<index>> strides(operands.size());
        for (std::size_t operand = 0; operand < operands.size(); ++operand) {
            strided_block& block = operands[operand];
            if (const joined_blocks* const from = block.joined; from != nullptr) {
                std::vector<index>& along = strides[operand];
                along.assign(block.labels.size(), 0);
                block = {from->elsewhere, block.element, block.labels, along};
                if (const std::size_t number = found[operand]; number != in_no_box) {
                    const joined_blocks::block& read = from->blocks[number];
                    const index first = from->at.strides_along(block.labels, from->boxes[number], read.strides, along);
                    block = {static_cast<const std::byte*>(read.data) + first * index(block.element.bytes),
                             block.element, block.labels, along};
                }
            }
            go_to_ranges(block);
        }
        strided_block output = call.output;
        go_to_ranges(output);
        work({{extents.data(), extents.size()},
              operands,
              output,
              combines ? write_mode::combine : call.mode,
              call.hook,
              {starts.data(), starts.size()}});
    };
    cut_into_boxes(ranges, reads, call.output.labels, compute);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
