#pragma once
// Which body copies a strided box, and in which tiles.

#include <einparallel/device/copy_bodies.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/device/start.hpp>
#include <einparallel/kernel/small_vector.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// A copy before it is launched: loops are sorted by the stride of `into`, fastest first.
struct copy_work {
    struct loop {
        index extent;
        index into;
        index from;
        index length = 1;  ///< in a tile
    };
    small_vector<loop, launch::most_loops> loops;
    std::byte* into;
    const std::byte* from;

    explicit copy_work(const launch::strided_copy& work)
        : into(static_cast<std::byte*>(work.into)), from(static_cast<const std::byte*>(work.from)) {
        for (int position = 0; position < work.loops; ++position) {
            if (work.extents[position] > 1) {
                loops.push_back({work.extents[position], work.into_strides[position], work.from_strides[position]});
            }
        }
        std::stable_sort(loops.begin(), loops.end(),
                         [](const loop& a, const loop& b) { return std::abs(a.into) < std::abs(b.into); });
    }

    [[nodiscard]] index count() const {
        index product = 1;
        for (const loop& each : loops) {
            product *= each.extent;
        }
        return product;
    }

    /// True where all loops but `fast` move that side by whole packets of `elements`, and it begins at one.
    [[nodiscard]] bool in_packets(bool of_into, std::size_t fast, index elements, index bytes) const {
        const auto address = reinterpret_cast<std::uintptr_t>(of_into ? into : from);
        bool aligned = address % static_cast<std::uintptr_t>(elements * bytes) == 0;
        for (std::size_t position = 0; position < loops.size(); ++position) {
            const loop& each = loops[position];
            const index stride = of_into ? each.into : each.from;
            aligned =
                aligned && (position == fast ? stride == 1 && each.extent % elements == 0 && each.length % elements == 0
                                             : stride % elements == 0);
        }
        return aligned;
    }

    /// Where both sides are contiguous along the fastest loop, makes one element of as many as 16 bytes hold.
    /// @return bytes of an element
    int widen(int bytes) {
        for (int factor = 16 / bytes; factor > 1; factor /= 2) {
            if (!loops.empty() && loops[0].extent % factor == 0) {
                loops[0].length = factor;
                const bool fits = in_packets(true, 0, factor, bytes) && in_packets(false, 0, factor, bytes);
                loops[0].length = 1;
                if (fits) {
                    for (std::size_t position = 0; position < loops.size(); ++position) {
                        loops[position].into /= position == 0 ? 1 : factor;
                        loops[position].from /= position == 0 ? 1 : factor;
                    }
                    loops[0].extent /= factor;
                    if (loops[0].extent == 1) {
                        std::copy(loops.begin() + 1, loops.end(), loops.begin());
                        loops.resize(loops.size() - 1);
                    }
                    return bytes * factor;
                }
            }
        }
        return bytes;
    }
};

/// The loops of one side that make a run of neighbours there, fastest first.
class copy_run {
public:
    static constexpr std::size_t most = 3;

    /// All loops that move a side, by its strides.
    copy_run(const copy_work& work, bool of_into) : work_(work) {
        for (std::size_t loop = 0; loop < work.loops.size(); ++loop) {
            if (of_into || work.loops[loop].from != 0) {
                order.push_back(loop);
            }
        }
        if (!of_into) {
            std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                return std::abs(work.loops[a].from) < std::abs(work.loops[b].from);
            });
        }
    }

    /// Takes loops until a run is about `target` long; the last one in even parts, multiples of `granule`.
    void take(index target, index granule) {
        taken = 0;
        index run = 1;
        while (taken < std::min(most, order.size()) && run < target) {
            const index extent = work_.loops[order[taken]].extent;
            const index room = (target + run - 1) / run;
            const index parts = (extent + room - 1) / room;
            const index even = ((extent + parts - 1) / parts + granule - 1) / granule * granule;
            lengths[taken] = run == 1 ? std::min(even, extent) : std::min((extent + parts - 1) / parts, extent);
            run *= lengths[taken++];
        }
    }

    small_vector<std::size_t, launch::most_loops> order;
    std::size_t taken = 0;
    index lengths[most] = {};

private:
    const copy_work& work_;
};

/// Launches of copies whose elements have so many bytes.
template <int Bytes>
class copy_launcher {
public:
    copy_launcher(launch::stream on, copy_work work) : on_(on), work_(std::move(work)) {}

