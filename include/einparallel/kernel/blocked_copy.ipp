#pragma once
// Copies between tensors of different orders of dimensions, in blocks of two combined indices: one that runs as the
// output lies in memory, and one that runs as the input does.

#include <einparallel/kernel/copy_functions.hpp>
#include <einparallel/kernel/copy_loops.ipp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/placed_block.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/vector_copy.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace einparallel::EINPARALLEL_DETAIL {

/// A copy of a loop nest, taken apart into outer loops, columns and rows.
class blocked_copy {
public:
    /// @pre every loop moves slot 0, no extent is 0, there is a loop
    blocked_copy(const loop_nest& nest, std::size_t element_bytes, void* into, const void* from)
        : element_(static_cast<index>(element_bytes)),
          into_(static_cast<std::byte*>(into)),
          from_(static_cast<const std::byte*>(from)) {
        copy_loops loops;
        for (std::size_t each = 0; each < nest.size(); ++each) {
            const index* const moves = nest.of(each);
            copy_loop made{nest.extents[each], moves[0] * element_, moves[1] * element_};
            total_ *= made.extent;
            if (made.into < 0) {
                into_ += (made.extent - 1) * made.into;
                from_ += (made.extent - 1) * made.from;
                made.into = -made.into;
                made.from = -made.from;
            }
            loops.add(made);
        }
        total_ *= element_;
        for (std::size_t each = 0; each < loops.size(); ++each) {
            if (loops[each].into == element_ && loops[each].from == element_) {  // elements of one piece
                element_ *= loops[each].extent;
                loops.remove(each);
                break;
            }
        }
        loops.sort(&copy_loop::into);
        if (element_ < long_run) {
            take_apart(loops);
        } else {
            outer_ = loops;
        }
        choose_blocks();
    }

    /// Whether blocks are for this copy: they turn elements in vectors, or move runs of them.
    [[nodiscard]] bool pays() const { return turns_ || element_ > 16 || (element_ == 16 && streams_); }

    void run() const {
        const int threads = total_ < threaded_bytes ? 1 : available_threads();
        const index units =
            element_ < long_run ? outer_.count() * column_blocks_ * row_blocks_ : outer_.count() * pieces_;
        on_threads(static_cast<int>(std::min<index>(threads, units)), [&](index part, index parts) {
            const even_part own(units, part, parts);
            if (element_ < long_run) {
                copy_blocks(own);
            } else {
                copy_runs(own);
            }
            if (streams_) {
                end_streaming();
            }
        });
    }

private:
    static constexpr index long_run = 2048;  // bytes
    static constexpr index piece = 65536;    // bytes of a long run that one thread copies at a time
    static constexpr index longest = placed_block::longest;

    /// Columns take loops as the output has them, rows as the input has them, in turn, until both are long enough for
    /// whole cache lines and for what a block costs; a loop that the other side has ends a side.
    void take_apart(const copy_loops& by_output) {
        small_vector<std::uint8_t, 12> taken(by_output.size(), 0);
        const auto next_row = [&] {  // the smallest stride of the input that is left
            std::size_t found = by_output.size();
            for (std::size_t each = 0; each < by_output.size(); ++each) {
                const index stride = std::abs(by_output[each].from);
                if (taken[each] != 2 && stride != 0 &&
                    (found == by_output.size() || stride < std::abs(by_output[found].from))) {
                    found = each;
                }
            }
            return found;
        };
        std::size_t column = 0;
        bool columns_grow = true;
        bool rows_grow = true;
        while (columns_grow || rows_grow) {
            const index columns_length = columns_.count() * element_;
            const index rows_length = rows_.count() * element_;
            columns_grow = columns_grow && columns_length < 8192 && column < by_output.size() && taken[column] == 0;
            if (columns_grow && (!rows_grow || columns_length <= 2 * rows_length)) {
                columns_.add(by_output[column]);
                taken[column++] = 1;
                continue;
            }
            const index enough = columns_grow ? 4096 : 2048;
            const std::size_t row = rows_grow && rows_length < enough ? next_row() : by_output.size();
            rows_grow = row < by_output.size() && taken[row] == 0;
            if (rows_grow) {
                rows_.add(by_output[row]);
                taken[row] = 2;
            }
        }
        for (std::size_t each = 0; each < by_output.size(); ++each) {
            if (taken[each] == 0) {
                outer_.add(by_output[each]);
            }
        }
    }

