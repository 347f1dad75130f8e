#pragma once
// Scratch memory for packed panels and reduced operands, kept per thread so that a kernel that runs again does not
// allocate again.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace einparallel::EINPARALLEL_DETAIL {

/// What scratch is for; each purpose keeps a block of its own, since one call may hold both.
enum class scratch_purpose : std::uint8_t { packing, reduction, pieces };

/// Scratch memory of one call, aligned to a cache line, not initialised. A block of up to `kept_bytes` stays with the
/// thread until the thread ends; a larger one, or a second lease while the first is out, comes from the heap and goes
/// back to it.
template <scratch_purpose Purpose>
class scratch_lease {
public:
    static constexpr std::size_t kept_bytes = std::size_t{4} << 20;
    static constexpr std::size_t alignment = 64;

    explicit scratch_lease(std::size_t bytes) {
        if (bytes <= kept_bytes && !thread_has_ended() && !kept_block().lent) {
            block& kept = kept_block();
            if (kept.bytes < bytes) {
                kept.bytes = 0;  // stays true if the next line throws
                kept.memory.reset(new std::byte[bytes + alignment]);
                kept.bytes = bytes;
            }
            kept.lent = true;
            from_ = &kept;
            data_ = aligned(kept.memory.get());
        } else {
            own_.reset(new std::byte[bytes + alignment]);
            data_ = aligned(own_.get());
        }
    }
    scratch_lease(const scratch_lease&) = delete;
    scratch_lease& operator=(const scratch_lease&) = delete;
    ~scratch_lease() {
        if (from_ != nullptr) {
            from_->lent = false;
        }
    }

    [[nodiscard]] std::byte* data() const { return data_; }

private:
    struct block {
        std::unique_ptr<std::byte[]> memory;
        std::size_t bytes = 0;
        bool lent = false;

        block() = default;
        block(const block&) = delete;
        block& operator=(const block&) = delete;
        ~block() { thread_has_ended() = true; }
    };

    /// The thread's block is gone: destructors that run later contract as well. Outlives everything, being a bare bool.
    static bool& thread_has_ended() {
        static thread_local bool ended = false;
        return ended;
    }

    static block& kept_block() {
        static thread_local block kept;
        return kept;
    }
    static std::byte* aligned(std::byte* start) {
        const std::size_t past = reinterpret_cast<std::uintptr_t>(start) % alignment;
        return past == 0 ? start : start + (alignment - past);
    }

    block* from_ = nullptr;
    std::unique_ptr<std::byte[]> own_;
    std::byte* data_ = nullptr;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
