#pragma once
// Transpositions of strided boxes: the body of a kernel.

#include <einparallel/device/body.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstdint>

namespace einparallel::detail {

/// A tile of the box goes through shared memory: read along the loops where `from` has its neighbours, written along
/// those where `into` has them. Sides: 0 is `into`, 1 is `from`.
template <class Packet>
struct tiled_copy {
    static constexpr int each = 4;  ///< packets of a thread: loads in flight

    Packet* into = nullptr;
    const Packet* from = nullptr;
    int loops = 0;
    int tile_loops = 0;
    int elements = 1;  ///< of a tile
    struct {
        divisor tiles;
        std::uint32_t tile_count;
        divisor by_length;
        int length;  ///< in a tile, but the last
        int extent;
        int place;  ///< stride in shared memory
        index strides[2];
    } loop[launch::most_loops];
    std::uint8_t orders[2][launch::most_loops] = {};  ///< the tile's loops by the strides of a side, fastest first

    EINPARALLEL_HOST_DEVICE void operator()(auto& at) const {
        int limits[launch::most_loops];
        index begin[2] = {};
        auto rest = std::uint32_t(at.block());
        for (int number = 0; number < loops; ++number) {
            const auto& around = loop[number];
            const std::uint32_t next = around.tiles.quotient(rest);
            const int first = int(rest - next * around.tile_count) * around.length;
            limits[number] = around.extent - first;
            begin[0] += first * around.strides[0];
            begin[1] += first * around.strides[1];
            rest = next;
        }
        // Where an element of the tile, counted along a side, lies in shared memory, or −1, and on that side.
        const auto place_of = [&](int side, int number, index& offset) {
            bool is_inside = number < elements;
            int place = 0;
            offset = begin[side];
            for (int position = 0; position < tile_loops; ++position) {
                const auto& along = loop[orders[side][position]];
                const auto next = int(along.by_length.quotient(std::uint32_t(number)));
                const int digit = number - next * along.length;
                is_inside = is_inside && digit < limits[orders[side][position]];
                place += digit * along.place;
                offset += digit * along.strides[side];
                number = next;
            }
            return is_inside ? place : -1;
        };
        auto* const tile = reinterpret_cast<Packet*>(at.shared());
        for (int first = 0; first < elements; first += each * at.threads()) {
            Packet held[each];
            int places[each];
            for (int number = 0; number < each; ++number) {
                index offset = 0;
                places[number] = place_of(1, first + number * at.threads() + at.thread(), offset);
                held[number] = at.load(places[number] >= 0, from + offset);
            }
            for (int number = 0; number < each; ++number) {
                if (places[number] >= 0) {
                    tile[places[number]] = held[number];
                }
            }
        }
        at.barrier();
        for (int first = 0; first < elements; first += at.threads()) {
            index offset = 0;
            const int place = place_of(0, first + at.thread(), offset);
            at.store(place >= 0, into + offset, place >= 0 ? tile[place] : Packet{});
        }
    }
};

}  // namespace einparallel::detail
