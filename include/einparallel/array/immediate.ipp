#pragma once

#include <einparallel/array/immediate.hpp>

#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Copies the extents of an operand's dimensions to `extents` (by label; −1 where not known yet). Returns the first
/// label that has a different extent there, or no_label.
EINPARALLEL_INLINE label_id merge_extents(std::span<index> extents, const strided_block& block) {
    for (std::size_t dimension = 0; dimension < block.labels.size(); ++dimension) {
        const label_id label = block.labels[dimension];
        if (label == no_label) {
            continue;
        }
        index& known = extents[std::size_t(label)];
        if (known < 0) {
            known = block.extents[dimension];
        } else if (known != block.extents[dimension]) {
            return label;
        }
    }
    return no_label;
}

/// The extent of a label in a block, or −1 where the block lacks the label. If several dimensions have the label,
/// returns one that differs from `known`, if any does.
EINPARALLEL_INLINE index extent_in(const strided_block& block, label_id label, index known) {
    index found = -1;
    for (std::size_t dimension = 0; dimension < block.labels.size(); ++dimension) {
        const index extent = block.extents[dimension];
        found = block.labels[dimension] == label && (found < 0 || extent != known) ? extent : found;
    }
    return found;
}

/// Throws where extents disagree within a term or with the output. Writes the extents, by label, to `extents`. `term`
/// is the number of the term, or 0 if there is only one. `grown`: the output has taken its extents from the operands.
EINPARALLEL_INLINE void check_term(std::span<const std::string_view> names, const strided_block& output,
                                   std::span<const strided_block> operands, std::span<index> extents, int term,
                                   bool grown) {
    std::fill(extents.begin(), extents.end(), -1);
    for (std::size_t number = 0; number <= operands.size(); ++number) {
        const bool is_output = number == operands.size();
        const strided_block& block = is_output ? output : operands[number];
        const label_id label = merge_extents(extents, block);
        if (label == no_label) {
            continue;
        }
        const index known = extents[std::size_t(label)];
        std::size_t first = 0;
        while (extent_in(operands[first], label, known) < 0) {
            ++first;
        }
        const auto labels_of = [&](std::size_t operand) { return operands[operand].labels; };
        throw error("einsum " + einsum_text(names, operands.size(), labels_of, output.labels) + ": label " +
                    std::string(names[std::size_t(label)]) + " has extent " + std::to_string(known) +
                    (is_output ? " in the operands" : " in operand " + std::to_string(first + 1)) + " and " +
                    std::to_string(extent_in(block, label, known)) + " in " +
                    (!is_output ? "operand " + std::to_string(number + 1)
                     : grown    ? "the terms before"
                                : "the output") +
                    (is_output && term > 0 ? " (term " + std::to_string(term) + ")" : ""));
    }
}

/// True where the leaf lies in the output's memory, and to write an element of the output only this element is read
/// from it.
EINPARALLEL_INLINE bool is_read_in_place(const strided_block& output, const strided_block& leaf) {
    bool same = leaf.joined == nullptr && leaf.data == output.data && leaf.element.bytes == output.element.bytes &&
                leaf.labels.size() == output.labels.size();
    for (std::size_t dimension = 0; same && dimension < output.labels.size(); ++dimension) {
        const auto read = find_in(leaf.labels, output.labels[dimension]);
        same = read != leaf.labels.end() && (output.strides[dimension] == leaf.strides[read - leaf.labels.begin()] ||
                                             output.extents[dimension] <= 1);
    }
    return same;
}

EINPARALLEL_INLINE void check_leaf(const strided_block& output, const statement_leaf& leaf) {
    check_readable(leaf.block);
    require((leaf.in_place && is_read_in_place(output, leaf.block)) || !overlap(output, leaf.block),
            {"einsum: the output shares elements with an operand",
             leaf.in_place
                 ? ", and elements of the output need other elements of this operand than the one in their own place"
                 : "",
             ": give the result memory of its own"});
}

EINPARALLEL_INLINE std::vector<statement_leaf> leaves_of(std::span<const strided_block> operands, bool in_place,
                                                         std::uint64_t ends) {
    std::size_t left = operands.size();
    return list_of(operands, [&](const strided_block& operand) {
        return statement_leaf{operand, in_place, --left == 0 || (std::exchange(ends, ends >> 1) & 1) != 0};
    });
}

