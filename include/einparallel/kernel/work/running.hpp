#pragma once
// Running sums along a label: element t is ⊕ of the elements up to t.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/operators.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// Makes `count` steps on `width` contiguous elements each: sums = sums ⊕ x where x is not null, then z = sums, or z =
/// z ⊕ sums if it `combines`, where z is not null. After a step, z and x move by z_step and x_step elements. `z` and
/// `x` may be the same memory.
using running_rows = void (*)(void* sums, void* z, const void* x, index count, index width, index z_step, index x_step,
                              bool combines);
template <class T, class Op>
void run_rows(void* sums, void* z, const void* x, index count, index width, index z_step, index x_step, bool combines) {
    constexpr Op op{};
    T* __restrict const sum = static_cast<T*>(sums);
    T* into = static_cast<T*>(z);
    const T* from = static_cast<const T*>(x);
    for (index step = 0; step < count; ++step) {
        for (index at = 0; from != nullptr && at < width; ++at) {
            sum[at] = op(sum[at], from[at]);
        }
        for (index at = 0; into != nullptr && at < width; ++at) {
            into[at] = combines ? op(into[at], sum[at]) : sum[at];
        }
        into += into == nullptr ? 0 : z_step;
        from += from == nullptr ? 0 : x_step;
    }
}

/// The ⊕ of running sums, and their element type.
struct running_work {
    element_type element;
    row_reduction sum;
    running_rows rows = nullptr;
    reduction by = reduction::unknown;
};
template <class T, class Op>
running_work running_work_of(const Op& op) {
    return {element_type_of<T>(), row_reduction_of<T>(op), &run_rows<T, Op>, reduction_of<Op>};
}

/// Z[t, …] (⊕)= ⊕ X[s, …] over s ≤ t, where X is the only operand of the call. `terms` is s and `sums` is t; both may
/// be the same label. It takes one pass over X and Z. @pre the output does not overlap the operand, or is the same
/// memory with the same stride along every label
EINPARALLEL_INLINE void run_running(const block_call& call, const running_work& work, label_id terms, label_id sums);

}  // namespace einparallel::EINPARALLEL_DETAIL
