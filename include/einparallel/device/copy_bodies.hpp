#pragma once
// Copies and transpositions of strided boxes: bodies of kernels.

#include <einparallel/device/body.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/host_device.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace einparallel::detail {

/// One element after the other in the order of `into`: where both sides are contiguous along one loop, or nothing is.
template <int Bytes>
struct direct_copy {
    static constexpr int each = 4;  ///< elements of a thread: loads in flight

    std::byte* into;
    const std::byte* from;
    std::uint32_t count;  ///< elements
    int loops;
    struct {
        divisor extent;
        std::uint32_t size;
        index into_stride;
        index from_stride;
    } loop[launch::most_loops];  ///< fastest first

    template <class Context>
    EINPARALLEL_HOST_DEVICE void operator()(Context& at) const {
        using element = packet<Bytes>;
        element held[each];
        index target[each];
        const auto threads = static_cast<std::uint32_t>(at.threads());
        const std::uint32_t first =
            static_cast<std::uint32_t>(at.block()) * (each * threads) + static_cast<std::uint32_t>(at.thread());
        for (int number = 0; number < each; ++number) {
            const std::uint32_t element_number = first + static_cast<std::uint32_t>(number) * threads;
            std::uint32_t rest = element_number;
            index source = 0;
            target[number] = 0;
            for (int position = 0; position < loops; ++position) {
                const std::uint32_t next = loop[position].extent.quotient(rest);
                const auto digit = static_cast<index>(rest - next * loop[position].size);
                source += digit * loop[position].from_stride;
                target[number] += digit * loop[position].into_stride;
                rest = next;
            }
            held[number] = at.load(element_number < count, reinterpret_cast<const element*>(from) + source);
        }
        for (int number = 0; number < each; ++number) {
            at.store(first + static_cast<std::uint32_t>(number) * threads < count,
                     reinterpret_cast<element*>(into) + target[number], held[number]);
        }
    }
};

/// The loops of a tile as one side has them, fastest first, and a thread's walk through them. Loop 0 is in packets.
template <int TileLoops>
struct tile_side {
    int extents[TileLoops];
    int steps[TileLoops];      ///< of one advance: all threads of the block, in these digits
    int places[TileLoops];     ///< strides in shared memory, in elements
    index strides[TileLoops];  ///< in device memory, in elements
    int between;               ///< elements of a packet lie so far apart in shared memory

    class walk {
    public:
        /// @param limits extents of this tile, which may be cut off at an end of the box
        EINPARALLEL_HOST_DEVICE walk(const tile_side& side, const int* limits, int thread) : side_(side) {
            for (int loop = 0; loop < TileLoops; ++loop) {
                const bool last = loop == TileLoops - 1;
                digits_[loop] = last ? thread : thread % side.extents[loop];
                thread /= side.extents[loop];
                limits_[loop] = limits[loop] < side.extents[loop] ? limits[loop] : side.extents[loop];
            }
        }
        [[nodiscard]] EINPARALLEL_HOST_DEVICE bool inside() const {
            bool all = true;
            for (int loop = 0; loop < TileLoops; ++loop) {
                all = all && digits_[loop] < limits_[loop];
            }
            return all;
        }
        [[nodiscard]] EINPARALLEL_HOST_DEVICE index offset() const {
            index sum = 0;
            for (int loop = 0; loop < TileLoops; ++loop) {
                sum += digits_[loop] * side_.strides[loop];
            }
            return sum;
        }
        [[nodiscard]] EINPARALLEL_HOST_DEVICE int place() const {
            int sum = 0;
            for (int loop = 0; loop < TileLoops; ++loop) {
                sum += digits_[loop] * side_.places[loop];
            }
            return sum;
        }
        EINPARALLEL_HOST_DEVICE void advance() {
            int carry = 0;
            for (int loop = 0; loop < TileLoops; ++loop) {
                digits_[loop] += side_.steps[loop] + carry;
                carry = loop < TileLoops - 1 && digits_[loop] >= side_.extents[loop] ? 1 : 0;
                digits_[loop] -= carry * side_.extents[loop];
            }
        }