EINPARALLEL_INLINE bool lacks_extents(const strided_block& output) {
    return !output.extents.empty() && all_in(output.extents, [](index extent) { return extent == 0; });
}

/// Gives an output without extents those of the leaves' labels. Throws where no leaf has a label of the output.
EINPARALLEL_INLINE void let_grow(std::span<const std::string_view> names, std::span<const statement_leaf> leaves,
                                 const growing_array& array, strided_block& output) {
    small_vector<index, 8> extents;
    for (const label_id label : output.labels) {
        index known = -1;
        for (std::size_t leaf = 0; leaf < leaves.size() && known < 0; ++leaf) {
            known = extent_in(leaves[leaf].block, label, -1);
        }
        require(known >= 0, {"einsum: output label ", names[std::size_t(label)],
                             " appears in no operand, and the array has no extents yet: make it with them, "
                             "ep::array<double, 2> Z({m, n})"});
        extents.push_back(known);
    }
    array.elements->reset(new_elements({extents.data(), extents.size()}, output.element.bytes, first_elements::zeros));
    output.data = array.elements->get();
    std::copy(extents.begin(), extents.end(), array.extents);
    dense_strides(output.extents, array.strides);
}

EINPARALLEL_INLINE written_indices write_indices(std::span<strided_block> operands) {
    written_indices made;
    for (strided_block& each : operands) {
        if (each.counts_from >= 0) {
            const index count = each.extents[0];
            index* const first = made.emplace_back(new index[std::size_t(count)]).get();
            std::iota(first, first + count, each.counts_from);
            each.data = first;
            each.counts_from = -1;
        }
    }
    return made;
}

/// Sets the extents that no block has given to 1.
EINPARALLEL_INLINE void fill_in(small_vector<index, 16>& extents) {
    std::replace(extents.begin(), extents.end(), index{-1}, index{1});
}

/// True where nothing can be wrong: extents agree, the output is dense, and no operand overlaps it, except with
/// `in_place` an operand that is read element for element where the output is written. Fills `extents` by label, with
/// −1 where no block has the label.
EINPARALLEL_INLINE bool is_plain(const strided_block& output, std::span<const strided_block> operands, bool in_place,
                                 std::span<index> extents) {
    std::fill(extents.begin(), extents.end(), -1);
    const auto [begin, end] = output.touched();
    bool plain = merge_extents(extents, output) == no_label && output.data != nullptr && begin != end &&
                 is_dense(output.extents, output.strides);
    for (const strided_block& operand : operands) {
        const auto [from, to] = operand.touched();
        plain = merge_extents(extents, operand) == no_label && plain && operand.data != nullptr && from != to &&
                (to <= begin || end <= from || (in_place && is_read_in_place(output, operand)));
    }
    return plain;
}

EINPARALLEL_INLINE block_call checked_call(const product_form& form, std::span<strided_block> blocks,
                                           small_vector<index, 16>& extents, growth grow) {
    strided_block& output = blocks[0];
    const std::span<const strided_block> operands = blocks.subspan(1);
    if (grow != nullptr && lacks_extents(output)) {
        let_grow(form.names, leaves_of(operands, form.in_place), *grow, output);
    }
    extents.resize(form.names.size());
    if (!is_plain(output, operands, form.in_place, extents)) {
        immediate_builder(form.names, output, leaves_of(operands, form.in_place), nullptr);
    }
    fill_in(extents);
    return {extents, operands, output, form.mode};
}

EINPARALLEL_INLINE immediate_builder::immediate_builder(std::span<const std::string_view> names,
                                                        const strided_block& target,
                                                        std::span<const statement_leaf> leaves, growth grow)
    : names_(names), target_(target), extents_(names.size()) {
    const bool grown = grow != nullptr && lacks_extents(target);
    if (grown) {
        let_grow(names, leaves, *grow, target_);
    }
    check_readable(target_);
    expect(!overlaps_itself(target_.extents, target_.strides),
           "einsum: the output has strides by which several of its elements share one place");
    small_vector<strided_block, 8> term;
    const bool alone = std::count_if(leaves.begin(), leaves.end(), [](auto& leaf) { return leaf.ends_term; }) == 1;
    int number = alone ? 0 : 1;
    for (const statement_leaf& leaf : leaves) {
        check_leaf(target_, leaf);
        term.push_back(leaf.block);
        if (leaf.ends_term) {
            check_term(names, target_, term, extents_, number++, grown);
            term.clear();
        }
    }
}

EINPARALLEL_VIRTUAL immediate_builder::~immediate_builder() = default;

