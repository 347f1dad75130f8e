#pragma once
// Reads any box of an array that lies dense in a file, in C or in Fortran order, with few system calls; writes boxes.

#include <einparallel/io/box_reader.hpp>

#include <einparallel/io/file.hpp>
#include <einparallel/kernel/copy.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/tiles.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Throws where a tensor of a file is not of the type and the rank that are asked for. `who` names it.
EINPARALLEL_SELDOM void require_tensor(std::initializer_list<word> who, element_type is, std::size_t rank,
                                       element_type asked, std::size_t asked_rank) {
    if (is != asked || rank != asked_rank) {
        refuse({sentence(who), "' is of type ", written_element(is), " and rank ", rank, ", and type ",
                written_element(asked), " and rank ", asked_rank, " are asked for"});
    }
}

/// Reads one box. Dimensions are kept in the order of the file, slowest first, whatever order the array has. So a
/// Fortran file is read as the C file of the transposed array, in tiles that are transposed in memory.
EINPARALLEL_INLINE class box_reader {
public:
    /// `bounds`: the extents of the array. `region` lies inside them. `data_offset`: the byte of the file where its
    /// first element begins. With `drops` the system need not hold what was read in its
    /// cache, and the file must not have been written to since it was opened.
    box_reader(const open_file& file, std::uint64_t data_offset, std::size_t element_bytes,
               const std::vector<index>& bounds, bool fortran_order, const box& region, bool drops = false)
        : file_(file), data_offset_(data_offset), bytes_(index(element_bytes)), turned_(fortran_order), drops_(drops) {
        // Dimensions of extent 1 are left out: a file may have any number of them. There are fewer than 64 others.
        for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
            if (bounds[dimension] != 1) {
                bounds_.push_back(bounds[dimension]);
                region_.push_back(region.sides[dimension]);
            }
        }
        if (turned_) {
            std::reverse(bounds_.begin(), bounds_.end());
            std::reverse(region_.begin(), region_.end());
        }
        file_strides_ = dense_strides(whole_box(bounds_));
    }

    /// @pre the region is not empty
    void read(void* destination) {
        auto* const bytes = static_cast<std::byte*>(destination);
        if (drops_) {  // other parts are read at other times: all must be of one file
            file_.require_unchanged();
        }
        const auto long_sides = count_if_in(region_, [](interval side) { return side.size() > 1; });
        if (turned_ && long_sides > 1) {
            read_turned(bytes);
        } else {
            read_in_file_order(region_, bytes);
        }
    }

