#pragma once
// Host memory, as the executor sees it. Another memory space (CUDA) supplies the same members.

#include <einparallel/graph/source.hpp>
#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/large_pages.hpp>
#include <einparallel/notation/box.hpp>

#include <concepts>
#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace einparallel {

/// What the executor asks of a memory space. `contract` and `combine` run a vertex's kernel on that memory; `read`
/// brings the elements of a source into it; `borrow` says which memory of the application can be used in place.
template <class Space>
concept MemorySpace = std::is_nothrow_move_constructible_v<Space> &&
    requires(Space& space, void* memory, std::size_t bytes, const kernel& work, const block_call& call,
             std::span<const index> indices, const source& origin, const box& region) {
    { space.allocate(bytes) } -> std::same_as<void*>;
    { space.deallocate(memory, bytes) }
    noexcept;
    space.contract(work, call);
    space.combine(work, indices, memory, indices, memory, indices);
    space.copy(indices, memory, indices, memory, indices, bytes);
    space.read(origin, region, memory);
    { space.borrow(origin, region) } -> std::same_as<const void*>;
};

/// Ordinary memory, every allocation on a cache line.
struct host_space {
    static constexpr std::align_val_t alignment{64};

    /// @throws std::bad_alloc
    [[nodiscard]] void* allocate(std::size_t bytes) {
        void* const memory = ::operator new(bytes, alignment);
        detail::wish_large_pages(memory, bytes);
        return memory;
    }
    void deallocate(void* memory, std::size_t /*bytes*/) noexcept { ::operator delete(memory, alignment); }

    void contract(const kernel& work, const block_call& call) { work.contract(call); }

    /// into = into ⊕ from
    void combine(const kernel& work, std::span<const index> extents, void* into, std::span<const index> into_strides,
                 const void* from, std::span<const index> from_strides) {
        work.combine(extents, into, into_strides, from, from_strides);
    }

    /// into = from. Strides in elements; no extent is 0.
    void copy(std::span<const index> extents, void* into, std::span<const index> into_strides, const void* from,
              std::span<const index> from_strides, std::size_t element_bytes) {
        copy_box(extents, element_bytes, into, into_strides, from, from_strides);
    }

    void read(const source& origin, const box& region, void* into) { origin.read(region, into); }
    [[nodiscard]] const void* borrow(const source& origin, const box& region) { return origin.borrow(region); }
};

namespace detail {

/// One allocation in a memory space.
template <class Space>
class memory_block {
public:
    memory_block() = default;
    /// No allocation for 0 bytes. @throws std::bad_alloc
    memory_block(Space space, std::size_t bytes)
        : space_(std::move(space)), bytes_(bytes), data_(bytes == 0 ? nullptr : space_.allocate(bytes)) {}
    memory_block(memory_block&& other) noexcept
        : space_(std::move(other.space_)),
          bytes_(std::exchange(other.bytes_, 0)),
          data_(std::exchange(other.data_, nullptr)) {}
    memory_block& operator=(memory_block&& other) noexcept {
        std::swap(space_, other.space_);
        std::swap(bytes_, other.bytes_);
        std::swap(data_, other.data_);
        return *this;
    }
    memory_block(const memory_block&) = delete;
    memory_block& operator=(const memory_block&) = delete;
    ~memory_block() {
        if (data_ != nullptr) {
            space_.deallocate(data_, bytes_);
        }
    }

    [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    Space space_{};
    std::size_t bytes_ = 0;
    void* data_ = nullptr;
};

}  // namespace detail

}  // namespace einparallel
