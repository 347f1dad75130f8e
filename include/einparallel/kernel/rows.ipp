#pragma once

#include <einparallel/kernel/rows.hpp>

#include <einparallel/kernel/gathered_rows.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/workspace.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// The points of a nest in the order in which they are walked, or those of one share of one loop.
class row_walk {
public:
    /// @param shared  the loop of which there are shares
    /// @pre no extent of the nest is 0; loops sorted by the output's stride; the nest outlives the walk
    EINPARALLEL_INLINE row_walk(const loop_nest& nest, const row_worker& worker, std::size_t shared = row_order::none)
        : nest_(&nest),
          order_(order_rows(nest, worker.folds)),
          shared_(shared),
          own_(0, 0, 1),
          points_(element_count(nest.extents)) {
        streams_ = points_ >= streamed_points && nest.all_in_output();
    }

    /// How many threads are worth starting. Chooses the loop that they share, one of the output, so that the order of
    /// summation stays the same: the first with enough iterations for all threads, else the longest.
    EINPARALLEL_INLINE int threads() {
        const int most = points_ < shared_points ? 1 : available_threads();
        if (most == 1) {
            return 1;
        }
        for (std::size_t loop = 0; loop < nest_->size(); ++loop) {
            const bool longer = shared_ == row_order::none ||
                                (nest_->extents[shared_] < 4 * most && nest_->extents[loop] > nest_->extents[shared_]);
            if (nest_->in_output(loop) && longer) {
                shared_ = loop;
            }
        }
        if (shared_ == row_order::none) {
            return 1;
        }
        own_ = even_share(nest_->extents[shared_], 0, 1);
        return int(std::min<index>(most, nest_->extents[shared_]));
    }

    /// Into how many splits a long sum to few elements is divided; 1 for other sums. It does not depend on the number
    /// of threads, so that results do not depend on it either. Pieces of rows stay long.
    EINPARALLEL_INLINE index splits() {
        constexpr index shortest_piece = 256;
        std::size_t longest = row_order::none;
        index elements = 1;
        index most = 1;
        for (std::size_t loop = 0; loop < nest_->size(); ++loop) {
            const index extent = nest_->extents[loop];
            const index pieces = loop == order_.inner ? extent / shortest_piece : extent;
            if (nest_->in_output(loop)) {
                elements *= extent;
            } else if (pieces > most) {
                longest = loop;
                most = pieces;
            }
        }
        if (points_ < shared_points || elements > few_elements || longest == row_order::none) {
            return 1;
        }
        shared_ = longest;
        return std::min(most, most_splits);
    }
    [[nodiscard]] std::size_t shared() const { return shared_; }

    /// The walk over share `number` of the shared loop, which is divided into `shares` of them.
    EINPARALLEL_INLINE row_walk share(index number, index shares) const {
        row_walk made = *this;
        made.own_ = even_share(nest_->extents[shared_], number, shares);
        return made;
    }

    /// Computes every output element through `worker`, whose width is 64 at least.
    EINPARALLEL_INLINE void run(row_worker& worker) const;

private:
    static constexpr index shared_points = index{1} << 17;
    static constexpr index streamed_points = streamed_bytes / 8;
    static constexpr index copied_together = 4096;  ///< fewer points stay in the first-level cache
    static constexpr index most_splits = 64;
    static constexpr index few_elements = row_worker::least_width / most_splits;

    const loop_nest* nest_;
    row_order order_;
    std::size_t shared_ = row_order::none;  ///< none: all of the nest is walked
    even_share own_;
    index points_;  ///< points of the whole nest
    bool streams_ = false;
};

EINPARALLEL_INLINE void row_worker::write_row(index number, index offset, index move, index count) const {
    std::byte* const into = output_at(offset);
    const std::byte* const row = result(number);
    if (mode_ == write_mode::combine && move == 1) {
        reduce(into, row, count);
    } else if (mode_ == write_mode::combine) {
        alignas(64) std::byte there[largest_row];
        copy_rows(reduction_.bytes, {there}, {into, move}, count);
        reduce(there, row, count);
        copy_rows(reduction_.bytes, {into, move}, {there}, count);
    } else if (move != 1) {
        copy_rows(reduction_.bytes, {into, move}, {row}, count);
    } else {
        const auto bytes = std::size_t(count * reduction_.bytes);
        streams_ ? copy_functions::best(8, 0).stream(into, row, bytes) : copy_bytes(into, row, bytes);
    }
}

EINPARALLEL_INLINE void row_worker::fold(index elements, index count) {
    constexpr index rows = 8;
    if (elements == 1 && reduction_.fold != nullptr && count >= rows * rows && count % rows == 0) {
        fold_rows(count / rows, rows);
        count = rows;
    }
    while (count > 1) {
        const index half = (count + 1) / 2;
        reduce(results_, result(half * elements), (count - half) * elements);
        count = half;
    }
}

