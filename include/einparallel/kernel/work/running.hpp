#pragma once
// Running sums along a label: element t is ⊕ of the elements up to t.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/operators.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// `count` times: sums = sums ⊕ x, where there is an x, then z = sums, or z ⊕ sums, where there is a z; each time of
/// `width` neighbours. `z` and `x` may be the same memory.
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

/// ⊕ of running sums.
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

/// Z[t, …] (⊕)= ⊕ X[s, …] over s ≤ t, of the one operand of a call; `terms` is s, `sums` is t, which may be the same
/// label. One pass over both. @pre the output does not overlap the operand, or is the same memory, label for label
EINPARALLEL_INLINE void run_running(const block_call& call, const running_work& work, label_id terms, label_id sums);

}  // namespace einparallel::EINPARALLEL_DETAIL
