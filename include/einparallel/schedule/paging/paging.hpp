#pragma once
// Programs that need more memory than there is: tensors wait in storage between their uses, and calls that need too
// much at once run in tiles.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace einparallel {

/// Which tensors may wait in storage.
enum class paged_tensors : std::uint8_t {
    none,
    inputs,  ///< inputs are read again from their source, and nothing is written
    all      ///< other tensors are written to storage, too
};

namespace EINPARALLEL_DETAIL {

/// What a program with pages must keep to, and what its moves take.
struct paging_rule {
    paged_tensors may_page = paged_tensors::all;
    std::size_t limit = 0;       ///< bytes of memory
    bool files_outputs = false;  ///< outputs are written to files, and take no memory of their own
    double early_share = 1;      ///< of the limit: loads begin early and evictions end late while less is held
    double seconds_per_flop = 0;
    double seconds_per_byte = 0;  ///< to or from storage
    bool counts_bytes = false;    ///< bytes are minimised, not the seconds that moves take longer than arithmetic
};

/// How much a program that pages lacks: the smaller, the better.
struct paging_loss {
    std::size_t excess = 0;  ///< bytes above the limit
    double exposed = 0;      ///< seconds (exposed_seconds); 0 where bytes are minimised
    std::size_t moved = 0;   ///< bytes to and from storage, without one reading of each input

    friend auto operator<=>(const paging_loss&, const paging_loss&) = default;
};

/// Rewrites a program so that it holds at most `rule.limit` bytes (program_room::peak), where that can be done. A
/// program that holds no more than that already, and reads no file, is left as it is; inputs in files are loaded ahead
/// of their first use. Calls that need too much at once become calls on tiles, in steps of their own, and the elements
/// of tiles pass through buffers. A tensor between two uses leaves memory where the limit asks for it. Moves begin as
/// early, and end as late, as memory allows, so that arithmetic hides them. Messages do not change, so programs of
/// other ranks need not. A program with steps for a first run only is left as it is. Returns how good it is now.
EINPARALLEL_INLINE paging_loss page(program& of_rank, const paging_rule& rule);

/// Bytes that a program moves to and from storage beyond one reading of each input that it reads there.
EINPARALLEL_INLINE std::size_t bytes_paged_again(const program& of_rank);

/// Cuts messages that take much of `limit` bytes into slabs, each in a phase of its own, so that what travels need not
/// be whole in memory. Both ends of a message see it, so that programs of all ranks still fit together.
EINPARALLEL_INLINE void split_messages(program& of_rank, std::size_t limit);

/// All of a program that page() depends on, in numbers: programs of equal shape are paged alike, and then hold and move
/// as many bytes. Where blocks begin is not in it, except for calls that read at functions of labels, whose operands
/// may end at a bound; which blocks are the same is.
EINPARALLEL_INLINE std::vector<std::size_t> shape_of(const program& of_rank);

/// Seconds by which moves to and from storage delay a program, if one move is made after the other and steps take as
/// long as their arithmetic.
EINPARALLEL_INLINE double exposed_seconds(const program& of_rank, double seconds_per_flop, double seconds_per_byte);

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
