#pragma once

#include <einparallel/kernel/loop_nest.hpp>

#include <einparallel/notation/einsum_form.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE loop_nest::loop_nest(const block_call& call, index_span call_extents, std::size_t operands)
    : slots(operands + 1), hook(call.hook) {
    small_vector<std::int16_t, 32> loop_of(call_extents.size(), -1);
    const auto visit = [&](std::size_t slot, const strided_block& tensor) {
        for (std::size_t dimension = 0; dimension < tensor.labels.size(); ++dimension) {
            if (tensor.labels[dimension] == no_label) {
                continue;
            }
            const auto label = std::size_t(tensor.labels[dimension]);
            const index extent = call_extents[label];
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
            of(std::size_t(loop_of[label]))[slot] += tensor.strides[dimension];
        }
    };
    visit(0, call.output);
    for (std::size_t operand = 0; operand < operands; ++operand) {
        visit(operand + 1, call.operands[operand]);
    }
    fuse();
}

EINPARALLEL_INLINE small_vector<index, 8> extents_of(const block_call& call, label_span labels) {
    small_vector<index, 8> extents;
    for (const label_id label : labels) {
        extents.push_back(label == no_label ? 1 : call.extents[std::size_t(label)]);
    }
    return extents;
}

EINPARALLEL_INLINE bool loop_nest::add_box(index_span box_extents, index_span first, index_span second) {
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
        const index length = extents[inner];
        const auto follows = [&](std::size_t outer) {
            return outer != inner &&
                   std::equal(of(outer), of(outer) + slots, of(inner),
                              [&](index outside, index inside) { return outside == length * inside; });
        };
        std::size_t outer = 0;
        while (outer < size() && !follows(outer)) {
            ++outer;
        }
        if (outer == size()) {
            ++inner;
            continue;
        }
        extents[inner] *= extents[outer];
        remove(outer);
        inner = 0;
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
    for (std::size_t next = 1; next < size(); ++next) {
        for (std::size_t loop = next; loop > 0 && before(loop, loop - 1); --loop) {
            std::swap(extents[loop], extents[loop - 1]);
            std::swap_ranges(of(loop), of(loop) + slots, of(loop - 1));
        }
    }
}

