#pragma once
// One vertex of the TaskGraph: an einsum with its partition vector, mesh, resting distributions and ring.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/schedule/pending.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace einparallel {

/// How a vertex is run. In options `automatic` leaves the choice to the planner; in a task it never stands.
enum class algorithm : std::uint8_t { automatic, c, mn, k, master_worker };

/// Which tensor travels round a ring while the arithmetic goes on.
inline constexpr int nothing_travels = -2;
inline constexpr int output_travels = -1;  ///< the k ring; otherwise the number of an operand: the m/n ring

/// Everything that a schedule needs to know of a vertex, as a value.
struct task {
    einsum_form form;
    std::vector<index> extents;              ///< by label
    std::vector<std::size_t> operand_bytes;  ///< bytes of one element of each operand
    std::size_t output_bytes = 0;            ///< bytes of one element of the output
    mesh ranks;                              ///< the cuts, and the order of the axes
    std::vector<distribution> operands;      ///< where each operand rests before the vertex starts
    distribution output;                     ///< where the output rests when the vertex has ended
    int travelling = nothing_travels;
    label_id carried = no_label;  ///< stands for the summands of operands that come in summands (pending.hpp)
    label_id pending = no_label;  ///< stands for the summands of the output, where they are left to its readers

    /// Labels of the einsum itself; those of pending sums stand behind them.
    [[nodiscard]] std::size_t own_labels() const {
        return extents.size() - (carried != no_label ? 1 : 0) - (pending != no_label ? 1 : 0);
    }

    friend bool operator==(const task&, const task&) = default;
};

/// The dimension of each tensor along which a replicated or partial block is stored in pieces.
struct task_cuts {
    std::vector<std::size_t> operands;
    std::size_t output = 0;

    friend bool operator==(const task_cuts&, const task_cuts&) = default;
};

namespace detail {

/// Extents of a tensor with these labels.
inline std::vector<index> bounds_of(const std::vector<label_id>& labels, const std::vector<index>& extents) {
    std::vector<index> bounds;
    bounds.reserve(labels.size());
    for (const label_id label : labels) {
        bounds.push_back(label == no_label ? 1 : extents[static_cast<std::size_t>(label)]);
    }
    return bounds;
}

/// Number of ranks that share one block of a tensor with these labels.
inline int sharers(const std::vector<label_id>& labels, const mesh& ranks) {
    int count = ranks.size();
    for (const mesh_axis& axis : ranks.axes) {
        count /= std::ranges::find(labels, axis.label) != labels.end() ? axis.parts : 1;
    }
    return count;
}

/// Outermost dimension that `suits(label)` and whose largest block has at least `pieces` elements along it; otherwise
/// the dimension with the largest block.
template <class Suits>
std::size_t choose_cut(const std::vector<label_id>& labels, const std::vector<index>& extents, const mesh& ranks,
                       index pieces, Suits suits) {
    const std::vector<index> bounds = bounds_of(labels, extents);
    std::size_t largest = 0;
    index largest_extent = -1;
    for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
        const index block = block_of(bounds[dimension], ranks.parts(labels[dimension]), 0).size();
        if (block >= pieces && suits(labels[dimension])) {
            return dimension;
        }
        if (block > largest_extent) {
            largest = dimension;
            largest_extent = block;
        }
    }
    return largest;
}

/// Elements that each rank hands on so that all sharers of a tensor's block have all of it (or, for the output, so that
/// each has its share of the ⊕): (q-1)/q of the largest block.
inline double moved_elements(const distribution& resting) {
    double block = 1;
    for (std::size_t dimension = 0; dimension < resting.bounds().size(); ++dimension) {
        block *= static_cast<double>(resting.largest_block_extent(dimension));
    }
    const double pieces = resting.replication();
    return block * (pieces - 1) / pieces;
}

/// True where every sharer of a block has at least `each` slices of it: fewer would leave steps of a ring empty, and
/// the data would hop from rank to rank with nothing to hide behind.
inline bool fills_ring(const distribution& resting, int each) {
    return resting.cut() &&
           resting.largest_block_extent(*resting.cut()) >= static_cast<index>(each) * resting.replication();
}

}  // namespace detail

/// Sensible cuts. Of an operand that q ranks share: the outermost dimension whose label is in the output and whose
/// block has at least q elements along it, so that every piece makes its own slice of the output; otherwise the
/// dimension with the largest block extent. Of an output that q ranks have summands of: the outermost dimension whose
/// block has at least 2q elements along it (the k ring halves its chunks), otherwise the one with the largest.
inline task_cuts choose_cuts(const einsum_form& form, const std::vector<index>& extents, const mesh& ranks) {
    task_cuts cuts;
    for (const std::vector<label_id>& labels : form.operands) {
        cuts.operands.push_back(detail::choose_cut(labels, extents, ranks, detail::sharers(labels, ranks),
                                                   [&](label_id label) { return form.in_output(label); }));
    }
    cuts.output = detail::choose_cut(form.output, extents, ranks, index{2} * detail::sharers(form.output, ranks),
                                     [](label_id label) { return label != no_label; });
    return cuts;
}

