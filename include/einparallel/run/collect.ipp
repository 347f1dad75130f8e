#pragma once

#include <einparallel/run/collect.hpp>

#include <einparallel/array/aliasing.hpp>
#include <einparallel/array/print.hpp>
#include <einparallel/kernel/copy.hpp>
#include <einparallel/layout/dealt.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/executable.ipp>
#include <einparallel/run/host_copies.ipp>
#include <einparallel/run/own_layout.ipp>
#include <einparallel/schedule/program.hpp>
#include <einparallel/schedule/redistribute.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <ostream>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::byte* strided_box::first(const box& region) const {
    return data + offset_of(region, held, strides) * static_cast<index>(element_bytes);
}

EINPARALLEL_INLINE void strided_box::read(const box& region, void* destination, std::string_view what) const {
    if (region.empty()) {
        return;
    }
    if (!contains(held, region)) {
        throw error("a tensor (" + std::string(what) + ") " + lies_elsewhere);
    }
    copy_box(extents_of(region), element_bytes, destination, dense_strides(region), first(region), strides);
}

EINPARALLEL_INLINE const void* strided_box::borrow(const box& region, std::vector<index>& found) const {
    found.clear();
    if (region.empty() || held.empty()) {
        return nullptr;
    }
    index dense = 1;
    for (std::size_t dimension = strides.size(); dimension-- > 0;) {
        const interval& side = region.sides[dimension];
        if (strides[dimension] < 0 || intersect(held.sides[dimension], side) != side) {
            found.clear();
            return nullptr;
        }
        if (side.size() > 1 && dense != strides[dimension]) {
            found = strides;
        }
        dense *= side.size();
    }
    return first(region);
}

/// From the lowest byte to behind the highest; nothing where there is no element.
EINPARALLEL_INLINE std::pair<const std::byte*, const std::byte*> memory_of(const strided_box& of) {
    if (of.held.empty()) {
        return {of.data, of.data};
    }
    index low = 0;
    index high = 1;
    for (std::size_t dimension = 0; dimension < of.strides.size(); ++dimension) {
        const index reach = (of.held.sides[dimension].size() - 1) * of.strides[dimension];
        (reach < 0 ? low : high) += reach;
    }
    const index bytes = static_cast<index>(of.element_bytes);
    return {of.data + low * bytes, of.data + high * bytes};
}

EINPARALLEL_INLINE bool strided_box::lies_in(const void* begin, const void* end) const {
    const auto [own_begin, own_end] = memory_of(*this);
    return std::less<const void*>()(own_begin, end) && std::less<const void*>()(begin, own_end);
}

/// True where both touch some of the same memory, or lie between each other's elements.
EINPARALLEL_INLINE bool meet(const strided_box& a, const strided_box& b) {
    const auto [begin, end] = memory_of(a);
    return b.lies_in(begin, end);
}

EINPARALLEL_INLINE std::vector<index> bounds_of(const distributed_part& part) {
    if (part.dealt != nullptr) {
        return {part.dealt->dimensions[0].extent, part.dealt->dimensions[1].extent};
    }
    return part.where->bounds();
}

EINPARALLEL_INLINE const distributed_part& checked(const distributed_part& part) {
    if (part.where == nullptr) {
        throw error("distributed: this handle holds nothing");
    }
    return part;
}

/// The context of a part. The same on every rank, so what it throws needs no agreement.
EINPARALLEL_INLINE std::shared_ptr<context_state> context_of(const distributed_part& part) {
    std::shared_ptr<context_state> world = part.world.lock();
    if (world == nullptr || !mpi_is_running()) {
        throw error("distributed: the context of this tensor is gone");
    }
    return world;
}

/// A fingerprint of what a collective call on a part must agree about.
EINPARALLEL_INLINE std::uint64_t fingerprint_of(const distributed_part& part, int root) {
    return fingerprint()
        .add(static_cast<std::uint64_t>(part.elements.element_bytes))
        .add(root)
        .add(*part.where)
        .value();
}

/// True where some elements lie before the first: Open MPI 4.1 gets messages of those wrong for elements of a byte.
EINPARALLEL_INLINE bool is_backwards(const strided_box& of) {
    return !of.held.empty() && std::ranges::any_of(of.strides, [](index stride) { return stride < 0; });
}

/// A program of messages and copies between strided boxes in memory, and buffers without a place.
struct moving_program {
    program moves;
    std::vector<std::byte*> places{};  ///< by buffer, of the first ones

