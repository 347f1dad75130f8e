#pragma once

#include <einparallel/kernel/immediate.hpp>

#include <einparallel/kernel/large_pages.hpp>
#include <einparallel/notation/error.hpp>

#include <algorithm>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Takes the extents of one operand's dimensions over into `extents` (by label; −1 where not known yet). Returns the
/// first label that disagrees, or no_label.
EINPARALLEL_INLINE label_id merge_extents(std::span<index> extents, std::span<const label_id> labels,
                                          std::span<const index> of_operand) {
    for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
        if (labels[dimension] == no_label) {
            continue;
        }
        index& known = extents[static_cast<std::size_t>(labels[dimension])];
        if (known < 0) {
            known = of_operand[dimension];
        } else if (known != of_operand[dimension]) {
            return labels[dimension];
        }
    }
    return no_label;
}

EINPARALLEL_INLINE immediate_builder::immediate_builder(std::span<const std::string_view> names,
                                                        std::span<index> extents, const block_target& target)
    : names_(names), extents_(extents), target_(target) {}

EINPARALLEL_VIRTUAL immediate_builder::~immediate_builder() = default;

EINPARALLEL_INLINE void immediate_builder::check(std::span<const label_id> out,
                                                 std::span<const labelled_handle<handle>> operands) {
    learn_extents(out, operands);
    const label_id disagreeing = merge_extents(extents_, target_.labels, target_.extents);
    if (disagreeing == no_label) {
        checked_ = times_learnt_ == 1;
        return;
    }
    index of_output = 0;
    for (std::size_t dimension = 0; dimension < target_.labels.size(); ++dimension) {
        of_output = target_.labels[dimension] == disagreeing ? target_.extents[dimension] : of_output;
    }
    throw error("einsum " + einsum_text(names_, out, operands) + ": label " + name(disagreeing) + " has extent " +
                std::to_string(extents_[static_cast<std::size_t>(disagreeing)]) + " in the operands and " +
                std::to_string(of_output) + " in the output");
}

EINPARALLEL_INLINE void immediate_builder::learn_extents(std::span<const label_id> out,
                                                         std::span<const labelled_handle<handle>> operands) {
    ++times_learnt_;
    checked_ = false;
    for (index& extent : extents_) {
        extent = -1;
    }
    for (std::size_t operand = 0; operand < operands.size(); ++operand) {
        const labelled_handle<handle>& read = operands[operand];
        const label_id disagreeing = merge_extents(extents_, read.labels, read.handle.extents);
        if (disagreeing != no_label) {
            fail(out, operands, operand, disagreeing);
        }
    }
}

EINPARALLEL_INLINE immediate_builder::handle immediate_builder::run(into_target sink, std::span<const label_id> out,
                                                                    std::span<const labelled_handle<handle>> operands,
                                                                    std::size_t /*element_bytes*/, block_work work) {
    if (!checked_) {
        check(out, operands);
    }
    call(operands, {target_.data, target_.labels, target_.strides}, sink.mode, work);
    return {target_.data, target_.extents, target_.strides};
}

EINPARALLEL_INLINE immediate_builder::handle immediate_builder::run(temporary /*sink*/, std::span<const label_id> out,
                                                                    std::span<const labelled_handle<handle>> operands,
                                                                    std::size_t element_bytes, block_work work) {
    learn_extents(out, operands);
    auto made = std::make_unique<memory>();
    for (const label_id label : out) {
        made->extents.push_back(extents_[static_cast<std::size_t>(label)]);
    }
    made->strides.resize(out.size());
    index stride = 1;
    for (std::size_t dimension = out.size(); dimension-- > 0;) {
        made->strides[dimension] = stride;
        stride *= made->extents[dimension];
    }
    const std::size_t bytes = static_cast<std::size_t>(stride) * element_bytes;
    made->bytes.reset(new std::byte[bytes]);
    wish_large_pages(made->bytes.get(), bytes);
    temporaries_.push_back(std::move(made));
    const memory& here = *temporaries_.back();
    call(operands, {here.bytes.get(), out, here.strides}, write_mode::overwrite, work);
    return {here.bytes.get(), here.extents, here.strides};
}

