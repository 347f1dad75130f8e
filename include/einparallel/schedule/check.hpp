#pragma once
// Whether the programs of all ranks fit together: what schedules promise (schedule/program.hpp), checked as a value.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace einparallel {

/// The first promise that the programs of all ranks break, as a sentence; empty where they keep all: phases ascend,
/// every send has a receive of the same region, bytes and order in the same phase and nobody writes to himself, regions
/// lie inside their buffers, work neither touches what its step receives nor writes what it sends.
/// `form_of(vertex)` gives the einsum (const einsum_form&) of a vertex.
EINPARALLEL_INLINE [[nodiscard]] std::string check_programs(
    std::span<const program> of_ranks, detail::function_ref<const einsum_form&(std::size_t)> form_of);

}  // namespace einparallel
