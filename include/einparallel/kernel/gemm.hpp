#pragma once
// The library's own matrix product on scattered matrices: rows, columns and the summed index may each be several labels
// of a strided tensor, and panels are packed straight from it.

#include <einparallel/kernel/arithmetic.hpp>
#include <einparallel/kernel/cache_sizes.hpp>
#include <einparallel/kernel/gemm_axis.hpp>
#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/kernel/lines_ahead.hpp>
#include <einparallel/kernel/micro_kernel.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::detail {

/// C(m, n) (+)= scale · Σ_k A(m, k) · B(k, n). C is not read unless `add`.
template <Element T>
struct gemm_call {
    gemm_axis m;  ///< strides of A, C
    gemm_axis n;  ///< strides of B, C; fastest where its last loop has stride 1 in C
    gemm_axis k;  ///< strides of A, B
    const T* a = nullptr;
    const T* b = nullptr;
    T* c = nullptr;
    T scale = sum_of_products<T>::one;
    bool add = false;
};

/// What packed blocks may take in bytes: of A in the second-level cache, of B in the last, and of B in the second where
/// A is one block; a sliver of B in the first.
struct gemm_budget {
    std::size_t a = std::size_t{240} << 10;
    std::size_t b = std::size_t{2} << 20;
    std::size_t b_alone = std::size_t{384} << 10;
    std::size_t sliver = std::size_t{20} << 10;
    index longest = 4096;  ///< rows or columns of a block

    /// The shares of the caches that were best where they are 32 and 512 KiB; where they are not known, processors with
    /// wide vectors have larger ones.
    static gemm_budget of(const tile_kernel& kernel, const cache_sizes& caches = cache_sizes::here()) {
        gemm_budget budget;
        const bool wide = static_cast<std::size_t>(kernel.columns) * kernel.b_bytes > 64;
        const std::size_t second =
            caches.second > 0 ? std::min(caches.second, std::size_t{1} << 20) : std::size_t{wide ? 1024U : 512U} << 10;
        budget.a = second / 32 * 15;
        budget.b_alone = second / 4 * 3;
        budget.sliver = caches.first > 0
                            ? std::clamp(caches.first, std::size_t{16} << 10, std::size_t{64} << 10) / 8 * 5
                            : std::size_t{wide ? 32U : 20U} << 10;
        return budget;
    }
};

/// How many threads are worth starting for so many multiply-adds.
inline int threads_for(index points) {
    constexpr index worth = index{1} << 20;
    return points < worth ? 1 : static_cast<int>(std::min<index>(available_threads(), points / (worth / 2)));
}

/// The blocked product (Goto and van de Geijn's five loops) over packed blocks, for any types and operators.
class blocked_gemm {
public:
    blocked_gemm(const tile_kernel& kernel, gemm_axis& m, gemm_axis& n, gemm_axis& k, int threads = 1)
        : kernel_(kernel), m_(m), n_(n), k_(k), threads_(threads) {
        const gemm_budget budget = gemm_budget::of(kernel);
        const auto lines = [](index count, std::size_t element) { return count * static_cast<index>(64 / element); };
        const auto at_most = [&](std::size_t bytes, std::size_t each) {
            return std::clamp<index>(static_cast<index>(bytes / each), 1, budget.longest);
        };
        const index deepest = at_most(budget.sliver, static_cast<std::size_t>(kernel.columns) * kernel.b_bytes);
        along_rows_ = !k_.loops.empty() && k_.loops.back().first == 1;
        const index deepest_in_place = std::min(depth_in_place(), deepest);
        in_place_ = deepest_in_place > 0;
        depth_ =
            k_.cut(in_place_ ? deepest_in_place : deepest, 1, lines(2, kernel.a_element), lines(2, kernel.b_element));
        const auto deep = static_cast<std::size_t>(depth_);
        const index row_limit =
            in_place_ && along_rows_ ? budget.longest / 4 : at_most(budget.a, deep * kernel.a_bytes);
        rows_ = m_.cut(std::max(row_limit, kernel.rows), in_place_ ? rows_in_place : kernel.rows,
                       lines(4, kernel.a_element), 1);
        const bool alone = rows_ == m_.size;
        index column_limit =
            std::max(at_most(alone ? budget.b_alone : budget.b, deep * kernel.b_bytes), kernel.columns);
        if (threads_ > 1) {  // as many blocks for each, of columns if they are enough
            const auto shares = [this](index size, index limit, index unit) {
                const index parts = ((size + limit - 1) / limit + threads_ - 1) / threads_ * threads_;
                return std::max((size + parts - 1) / parts, unit);
            };
            split_columns_ = n_.size / kernel.columns >= m_.size / kernel.rows;
            if (split_columns_) {
                column_limit = shares(n_.size, column_limit, kernel.columns);
            } else {
                rows_ = m_.cut(shares(m_.size, rows_, kernel.rows), kernel.rows, lines(4, kernel.a_element), 1);
            }
        }
        columns_ = n_.cut(column_limit, kernel.columns, lines(4, kernel.b_element),
                          std::max(lines(1, kernel.c_element), kernel.columns));
    }

