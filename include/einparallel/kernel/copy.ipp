#pragma once

#include <einparallel/kernel/copy.hpp>

#include <einparallel/kernel/gemm_axis.hpp>
#include <einparallel/kernel/simd/element_copy.hpp>
#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/workspace.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void end_streaming() {
#if EINPARALLEL_DETAIL_X86 && defined(__SSE2__)
    __builtin_ia32_sfence();
#endif
}

EINPARALLEL_INLINE copy_functions copy_functions::best(index element_bytes, index shortest) {
    const bool vectors = (element_bytes == 4 || element_bytes == 8) && shortest * element_bytes >= 16;
    copy_functions found =
        vectors && element_bytes == 4 ? best_of<float>(shortest) : best_of<double>(vectors ? shortest : 64);
    if (!vectors) {
        found.lanes = 1;
        found.copy = element_bytes == 1    ? &copy_elements<1>
                     : element_bytes == 2  ? &copy_elements<2>
                     : element_bytes == 4  ? &copy_elements<4>
                     : element_bytes == 8  ? &copy_elements<8>
                     : element_bytes == 16 ? &copy_elements<16>
                                           : &copy_elements<0>;
    }
    return found;
}

/// A copy in blocks of two combined indices, at every point of the outer loops. Columns follow the order of the output
/// in memory, rows the order of the input. All strides are in bytes: `first` is that of the output, `second` that of
/// the input.
EINPARALLEL_INLINE class blocked_copy {
public:
    /// @pre every loop moves slot 0, no extent is 0, loops are sorted by slot 0
    blocked_copy(const loop_nest& nest, index element, void* into, const void* from)
        : element_(element), into_(static_cast<std::byte*>(into)), from_(static_cast<const std::byte*>(from)) {
        loop_list loops;  // innermost first
        for (std::size_t each = nest.size(); each-- > 0;) {
            const index extent = nest.extents[each];
            gemm_axis::loop made{extent, nest.of(each)[0] * element, nest.of(each)[1] * element, 1};
            total_ *= extent;
            if (made.first < 0) {
                into_ += (extent - 1) * made.first;
                from_ += (extent - 1) * made.second;
                made.first = -made.first;
                made.second = -made.second;
            }
            if (made.first == element && made.second == element) {  // elements side by side
                element_ *= extent;
            } else {
                loops.push_back(made);
            }
        }
        total_ *= element;
        take_apart(loops);
        choose_blocks();
    }

    void run() const {
        const int threads = total_ < threaded_bytes ? 1 : available_threads();
        const index stretches = element_ < long_run ? 1 : (element_ + stretch - 1) / stretch;
        const index units = outer_.block_count() * columns_.block_count() * rows_.block_count() * stretches;
        on_threads(int(std::min<index>(threads, units)), [&](index share, index shares) {
            const even_share own(units, share, shares);
            element_ < long_run ? copy_blocks(own) : copy_runs(own, stretches);
            if (streams_) {
                end_streaming();
            }
        });
    }

private:
    using loop_list = small_vector<gemm_axis::loop, 12>;
    static constexpr index long_run = 2048;  // bytes
    static constexpr index stretch = 65536;  // bytes of a long run that one thread copies at a time
    static constexpr index longest = 512;    // columns or rows of a block
    static constexpr index block_bytes = 131072;
    static constexpr index least_block = 16384;  // bytes

    /// Makes each loop a part of the columns, of the rows, or of the outer loops. Columns take the next loop of the
    /// output, and rows the next loop of the input, in turn, until both are long enough for whole cache lines and to
    /// pay for a block. A side ends at a loop that the other side has taken.
    void take_apart(const loop_list& loops) {
        enum : std::uint8_t { outside, column, row };
        small_vector<std::uint8_t, 12> role(loops.size(), outside);
        const auto next_row = [&] {  // of the loops left, the one with the smallest stride of the input
            std::size_t found = loops.size();
            for (std::size_t each = 0; each < loops.size(); ++each) {
                const index stride = std::abs(loops[each].second);
                if (role[each] != row && stride != 0 &&
                    (found == loops.size() || stride < std::abs(loops[found].second))) {
                    found = each;
                }
            }
            return found;
        };
        loop_list sides[2];
        index lengths[2] = {element_, element_};
        bool columns_grow = element_ < long_run;
        bool rows_grow = columns_grow;
        for (std::size_t next = 0; columns_grow || rows_grow;) {
            columns_grow = columns_grow && lengths[0] < 8192 && next < loops.size() && role[next] == outside;
            const bool takes_column = columns_grow && (!rows_grow || lengths[0] < 2 * lengths[1]);
            std::size_t taken = next;
            if (!takes_column) {
                taken = rows_grow && lengths[1] < (columns_grow ? 4096 : 2048) ? next_row() : loops.size();
                rows_grow = taken < loops.size() && role[taken] == outside;
                if (!rows_grow) {
                    continue;
                }
            }
            next += takes_column ? 1 : 0;
            role[taken] = takes_column ? column : row;
            sides[takes_column ? 0 : 1].push_back(loops[taken]);
            lengths[takes_column ? 0 : 1] *= loops[taken].extent;
        }
        // A block of a few elements would take longer to begin than to copy: rows of several of them are one block.
        for (std::size_t each = 0; each < loops.size() && lengths[0] / element_ * lengths[1] < least_block; ++each) {
            if (role[each] == outside && element_ < long_run) {
                role[each] = row;
                sides[1].push_back(loops[each]);
                lengths[1] *= loops[each].extent;
            }
        }
        const auto add = [](gemm_axis& axis, const loop_list& list) {
            for (std::size_t each = list.size(); each-- > 0;) {
                axis.add(list[each].extent, list[each].first, list[each].second);
            }
        };
        add(columns_, sides[0]);
        add(rows_, sides[1]);
        for (std::size_t each = loops.size(); each-- > 0;) {
            if (role[each] == outside) {
                outer_.add(loops[each].extent, loops[each].first, loops[each].second);
                outer_.loops.back().tile = 1;
            }
        }
    }

    /// How many positions of an index lie side by side in a block.
    index run_of(const gemm_axis& axis, index gemm_axis::loop::*side) const {
        index run = 1;
        for (std::size_t each = axis.loops.size(); each-- > 0 && axis.loops[each].*side == run * element_;) {
            run *= axis.loops[each].tile;
        }
        return run;
    }

    void choose_blocks() {
        std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(into_) | reinterpret_cast<std::uintptr_t>(from_);
        std::uintptr_t row_bits = 0;
        for (const gemm_axis* const axis : {&outer_, &columns_, &rows_}) {
            for (const gemm_axis::loop& each : axis->loops) {
                bits |= std::uintptr_t(each.first) | std::uintptr_t(each.second);
                row_bits |= axis == &rows_ ? std::uintptr_t(each.first) : 0;
            }
        }
        const index columns_run = run_of(columns_, &gemm_axis::loop::first);
        const bool aligned = bits % std::uintptr_t(element_) == 0;
        // Along a long even side, single elements are as fast as vectors of short runs that are read.
        constexpr index shortest_read = 64;  // bytes
        const gemm_axis& longer = columns_.size >= rows_.size ? columns_ : rows_;
        const index read = run_of(rows_, &gemm_axis::loop::second);
        const bool by_elements = longer.loops.size() == 1 && read * element_ < shortest_read;
        functions_ = copy_functions::best(element_, aligned && !by_elements ? std::min(columns_run, read) : 0);
        const index run = columns_run * element_;  // bytes of the output that are written side by side
        follow_ = columns_run == columns_.size && !rows_.loops.empty() && rows_.loops.back().first == run;
        streams_ = total_ >= streamed_bytes && (follow_ ? run * rows_.loops.back().extent : run) >= 512;
        buffered_ = streams_ && !(functions_.lanes > 1 && row_bits % 64 == 0);
        const index line = std::max<index>(1, 64 / element_);
        const index wide = element_ > 16 ? 4096 : streams_ ? 1024 : 512;
        const auto cut = [&](gemm_axis& axis, index limit) {
            return axis.cut(std::clamp<index>(limit, 1, longest), line, 1, 1);
        };
        const index column_block = cut(columns_, rows_.size < line ? longest : wide / element_);
        follow_ = follow_ && columns_.block_count() == 1;
        const index row_block = cut(rows_, std::max<index>(512 / element_, (buffered_ ? block_bytes : block_bytes / 2) /
                                                                               (column_block * element_)));
        buffer_bytes_ = buffered_ ? row_block * (column_block * element_ + 128) : 0;
    }

    /// Copies long runs, a stretch at a time.
    void copy_runs(even_share own, index stretches) const {
        index none[2];
        const gemm_blocks outer(outer_, 1, none);
        for (index unit = own.begin; unit < own.end; ++unit) {
            const auto [into, from] = outer.start_of(unit / stretches);
            const index start = unit % stretches * stretch;
            const auto bytes = std::size_t(std::min(stretch, element_ - start));
            (streams_ ? functions_.stream : &copy_bytes)(into_ + into + start, from_ + from + start, bytes);
        }
    }

    void copy_blocks(even_share own) const {
        index tables[6][longest];
        gemm_blocks columns(columns_, longest, tables[0]);
        gemm_blocks rows(rows_, longest, tables[2]);
        const gemm_blocks outer(outer_, 1, tables[4]);
        index* const tight = tables[4];
        index* const buffer_rows = tables[5];
        const scratch_memory buffer(static_cast<std::size_t>(buffer_bytes_));
        const index row_blocks = rows_.block_count();
        const index column_blocks = columns_.block_count();
        const auto start_of = [&](index unit) {
            gemm_blocks::offsets start = rows.start_of(unit % row_blocks);
            for (const gemm_blocks::offsets& more : {columns.start_of(unit / row_blocks % column_blocks),
                                                     outer.start_of(unit / (row_blocks * column_blocks))}) {
                start.first += more.first;
                start.second += more.second;
            }
            return start;
        };
        copy_tile tile;
        tile.streams = streams_ && !buffered_;
        tile.bytes = std::size_t(element_);
        gemm_blocks::offsets next = start_of(own.begin);
        for (index unit = own.begin; unit < own.end; ++unit) {
            columns.go_to(unit / row_blocks % column_blocks);
            rows.go_to(unit % row_blocks);
            std::byte* const into = into_ + next.first;
            const std::byte* const from = from_ + next.second;
            next = start_of(std::min(unit + 1, own.end - 1));
            tile.next = from_ + next.second - from;
            tile.columns = {columns.first(), columns.second(), columns.count, run_of(columns_, &gemm_axis::loop::first),
                            columns_.loops.size() == 1};
            tile.rows = {rows.first(), rows.second(), rows.count, run_of(rows_, &gemm_axis::loop::second),
                         rows_.loops.size() == 1};
            if (buffered_) {
                const index length = columns.count * element_;
                for (index column = 0; column < columns.count; ++column) {
                    tight[column] = column * element_;
                }
                for (index row = 0; row < rows.count; ++row) {
                    buffer_rows[row] = row * (follow_ ? length : ((length + 63) / 64 | 1) * 64);
                }
                through_buffer(into, from, tile, tight, buffer_rows, buffer.data());
            } else {
                functions_.copy(into, from, tile);
            }
        }
    }

    /// Copies the tile to a buffer, in the order of the output, and streams it from there to the output: in whole cache
    /// lines, wherever a row of the output begins. `tight` has the offsets of elements that lie side by side.
    void through_buffer(std::byte* into, const std::byte* from, const copy_tile& tile, const index* tight,
                        const index* buffer_rows, std::byte* buffer) const {
        const tile_side& columns = tile.columns;
        const tile_side& rows = tile.rows;
        copy_tile inside = tile;
        inside.columns.into = tight;
        inside.columns.run = columns.count;
        inside.rows.into = buffer_rows;
        functions_.copy(buffer, from, inside);
        const index length = columns.count * element_;
        for (index row = 0; row < rows.count;) {
            index end = row + 1;
            while (follow_ && end < rows.count && rows.into[end] == rows.into[end - 1] + length) {
                ++end;
            }
            for (index column = 0; column < columns.count; column += columns.together(column)) {
                functions_.stream(into + rows.into[row] + columns.into[column],
                                  buffer + buffer_rows[row] + column * element_,
                                  std::size_t((end - row) * columns.together(column) * element_));
            }
            row = end;
        }
    }

    index element_;
    std::byte* into_;
    const std::byte* from_;
    index total_ = 1;  ///< bytes of the whole copy
    gemm_axis outer_;
    gemm_axis columns_;
    gemm_axis rows_;
    copy_functions functions_;
    index buffer_bytes_ = 0;
    bool streams_ = false;
    bool buffered_ = false;
    bool follow_ = false;  ///< rows follow one another in the output, with nothing between
};

EINPARALLEL_INLINE void copy_nest(const loop_nest& nest, std::size_t element_bytes, void* into, const void* from) {
    const auto bytes = index(element_bytes);
    const index total = element_count(nest.extents) * bytes;
    if (nest.size() == 0 || (nest.size() == 1 && nest.of(0)[0] == 1 && nest.of(0)[1] == 1 && total < threaded_bytes)) {
        copy_bytes(static_cast<std::byte*>(into), static_cast<const std::byte*>(from), std::size_t(total));
    } else {
        blocked_copy(nest, bytes, into, from).run();
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE void copy_box(index_span extents, std::size_t element_bytes, void* into, index_span into_strides,
                                 const void* from, index_span from_strides) {
    detail::loop_nest nest(2);
    if (nest.add_box(extents, into_strides, from_strides)) {
        nest.sort_by(0);
        detail::copy_nest(nest, element_bytes, into, from);
    }
}

}  // namespace einparallel
