#pragma once

#include <einparallel/kernel/space.hpp>

#include <einparallel/kernel/array_memory.hpp>
#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/work/softmax.hpp>

namespace einparallel {

EINPARALLEL_VIRTUAL void* host_space::allocate(std::size_t bytes) const {
    return detail::new_lines(bytes, "a run");
}

EINPARALLEL_VIRTUAL void host_space::deallocate(void* memory, std::size_t /*bytes*/) const noexcept {
    detail::delete_lines(memory);
}

EINPARALLEL_VIRTUAL void host_space::softmax(element_type element, const block_call& call, label_id along) const {
    element.bytes == sizeof(float) ? detail::softmax_block<float>(call, along)
                                   : detail::softmax_block<double>(call, along);
}

EINPARALLEL_VIRTUAL void host_space::copy(const box_pair& boxes) const {
    copy_box(boxes.extents, boxes.element_bytes, boxes.into, boxes.into_strides, boxes.from, boxes.from_strides);
}

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::shared_ptr<memory_block> shared_block(const memory_space& space, std::size_t bytes) {
    return {new memory_block(space, bytes), [owner = space.owner()](memory_block* block) { delete block; }};
}

}  // namespace einparallel::EINPARALLEL_DETAIL
