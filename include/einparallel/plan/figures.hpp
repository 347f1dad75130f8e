#pragma once
// What each vertex of a plan moves and holds, and how far that is from the least possible.

#include <einparallel/plan/lower_bound.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/program.hpp>
#include <einparallel/plan/traffic.hpp>
#include <einparallel/schedule/arena.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace einparallel {

/// Figures of one einsum of a plan. The first three sum to planned_vertex::bytes.
struct vertex_figures {
    std::size_t gathered_bytes = 0;       ///< that all ranks send to hand operands round
    std::size_t aggregated_bytes = 0;     ///< that all ranks send to aggregate the output
    std::size_t repartitioned_bytes = 0;  ///< that all ranks send to bring operands from where they rest
    std::size_t held_bytes = 0;  ///< that rank 0 holds at most while it computes the vertex, all tensors together
    /// Contractions: bytes that a rank must send or receive at least, see lower_bound_words(). Nothing for other
    /// vertices, and where element sizes differ.
    std::optional<double> least_bytes;

    /// Bytes gathered and aggregated per rank, over the least possible: infinity where something moves that need not,
    /// 1 where nothing has to and nothing does. Repartition is not counted: a vertex may well send more than it must,
    /// so that its operands stay where they are.
    [[nodiscard]] std::optional<double> over_least(int ranks) const {
        if (!least_bytes) {
            return std::nullopt;
        }
        const double sent = static_cast<double>(gathered_bytes + aggregated_bytes) / ranks;
        return sent == 0 && *least_bytes == 0 ? 1 : sent / *least_bytes;
    }
};

namespace detail {

/// Bytes that rank 0 holds at most during each vertex; 0 for inputs.
template <class Lazy = void>
std::vector<std::size_t> held_by_vertex(const plan& shown) {
    std::vector<std::size_t> ends;
    const program of_rank = program_writer<Lazy>(shown, 0).write(&ends);
    std::vector<lifetime> alive = lifetimes_of(of_rank);
    std::vector<bool> borrows(of_rank.buffers.size(), false);
    for (std::size_t number = 0; number < alive.size(); ++number) {
        const buffer& each = of_rank.buffers[number];
        if (each.lender == no_buffer || is_result(of_rank, each.lender)) {
            continue;
        }
        lifetime& lender = alive[static_cast<std::size_t>(each.lender)];
        borrows[number] = lender.named && alive[number].named;
        lender.first = borrows[number] ? std::min(lender.first, alive[number].first) : lender.first;
    }
    std::vector<std::size_t> begins(of_rank.steps.size() + 2, 0);
    std::vector<std::size_t> gone(of_rank.steps.size() + 2, 0);
    for (std::size_t number = 0; number < alive.size(); ++number) {
        if (alive[number].named && !borrows[number]) {
            begins[alive[number].first] += of_rank.buffers[number].bytes();
            gone[alive[number].last + 1] += of_rank.buffers[number].bytes();
        }
    }
    std::vector<std::size_t> held(shown.vertices().size(), 0);
    std::size_t now = 0;
    std::size_t position = 0;
    for (std::size_t number = 0; number < held.size(); ++number) {
        for (; position < ends[number]; ++position) {
            now += begins[position] - gone[position];
            held[number] = std::max(held[number], now);
        }
    }
    return held;
}

}  // namespace detail

/// The figures of every vertex of a plan, by position; inputs have none. Costs as much as one rank's program.
template <class Lazy = void>
std::vector<vertex_figures> figures_of(const plan& shown) {
    std::vector<vertex_figures> figures(shown.vertices().size());
    const std::vector<std::size_t> held = detail::held_by_vertex(shown);
    for (std::size_t number = 0; number < figures.size(); ++number) {
        const planned_vertex& each = shown.vertices()[number];
        if (each.is_input()) {
            continue;
        }
        vertex_figures& made = figures[number];
        made.gathered_bytes = static_cast<std::size_t>(std::llround(detail::gathered_bytes(each.work)));
        made.aggregated_bytes = static_cast<std::size_t>(std::llround(detail::aggregated_bytes(each.work)));
        made.repartitioned_bytes = each.bytes - std::min(each.bytes, made.gathered_bytes + made.aggregated_bytes);
        made.held_bytes = held[number];
        const bool is_contraction =
            each.origin != nullptr && each.origin->work != nullptr && each.origin->work->is_contraction();
        const bool one_size = std::ranges::all_of(each.work.operand_bytes,
                                                  [&](std::size_t bytes) { return bytes == each.work.output_bytes; });
        // A sum that is not finished here, or not begun, is no contraction by itself.
        const bool whole = each.work.carried == no_label && each.work.pending == no_label;
        const std::optional<contraction_shape> shape = contraction_shape_of(each.work.form, each.work.extents);
        if (is_contraction && one_size && whole && shape) {
            made.least_bytes =
                lower_bound_words(*shape, each.work.ranks.size()) * static_cast<double>(each.work.output_bytes);
        }
    }
    return figures;
}

}  // namespace einparallel