    void run() {
        copy_run into(work_, true);
        copy_run from(work_, false);
        if (from.order.empty() || (into.order[0] == from.order[0] &&
                                   (work_.loops.size() == 1 || work_.loops[0].extent * Bytes >= sector_bytes))) {
            direct();
            return;
        }
        const index volume = choose_tile(into, from);
        constexpr int vector = std::min(16 / Bytes, 8);
        const bool packets = vector > 1 && work_.in_packets(true, into.order[0], vector, Bytes) &&
                             work_.in_packets(false, from.order[0], vector, Bytes);
        const auto with_loops = [&](auto wide, auto count) { tiled<wide.value, count.value>(into, from, volume); };
        const auto with = [&](auto wide) {
            tile_loops_ <= 2 ? with_loops(wide, std::integral_constant<int, 2>{})
                             : with_loops(wide, std::integral_constant<int, 2 * copy_run::most>{});
        };
        packets ? with(std::integral_constant<int, vector>{}) : with(std::integral_constant<int, 1>{});
    }

private:
    static constexpr index tile_elements = Bytes <= 4 ? 4096 : 16384 / Bytes;
    static constexpr index side_elements = Bytes == 1 ? 128 : Bytes <= 4 ? 64 : 32;
    static constexpr index granule = std::max(sector_bytes / Bytes, 1);

    /// Gives every loop its length in a tile: runs of both sides, as long as the tile's memory allows.
    /// @return elements of a tile
    index choose_tile(copy_run& into, copy_run& from) {
        index wanted[2] = {side_elements, side_elements};
        const auto volume = [&] {
            for (copy_work::loop& each : work_.loops) {
                each.length = 1;
            }
            index side = 0;
            for (copy_run* const run : {&into, &from}) {
                run->take(wanted[side++], granule);
                for (std::size_t position = 0; position < run->taken; ++position) {
                    index& length = work_.loops[run->order[position]].length;
                    length = std::max(length, run->lengths[position]);
                }
            }
            index product = 1;
            tile_loops_ = 0;
            for (const copy_work::loop& each : work_.loops) {
                product *= each.length;
                tile_loops_ += each.length > 1 ? 1 : 0;
            }
            return product;
        };
        while (volume() > tile_elements && wanted[0] + wanted[1] > 2) {
            (wanted[0] > wanted[1] ? wanted[0] : wanted[1]) /= 2;
        }
        for (index& side : wanted) {  // where one run is short, the other may be longer
            for (index before = side; side < tile_elements; before = side) {
                side *= 2;
                if (volume() > tile_elements) {
                    side = before;
                    break;
                }
            }
        }
        return volume();
    }

    void direct() {
        direct_copy<Bytes> body{work_.into,
                                work_.from,
                                static_cast<std::uint32_t>(work_.count()),
                                static_cast<int>(work_.loops.size()),
                                {}};
        for (std::size_t position = 0; position < work_.loops.size(); ++position) {
            const copy_work::loop& each = work_.loops[position];
            const auto size = static_cast<std::uint32_t>(each.extent);
            body.loop[position] = {divisor(size), size, each.into, each.from};
        }
        launch_shape shape;
        shape.threads = threads_for(work_.count());
        const index of_block = index{body.each} * shape.threads;
        shape.blocks = (work_.count() + of_block - 1) / of_block;
        start(on_, body, shape);
    }

    static int threads_for(index work) {
        return static_cast<int>(std::clamp<index>((work + warp_size - 1) / warp_size * warp_size, warp_size, 256));
    }

