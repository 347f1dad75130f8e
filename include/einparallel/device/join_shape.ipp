#pragma once

#include <einparallel/device/join_shape.hpp>

#include <einparallel/notation/error.hpp>
#include <einparallel/notation/operators.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The identity of ⊕ as the bits of a cell.
inline std::array<std::uint64_t, 2> identity_bits(reduction by, cell_type type) {
    if (by == reduction::sum) {
        return {};
    }
    const auto bits_of = [&](auto one, auto lowest, auto highest) {
        const auto chosen = by == reduction::prod ? one : by == reduction::max ? lowest : highest;
        if constexpr (sizeof(chosen) == 4) {
            return std::uint64_t{std::bit_cast<std::uint32_t>(chosen)};
        } else {
            return std::bit_cast<std::uint64_t>(chosen);
        }
    };
    const int unused = 64 - 8 * type.bytes;
    switch (type.kind) {
        case cell_kind::f32:
            return {bits_of(1.0F, op::max.identity<float>(), op::min.identity<float>()), 0};
        case cell_kind::f64:
            return {bits_of(1.0, op::max.identity<double>(), op::min.identity<double>()), 0};
        case cell_kind::c64:
            return {std::bit_cast<std::uint32_t>(1.0F), 0};
        case cell_kind::c128:
            return {std::bit_cast<std::uint64_t>(1.0), 0};
        case cell_kind::whole:
            return {bits_of(std::int64_t{1}, std::int64_t{INT64_MIN} >> unused, std::int64_t{INT64_MAX} >> unused), 0};
        default:
            return {bits_of(std::uint64_t{1}, std::uint64_t{0},
                            type.is_bool ? std::uint64_t{1} : ~std::uint64_t{0} >> unused),
                    0};
    }
}

/// The functions with kernels of their own, recognised.
inline void recognise(const op_program& program, join_code& made) {
    /// factor · ∏ operands, or a form that is finished.
    struct form {
        plain_function whole = plain_function::product;
        std::complex<double> factors[2] = {1.0, 1.0};
        std::vector<std::size_t> operands{};
    };
    const element_type type = program.type();
    if ((type.kind != 'f' && type.kind != 'c') || program.operand_count() == 0 || program.operand_count() > 2) {
        return;
    }
    std::vector<form> forms;
    for (const op_instruction& each : program.instructions()) {
        if (each.type() != type) {
            return;
        }
        form found;
        const auto from = [&](std::size_t place) -> const form& { return forms[each.from[place]]; };
        const auto is_operand = [&](std::size_t place, std::size_t number) {
            return from(place).whole == plain_function::product && from(place).factors[0] == 1.0 &&
                   from(place).operands == std::vector<std::size_t>{number};
        };
        if (each.code == op_code::operand) {
            found.operands = {forms.size()};
        } else if (each.code == op_code::number) {
            found.factors[0] = type.kind == 'c'
                                   ? (type.bytes == 8 ? std::complex<double>(each.value<std::complex<float>>())
                                                      : each.value<std::complex<double>>())
                               : type.bytes == 4 ? std::complex<double>(each.value<float>())
                                                 : std::complex<double>(each.value<double>());
        } else if (each.code == op_code::negate && from(0).whole == plain_function::product) {
            found = from(0);
            found.factors[0] = -found.factors[0];
        } else if (each.code == op_code::multiply && from(0).whole == plain_function::product &&
                   from(1).whole == plain_function::product) {
            found = from(0);
            found.factors[0] *= from(1).factors[0];
            found.operands.insert(found.operands.end(), from(1).operands.begin(), from(1).operands.end());
        } else if ((each.code == op_code::add || each.code == op_code::subtract) &&
                   from(0).whole == plain_function::product && from(1).whole == plain_function::product &&
                   from(0).operands.size() == 1 && from(1).operands.size() == 1 &&
                   from(0).operands != from(1).operands) {
            const double sign = each.code == op_code::add ? 1 : -1;
            found.whole = plain_function::sum;
            found.factors[from(0).operands[0]] = from(0).factors[0];
            found.factors[from(1).operands[0]] = sign * from(1).factors[0];
        } else if (type.kind == 'f' && is_operand(0, 0) && is_operand(1, 1) &&
                   (each.code == op_code::divide || each.code == op_code::shifted_exponential)) {
            found.whole = each.code == op_code::divide ? plain_function::quotient : plain_function::exponential;
        } else {
            return;
        }
        forms.push_back(found);
    }
    form& last = forms.back();
    std::sort(last.operands.begin(), last.operands.end());
    const bool all = last.whole != plain_function::product ||
                     (last.operands.size() == program.operand_count() &&
                      std::adjacent_find(last.operands.begin(), last.operands.end()) == last.operands.end());
    if (all) {
        made.plain = last.whole;
        made.factors = {last.factors[0], last.factors[1]};
    }
}

