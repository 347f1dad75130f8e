#pragma once

#include <einparallel/kernel/rows.hpp>

#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/row_order.ipp>
#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/workspace.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Operands that are contiguous across the rows of a nest: blocks of them are transposed into a buffer, where they are
/// contiguous along the rows.
EINPARALLEL_INLINE class transposed_operands {
public:
    /// Points of a block along the row, and rows.
    static constexpr index width = 512;
    static constexpr index height = 32;

    transposed_operands(const loop_nest& nest, const row_order& order, const row_operands& operands) {
        constexpr index least = 256;  // points that are worth what a block takes to set up
        constexpr index shortest = 4;
        const bool sums_inside = !order.outer_contracted.empty() && nest.in_output(order.inner);
        if (order.tiled == row_order::none || sums_inside ||
            std::min(nest.extents[order.tiled], nest.extents[order.inner]) < shortest ||
            nest.extents[order.tiled] * nest.extents[order.inner] < least) {
            return;
        }
        std::size_t bytes = 0;
        for (std::size_t slot = 1; slot < nest.slots; ++slot) {
            const index along = nest.of(order.inner)[slot];
            if (along != 0 && along != 1 && nest.of(order.tiled)[slot] == 1) {
                const row_operand& from = operands[slot - 1];
                found_.push_back({slot, from, along, bytes});
                bytes += static_cast<std::size_t>(height * pitch(from.bytes) * from.bytes);
            }
        }
        memory_ = scratch_memory(bytes);
    }

    [[nodiscard]] bool empty() const { return found_.empty(); }

    /// Reads the block that begins where the sum of both offsets says.
    void read(const index* offsets, const index* starts, index rows, index columns) {
        for (const operand& each : found_) {
            const index bytes = each.from.bytes;
            copy_box(std::array{rows, columns}, static_cast<std::size_t>(bytes), memory_.data() + each.block,
                     std::array{pitch(bytes), index{1}},
                     each.from.data + (offsets[each.slot] + starts[each.slot]) * bytes,
                     std::array{index{1}, each.along});
        }
    }

    /// Points the slots of these operands, less that of the output, to row `number` of the block.
    void point_to(index number, const std::byte** starts) const {
        for (const operand& each : found_) {
            starts[each.slot - 1] = memory_.data() + each.block + number * pitch(each.from.bytes) * each.from.bytes;
        }
    }
    /// Rows of these operands move by one.
    void straighten(index* moves) const {
        for (const operand& each : found_) {
            moves[each.slot] = 1;
        }
    }

private:
    struct operand {
        std::size_t slot;
        row_operand from;
        index along;        ///< elements from one point of a row to the next
        std::size_t block;  ///< where its block begins
    };

    /// Elements from one row of a block to the next: a cache line more than a power of two of bytes.
    static constexpr index pitch(index bytes) { return width + 64 / bytes; }

    small_vector<operand, 4> found_;
    scratch_memory memory_{0};
};

/// The points of a nest in the order in which they are walked, or those of one piece of one loop.
class row_walk {
public:
    /// @pre no extent of the nest is 0; loops sorted by the output's stride; the nest outlives the walk
    EINPARALLEL_INLINE explicit row_walk(const loop_nest& nest)
        : nest_(&nest), order_(order_rows(nest)), own_(0, 0, 1) {
        for (const index extent : nest.extents) {
            points_ *= extent;
        }
        streams_ = points_ >= streamed_points && nest.all_in_output();
    }

    /// How many threads are worth starting, and the loop that they share: one of the output's, so that the order of
    /// summation stays what it is. Where no such loop has enough iterations, fewer threads.
    EINPARALLEL_INLINE [[nodiscard]] int threads() {
        const int most = points_ < shared_points ? 1 : available_threads();
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

    /// How many pieces long sums to few elements are made of, however many threads there are, so that their values do
    /// not depend on them; 1 where these are no such sums.
    EINPARALLEL_INLINE [[nodiscard]] index pieces() {
        index elements = 1;
        std::size_t longest = row_order::none;
        for (std::size_t loop = 0; loop < nest_->size(); ++loop) {
            if (nest_->in_output(loop)) {
                elements *= nest_->extents[loop];
            } else if (longest == row_order::none || nest_->extents[loop] > nest_->extents[longest]) {
                longest = loop;
            }
        }
        if (points_ < shared_points || elements > few_elements || longest == row_order::none) {
            return 1;
        }
        shared_ = longest;
        return std::min<index>(most_pieces, nest_->extents[longest]);
    }

    /// One of the pieces into which the shared loop falls.
    EINPARALLEL_INLINE [[nodiscard]] row_walk part(index number, index parts) const {
        row_walk made = *this;
        made.own_ = even_part(nest_->extents[shared_], number, parts);
        return made;
    }

    /// Computes every output element through `worker`, whose width is 64 at least.
    EINPARALLEL_INLINE void run(row_worker& worker) const;

private:
    static constexpr index shared_points = index{1} << 17;
    static constexpr index streamed_points = streamed_bytes / 8;
    static constexpr index most_pieces = 64;
    static constexpr index few_elements = row_worker::least_width / most_pieces;

    /// The first loop that has enough iterations for all threads; before one is found, the longest.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t longer(std::size_t found, std::size_t loop, int threads) const {
        if (loop == row_order::none || (found != row_order::none && nest_->extents[found] >= 4 * threads)) {
            return found;
        }
        return found == row_order::none || nest_->extents[loop] > nest_->extents[found] ? loop : found;
    }

