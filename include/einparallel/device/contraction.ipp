#pragma once

#include <einparallel/device/contraction.hpp>

#include <einparallel/device/blocks.hpp>
#include <einparallel/device/contraction_decision.ipp>
#include <einparallel/device/join_shape.hpp>
#include <einparallel/kernel/loop_nest.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void run_on_device(launch::stream on, const device_contraction& decision, std::complex<double> scale,
                                      const block_call& call, void* workspace, blas_function blas) {
    const auto bytes = static_cast<index>(decision.element.bytes);
    auto* const room = static_cast<std::byte*>(workspace);
    std::byte* const output = static_cast<std::byte*>(call.output.data) + decision.first[z_slot] * bytes;
    const op_program sum = reduction_program(reduction::sum, decision.element);
    const auto join = [&](loop_nest& nest, void* into, const void* from, bool combine, void* partial) {
        launch::strided_join work;
        work.output = into;
        work.operands[0] = from;
        work.combine = combine;
        work.workspace = partial;
        for_each_join(sum, nest, work, [&](const launch::strided_join& part) { launch::join(on, part, sum); });
    };
    std::size_t end = 0;
    for (const device_contraction::staged& each : decision.copies) {
        end = std::max(end, each.at + static_cast<std::size_t>(each.elements * bytes));
    }
    void* const partial = room + (end + 255) / 256 * 256;
    const void* operands[3] = {};
    for (const std::size_t slot : {x_slot, y_slot}) {
        const device_contraction::staged& copy = decision.copies[slot];
        operands[slot] = static_cast<const std::byte*>(call.operands[slot - 1].data) + decision.first[slot] * bytes;
        if (copy.elements == 0) {
            continue;
        }
        if (std::find(copy.dense.begin(), copy.dense.end(), 0) == copy.dense.end()) {
            copy_on_device(on, copy.extents, decision.element.bytes, room + copy.at, copy.dense, operands[slot],
                           copy.strides);
        } else {
            loop_nest nest = staged_nest(copy, false);
            join(nest, room + copy.at, operands[slot], false, partial);
        }
        operands[slot] = room + copy.at;
    }
    const device_contraction::staged& written = decision.copies[z_slot];
    void* const into = written.elements > 0 ? room + written.at : output;
    const bool add = written.elements == 0 && decision.mode == write_mode::combine;
    // The loops of the host.
    std::vector<index> counters(decision.loops.size(), 0);
    for (bool more = true; more;) {
        index offsets[3] = {};
        bool adds = add;
        for (std::size_t loop = 0; loop < counters.size(); ++loop) {
            for (std::size_t slot = 0; slot < 3; ++slot) {
                offsets[slot] += counters[loop] * decision.loops[loop].steps[slot] * bytes;
            }
            adds = adds || (decision.loops[loop].sums && counters[loop] > 0);
        }
        const void* const x = static_cast<const std::byte*>(operands[x_slot]) + offsets[x_slot];
        const void* const y = static_cast<const std::byte*>(operands[y_slot]) + offsets[y_slot];
        blas({decision.element, scale * static_cast<double>(decision.repeats), decision.product,
              decision.swapped ? y : x, decision.swapped ? x : y, static_cast<std::byte*>(into) + offsets[z_slot],
              adds});
        more = false;
        for (std::size_t loop = counters.size(); loop-- > 0 && !more;) {
            more = ++counters[loop] < decision.loops[loop].extent;
            counters[loop] = more ? counters[loop] : 0;
        }
    }
    if (written.elements > 0 && decision.mode == write_mode::combine) {
        loop_nest nest = staged_nest(written, true);
        join(nest, output, into, true, nullptr);
    } else if (written.elements > 0) {
        copy_on_device(on, written.extents, decision.element.bytes, output, written.strides, into, written.dense);
    }
}

/// The factor of Σ factor · x · y, which matrix products compute, if the program is that.
EINPARALLEL_INLINE std::optional<std::complex<double>> factor_of_products(const op_program& program) {
    struct product {
        std::complex<double> factor;
        unsigned operands;  ///< bit r: of operand r
    };
    std::vector<product> made;
    if (program.operand_count() != 2 || program.aggregates_by() != reduction::sum) {
        return {};
    }
    for (const op_instruction& each : program.instructions()) {
        if (each.type() != program.type()) {
            return {};
        }
        if (each.code == op_code::operand) {
            made.push_back({1.0, 1U << made.size()});
        } else if (each.code == op_code::number) {
            with_element(each.type(), [&]<class T>(std::type_identity<T> /*type*/) {
                made.push_back({converted<std::complex<double>>(each.value<T>()), 0});
            });
        } else if (each.code == op_code::negate) {
            made.push_back({-made[each.from[0]].factor, made[each.from[0]].operands});
        } else if (each.code == op_code::multiply && (made[each.from[0]].operands & made[each.from[1]].operands) == 0) {
            const product& x = made[each.from[0]];
            const product& y = made[each.from[1]];
            made.push_back({x.factor * y.factor, x.operands | y.operands});
        } else {
            return {};
        }
    }
    return made.back().operands == 3 ? std::optional(made.back().factor) : std::nullopt;
}

EINPARALLEL_INLINE std::size_t workspace_on_device(const op_program& program, const block_call& call) {
    if (factor_of_products(program)) {
        if (const device_contraction decided = decide_on_device(call, program.type());
            decided.way != device_way::join) {
            return decided.workspace_bytes;
        }
    }
    return join_workspace_bytes(program, call);
}

EINPARALLEL_INLINE void contract_on_device(launch::stream on, const op_program& program, const block_call& call,
                                           void* workspace, blas_function blas) {
    if (const auto factor = factor_of_products(program)) {
        if (const device_contraction decided = decide_on_device(call, program.type());
            decided.way == device_way::products) {
            run_on_device(on, decided, *factor, call, workspace, blas);
            return;
        }
    }
    join_on_device(on, program, call, workspace);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