    /// @pre no axis is empty
    void run(const void* a, const void* b, void* c, bool add) const {
        on_threads(threads_, [&](index part, index parts) {
            const even_part rows(m_.block_count(), split_columns_ ? 0 : part, split_columns_ ? 1 : parts);
            const even_part columns(n_.block_count(), split_columns_ ? part : 0, split_columns_ ? parts : 1);
            run_part(static_cast<const std::byte*>(a), static_cast<const std::byte*>(b), static_cast<std::byte*>(c),
                     add, rows, columns);
        });
    }

private:
    static constexpr index rows_in_place = 6;
    static constexpr index rows_ahead = 12;  ///< that are asked for before they are read: memory answers meanwhile
    static constexpr std::size_t small_bytes = 16384;

    /// Steps of a block of A that is read where it lies, 0 where it is better packed: A is not worth packing where many
    /// rows go past few columns of C, each once. Its rows are contiguous, or its columns, and then a block's steps must
    /// not fall into few sets of the first-level cache.
    [[nodiscard]] index depth_in_place() const {
        if (kernel_.run_in_place == nullptr || n_.loops.size() != 1 || k_.loops.empty() || n_.loops[0].second != 1 ||
            n_.size > 4 * kernel_.columns || n_.size % kernel_.lanes != 0 || m_.size < 128) {
            return 0;
        }
        if (along_rows_) {
            return k_.size;
        }
        constexpr index span = 4096;  // bytes apart: the same set
        const index step = k_.loops.back().first * signed_of(kernel_.a_element);
        const index depth = 4 * span / std::clamp<index>(step & -step, 64, span);
        return m_.loops.back().first == 1 && depth >= 32 ? std::min<index>(depth, 128) : 0;
    }

    /// Bytes of a packed sliver and of one vector that may be written beyond it, in an odd number of cache lines.
    static constexpr index sliver(std::size_t bytes) { return static_cast<index>((bytes + 127) / 64 | 1) * 64; }
    [[nodiscard]] index a_sliver(index depth) const {
        return sliver(static_cast<std::size_t>(kernel_.rows * depth) * kernel_.a_bytes);
    }
    [[nodiscard]] index b_sliver(index depth) const {
        return sliver(static_cast<std::size_t>(kernel_.columns * depth) * kernel_.b_bytes);
    }

    void run_part(const std::byte* a, const std::byte* b, std::byte* c, bool add, even_part rows,
                  even_part columns) const {
        const std::size_t a_size =
            in_place_ ? 0 : static_cast<std::size_t>((rows_ + kernel_.rows - 1) / kernel_.rows * a_sliver(depth_));
        const std::size_t b_size =
            static_cast<std::size_t>((columns_ + kernel_.columns - 1) / kernel_.columns * b_sliver(depth_));
        const std::size_t needed =
            a_size + b_size +
            sizeof(index) * static_cast<std::size_t>(2 * (rows_ + columns_ + depth_) +
                                                     std::max({rows_, columns_, depth_}) + 2 * depth_);
        alignas(64) std::byte on_stack[small_bytes];
        if (needed <= small_bytes) {
            walk(on_stack, a_size, b_size, a, b, c, add, rows, columns);
        } else {
            const scratch_lease<scratch_purpose::packing> lease(needed);
            walk(lease.data(), a_size, b_size, a, b, c, add, rows, columns);
        }
    }

