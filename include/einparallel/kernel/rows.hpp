#pragma once
// Runs a loop nest row by row: the order of the loops is chosen here, once for all types and functors; what a row
// computes is the caller's.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/small_vector.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace einparallel::detail {

/// The typed half of a nest: accumulates rows of ⊗ into a private row and writes it. A row is up to `width` points of
/// the innermost loop, few enough for the first-level cache; `moves` holds that loop's stride in every slot.
class row_worker {
public:
    explicit row_worker(index width) : width_(width) {}
    row_worker(const row_worker&) = delete;
    row_worker& operator=(const row_worker&) = delete;

    /// accumulators[i] = ⊗ at point i where `first`, accumulators[i] ⊕= ⊗ otherwise; `offsets` are those of point 0.
    virtual void accumulate(const index* offsets, const index* moves, index count, bool first) = 0;
    /// Writes (or combines) the accumulators into the output, from `offset` on.
    virtual void write(index offset, index move, index count) = 0;
    /// Writes (or combines) ⊕ of all `count` accumulators into the output element at `offset`.
    virtual void write_total(index offset, index count) = 0;

    [[nodiscard]] index width() const { return width_; }

protected:
    ~row_worker() = default;

private:
    index width_;
};

/// The loops of a nest in the order in which they are walked.
struct row_order {
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    std::size_t inner = none;                        ///< the row itself; none where the nest has no loop
    std::size_t tiled = none;                        ///< an output loop walked inside a chunk of the row, for the cache
    small_vector<std::size_t, 12> outer_output;      ///< outermost first
    small_vector<std::size_t, 12> outer_contracted;  ///< outermost first, inside the output's
};

/// What a point costs when `loop` is the row, in loads of contiguous elements; only comparisons matter.
inline double row_cost(const loop_nest& nest, std::size_t loop) {
    const index* moves = nest.of(loop);
    double cost = 0;
    for (std::size_t slot = 0; slot < nest.slots; ++slot) {
        const bool unit = moves[slot] == 1;
        cost += moves[slot] == 0 ? 0.25 : unit ? 0.5 : 2.0;
    }
    return cost + 8.0 / static_cast<double>(std::min<index>(nest.extents[loop], 256));
}

/// @pre the loops of the nest are sorted by the output's stride
inline row_order order_rows(const loop_nest& nest) {
    row_order order;
    double cheapest = 0;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        const double cost = row_cost(nest, loop);
        if (order.inner == row_order::none || cost <= cheapest) {
            order.inner = loop;
            cheapest = cost;
        }
    }
    if (order.inner == row_order::none) {
        return order;
    }
    // Where the row jumps through an operand, each element of it brings a cache line of which the next point along that
    // operand's own contiguous loop wants its share: walk that loop next.
    std::size_t neighbour = row_order::none;
    for (std::size_t slot = 0; slot < nest.slots && neighbour == row_order::none; ++slot) {
        if (nest.of(order.inner)[slot] != 0 && nest.of(order.inner)[slot] != 1) {
            for (std::size_t loop = 0; loop < nest.size(); ++loop) {
                if (loop != order.inner && nest.of(loop)[slot] == 1) {
                    neighbour = loop;
                }
            }
        }
    }
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        if (loop != order.inner && loop != neighbour) {
            (nest.in_output(loop) ? order.outer_output : order.outer_contracted).push_back(loop);
        }
    }
    if (neighbour != row_order::none) {
        if (!nest.in_output(neighbour)) {
            order.outer_contracted.push_back(neighbour);
        } else if (nest.in_output(order.inner)) {
            order.tiled = neighbour;
        } else {
            order.outer_output.push_back(neighbour);
        }
    }
    return order;
}

/// Computes every output element of the nest through `worker`, whose width is 64 at least.
/// @pre no extent of the nest is 0; loops sorted by the output's stride
inline void run_rows(const loop_nest& nest, row_worker& worker) {
    const row_order order = order_rows(nest);
    small_vector<index, 12> offsets(nest.slots, 0);
    small_vector<index, 12> at(nest.slots, 0);
    const small_vector<index, 12> still(nest.slots, 0);
    const bool loops = order.inner != row_order::none;
    const index* moves = loops ? nest.of(order.inner) : still.data();
    const index length = loops ? nest.extents[order.inner] : 1;
    const bool contracted_row = loops && !nest.in_output(order.inner);
    const bool tiled = order.tiled != row_order::none;
    const index tile_rows = tiled ? nest.extents[order.tiled] : 1;
    // A tile is walked along its short side: narrow rows keep the lines of a jumping operand in the first-level cache.
    // A row that is summed needs no more lanes than hide the latency of the sum.
    const index width = tiled || contracted_row ? 64 : worker.width();

    odometer output(nest, order.outer_output);
    odometer contracted(nest, order.outer_contracted);
    const auto move_to = [&](index start) {
        for (std::size_t slot = 0; slot < nest.slots; ++slot) {
            at[slot] = offsets[slot] + start * moves[slot];
        }
    };
    const auto accumulate_row = [&](index start, index count) {
        bool first = true;
        do {
            move_to(start);
            worker.accumulate(at.data(), moves, count, first);
            first = false;
        } while (contracted.advance(offsets.data()));
    };
    do {
        if (contracted_row) {
            bool first = true;
            do {
                for (index start = 0; start < length; start += width) {
                    move_to(start);
                    worker.accumulate(at.data(), moves, std::min(width, length - start), first);
                    first = false;
                }
            } while (contracted.advance(offsets.data()));
            worker.write_total(offsets[0], std::min(width, length));
            continue;
        }
        for (index start = 0; start < length; start += width) {
            const index count = std::min(width, length - start);
            for (index row = 0; row < tile_rows; ++row) {
                accumulate_row(start, count);
                worker.write(offsets[0] + start * moves[0], moves[0], count);
                if (tiled) {
                    const index* next = nest.of(order.tiled);
                    const index steps = row + 1 < tile_rows ? 1 : 1 - tile_rows;
                    for (std::size_t slot = 0; slot < nest.slots; ++slot) {
                        offsets[slot] += steps * next[slot];
                    }
                }
            }
        }
    } while (output.advance(offsets.data()));
}

}  // namespace einparallel::detail