    private:
        const tile_side& side_;
        int digits_[TileLoops];
        int limits_[TileLoops];
    };
};

/// A tile of the box goes through shared memory: read along the loops where `from` has its neighbours, written along
/// those where `into` has them, `Vector` elements at a time.
template <int Bytes, int Vector, int TileLoops>
struct tiled_copy {
    static constexpr int each = 4;  ///< packets of a thread: loads in flight

    std::byte* into;
    const std::byte* from;
    int packets;  ///< of a tile that is not cut off
    int outer_loops;
    /// Loops over tiles and outside of them, fastest first.
    struct {
        divisor count;
        std::uint32_t size;
        index into_stride;
        index from_stride;
        int read_loop;  ///< number in `read` and `write` of the loop whose tiles it counts; −1: of none
        int write_loop;
        int read_length;  ///< of its tiles, in what that side counts
        int write_length;
        int read_extent;
        int write_extent;
    } outer[launch::most_loops];
    tile_side<TileLoops> read;
    tile_side<TileLoops> write;

    template <class Context>
    EINPARALLEL_HOST_DEVICE void operator()(Context& at) const {
        using element = packet<Bytes>;
        using vector = packet<Bytes * Vector>;
        index source = 0;
        index target = 0;
        int read_limits[TileLoops];
        int write_limits[TileLoops];
        for (int loop = 0; loop < TileLoops; ++loop) {
            read_limits[loop] = read.extents[loop];
            write_limits[loop] = write.extents[loop];
        }
        auto rest = static_cast<std::uint32_t>(at.block());
        for (int position = 0; position < outer_loops; ++position) {
            const auto& around = outer[position];
            const std::uint32_t next = around.count.quotient(rest);
            const auto digit = static_cast<int>(rest - next * around.size);
            source += digit * around.from_stride;
            target += digit * around.into_stride;
            for (int loop = 0; loop < TileLoops; ++loop) {
                if (around.read_loop == loop) {
                    read_limits[loop] = around.read_extent - digit * around.read_length;
                }
                if (around.write_loop == loop) {
                    write_limits[loop] = around.write_extent - digit * around.write_length;
                }
            }
            rest = next;
        }
        auto* const tile = reinterpret_cast<element*>(at.shared());
        const int rounds = (packets + at.threads() - 1) / at.threads();
        typename tile_side<TileLoops>::walk reader(read, read_limits, at.thread());
        for (int round = 0; round < rounds; round += each) {
            vector held[each];
            int places[each];
            for (int number = 0; number < each; ++number) {
                const bool inside = reader.inside();
                places[number] = inside ? reader.place() : -1;
                held[number] = at.load(inside, reinterpret_cast<const vector*>(reinterpret_cast<const element*>(from) +
                                                                               (source + reader.offset())));
                reader.advance();
            }
            for (int number = 0; number < each; ++number) {
                if (places[number] >= 0) {
                    const auto parts = std::bit_cast<pieces>(held[number]);
                    for (int part = 0; part < Vector; ++part) {
                        tile[places[number] + part * read.between] = parts.of[part];
                    }
                }
            }
        }
        at.barrier();
        typename tile_side<TileLoops>::walk writer(write, write_limits, at.thread());
        for (int round = 0; round < rounds; ++round) {
            pieces parts = {};
            const bool inside = writer.inside();
            if (inside) {
                const int place = writer.place();
                for (int part = 0; part < Vector; ++part) {
                    parts.of[part] = tile[place + part * write.between];
                }
            }
            at.store(inside, reinterpret_cast<vector*>(reinterpret_cast<element*>(into) + (target + writer.offset())),
                     std::bit_cast<vector>(parts));
            writer.advance();
        }
    }

private:
    struct alignas(Bytes* Vector) pieces {
        packet<Bytes> of[Vector];
    };
};

}  // namespace einparallel::detail
