#pragma once

#include <einparallel/cuda/memory.hpp>

#include <einparallel/cuda/check.hpp>

#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void* device_pool::allocate(std::size_t bytes) {
    const std::scoped_lock alone(guard_);
    if (const auto known = free_.find(bytes); known != free_.end()) {
        void* const found = known->second;
        free_.erase(known);
        return found;
    }
    void* made = nullptr;
    const auto take = [&] {
        if (allocate_ == nullptr) {
            return cudaMalloc(&made, bytes);
        }
        made = allocate_(bytes, work_);
        return made == nullptr ? cudaErrorMemoryAllocation : cudaStreamSynchronize(work_);  // other streams use it too
    };
    cudaError_t code = take();
    if (code == cudaErrorMemoryAllocation && !free_.empty()) {
        trim();
        code = take();
    }
    if (code == cudaErrorMemoryAllocation) {
        static_cast<void>(cudaGetLastError());
        std::size_t left = 0;
        std::size_t all = 0;
        check_cuda(cudaMemGetInfo(&left, &all), "cudaMemGetInfo");
        throw too_little_device_memory("too little device memory: " + std::to_string(bytes) + " bytes are asked for, " +
                                       std::to_string(left) + " of " + std::to_string(all) + " are free");
    }
    check_cuda(code, allocate_ == nullptr ? "cudaMalloc" : "device_run.allocate");
    bytes_ += bytes;
    return made;
}

EINPARALLEL_INLINE void device_pool::deallocate(void* memory, std::size_t bytes) noexcept {
    const std::scoped_lock alone(guard_);
    if (release_ != nullptr) {
        bytes_ -= bytes;
        release_(memory, bytes, work_);
        return;
    }
    try {
        free_.emplace(bytes, memory);
    } catch (...) {  // out of host memory: frees it at once
        static_cast<void>(cudaFree(memory));
        bytes_ -= bytes;
    }
}

EINPARALLEL_INLINE void device_pool::trim() noexcept {
    const std::scoped_lock alone(guard_);
    for (const auto& [bytes, memory] : free_) {
        static_cast<void>(cudaFree(memory));
        bytes_ -= bytes;
    }
    free_.clear();
}

EINPARALLEL_INLINE void* allocate_pinned(std::size_t bytes) {
    void* made = nullptr;
    check_cuda(cudaHostAlloc(&made, bytes, cudaHostAllocPortable), "cudaHostAlloc");
    return made;
}

EINPARALLEL_INLINE void free_pinned(void* memory) noexcept {
    static_cast<void>(cudaFreeHost(memory));
}

EINPARALLEL_INLINE memory_owner owner_of_memory(const void* address) {
    cudaPointerAttributes found{};
    check_cuda(cudaPointerGetAttributes(&found, address), "cudaPointerGetAttributes");
    if (found.type == cudaMemoryTypeDevice || found.type == cudaMemoryTypeManaged) {
        return {found.type == cudaMemoryTypeDevice ? memory_kind::device : memory_kind::managed, found.device};
    }
    return {found.type == cudaMemoryTypeHost ? memory_kind::pinned : memory_kind::host};
}

}  // namespace einparallel::EINPARALLEL_DETAIL
