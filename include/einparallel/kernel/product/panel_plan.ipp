#pragma once

#include <einparallel/kernel/product/panel_plan.hpp>

#include <einparallel/kernel/product/panel_cost.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstdlib>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE index rest_along(const panel_plan& plan, const loop_nest& nest, std::size_t loop) {
    return loop == plan.along ? nest.extents[loop] % plan.unit : 0;
}

EINPARALLEL_INLINE index panels_along(const panel_plan& plan, const loop_nest& nest, std::size_t loop) {
    const index rest = rest_along(plan, nest, loop);
    return (nest.extents[loop] - rest + plan.block[loop] - 1) / plan.block[loop] + (rest > 0 ? 1 : 0);
}

EINPARALLEL_INLINE index panels_of(const panel_plan& plan, const loop_nest& nest, const odometer::loop_list& loops) {
    return product_in(loops, index{1}, [&](std::size_t loop) { return panels_along(plan, nest, loop); });
}

EINPARALLEL_INLINE product_index role_of(const panel_plan& plan, const loop_nest& nest, std::size_t loop) {
    const product_index own = index_of(nest, loop);
    const bool is_other_column = plan.lanes == lane_role::columns && loop != plan.along &&
                                 own == (plan.swapped ? product_index::m : product_index::n);
    return is_other_column ? product_index::batch : own;
}

EINPARALLEL_INLINE index size_of(const panel_plan& plan, const loop_nest& nest, product_index role) {
    index size = 1;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        const bool is_side = loop != plan.along && loop != plan.points && role_of(plan, nest, loop) == role;
        size *= is_side ? plan.block[loop] : 1;
    }
    return size;
}

EINPARALLEL_INLINE index lanes_of(element_type type, lane_role role) {
    const index reals = type.kind == 'c' && role != lane_role::columns ? 2 : 1;
    return vector_bytes(best_instruction_set()) / index(type.bytes) * reals;
}

EINPARALLEL_INLINE std::size_t contiguous_loop(const loop_nest& nest, std::size_t slot) {
    std::size_t found = panel_plan::none;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        found = std::abs(nest.of(loop)[slot]) == 1 ? loop : found;
    }
    return found;
}

EINPARALLEL_INLINE index elements_in(const loop_nest& nest, std::size_t slot,
                                     const small_vector<index, 12>& iterations) {
    index elements = 1;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        elements *= nest.of(loop)[slot] != 0 ? iterations[loop] : 1;
    }
    return elements;
}