    void walk(std::byte* scratch, std::size_t a_size, std::size_t b_size, const std::byte* a, const std::byte* b,
              std::byte* c, bool add, even_part rows, even_part columns) const {
        std::byte* const packed_a = scratch;
        std::byte* const packed_b = scratch + a_size;
        auto* const tables = reinterpret_cast<index*>(scratch + a_size + b_size);
        gemm_blocks m(m_, rows_, tables);
        gemm_blocks n(n_, columns_, tables + 2 * rows_);
        gemm_blocks k(k_, depth_, tables + 2 * (rows_ + columns_));
        index* const lines = tables + 2 * (rows_ + columns_ + depth_);
        auto* const along = reinterpret_cast<small_step*>(lines + std::max({rows_, columns_, depth_}));
        const index k_blocks = k_.block_count();
        bool a_stays = false;
        for (index column = columns.begin; column < columns.end; ++column) {
            n.go_to(column);
            for (index step = 0; step < k_blocks; ++step) {
                k.go_to(step);
                for (index each = 0; in_place_ && each < k.count; ++each) {
                    along[each] = {k.first()[each], each * kernel_.columns};
                }
                pack_source source{n.first(), k.second(), n.count, k.count, b_sliver(k.count), 0, 0};
                n.stretch(true, source.period, source.run);
                kernel_.pack_b(kernel_.context, packed_b, at(b, n.first_start + k.second_start, kernel_.b_element),
                               source);
                for (index row = rows.begin; row < rows.end; ++row) {
                    m.go_to(row);
                    if (in_place_) {
                        const index line_count = (along_rows_ ? k : m).lines(true, signed_of(kernel_.a_element), lines);
                        multiply_in_place(at(a, m.first_start + k.first_start, kernel_.a_element),
                                          next_of_a(a, m, k, row, step, rows), packed_b, along, lines, line_count, m, n,
                                          k, at(c, m.second_start + n.second_start, kernel_.c_element),
                                          add || step > 0);
                        continue;
                    }
                    if (!a_stays) {
                        source = {m.first(), k.first(), m.count, k.count, a_sliver(k.count), 0, 0};
                        m.stretch(true, source.period, source.run);
                        kernel_.pack_a(kernel_.context, packed_a,
                                       at(a, m.first_start + k.first_start, kernel_.a_element), source);
                        a_stays = rows.end - rows.begin == 1 && k_blocks == 1;
                    }
                    multiply(packed_a, packed_b, k.count, m, n,
                             at(c, m.second_start + n.second_start, kernel_.c_element), add || step > 0);
                }
            }
        }
    }

    template <class Byte>
    static Byte* at(Byte* start, index offset, std::size_t element) {
        return start + offset * signed_of(element);
    }

    static constexpr index signed_of(std::size_t bytes) { return static_cast<index>(bytes); }

    /// Where the block of A after this one begins.
    const std::byte* next_of_a(const std::byte* a, const gemm_blocks& m, const gemm_blocks& k, index row, index step,
                               even_part rows) const {
        index row_start = 0;
        index step_start = 0;
        index unused = 0;
        const bool below = row + 1 < rows.end;
        m.peek(below ? row + 1 : rows.begin, row_start, unused);
        k.peek(below ? step : std::min(step + 1, k_.block_count() - 1), step_start, unused);
        return at(a, row_start + step_start, kernel_.a_element);
    }

