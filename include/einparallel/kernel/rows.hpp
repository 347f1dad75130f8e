#pragma once
// Runs a loop nest row by row: the order of the loops is chosen here, once for all types and functors; what a row
// computes is the caller's.

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace einparallel::detail {

class row_walk;

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
    /// Runs the walk, which is a piece of the nest, on a worker of its own with the same operands. Pieces of the output
    /// go there; a piece of a sum (place >= 0) becomes accumulator number `place` of this one.
    virtual void run_own(const row_walk& walk, index place) = 0;
    static constexpr index to_output = -1;

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

/// The points of a nest in the order in which they are walked, or those of one piece of one loop.
class row_walk {
public:
    /// @pre no extent of the nest is 0; loops sorted by the output's stride; the nest outlives the walk
    explicit row_walk(const loop_nest& nest) : nest_(&nest), order_(order_rows(nest)), own_(0, 0, 1) {}

    /// How many threads are worth starting, and the loop that they share: one of the output's, so that the order of
    /// summation stays what it is. Where no such loop has enough iterations, fewer threads.
    [[nodiscard]] int threads() {
        index points = 1;
        for (const index extent : nest_->extents) {
            points *= extent;
        }
        const int most = points < shared_points ? 1 : available_threads();
        if (most == 1) {
            return 1;
        }
        for (const std::size_t loop : order_.outer_output) {
            shared_ = longer(shared_, loop, most);
        }
        if (order_.inner != row_order::none && nest_->in_output(order_.inner)) {
            shared_ = longer(shared_, order_.tiled, most);
            shared_ = longer(shared_, order_.inner, most);
        }
        if (shared_ == row_order::none) {
            return 1;
        }
        own_ = even_part(nest_->extents[shared_], 0, 1);
        return static_cast<int>(std::min<index>(most, nest_->extents[shared_]));
    }

    /// How many pieces a long sum to a single element is made of, however many threads there are, so that its value
    /// does not depend on them; 1 where this is no such sum.
    [[nodiscard]] index pieces() {
        index points = 1;
        std::size_t longest = row_order::none;
        for (std::size_t loop = 0; loop < nest_->size(); ++loop) {
            if (nest_->in_output(loop)) {
                return 1;
            }
            points *= nest_->extents[loop];
            longest = longest == row_order::none || nest_->extents[loop] > nest_->extents[longest] ? loop : longest;
        }
        if (points < shared_points) {
            return 1;
        }
        shared_ = longest;
        return std::min<index>(most_pieces, nest_->extents[longest]);
    }

    /// One of the pieces into which the shared loop falls.
    [[nodiscard]] row_walk part(index number, index parts) const {
        row_walk made = *this;
        made.own_ = even_part(nest_->extents[shared_], number, parts);
        return made;
    }

    /// Computes every output element through `worker`, whose width is 64 at least.
    void run(row_worker& worker) const;

private:
    static constexpr index shared_points = index{1} << 17;
    static constexpr index most_pieces = 64;

    /// The first loop that has enough iterations for all threads; before one is found, the longest.
    [[nodiscard]] std::size_t longer(std::size_t found, std::size_t loop, int threads) const {
        if (loop == row_order::none || (found != row_order::none && nest_->extents[found] >= 4 * threads)) {
            return found;
        }
        return found == row_order::none || nest_->extents[loop] > nest_->extents[found] ? loop : found;
    }

    const loop_nest* nest_;
    row_order order_;
    std::size_t shared_ = row_order::none;  ///< none: all of the nest is walked
    even_part own_;
};

inline void row_walk::run(row_worker& worker) const {
    const row_order& order = order_;
    loop_nest piece;
    small_vector<index, 12> offsets(nest_->slots, 0);
    if (shared_ != row_order::none) {
        piece = *nest_;
        piece.extents[shared_] = own_.end - own_.begin;
        for (std::size_t slot = 0; slot < nest_->slots; ++slot) {
            offsets[slot] = own_.begin * nest_->of(shared_)[slot];
        }
    }
    const loop_nest& nest = shared_ != row_order::none ? piece : *nest_;
    small_vector<index, 12> at(nest.slots, 0);
    const small_vector<index, 12> still(nest.slots, 0);
    const bool loops = order.inner != row_order::none;
    const index* moves = loops ? nest.of(order.inner) : still.data();
    const index length = loops ? nest.extents[order.inner] : 1;
    const bool contracted_row = loops && !nest.in_output(order.inner);
    const bool tiled = order.tiled != row_order::none;
    const index tile_rows = tiled ? nest.extents[order.tiled] : 1;
    // A tile is walked along its short side: narrow rows keep the lines of a jumping operand in the first-level cache.
    // A row that is summed needs no more lanes than hide the latency of the sum. Long rows are for sums over what lies
    // far apart, where memory is read in pieces of a row.
    const index width = tiled || contracted_row          ? 64
                        : order.outer_contracted.empty() ? std::min<index>(worker.width(), 256)
                                                         : worker.width();

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

/// Computes every output element of the nest through `worker`, on several threads where that is worth it.
/// @pre no extent of the nest is 0; loops sorted by the output's stride
inline void run_rows(const loop_nest& nest, row_worker& worker) {
    row_walk walk(nest);
    const index pieces = walk.pieces();
    const int threads = pieces > 1 ? static_cast<int>(std::min<index>(available_threads(), pieces)) : walk.threads();
    if (pieces == 1 && threads == 1) {
        walk.run(worker);
        return;
    }
    on_threads(threads, [&](index part, index parts) {
        if (pieces == 1) {
            worker.run_own(walk.part(part, parts), row_worker::to_output);
            return;
        }
        const even_part own(pieces, part, parts);
        for (index piece = own.begin; piece < own.end; ++piece) {
            worker.run_own(walk.part(piece, pieces), piece);
        }
    });
    if (pieces > 1) {
        worker.write_total(0, pieces);
    }
}

}  // namespace einparallel::detail