/// Chooses a panel_plan.
EINPARALLEL_INLINE class panel_choice {
public:
    panel_choice(const loop_nest& nest, element_type type, const element_type (&operands)[2])
        : nest_(nest), type_(type), operands_(operands), bytes_(index(type.bytes)), line_(64 / bytes_) {
        is_complex_ = type.kind == 'c';
        for (const std::size_t slot : {x_slot, y_slot}) {
            converts_[slot] = operands[slot - 1] != type;
        }
        for (std::size_t slot = z_slot; slot <= y_slot; ++slot) {
            contiguous_[slot] = contiguous_loop(nest, slot);
        }
    }

    panel_plan best() const {
        panel_plan found;
        const auto consider = [&](lane_role role, std::size_t along, std::size_t points) {
            const double most = found.lanes == lane_role::none ? 1e300 : found.nanoseconds;
            const panel_plan made = plan(role, along, points, most);
            if (found.lanes == lane_role::none || made.nanoseconds < found.nanoseconds) {
                found = made;
            }
        };
        for (std::size_t along = 0; along < nest_.size(); ++along) {
            const product_index own = index_of(nest_, along);
            if (own == product_index::batch) {
                const index* const moves = nest_.of(along);
                if (moves[x_slot] != 0 && moves[y_slot] != 0) {  // else the output repeats its elements
                    consider(lane_role::points, along, panel_plan::none);
                }
            } else if (own == product_index::k) {
                consider(lane_role::terms, along, panel_plan::none);
            } else {
                consider(lane_role::columns, along, panel_plan::none);
                for (std::size_t points = 0; points < nest_.size(); ++points) {
                    const product_index other = index_of(nest_, points);
                    if (points != along && (other == product_index::batch || other == own)) {
                        consider(lane_role::columns, along, points);
                    }
                }
            }
        }
        return found;
    }

private:
    static constexpr index most_rows = 512;       ///< of a panel whose vectors hold columns
    static constexpr index longest_side = 64;     ///< of m and n in other panels
    static constexpr index deepest = 256;         ///< of k
    static constexpr index panel_bytes = 196608;  ///< of the three tensors: they stay in the second-level cache
    static constexpr index most_bytes = 393216;   ///< of a panel that would have short stretches of far memory
    static constexpr index short_run = 256;       ///< bytes

    panel_plan plan(lane_role role, std::size_t along, std::size_t points, double most) const {
        panel_plan made;
        made.lanes = role;
        made.along = along;
        made.points = points;
        made.swapped = index_of(nest_, along) == product_index::m;
        for (std::size_t slot = z_slot; slot <= y_slot; ++slot) {
            const index move = nest_.of(along)[slot];
            made.packs[slot] = converts_[slot] || (move != 0 && move != 1) || (slot == z_slot && move == 0);
        }
        if (role == lane_role::columns) {
            const bool is_padded = nest_.extents[along] * bytes_ < 16 && !has_masks(best_instruction_set());
            const std::size_t columns = made.swapped ? x_slot : y_slot;
            made.packs[z_slot] = made.packs[z_slot] || is_padded;
            made.packs[columns] = made.packs[columns] || is_padded;
        } else {
            const bool all =
                (made.packs[x_slot] && made.packs[y_slot]) && (role == lane_role::terms || made.packs[z_slot]);
            if (!all && !is_complex_ && nest_.extents[along] >= lanes_of(type_, role)) {
                made.unit = lanes_of(type_, role);
            } else {
                made.packs[z_slot] = made.packs[x_slot] = made.packs[y_slot] = true;
            }
        }
        choose_block(made);
        choose_copies(made);
        made.nanoseconds = panel_nanoseconds(nest_, made, type_, operands_, most);
        return made;
    }

    /// Makes a panel longer along a loop, as far as `most` iterations and this memory allow.
    void grow(panel_plan& made, std::size_t loop, index most, index bytes) const {
        index& own = made.block[loop];
        const index before = own;
        const index extent = nest_.extents[loop];
        index fixed = 0;
        index moving = 0;
        for (std::size_t slot = z_slot; slot <= y_slot; ++slot) {
            (nest_.of(loop)[slot] != 0 ? moving : fixed) += elements_in(nest_, slot, made.block);
        }
        const index room = (bytes / bytes_ - fixed) / std::max<index>(moving / before, 1);
        own = std::clamp(std::min(most, room), before, extent);
        if (own < extent) {  // even panels
            const index panels = (extent + own - 1) / own;
            own = std::max(before, (extent + panels - 1) / panels);
        }
    }

    /// The most steps of a panel: few where each step reads in place from another page of a large operand, because
    /// processors fetch ahead in few pages.
    index depth_of(const panel_plan& made) const {
        constexpr index pages = 20;
        constexpr index fewest = 32;
        index depth = deepest;
        for (const std::size_t slot : {x_slot, y_slot}) {
            const std::size_t own = contiguous_[slot];
            const bool is_in_place = made.lanes == lane_role::columns && !made.packs[slot] && own != panel_plan::none &&
                                     own != made.points && nest_.extents[own] * bytes_ >= 1024;
            index step = 0;  // bytes
            for (std::size_t loop = 0; is_in_place && is_large(slot) && loop < nest_.size(); ++loop) {
                const index move = std::abs(nest_.of(loop)[slot]) * bytes_;
                step = index_of(nest_, loop) == product_index::k && (step == 0 || move < step) ? move : step;
            }
            depth = step > bytes_ ? std::min(depth, std::max(pages * 4096 / step, fewest)) : depth;
        }
        return depth;
    }

    void choose_block(panel_plan& made) const {
        made.block.resize(nest_.size(), 1);
        const index least = (made.lanes == lane_role::terms ? 16 : 2) * lanes_of(type_, made.lanes);
        const bool is_long = made.lanes == lane_role::columns && contiguous_[z_slot] == made.along &&
                             bytes_of(z_slot) > last_cache_bytes;  // long stretches of the output are written faster
        made.block[made.along] = std::min(nest_.extents[made.along], is_long ? std::max(least, 2048 / bytes_) : least);
        const auto in_panel = [&](std::size_t loop) {
            return loop == made.points || role_of(made, nest_, loop) != product_index::batch;
        };
        const index deep = depth_of(made);
        const auto limit = [&](std::size_t loop) {
            if (loop == made.points) {
                return nest_.extents[loop];
            }
            const product_index role = role_of(made, nest_, loop);
            const index most = role == product_index::k           ? deep
                               : made.lanes == lane_role::columns ? most_rows
                                                                  : longest_side;
            return most / size_of(made, nest_, role) * made.block[loop];
        };
        // Where points that lie side by side would be few, panels may be larger.
        const std::size_t apart = made.points == panel_plan::none ? made.along : made.points;
        const bool may_be_short = contiguous_[z_slot] == apart && is_large(z_slot);
        const index side_bytes = may_be_short ? most_bytes : panel_bytes;
        // The order of importance: whole cache lines of what is copied, then the sum, the rows, the columns.
        for (std::size_t slot = z_slot; slot <= y_slot; ++slot) {
            const std::size_t own = contiguous_[slot];
            if (own != panel_plan::none && own != made.along && in_panel(own)) {
                const index lines = is_large(slot) ? 2 : 1;
                made.block[own] = std::clamp<index>(std::min(lines * line_, limit(own)), 1, nest_.extents[own]);
            }
        }
        for (const product_index role : {product_index::k, product_index::m, product_index::n}) {
            for (std::size_t loop = nest_.size(); loop-- > 0;) {
                if (loop != made.along && loop != made.points && role_of(made, nest_, loop) == role &&
                    is_even(made, loop)) {
                    grow(made, loop, limit(loop), side_bytes);
                }
            }
        }
        const auto grow_points = [&](std::size_t loop) {
            grow(made, loop, nest_.extents[loop], loop == apart ? panel_bytes : side_bytes);
            if (may_be_short && loop == apart && made.block[loop] * bytes_ < short_run) {
                grow(made, loop, short_run / bytes_, most_bytes);
            }
        };
        grow_points(made.along);
        index& along = made.block[made.along];
        if (along < nest_.extents[made.along] || along % made.unit != 0) {
            const index lanes = lanes_of(type_, made.lanes);
            along = std::min(std::max<index>(along / lanes, 1) * lanes, nest_.extents[made.along]);
        }
        if (made.points != panel_plan::none) {
            grow_points(made.points);
        }
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            if (made.block[loop] < nest_.extents[loop]) {
                (nest_.in_output(loop) ? made.outputs : made.sums).push_back(loop);
            }
        }
        // Panels of an operand are kept while the next ones of the output do not need others.
        const std::size_t kept = made.swapped ? x_slot : y_slot;
        std::stable_partition(made.outputs.begin(), made.outputs.end(),
                              [&](std::size_t loop) { return nest_.of(loop)[kept] != 0; });
    }

    /// False where columns of a panel, each a vector of points or terms, would not be evenly apart.
    bool is_even(const panel_plan& made, std::size_t loop) const {
        return made.lanes == lane_role::columns || role_of(made, nest_, loop) != product_index::n ||
               (made.packs[z_slot] && made.packs[y_slot]) || size_of(made, nest_, product_index::n) == made.block[loop];
    }

    /// How many elements of a panel lie side by side, and whether no loop goes on behind them.
    struct stretch {
        index run = 1;
        bool is_whole = false;
    };
    stretch stretch_of(const panel_plan& made, std::size_t slot) const {
        stretch found;
        for (std::size_t own = contiguous_[slot]; own != panel_plan::none;) {
            found.run *= made.block[own];
            found.is_whole = made.block[own] == nest_.extents[own];
            const index behind = nest_.extents[own] * std::abs(nest_.of(own)[slot]);
            own = panel_plan::none;
            for (std::size_t loop = 0; found.is_whole && loop < nest_.size(); ++loop) {
                own = std::abs(nest_.of(loop)[slot]) == behind ? loop : own;
            }
        }
        return found;
    }

    double bytes_of(std::size_t slot) const { return double(bytes_ * elements_in(nest_, slot, nest_.extents)); }
    bool is_large(std::size_t slot) const { return bytes_of(slot) > 1e6; }

    /// True where a panel of a large tensor has many stretches whole pages apart: few of their lines fit into a cache.
    bool is_aliased(const panel_plan& made, std::size_t slot) const {
        index apart = 1;
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            apart *= nest_.of(loop)[slot] != 0 && nest_.of(loop)[slot] * bytes_ % 4096 == 0 ? made.block[loop] : 1;
        }
        return apart >= 16 && is_large(slot);
    }

    /// Notes which tensors are copied besides: those that products would read in parts of many cache lines, or again
    /// and again from few sets of a cache.
    void choose_copies(panel_plan& made) const {
        const product_index rows = made.swapped ? product_index::n : product_index::m;
        for (std::size_t slot = z_slot; slot <= y_slot; ++slot) {
            const bool in_lanes = nest_.of(made.along)[slot] != 0;
            const auto [run, is_whole] = stretch_of(made, slot);
            const bool is_far = is_large(slot) && run >= line_ && run * bytes_ < 4096 && !is_whole;
            const bool is_apart = contiguous_[slot] != panel_plan::none && contiguous_[slot] == made.points;
            const bool is_scattered =
                !in_lanes && slot != z_slot && is_apart && elements_in(nest_, slot, made.block) >= 4096;
            // Several rows of products read the same lines again, and so do points that share lines.
            const bool reads_again = size_of(made, nest_, rows) > 6 || nest_.extents[made.along] < line_;
            const bool is_again = made.lanes == lane_role::columns && in_lanes && !made.packs[z_slot] &&
                                  is_aliased(made, slot) && (slot == z_slot ? !made.sums.empty() : reads_again);
            made.packs[slot] = made.packs[slot] || is_scattered || is_again ||
                               (in_lanes && is_far && made.lanes != lane_role::columns);
        }
    }

    const loop_nest& nest_;
    element_type type_;
    const element_type (&operands_)[2];
    index bytes_;
    bool is_complex_ = false;
    index line_;
    bool converts_[3] = {};
    std::size_t contiguous_[3];  ///< the loop along which a tensor is contiguous
};

EINPARALLEL_INLINE panel_plan cheapest_panels(const loop_nest& nest, element_type type,
                                              const element_type (&operands)[2]) {
    return panel_choice(nest, type, operands).best();
}

}  // namespace einparallel::EINPARALLEL_DETAIL