    void choose_blocks() {
        index run = element_;  // bytes of the output that are written side by side
        std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(into_) | reinterpret_cast<std::uintptr_t>(from_);
        index row_bits = 0;
        const auto look = [&](const copy_loops& loops, bool are_rows) {
            for (const copy_loop& each : loops) {
                bits |= static_cast<std::uintptr_t>(each.into) | static_cast<std::uintptr_t>(each.from);
                row_bits |= are_rows ? each.into : 0;
            }
        };
        look(outer_, false);
        look(columns_, false);
        look(rows_, true);
        pieces_ = (element_ + piece - 1) / piece;
        columns_run_ = columns_.run(&copy_loop::into, element_);
        rows_run_ = rows_.run(&copy_loop::from, element_);
        turns_ = bits % static_cast<std::uintptr_t>(element_) == 0 && (element_ == 4 || element_ == 8) &&
                 std::min(columns_run_, rows_run_) * element_ >= 32;
        functions_ = copy_functions::best(element_, turns_);
        run *= columns_run_;
        if (columns_run_ == columns_.count() && !rows_.empty() && rows_[0].into == run) {
            run *= rows_[0].extent;  // rows follow one another
        }
        streams_ = total_ >= streamed_bytes && run >= 512;
        // Memory spreads addresses over its channels by some of their bits: lines at distances of many powers of two
        // are written a kibibyte at a time.
        buffered_ = streams_ && !(turns_ && row_bits % 64 == 0 && row_bits % 1024 != 0);
        const index line = std::max<index>(1, 64 / element_);
        const index columns = columns_.count();
        const index rows = rows_.count();
        const index wide = element_ > 16 ? 4096 : buffered_ ? 1024 : 512;
        column_block_ = part_of(columns, wide / element_, line);
        row_block_ = part_of(
            rows, std::max<index>(512 / element_, (buffered_ ? 131072 : 65536) / (column_block_ * element_)), line);
        std::uintptr_t starts = reinterpret_cast<std::uintptr_t>(into_);
        for (const copy_loop& each : outer_) {
            starts |= static_cast<std::uintptr_t>(each.into);
        }
        shifts_ = streams_ && columns > column_block_ && starts % 64 != 0;
        column_blocks_ = (columns + (shifts_ ? line - 1 : 0) + column_block_ - 1) / column_block_;
        row_blocks_ = (rows + row_block_ - 1) / row_block_;
    }

    /// A block's share of so many positions: near the wish, whole lines, all but the last alike.
    static index part_of(index count, index wish, index line) {
        const index most = std::clamp<index>(wish, 1, longest);
        const index parts = (count + most - 1) / most;
        const index each = (count + parts - 1) / parts;
        return std::min<index>((each + line - 1) / line * line, longest);
    }

    /// Long runs, in pieces.
    void copy_runs(even_part own) const {
        for (index unit = own.begin; unit < own.end; ++unit) {
            index into = 0;
            index from = 0;
            outer_.point(unit / pieces_, into, from);
            const index start = unit % pieces_ * piece;
            const auto bytes = static_cast<std::size_t>(std::min(piece, element_ - start));
            if (streams_) {
                functions_.stream(into_ + into + start, from_ + from + start, bytes);
            } else {
                copy_bytes(into_ + into + start, from_ + from + start, bytes);
            }
        }
    }

    /// Makes `placed` block number `unit`; cheap where columns or rows are those of the block that it was before.
    void place(placed_block& placed, index unit) const {
        index into = 0;
        index from = 0;
        outer_.point(unit / (column_blocks_ * row_blocks_), into, from);
        placed.into = into_ + into;
        placed.from = from_ + from;
        const index past =
            shifts_ ? static_cast<index>(reinterpret_cast<std::uintptr_t>(placed.into) % 64) / element_ : 0;
        const index column = unit / row_blocks_ % column_blocks_ * column_block_ - past;
        const index row = unit % row_blocks_ * row_block_;
        const bool other = column != placed.column || row != placed.row;
        if (column != placed.column) {
            placed.column = column;
            const index begin = std::max<index>(column, 0);
            const index count = std::min(column + column_block_, columns_.count()) - begin;
            placed.block.columns = {placed.tables[0], placed.tables[1], count, columns_run_, begin % columns_run_};
            columns_.walk(begin, count, placed.tables[0], placed.tables[1]);
        }
        if (row != placed.row) {
            const index count = std::min(row_block_, rows_.count() - row);
            // Of a single loop all tables are alike but for where they begin.
            const bool single = rows_.size() == 1;
            if (!single || placed.row == placed_block::none) {
                rows_.walk(single ? 0 : row, single ? row_block_ : count, placed.tables[2], placed.tables[3]);
            }
            placed.row = row;
            placed.block.rows = {placed.tables[2], placed.tables[3], count, rows_run_, row % rows_run_};
        }
        if (rows_.size() == 1) {
            placed.into += row * rows_[0].into;
            placed.from += row * rows_[0].from;
        }
        placed.block.streams = streams_ && !buffered_;
        if (buffered_ && other) {
            placed.lay_in_buffer(element_);
        }
    }

