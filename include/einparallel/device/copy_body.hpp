#pragma once
// Bodies of kernels for transpositions of strided boxes, and for copies from or to positions that data choose.

#include <einparallel/device/body.hpp>
#include <einparallel/device/join_body.hpp>
#include <einparallel/device/join_programs.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstdint>

namespace einparallel::detail {

/// Copies a tile of a box through shared memory. Neighbouring threads read neighbouring elements of `from`, and write
/// neighbouring elements of `into`. Sides: 0 is `into`, 1 is `from`.
template <class Packet>
struct tiled_copy {
    static constexpr int each = 4;  ///< packets that a thread loads at a time

    Packet* into = nullptr;
    const Packet* from = nullptr;
    int loops = 0;
    int tile_loops = 0;
    int elements = 1;  ///< of a tile
    struct {
        divisor tiles;
        std::uint32_t tile_count;
        divisor by_length;
        int length;  ///< length of a tile; the last tile may be shorter
        int extent;
        int step;  ///< stride in shared memory, in packets
        index strides[2];
    } loop[launch::most_loops];
    std::uint8_t orders[2][launch::most_loops] = {};  ///< loops of a tile for each side, smallest stride first

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
        // Position in shared memory of an element of the tile, counted in the order of a side; −1 outside of the box.
        // Sets its offset on that side.
        const auto slot_of = [&](int side, int number, index& offset) {
            bool is_inside = number < elements;
            int slot = 0;
            offset = begin[side];
            for (int position = 0; position < tile_loops; ++position) {
                const auto& along = loop[orders[side][position]];
                const auto next = int(along.by_length.quotient(std::uint32_t(number)));
                const int digit = number - next * along.length;
                is_inside = is_inside && digit < limits[orders[side][position]];
                slot += digit * along.step;
                offset += digit * along.strides[side];
                number = next;
            }
            return is_inside ? slot : -1;
        };
        auto* const tile = reinterpret_cast<Packet*>(at.shared());
        for (int first = 0; first < elements; first += each * at.threads()) {
            Packet held[each];
            int slots[each];
            for (int number = 0; number < each; ++number) {
                index offset = 0;
                slots[number] = slot_of(1, first + number * at.threads() + at.thread(), offset);
                held[number] = at.load(slots[number] >= 0, from + offset);
            }
            for (int number = 0; number < each; ++number) {
                if (slots[number] >= 0) {
                    tile[slots[number]] = held[number];
                }
            }
        }
        at.barrier();
        for (int first = 0; first < elements; first += at.threads()) {
            index offset = 0;
            const int slot = slot_of(0, first + at.thread(), offset);
            at.store(slot >= 0, into + offset, slot >= 0 ? tile[slot] : Packet{});
        }
    }
};

/// The body of launch::select, with one thread for each point.
template <class Packet>
struct selecting_copy {
    Packet* into = nullptr;
    const Packet* from = nullptr;
    const void* data[launch::most_chosen] = {};
    launch::chosen_index chosen[launch::most_chosen] = {};
    int count = 0;
    bool fills = false;
    index points = 1;  ///< number of output points
    index terms = 1;   ///< number of terms for each of them
    join_loops<1 + launch::most_chosen> loops{};

    EINPARALLEL_HOST_DEVICE void operator()(auto& at) const {
        const index number = index(at.block()) * at.threads() + at.thread();
        const bool is_point = number < points * terms;
        index offsets[2 + launch::most_chosen] = {};
        loops.add(true, std::uint32_t(number / points), 1 + count, offsets);
        loops.add(false, std::uint32_t(number % points), 1 + count, offsets);
        bool is_here = is_point;
        for (int each = 0; each < count; ++each) {
            const index position = read(at, is_point, each, offsets[2 + each]) - chosen[each].first;
            is_here = is_here && position >= 0 && position < chosen[each].size;
            offsets[0] += is_here ? position * chosen[each].strides[0] : 0;
            offsets[1] += is_here ? position * chosen[each].strides[1] : 0;
        }
        const Packet made = at.load(is_here, from + offsets[1]);
        at.store(is_here || (is_point && fills), into + offsets[0], is_here ? made : Packet{});
    }

private:
    EINPARALLEL_HOST_DEVICE index read(auto& at, bool active, int number, index offset) const {
        const element_type of = chosen[number].element;
        std::uint64_t value = 0;
        with_bits(int(of.bytes), [&](auto bits) {
            value = at.load(active, static_cast<const decltype(bits)*>(data[number]) + offset);
        });
        const int unused = 64 - 8 * int(of.bytes);
        return of.kind == 'i' ? index(std::int64_t(value << unused) >> unused) : index(value);
    }
};

}  // namespace einparallel::detail
