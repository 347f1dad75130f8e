#pragma once

#include <einparallel/kernel/product/panel_cost.hpp>

#include <einparallel/kernel/product/product_loops.hpp>

#include <algorithm>
#include <cstdlib>

namespace einparallel::EINPARALLEL_DETAIL {

/// Counts what costs time in a plan.
EINPARALLEL_INLINE class panel_cost {
public:
    panel_cost(const loop_nest& nest, const panel_plan& plan, element_type type, const element_type (&operands)[2])
        : nest_(nest), plan_(plan), type_(type) {
        for (std::size_t slot = z_slot; slot <= y_slot; ++slot) {
            const element_type own = slot == z_slot ? type : operands[slot - 1];
            converts_[slot] = own != type;
            bytes_[slot] = index(own.bytes);
            whole_[slot] = double(bytes_[slot] * elements_in(nest, slot, nest.extents));
            all_ += whole_[slot];
            visits_[slot] = visits(slot);
        }
    }

    double of_lines() const {
        double footprint = 0;  // of a panel
        lines of[3];
        for (std::size_t slot = z_slot; slot <= y_slot; ++slot) {
            of[slot] = lines_of(slot);
            footprint += 64 * of[slot].count;
        }
        double sum = 0;
        double waits = 0;
        for (std::size_t slot = z_slot; slot <= y_slot; ++slot) {
            const double line = whole_[slot] <= second_level ? 0 : all_ <= last_cache_bytes ? 0.4 : 3.1;
            const double seen = visits_[slot] * of[slot].count;
            const double once = whole_[slot] / 64;
            const double swept = visits_[slot] * double(elements_in(nest_, slot, plan_.block) * bytes_[slot]) / 64;
            const double fetched = std::min(seen, std::max(once, swept));
            const double runs = std::min(visits_[slot] * of[slot].runs, fetched);
            const bool stays = distance(slot, footprint) <= second_level;
            if (line > 1 && reads_apart(slot, of[slot])) {
                const bool is_again = slot != z_slot && nest_.of(plan_.along)[slot] != 0 && of[slot].is_aliased;
                waits += 7 * once;
                sum += is_again ? 2 * fetched * double((rows() + 5) / 6 - 1) : 0;
            }
            sum += line * std::max(fetched - once, 0.0) + (line > 1 && of[slot].run < 4096 ? 2.4 * runs : 0) +
                   ((stays ? 0.7 : std::max(line, 0.7)) + (of[slot].is_aliased ? 0.85 : 0)) * (seen - fetched);
        }
        return waits > 0 ? sum + std::min(waits, of_products()) : sum;
    }

    double of_copies() const {
        double sum = 0;
        for (std::size_t slot = z_slot; slot <= y_slot; ++slot) {
            const bool in_lanes = nest_.of(plan_.along)[slot] != 0;
            if (!plan_.packs[slot] || (slot == z_slot && !in_lanes)) {
                continue;
            }
            const double copied = visits_[slot] * double(elements_in(nest_, slot, plan_.block));
            const lines of = lines_of(slot);
            const double pages_apart = of.is_aliased ? 0.06 * std::min(of.runs / 256, 2.0) * double(bytes_[slot]) : 0;
            const double element = pages_apart + (bytes_[z_slot] == 4 ? 0.3 : bytes_[z_slot] == 8 ? 0.4 : 0.8);
            const std::size_t side_by_side = contiguous_loop(nest_, slot);
            const std::size_t packed = in_lanes ? plan_.along : first_of_sum();
            const double run = side_by_side == panel_plan::none ? 1 : double(plan_.block[side_by_side]);
            const bool are_rows = side_by_side == packed && side_by_side != panel_plan::none;
            sum += 186 * visits_[slot] + (converts_[slot] ? 0.14 * copied : 0) +
                   (is_complex() && !is_columns() ? 0.5 * copied : 0) +
                   (!are_rows      ? element * copied + (is_columns() ? 0.11 * copied / run : 0)
                    : is_columns() ? 0.27 * copied / run
                                   : 9.6 * copied / run);
        }
        return sum;
    }

    double of_products() const {
        const auto up = [](index size, index unit) { return double((size + unit - 1) / unit); };
        const tile_nanoseconds one(type_);
        const bool is_terms = plan_.lanes == lane_role::terms;
        const double panels =
            double(panels_of(plan_, nest_, plan_.outputs)) * double(panels_of(plan_, nest_, plan_.sums));
        const auto vectors = index(up(plan_.block[plan_.along], lanes_of(type_, plan_.lanes)));
        const index points = plan_.points == panel_plan::none ? 1 : plan_.block[plan_.points];
        const index reals = is_complex() && !is_columns() ? 2 : 1;
        const index m =
            reals * size_of(plan_, nest_, plan_.swapped && is_columns() ? product_index::n : product_index::m);
        const index n = is_columns() ? vectors : size_of(plan_, nest_, product_index::n);
        const index k = reals * size_of(plan_, nest_, product_index::k) * (is_terms ? vectors : 1);
        const bool has_pairs =
            is_columns() && vectors == 1 && points > 1 && nest_.of(plan_.points)[plan_.swapped ? y_slot : x_slot] == 0;
        const double units = panels * double(is_columns() ? points : is_terms ? 1 : vectors) * (has_pairs ? 0.5 : 1);
        const double tiles = units *
                             up(m, n == 1                         ? 8
                                   : is_complex() && is_columns() ? 4
                                                                  : 6) *
                             up(n, is_columns() ? 2 : 4);
        const double multiply_adds =
            units * (has_pairs ? 2 : 1) * double(m * n * k) * (is_complex() && is_columns() ? 2 : 1);
        const double sums =
            is_terms ? double(panels_of(plan_, nest_, plan_.outputs)) * double(m * n) / double(reals) : 0;
        return 42 * panels + one.tile * tiles + (is_columns() ? one.step * tiles * double(k) : 0) +
               one.multiply_add * (is_columns() ? 1 : 1.7) * multiply_adds + 15 * sums;
    }

private:
    static constexpr double second_level = 512e3;  ///< bytes of a cache that a thread can count on

    struct lines {
        double runs = 1;          ///< stretches of memory that a panel has
        double count = 0;         ///< cache lines that a panel touches
        double run = 0;           ///< bytes of a stretch
        bool is_aliased = false;  ///< many stretches whole pages apart: their lines share few sets of a cache
    };

    /// True where products read or write a tensor in place in many stretches at once. Processors fetch ahead along few
    /// of them, so that products wait.
    bool reads_apart(std::size_t slot, const lines& of) const {
        const std::size_t along = contiguous_loop(nest_, slot);
        return is_columns() && !plan_.packs[slot] && along != panel_plan::none && of.run < 4096 &&
               index_of(nest_, along) != product_index::k && (of.runs > 1 || plan_.block[along] < nest_.extents[along]);
    }

    index rows() const { return size_of(plan_, nest_, plan_.swapped ? product_index::n : product_index::m); }
    bool is_columns() const { return plan_.lanes == lane_role::columns; }
    bool is_complex() const { return type_.kind == 'c'; }

    lines lines_of(std::size_t slot) const {
        loop_nest panel = nest_;
        panel.extents = plan_.block;
        panel.sort_by(slot);
        lines of;
        index run = bytes_[slot];
        bool is_aliased = false;
        for (std::size_t loop = panel.size(); loop-- > 0;) {
            const index move = std::abs(panel.of(loop)[slot]) * bytes_[slot];
            const index iterations = panel.extents[loop];
            if (move == 0 || iterations == 1) {
                continue;
            }
            if (move <= std::max<index>(run, 63)) {
                run += (iterations - 1) * move;
            } else {
                of.runs *= double(iterations);
                is_aliased = is_aliased || move % 4096 == 0;
            }
        }
        of.count = of.runs * (1 + double(run - bytes_[slot]) / 64);
        of.run = double(run);
        of.is_aliased = is_aliased && of.runs > 32;
        return of;
    }

    /// Calls visit(loop, panels along it) for loops that have several panels, outermost first.
    void each_loop(const auto& visit) const {
        for (const odometer::loop_list* const loops : {&plan_.outputs, &plan_.sums}) {
            for (const std::size_t loop : *loops) {
                visit(loop, double(panels_along(plan_, nest_, loop)));
            }
        }
    }

    /// How many panels of a tensor are read in all.
    double visits(std::size_t slot) const {
        double all = 1;
        double counted = 1;
        each_loop([&](std::size_t loop, double panels) {
            all *= panels;
            counted = nest_.of(loop)[slot] != 0 ? all : counted;
        });
        return counted;
    }

    /// Bytes that panels touch before another one touches the same cache line.
    double distance(std::size_t slot, double footprint) const {
        double between = 0;
        each_loop([&](std::size_t loop, double panels) {
            const index move = std::abs(nest_.of(loop)[slot]) * bytes_[slot];
            between = between > 0 ? between * panels : move > 0 && move < 64 ? footprint : 0;
        });
        return between;
    }

    std::size_t first_of_sum() const {
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            if (index_of(nest_, loop) == product_index::k && plan_.block[loop] > 1) {
                return loop;
            }
        }
        return panel_plan::none;
    }

    const loop_nest& nest_;
    const panel_plan& plan_;
    element_type type_;
    bool converts_[3] = {};
    index bytes_[3];
    double whole_[3];  ///< bytes
    double visits_[3];
    double all_ = 0;  ///< bytes of all tensors
};

EINPARALLEL_INLINE double line_nanoseconds(const loop_nest& nest, const panel_plan& plan, element_type type,
                                           const element_type (&operands)[2]) {
    return panel_cost(nest, plan, type, operands).of_lines();
}

EINPARALLEL_INLINE double panel_nanoseconds(const loop_nest& nest, const panel_plan& plan, element_type type,
                                            const element_type (&operands)[2], double most) {
    const panel_cost cost(nest, plan, type, operands);
    double sum = cost.of_products();
    sum += sum < most ? cost.of_copies() : 0;
    return sum + (sum < most ? cost.of_lines() : 0);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