EINPARALLEL_INLINE void run_walk(const row_walk& walk, row_worker& worker) {
    walk.run(worker);
}

EINPARALLEL_INLINE void row_walk::run(row_worker& worker) const {
    loop_nest own;
    const std::size_t slots = nest_->slots;
    small_vector<index, 36> numbers(3 * slots, 0);
    index* const offsets = numbers.data();
    index* const starts = offsets + slots;
    const index* const still = starts + slots;
    if (shared_ != row_order::none) {
        own = *nest_;
        own.extents[shared_] = own_.end - own_.begin;
        for (std::size_t slot = 0; slot < slots; ++slot) {
            offsets[slot] = own_.begin * nest_->of(shared_)[slot];
        }
    }
    const loop_nest& nest = shared_ != row_order::none ? own : *nest_;
    const row_operands& operands = worker.operands();
    const bool streams = worker.stream(streams_);
    const bool tiled = order_.tiled != row_order::none;
    const auto moves_of = [&](std::size_t loop) { return loop != row_order::none ? nest.of(loop) : still; };
    const index* const along = moves_of(order_.inner);
    const index* const beyond = moves_of(order_.second);
    const index* const across = moves_of(order_.tiled);
    const auto extent_of = [&](std::size_t loop) { return loop != row_order::none ? nest.extents[loop] : 1; };
    const index inner = extent_of(order_.inner);
    const index length = inner * extent_of(order_.second);
    const index rows = extent_of(order_.tiled);
    const bool continued = order_.second != row_order::none;
    const auto in_line = [&](std::size_t slot) { return !continued || beyond[slot] == inner * along[slot]; };
    const index elements = order_.inner != row_order::none && nest.in_output(order_.inner) ? inner : 1;  // of sums
    const bool folds = order_.folds;
    const bool sums = !folds && ((order_.inner != row_order::none && !nest.in_output(order_.inner)) ||
                                 (continued && !nest.in_output(order_.second)));
    const bool straight = along[0] == 1 && in_line(0) && !streams && !sums && order_.outer_contracted.empty();
    const std::size_t next = sums ? row_order::none : order_.next();
    const auto lies_beside = [&](std::size_t operand) {
        const index move = along[operand + 1];
        return points_ >= copied_together && operands[operand].counts_from < 0 && move != 0 && move != 1 &&
               !continued && next != row_order::none && nest.of(next)[operand + 1] == 1;
    };
    index group = rows;  // of the tile's rows, that are walked together
    for (std::size_t operand = 0; operand < operands.size(); ++operand) {
        if (tiled && lies_beside(operand)) {
            group = std::min(group, gathered_together(operands[operand].bytes()));
        }
    }
    // A tile from which nothing is copied together is walked along its short side: narrow rows keep the lines of a
    // jumping operand in the first-level cache. A row that is summed needs no more lanes than hide the latency of the
    // sum. Long rows are for sums over what lies far apart, where memory is read in runs as long as a row.
    const index most = tiled && group == rows            ? 64
                       : tiled                           ? std::min(worker.mapped_row(), most_points_beside)
                       : elements > 1 && sums            ? std::min<index>(worker.width(), 256)
                       : sums                            ? std::min(worker.width(), worker.summed_width)
                       : folds                           ? std::min(worker.width(), row_worker::least_width)
                       : order_.narrow                   ? std::min(worker.mapped_row(), most_points_beside)
                       : order_.outer_contracted.empty() ? worker.mapped_row()
                                                         : worker.width();
    // The number of stretches does not depend on a thread's own share, so that the order of summation is the same.
    const index width = order_.folds_operand ? std::min<index>(most, 256) * inner
                        : continued          ? most / nest_->extents[order_.inner] * inner
                                             : most;
    small_vector<const std::byte*, 8> from(operands.size(), nullptr);
    small_vector<index, 8> moves(operands.size(), 1);
    gathered_rows gathered(operands, std::min(width, length));
    for (std::size_t operand = 0; operand < operands.size(); ++operand) {
        const index move = along[operand + 1];
        const bool counted = operands[operand].counts_from >= 0;
        const bool beside = lies_beside(operand);
        const bool as_it_is =
            order_.folds_operand ||
            (in_line(operand + 1) && !beside &&
             ((move == 1 && !counted) || ((counted ? worker.counts : worker.reads_any_move) && !nest.all_in_output())));
        moves[operand] = as_it_is ? move : counted ? row_worker::in_memory : 1;
        gathered.use(operand, !as_it_is, beside ? nest.extents[next] : 1);
    }
    const index pieces = (length + width - 1) / width;
    const index groups = (rows + group - 1) / group;
    odometer output(nest, order_.outer_output);
    odometer contracted(nest, order_.outer_contracted);  // inside a row, or around sums along it
    const auto start_at = [&](index position, index row) {
        for (std::size_t slot = 0; slot < slots; ++slot) {
            starts[slot] = (continued ? position / inner * beyond[slot] : position * along[slot]) + row * across[slot];
        }
    };
    do {
        bool first = true;
        do {
            for (index piece = 0; piece < pieces * groups; ++piece) {
                const index start = piece % pieces * width;
                const index first_row = piece / pieces * group;
                const index end_row = std::min(first_row + group, rows);
                const index count = std::min(width, length - start);
                const index stretch = continued ? inner : count;
                const index stretches = continued ? count / inner : 1;
                for (index row = first_row; row < end_row; ++row) {
                    start_at(start, row);
                    worker.straight(straight, offsets[0] + starts[0]);
                    do {
                        for (std::size_t slot = 1; slot < slots; ++slot) {
                            from[slot - 1] = gathered.read(slot - 1, offsets[slot] + starts[slot], along[slot], stretch,
                                                           beyond[slot], stretches,
                                                           next == order_.tiled ? end_row - row : contracted.left());
                        }
                        if (order_.folds_operand) {
                            worker.fold_operands(from.data(), along, beyond, inner, stretches);
                        } else {
                            worker.accumulate(from.data(), moves.data(), count, first);
                        }
                        report(nest.hook, count);
                        first = false;
                    } while (!sums && contracted.advance(offsets));
                    if (folds) {
                        order_.folds_operand ? void() : worker.fold_rows(inner, stretches);
                        worker.write(0, offsets[0] + starts[0], beyond[0], stretches);
                        first = true;
                        continue;
                    }
                    const bool whole = sums || in_line(0);
                    for (index number = 0; !sums && number < (whole ? 1 : stretches); ++number) {
                        worker.write(number * stretch, offsets[0] + starts[0] + number * beyond[0], along[0],
                                     whole ? count : stretch);
                        first = true;
                    }
                }
            }
        } while (sums && contracted.advance(offsets));
        if (sums) {
            worker.fold(elements, worker.is_folded ? 1 : std::min(width, length) / elements);
            worker.write(0, offsets[0], along[0], elements);
        }
    } while (output.advance(offsets));
    if (streams) {
        end_streaming();
    }
}

