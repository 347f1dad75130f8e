#pragma once
// Where the buffers of a program lie in one allocation: the steps in which each one is alive, and its offset.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace einparallel {

/// Every buffer of an arena begins at a multiple of this many bytes, except buffers that lie inside a lender.
inline constexpr std::size_t arena_alignment = 64;

/// Offset of a buffer that the arena does not hold.
inline constexpr std::size_t not_in_arena = std::numeric_limits<std::size_t>::max();

/// The steps in which a buffer is alive, as positions in program::steps, and how it is used.
struct lifetime {
    std::size_t first = 0;
    std::size_t last = 0;  ///< the number of steps for a result
    bool named = false;    ///< false for a buffer that nothing uses
    bool kept = false;     ///< written in a step marked once, read in others: alive in all steps, and between runs
    int writers = 0;       ///< number of receives and actions that write it; one more for a result
    std::optional<std::size_t> input{};  ///< the input vertex whose elements are read into it
    int touches = 0;                     ///< number of its reads and writes in all steps; one more for a result
    std::size_t written = 0;             ///< step of the last write

    friend bool operator==(const lifetime&, const lifetime&) = default;
};

/// Offsets of all buffers in one arena, and its size in bytes.
struct arena_plan {
    std::vector<std::size_t> offsets;  ///< in bytes, by buffer; not_in_arena for a buffer outside the arena
    std::size_t bytes = 0;

    [[nodiscard]] bool holds(buffer_id number) const { return offsets[std::size_t(number)] != not_in_arena; }

    friend bool operator==(const arena_plan&, const arena_plan&) = default;
};

/// Lifetime of every buffer of a program. A kept buffer is alive in all steps; so is a result that no step names.
EINPARALLEL_INLINE std::vector<lifetime> lifetimes_of(const program& of_rank);

namespace EINPARALLEL_DETAIL {

/// `bytes` rounded up to a multiple of arena_alignment.
constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
}

/// A number below `count`, of a fixed series, which is the same on all ranks. `state` is where the series stands.
inline std::size_t drawn(std::uint64_t& state, std::size_t count) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return std::size_t(state >> 33U) % count;
}

/// The bytes of an arena that a buffer takes.
inline double bytes_in_arena(const buffer& of) {
    return double(aligned(of.bytes()));
}

/// Returns for every buffer the lender that it lies in (buffer::lender, or the lender of that one), or no_buffer.
/// Extends each lender's lifetime in `alive` over the lifetimes of its borrowers. A buffer with `outside(buffer)` is
/// neither lender nor borrower.
EINPARALLEL_INLINE std::vector<buffer_id> lend(const program& of_rank, std::vector<lifetime>& alive,
                                               function_ref<bool(buffer_id)> outside);

/// Bytes that a rank holds during each step. Results and kept buffers count in all steps, other buffers while they are
/// alive. A buffer with `outside(buffer)` is neither lender nor borrower. A buffer with `borrowed(buffer)` lies in the
/// application's memory and does not count.
EINPARALLEL_INLINE std::vector<std::size_t> bytes_held(
    const program& of_rank, std::vector<lifetime> alive, function_ref<bool(buffer_id)> outside,
    function_ref<bool(buffer_id)> borrowed = [](buffer_id) { return false; });

}  // namespace EINPARALLEL_DETAIL

/// The memory that a rank holds for a program: results, buffers kept between runs, and one arena for all other buffers.
struct program_room {
    arena_plan kept{};  ///< for kept buffers: a separate allocation
    arena_plan arena{};
    std::size_t results = 0;             ///< bytes of all results
    std::vector<std::size_t> by_step{};  ///< bytes held in each step (bytes_held)

    [[nodiscard]] std::size_t peak() const { return results + kept.bytes + arena.bytes; }
};

/// Plans the memory of a program. A buffer with `borrowed(buffer)` lies in the application's memory: it gets no offset.
/// The arena is no larger than if no buffer did.
/// `enough`: a peak of so many bytes will do, and a smaller one is not looked for; 0: the smallest that is found.
EINPARALLEL_INLINE program_room room_of(
    const program& of_rank, detail::function_ref<bool(buffer_id)> borrowed = [](buffer_id) { return false; },
    std::size_t enough = 0);

/// Static offsets for the buffers of a program. Two buffers that are alive in a common step never overlap, but a buffer
/// with a lender (buffer::lender) lies inside the lender. `outside(buffer)` excludes buffers that the executor keeps
/// elsewhere, such as results, or inputs used in place; a buffer whose lender is excluded is placed like any other.
/// Takes time proportional to the number of pairs of buffers that are alive together. `enough`: as in room_of().
EINPARALLEL_INLINE arena_plan plan_arena(
    const program& of_rank, detail::function_ref<bool(buffer_id)> outside = [](buffer_id) { return false; },
    std::size_t enough = 0);

}  // namespace einparallel
