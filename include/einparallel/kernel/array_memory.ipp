#pragma once

#include <einparallel/kernel/array_memory.hpp>

#include <einparallel/kernel/threads.hpp>
#include <einparallel/notation/error.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace einparallel::EINPARALLEL_DETAIL {

/// Tells AddressSanitizer, where it is linked, that memory between two addresses must not be accessed (`forbidden`), or
/// that it may be accessed again.
EINPARALLEL_INLINE void forbid([[maybe_unused]] const std::byte* from, [[maybe_unused]] const std::byte* to,
                               [[maybe_unused]] bool forbidden) {
#if defined(__GNUC__) && defined(__ELF__)
    if (auto* const tell = forbidden ? einparallel_detail_forbid : einparallel_detail_allow; tell != nullptr) {
        tell(from, std::size_t(to - from));
    }
#endif
}

inline constexpr std::align_val_t large_page{std::size_t{2} << 20};

/// Bytes that an allocation has besides the lines: for the note, and to align the first line.
inline constexpr std::size_t bytes_beside = line_bytes + sizeof(line_note);

/// The note in front of lines. Accesses to it are forbidden or allowed from now on.
EINPARALLEL_INLINE line_note* note_of(const void* lines, bool forbidden) {
    auto* const note = static_cast<line_note*>(const_cast<void*>(lines)) - 1;  // the lines themselves are not written
    forbid(reinterpret_cast<std::byte*>(note), reinterpret_cast<std::byte*>(note + 1), forbidden);
    return note;
}

/// Bytes of the large pages at the beginning of an allocation of `bytes` bytes. A last page counts if it is nearly
/// full.
EINPARALLEL_INLINE std::size_t bytes_in_large_pages(std::size_t bytes) {
    constexpr std::size_t waste = std::size_t(large_page) / 8;
    constexpr auto page = std::size_t(large_page);
    return bytes > SIZE_MAX - waste ? 0 : (bytes + waste) / page * page;
}

/// Allocations that this thread has freed lately, for the next ones of the same size. A statement frees its temporary
/// arrays and makes others each time; the system would take their pages back and give others, at a page fault each.
class kept_allocations : private not_copied {
public:
    /// Those of this thread; null for sizes that are not kept, and at the end of the thread.
    EINPARALLEL_INLINE static kept_allocations* of(std::size_t bytes) {
        if (bytes < smallest || bytes >= std::size_t(large_page)) {
            return nullptr;
        }
        thread_local bool is_over = false;  // arrays may be freed later: those of the whole program
        thread_local kept_allocations kept(is_over);
        return is_over ? nullptr : &kept;
    }

    explicit kept_allocations(bool& is_over) : is_over_(is_over) {}
    ~kept_allocations() {
        while (count_ > 0) {
            drop(0);
        }
        is_over_ = true;
    }

    /// An allocation of exactly so many bytes, or null.
    EINPARALLEL_INLINE std::byte* take(std::size_t bytes) {
        for (std::size_t each = count_; each-- > 0;) {
            if (list_[each].bytes == bytes) {
                std::byte* const found = list_[each].memory;
                forbid(found, found + bytes, false);
                remove(each);
                return found;
            }
        }
        return nullptr;
    }

    EINPARALLEL_INLINE void keep(std::byte* memory, std::size_t bytes) {
        while (count_ == most || (count_ > 0 && bytes_ + bytes > most_bytes)) {
            drop(0);
        }
        forbid(memory, memory + bytes, true);
        list_[count_++] = {memory, bytes};
        bytes_ += bytes;
    }

private:
    static constexpr std::size_t smallest = std::size_t{64} << 10;  // bytes; smaller ones stay in the heap
    static constexpr std::size_t most_bytes = std::size_t{2} << 20;
    static constexpr std::size_t most = 8;
    struct allocation {
        std::byte* memory;
        std::size_t bytes;
    };

    void remove(std::size_t number) {
        bytes_ -= list_[number].bytes;
        std::copy(list_ + number + 1, list_ + count_, list_ + number);
        --count_;
    }
    void drop(std::size_t number) {
        const auto [memory, bytes] = list_[number];
        forbid(memory, memory + bytes, false);
        ::operator delete(memory);
        remove(number);
    }

