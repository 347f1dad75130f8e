#pragma once

#include <einparallel/kernel/product/gemm.hpp>

#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/product/small_call.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/simd/packing.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/tuning.hpp>
#include <einparallel/kernel/workspace.hpp>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// The address `offset` elements behind `start`. `element`: bytes of an element.
template <class Memory>
auto* element_at(Memory* start, index offset, std::size_t element) {
    using byte = std::conditional_t<std::is_const_v<Memory>, const std::byte, std::byte>;
    return static_cast<byte*>(start) + offset * index(element);
}

/// The blocked product of run_blocked().
EINPARALLEL_INLINE class blocked_gemm {
public:
    blocked_gemm(const tile_kernel& kernel, gemm_axes& axes, const gemm_batch& batch)
        : kernel_(kernel), m_(axes.m), n_(axes.n), k_(axes.k), batch_(batch) {
        const gemm_budget budget;
        const auto lines = [](index count, std::size_t element) { return count * index(64 / element); };
        const auto at_most = [&](std::size_t bytes, std::size_t each) {
            return std::clamp<index>(index(bytes / each), 1, budget.longest);
        };
        const index deepest = at_most(budget.micro_panel, std::size_t(kernel.columns) * kernel.b_bytes);
        along_rows_ = !k_.loops.empty() && k_.loops.back().first == 1;
        const index deepest_in_place = std::min(depth_in_place(), deepest);
        in_place_ = deepest_in_place > 0;
        depth_ =
            k_.cut(in_place_ ? deepest_in_place : deepest, 1, lines(2, kernel.a_element), lines(2, kernel.b_element));
        const auto deep = std::size_t(depth_);
        grid_ = best_grid(batch.threads_inside);
        // Each thread gets the same number of blocks.
        const auto shared = [](index limit, index size, index shares, index tile) {
            const index blocks = ((size + limit - 1) / limit + shares - 1) / shares * shares;
            return shares == 1 ? limit : std::max((size + blocks - 1) / blocks, tile);
        };
        const index row_limit =
            in_place_ && along_rows_ ? budget.longest / 4 : at_most(budget.a, deep * kernel.a_bytes);
        rows_ = m_.cut(shared(std::max(row_limit, kernel.rows), m_.size, grid_.rows, kernel.rows),
                       in_place_ ? rows_in_place : kernel.rows, lines(4, kernel.a_element), 1);
        const bool alone = m_.block_count() <= grid_.rows;
        const index column_limit = at_most(alone ? budget.b_alone : budget.b, deep * kernel.b_bytes);
        columns_ =
            n_.cut(shared(std::max(column_limit, kernel.columns), n_.size, grid_.columns, kernel.columns),
                   kernel.columns, lines(4, kernel.b_element), std::max(lines(1, kernel.c_element), kernel.columns));
    }

    /// Computes one thread's share of the product at a point of the batch. @pre no axis is empty
    void run(const index* point, index share, index shares) const {
        const std::byte* const first_a = element_at(batch_.a, point[batch_.a_slot], kernel_.a_element);
        const std::byte* const first_b = element_at(batch_.b, point[batch_.b_slot], kernel_.b_element);
        std::byte* const first_c = element_at(batch_.c, point[z_slot], kernel_.c_element);
        const thread_grid grid = shares == batch_.threads_inside ? grid_ : best_grid(shares);
        const even_share rows(m_.block_count(), share / grid.columns, grid.rows);
        const even_share columns(n_.block_count(), share % grid.columns, grid.columns);
        micro_panels a_panels(kernel_.rows, rows_, depth_, kernel_.a_bytes, kernel_.a_element);
        micro_panels b_panels(kernel_.columns, columns_, depth_, kernel_.b_bytes, kernel_.b_element);
        const std::size_t a_size = in_place_ ? 0 : a_panels.bytes();
        const auto numbers = std::size_t(3 * a_panels.most + 5 * b_panels.most + 6 * depth_);
        const scratch_memory memory(a_size + b_panels.bytes() + sizeof(index) * numbers);
        std::byte* const packed_a = memory.data();
        std::byte* const packed_b = packed_a + a_size;
        auto* tables = reinterpret_cast<index*>(packed_b + b_panels.bytes());
        a_panels.lay_out(tables, depth_);
        b_panels.lay_out(tables + a_panels.most + depth_, depth_);
        tables += a_panels.most + b_panels.most + 2 * depth_;
        gemm_blocks m(m_, a_panels.most, tables, a_panels.width);
        gemm_blocks n(n_, b_panels.most, tables + 2 * a_panels.most, b_panels.width, kernel_.lanes);
        gemm_blocks next(n_, b_panels.most, tables + 2 * (a_panels.most + b_panels.most), b_panels.width,
                         kernel_.lanes);
        tables += 2 * (a_panels.most + 2 * b_panels.most);
        gemm_blocks k(k_, depth_, tables);
        auto* const along = reinterpret_cast<small_step*>(tables + 2 * depth_);
        const index steps = k_.block_count();
        const index wide = columns.end - columns.begin;
        const bool is_alone = rows.end - rows.begin == 1;
        // A single block of A is packed once, and multiplied with all blocks of B. If there are more, the blocks of C
        // are finished one after the other.
        const auto column_of = [&](index block) { return columns.begin + (is_alone ? block % wide : block / steps); };
        const auto step_of = [&](index block) { return is_alone ? block / wide : block % steps; };
        index step_of_a = -1;  // the step whose block of A is packed and kept
        for (index block = 0; block < wide * steps; ++block) {
            const index step = step_of(block);
            const bool add = batch_.add || step > 0;
            n.go_to(column_of(block));
            k.go_to(step);
            for (index each = 0; in_place_ && each < k.count; ++each) {
                along[each] = {k.first()[each], each * kernel_.columns};
            }
            kernel_.pack_b(kernel_.context, packed_b,
                           element_at(first_b, n.start.first + k.start.second, kernel_.b_element),
                           b_panels.take(n, k, k.second(), &gemm_axis::loop::second));
            report(batch_.nest.hook, packing_cost * n.count * k.count);
            reading ahead;
            if (is_alone && !in_place_ && block + 1 < wide * steps) {
                next.go_to(column_of(block + 1));
                ahead = reading_of(first_b, next, k, k.start_of(step_of(block + 1)).second);
            }
            for (index row = rows.begin; row < rows.end; ++row) {
                m.go_to(row);
                const std::byte* const a = element_at(first_a, m.start.first + k.start.first, kernel_.a_element);
                std::byte* const c = element_at(first_c, m.start.second + n.start.second, kernel_.c_element);
                if (in_place_) {
                    // Multiplies some rows of A, which stay in the first-level cache, with all columns.
                    small_call some{m.count, n.count, k.count, m.first(), along, m.second(), kernel_.context};
                    some.b_gap = b_panels.step / index(kernel_.b_element) - kernel_.columns;
                    some.is_even = are_even(some);
                    kernel_.run_in_place(some, a, packed_b, c, add);
                    report(batch_.nest.hook, m.count * n.count * k.count);
                    continue;
                }
                if (step_of_a != step) {
                    kernel_.pack_a(kernel_.context, packed_a, a,
                                   a_panels.take(m, k, k.first(), &gemm_axis::loop::first));
                    report(batch_.nest.hook, packing_cost * m.count * k.count);
                    step_of_a = is_alone ? step : -1;
                }
                multiply(packed_a, a_panels.step, packed_b, b_panels.step, k.count, m, n, c, add, ahead);
            }
        }
    }

private:
    static constexpr index rows_in_place = 6;

    thread_grid best_grid(index threads) const {
        return thread_grid::of(threads, m_.size, kernel_.rows, n_.size, kernel_.columns);
    }

    /// Steps of a block of A that is read in place; 0 where A is better packed. Packing A is not worth it where many
    /// rows meet few columns of C, so that each row is read once. A must be contiguous along its rows or along its
    /// columns. In the latter case the steps of a block must not fall into few sets of the first-level cache.
    index depth_in_place() const {
        if (kernel_.run_in_place == nullptr || n_.loops.size() != 1 || k_.loops.empty() || n_.loops[0].second != 1 ||
            n_.size > 4 * kernel_.columns || n_.size % kernel_.lanes != 0 || m_.size < 16) {
            return 0;
        }
        if (along_rows_) {
            return k_.size;
        }
        const index depth = 4 * lines_of_a_way(k_.loops.back().first * index(kernel_.a_element));
        return m_.loops.back().first == 1 && depth >= 32 ? std::min<index>(depth, 128) : 0;
    }

    /// Packed micro-panels of one operand.
    struct micro_panels {
        index width;   ///< indices of C in each micro-panel
        index step;    ///< bytes from one to the next: an odd number of cache lines, lest all fall into the same sets
        index most;    ///< indices of the largest block, filled up to whole micro-panels
        index packed;  ///< bytes of a packed element
        packed_block block;

        /// @param packed_bytes, element  bytes of an element in the micro-panels and in memory
        micro_panels(index panel, index largest, index depth, std::size_t packed_bytes, std::size_t element)
            : width(panel),
              step(((panel * rounded_up(depth, 2) * index(packed_bytes) + 63) / 64 | 1) * 64),
              most(rounded_up(largest, panel)),
              packed(index(packed_bytes)) {
            block.tile.unit = index(element);
        }

        std::size_t bytes() const { return std::size_t(most / width * step); }

        /// Notes where packing puts elements.
        /// @param table room for most + depth numbers
        void lay_out(index* table, index depth) {
            for (index first = 0, offset = 0; first < most; first += width, offset += step / packed) {
                for (index each = 0; each < width; ++each) {
                    table[first + each] = offset + each;
                }
            }
            for (index each = 0; each < depth; ++each) {
                table[most + each] = each * width;
            }
            block.tile.columns = {table, nullptr, 0, width};
            block.tile.rows = {table + most, nullptr, 0, 1};
        }

        /// The block of these indices and steps. `along`: where the steps lie in the matrix.
        const packed_block& take(const gemm_blocks& across, const gemm_blocks& steps, const index* along,
                                 index gemm_axis::loop::*side) {
            block.count = across.count;
            block.tile.columns.from = across.first();
            block.tile.columns.count = across.filled;
            block.tile.rows.from = along;
            block.tile.rows.count = steps.count;
            block.tile.rows.run = steps.run_of(side);
            across.stretch(block.period, block.run);
            return block;
        }
    };

    /// Stretches of memory that are read soon: each begins at one of the offsets, in elements, and has `bytes` bytes.
    struct reading {
        const std::byte* start = nullptr;
        const index* offsets = nullptr;
        index count = 0;
        index bytes = 0;
        index element = 0;

        /// Prefetches a share of the stretches, so that memory answers while the caller computes.
        void ask(index share, index shares) const {
            const even_share own(count, share, shares);
            for (index each = own.begin; each < own.end; ++each) {
                const std::byte* const first = start + offsets[each] * element;
                for (index at = 0; at < bytes; at += 64) {
                    __builtin_prefetch(first + at);
                }
            }
        }
    };

    /// What is read to pack the block of B with these columns and steps; nothing where it is not contiguous.
    reading reading_of(const std::byte* b, const gemm_blocks& n, const gemm_blocks& k, index k_start) const {
        const auto element = index(kernel_.b_element);
        const std::byte* const start = element_at(b, n.start.first + k_start, kernel_.b_element);
        return consecutive(k.second(), k.count)  ? reading{start, n.first(), n.count, k.count * element, element}
               : consecutive(n.first(), n.count) ? reading{start, k.second(), k.count, n.count * element, element}
                                                 : reading{};
    }

    /// Multiplies one packed block of A and one packed block of B. Prefetches what is read next meanwhile.
    void multiply(const std::byte* a, index a_step, const std::byte* b, index b_step, index depth, const gemm_blocks& m,
                  const gemm_blocks& n, std::byte* c, bool add, const reading& ahead) const {
        const index* const row_offsets = m.second();
        const index tiles_high = (m.count + kernel_.rows - 1) / kernel_.rows;
        const index tiles = tiles_high * ((n.count + kernel_.columns - 1) / kernel_.columns);
        index tile_number = 0;
        for (index column = 0; column < n.count; column += kernel_.columns, b += b_step) {
            const index wide = std::min(kernel_.columns, n.count - column);
            const index* const column_offsets = n.second() + column;
            index vector_offsets[2] = {column_offsets[0], 0};
            bool whole = wide == kernel_.columns;
            for (index start = 0; whole && start < wide; start += kernel_.lanes) {
                whole = consecutive(column_offsets + start, kernel_.lanes);
                vector_offsets[start > 0 ? 1 : 0] = column_offsets[start];
            }
            const std::byte* left = a;
            for (index row = 0; row < m.count; row += kernel_.rows, left += a_step) {
                const index high = std::min(kernel_.rows, m.count - row);
                const index computed = rounded_up(high, kernel_.row_step);
                if (ahead.count > 0) {
                    ahead.ask(tile_number++, tiles);
                }
                // Prefetches the next tile of C while this one is computed. Its rows lie in one cache line more than
                // they have vectors where C is not aligned to these.
                for (index next = row + kernel_.rows; next < std::min(m.count, row + 2 * kernel_.rows); ++next) {
                    const std::byte* const row_of_c = element_at(c, row_offsets[next], kernel_.c_element);
                    for (index start = 0; start < wide; start += kernel_.lanes) {
                        __builtin_prefetch(element_at(row_of_c, column_offsets[start], kernel_.c_element), 1);
                    }
                    __builtin_prefetch(element_at(row_of_c, column_offsets[wide - 1], kernel_.c_element), 1);
                }
                index offsets[largest_tile_rows];
                if (whole && (high == computed || !add)) {
                    for (index each = 0; high < computed && each < computed; ++each) {
                        offsets[each] =
                            row_offsets[row + std::min(each, high - 1)];  // copies of the last one beyond it
                    }
                    kernel_.run(kernel_.context, depth, high, left, b, c, high < computed ? offsets : row_offsets + row,
                                vector_offsets, add);
                    continue;
                }
                alignas(64) std::byte tile[largest_tile_bytes];
                for (index each = 0; each < computed; ++each) {
                    offsets[each] = each * kernel_.columns;
                }
                const index tile_vectors[2] = {0, kernel_.lanes};
                kernel_.run(kernel_.context, depth, high, left, b, tile, offsets, tile_vectors, false);
                kernel_.scatter(kernel_.context, tile, kernel_.columns, c, row_offsets + row, high, column_offsets,
                                wide, add);
            }
            report(batch_.nest.hook, m.count * wide * depth);
        }
    }

    const tile_kernel& kernel_;
    gemm_axis& m_;
    gemm_axis& n_;
    gemm_axis& k_;
    const gemm_batch& batch_;
    thread_grid grid_;
    bool in_place_ = false;    ///< A is not packed
    bool along_rows_ = false;  ///< A is contiguous along k
    index rows_ = 0;
    index columns_ = 0;
    index depth_ = 0;
};

EINPARALLEL_INLINE void run_blocked(const tile_kernel& kernel, gemm_axes& axes, const gemm_batch& batch) {
    const blocked_gemm product(kernel, axes, batch);
    for_each_point(batch.nest, batch.loops, batch.threads, [&](const index* point) {
        on_threads(batch.threads_inside, [&](index share, index shares) { product.run(point, share, shares); });
    });
}

EINPARALLEL_INLINE std::optional<tiled_loops> in_tiles(const loop_nest& nest, const tile_kernel& kernel) {
    tiled_loops made;
    made.batch = sort_axes(nest, x_slot, y_slot, made.axes);
    const auto& [m, n, k] = made.axes;
    const index points = m.size * n.size * k.size;
    if (m.size < 4 || n.size < kernel.columns / 2 || k.size < 4 || points < 4096) {
        return std::nullopt;
    }
    std::tie(made.threads, made.threads_inside) = threads_for_batch(points, odometer(nest, made.batch).size());
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
