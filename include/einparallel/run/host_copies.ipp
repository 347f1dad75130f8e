#pragma once
// Elements on a device as the host reads and writes them: copied through pinned memory.

#include <einparallel/run/collect.hpp>

#include <einparallel/kernel/space.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/context.hpp>

#include <cstddef>
#include <memory>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void refuse_view() {
    throw error(
        "distributed: local() is of the host, and these elements are on a device: fetch, gather and for_each_local "
        "copy them, ep::device_view(z).data() is their address");
}

/// into = from, over the whole box, in a space that works on the memory of both.
EINPARALLEL_INLINE void copy_in(const memory_space& space, const strided_box& into, const strided_box& from) {
    if (!from.held.empty()) {
        space.copy({extents_of(from.held), into.data, into.strides, from.data, from.strides, from.element_bytes});
        space.finish(space.given());
    }
}

/// The space of the device that a part lies on.
EINPARALLEL_INLINE std::shared_ptr<const memory_space> space_of(const distributed_part& part) {
    const std::shared_ptr<context_state> world = part.world.lock();
    for (std::size_t each = 0; world != nullptr && each < world->spaces.size(); ++each) {
        if (world->spaces[each]->refuses(part.elements.data, true).empty()) {
            return world->spaces[each];
        }
    }
    throw error(
        "distributed: these elements are on a device, and the host has no way to them: no run on that device has begun "
        "on their context, or the context is gone");
}

/// Memory of the host for a part, dense.
EINPARALLEL_INLINE distributed_part room_on_host(const distributed_part& part) {
    distributed_part made = part;
    made.elements.is_on_device = false;
    made.elements.strides = dense_strides(part.elements.held);
    made.keep = nullptr;
    if (!part.elements.held.empty()) {
        const std::shared_ptr<const memory_space> space = space_of(part);
        const std::size_t bytes = static_cast<std::size_t>(part.elements.held.size()) * part.elements.element_bytes;
        const auto block = shared_block(space->on_host(), bytes);
        made.elements.data = block->data();
        made.keep = block;
    }
    return made;
}

EINPARALLEL_INLINE distributed_part on_host(const distributed_part& part) {
    if (!part.elements.is_on_device) {
        return part;
    }
    distributed_part made = room_on_host(part);
    if (made.keep != nullptr) {
        copy_in(*space_of(part), made.elements, part.elements);
    }
    return made;
}

EINPARALLEL_INLINE void write_back(const distributed_part& part, const distributed_part& copied) {
    if (copied.keep != nullptr) {
        copy_in(*space_of(part), part.elements, copied.elements);
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
