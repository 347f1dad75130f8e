#pragma once
// One vertex of the TaskGraph: an einsum with its partition vector, mesh, resting distributions and ring.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/schedule/pending.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace einparallel {

/// How a vertex is run. In options `automatic` leaves the choice to the planner; in a task it never stands.
enum class algorithm : std::uint8_t { automatic, c, mn, k, master_worker };

/// Which tensor travels round a ring while the arithmetic goes on.
inline constexpr int nothing_travels = -2;
inline constexpr int output_travels = -1;  ///< the k ring; otherwise the number of an operand: the m/n ring
inline constexpr int all_travel = -4;      ///< master–worker: operands to the workers, their share of the output back

/// Master–worker: all tensors of a task rest on one rank, which feeds the others.
struct feeding {
    int master = 0;             ///< the rank
    label_id label = no_label;  ///< of the output; every worker's share is fed in slices along it
    int slices = 0;             ///< of a worker's share; 0: nobody is fed

    friend bool operator==(const feeding&, const feeding&) = default;
};

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
    feeding feed;                 ///< where all tensors travel
    label_id carried = no_label;  ///< stands for the summands of operands that come in summands (pending.hpp)
    label_id pending = no_label;  ///< stands for the summands of the output, where they are left to its readers
    /// Bit r: operand r is given as whole blocks, which are gathered before, once for all readers that hold them
    /// (schedule_gathering).
    std::uint64_t held = 0;

    [[nodiscard]] bool holds(std::size_t operand) const { return operand < 64 && ((held >> operand) & 1U) != 0; }
    EINPARALLEL_INLINE [[nodiscard]] std::vector<std::size_t> held_operands() const;

    /// True where an operand is cut along a label, so that its pieces can go round a ring.
    EINPARALLEL_INLINE [[nodiscard]] bool may_travel(std::size_t operand) const {
        const std::optional<std::size_t> cut = operands[operand].cut();
        return cut && form.operands[operand][*cut] != no_label;
    }
    /// True where they do.
    EINPARALLEL_INLINE [[nodiscard]] bool travels(std::size_t operand) const {
        return travelling == int(operand) && may_travel(operand);
    }

    /// Parts of a label; summands that are left pending are one part each.
    [[nodiscard]] int parts(label_id label) const {
        const bool is_pending = label != no_label && label == pending;
        return is_pending ? int(extents[std::size_t(label)]) : ranks.parts(label);
    }

    /// Labels of the einsum itself; those of pending sums stand behind them.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t own_labels() const {
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

namespace EINPARALLEL_DETAIL {

/// Extents of a tensor with these labels.
EINPARALLEL_INLINE std::vector<index> bounds_of(const std::vector<label_id>& labels, const std::vector<index>& extents);

/// Where an operand of an einsum rests: its blocks over the mesh, in pieces where they are shared; one that is read at
/// functions of labels as the boxes that every rank reads, which overlap.
EINPARALLEL_INLINE distribution operand_distribution(const einsum_form& form, const std::vector<index>& extents,
                                                     std::size_t operand, const mesh& ranks, std::size_t cut);

/// True where every rank that shares a block has at least `each` slices of it. With fewer slices some steps of a ring
/// would be empty, and no arithmetic would hide the messages. Where a sharer has no slice (rank 0, or fewer slices than
/// sharers), the few pieces go along trees instead: fewer phases, the same bytes. The largest block decides, so that
/// the answer is the same on every rank.
EINPARALLEL_INLINE bool fills_ring(const distribution& resting, int each);

/// Master–worker: the share of the iteration space that `rank` computes, by label. A worker has nothing to do in the
/// first phase and in the last one, so the master's share is larger than theirs by two slices, as far as the extent can
/// be cut so.
EINPARALLEL_INLINE std::vector<interval> fed_ranges(const task& work, int rank);

}  // namespace EINPARALLEL_DETAIL

/// Sensible cuts. Of an operand that q ranks share: the outermost dimension whose label is in the output and whose
/// block has at least q elements along it, so that every piece makes its own slice of the output; otherwise the
/// dimension with the largest block extent. Of an output that q ranks have summands of: the outermost dimension whose
/// block has at least 2q elements along it (the k ring halves its chunks), otherwise the one with the largest.
EINPARALLEL_INLINE task_cuts choose_cuts(const einsum_form& form, const std::vector<index>& extents, const mesh& ranks);

/// True where the output's chunks are worth sending round: each of the q ranks that have summands of a block gets two
/// half-chunks with at least one slice each. Otherwise a task whose output travels computes its summand first and
/// reduces it then (schedule/gather_reduce.hpp). The same answer on every rank.
EINPARALLEL_INLINE bool k_ring_suits(const task& work);

/// Which tensor should travel, but for operands that are held.
/// `automatic`: the one with the most bytes to move per rank, among the operands that can be cut into a piece for every
/// rank of their ring and the output if the k ring suits; nothing_travels where there is none (what has to move is then
/// gathered or reduced by trees). `mn`: the operand with the most bytes to move, cut or not; `k`: the output; both fall
/// back to nothing_travels where no operand is shared or the output has no summands. `c` and `master_worker`:
/// nothing_travels.
EINPARALLEL_INLINE int choose_travelling(const task& work, algorithm wanted = algorithm::automatic);

/// What a task runs as: `master_worker` where all tensors travel, `k` where the output travels, `mn` where an operand
/// does or is gathered, `k` where the output is only reduced, `c` where nothing moves.
EINPARALLEL_INLINE algorithm algorithm_of(const task& work);

/// The task of a vertex cut over a mesh, its tensors resting in pieces along `cuts`, some of them in summands. What
/// travels is the caller's to say (choose_travelling), or nothing.
/// @pre one axis per label, every axis on a label of the form
EINPARALLEL_INLINE task make_task(summed_einsum einsum, std::vector<std::size_t> operand_bytes,
                                  std::size_t output_bytes, mesh ranks, const task_cuts& cuts,
                                  int travelling = nothing_travels);

/// The same einsum run as master–worker: its tensors rest on the master, its mesh is one axis along a label of the
/// output.
EINPARALLEL_INLINE task fed_task(task work, const feeding& feed);

}  // namespace einparallel
