#pragma once

#include <einparallel/kernel/loop_nest.hpp>

#include <einparallel/notation/einsum_form.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE loop_nest::loop_nest(const block_call& call) : slots(call.operands.size() + 1), hook(call.hook) {
    small_vector<std::int16_t, 32> loop_of(call.extents.size(), -1);
    const auto visit = [&](std::size_t slot, std::span<const label_id> labels, std::span<const index> moves) {
        for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
            if (labels[dimension] == no_label) {
                continue;
            }
            const auto label = std::size_t(labels[dimension]);
            const index extent = call.extents[label];
            if (extent == 1) {
                continue;
            }
            if (extent == 0) {
                (slot == 0 ? output_empty : sum_empty) = true;
                continue;
            }
            if (loop_of[label] < 0) {
                loop_of[label] = std::int16_t(extents.size());
                add(extent);
            }
            of(std::size_t(loop_of[label]))[slot] += moves[dimension];
        }
    };
    visit(0, call.output.labels, call.output.strides);
    for (std::size_t operand = 0; operand < call.operands.size(); ++operand) {
        visit(operand + 1, call.operands[operand].labels, call.operands[operand].strides);
    }
    fuse();
}

EINPARALLEL_INLINE bool loop_nest::add_box(std::span<const index> box_extents, std::span<const index> first,
                                           std::span<const index> second) {
    for (std::size_t dimension = 0; dimension < box_extents.size(); ++dimension) {
        if (box_extents[dimension] <= 0) {
            return false;
        }
        if (box_extents[dimension] > 1) {
            index* const moves = add(box_extents[dimension]);
            moves[0] = first[dimension];
            moves[1] = second[dimension];
        }
    }
    fuse();
    return true;
}

EINPARALLEL_INLINE void loop_nest::remove(std::size_t loop) {
    const std::size_t last = size() - 1;
    for (std::size_t next = loop; next < last; ++next) {
        extents[next] = extents[next + 1];
        std::copy(of(next + 1), of(next + 1) + slots, of(next));
    }
    extents.resize(last);
    strides.resize(last * slots);
}

EINPARALLEL_INLINE void loop_nest::fuse() {
    for (std::size_t inner = 0; inner < size();) {
        bool fused = false;
        const index length = extents[inner];
        const index* const inside = of(inner);
        for (std::size_t outer = 0; outer < size() && !fused; ++outer) {
            if (outer == inner) {
                continue;
            }
            const index* const outside = of(outer);
            bool alike = true;
            for (std::size_t slot = 0; slot < slots && alike; ++slot) {
                alike = outside[slot] == length * inside[slot];
            }
            if (alike) {
                extents[inner] *= extents[outer];
                remove(outer);
                fused = true;
            }
        }
        inner = fused ? 0 : inner + 1;
    }
}

EINPARALLEL_INLINE void loop_nest::sort_by(std::size_t slot) {
    const auto before = [&](std::size_t left, std::size_t right) {
        for (std::size_t each = slot; each < slot + slots; ++each) {
            const std::size_t compared = each % slots;
            const index a = of(left)[compared] < 0 ? -of(left)[compared] : of(left)[compared];
            const index b = of(right)[compared] < 0 ? -of(right)[compared] : of(right)[compared];
            if (a != b) {
                return a > b;
            }
        }
        return false;
    };
    for (std::size_t placed = 1; placed < size(); ++placed) {
        for (std::size_t loop = placed; loop > 0 && before(loop, loop - 1); --loop) {
            std::swap(extents[loop], extents[loop - 1]);
            std::swap_ranges(of(loop), of(loop) + slots, of(loop - 1));
        }
    }
}

EINPARALLEL_INLINE odometer::loop_list output_loops(const loop_nest& nest) {
    odometer::loop_list loops;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        if (nest.in_output(loop)) {
            loops.push_back(loop);
        }
    }
    return loops;
}

EINPARALLEL_INLINE index drop_resting(loop_nest& nest) {
    index repeats = 1;
    for (std::size_t loop = nest.size(); loop-- > 0;) {
        const index* const moves = nest.of(loop);
        if (std::all_of(moves, moves + nest.slots, [](index stride) { return stride == 0; })) {
            repeats *= nest.extents[loop];
            nest.remove(loop);
        }
    }
    return repeats;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
