#pragma once

#include <einparallel/device/join_shape.hpp>
#include <einparallel/notation/search_range.hpp>

#include <einparallel/notation/error.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdlib>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// An element type in device code.
inline cell_type cell_type_of(element_type type) {
    auto kind = type.kind == 'f'   ? (type.bytes == 4 ? cell_kind::f32 : cell_kind::f64)
                : type.kind == 'c' ? (type.bytes == 8 ? cell_kind::c64 : cell_kind::c128)
                : type.kind == 'i' ? cell_kind::whole
                                   : cell_kind::natural;
    [&]<class... Half>(type_list<Half...> /*halves*/) {
        int position = 0;
        ((kind = element_type_of<Half>() == type ? cell_kind(int(cell_kind::half) + position) : kind, ++position), ...);
    }(half_elements());
    return {kind, std::uint8_t(type.bytes), type.kind == 'b'};
}

/// A number as a cell holds it.
inline number_bits cell_bits(number_bits bits, cell_type type) {
    if (type.kind == cell_kind::c64) {
        return {(bits[0] & 0xffffffffU) | bits[1] << 32U, 0};
    }
    return {wrapped(bits[0], type), bits[1]};
}

inline number_bits identity_bits(reduction by, element_type type) {
    number_bits bits{};
    with_element(type, [&]<class T>(std::type_identity<T> /*type*/) {
        with_reduction<T>(by, [&](auto reduce) { bits = bits_of(reduce.template identity<T>()); });
    });
    return cell_bits(bits, cell_type_of(type));
}

/// The functor of a program that consists of one functor only: `cast` where it returns its only operand, or the
/// function of its two operands in their order. Otherwise, and for integers and half-precision numbers, `opaque`.
inline op_code plain_code(const op_program& program) {
    const auto instructions = program.instructions();
    const element_type type = program.type();
    const bool all_alike = all_in(instructions, [&](const op_instruction& each) { return each.type() == type; });
    if (!all_alike || (type.kind != 'f' && type.kind != 'c') || is_half_type(type)) {
        return op_code::opaque;
    }
    if (instructions.size() == 1 && program.operand_count() == 1) {
        return op_code::cast;
    }
    const op_instruction& last = instructions.back();
    const bool is_one = instructions.size() == 3 && program.operand_count() == 2 && last.from[0] == 0 &&
                        last.from[1] == 1 && arity_of(last.code) == 2;
    return is_one ? last.code : op_code::opaque;
}

EINPARALLEL_INLINE join_code code_of(const op_program& program) {
    const auto instructions = program.instructions();
    const std::size_t operands = program.operand_count();
    if (program.is_opaque()) {
        refuse({"device: this functor can be called only by the source file that recorded it: ", program.formula()});
    }
    constexpr std::size_t most = cell_program<1>::most_instructions;
    if (operands > launch::most_operands || instructions.size() - operands > most) {
        refuse({"device: an expression has more than ", launch::most_operands, " operands or ", most,
                " instructions: ", program.formula()});
    }
    join_code made;
    made.plain = plain_code(program);
    made.type = cell_type_of(program.type());
    made.by = program.aggregates_by();
    made.identity = identity_bits(made.by, program.type());
    // A register is reused after its last reader.
    std::vector<std::size_t> last_reader(instructions.size(), 0);
    for (std::size_t number = operands; number < instructions.size(); ++number) {
        for (int argument = 0; argument < arity_of(instructions[number].code); ++argument) {
            last_reader[instructions[number].from[std::size_t(argument)]] = number;
        }
    }
    last_reader.back() = instructions.size();
    std::vector<int> register_of(instructions.size(), 0);
    std::vector<int> unused;
    made.registers = int(operands);
    for (std::size_t number = 0; number < instructions.size(); ++number) {
        const op_instruction& each = instructions[number];
        const cell_type type = cell_type_of(each.type());
        made.wide = made.wide || type.kind == cell_kind::c128;
        if (number < operands) {
            made.operands.push_back(type);
            register_of[number] = int(number);
            continue;
        }
        const number_bits bits = cell_bits(each.bits, type);
        cell_instruction made_of{each.code, type, type, 0, {0, 0, 0}, {bits[0], bits[1]}};
        const int arity = arity_of(each.code);
        for (int argument = 0; argument < arity; ++argument) {
            const std::size_t read = each.from[std::size_t(argument)];
            made_of.from[argument] = std::uint8_t(register_of[read]);
            if (last_reader[read] == number && !found_in(register_of[read], unused)) {
                unused.push_back(register_of[read]);
            }
        }
        if (arity > 0) {
            made_of.computed = cell_type_of(instructions[each.from[each.code == op_code::choice ? 1 : 0]].type());
        }
        if (unused.empty()) {
            unused.push_back(made.registers++);
        }
        register_of[number] = unused.back();
        unused.pop_back();
        made_of.into = std::uint8_t(register_of[number]);
        made.instructions.push_back(made_of);
    }
    made.result = register_of.back();
    return made;
}

