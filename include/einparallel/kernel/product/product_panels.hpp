#pragma once
// Products with short labels, panel by panel as a panel_plan says: what the lanes of vectors cannot read or write where
// it lies is copied to packed memory.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/panel_plan.hpp>
#include <einparallel/kernel/product/panel_shape.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>

namespace einparallel::EINPARALLEL_DETAIL {

/// Computes a product as a plan says.
template <class T>
class product_panels {
public:
    /// All must outlive this object.
    product_panels(const loop_nest& nest, const panel_plan& plan, const T& scale, bool add,
                   const element_type (&operands)[2])
        : nest_(nest), plan_(plan), scale_(scale), add_(add), operands_(operands) {}

    void run(const row_operand& x, const row_operand& y, T* z, int threads) const {
        const index panels = panels_of(plan_, nest_, plan_.outputs);
        on_threads(int(std::min<index>(threads, panels)), [&](index share, index shares) {
            worker own(*this, x, y, z);
            const even_share mine(panels, share, shares);
            for (index panel = mine.begin; panel < mine.end; ++panel) {
                own.compute(panel);
            }
        });
    }

private:
    static constexpr index narrowest = index(16 / sizeof(T));  // columns that small_product needs without masks

    class worker {
    public:
        worker(const product_panels& of, const row_operand& x, const row_operand& y, T* z)
            : of_(of), x_(x), y_(y), z_(z), extents_(of.plan_.block) {}

        /// Computes a panel of the output: all panels of its sums.
        void compute(index number) {
            const panel_plan& plan = of_.plan_;
            index at[3] = {0, 0, 0};
            const bool is_rest = go_to(plan.outputs, number, at);
            const index sums = panels_of(plan, of_.nest_, plan.sums);
            const bool adds = of_.add_ || sums > 1;
            for (index sum = 0; sum < sums; ++sum) {
                index from[3] = {at[0], at[1], at[2]};
                const bool rest = go_to(plan.sums, sum, from) || is_rest;
                const index along = extents_[plan.along];
                const bool pads =
                    plan.lanes == lane_role::columns && !has_masks(best_instruction_set()) &&
                    (along < narrowest || (adds && along % narrowest != 0 &&
                                           along * index(sizeof(T)) > 2 * vector_bytes(best_instruction_set())));
                panel_shape<T>& shape = shape_of(rest || pads, adds);
                if (kept_size_ < shape.c.size) {
                    kept_size_ = shape.c.size;
                    kept_.emplace(std::size_t(kept_size_) * sizeof(T));
                }
                using R = real_part_t<T>;
                const std::byte* const x = x_.at(from[x_slot]);
                const std::byte* const y = y_.at(from[y_slot]);
                shape.run(plan.swapped ? y : x, plan.swapped ? x : y, z_ + from[z_slot], sum == 0, sum + 1 == sums,
                          of_.add_, kept_size_ > 0 ? reinterpret_cast<R*>(kept_->data()) : nullptr, of_.nest_.hook);
            }
        }

    private:
        /// Sets extents_ to those of panel `number` of these loops, and moves the offsets there. Returns whether it has
        /// the points beyond the last whole vector.
        bool go_to(const odometer::loop_list& loops, index number, index* at) {
            bool is_rest = false;
            for (std::size_t position = loops.size(); position-- > 0;) {
                const std::size_t loop = loops[position];
                const index count = panels_along(of_.plan_, of_.nest_, loop);
                const index extent = of_.nest_.extents[loop];
                const index whole = extent - rest_along(of_.plan_, of_.nest_, loop);
                index first = number % count * of_.plan_.block[loop];
                number /= count;
                if (first >= whole) {
                    first = whole;
                    is_rest = true;
                }
                extents_[loop] = std::min(of_.plan_.block[loop], (is_rest && first == whole ? extent : whole) - first);
                for (std::size_t slot = z_slot; slot <= y_slot; ++slot) {
                    at[slot] += first * of_.nest_.of(loop)[slot];
                }
            }
            return is_rest;
        }

        panel_shape<T>& shape_of(bool packs, bool adds) {
            for (const std::unique_ptr<panel_shape<T>>& each : shapes_) {
                if (each != nullptr && each->packs == packs &&
                    std::equal(extents_.begin(), extents_.end(), each->extents.begin())) {
                    return *each;
                }
            }
            std::unique_ptr<panel_shape<T>>& made = shapes_[next_++ % most];
            made.reset();
            made = std::make_unique<panel_shape<T>>(of_.nest_, of_.plan_, extents_, packs, of_.scale_, adds,
                                                    of_.operands_);
            return *made;
        }

        static constexpr std::size_t most = 8;

        const product_panels& of_;
        row_operand x_;
        row_operand y_;
        T* z_;
        small_vector<index, 12> extents_;  ///< of the panel
        std::unique_ptr<panel_shape<T>> shapes_[most];
        std::size_t next_ = 0;
        std::optional<scratch_memory> kept_;  ///< packed panel of the output
        index kept_size_ = 0;
    };

    const loop_nest& nest_;
    const panel_plan& plan_;
    const T& scale_;
    bool add_;
    const element_type (&operands_)[2];
};

}  // namespace einparallel::EINPARALLEL_DETAIL