    template <int Vector, int TileLoops>
    void tiled(const copy_run& into, const copy_run& from, index volume) {
        tiled_copy<Bytes, Vector, TileLoops> body{};
        body.into = work_.into;
        body.from = work_.from;
        body.packets = static_cast<int>(volume / Vector);
        const auto order_of = [&](const copy_run& run) {  // of the tile's loops: those of the run, then the others
            small_vector<std::size_t, launch::most_loops> order;
            for (const bool taken : {true, false}) {
                for (const std::size_t loop : run.order) {
                    const bool in_run = std::find(run.order.begin(), run.order.begin() + run.taken, loop) !=
                                        run.order.begin() + run.taken;
                    if (work_.loops[loop].length > 1 && in_run == taken) {
                        order.push_back(loop);
                    }
                }
            }
            return order;
        };
        auto read = order_of(from);
        const auto write = order_of(into);
        for (const std::size_t loop : write) {  // those that do not move `from`
            if (std::find(read.begin(), read.end(), loop) == read.end()) {
                read.push_back(loop);
            }
        }
        // In shared memory as read, rows of the run an odd number of banks apart.
        index place[launch::most_loops] = {};
        index room = 1;
        for (std::size_t position = 0; position < read.size(); ++position) {
            place[read[position]] = room;
            room *= work_.loops[read[position]].length;
            if (position + 1 == std::max<std::size_t>(from.taken, 1)) {
                room = Bytes <= 4 ? ((room * Bytes + 3) / 4 | 1) * 4 / Bytes : room | 1;
            }
        }
        launch_shape shape;
        shape.threads = threads_for(body.packets);
        shape.shared_bytes = static_cast<int>(room * Bytes);
        const auto fill = [&](tile_side<TileLoops>& side, const auto& order, bool of_into) {
            int threads = shape.threads;
            for (int position = 0; position < TileLoops; ++position) {
                const bool known = position < static_cast<int>(order.size());
                const auto unit = position == 0 ? Vector : 1;
                side.extents[position] = 1;
                side.places[position] = 0;
                side.strides[position] = 0;
                if (known) {
                    const copy_work::loop& each = work_.loops[order[static_cast<std::size_t>(position)]];
                    side.extents[position] = static_cast<int>(each.length / unit);
                    side.places[position] = static_cast<int>(place[order[static_cast<std::size_t>(position)]]) * unit;
                    side.strides[position] = (of_into ? each.into : each.from) * unit;
                }
                const bool last = position == TileLoops - 1;
                side.steps[position] = last ? threads : threads % side.extents[position];
                threads /= side.extents[position];
            }
            side.between = side.places[0] / Vector;
        };
        fill(body.read, read, false);
        fill(body.write, write, true);
        const auto position_in = [](const auto& order, std::size_t loop) {
            const auto* const found = std::find(order.begin(), order.end(), loop);
            return found == order.end() ? -1 : static_cast<int>(found - order.begin());
        };
        shape.blocks = 1;
        for (std::size_t loop = 0; loop < work_.loops.size(); ++loop) {
            const copy_work::loop& each = work_.loops[loop];
            const index tiles = (each.extent + each.length - 1) / each.length;
            if (tiles == 1) {
                continue;
            }
            auto& around = body.outer[body.outer_loops++];
            around.size = static_cast<std::uint32_t>(tiles);
            around.count = divisor(around.size);
            around.into_stride = each.into * each.length;
            around.from_stride = each.from * each.length;
            around.read_loop = position_in(read, loop);
            around.write_loop = position_in(write, loop);
            const int read_unit = around.read_loop == 0 ? Vector : 1;
            const int write_unit = around.write_loop == 0 ? Vector : 1;
            around.read_length = static_cast<int>(each.length) / read_unit;
            around.write_length = static_cast<int>(each.length) / write_unit;
            around.read_extent = static_cast<int>(each.extent / read_unit);
            around.write_extent = static_cast<int>(each.extent / write_unit);
            shape.blocks *= tiles;
        }
        start(on_, body, shape);
    }

    launch::stream on_;
    copy_work work_;
    int tile_loops_ = 0;
};

/// Launches a copy, in halves where it has more elements than a launch counts.
inline void launch_copy(launch::stream on, const launch::strided_copy& copy) {
    constexpr index most = (index{1} << 31) - 1;
    copy_work work(copy);
    if (work.count() > most) {
        launch::strided_copy half = copy;
        const auto* const longest = std::max_element(copy.extents, copy.extents + copy.loops);
        const auto loop = longest - copy.extents;
        half.extents[loop] = *longest / 2;
        launch_copy(on, half);
        half.extents[loop] = *longest - *longest / 2;
        half.into = static_cast<std::byte*>(copy.into) + *longest / 2 * copy.into_strides[loop] * copy.element_bytes;
        half.from =
            static_cast<const std::byte*>(copy.from) + *longest / 2 * copy.from_strides[loop] * copy.element_bytes;
        launch_copy(on, half);
        return;
    }
    switch (work.widen(copy.element_bytes)) {
        case 1:
            copy_launcher<1>(on, work).run();
            return;
        case 2:
            copy_launcher<2>(on, work).run();
            return;
        case 4:
            copy_launcher<4>(on, work).run();
            return;
        case 8:
            copy_launcher<8>(on, work).run();
            return;
        default:
            copy_launcher<16>(on, work).run();
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
