#pragma once
// Σ of products of two operands, run as contraction_decision.hpp decides.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/contraction_decision.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/blas.hpp>
#include <einparallel/kernel/product/dot_products.hpp>
#include <einparallel/kernel/product/gemm.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/product/product_panels.hpp>
#include <einparallel/kernel/product/small_call.hpp>
#include <einparallel/kernel/product/small_product.hpp>
#include <einparallel/kernel/product/vector_strip.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/half_tile.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/micro_kernel.hpp>
#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/kernel/simd/vector_product.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/work/product_rows.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// factor_type() of a product of T.
template <Element T>
element_type factor_type(element_type element) {
    return factor_type(element_type_of<T>(), element);
}

/// Contracts two operands with elements of type T, or of other types whose elements are elements of T. It runs as was
/// decided for the call that it was made for.
template <Element T>
class pair_contraction final : public prepared_call, private pair_loops {
public:
    /// @param tables  memory for the tables of a small_product; null: it is allocated here where needed
    pair_contraction(const block_call& call, T scale, index* tables = nullptr)
        : pair_loops(call, element_type_of<T>(), factor_type<T>(call.operands[0].element),
                     factor_type<T>(call.operands[1].element)),
          scale_(repeats == 1 ? scale : op::prod(scale, converted<T>(repeats))) {
        if (decision.way == contraction_way::small_products && !has_others()) {
            if (tables == nullptr) {
                own_tables_.reset(new index[small_product<T>::tables_of(axes)]);
                tables = own_tables_.get();
            }
            small_.emplace(axes, scale_, adds(), tables);
            constexpr index near = 1 << 24;  // bytes
            const auto [m, n, k] = std::tuple(decision.m, decision.n, decision.k);
            if (decision.batch * (m * k + k * n + m * n) * index(sizeof(T)) > near) {
                small_->comes_from_far();
            }
        }
    }

    void run(const block_call& at) override {
        nest.hook = at.hook;
        if (!has_points(nest, at, row_reduction_of<T>(op::sum))) {
            return;
        }
        z_ = static_cast<T*>(at.output.data);
        const std::vector<scratch_memory> dense = lay_out(at);
        const contraction_way way = decision.way;
        if constexpr (is_real) {
            if (way == contraction_way::elementwise && !has_others()) {
                elementwise(decision.threads);
                return;
            }
            if (way == contraction_way::dots) {
                dot_products<T>{nest, x_, y_, z_, scale_, mode}.run(decision.threads);
                return;
            }
        }
        if constexpr (small_product<T>::in_vectors || is_complex<T>::value) {
            if (way == contraction_way::panels) {
                product_panels<T>(nest, panels, scale_, adds(), operands).run(x_, y_, z_, decision.threads);
                return;
            }
        }
        if (way == contraction_way::rows || way == contraction_way::elementwise ||
            (way == contraction_way::small_products && decision.batch > 1 && has_others())) {
            row_operands rows;
            rows.push_back(x_);
            rows.push_back(y_);
            product_rows<T> worker(z_, rows, scale_, mode);
            run_rows(nest, worker);
            return;
        }
        // Computes a matrix product for each point of the batch: of the transposed matrices where the output's rows are
        // contiguous.
        const row_operand& a_operand = decision.swapped ? y_ : x_;
        const row_operand& b_operand = decision.swapped ? x_ : y_;
        const T* const a = a_operand.template elements<T>();
        const T* const b = b_operand.template elements<T>();
        if (small_) {
            const index work = decision.m * decision.n * decision.k;
            for_each_stretch(nest, batch, work, decision.threads, [&](const index* from, index count, const index* by) {
                small_->run(a + from[a_slot()], b + from[b_slot()], z_ + from[z_slot], count, by[a_slot()],
                            by[b_slot()], by[z_slot], adds());
            });
            return;
        }
        if (way == contraction_way::library_product && !has_others()) {
            if constexpr (!std::is_integral_v<T>) {
                library_products(a, b);
            }
            return;
        }
        conversion<T> how{scale_};
        tile_kernel kernel = has_others() ? converting_tile_kernel(a_operand.element, b_operand.element, how)
                                          : product_tile_kernel<T>(best_instruction_set(), &scale_);
        if constexpr (is_real) {
            kernel.run_in_place =
                has_others() ? nullptr : with_best_instructions([](auto set) { return &run_in_place<set.value>; });
        }
        run_blocked(kernel, axes,
                    {nest, batch, a_operand.data, a_slot(), b_operand.data, b_slot(), z_, adds(), decision.threads,
                     decision.threads_inside});
    }

private:
    static constexpr bool is_real = std::is_floating_point_v<T>;

    template <instruction_set Set>
    static void run_in_place(const small_call& block, const void* a, const void* b, void* c, bool add) {
        vector_strip<T, Set>::template small<vector_bytes(Set)>(block, static_cast<const T*>(a),
                                                                static_cast<const T*>(b), static_cast<T*>(c), add);
    }

    [[nodiscard]] bool has_others() const {
        return operands[0] != element_type_of<T>() || operands[1] != element_type_of<T>();
    }
    [[nodiscard]] bool adds() const { return mode == write_mode::combine; }

