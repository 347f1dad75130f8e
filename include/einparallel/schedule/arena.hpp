#pragma once
// Where the buffers of a program lie in one allocation: from when to when each is alive, and at which offset.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace einparallel {

/// Every buffer of an arena begins at a multiple of this many bytes, but for those inside a lender.
inline constexpr std::size_t arena_alignment = 64;

/// Offset of a buffer that the arena does not hold.
inline constexpr std::size_t not_in_arena = std::numeric_limits<std::size_t>::max();

/// First and last step (positions in program::steps) that name a buffer; the last is past all steps for a result.
struct lifetime {
    std::size_t first = 0;
    std::size_t last = 0;
    bool named = false;  ///< false for a buffer that nothing uses
    bool kept = false;   ///< written in a step marked once and read in others: alive throughout, and over all runs
    int writers = 0;     ///< receives and actions that write to it, and the application, to a result
    std::optional<std::size_t> input{};  ///< the vertex whose elements are read into it
    int touches = 0;                     ///< all that reads or writes it, and the application
    std::size_t written = 0;             ///< step of the last write

    friend bool operator==(const lifetime&, const lifetime&) = default;
};

/// Offsets of all buffers in one arena, and its size in bytes.
struct arena_plan {
    std::vector<std::size_t> offsets;  ///< in bytes, by buffer; not_in_arena for those that lie elsewhere
    std::size_t bytes = 0;

    [[nodiscard]] bool holds(buffer_id number) const { return offsets[std::size_t(number)] != not_in_arena; }

    friend bool operator==(const arena_plan&, const arena_plan&) = default;
};

/// Lifetime of every buffer of a program. A result that no step names is alive throughout, as is what is kept.
EINPARALLEL_INLINE std::vector<lifetime> lifetimes_of(const program& of_rank);

namespace EINPARALLEL_DETAIL {

/// Bytes that a buffer takes, so that the next one begins at a multiple of arena_alignment.
constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
}

/// By buffer: the lender that it lies in (buffer::lender, or that one's own), or no_buffer. `outside(buffer)`: lends
/// and borrows nothing. A lender's lifetime in `alive` then covers those of its borrowers.
EINPARALLEL_INLINE std::vector<buffer_id> lend(const program& of_rank, std::vector<lifetime>& alive,
                                               function_ref<bool(buffer_id)> outside);

/// Bytes that a rank holds during each step: all results and what is kept throughout, other buffers while they are
/// alive. `outside(buffer)`: lends and borrows nothing; `borrowed(buffer)`: the application's memory, which counts not.
EINPARALLEL_INLINE std::vector<std::size_t> bytes_held(
    const program& of_rank, std::vector<lifetime> alive, function_ref<bool(buffer_id)> outside,
    function_ref<bool(buffer_id)> borrowed = [](buffer_id) { return false; });

}  // namespace EINPARALLEL_DETAIL

/// The memory that a rank holds for a program: all results, what is kept over runs, and one arena for other buffers.
struct program_room {
    arena_plan kept{};  ///< in an allocation of its own
    arena_plan arena{};
    std::size_t results = 0;             ///< bytes
    std::vector<std::size_t> by_step{};  ///< bytes_held

    [[nodiscard]] std::size_t peak() const { return results + kept.bytes + arena.bytes; }
};

/// `borrowed(buffer)`: in the application's memory, which counts not.
EINPARALLEL_INLINE program_room room_of(
    const program& of_rank, detail::function_ref<bool(buffer_id)> borrowed = [](buffer_id) { return false; });

/// Static offsets for the buffers of a program: two that are alive in a common step never overlap, but for those with a
/// lender (buffer::lender), which lie inside it. `outside(buffer)` excludes buffers that the executor keeps elsewhere:
/// results, inputs that it uses in place; what they would have lent is then laid like any other.
/// Time: the pairs of buffers that are alive together.
EINPARALLEL_INLINE arena_plan plan_arena(
    const program& of_rank, detail::function_ref<bool(buffer_id)> outside = [](buffer_id) { return false; });

}  // namespace einparallel