/// True where the output's chunks are worth sending round: each of the q ranks that have summands of a block gets two
/// half-chunks with at least one slice each. Otherwise a task whose output travels computes its summand first and
/// reduces it then (schedule/reduce.hpp). The same answer on every rank.
inline bool k_ring_suits(const task& work) {
    return detail::fills_ring(work.output, 2);
}

/// Which tensor should travel. `automatic`: the one with the most bytes to move per rank, among the operands that can
/// be cut into a piece for every rank of their ring and the output if the k ring suits; nothing_travels where there is
/// none (what has to move is then gathered or reduced by trees). `mn`: the operand with the most bytes to move, cut or
/// not; `k`: the output; both fall back to nothing_travels where no operand is shared or the output has no summands.
/// `c` and `master_worker`: nothing_travels.
inline int choose_travelling(const task& work, algorithm wanted = algorithm::automatic) {
    int best = nothing_travels;
    double most = 0;
    const auto consider = [&](int tensor, const distribution& resting, std::size_t element_bytes, bool suits) {
        // Tensors without elements still travel if asked to: they compete with less than one byte.
        const double bytes = detail::moved_elements(resting) * static_cast<double>(element_bytes) + 0.5;
        if (suits && resting.replication() > 1 && bytes > most) {
            best = tensor;
            most = bytes;
        }
    };
    if (wanted == algorithm::automatic || wanted == algorithm::mn) {
        for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
            consider(static_cast<int>(operand), work.operands[operand], work.operand_bytes[operand],
                     wanted == algorithm::mn || detail::fills_ring(work.operands[operand], 1));
        }
    }
    if (wanted == algorithm::automatic || wanted == algorithm::k) {
        consider(output_travels, work.output, work.output_bytes, wanted == algorithm::k || k_ring_suits(work));
    }
    return best;
}

/// What a task runs as: `k` where the output travels, `mn` where an operand does or is gathered, `k` where the output
/// is only reduced, `c` where nothing moves.
inline algorithm algorithm_of(const task& work) {
    if (work.travelling == output_travels) {
        return algorithm::k;
    }
    for (const distribution& operand : work.operands) {
        if (operand.replication() > 1) {
            return algorithm::mn;
        }
    }
    return work.output.replication() > 1 ? algorithm::k : algorithm::c;
}

/// The task of a vertex cut over a mesh, its tensors resting in pieces along `cuts`, some of them in summands. What
/// travels is the caller's to say (choose_travelling), or nothing.
/// @pre one axis per label, every axis on a label of the form
inline task make_task(summed_einsum einsum, std::vector<std::size_t> operand_bytes, std::size_t output_bytes,
                      mesh ranks, const task_cuts& cuts, int travelling = nothing_travels) {
    task made;
    made.form = std::move(einsum.form);
    made.extents = std::move(einsum.extents);
    made.carried = einsum.carried;
    made.pending = einsum.pending;
    for (std::size_t operand = 0; operand < made.form.operands.size(); ++operand) {
        made.operands.emplace_back(detail::bounds_of(made.form.operands[operand], made.extents), ranks,
                                   made.form.operands[operand], cuts.operands[operand]);
    }
    std::vector<index> bounds = detail::bounds_of(made.form.output, made.extents);
    made.output =
        made.pending != no_label
            ? distribution(std::move(bounds), detail::axes_of_summands(ranks, made.form.output), made.form.output, 0)
            : distribution(std::move(bounds), ranks, made.form.output, cuts.output);
    made.operand_bytes = std::move(operand_bytes);
    made.output_bytes = output_bytes;
    made.ranks = std::move(ranks);
    made.travelling = travelling;
    return made;
}

/// The same for an einsum all of whose sums are finished.
inline task make_task(einsum_form form, std::vector<index> extents, std::vector<std::size_t> operand_bytes,
                      std::size_t output_bytes, mesh ranks, const task_cuts& cuts, int travelling = nothing_travels) {
    return make_task(summed_einsum{std::move(form), std::move(extents)}, std::move(operand_bytes), output_bytes,
                     std::move(ranks), cuts, travelling);
}

/// The task of a vertex cut over a mesh with the cuts of choose_cuts() and the ring of choose_travelling().
inline task make_task(einsum_form form, std::vector<index> extents, std::vector<std::size_t> operand_bytes,
                      std::size_t output_bytes, mesh ranks, algorithm wanted = algorithm::automatic) {
    const task_cuts cuts = choose_cuts(form, extents, ranks);
    task made =
        make_task(std::move(form), std::move(extents), std::move(operand_bytes), output_bytes, std::move(ranks), cuts);
    made.travelling = choose_travelling(made, wanted);
    return made;
}

}  // namespace einparallel
