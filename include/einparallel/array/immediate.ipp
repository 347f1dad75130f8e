#pragma once

#include <einparallel/array/immediate.hpp>

#include <einparallel/array/aliasing.hpp>
#include <einparallel/notation/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Takes the extents of one operand's dimensions over into `extents` (by label; −1 where not known yet). Returns the
/// first label that disagrees, or no_label.
EINPARALLEL_INLINE label_id merge_extents(std::span<index> extents, const labelled_block& block) {
    for (std::size_t dimension = 0; dimension < block.labels.size(); ++dimension) {
        const label_id label = block.labels[dimension];
        if (label == no_label) {
            continue;
        }
        index& known = extents[static_cast<std::size_t>(label)];
        if (known < 0) {
            known = block.handle.extents[dimension];
        } else if (known != block.handle.extents[dimension]) {
            return label;
        }
    }
    return no_label;
}

/// A vertex as errors show it.
EINPARALLEL_INLINE std::string vertex_text(std::span<const std::string_view> names, std::span<const label_id> out,
                                           std::span<const labelled_block> operands, label_id label) {
    return "einsum " +
           einsum_text(
               names, operands.size(), [&](std::size_t operand) { return operands[operand].labels; }, out) +
           ": label " + std::string(names[static_cast<std::size_t>(label)]) + " has extent ";
}

/// The extent of a label in a block: of several, one that differs from `known`; −1 where the block lacks the label.
EINPARALLEL_INLINE index extent_in(const labelled_block& block, label_id label, index known) {
    index found = -1;
    for (std::size_t dimension = 0; dimension < block.labels.size(); ++dimension) {
        const index extent = block.handle.extents[dimension];
        found = block.labels[dimension] == label && (found < 0 || extent != known) ? extent : found;
    }
    return found;
}

/// Extents of the labels of a vertex, −1 for all others. Throws where operands disagree.
EINPARALLEL_INLINE void merge_operands(std::span<const std::string_view> names, std::span<const label_id> out,
                                       std::span<const labelled_block> operands, std::span<index> extents) {
    std::ranges::fill(extents, -1);
    for (std::size_t operand = 0; operand < operands.size(); ++operand) {
        const label_id label = merge_extents(extents, operands[operand]);
        if (label == no_label) {
            continue;
        }
        const index known = extents[static_cast<std::size_t>(label)];
        std::size_t first = 0;
        while (extent_in(operands[first], label, known) < 0) {
            ++first;
        }
        throw error(vertex_text(names, out, operands, label) + std::to_string(known) + " in operand " +
                    std::to_string(first + 1) + " and " + std::to_string(extent_in(operands[operand], label, known)) +
                    " in operand " + std::to_string(operand + 1));
    }
}

/// Throws where the output's extents disagree with those of the operands.
EINPARALLEL_INLINE void merge_output(std::span<const std::string_view> names, const labelled_block& output,
                                     std::span<const labelled_block> operands, std::span<index> extents) {
    const label_id label = merge_extents(extents, output);
    if (label != no_label) {
        const index known = extents[static_cast<std::size_t>(label)];
        throw error(vertex_text(names, output.labels, operands, label) + std::to_string(known) +
                    " in the operands and " + std::to_string(extent_in(output, label, known)) + " in the output");
    }
}

/// The leaf reads each element of the output where that is written, and no other.
EINPARALLEL_INLINE bool is_read_in_place(const labelled_block& output, const labelled_block& leaf) {
    if (leaf.handle.data != output.handle.data || leaf.labels.size() != output.labels.size()) {
        return false;
    }
    for (std::size_t dimension = 0; dimension < leaf.labels.size(); ++dimension) {
        const auto here = leaf.labels.begin() + static_cast<std::ptrdiff_t>(dimension);
        const auto written = std::ranges::find(output.labels, *here);
        // A label that is repeated reads a diagonal, and leaves a label of the output without a dimension.
        if (written == output.labels.end() || std::find(leaf.labels.begin(), here, *here) != here ||
            (output.handle.strides[written - output.labels.begin()] != leaf.handle.strides[dimension] &&
             leaf.handle.extents[dimension] > 1)) {
            return false;
        }
    }
    return true;
}

/// The memory of a block, which must be there.
EINPARALLEL_INLINE touched_memory touched(const block_handle& block, std::size_t element_bytes) {
    return {block.data, block.extents, {block.strides, block.extents.size()}, element_bytes};
}

/// Throws where a leaf cannot be read, or where it shares memory with the output in another way than it may.
EINPARALLEL_INLINE void check_leaf(const touched_memory& written, const labelled_block& output,
                                   const statement_leaf& leaf) {
    const touched_memory read = touched(leaf.block.handle, leaf.element_bytes);
    check_readable(read);
    if (!overlap(written, read)) {
        return;
    }
    if (!leaf.in_place || leaf.element_bytes != written.element_bytes || !is_read_in_place(output, leaf.block)) {
        throw error(std::string("einsum: the output is also an operand") +
                    (leaf.in_place ? " and is not read element for element where it is written" : "") +
                    ": give the result memory of its own");
    }
}

