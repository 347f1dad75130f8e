#pragma once
// Scratch memory for packed panels and reduced operands.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace einparallel::EINPARALLEL_DETAIL {

/// Scratch memory of one call, aligned to a cache line, not initialised. It comes from the heap, which gives the same
/// memory again to a kernel that runs again.
class scratch_memory {
public:
    explicit scratch_memory(std::size_t bytes) : whole_(bytes == 0 ? nullptr : new std::byte[bytes + alignment]) {}

    /// Null for 0 bytes.
    [[nodiscard]] std::byte* data() const {
        const std::size_t past = reinterpret_cast<std::uintptr_t>(whole_.get()) % alignment;
        return past == 0 ? whole_.get() : whole_.get() + (alignment - past);
    }

private:
    static constexpr std::size_t alignment = 64;

    std::unique_ptr<std::byte[]> whole_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