private:
    /// Bytes of memory for elements that are transposed, and for stretches of the file with unwanted elements in them.
    static constexpr index staging_bytes = index{4} << 20;
    /// Bytes that take as long to copy as a system call takes. A shorter gap is read and dropped. A longer run is read
    /// directly to its destination.
    static constexpr index short_bytes = index{32} << 10;

    using sides = std::vector<interval>;

    /// Copies a box of the array to dense memory, in the file's order of dimensions.
    void read_in_file_order(const sides& sides_read, std::byte* destination) {
        // The last dimensions that are wanted whole, with the one before them, are one run in the file.
        std::size_t outer = sides_read.size();
        index run = 1;
        while (outer > 0) {
            --outer;
            run *= sides_read[outer].size();
            if (sides_read[outer].size() != bounds_[outer]) {
                break;
            }
        }
        const index first = offset_of({sides_read}, whole_box(bounds_), file_strides_);
        spans_.assign(outer + 1, run);
        are_near_.assign(outer + 1, run * bytes_ <= short_bytes);
        for (std::size_t dimension = outer; dimension-- > 0;) {
            const index gap = file_strides_[dimension] - spans_[dimension + 1];
            spans_[dimension] = spans_[dimension + 1] + (sides_read[dimension].size() - 1) * file_strides_[dimension];
            are_near_[dimension] =
                are_near_[dimension + 1] && (sides_read[dimension].size() == 1 || gap * bytes_ <= short_bytes);
        }
        read_runs(sides_read, 0, outer, run, first, destination, nullptr);
    }

    /// Reads the runs of dimensions [dimension, outer). `first` is the element where the first run begins: in the file,
    /// or in `stretch`, a part of the file that has been read. Returns where the next element goes.
    std::byte* read_runs(const sides& sides_read, std::size_t dimension, std::size_t outer, index run, index first,
                         std::byte* destination, const std::byte* stretch) {
        if (dimension >= outer) {
            if (stretch != nullptr) {
                std::memcpy(destination, stretch + first * bytes_, std::size_t(run * bytes_));
            } else {
                read_bytes(destination, bytes_of(run), data_offset_ + bytes_of(first));
            }
            return destination + run * bytes_;
        }
        const index span = spans_[dimension + 1];
        const index count = sides_read[dimension].size();
        const index together =
            stretch == nullptr && are_near_[dimension] && span * bytes_ <= staging_bytes
                ? std::clamp((staging_bytes / bytes_ - span) / file_strides_[dimension] + 1, index{1}, count)
                : 1;
        for (index step = 0; step < count; step += together) {
            index here = first + step * file_strides_[dimension];
            const index steps = std::min(together, count - step);
            const std::byte* from = stretch;
            if (together > 1) {
                sieve_.resize(bytes_of((steps - 1) * file_strides_[dimension] + span));
                read_bytes(sieve_.data(), sieve_.size(), data_offset_ + bytes_of(here));
                from = sieve_.data();
                here = 0;
            }
            for (index inside = 0; inside < steps; ++inside) {
                destination = read_runs(sides_read, dimension + 1, outer, run, here + inside * file_strides_[dimension],
                                        destination, from);
            }
        }
        return destination;
    }

    /// Reads from a Fortran file: tiles that fit into the staging memory are read in the file's order and then
    /// transposed. A tile is long in the file's fastest dimension, so that few reads are needed. It is at least a cache
    /// line long in the file's slowest dimension, which is the fastest one of the destination.
    void read_turned(std::byte* destination) {
        const std::size_t rank = region_.size();
        std::vector<index> lengths(rank, 1);
        index room = std::max(index{1}, staging_bytes / bytes_);
        const index cache_line = std::max(index{1}, 64 / bytes_);
        lengths[0] = std::min(region_[0].size(), cache_line);
        room = std::max(index{1}, room / lengths[0]);
        for (std::size_t dimension = rank; dimension-- > 1;) {
            lengths[dimension] = std::min(region_[dimension].size(), room);
            room = std::max(index{1}, room / lengths[dimension]);
        }
        lengths[0] = std::min(region_[0].size(), lengths[0] * room);

        // The destination is row-major in the array's own order, so its strides grow from the file's slowest dimension.
        std::vector<index> strides(rank, 1);
        for (std::size_t dimension = 1; dimension < rank; ++dimension) {
            strides[dimension] = strides[dimension - 1] * region_[dimension - 1].size();
        }
        for_each_tile(region_, lengths, [&](const sides& tile) {
            const box whole{tile};
            const index offset = offset_of(whole, {region_}, strides);
            staging_.resize(bytes_of(whole.size()));
            read_in_file_order(tile, staging_.data());
            copy_box(extents_of(whole), std::size_t(bytes_), destination + offset * bytes_, strides, staging_.data(),
                     dense_strides(whole));
        });
    }

    std::size_t bytes_of(index elements) const { return std::size_t(elements * bytes_); }

    void read_bytes(void* destination, std::uint64_t bytes, std::uint64_t offset) const {
        file_.read(destination, bytes, offset);
        if (drops_ && bytes >= std::uint64_t(short_bytes)) {
            file_.drop(bytes, offset);
        }
    }

    const open_file& file_;
    std::uint64_t data_offset_;
    index bytes_;
    bool turned_;
    bool drops_;
    std::vector<index> bounds_;
    sides region_;
    std::vector<index> file_strides_;
    std::vector<index> spans_;    ///< by dimension: elements from the first wanted one to the last, both counted
    std::vector<bool> are_near_;  ///< by dimension: true where runs are short, with short gaps between them
    std::vector<std::byte> sieve_;
    std::vector<std::byte> staging_;
};

EINPARALLEL_SELDOM void read_box(const array_in_file& from, box region, void* into) {
    if (region.empty()) {
        return;
    }
    for (std::size_t side = 0; side < region.rank(); ++side) {
        region.sides[side].begin -= from.whole.sides[side].begin;
        region.sides[side].end -= from.whole.sides[side].begin;
    }
    box_reader(from.file, from.offset, from.element_bytes, extents_of(from.whole), false, region, from.drops)
        .read(into);
}

EINPARALLEL_SELDOM void write_box(const array_in_file& into, const box& region, const void* from) {
    if (region.empty()) {
        return;
    }
    // The last dimensions that are written whole, with the one before them, are one run in the file.
    std::vector<interval> rows = region.sides;
    index run = 1;
    for (std::size_t side = rows.size(); side-- > 0;) {
        run *= rows[side].size();
        const bool is_whole = rows[side] == into.whole.sides[side];
        rows[side].end = rows[side].begin + 1;
        if (!is_whole) {
            break;
        }
    }
    const std::vector<index> strides = dense_strides(into.whole);
    const std::uint64_t bytes = std::uint64_t(run) * into.element_bytes;
    const auto* next = static_cast<const std::byte*>(from);
    for_each_tile(rows, std::vector<index>(rows.size(), 1), [&](const std::vector<interval>& first) {
        const index at = offset_of({first}, into.whole, strides);
        into.file.write(next, bytes, into.offset + std::uint64_t(at) * into.element_bytes);
        constexpr std::uint64_t few = 32 << 10;
        if (into.drops && bytes >= few) {
            into.file.drop(bytes, into.offset + std::uint64_t(at) * into.element_bytes);
        }
        next += bytes;
    });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