EINPARALLEL_INLINE join_code code_of(const op_program& program) {
    const auto instructions = program.instructions();
    const std::size_t operands = program.operand_count();
    if (program.is_opaque()) {
        throw error("device: a functor that only its own unit can call: " + program.formula());
    }
    constexpr std::size_t most = cell_program<1, 1>::most_instructions;
    if (operands > launch::most_operands || instructions.size() - operands > most) {
        throw error("device: more than " + std::to_string(launch::most_operands) + " operands or " +
                    std::to_string(most) + " instructions: " + program.formula());
    }
    join_code made;
    made.type = program.type();
    const reduction by = program.aggregates_by();
    made.by = by == reduction::prod  ? op_code::multiply
              : by == reduction::max ? op_code::larger
              : by == reduction::min ? op_code::smaller
                                     : op_code::add;
    made.identity = identity_bits(by, cell_type_of(made.type));
    recognise(program, made);
    // Registers are used again after their last reader.
    std::vector<std::size_t> last_reader(instructions.size(), 0);
    for (std::size_t number = operands; number < instructions.size(); ++number) {
        for (int place = 0; place < arity_of(instructions[number].code); ++place) {
            last_reader[instructions[number].from[static_cast<std::size_t>(place)]] = number;
        }
    }
    last_reader.back() = instructions.size();
    std::vector<int> register_of(instructions.size(), 0);
    std::vector<int> unused;
    made.registers = static_cast<int>(operands);
    for (std::size_t number = 0; number < instructions.size(); ++number) {
        const op_instruction& each = instructions[number];
        const cell_type type = cell_type_of(each.type());
        made.wide = made.wide || type.kind == cell_kind::c128;
        if (number < operands) {
            made.operands.push_back(type);
            register_of[number] = static_cast<int>(number);
            continue;
        }
        cell_instruction made_of{each.code, type, type, 0, {0, 0, 0}, {each.bits[0], each.bits[1]}};
        if (each.code == op_code::number && type.kind == cell_kind::c64) {
            made_of.bits[0] = (each.bits[0] & 0xffffffffU) | each.bits[1] << 32U;
            made_of.bits[1] = 0;
        } else if (each.code == op_code::number && type.kind == cell_kind::f32) {
            made_of.bits[0] &= 0xffffffffU;
        } else if (each.code == op_code::number && (type.kind == cell_kind::whole || type.kind == cell_kind::natural)) {
            made_of.bits[0] = wrapped(each.bits[0], type);
        }
        const int arity = arity_of(each.code);
        for (int place = 0; place < arity; ++place) {
            made_of.from[place] = static_cast<std::uint8_t>(register_of[each.from[static_cast<std::size_t>(place)]]);
        }
        if (arity > 0) {
            made_of.computed = cell_type_of(instructions[each.from[each.code == op_code::choice ? 1 : 0]].type());
        }
        for (int place = 0; place < arity; ++place) {
            const auto read = static_cast<std::size_t>(each.from[static_cast<std::size_t>(place)]);
            if (last_reader[read] == number &&
                std::find(unused.begin(), unused.end(), register_of[read]) == unused.end()) {
                unused.push_back(register_of[read]);
            }
        }
        if (unused.empty()) {
            unused.push_back(made.registers++);
        }
        register_of[number] = unused.back();
        unused.pop_back();
        made_of.into = static_cast<std::uint8_t>(register_of[number]);
        made.instructions.push_back(made_of);
    }
    made.result = register_of.back();
    return made;
}

