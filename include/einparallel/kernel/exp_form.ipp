#pragma once

#include <einparallel/kernel/exp_form.hpp>

#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/kernel/vector_exp.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
void exponentials(T* values, index count) {
    with_instruction_set(best_instruction_set(),
                         [&](auto set) { vector_exp<T, set.value>::exponentials(values, count); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
