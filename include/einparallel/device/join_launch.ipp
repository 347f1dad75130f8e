#pragma once
// Chooses the program that runs a join.

#include <einparallel/device/join_start.hpp>
#include <einparallel/device/launch.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

template <int Words>
void start_cells(launch::stream on, const launch::strided_join& work, const join_code& code) {
    cell_program<Words> program{};
    std::copy(code.operands.begin(), code.operands.end(), program.operand_types);
    program.operands = int(code.operands.size());
    program.count = int(code.instructions.size());
    program.register_count = code.registers;
    program.result_register = std::uint8_t(code.result);
    program.type = code.type;
    program.by = reduction_row_of(code.by).combine;
    program.divided = work.divided;
    std::copy_n(code.identity.begin(), Words, program.identity.words);
    std::copy(code.instructions.begin(), code.instructions.end(), program.code);
    start_join(on, work, program);
}

/// Starts a join with the kernel of the program's only functor. False where this functor has no kernel.
template <class T>
bool start_plain(launch::stream on, const launch::strided_join& work, const join_code& code) {
    bool known = false;
    const numbered_reduction by{code.by};
    const T identity = op_cell<2>{{code.identity[0], code.identity[1]}}.template as<T>();
    if (code.plain == op_code::cast) {
        start_join(on, work, functor_program<T, numbered_reduction, unchanged, T>{by, {}, identity});
        return true;
    }
    with_functor(type_list<plus, minus, times, over, shifted_exponential>(), code.plain, [&](auto function) {
        start_join(on, work, functor_program<T, numbered_reduction, decltype(function), T, T>{by, function, identity});
        known = true;
    });
    return known;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel::detail::launch {

struct device_program {
    join_code code;
};

std::shared_ptr<const device_program> device_program_of(const op_program& program) {
    return std::make_shared<const device_program>(device_program{code_of(program)});
}

void join(stream on, const strided_join& work, const device_program& program) {
    const join_code& code = program.code;
    bool known = false;
    if (code.plain != op_code::opaque) {
        with_kind<op_cell<2>>(code.type.kind, [&](auto zero) {
            if constexpr (!std::is_integral_v<decltype(zero)>) {
                known = start_plain<decltype(zero)>(on, work, code);
            }
        });
    }
    if (!known) {
        code.wide ? start_cells<2>(on, work, code) : start_cells<1>(on, work, code);
    }
}

}  // namespace einparallel::detail::launch
