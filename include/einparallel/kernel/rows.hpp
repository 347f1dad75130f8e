#pragma once
// Runs a loop nest row by row, once for all types and functors; what a row computes is the caller's.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// An operand as rows read it.
struct row_operand {
    const std::byte* data = nullptr;
    index bytes = 0;  ///< of an element
};
using row_operands = small_vector<row_operand, 4>;

class row_walk;

/// The typed half of a nest: accumulates rows of ⊗ into a private row and writes it. A row is up to `width` points of
/// the innermost loop, few enough for the first-level cache.
class row_worker {
public:
    row_worker(index width, const row_operands& operands) : width_(width), operands_(operands) {}
    row_worker(const row_worker&) = delete;
    row_worker& operator=(const row_worker&) = delete;

    /// accumulators[i] = ⊗ at point i where `first`, accumulators[i] ⊕= ⊗ otherwise. Point i of operand r lies i ·
    /// moves[r] elements from places[r].
    virtual void accumulate(const std::byte* const* places, const index* moves, index count, bool first) = 0;
    /// Writes (or combines) the accumulators into the output, from `offset` on.
    virtual void write(index offset, index move, index count) = 0;
    /// Writes (or combines) ⊕ of `count` accumulators, every `step`th from `begin` on, into the output element at
    /// `offset`. Accumulator 0 is lost.
    virtual void write_total(index offset, index begin, index step, index count) = 0;
    /// Runs the walk, which is a piece of the nest, on a worker of its own with the same operands. Pieces of the output
    /// go there; pieces of sums (place >= 0) become accumulators of this one, from number `place` on.
    virtual void run_own(const row_walk& walk, index place) = 0;
    static constexpr index to_output = -1;
    /// So many accumulators every worker has at least.
    static constexpr index least_width = 1024;

    [[nodiscard]] index width() const { return width_; }
    [[nodiscard]] const row_operands& operands() const { return operands_; }
    /// Whether the output outgrows the caches and is written past them.
    void stream(bool streams) { streams_ = streams; }

protected:
    ~row_worker() = default;

    /// Writes a row of elements, `move` apart.
    template <class T>
    void write_row(T* into, index move, const T* row, index count) const {
        if (move != 1) {
            for (index i = 0; i < count; ++i) {
                into[i * move] = row[i];
            }
            return;
        }
        write_bytes(reinterpret_cast<std::byte*>(into), reinterpret_cast<const std::byte*>(row),
                    static_cast<std::size_t>(count) * sizeof(T));
    }

private:
    EINPARALLEL_INLINE void write_bytes(std::byte* into, const std::byte* from, std::size_t bytes) const;

    index width_;
    row_operands operands_;
    bool streams_ = false;
};

/// Computes the points of the walk through `worker`, whose width is 64 at least.
EINPARALLEL_INLINE void run_walk(const row_walk& walk, row_worker& worker);

/// Computes every output element of the nest through `worker`, on several threads where that is worth it.
/// @pre no extent of the nest is 0; loops sorted by the output's stride
EINPARALLEL_INLINE void run_rows(const loop_nest& nest, row_worker& worker);

}  // namespace einparallel::EINPARALLEL_DETAIL
