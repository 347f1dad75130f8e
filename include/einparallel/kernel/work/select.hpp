#pragma once
// Σ over labels that are chosen by data: W(token(i), d), H(token(i)) += x(i). The one-hot operand is never formed.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// An index that is data: the elements of an operand, the tokens, name positions along a dimension.
struct data_index {
    element_type element;
    index extent = 0;  ///< extent of the whole dimension
    std::string name;  ///< name of the dimension in error messages
};

/// z[into[i]] += x[from[i]], in this order.
using scattered_sum = void (*)(std::byte* z, const std::byte* x, const index* into, const index* from, index count);
template <class T>
void add_scattered(std::byte* z, const std::byte* x, const index* into, const index* from, index count) {
    T* const sums = reinterpret_cast<T*>(z);
    const T* const terms = reinterpret_cast<const T*>(x);
    for (index at = 0; at < count; ++at) {
        sums[into[at]] = op::sum(sums[into[at]], terms[from[at]]);
    }
}

/// Z[ℓZ] (⊕)= Σ X[ℓX] · [token1[ℓ1] = v1] · [token2[ℓ2] = v2] · …. Elements of X that are multiplied by 0 are not read.
/// The operands of a call are X, then the tokens, then for each of these the indices along its v, ep::iota(v). Where
/// the work `replaces`, Z equals the last operand, except for the elements that tokens name, which become elements of
/// X. A call that combines lacks the last operand, because Z has its elements already.
struct select_work {
    element_type element;
    row_reduction sum;
    scattered_sum add = nullptr;
    std::vector<data_index> indices;
    bool replaces = false;
};
template <Element T>
select_work select_work_of(std::vector<data_index> indices, bool replaces) {
    return {element_type_of<T>(), row_reduction_of<T>(op::sum), &add_scattered<T>, std::move(indices), replaces};
}

/// Computes select_work. The work is the product of the extents of all labels except v1, v2, ….
/// @throws error, before anything is written, where a token is outside its dimension, or where tokens name twice an
/// element that is replaced
EINPARALLEL_INLINE void run_select(const block_call& call, const select_work& work);

}  // namespace einparallel::EINPARALLEL_DETAIL
