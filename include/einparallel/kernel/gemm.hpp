#pragma once
// The library's own matrix product on scattered matrices: rows, columns and the summed index may each be several labels
// of a strided tensor, and panels are packed straight from it.

#include <einparallel/kernel/gemm_axis.hpp>
#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/micro_kernel.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/tuning.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// C(m, n) (+)= scale · Σ_k A(m, k) · B(k, n). C is not read unless `add`.
template <Element T>
struct gemm_call {
    gemm_axis m;  ///< strides of A, C
    gemm_axis n;  ///< strides of B, C; fastest where its last loop has stride 1 in C
    gemm_axis k;  ///< strides of A, B
    const T* a = nullptr;
    const T* b = nullptr;
    T* c = nullptr;
    T scale = T(1);
    bool add = false;
};

/// The blocked product (Goto and van de Geijn's five loops) over packed blocks, for any types and operators.
class blocked_gemm {
public:
    EINPARALLEL_INLINE blocked_gemm(const tile_kernel& kernel, gemm_axis& m, gemm_axis& n, gemm_axis& k,
                                    int threads = 1, progress_hook* hook = nullptr);

    /// @pre no axis is empty
    EINPARALLEL_INLINE void run(const void* a, const void* b, void* c, bool add) const;

private:
    static constexpr index rows_in_place = 6;
    static constexpr index rows_ahead = 12;  ///< that are asked for before they are read: memory answers meanwhile
    static constexpr std::size_t small_bytes = 16384;
    static constexpr index blocks_in_piece = 8;  ///< of the summed index, at least: a piece is worth adding up
    static constexpr index most_in_sum = 32;     ///< pieces
    static constexpr std::size_t pieces_bytes = std::size_t{4} << 20;

    struct operands {
        const std::byte* a;
        const std::byte* b;
    };
    /// A matrix with the rows and columns of C, which is C or what a piece of the sum comes to.
    struct target {
        const gemm_axis& m;
        const gemm_axis& n;
        std::byte* c;
        bool add;
    };
    struct block_range {
        even_part rows;
        even_part columns;
    };

    /// Pieces in which long sums for a small C are computed, so that many threads can share them; their number does
    /// not depend on that of the threads, nor do the sums.
    EINPARALLEL_INLINE [[nodiscard]] index most_pieces() const;
    [[nodiscard]] thread_grid grid_of(index threads) const { return threads == threads_ ? grid_ : best_grid(threads); }
    EINPARALLEL_INLINE [[nodiscard]] thread_grid best_grid(index threads) const;
    EINPARALLEL_INLINE [[nodiscard]] block_range blocks_of(const thread_grid& grid, index part) const;

    /// Steps of a block of A that is read where it lies, 0 where it is better packed: A is not worth packing where many
    /// rows go past few columns of C, each once. Its rows are contiguous, or its columns, and then a block's steps must
    /// not fall into few sets of the first-level cache.
    EINPARALLEL_INLINE [[nodiscard]] index depth_in_place() const;

    /// Bytes of a packed sliver and of one vector that may be written beyond it, in an odd number of cache lines.
    static constexpr index sliver(std::size_t bytes) { return static_cast<index>((bytes + 127) / 64 | 1) * 64; }
    EINPARALLEL_INLINE [[nodiscard]] index a_sliver(index depth) const;
    EINPARALLEL_INLINE [[nodiscard]] index b_sliver(index depth) const;

    EINPARALLEL_INLINE void run_part(const operands& from, const target& into, const block_range& blocks,
                                     even_part steps) const;

    /// Computes the pieces of the sum on their own, and adds them up in order; one thread one after the other, in
    /// memory that stays in its caches.
    EINPARALLEL_INLINE void run_pieces(const operands& from, std::byte* c, bool add) const;

    EINPARALLEL_INLINE void walk(std::byte* scratch, std::size_t a_size, std::size_t b_size, const operands& from,
                                 const target& into, const block_range& blocks, even_part steps) const;

    template <class Byte>
    static Byte* at(Byte* start, index offset, std::size_t element) {
        return start + offset * signed_of(element);
    }

    static constexpr index signed_of(std::size_t bytes) { return static_cast<index>(bytes); }

    /// Where the block of A after this one begins.
    EINPARALLEL_INLINE const std::byte* next_of_a(const std::byte* a, const gemm_blocks& m, const gemm_blocks& k,
                                                  index row, index step, even_part rows) const;

    /// A block of A where it lies times one packed block of B: some rows of A, which stay in the first-level cache,
    /// past all columns. `next_a` is where the next block begins.
    EINPARALLEL_INLINE void multiply_in_place(const std::byte* a, const std::byte* next_a, const std::byte* b,
                                              const small_step* along, const index* lines, index line_count,
                                              const gemm_blocks& m, const gemm_blocks& n, const gemm_blocks& k,
                                              std::byte* c, bool add) const;

    /// One packed block of A times one packed block of B.
    EINPARALLEL_INLINE void multiply(const std::byte* a, const std::byte* b, index depth, const gemm_blocks& m,
                                     const gemm_blocks& n, std::byte* c, bool add) const;

    const tile_kernel& kernel_;
    gemm_axis& m_;
    gemm_axis& n_;
    gemm_axis& k_;
    int threads_ = 1;
    progress_hook* hook_ = nullptr;
    index pieces_ = 1;  ///< of the sum
    thread_grid grid_;
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

}  // namespace einparallel::EINPARALLEL_DETAIL