    void copy_blocks(even_part own) const {
        const index longest_row = (column_block_ * element_ / 64 + 3) * 64;
        const scratch_lease<scratch_purpose::packing> lease(
            buffered_ ? static_cast<std::size_t>(longest_row * row_block_) : 0);
        index tight[longest];
        for (index column = 0; buffered_ && column < longest; ++column) {
            tight[column] = column * element_;
        }
        placed_block placed[2];
        place(placed[own.begin % 2], own.begin);
        for (index unit = own.begin; unit < own.end; ++unit) {
            placed_block& now = placed[unit % 2];
            now.block.next = 0;
            if (unit + 1 < own.end) {
                placed_block& next = placed[(unit + 1) % 2];
                place(next, unit + 1);
                now.block.next = next.first() - now.first();
            }
            if (buffered_) {
                through_buffer(now, tight, lease.data());
            } else {
                copy_block(now.into, now.from, now.block);
            }
        }
    }

    void copy_block(std::byte* into, const std::byte* from, const turned_block& block) const {
        if (functions_.turn != nullptr) {
            functions_.turn(into, from, block);
        } else {
            copy_short_runs(into, from, block);
        }
    }

    /// A few runs at a time, a line of each in turn, so that they are fetched side by side.
    void copy_short_runs(std::byte* into, const std::byte* from, const turned_block& block) const {
        const block_side& columns = block.columns;
        const index together = streams_ ? 8 : 1;
        for (index first = 0; first < columns.count; first += together) {
            const index last = std::min(first + together, columns.count);
            for (index row = 0; row < block.rows.count; ++row) {
                std::byte* const to = into + block.rows.into[row];
                const std::byte* const source = from + block.rows.from[row];
                index at = 0;
                for (; streams_ && at + 64 <= element_; at += 64) {
                    for (index column = first; column < last; ++column) {
                        copy_bytes(to + columns.into[column] + at, source + columns.from[column] + at, 64);
                    }
                }
                for (index column = first; column < last && at < element_; ++column) {
                    copy_bytes(to + columns.into[column] + at, source + columns.from[column] + at,
                               static_cast<std::size_t>(element_ - at));
                }
            }
        }
    }

    /// Makes the block in a buffer, as the output has it, and streams it out from there: lines whole wherever a row of
    /// the output begins. `tight` are the places of elements side by side.
    void through_buffer(const placed_block& placed, const index* tight, std::byte* buffer) const {
        const block_side& columns = placed.block.columns;
        const block_side& rows = placed.block.rows;
        if (columns.count <= 0) {
            return;
        }
        const index length = columns.count * element_;
        turned_block inside = placed.block;
        inside.columns.into = tight;
        inside.columns.run = columns.count;
        inside.columns.phase = 0;
        inside.rows.into = placed.buffer_rows;
        copy_block(buffer, placed.from, inside);
        for (index row = 0; row < rows.count;) {
            index end = row + 1;
            while (end < rows.count && placed.follows(end, length)) {
                ++end;
            }
            for (index column = 0; column < columns.count;) {
                const index count = columns.together(column);
                functions_.stream(placed.into + rows.into[row] + columns.into[column],
                                  buffer + placed.buffer_rows[row] + column * element_,
                                  static_cast<std::size_t>((end - row) * count * element_));
                column += count;
            }
            row = end;
        }
    }

    index element_;
    std::byte* into_;
    const std::byte* from_;
    index total_ = 1;  ///< bytes
    copy_loops outer_;
    copy_loops columns_;
    copy_loops rows_;
    index columns_run_ = 1;
    index rows_run_ = 1;
    index column_block_ = 1;
    index row_block_ = 1;
    index column_blocks_ = 1;
    index row_blocks_ = 1;
    index pieces_ = 1;
    copy_functions functions_;
    bool streams_ = false;
    bool shifts_ = false;  ///< blocks of columns end where cache lines of the output do
    bool turns_ = false;
    bool buffered_ = false;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