    bool& is_over_;
    allocation list_[most];  ///< the oldest first
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
};

/// An allocation that is not on a large page, or null.
EINPARALLEL_INLINE std::byte* allocation_of(std::size_t bytes) {
    kept_allocations* const kept = kept_allocations::of(bytes);
    std::byte* const found = kept != nullptr ? kept->take(bytes) : nullptr;
    return found != nullptr ? found : static_cast<std::byte*>(::operator new(bytes, std::nothrow));
}

EINPARALLEL_INLINE void* new_lines(std::size_t bytes, const char* who) {
    static_assert(alignof(line_note) <= line_bytes && sizeof(line_note) <= line_bytes);
    const std::size_t all = bytes > SIZE_MAX - bytes_beside ? SIZE_MAX : bytes + bytes_beside;
    const std::size_t large = bytes_in_large_pages(all);
    auto* const whole = large == 0
                            ? allocation_of(all)
                            : static_cast<std::byte*>(::operator new(std::max(all, large), large_page, std::nothrow));
    require(whole != nullptr, {who, ": there is no memory for ", bytes, " bytes"});
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (large > 0) {
        static_cast<void>(::madvise(whole, large, MADV_HUGEPAGE));
    }
#endif
    std::byte* const last = whole + bytes_beside;
    std::byte* const lines = last - reinterpret_cast<std::uintptr_t>(last) % line_bytes;
    std::construct_at(reinterpret_cast<line_note*>(lines) - 1, line_note{whole, bytes, nullptr});
    forbid(whole, lines, true);
    forbid(lines + bytes, last + bytes, true);
    return lines;
}

EINPARALLEL_INLINE void delete_lines(void* lines) {
    if (lines != nullptr) {
        line_note* const note = note_of(lines, false);
        std::byte* const whole = note->whole;
        const std::size_t bytes = note->bytes + bytes_beside;
        forbid(whole, whole + bytes, false);  // whoever gets it next may do what he wants there
        std::destroy_at(note);
        kept_allocations* const kept = kept_allocations::of(bytes);
        if (bytes_in_large_pages(bytes) > 0) {
            ::operator delete(whole, large_page);
        } else if (kept != nullptr) {
            kept->keep(whole, bytes);
        } else {
            ::operator delete(whole);
        }
    }
}

EINPARALLEL_INLINE std::weak_ptr<const void> life_of(const void* lines) {
    static std::mutex asking;  // two threads may bind one array
    const std::lock_guard alone(asking);
    std::shared_ptr<const void>& life = note_of(lines, false)->life;
    if (life == nullptr) {
        life = std::make_shared<char>();
    }
    std::weak_ptr<const void> asked = life;
    note_of(lines, true);
    return asked;
}

EINPARALLEL_INLINE void check_extents(index_span extents) {
    const std::string negative = negative_extent(extents);
    require(negative.empty(), {"einparallel: ", negative});
    expect(is_countable(extents), "einparallel: these extents make more than 2^59 elements");
}

/// Fills `bytes` of new memory with copies of `from`, or with zeros where `from` is null. Threads share this, because
/// memory belongs to the processor that touches it first. A zero of any type has only zero bits.
EINPARALLEL_INLINE void touch_first(std::byte* memory, const std::byte* from, index bytes) {
    constexpr index page = 4096;
    on_threads(bytes < threaded_bytes ? 1 : available_threads(), [&](index share, index shares) {
        const even_share own((bytes + page - 1) / page, share, shares);
        const index begin = own.begin * page;
        const index count = std::min(own.end * page, bytes) - begin;
        if (from == nullptr) {
            std::fill_n(memory + begin, count, std::byte{0});
        } else {
            std::copy_n(from + begin, count, memory + begin);
        }
    });
}

EINPARALLEL_INLINE void* new_elements(index_span extents, std::size_t element_bytes, first_elements are,
                                      const void* from) {
    check_extents(extents);
    const index bytes = element_count(extents) * index(element_bytes);
    void* const made = new_lines(std::size_t(bytes));
    if (are != first_elements::unwritten) {
        touch_first(static_cast<std::byte*>(made), static_cast<const std::byte*>(from), bytes);
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