    /// @pre all buffers so far have a place
    EINPARALLEL_INLINE buffer_id add(const strided_box& place) {
        places.push_back(place.data);
        const buffer_id number = moves.add_buffer(place.held, place.element_bytes);
        moves.buffers.back().strides = place.strides;
        return number;
    }
    step& add_step() { return moves.steps.emplace_back(); }
};

inline constexpr auto nothing_more = [] {};

/// One collective call: write(), which may throw, on every rank; an agreement to start, also about the numbers; the
/// program, and finish(), which may throw; an agreement on how it ended. Returns the bytes that this rank sent.
EINPARALLEL_INLINE std::size_t move_boxes(const context_state& world, const char* call,
                                          std::initializer_list<common> numbers, function_ref<moving_program()> write,
                                          function_ref<void()> finish = nothing_more) {
    const run_watch watch{.rank = world.payload.rank(), .call = call};
    std::optional<executable> moves;
    memory_block scratch;
    transport flight(world.payload);
    const std::string unprepared = failure_of(call + (": rank " + std::to_string(watch.rank)), [&] {
        moving_program made = write();
        moves.emplace(std::move(made.moves), std::vector<executed_vertex>{});
        moves->lay_out(the_host, made.places);
        scratch = memory_block(the_host, moves->scratch_bytes());
        moves->settle(scratch.data());
        flight.reserve(moves->room());
    });
    agree(world.control, unprepared, numbers);
    std::string failure;
    moves->carry_out(the_host, flight, watch, failure);
    agree(world.control, failure.empty() ? failure_of(call, finish) : failure);
    return flight.bytes_sent();
}

/// Brings wanted.held_by(rank) to every rank, to where place() says. `wanted` is the same on all of them, and read
/// after place().
EINPARALLEL_INLINE std::size_t fetch_boxes(const context_state& world, const distributed_part& part, const char* call,
                                           std::initializer_list<common> numbers, const distribution& wanted,
                                           function_ref<strided_box()> place,
                                           function_ref<void()> finish = nothing_more) {
    distributed_part here;
    const auto write = [&] {
        const strided_box target = place();
        here = on_host(part);
        const strided_box& elements = here.elements;
        moving_program made;
        const buffer_id held = made.add(elements);
        const buffer_id there = made.add(target);
        buffer_id from = held;
        if (is_backwards(elements) || meet(elements, target)) {
            from = made.moves.add_buffer(elements.held, elements.element_bytes);
            made.add_step().move(from, held, elements.held);
        }
        const buffer_id into = is_backwards(target) ? made.moves.add_buffer(target.held, target.element_bytes) : there;
        made.add_step() = redistribution_step(*part.where, wanted, world.payload.rank(), from, into);
        if (into != there) {
            made.add_step().move(there, into, target.held);
        }
        return made;
    };
    return move_boxes(world, call, numbers, write, finish);
}

/// The same to where another part lies, on the host or on a device.
EINPARALLEL_INLINE std::size_t fetch_to(const context_state& world, const distributed_part& part, const char* call,
                                        const distributed_part& there) {
    std::optional<distributed_part> room;
    const auto place = [&] {
        return there.elements.is_on_device ? room.emplace(room_on_host(there)).elements : there.elements;
    };
    return fetch_boxes(world, part, call, {}, *there.where, place, [&] {
        if (room) {
            write_back(there, *room);
        }
    });
}

EINPARALLEL_INLINE std::ostream& print_part(std::ostream& stream, const distributed_part& part, element_type element) {
    if (part.where == nullptr) {
        return stream << "a handle on nothing";
    }
    if (part.elements.is_on_device) {
        return print_part(stream, on_host(part), element);
    }
    const box& held = part.elements.held;
    if (held.rank() == 0 && !held.empty()) {
        return print_elements(stream, element, part.elements.data, {}, {});
    }
    if (held.empty()) {
        stream << "nothing";
    } else {
        for (std::size_t dimension = 0; dimension < held.rank(); ++dimension) {
            const interval& side = held.sides[dimension];
            stream << (dimension == 0 ? "[" : ", ") << side.begin << ':' << side.end;
        }
        stream << ']';
    }
    const std::vector<index>& bounds = part.where->bounds();
    for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
        stream << (dimension == 0 ? " of " : " x ") << bounds[dimension];
    }
    if (!held.empty()) {
        print_elements(stream << '\n', element, part.elements.data, extents_of(held), part.elements.strides);
    }
    return stream;
}