EINPARALLEL_INLINE void immediate_builder::call(std::span<const labelled_handle<handle>> operands,
                                                const output_block& output, write_mode mode, block_work work) {
    for (index& extent : extents_) {
        extent = extent < 0 ? 1 : extent;
    }
    small_vector<operand_block, 8> blocks;
    for (const labelled_handle<handle>& operand : operands) {
        blocks.push_back({operand.handle.data, operand.labels, operand.handle.strides});
    }
    work.run(work.context, block_call{extents_, {blocks.data(), blocks.size()}, output, mode});
}

EINPARALLEL_INLINE std::string immediate_builder::name(label_id label) const {
    return std::string(names_[static_cast<std::size_t>(label)]);
}

EINPARALLEL_INLINE [[noreturn]] void immediate_builder::fail(std::span<const label_id> out,
                                                             std::span<const labelled_handle<handle>> operands,
                                                             std::size_t operand, label_id label) const {
    const auto extent_in = [&](std::size_t which) {
        const labelled_handle<handle>& read = operands[which];
        index found = -1;
        for (std::size_t dimension = 0; dimension < read.labels.size(); ++dimension) {
            const index extent = read.handle.extents[dimension];
            if (read.labels[dimension] == label && (found < 0 || extent != extents_[static_cast<std::size_t>(label)])) {
                found = extent;
            }
        }
        return found;
    };
    std::size_t first = 0;
    while (extent_in(first) < 0) {
        ++first;
    }
    throw error("einsum " + einsum_text(names_, out, operands) + ": label " + name(label) + " has extent " +
                std::to_string(extents_[static_cast<std::size_t>(label)]) + " in operand " + std::to_string(first + 1) +
                " and " + std::to_string(extent_in(operand)) + " in operand " + std::to_string(operand + 1));
}

EINPARALLEL_INLINE statement_check::statement_check(immediate_builder& builder, const block_target& target,
                                                    std::size_t element_bytes)
    : builder_(builder),
      written_(target.data, target.extents, target.strides, element_bytes),
      written_labels_(target.labels) {
    check_writable(written_);
}

EINPARALLEL_INLINE void statement_check::read(const labelled_handle<block_handle>& leaf, std::size_t element_bytes,
                                              bool in_place) {
    leaves_.push_back(leaf);
    const block_handle& held = leaf.handle;
    const touched_memory read(held.data, held.extents, held.strides, element_bytes);
    check_readable(read);
    if (!overlap(written_, read)) {
        return;
    }
    bool same = in_place && held.data == written_.data && leaf.labels.size() == written_labels_.size() &&
                element_bytes == written_.element_bytes;
    for (std::size_t dimension = 0; dimension < leaf.labels.size() && same; ++dimension) {
        bool found = false;
        for (std::size_t other = 0; other < written_labels_.size(); ++other) {
            found = found || (written_labels_[other] == leaf.labels[dimension] &&
                              (written_.strides[other] == held.strides[dimension] || held.extents[dimension] <= 1));
        }
        // A label that is repeated reads a diagonal, and leaves a label of the output without a dimension.
        const auto here = leaf.labels.begin() + static_cast<std::ptrdiff_t>(dimension);
        same = found && std::find(leaf.labels.begin(), here, *here) == here;
    }
    if (!same) {
        throw error(
            "einsum: the output is also an operand and is not read element for element where it is written: give "
            "the result memory of its own");
    }
}

EINPARALLEL_INLINE void statement_check::end_term(std::span<const label_id> left) {
    builder_.check(left, {leaves_.data(), leaves_.size()});
    leaves_.resize(0);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
