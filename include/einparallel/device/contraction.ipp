#pragma once

#include <einparallel/device/contraction.hpp>

#include <einparallel/device/blocks.hpp>
#include <einparallel/device/contraction_decision.ipp>
#include <einparallel/device/join_shape.hpp>
#include <einparallel/kernel/contraction_decision.hpp>
#include <einparallel/kernel/loop_nest.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void run_on_device(launch::stream on, const device_contraction& decision,
                                      const launch::device_program* sum, std::complex<double> scale,
                                      const block_call& call, void* workspace, blas_function blas) {
    auto* const room = static_cast<std::byte*>(workspace);
    // Copies a tensor to the workspace or back. The last bytes of the workspace are for long sums.
    const auto move = [&](std::size_t slot, std::size_t into_slot, void* into, const void* from, bool combine) {
        const device_contraction::staged& copy = decision.copies[slot];
        loop_nest nest(2);
        for (std::size_t loop = 0; loop < copy.loops.size(); ++loop) {
            index* const moves = nest.add(copy.loops.extents[loop]);
            moves[0] = copy.loops.of(loop)[into_slot];
            moves[1] = copy.loops.of(loop)[1 - into_slot];
        }
        launch::strided_join work{.output = into, .operands = {from}, .combine = combine};
        const device_contraction::staged& last = decision.copies[y_slot];
        work.workspace = room + last.at + (std::size_t(last.elements) * decision.bytes_of(y_slot) + 255) / 256 * 256;
        const std::array<index, 2> bytes{index(decision.bytes_of(z_slot)), index(decision.bytes_of(slot))};
        for_each_join(bytes, nest, work, [&](const launch::strided_join& each) {
            copy.sums || combine ? launch::join(on, each, *sum) : launch::copy(on, each, decision.bytes_of(slot));
        });
    };
    const void* operands[3] = {};
    for (const std::size_t slot : {x_slot, y_slot}) {
        const device_contraction::staged& copy = decision.copies[slot];
        operands[slot] = call.operands[slot - 1].data;
        if (copy.elements > 0) {
            move(slot, 0, room + copy.at, operands[slot], false);
            operands[slot] = room + copy.at;
        }
    }
    const device_contraction::staged& written = decision.copies[z_slot];
    const bool combines = decision.mode == write_mode::combine;
    void* const into = written.elements > 0 ? room + written.at : call.output.data;
    const odometer::loop_list loops = loops_that(decision.loops, [](std::size_t) { return true; });
    odometer point(decision.loops, loops);
    index at[3] = {0, 0, 0};
    index number = 0;
    do {
        const auto offset = [&](std::size_t slot) { return at[slot] * index(decision.bytes_of(slot)); };
        const void* const x = static_cast<const std::byte*>(operands[x_slot]) + offset(x_slot);
        const void* const y = static_cast<const std::byte*>(operands[y_slot]) + offset(y_slot);
        blas({decision.element, decision.operand, scale * double(decision.repeats), decision.product,
              decision.swapped ? y : x, decision.swapped ? x : y, static_cast<std::byte*>(into) + offset(z_slot),
              number++ >= decision.outputs || (combines && written.elements == 0)});
    } while (point.advance(at));
    if (written.elements > 0) {
        move(z_slot, 1, call.output.data, into, combines);
    }
}

/// Decides how a block is contracted by matrix products, if the kernel is Σ factor · x · y. The operands have the
/// program's type, or are half-precision numbers whose products are summed in float.
EINPARALLEL_INLINE void decide_products(const kernel& work, const block_call& call, device_decision& made) {
    const op_program& program = work.program();
    const auto* const product = work.as<product_work>();
    if (product == nullptr || product->operands != 2) {
        return;
    }
    const element_type operand = program.instructions().front().type();
    const bool is_of_halves = is_multiplied_half(operand) && program.type() == element_type_of<float>();
    if (is_half_type(program.type()) || (operand != program.type() && !is_of_halves) ||
        program.instructions()[1].type() != operand) {
        return;
    }
    made.products = decide_on_device(call, program.type(), {}, operand);
    with_element(program.type(), [&]<class T>(std::type_identity<T> /*type*/) {
        made.scale = converted<std::complex<double>>(number_of<T>(product->scale));
    });
}

EINPARALLEL_INLINE std::string refused_on_device(const kernel& work) {
    if (work.as<running_work>() != nullptr || work.as<ranked_work>() != nullptr) {
        return "makes running sums or ranks elements, which is done on the host only: run the plan there";
    }
    if (work.on_device() != nullptr && work.program().divides_integers()) {
        return "divides integers in one expression with a functor of the application's, where a device does not notice "
               "a division by zero: assign the quotient to a tensor of its own";
    }
    return work.on_device() != nullptr || work.replaces() || !work.program().is_opaque()
               ? ""
               : "calls a functor of the application's, which is not compiled for devices: run the plan on the host, "
                 "or record it in a unit that nvcc compiles";
}

EINPARALLEL_INLINE device_decision decide_on_device(const kernel& work, const block_call& call) {
    ++decisions_made();
    device_decision made{.is_in_place = is_in_place(call)};
    decide_products(work, call, made);
    if (made.products && made.products->way != device_way::join) {
        made.workspace = made.products->workspace_bytes;
        const op_program sum(reduction::sum, std::array{made.products->element});
        made.code = made.multiplies() ? launch::device_program_of(sum) : nullptr;
    } else if (!work.replaces()) {
        made.workspace = join_workspace_bytes(work.program(), call);
        made.code = work.program().is_opaque() ? nullptr : launch::device_program_of(work.program());
    }
    return made;
}

EINPARALLEL_INLINE void contract_on_device(launch::stream on, const kernel& work, const device_decision& decided,
                                           const block_call& call, void* workspace, std::uint32_t* divided,
                                           blas_function blas) {
    if (decided.multiplies()) {
        run_on_device(on, *decided.products, decided.code.get(), decided.scale, call, workspace, blas);
        return;
    }
    if (const auto* const selects = work.as<select_work>();
        selects != nullptr && select_on_device(on, *selects, call)) {
        return;
    }
    join_on_device(work.program(), call, workspace, divided, [&](const launch::strided_join& each) {
        work.on_device() != nullptr ? work.on_device()->join(on, each, work.keeps().front().get())
                                    : launch::join(on, each, *decided.code);
    });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
