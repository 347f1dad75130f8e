#pragma once
// The product of panels of one shape: their matrices, and small_product on them. Complex products become real ones.

#include <einparallel/kernel/gemm_axis.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/panel_matrix.hpp>
#include <einparallel/kernel/product/panel_plan.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/product/small_product.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/tile_kernel.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <memory>
#include <optional>

namespace einparallel::EINPARALLEL_DETAIL {

/// The product of panels of one shape.
template <class T>
class panel_shape : private not_copied {
public:
    using R = real_part_t<T>;

    /// @param iterations  of each loop in the panel
    /// @param packs_all  whether all three matrices are copied, whatever the plan says
    panel_shape(const loop_nest& nest, const panel_plan& plan, const small_vector<index, 12>& iterations,
                bool packs_all, T scale, bool add, const element_type (&operands)[2])
        : extents(iterations), packs(packs_all), role_(plan.lanes), scale_(scale), factor_(factor_of(scale)) {
        using loop = gemm_axis::loop;
        const std::size_t a_slot = plan.swapped ? y_slot : x_slot;
        const std::size_t b_slot = plan.swapped ? x_slot : y_slot;
        const bool is_columns = role_ == lane_role::columns;
        const index along = extents[plan.along];
        const index unit = is_columns ? 1 : vector_bytes(best_instruction_set()) / index(sizeof(R));
        const auto takes = [&](std::size_t slot) { return packs || plan.packs[slot]; };
        for (std::size_t each = 0; each < nest.size(); ++each) {
            const index* const by = nest.of(each);
            if (extents[each] == 1 || each == plan.along || each == plan.points) {
                continue;
            }
            if (by[z_slot] == 0) {
                axes_.k.add(extents[each], by[a_slot], by[b_slot]);
            } else if (by[b_slot] == 0) {
                axes_.m.add(extents[each], by[a_slot], by[z_slot]);
            } else {
                axes_.n.add(extents[each], by[b_slot], by[z_slot]);
            }
        }
        const index* const moves = nest.of(plan.along);
        index points = along;
        index width = 1;
        if (is_columns) {
            axes_.n.add(along, moves[b_slot], moves[z_slot]);
            points = plan.points == panel_plan::none ? 1 : extents[plan.points];
            width = packs ? rounded_up(along, index(16 / sizeof(T))) : along;
        }
        const std::size_t along_points = is_columns ? plan.points : plan.along;
        const auto moves_of = [&](std::size_t slot) {
            return along_points == panel_plan::none ? 0 : nest.of(along_points)[slot];
        };
        a.moves = moves_of(a_slot);
        b.moves = moves_of(b_slot);
        c.moves = moves_of(z_slot);
        a.step = a.moves * unit;
        b.step = b.moves * unit;
        c.step = c.moves * unit;
        const element_type own = element_type_of<T>();
        if (is_columns ? plan.packs[a_slot] : takes(a_slot)) {
            a.pack(axes_.m, &loop::first, axes_.k, &loop::first, unit, 1, points, operands[a_slot - 1],
                   is_columns ? real_layout::as_it_is : real_layout::thirds);
        }
        if (takes(b_slot) || (reals > 1 && scale != T(1))) {
            b.pack(axes_.k, &loop::second, axes_.n, &loop::first, unit, width, points, operands[b_slot - 1],
                   is_columns ? real_layout::as_it_is : real_layout::halves);
        }
        if (role_ == lane_role::terms) {
            c.pack(axes_.m, &loop::second, axes_.n, &loop::second, unit, 1, 1, own, real_layout::halves);
        } else if (takes(z_slot)) {
            c.pack(axes_.m, &loop::second, axes_.n, &loop::second, unit, width, points, own,
                   is_columns ? real_layout::as_it_is : real_layout::halves);
        }
        if (is_columns) {
            axes_.n.loops.back().extent = axes_.n.size = width;
        }
        if constexpr (reals > 1) {
            take_real_numbers();
        }
        const auto step_of = [](const panel_matrix<T>& of) { return of.is_packed ? of.real_step : of.step * of.reals; };
        a_step_ = step_of(a);
        b_step_ = step_of(b);
        c_step_ = step_of(c);
        if (role_ == lane_role::terms) {
            axes_.k.add((along + unit - 1) / unit, a_step_, b_step_);
        }
        units = role_ == lane_role::terms ? 1 : (points + unit - 1) / unit;
        work = axes_.m.size * axes_.n.size * axes_.k.size * unit;
        a.allocate();
        b.allocate();
        c.allocate(false);
        tables_.reset(new index[product::tables_of(axes_)]);
        product_.emplace(axes_, factor_, add, tables_.get(), !is_columns);
    }

