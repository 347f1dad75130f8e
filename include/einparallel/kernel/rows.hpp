#pragma once
// Runs a loop nest row by row, once for all types and functors; what a row computes is the caller's.

#include <einparallel/kernel/kernel.hpp>
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

/// Operands by their first elements.
template <class... T>
row_operands row_operands_at(const T*... first) {
    row_operands list;
    (list.push_back({reinterpret_cast<const std::byte*>(first), index(sizeof(T))}), ...);
    return list;
}

/// Calls body(0 … count − 1), most of it in blocks of constant length: what -O2 vectorises without a look at aliases.
template <class Body>
inline void in_blocks(index count, Body body) {
    constexpr index block = 16;
    index position = 0;
    for (; position + block <= count; position += block) {
        for (index lane = 0; lane < block; ++lane) {
            body(position + lane);
        }
    }
    for (; position < count; ++position) {
        body(position);
    }
}

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
                    std::size_t(count) * sizeof(T));
    }

private:
    EINPARALLEL_INLINE void write_bytes(std::byte* into, const std::byte* from, std::size_t bytes) const;

    index width_;
    row_operands operands_;
    bool streams_ = false;
};

/// Computes the points of the walk through `worker`, whose width is 64 at least.
EINPARALLEL_INLINE void run_walk(const row_walk& walk, row_worker& worker);

/// Rows of into ⊕ from: the results are what operand 0 holds. Workers that compute theirs derive from it.
template <class Out, class Reduce, index Width = row_worker::least_width>
class reduced_rows : public row_worker {
public:
    reduced_rows(const Reduce& reduce, Out* output, const row_operands& operands, write_mode mode)
        : row_worker(Width, operands), reduce_(reduce), output_(output), mode_(mode) {}
    ~reduced_rows() = default;

    void accumulate(const std::byte* const* places, const index* moves, index count, bool /*first*/) override {
        const Out* const from = reinterpret_cast<const Out*>(places[0]);
        for (index i = 0; i < count; ++i) {
            results_[i] = from[i * moves[0]];
        }
    }

    void write(index offset, index move, index count) override {
        Out* const into = output_ + offset;
        const Out* const results = results_;
        if (mode_ == write_mode::overwrite) {
            this->write_row(into, move, results, count);
        } else if (move == 1) {
            in_blocks(count, [=, this](index at) { into[at] = Out(reduce_(into[at], results[at])); });
        } else {
            for (index i = 0; i < count; ++i) {
                into[i * move] = Out(reduce_(into[i * move], results[i]));
            }
        }
    }

    void write_total(index offset, index begin, index step, index count) override {
        Out total = results_[begin];
        for (index i = 1; i < count; ++i) {
            total = Out(reduce_(total, results_[begin + i * step]));
        }
        results_[0] = total;
        write(offset, 1, 1);
    }

    void run_own(const row_walk& walk, index /*to_output*/) override {
        reduced_rows own(reduce_, output_, operands(), mode_);
        run_walk(walk, own);
    }

protected:
    const Reduce& reduce_;
    Out* output_;
    write_mode mode_;
    alignas(64) Out results_[Width];
};

/// Computes every output element of the nest through `worker`, on several threads where that is worth it.
/// @pre no extent of the nest is 0; loops sorted by the output's stride
EINPARALLEL_INLINE void run_rows(const loop_nest& nest, row_worker& worker);

/// What kernels of ⊕ do whatever ⊗ is, so that each ⊗ compiles little beside its own rows.
template <class Out, class Reduce>
class reducing_kernel : public kernel {
public:
    reducing_kernel(Reduce reduce, op_program program) : kernel(std::move(program)), reduce_(std::move(reduce)) {}

    void combine(std::span<const index> extents, void* into, std::span<const index> into_strides, const void* from,
                 std::span<const index> from_strides) const override {
        loop_nest nest(2);
        if (nest.add_box(extents, into_strides, from_strides)) {
            nest.sort_by(0);
            reduced_rows<Out, Reduce> rows(reduce_, static_cast<Out*>(into),
                                           row_operands_at(static_cast<const Out*>(from)), write_mode::combine);
            run_rows(nest, rows);
        }
    }

    [[nodiscard]] bool is_contraction() const override { return false; }

    [[nodiscard]] const Reduce& reduce() const { return reduce_; }

protected:
    /// Computes the block with these rows, or writes identities where there is nothing to aggregate.
    void run(const block_call& call, row_worker& rows) const {
        loop_nest nest(call);
        if (nest.output_empty) {
            return;
        }
        if (!nest.sum_empty) {
            nest.sort_by(0);
            run_rows(nest, rows);
        } else if (call.mode == write_mode::overwrite) {
            fill_output(nest, call.output.data, Reduce::template identity<Out>());
        }
    }

    Reduce reduce_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