    const loop_nest* nest_;
    row_order order_;
    std::size_t shared_ = row_order::none;  ///< none: all of the nest is walked
    even_part own_;
    index points_ = 1;  ///< of all of the nest
    bool streams_ = false;
};

EINPARALLEL_INLINE void row_worker::write_bytes(std::byte* into, const std::byte* from, std::size_t bytes) const {
    streams_ ? copy_functions::best(8, 0).stream(into, from, bytes) : copy_bytes(into, from, bytes);
}

EINPARALLEL_INLINE void run_walk(const row_walk& walk, row_worker& worker) {
    walk.run(worker);
}

EINPARALLEL_INLINE void row_walk::run(row_worker& worker) const {
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
    const row_operands& operands = worker.operands();
    worker.stream(streams_);
    transposed_operands blocks(nest, order_, operands);
    const small_vector<index, 12> still(nest.slots, 0);
    const bool loops = order_.inner != row_order::none;
    const bool tiled = order_.tiled != row_order::none;
    const index* const along = loops ? nest.of(order_.inner) : still.data();
    const index* const across = tiled ? nest.of(order_.tiled) : still.data();
    const index length = loops ? nest.extents[order_.inner] : 1;
    const index rows = tiled ? nest.extents[order_.tiled] : 1;
    const bool sums = loops && !nest.in_output(order_.inner);
    // A tile is walked along its short side: narrow rows keep the lines of a jumping operand in the first-level cache.
    // A row that is summed needs no more lanes than hide the latency of the sum. Long rows are for sums over what lies
    // far apart, where memory is read in pieces of a row.
    const index width = !blocks.empty()                   ? blocks.width
                        : tiled || sums                   ? 64
                        : order_.outer_contracted.empty() ? std::min<index>(worker.width(), 256)
                                                          : worker.width();
    const index height = blocks.empty() ? rows : blocks.height;
    small_vector<index, 12> moves(nest.slots, 0);
    std::copy(along, along + nest.slots, moves.begin());
    blocks.straighten(moves.data());
    const index* const steps = blocks.empty() ? along : moves.data();
    small_vector<index, 12> starts(nest.slots, 0);
    small_vector<const std::byte*, 8> places(operands.size(), nullptr);
    odometer output(nest, order_.outer_output);
    odometer around(nest, sums ? order_.outer_contracted : odometer::loop_list());  // of sums along the row
    odometer inside(nest, sums ? odometer::loop_list() : order_.outer_contracted);
    const auto start_at = [&](index position, index row) {
        for (std::size_t slot = 0; slot < nest.slots; ++slot) {
            starts[slot] = position * along[slot] + row * across[slot];
        }
    };
    do {
        bool first = true;
        do {
            for (index start = 0; start < length; start += width) {
                const index count = std::min(width, length - start);
                for (index row = 0; row < rows; ++row) {
                    start_at(start, row);
                    if (!blocks.empty() && row % height == 0) {
                        blocks.read(offsets.data(), starts.data(), std::min(height, rows - row), count);
                    }
                    do {
                        for (std::size_t slot = 1; slot < nest.slots; ++slot) {
                            const row_operand& operand = operands[slot - 1];
                            places[slot - 1] = operand.data + (offsets[slot] + starts[slot]) * operand.bytes;
                        }
                        if (!blocks.empty()) {
                            blocks.point_to(row % height, places.data());
                        }
                        worker.accumulate(places.data(), steps + 1, count, first);
                        report(nest.hook, count);
                        first = false;
                    } while (inside.advance(offsets.data()));
                    if (!sums) {
                        worker.write(offsets[0] + starts[0], along[0], count);
                        first = true;
                    }
                }
            }
        } while (around.advance(offsets.data()));
        if (sums) {
            worker.write_total(offsets[0], 0, 1, std::min(width, length));
        }
    } while (output.advance(offsets.data()));
    if (streams_) {
        end_streaming();
    }
}

/// Computes the sums of a nest with few outputs in pieces, which are accumulators of the worker: element o of piece p
/// is number p · elements + o. Then adds them up in order.
EINPARALLEL_INLINE void run_pieces(const loop_nest& nest, index pieces, row_worker& worker) {
    loop_nest dense = nest;
    index elements = 1;
    for (std::size_t loop = nest.size(); loop-- > 0;) {
        if (nest.in_output(loop)) {
            dense.of(loop)[0] = elements;
            elements *= nest.extents[loop];
        }
    }
    row_walk walk(dense);
    static_cast<void>(walk.pieces());
    on_threads(static_cast<int>(std::min<index>(available_threads(), pieces)), [&](index part, index parts) {
        const even_part own(pieces, part, parts);
        for (index piece = own.begin; piece < own.end; ++piece) {
            worker.run_own(walk.part(piece, pieces), piece * elements);
        }
    });
    odometer point = output_points(nest);
    small_vector<index, 12> offsets(nest.slots, 0);
    for (index element = 0; element < elements; ++element) {
        worker.write_total(offsets[0], element, elements, pieces);
        point.advance(offsets.data());
    }
}

EINPARALLEL_INLINE void run_rows(const loop_nest& nest, row_worker& worker) {
    row_walk walk(nest);
    if (const index pieces = walk.pieces(); pieces > 1) {
        run_pieces(nest, pieces, worker);
        return;
    }
    const int threads = walk.threads();
    if (threads == 1) {
        walk.run(worker);
        return;
    }
    on_threads(threads,
               [&](index part, index parts) { worker.run_own(walk.part(part, parts), row_worker::to_output); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