    /// Computes the panel that begins at these elements.
    /// @param first, last  whether it is the first and the last one of its sums
    /// @param add  whether the first one is added to the output
    /// @param kept  memory for the packed panel of the output, the same for all panels of a sum
    void run(const void* left_memory, const void* right_memory, T* z, bool first, bool last, bool add, R* kept,
             progress_hook* hook) {
        const R* const left = packed(a, left_memory, T(1)) + (reals > 1 && role_ != lane_role::columns ? a.row : 0);
        const R* const right = packed(b, right_memory, scale_);
        c.packed = kept;
        if (c.is_packed && first && add && role_ != lane_role::terms) {
            c.forget();
            c.read(z, T(1));
        }
        R* const into = c.is_packed ? kept : reinterpret_cast<R*>(z);
        const bool adds = !first || (add && role_ != lane_role::terms);
        const index reported = units_between_reports(work);
        for (index begin = 0; begin < units; begin += reported) {
            const index count = std::min(reported, units - begin);
            product_->run(left + begin * a_step_, right + begin * b_step_, into + begin * c_step_, count, a_step_,
                          b_step_, c_step_, adds);
            report(hook, work * count);
        }
        if (last && role_ == lane_role::terms) {
            add_lanes(z, add);
        } else if (last && c.is_packed) {
            c.write(z);
        }
    }

    small_vector<index, 12> extents;
    bool packs;
    index units = 1;
    index work = 1;  ///< multiply-adds of a unit
    panel_matrix<T> a;
    panel_matrix<T> b;
    panel_matrix<T> c;

private:
    static constexpr index reals = panel_matrix<T>::reals;
    using product = small_product<R, (reals > 1 ? small_vectors::pairs : small_vectors::columns)>;

    /// The scale of products of real numbers, which are not scaled as they are packed.
    static R factor_of(const T& scale) {
        if constexpr (reals > 1) {
            return R(1);
        } else {
            return scale;
        }
    }

    static const R* packed(panel_matrix<T>& of, const void* memory, T scale) {
        if (!of.is_packed) {
            return static_cast<const R*>(memory);
        }
        of.read(memory, scale);
        return of.packed;
    }

    /// Makes the axes of a complex product those of real numbers: of pairs of them in columns, else of a product of
    /// twice the depth and twice the rows.
    void take_real_numbers() {
        const auto scaled = [](gemm_axis& axis, index first, index second) {
            for (gemm_axis::loop& each : axis.loops) {
                each.first *= first;
                each.second *= second;
            }
        };
        scaled(axes_.m, a.factor(), c.factor());
        scaled(axes_.k, a.factor(), b.factor());
        if (role_ == lane_role::columns) {
            axes_.n.loops.back().extent = axes_.n.size *= 2;
        } else {
            scaled(axes_.n, b.factor(), c.factor());
            axes_.k.add(2, -a.row, b.row);
            axes_.m.add(2, a.row, c.row);
        }
    }

    /// z (+)= the sums of the lanes of C.
    void add_lanes(T* z, bool add) const {
        with_best_instructions([&](auto set) {
            constexpr index lanes = vector_bytes(set.value) / index(sizeof(R));
            const auto sum_of = [](const R* vector) {
                R sums[lanes];
                __builtin_memcpy(sums, vector, sizeof(sums));
                for (index half = lanes / 2; half > 0; half /= 2) {
                    for (index lane = 0; lane < half; ++lane) {
                        sums[lane] += sums[lane + half];
                    }
                }
                return sums[0];
            };
            c.each_element([&](index in_packed, index in_memory) {
                const R* const vectors = c.packed + reals * in_packed;
                T sum;
                if constexpr (reals > 1) {
                    sum = T(sum_of(vectors), sum_of(vectors + c.row));
                } else {
                    sum = sum_of(vectors);
                }
                z[in_memory] = add ? op::sum(z[in_memory], sum) : sum;
            });
        });
    }

    lane_role role_;
    T scale_;
    R factor_;  ///< of products whose operands are not scaled as they are packed
    // Real numbers from one unit to the next.
    index a_step_ = 0;
    index b_step_ = 0;
    index c_step_ = 0;
    gemm_axes axes_;
    std::unique_ptr<index[]> tables_;
    std::optional<product> product_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
