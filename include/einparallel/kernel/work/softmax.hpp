#pragma once
// exp(x − max x) / Σ exp(x − max x) along one label of a strided tensor, in one pass over memory.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// The loops of a call that computes each row of the output from a row of its first operand: the loops over the rows,
/// and the loop along a row.
struct row_loops {
    loop_nest rows;           ///< the loops over the rows, sorted by the output's strides
    index lengths[2];         ///< elements in a row of the output, and in a row of the operand
    index steps[2] = {0, 0};  ///< strides along a row of the output, and along a row of the operand
    index moves[2] = {0, 0};  ///< strides from a row to the next along the innermost loop over rows

    /// Rows of the output lie along label `into`, rows of the operand along label `from`. Both may be the same label.
    row_loops(const block_call& call, label_id into, label_id from)
        : lengths{call.extents[std::size_t(into)], call.extents[std::size_t(from)]} {
        small_vector<index, 16> extents(call.extents.size());
        std::copy(call.extents.begin(), call.extents.end(), extents.begin());
        extents[std::size_t(from)] = 1;
        extents[std::size_t(into)] = std::min<index>(lengths[0], 1);
        rows = loop_nest(call, {extents.data(), extents.size()}, 1);
        rows.sort_by(0);
        steps[0] = stride_along(call.output, into);
        steps[1] = stride_along(call.operands[0], from);
        if (rows.size() > 0) {
            std::copy_n(rows.of(rows.size() - 1), 2, moves);
        }
    }
    /// Rows of the output lie along the label that only the output has, rows of the operand along the label that only
    /// the operand has.
    explicit row_loops(const block_call& call)
        : row_loops(call, other_label(call.output.labels, call.operands[0].labels),
                    other_label(call.operands[0].labels, call.output.labels)) {}

    /// Calls visit(z, x, count) until all rows are visited. A visit covers `count` rows. The first of them begins at
    /// element z of the output and element x of the operand; the others follow at distances `moves`. Each thread gets
    /// at least `together` rows, and rows with at least `worth` elements. `length`: elements in a row.
    EINPARALLEL_INLINE void for_each_run(index length, index worth, index together,
                                         function_ref<void(index, index, index)> visit) const {
        const index points = element_count(rows.extents);
        const index threads = std::min({points * length / worth, points / together, index{available_threads()}});
        if (!rows.output_empty) {
            for_each_stretch(rows, output_loops(rows), length, int(std::max<index>(threads, 1)),
                             [&](const index* from, index count, const index*) { visit(from[0], from[1], count); });
        }
    }

    static label_id other_label(label_span labels, label_span than) {
        return *std::find_if(labels.begin(), labels.end(), [&](label_id each) { return !found_in(each, than); });
    }
};

/// Computes a call on blocks with one operand x: z = softmax of x along a label. Both tensors have the same labels.
/// @pre the output does not overlap the operand, or is the same memory with the same stride along every label
template <class T>
[[gnu::visibility("default")]] void softmax_block(const block_call& call, label_id along);

}  // namespace einparallel::EINPARALLEL_DETAIL