    /// A block of A where it lies times one packed block of B: some rows of A, which stay in the first-level cache,
    /// past all columns. `next_a` is where the next block begins.
    void multiply_in_place(const std::byte* a, const std::byte* next_a, const std::byte* b, const small_step* along,
                           const index* lines, index line_count, const gemm_blocks& m, const gemm_blocks& n,
                           const gemm_blocks& k, std::byte* c, bool add) const {
        const index calls =
            (m.count + rows_in_place - 1) / rows_in_place * ((n.count + kernel_.columns - 1) / kernel_.columns);
        const index element = signed_of(kernel_.a_element);
        lines_ahead ahead(along_rows_ ? a : next_a, next_a, element, along_rows_ ? m.first() : k.first(),
                          along_rows_ ? m.count : k.count, lines, line_count, along_rows_ ? rows_ahead : 0, calls);
        kernel_.run_in_place(kernel_.context,
                             {m.count, n.count, k.count, m.first(), along, m.second(),
                              b_sliver(k.count) / signed_of(kernel_.b_element) - kernel_.columns, &ahead},
                             a, b, c, add);
    }

    /// One packed block of A times one packed block of B.
    void multiply(const std::byte* a, const std::byte* b, index depth, const gemm_blocks& m, const gemm_blocks& n,
                  std::byte* c, bool add) const {
        const index a_step = a_sliver(depth);
        const index b_step = b_sliver(depth);
        const index* const row_offsets = m.second();
        for (index column = 0; column < n.count; column += kernel_.columns) {
            const index wide = std::min(kernel_.columns, n.count - column);
            const index* const column_offsets = n.second() + column;
            index vector_offsets[2] = {column_offsets[0], 0};
            bool whole = wide == kernel_.columns;
            for (index start = 0; whole && start < wide; start += kernel_.lanes) {
                whole = consecutive(column_offsets + start, kernel_.lanes);
                vector_offsets[start > 0 ? 1 : 0] = column_offsets[start];
            }
            const std::byte* const right = b + column / kernel_.columns * b_step;
            for (index row = 0; row < m.count; row += kernel_.rows) {
                const index high = std::min(kernel_.rows, m.count - row);
                const index computed = kernel_.computed(high);
                const std::byte* const left = a + row / kernel_.rows * a_step;
                // The next tile of C is asked for while this one is computed.
                for (index next = row + kernel_.rows; next < std::min(m.count, row + 2 * kernel_.rows); ++next) {
                    __builtin_prefetch(c + (row_offsets[next] + column_offsets[0]) * signed_of(kernel_.c_element), 1);
                }
                if (whole && high == computed) {
                    kernel_.run(kernel_.context, depth, high, left, right, c, row_offsets + row, vector_offsets, add);
                    continue;
                }
                if (whole && !add) {  // the rows beyond are copies of the last one
                    index places[largest_tile_rows];
                    for (index each = 0; each < computed; ++each) {
                        places[each] = row_offsets[row + std::min(each, high - 1)];
                    }
                    kernel_.run(kernel_.context, depth, high, left, right, c, places, vector_offsets, false);
                    continue;
                }
                alignas(64) std::byte tile[largest_tile_bytes];
                index places[largest_tile_rows];
                for (index each = 0; each < computed; ++each) {
                    places[each] = each * kernel_.columns;
                }
                const index tile_vectors[2] = {0, kernel_.lanes};
                kernel_.run(kernel_.context, depth, high, left, right, tile, places, tile_vectors, false);
                kernel_.scatter(kernel_.context, tile, kernel_.columns, c, row_offsets + row, high, column_offsets,
                                wide, add);
            }
        }
    }

    const tile_kernel& kernel_;
    gemm_axis& m_;
    gemm_axis& n_;
    gemm_axis& k_;
    int threads_ = 1;
    bool split_columns_ = true;
    bool in_place_ = false;    ///< A is not packed
    bool along_rows_ = false;  ///< A is contiguous along k
    index rows_ = 0;
    index columns_ = 0;
    index depth_ = 0;
};

/// The same with given instructions: for tests and measurements.
/// @pre supported(set)
template <Element T>
void gemm(gemm_call<T>& call, instruction_set set) {
    const tile_kernel kernel = product_tile_kernel<T>(set, &call.scale);
    blocked_gemm(kernel, call.m, call.n, call.k).run(call.a, call.b, call.c, call.add);
}

/// Runs the product with the widest instructions of this processor.
/// @pre no axis is empty; C's elements are distinct and none of them is in A or B
template <Element T>
void gemm(gemm_call<T>& call) {
    gemm(call, best_instruction_set());
}

}  // namespace einparallel::detail