/// A product as a call, in one pass over all dimensions. `is_plain`: extents agree and are not 0, the output is dense
/// and no operand is near it, so that nothing remains to be checked.
EINPARALLEL_INLINE block_call call_of(const product_form& form, std::span<const block_handle> blocks,
                                      std::size_t element_bytes, small_vector<index, 16>& extents,
                                      operand_block* operands, bool& is_plain) {
    const auto bytes = static_cast<index>(element_bytes);
    extents.resize(form.names.size(), -1);
    std::uintptr_t output_begin = 0;
    std::uintptr_t output_end = 0;
    is_plain = true;
    const label_id* labels = form.output;
    for (std::size_t number = 0; number < blocks.size(); ++number) {
        const block_handle& block = blocks[number];
        const std::size_t rank = block.extents.size();
        index lowest = 0;
        index highest = 0;
        index elements = 1;
        bool dense = true;
        for (std::size_t dimension = rank; dimension-- > 0;) {
            const index extent = block.extents[dimension];
            const index stride = block.strides[dimension];
            const index reach = (extent - 1) * stride;
            lowest += std::min<index>(reach, 0);
            highest += std::max<index>(reach, 0);
            dense = dense && stride == elements;
            elements *= extent;
            if (labels[dimension] != no_label) {
                index& known = extents[static_cast<std::size_t>(labels[dimension])];
                is_plain = is_plain && (known < 0 ? extent >= 0 : known == extent);
                known = extent;
            }
        }
        const auto first = reinterpret_cast<std::uintptr_t>(block.data);
        const std::uintptr_t begin = first + static_cast<std::uintptr_t>(lowest * bytes);
        const std::uintptr_t end = first + static_cast<std::uintptr_t>((highest + 1) * bytes);
        is_plain = is_plain && block.data != nullptr && elements != 0;
        if (number == 0) {
            is_plain = is_plain && dense;
            output_begin = begin;
            output_end = end;
            labels = form.operands;
        } else {
            is_plain = is_plain && (end <= output_begin || output_end <= begin);
            operands[number - 1] = {block.data, {labels, rank}, {block.strides, rank}};
            labels += rank;
        }
    }
    for (index& extent : extents) {
        extent = extent < 0 ? 1 : extent;
    }
    const std::size_t rank = blocks[0].extents.size();
    return {extents,
            {operands, blocks.size() - 1},
            {const_cast<void*>(blocks[0].data), {form.output, rank}, {blocks[0].strides, rank}},
            form.mode};
}

EINPARALLEL_INLINE std::vector<labelled_block> product_operands(const product_form& form,
                                                                std::span<const block_handle> blocks) {
    std::vector<labelled_block> operands;
    const label_id* labels = form.operands;
    for (const block_handle& block : blocks.subspan(1)) {
        operands.push_back({block, {labels, block.extents.size()}});
        labels += block.extents.size();
    }
    return operands;
}

/// The operands of a product as leaves of its only term.
EINPARALLEL_INLINE std::vector<statement_leaf> leaves_of(const product_form& form, std::span<const block_handle> blocks,
                                                         std::size_t element_bytes) {
    std::vector<statement_leaf> leaves;
    for (const labelled_block& operand : product_operands(form, blocks)) {
        leaves.push_back({operand, element_bytes, form.in_place, false});
    }
    leaves.back().ends_term = true;
    return leaves;
}

/// Every extent is 0, and there is one.
EINPARALLEL_INLINE bool lacks_extents(const block_handle& output) {
    bool lacks = !output.extents.empty();
    for (const index extent : output.extents) {
        lacks = lacks && extent == 0;
    }
    return lacks;
}

EINPARALLEL_INLINE void let_grow(std::span<const std::string_view> names, std::span<const label_id> labels,
                                 std::span<const statement_leaf> leaves, std::size_t element_bytes,
                                 const growing_array& array, block_handle& output) {
    if (!lacks_extents(output)) {
        return;
    }
    small_vector<index, 8> extents;
    for (const label_id label : labels) {
        index known = -1;
        for (std::size_t leaf = 0; leaf < leaves.size() && known < 0; ++leaf) {
            known = extent_in(leaves[leaf].block, label, -1);
        }
        if (known < 0) {
            throw error("einsum: output label " + std::string(names[static_cast<std::size_t>(label)]) +
                        " appears in no operand, and the array has no extents yet: make it with them, "
                        "ep::array<double, 2> Z({m, n})");
        }
        extents.push_back(known);
    }
    array.elements->reset(new_elements({extents.data(), extents.size()}, element_bytes, first_elements::zeros));
    index stride = 1;
    for (std::size_t dimension = extents.size(); dimension-- > 0;) {
        array.extents[dimension] = extents[dimension];
        array.handle_extents[dimension] = extents[dimension];
        array.handle_strides[dimension] = stride;
        stride *= extents[dimension];
    }
    output.data = array.elements->get();
}