/// True where operands with most of the elements have their smallest stride along a summed loop.
inline bool reads_along_sums(const launch::strided_join& work) {
    index in_sums = 0;
    index in_outputs = 0;
    for (int operand = 1; operand <= work.operand_count; ++operand) {
        index elements = 1;
        int fastest = -1;
        for (int loop = 0; loop < work.loops; ++loop) {
            const index stride = std::abs(work.strides[loop][operand]);
            elements *= stride == 0 ? 1 : work.extents[loop];
            if (stride != 0 && (fastest < 0 || stride <= std::abs(work.strides[fastest][operand]))) {
                fastest = loop;
            }
        }
        (fastest >= work.output_loops ? in_sums : in_outputs) += fastest < 0 ? 0 : elements;
    }
    return in_sums > in_outputs;
}

EINPARALLEL_INLINE join_shape shape_of(const launch::strided_join& work, int threads) {
    constexpr index enough_blocks = 1056;  // eight for each multiprocessor of a current device
    const auto power_above = [](index number) {
        return index(std::bit_ceil(std::uint64_t(std::max<index>(number, 1))));
    };
    const auto quotient_up = [](index number, index length) { return (number + length - 1) / length; };
    join_shape made;
    made.sums = work.output_loops < work.loops;
    index points = 1;
    index terms = 1;
    for (int loop = 0; loop < work.loops; ++loop) {
        (loop < work.output_loops ? points : terms) *= work.extents[loop];
    }
    made.points = std::uint32_t(points);
    made.terms = std::uint32_t(terms);
    const index all = std::clamp<index>(power_above(quotient_up(points * terms, join_points)), warp_size, threads);
    made.across = int(all);
    if (!made.sums) {
        return made;
    }
    made.sum_fast = reads_along_sums(work);
    // Threads of a point: enough that each has terms; where neighbouring threads have neighbouring points, not so many
    // that a block has fewer points than a warp has threads.
    index along = std::min(power_above(quotient_up(terms, join_points)), all);
    if (made.sum_fast) {
        along = std::max(along, std::min({power_above(terms), index{8}, all}));
    } else {
        const index few = all / std::clamp<index>(power_above(points / enough_blocks), warp_size, all);
        along = std::min(along, std::max(few, all / power_above(points)));
    }
    made.along = int(along);
    made.across = int(all / along);
    // Splits sums where the points alone keep few multiprocessors busy. The sum over splits is short, so is not split.
    const index least_terms = made.sum_fast ? 4096 : 128;
    const index groups = quotient_up(points, made.sum_fast ? 1 : warp_size);
    const index wanted = std::min(enough_blocks / groups, terms / least_terms);
    const index splits = wanted >= 4 && terms > enough_blocks ? wanted : 1;
    const index split_terms = std::max<index>(quotient_up(terms, splits), 1);
    made.split_terms = std::uint32_t(split_terms);
    made.splits = std::uint32_t(std::max<index>(quotient_up(terms, split_terms), 1));
    return made;
}

EINPARALLEL_INLINE launch::strided_join sum_of_splits(const launch::strided_join& work, const join_shape& shape) {
    launch::strided_join whole{.output = work.output,
                               .operands = {work.workspace},
                               .operand_count = 1,
                               .loops = work.output_loops + 1,
                               .output_loops = work.output_loops,
                               .combine = work.combine};
    index step = 1;
    for (int loop = work.output_loops; loop-- > 0;) {
        whole.extents[loop] = work.extents[loop];
        whole.strides[loop][0] = work.strides[loop][0];
        whole.strides[loop][1] = step;
        step *= work.extents[loop];
    }
    whole.extents[work.output_loops] = shape.splits;
    whole.strides[work.output_loops][1] = step;
    return whole;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