EINPARALLEL_INLINE odometer::loop_list output_loops(const loop_nest& nest) {
    return loops_that(nest, [&](std::size_t loop) { return nest.in_output(loop); });
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

/// For how many tensors `loop` goes on where `inner` ends.
EINPARALLEL_INLINE std::size_t tensors_in_line(const loop_nest& nest, std::size_t inner, std::size_t loop) {
    std::size_t count = 0;
    for (std::size_t slot = 0; slot < nest.slots; ++slot) {
        count += nest.of(loop)[slot] == nest.extents[inner] * nest.of(inner)[slot] ? 1 : 0;
    }
    return count;
}

/// The loop that continues a short row: a loop of the same kind (of the output, or summed), or a summed loop. With a
/// summed loop, a row of the output has as many results as points, which are added up at the end. Loops along which
/// tensors continue in memory are preferred, above all the output: such tensors need not be gathered.
/// A loop of the output continues a summed one where there are enough stretches, which are summed each: `order.folds`.
EINPARALLEL_INLINE void choose_second(const loop_nest& nest, const row_folds& folds, row_loops_along& order) {
    constexpr index short_row = 64;
    constexpr index longest_operand_fold = 4096;
    constexpr index fewest_points = 256;
    const std::size_t inner = order.inner;
    const index length = nest.extents[inner];
    const bool is_output = nest.in_output(inner);
    const auto lies_so = [&](std::size_t loop) {
        return !folds.positions || (nest.of(inner)[2] == 0 && nest.of(inner)[3] != 0 && nest.of(loop)[3] == 0);
    };
    const bool as_it_lies = folds.operands && length >= folds.shortest && !is_output && nest.of(inner)[1] == 1 &&
                            output_loops(nest).size() + 1 == nest.size();
    const index longest = as_it_lies ? longest_operand_fold : folds.longest;
    std::size_t most = 0;
    const bool is_foldable = !is_output && length > 1 && length <= longest;
    for (std::size_t loop = 0; is_foldable && loop < nest.size(); ++loop) {
        const std::size_t in_line = tensors_in_line(nest, inner, loop);
        if (nest.in_output(loop) && in_line >= most && length * nest.extents[loop] >= fewest_points && lies_so(loop)) {
            order.second = loop;
            order.folds = true;
            order.folds_operand = as_it_lies;
            most = in_line;
        }
    }
    for (std::size_t loop = 0; !order.folds && length < short_row && loop < nest.size(); ++loop) {
        if (loop != inner && (is_output || !nest.in_output(loop))) {
            const bool follows = nest.of(loop)[0] == length * nest.of(inner)[0];
            const std::size_t in_line = tensors_in_line(nest, inner, loop) + (follows ? nest.slots - 1 : 0) +
                                        (nest.in_output(loop) == is_output ? nest.slots : 0);
            if (in_line >= most) {
                order.second = loop;
                most = in_line;
            }
        }
    }
}

/// The cost of a point where rows lie along `loop`, in loads of contiguous elements. It serves comparisons only.
EINPARALLEL_INLINE double row_cost(const loop_nest& nest, const row_loops_along& order) {
    const std::size_t loop = order.inner;
    const index* moves = nest.of(loop);
    const bool blocks = nest.all_in_output();
    double cost = 0;
    for (std::size_t slot = 0; slot < nest.slots; ++slot) {
        // Rows of the output that jump through an operand are gathered together with the rows beside them.
        const double jump = blocks ? (slot == 0 ? 3.0 : 1.0) : nest.in_output(loop) && slot != 0 ? 1.25 : 2.0;
        cost += moves[slot] == 0 ? 0.25 : moves[slot] == 1 ? 0.5 : jump;
    }
    const index length = nest.extents[loop] * (order.second == row_order::none ? 1 : nest.extents[order.second]);
    return cost + (nest.in_output(loop) ? 32.0 : 160.0) / double(std::min<index>(length, 256));
}

EINPARALLEL_INLINE row_order order_rows(const loop_nest& nest, const row_folds& folds) {
    row_order order;
    if (nest.size() == 1) {
        order.inner = 0;
        return order;
    }
    double cheapest = 0;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        row_loops_along tried{loop};
        choose_second(nest, folds, tried);
        const double cost = row_cost(nest, tried);
        if (order.inner == row_order::none || cost <= cheapest) {
            static_cast<row_loops_along&>(order) = tried;
            cheapest = cost;
        }
    }
    if (order.inner == row_order::none) {
        return order;
    }
    // Where the row jumps through an operand, each of its elements loads a whole cache line. The next point along the
    // operand's own contiguous loop reads the same line: walk that loop next.
    std::size_t neighbour = row_order::none;
    for (std::size_t slot = 0; slot < nest.slots && neighbour == row_order::none && order.second == row_order::none;
         ++slot) {
        if (nest.of(order.inner)[slot] != 0 && nest.of(order.inner)[slot] != 1) {
            for (std::size_t loop = 0; loop < nest.size(); ++loop) {
                if (loop != order.inner && nest.of(loop)[slot] == 1) {
                    neighbour = loop;
                }
            }
        }
    }
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        if (loop != order.inner && loop != order.second && loop != neighbour) {
            (nest.in_output(loop) ? order.outer_output : order.outer_contracted).push_back(loop);
        }
    }
    if (neighbour != row_order::none) {
        if (nest.in_output(neighbour) == nest.in_output(order.inner)) {
            order.tiled = neighbour;
        } else {
            (nest.in_output(neighbour) ? order.outer_output : order.outer_contracted).push_back(neighbour);
            order.narrow = true;
        }
    }
    return order;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