    /// Sets x_ and y_ to the operands as products read them. @return memory of the operands that are laid out first
    std::vector<scratch_memory> lay_out(const block_call& at) {
        row_operand* const given[] = {&x_, &y_};
        for (std::size_t operand = 0; operand < 2; ++operand) {
            const strided_block& block = at.operands[operand];
            *given[operand] = {block.data, factor_type<T>(block.element)};
        }
        std::vector<scratch_memory> dense;
        for (laid_out_operand& each : ahead) {
            each.loops.hook = at.hook;
            row_operand& operand = *given[each.slot - 1];
            row_operands rows;
            rows.push_back(operand);
            dense.emplace_back(each.elements * sizeof(T));
            product_rows<T> worker(dense.back().data(), rows, T(1), write_mode::overwrite);
            run_rows(each.loops, worker);
            operand = {dense.back().data(), element_type_of<T>()};
        }
        return dense;
    }

    /// Computes the products by the BLAS, which does not report. Where there is a hook, a product becomes several calls
    /// along the longer side of the output, always as many: at most 8. Each is at least 256 long and has at least 2^26
    /// multiply-adds (some milliseconds), since it packs the other operand anew.
    void library_products(const T* a, const T* b) {
        const gemm_axis::loop& k = axes.k.loops[0];
        const bool by_rows = axes.m.size >= axes.n.size;
        const index length = by_rows ? axes.m.size : axes.n.size;
        const index most = std::min({index{8}, length / 256, axes.m.size * axes.n.size * k.extent >> 26});
        const index calls = nest.hook == nullptr ? 1 : std::max<index>(most, 1);
        for_each_point(nest, batch, 1, [&](const index* at) {
            for (index number = 0; number < calls; ++number) {
                const even_share own(length, number, calls);
                gemm_axis::loop m = axes.m.loops[0];
                gemm_axis::loop n = axes.n.loops[0];
                (by_rows ? m : n).extent = own.end - own.begin;
                const index row = by_rows ? own.begin : 0;
                const index column = by_rows ? 0 : own.begin;
                blas_gemm(m, n, k, scale_, a + at[a_slot()] + row * m.first, b + at[b_slot()] + column * n.first,
                          z_ + at[z_slot] + row * m.second + column * n.second, adds());
                report(nest.hook, m.extent * n.extent * k.extent);
            }
        });
    }

    /// Computes one pass, where nothing is summed, and the operands are contiguous or constant along the output's rows.
    /// Threads share the rows. Where these are few, or longer than what is computed between two reports, threads share
    /// pieces of each row.
    void elementwise(int threads) {
        constexpr index line = 64;
        const auto bytes = index(sizeof(T));
        const std::size_t row = nest.size() - 1;
        product_plane<T> plane;
        plane.columns = nest.extents[row];
        plane.x_moves = nest.of(row)[x_slot] == 1;
        plane.y_moves = nest.of(row)[y_slot] == 1;
        plane.scale = scale_;
        plane.add = adds();
        odometer::loop_list outer;
        bool on_lines = reinterpret_cast<std::uintptr_t>(z_) % 64 == 0;
        for (std::size_t loop = 0; loop < row; ++loop) {
            const index* const moves = nest.of(loop);
            on_lines = on_lines && moves[z_slot] * bytes % 64 == 0;
            outer.push_back(loop);
            plane.z_row = moves[z_slot];  // finally those of the innermost loop
            plane.x_row = moves[x_slot];
            plane.y_row = moves[y_slot];
        }
        const index rows = odometer(nest, outer).size();
        plane.streams = on_lines && rows * plane.columns * bytes >= streamed_bytes && !plane.add &&
                        z_ != x_.template elements<T>() && z_ != y_.template elements<T>();
        const auto compute = [&](const product_plane<T>& own, const index* at, index first) {
            with_best_instructions([&](auto set) {
                vector_product<T, set.value>::products(
                    own, z_ + (at[z_slot] + first),
                    x_.template elements<T>() + (at[x_slot] + (own.x_moves ? first : 0)),
                    y_.template elements<T>() + (at[y_slot] + (own.y_moves ? first : 0)));
            });
            if (own.streams) {
                end_streaming();
            }
        };
        if ((threads == 1 || rows >= 4 * threads) && plane.columns <= progress_hook::interval) {
            for_each_stretch(nest, outer, plane.columns, threads, [&](const index* from, index count, const index*) {
                product_plane<T> own = plane;
                own.rows = count;
                compute(own, from, 0);
            });
            return;
        }
        plane.rows = 1;
        const index lines = (plane.columns + line - 1) / line;
        visit_points(nest, outer, lines, line, threads, [&](const index* at, index first, index count) {
            product_plane<T> own = plane;
            own.columns = std::min(count * line, plane.columns - first * line);
            compute(own, at, first * line);
        });
    }

    T scale_;
    std::unique_ptr<index[]> own_tables_{};
    std::optional<small_product<T>> small_{};
    // Set by run().
    row_operand x_{};
    row_operand y_{};
    T* z_ = nullptr;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
