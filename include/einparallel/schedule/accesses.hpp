#pragma once
// The parts of buffers that an action of a program reads and writes.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/schedule/program.hpp>

#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

struct buffer_part {
    buffer_id place = no_buffer;
    box region;
};

struct accesses {
    std::vector<buffer_part> reads;  ///< of a contraction: its operands, in their order
    std::vector<buffer_part> writes;
};

/// What an action reads and writes. `form`: the einsum of a contraction, which gives the regions; null: they stay
/// without sides.
EINPARALLEL_INLINE accesses accesses_of(const program& of_rank, const action& done, const einsum_form* form = nullptr);

}  // namespace einparallel::EINPARALLEL_DETAIL
