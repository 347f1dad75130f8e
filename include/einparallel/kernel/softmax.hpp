#pragma once
// exp(x − max x) / Σ exp(x − max x) along one label of a strided tensor, in one pass over memory.

#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// The loops of a softmax of one operand: those of its rows, and the one along them.
struct softmax_loops {
    loop_nest rows;
    index length;
    index steps[2] = {0, 0};  ///< along a row of the output, and of the operand

    softmax_loops(const block_call& call, label_id along) : length(call.extents[std::size_t(along)]) {
        small_vector<index, 16> extents;
        for (std::size_t label = 0; label < call.extents.size(); ++label) {
            const bool is_along = label == std::size_t(along);
            extents.push_back(is_along ? std::min<index>(length, 1) : call.extents[label]);
        }
        block_call around = call;
        around.extents = {extents.data(), extents.size()};
        rows = loop_nest(around);
        const auto add = [&](std::span<const label_id> labels, std::span<const index> strides, index& step) {
            for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {  // diagonals have several
                step += labels[dimension] == along ? strides[dimension] : 0;
            }
        };
        add(call.output.labels, call.output.strides, steps[0]);
        add(call.operands[0].labels, call.operands[0].strides, steps[1]);
    }
};

/// z = softmax of x along a label of a call on blocks with one operand, both tensors with the same labels.
/// @pre the output does not overlap the operand, or is the same memory, label for label
template <class T>
[[gnu::visibility("default")]] void softmax_block(const block_call& call, label_id along);

}  // namespace einparallel::EINPARALLEL_DETAIL