/// Computes the sums of a nest with few outputs in splits of the shared loop, then adds these up by halves. Element o
/// of split s is result number s · elements + o of the worker.
EINPARALLEL_INLINE void run_splits(const loop_nest& nest, std::size_t shared, index splits, row_worker& worker) {
    loop_nest dense = nest;
    index elements = 1;
    for (std::size_t loop = nest.size(); loop-- > 0;) {
        if (nest.in_output(loop)) {
            dense.of(loop)[0] = elements;
            elements *= nest.extents[loop];
        }
    }
    const row_walk walk(dense, worker, shared);
    on_threads(int(std::min<index>(available_threads(), splits)), [&](index share, index shares) {
        const even_share own(splits, share, shares);
        for (index split = own.begin; split < own.end; ++split) {
            worker.run_own(walk.share(split, splits), split * elements);
        }
    });
    worker.fold(elements, splits);
    const odometer::loop_list loops = output_loops(nest);
    odometer point(nest, loops);
    small_vector<index, 12> offsets(nest.slots, 0);
    for (index element = 0; element < elements; ++element) {
        worker.write(element, offsets[0], 1, 1);
        point.advance(offsets.data());
    }
}

EINPARALLEL_INLINE void run_rows(const loop_nest& nest, row_worker& worker) {
    row_walk walk(nest, worker);
    if (const index splits = walk.splits(); splits > 1) {
        run_splits(nest, walk.shared(), splits, worker);
        return;
    }
    const int threads = walk.threads();
    if (threads == 1) {
        walk.run(worker);
        return;
    }
    on_threads(threads,
               [&](index share, index shares) { worker.run_own(walk.share(share, shares), row_worker::to_output); });
}

EINPARALLEL_INLINE bool has_points(const loop_nest& nest, const block_call& call, const row_reduction& reduction) {
    if (!nest.output_empty && nest.sum_empty && call.mode == write_mode::overwrite) {
        const odometer::loop_list loops = output_loops(nest);
        odometer point(nest, loops);
        small_vector<index, 12> offsets(nest.slots, 0);
        do {
            copy_rows(reduction.bytes, {static_cast<std::byte*>(call.output.data) + offsets[0] * reduction.bytes},
                      {reduction.identity.data()}, 1);
        } while (point.advance(offsets.data()));
    }
    return !nest.output_empty && !nest.sum_empty;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
