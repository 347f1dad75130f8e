#pragma once
// Chooses the body that copies a strided box, and its tiles.

#include <einparallel/device/copy_body.hpp>
#include <einparallel/device/join_start.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/device/start.hpp>
#include <einparallel/kernel/small_vector.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace einparallel::EINPARALLEL_DETAIL {

/// An element of 16 bytes.
struct alignas(16) wide_packet {
    std::uint64_t bits[2];
};

/// The ⊕ of a join that sums nothing.
struct no_reduction {
    EINPARALLEL_HOST_DEVICE auto operator()(auto /*a*/, auto b) const { return b; }
};

/// The loops along which a side has a stride other than 0, smallest stride first.
using copy_order = small_vector<int, launch::most_loops>;
inline copy_order order_of(const launch::strided_join& work, int side) {
    copy_order order;
    for (int loop = 0; loop < work.loops; ++loop) {
        if (work.extents[loop] > 1 && work.strides[loop][side] != 0) {
            order.push_back(loop);
        }
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return std::abs(work.strides[a][side]) < std::abs(work.strides[b][side]); });
    return order;
}

template <class Packet>
void launch_copy_of(launch::stream on, const launch::strided_join& work) {
    constexpr index bytes = sizeof(Packet);
    constexpr index side_elements = bytes <= 2 ? 64 : bytes == 16 ? 16 : 32;
    copy_order orders[2] = {order_of(work, 0), order_of(work, 1)};
    const copy_order& into = orders[0];
    if (orders[1].empty() ||
        (into[0] == orders[1][0] && (into.size() == 1 || work.extents[into[0]] * bytes >= sector_bytes))) {
        start_join(on, work, functor_program<Packet, no_reduction, unchanged, Packet>{});
        return;
    }
    // A tile holds runs of neighbouring elements of both sides.
    index lengths[launch::most_loops];
    std::fill_n(lengths, work.loops, 1);
    std::size_t in_run = 0;
    for (const copy_order& order : orders) {
        in_run = 0;
        for (index run = 1; run < side_elements && in_run < order.size(); ++in_run) {
            const int loop = order[in_run];
            const index length = std::min(work.extents[loop], (side_elements + run - 1) / run);
            lengths[loop] = std::max(lengths[loop], length);
            run *= length;
        }
    }
    for (const int loop : into) {  // loops with stride 0 in `from`
        if (work.strides[loop][1] == 0) {
            orders[1].push_back(loop);
        }
    }
    tiled_copy<Packet> body{};
    body.into = static_cast<Packet*>(work.output);
    body.from = static_cast<const Packet*>(work.operands[0]);
    body.loops = work.loops;
    launch_shape shape;
    shape.blocks = 1;
    for (int loop = 0; loop < work.loops; ++loop) {
        const auto tiles = std::uint32_t((work.extents[loop] + lengths[loop] - 1) / lengths[loop]);
        const auto length = std::uint32_t(lengths[loop]);
        body.loop[loop] = {divisor(tiles),
                           tiles,
                           divisor(length),
                           int(length),
                           int(work.extents[loop]),
                           0,
                           {work.strides[loop][0], work.strides[loop][1]}};
        body.elements *= int(length);
        shape.blocks *= tiles;
    }
    // Shared memory has the order of reading. Runs begin an odd number of elements apart, so that columns lie in
    // different banks.
    int room = 1;
    for (std::size_t position = 0; position < orders[1].size(); ++position) {
        auto& along = body.loop[orders[1][position]];
        along.step = room;
        room *= along.length;
        room = position + 1 == in_run ? room | 1 : room;
    }
    for (const int side : {0, 1}) {
        body.tile_loops = 0;
        for (const int loop : orders[side]) {
            if (lengths[loop] > 1) {
                body.orders[side][body.tile_loops++] = std::uint8_t(loop);
            }
        }
    }
    shape.threads = std::clamp((body.elements + warp_size - 1) / warp_size * warp_size, warp_size, most_threads);
    shape.shared_bytes = room * int(bytes);
    start(on, body, shape);
}

template <class Packet>
void launch_select_of(launch::stream on, const launch::strided_join& work, const launch::chosen_index* chosen,
                      bool fills) {
    selecting_copy<Packet> body{};
    body.into = static_cast<Packet*>(work.output);
    body.from = static_cast<const Packet*>(work.operands[0]);
    body.count = work.operand_count - 1;
    std::copy_n(work.operands + 1, body.count, body.data);
    std::copy_n(chosen, body.count, body.chosen);
    body.fills = fills;
    for (int loop = 0; loop < work.loops; ++loop) {
        (loop < work.output_loops ? body.points : body.terms) *= work.extents[loop];
    }
    body.loops = loops_of<1 + launch::most_chosen>(work);
    start(on, body, {(body.points * body.terms + most_threads - 1) / most_threads, most_threads, 0});
}

/// Calls visit(packet) with an element type of `bytes` bytes.
inline void with_packet(std::size_t bytes, const auto& visit) {
    if (bytes == sizeof(wide_packet)) {
        visit(wide_packet());
    } else {
        with_bits(int(bytes), visit);
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel::detail::launch {

void copy(stream on, const strided_join& work, std::size_t element_bytes) {
    with_packet(element_bytes, [&](auto packet) { launch_copy_of<decltype(packet)>(on, work); });
}

void select(stream on, const strided_join& work, const chosen_index* chosen, std::size_t element_bytes, bool fills) {
    with_packet(element_bytes, [&](auto packet) { launch_select_of<decltype(packet)>(on, work, chosen, fills); });
}

}  // namespace einparallel::detail::launch