EINPARALLEL_INLINE index_span immediate_builder::learn_extents(std::span<const strided_block> operands) {
    std::fill(extents_.begin(), extents_.end(), -1);
    merge_extents(extents_, target_);
    for (const strided_block& operand : operands) {
        merge_extents(extents_, operand);
    }
    fill_in(extents_);
    return extents_;
}

EINPARALLEL_INLINE immediate_builder::handle immediate_builder::run(destination sink, label_span out,
                                                                    std::span<const strided_block> operands,
                                                                    element_type element, block_work work,
                                                                    bool counts) {
    strided_block made = target_;
    learn_extents(operands);
    std::vector<strided_block> read;
    written_indices indices;
    if (!counts && any_in(operands, [](const strided_block& each) { return each.counts_from >= 0; })) {
        read.assign(operands.begin(), operands.end());
        indices = write_indices(read);
        operands = read;
    }
    if (!sink) {
        memory& own = *temporaries_.emplace_back(std::make_unique<memory>());
        own.extents = list_of(out, [&](label_id label) { return extents_[std::size_t(label)]; });
        own.strides.resize(out.size());
        const auto count = std::size_t(dense_strides(own.extents, own.strides.data()));
        own.bytes.reset(new_lines(count * element.bytes));
        made = {{own.bytes.get(), own.extents, own.strides.data(), element}, out};
    }
    split_at_joins({extents_, operands, made, sink.value_or(write_mode::overwrite)}, work);
    return made;
}

EINPARALLEL_INLINE void run_named(std::span<const std::string_view> names, label_span out,
                                  std::span<const strided_block> operands, function_ref<void()> work) {
    try {
        work();
    } catch (const integer_divided_by_zero& failed) {
        const auto labels_of = [&](std::size_t operand) { return operands[operand].labels; };
        throw error("einsum " + einsum_text(names, operands.size(), labels_of, out) + ": " + failed.what());
    }
}

EINPARALLEL_INLINE immediate_builder::handle immediate_builder::join(destination sink, label_span out,
                                                                     std::span<const strided_block> operands,
                                                                     const join_work& work,
                                                                     const op_program& /*nobody_asks*/) {
    if (work.rows.finds) {
        const index_span extents = learn_extents(operands);
        for (const strided_block& operand : operands) {
            for (const label_id label : operand.labels) {
                require(label == no_label || extents[std::size_t(label)] > 0 || found_in(label, out),
                        {"einsum: argmax or argmin over label ", names_[std::size_t(label)], ", which has extent 0"});
            }
        }
    }
    const auto join = [&](const block_call& block) {
        run_named(names_, out, operands, [&] { run_join(block, work); });
    };
    return run(sink, out, operands, work.reduction.element, join, true);
}

EINPARALLEL_INLINE void run_elementwise(std::span<const std::string_view> names, const strided_block& target,
                                        std::span<const strided_block> operands, std::uint64_t ends,
                                        const join_work& work, write_mode mode, growth grow) {
    small_vector<index, 16> extents(names.size());
    if ((grow != nullptr && lacks_extents(target)) || !is_plain(target, operands, true, extents)) {
        immediate_builder(names, target, leaves_of(operands, true, ends), grow)
            .join(mode, target.labels, operands, work, {});
        return;
    }
    fill_in(extents);
    const block_call call{extents, operands, target, mode};
    run_named(names, target.labels, operands, [&] { run_join(call, work); });
}

EINPARALLEL_INLINE void run_selection(std::span<const std::string_view> names, const strided_block& target,
                                      std::span<const strided_block> operands, const select_work& work, write_mode mode,
                                      growth grow) {
    std::vector<std::string_view> all(names.begin(), names.end());
    std::vector<strided_block> read(operands.begin(), operands.end());
    const index step = 1;
    const std::size_t count = work.indices.size();
    std::vector<label_id> labels(count);
    for (std::size_t each = 0; each < count; ++each) {
        const index& extent = work.indices[each].extent;
        labels[each] = label_id(all.size());
        all.emplace_back(work.indices[each].name);
        read.push_back({{&extent, {&extent, 1}, &step, element_type_of<index>()}, {&labels[each], 1}});
        read.back().counts_from = 0;
    }
    immediate_builder(all, target, leaves_of(operands, false), grow)
        .run(
            mode, target.labels, read, work.element, [&](const block_call& call) { run_select(call, work); }, true);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