EINPARALLEL_INLINE join_shape shape_of(const launch::strided_join& work, int shared_bytes) {
    constexpr int most_shared = 48 << 10;
    constexpr index enough_blocks = 1056;  // eight for each multiprocessor of a current device
    join_shape made;
    made.sums = work.output_loops < work.loops;
    for (int loop = 0; loop < work.loops; ++loop) {
        (loop < work.output_loops ? made.points : made.terms) *= work.extents[loop];
    }
    // Where most elements have their neighbours.
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
    const auto power_below = [](index number) {
        return static_cast<index>(std::bit_floor(static_cast<std::uint64_t>(std::max<index>(number, 1))));
    };
    const auto power_above = [](index number) {
        return static_cast<index>(std::bit_ceil(static_cast<std::uint64_t>(std::max<index>(number, 1))));
    };
    index threads = 256;
    while (threads > warp_size && threads * shared_bytes > most_shared) {
        threads /= 2;
    }
    if (threads * shared_bytes > most_shared) {
        throw error("device: an expression with more values at a time than a device's registers");
    }
    const index share = (made.points * made.terms + join_points - 1) / join_points;
    threads = std::clamp(power_above(share), index{warp_size}, threads);
    made.across = static_cast<int>(threads);
    if (!made.sums) {
        return made;
    }
    made.sum_fast = in_sums > in_outputs;
    index along = 1;
    const index busy = power_above((made.terms + join_points - 1) / join_points);
    if (made.sum_fast) {
        along = std::max(busy, std::min<index>(power_below(made.terms), 8));
    } else {
        along = threads / std::clamp(power_above(made.points / enough_blocks), index{warp_size}, threads);
        along = std::min(std::max(along, threads / power_above(made.points)), busy);
    }
    along = std::min(along, threads);
    made.along = static_cast<int>(along);
    made.across = static_cast<int>(threads / along);
    const index groups = (made.points + made.across - 1) / made.across;
    const index round = along * join_points;
    made.pieces = std::clamp(enough_blocks / groups, index{1}, std::max<index>(made.terms / (4 * round), 1));
    if (groups * 4 > enough_blocks || made.terms <= enough_blocks) {
        made.pieces = 1;  // so are the sums of pieces
    }
    made.piece_terms = std::max<index>((made.terms + made.pieces - 1) / made.pieces, 1);
    made.piece_terms = made.pieces == 1 ? made.piece_terms : (made.piece_terms + round - 1) / round * round;
    made.pieces = std::max<index>((made.terms + made.piece_terms - 1) / made.piece_terms, 1);
    return made;
}

EINPARALLEL_INLINE launch::strided_join sum_of_pieces(const launch::strided_join& work, const join_shape& shape) {
    launch::strided_join whole;
    whole.output = work.output;
    whole.operands[0] = work.workspace;
    whole.operand_count = 1;
    whole.combine = work.combine;
    whole.output_loops = work.output_loops;
    whole.loops = work.output_loops + 1;
    index step = 1;
    for (int loop = work.output_loops; loop-- > 0;) {
        whole.extents[loop] = work.extents[loop];
        whole.strides[loop][0] = work.strides[loop][0];
        whole.strides[loop][1] = step;
        step *= work.extents[loop];
    }
    whole.extents[work.output_loops] = shape.pieces;
    whole.strides[work.output_loops][1] = step;
    return whole;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
