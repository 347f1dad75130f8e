#pragma once

#include <einparallel/kernel/gemm_axis.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void gemm_axis::add(index extent, index first_stride, index second_stride) {
    size *= extent;
    loops.push_back({extent, first_stride, second_stride, extent});
}

EINPARALLEL_INLINE void gemm_axis::move_contiguous(bool but_second) {
    for (std::size_t position = 0; position + 1 < loops.size(); ++position) {
        if (loops[position].first == 1) {
            const std::size_t end = loops.size() - (but_second && loops.back().second == 1 ? 1 : 0);
            std::rotate(loops.begin() + position, loops.begin() + position + 1, loops.begin() + end);
            return;
        }
    }
}

EINPARALLEL_INLINE index gemm_axis::lay_out(index step) {
    for (std::size_t position = loops.size(); position-- > 0;) {
        loops[position].second = step;
        step *= loops[position].extent;
    }
    return step;
}

EINPARALLEL_INLINE index gemm_axis::block_count() const {
    index count = 1;
    for (const loop& each : loops) {
        count *= (each.extent + each.tile - 1) / each.tile;
    }
    return count;
}

EINPARALLEL_INLINE index gemm_axis::cut(index limit, index unit, index first_run, index second_run) {
    const auto least = [&](const loop& each) {
        return std::max({index{1}, each.first == 1 ? first_run : 1, each.second == 1 ? second_run : 1});
    };
    index block = 1;
    for (loop& each : loops) {
        each.tile = std::min(each.extent, least(each));
        block *= each.tile;
    }
    for (std::size_t position = loops.size(); position-- > 0;) {
        loop& each = loops[position];
        const index granule = position + 1 == loops.size() ? unit : std::min<index>(least(each), 8);
        const index room = std::max(limit / (block / each.tile), each.tile);
        if (room >= each.extent) {
            block = block / each.tile * each.extent;
            each.tile = each.extent;
            continue;
        }
        const index parts = (each.extent + room - 1) / room;
        const index even = (each.extent + parts - 1) / parts;
        const index rounded = (even + granule - 1) / granule * granule;
        const index tile = std::min({rounded, std::max(room / granule * granule, each.tile), each.extent});
        block = block / each.tile * tile;
        each.tile = tile;
        break;
    }
    return block;
}

EINPARALLEL_INLINE bool gemm_blocks::peek(index number, index& first, index& second) const {
    first = 0;
    second = 0;
    bool same = filled_;
    for (std::size_t position = axis_.loops.size(); position-- > 0;) {
        const gemm_axis::loop& each = axis_.loops[position];
        const index parts = (each.extent + each.tile - 1) / each.tile;
        const index begin = number % parts * each.tile;
        number /= parts;
        first += begin * each.first;
        second += begin * each.second;
        same = same && lengths_[position] == std::min(each.tile, each.extent - begin);
    }
    return same;
}

EINPARALLEL_INLINE void gemm_blocks::go_to(index number) {
    if (peek(number, first_start, second_start)) {
        return;
    }
    for (std::size_t position = axis_.loops.size(); position-- > 0;) {
        const gemm_axis::loop& each = axis_.loops[position];
        const index parts = (each.extent + each.tile - 1) / each.tile;
        lengths_[position] = std::min(each.tile, each.extent - number % parts * each.tile);
        number /= parts;
    }
    fill();
}

EINPARALLEL_INLINE void gemm_blocks::stretch(index& period, index& run) const {
    period = 1;
    for (std::size_t position = axis_.loops.size(); position-- > 0;) {
        const gemm_axis::loop& each = axis_.loops[position];
        if (each.first == 1) {
            run = lengths_[position];
            period = period > 1 ? period : 0;
            return;
        }
        period *= lengths_[position];
    }
    period = 0;
    run = 0;
}

EINPARALLEL_INLINE index gemm_blocks::lines(index element, index* into) const {
    index found = 1;
    into[0] = 0;
    for (std::size_t position = axis_.loops.size(); position-- > 0;) {
        const gemm_axis::loop& each = axis_.loops[position];
        const index by = each.first == 1 ? 64 / element : 1;
        index more = found;
        for (index step = by; step < lengths_[position]; step += by) {
            for (index inner = 0; inner < found; ++inner) {
                into[more++] = into[inner] + step * each.first * element;
            }
        }
        found = more;
    }
    return found;
}

EINPARALLEL_INLINE void gemm_blocks::fill() {
    filled_ = true;
    first_[0] = 0;
    second_[0] = 0;
    count = 1;
    for (std::size_t position = axis_.loops.size(); position-- > 0;) {
        const gemm_axis::loop& each = axis_.loops[position];
        for (index step = 1; step < lengths_[position]; ++step) {
            for (index inner = 0; inner < count; ++inner) {
                first_[step * count + inner] = first_[inner] + step * each.first;
                second_[step * count + inner] = second_[inner] + step * each.second;
            }
        }
        count *= lengths_[position];
    }
}

EINPARALLEL_INLINE const index* gemm_axis::all(index* tables) const {
    gemm_axis whole = *this;
    for (loop& each : whole.loops) {
        each.tile = each.extent;
    }
    gemm_blocks block(whole, size, tables);
    block.go_to(0);
    return block.second();
}

}  // namespace einparallel::EINPARALLEL_DETAIL