EINPARALLEL_INLINE void let_grow(const product_form& form, std::span<block_handle> blocks, std::size_t element_bytes,
                                 const growing_array& array) {
    if (lacks_extents(blocks[0])) {
        let_grow(form.names, {form.output, blocks[0].extents.size()}, leaves_of(form, blocks, element_bytes),
                 element_bytes, array, blocks[0]);
    }
}

EINPARALLEL_INLINE std::shared_ptr<index[]> count_up(index extent) {
    if (extent < 0) {
        throw error("ep::iota: no operand has this label, and the array on the left has no extents yet");
    }
    std::shared_ptr<index[]> made(new index[static_cast<std::size_t>(extent)]);
    for (index at = 0; at < extent; ++at) {
        made[at] = at;
    }
    return made;
}

EINPARALLEL_INLINE block_call checked_call(const product_form& form, std::span<const block_handle> blocks,
                                           std::size_t element_bytes, small_vector<index, 16>& extents,
                                           operand_block* operands) {
    bool is_plain = false;
    const block_call call = call_of(form, blocks, element_bytes, extents, operands, is_plain);
    if (!is_plain) {
        immediate_builder(form, blocks, element_bytes);
    }
    return call;
}

EINPARALLEL_INLINE contraction_decision decision_of_product(const product_form& form,
                                                            std::span<const block_handle> blocks,
                                                            element_type element) {
    small_vector<index, 16> extents;
    operand_block operands[2];
    bool is_plain = false;
    const block_call call = call_of(form, blocks, element.bytes, extents, operands, is_plain);
    std::vector<index> merged(form.names.size());
    merge_operands(form.names, call.output.labels, product_operands(form, blocks), merged);
    return decide(call, element);
}

EINPARALLEL_INLINE immediate_builder::immediate_builder(std::span<const std::string_view> names,
                                                        const labelled_block& target, std::size_t element_bytes,
                                                        std::span<const statement_leaf> leaves)
    : target_(target), extents_(names.size()) {
    const touched_memory written = touched(target.handle, element_bytes);
    check_writable(written);
    small_vector<labelled_block, 8> term;
    for (const statement_leaf& leaf : leaves) {
        check_leaf(written, target, leaf);
        term.push_back(leaf.block);
        if (leaf.ends_term) {
            merge_operands(names, target.labels, term, extents_);
            merge_output(names, target, term, extents_);
            term.clear();
        }
    }
}

EINPARALLEL_INLINE immediate_builder::immediate_builder(const product_form& form, std::span<const block_handle> blocks,
                                                        std::size_t element_bytes)
    : immediate_builder(form.names, {blocks[0], {form.output, blocks[0].extents.size()}}, element_bytes,
                        leaves_of(form, blocks, element_bytes)) {}

EINPARALLEL_VIRTUAL immediate_builder::~immediate_builder() = default;

EINPARALLEL_INLINE std::span<const index> immediate_builder::learn_extents(std::span<const labelled_block> operands) {
    std::ranges::fill(extents_, 1);
    const auto learn = [&](const labelled_block& block) {
        for (std::size_t dimension = 0; dimension < block.labels.size(); ++dimension) {
            if (block.labels[dimension] != no_label) {
                extents_[static_cast<std::size_t>(block.labels[dimension])] = block.handle.extents[dimension];
            }
        }
    };
    learn(target_);
    std::ranges::for_each(operands, learn);
    return extents_;
}

EINPARALLEL_INLINE immediate_builder::handle immediate_builder::run(destination sink, std::span<const label_id> out,
                                                                    std::span<const labelled_block> operands,
                                                                    std::size_t element_bytes, block_work work) {
    handle made = target_.handle;
    learn_extents(operands);
    if (!sink.is_output) {
        auto own = std::make_unique<memory>();
        for (const label_id label : out) {
            own->extents.push_back(extents_[static_cast<std::size_t>(label)]);
        }
        own->strides.resize(out.size());
        index stride = 1;
        for (std::size_t dimension = out.size(); dimension-- > 0;) {
            own->strides[dimension] = stride;
            stride *= own->extents[dimension];
        }
        const std::size_t bytes = static_cast<std::size_t>(stride) * element_bytes;
        own->bytes.reset(new_lines(bytes));
        made = {own->bytes.get(), own->extents, own->strides.data()};
        temporaries_.push_back(std::move(own));
    }
    small_vector<operand_block, 8> blocks;
    for (const labelled_block& operand : operands) {
        blocks.push_back({operand.handle.data, operand.labels, {operand.handle.strides, operand.labels.size()}});
    }
    const std::span<const label_id> written = sink.is_output ? target_.labels : out;
    work({extents_,
          {blocks.data(), blocks.size()},
          {const_cast<void*>(made.data), written, {made.strides, written.size()}},
          sink.mode});
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