EINPARALLEL_INLINE void gather_part(const distributed_part& part, int root, function_ref<std::byte*()> allocate) {
    const std::shared_ptr<context_state> world = context_of(part);
    const exclusive guard(*world, "gather");
    const int rank = world->payload.rank();
    const int size = world->payload.size();
    distribution wanted;
    const auto place = [&]() -> strided_box {
        if (root < 0 || root >= size) {
            throw error("gather: there is no rank " + std::to_string(root) + " in a context of " +
                        std::to_string(size));
        }
        wanted = held_by_one(part.where->bounds(), root);
        const box mine = wanted.held_by(rank);
        return {rank == root ? allocate() : nullptr, mine, dense_strides(mine), part.elements.element_bytes};
    };
    fetch_boxes(*world, part, "gather",
                {{fingerprint_of(part, root), "gather: the ranks do not gather the same tensor to the same root"}},
                wanted, place);
}

EINPARALLEL_INLINE void allgather_part(const distributed_part& part, function_ref<std::byte*()> allocate) {
    const std::shared_ptr<context_state> world = context_of(part);
    const exclusive guard(*world, "allgather");
    const int rank = world->payload.rank();
    const int size = world->payload.size();
    distributed_part here;
    const auto ring = [&] {
        const box everything = whole_box(part.where->bounds());
        moving_program made;
        here = on_host(part);
        const buffer_id own = made.add(here.elements);
        const buffer_id all =
            made.add({allocate(), everything, dense_strides(everything), part.elements.element_bytes});
        made.add_step().move(all, own, part.elements.held);
        for (int hop = 1; hop < size; ++hop) {
            const box sent = part.where->held_by((rank + size - hop + 1) % size);
            const box received = part.where->held_by((rank + size - hop) % size);
            step& now = made.add_step();
            now.receive((rank + size - 1) % size, all, received);
            now.send((rank + 1) % size, all, sent);
        }
        return made;
    };
    move_boxes(*world, "allgather", {{fingerprint_of(part, 0), "allgather: the ranks do not gather the same tensor"}},
               ring);
}

EINPARALLEL_INLINE std::string check_target(const strided_box& target) {
    const std::string negative = negative_extent(extents_of(target.held));
    return target.held.nothing || !negative.empty() || !shares_places(extents_of(target.held), target.strides)
               ? negative
               : "the view has strides by which several of its elements share one place";
}

EINPARALLEL_INLINE std::size_t fetch_part(const distributed_part& part, const box& mine, const std::string& mistake,
                                          function_ref<strided_box()> place) {
    const std::shared_ptr<context_state> world = context_of(part);
    const exclusive guard(*world, "fetch");
    const communicator& control = world->control;
    const std::vector<index>& bounds = part.where->bounds();
    const auto wanted = exchange_boxes(
        control, "fetch", mistake.empty() ? mistake : "fetch: rank " + std::to_string(control.rank()) + ": " + mistake,
        {{fingerprint_of(part, 0), "fetch: the ranks do not fetch from the same tensor"},
         {0, "fetch: the ranks do not fetch into the same tensor"}},
        bounds, mine, [&](const std::vector<box>& boxes) { return check_inside("fetch", bounds, boxes); });
    return fetch_boxes(*world, part, "fetch", {}, *wanted, place);
}

EINPARALLEL_INLINE std::size_t fetch_like(const distributed_part& part, const distributed_part& there) {
    const std::shared_ptr<context_state> world = context_of(part);
    const exclusive guard(*world, "fetch");
    std::uint64_t target = 0;
    const std::string failure = failure_of("fetch", [&] {
        if (there.where == nullptr) {
            throw error("fetch: the target is a handle on nothing");
        }
        if (context_of(there) != world) {
            throw error("fetch: the target is distributed over another context");
        }
        const std::vector<index>& bounds = part.where->bounds();
        for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
            if (there.where->bounds()[dimension] != bounds[dimension]) {
                throw error("fetch: the target has extent " + std::to_string(there.where->bounds()[dimension]) +
                            " in dimension " + std::to_string(dimension) + ", the tensor has " +
                            std::to_string(bounds[dimension]));
            }
        }
        target = fingerprint_of(there, 0);
    });
    agree(world->control, failure,
          {{fingerprint_of(part, 0), "fetch: the ranks do not fetch from the same tensor"},
           {target, "fetch: the ranks do not fetch into the same tensor"}});
    return fetch_to(*world, part, "fetch", there);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
