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

/// How a vertex is run. `automatic`, in options, leaves the choice to the planner; a task never has it.
enum class algorithm : std::uint8_t { automatic, c, mn, k, master_worker };

/// Values of task::travelling, the tensor that travels round a ring during the computation. The number of an operand
/// means the m/n ring.
inline constexpr int nothing_travels = -2;
inline constexpr int output_travels = -1;  ///< the k ring
inline constexpr int all_travel = -4;      ///< master–worker: operands go to the workers, their outputs come back

/// Master–worker: all tensors of a task rest on one rank, which feeds the others.
struct feeding {
    int master = 0;             ///< rank of the master
    label_id label = no_label;  ///< a label of the output; each worker receives its share in slices along it
    int slices = 0;             ///< number of slices of a worker's share; 0: the task is not master–worker

    friend bool operator==(const feeding&, const feeding&) = default;
};

/// Everything that a schedule needs to know of a vertex, as a value.
struct task {
    einsum_form form;
    std::vector<index> extents;              ///< by label
    std::vector<std::size_t> operand_bytes;  ///< bytes of one element of each operand
    std::size_t output_bytes = 0;            ///< bytes of one element of the output
    mesh ranks;                              ///< the parts of each label, and the order of the axes
    std::vector<distribution> operands;      ///< where each operand rests before the vertex starts
    distribution output;                     ///< where the output rests when the vertex has ended
    int travelling = nothing_travels;
    feeding feed;                 ///< used where all tensors travel
    label_id carried = no_label;  ///< label of the summands of pending operands (pending.hpp)
    label_id pending = no_label;  ///< label of the summands of the output, where the output stays pending
    /// Bit r: ranks hold the whole block of operand r, which schedule_gathering() has gathered before, once for all
    /// readers.
    std::uint64_t held = 0;

    [[nodiscard]] bool holds(std::size_t operand) const { return operand < 64 && ((held >> operand) & 1U) != 0; }
    EINPARALLEL_INLINE [[nodiscard]] std::vector<std::size_t> held_operands() const;

    /// True where an operand is cut along a label, so that its pieces can go round a ring.
    EINPARALLEL_INLINE [[nodiscard]] bool may_travel(std::size_t operand) const {
        const std::optional<std::size_t> cut = operands[operand].cut();
        return cut && form.operands[operand][*cut] != no_label;
    }
    /// True where the pieces of the operand do go round a ring.
    EINPARALLEL_INLINE [[nodiscard]] bool travels(std::size_t operand) const {
        return travelling == int(operand) && may_travel(operand);
    }

    /// Number of parts of a label. Each summand of a pending output is one part.
    [[nodiscard]] int parts(label_id label) const {
        const bool is_pending = label != no_label && label == pending;
        return is_pending ? int(extents[std::size_t(label)]) : ranks.parts(label);
    }

    /// Number of labels of the einsum itself. The labels of pending sums stand behind them.
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

/// Where an operand of an einsum rests: in blocks over the mesh, with pieces of a block on the ranks that share it. An
/// operand that is read at functions of labels rests in the boxes that each rank reads, which may overlap.
EINPARALLEL_INLINE distribution operand_distribution(const einsum_form& form, const std::vector<index>& extents,
                                                     std::size_t operand, const mesh& ranks, std::size_t cut);

/// True where every rank that shares a block gets at least `each` slices of it. With fewer slices some steps of a ring
/// would be empty, and no computation would hide the messages. Where some sharer has no slice (a tensor without
/// dimensions, or fewer slices than sharers), the few pieces go along trees instead, with fewer phases and equal bytes.
/// The largest block decides, so every rank gets the same answer.
EINPARALLEL_INLINE bool fills_ring(const distribution& resting, int each);

/// Master–worker: the share of the iteration space that `rank` computes, by label. A worker computes nothing in the
/// first and in the last phase, so the master's share is larger than a worker's by two slices, or as close to that as
/// the extent allows.
EINPARALLEL_INLINE std::vector<interval> fed_ranges(const task& work, int rank);

}  // namespace EINPARALLEL_DETAIL

/// Default cuts. An operand that q ranks share is cut along its outermost dimension whose label is in the output and
/// along which its largest block has at least q elements: every piece then makes its own slice of the output. An output
/// of which q ranks have summands is cut along its outermost dimension with at least 2q elements in the largest block
/// (the k ring halves its chunks). Without such a dimension, the one with the largest block extent is taken.
EINPARALLEL_INLINE task_cuts choose_cuts(const einsum_form& form, const std::vector<index>& extents, const mesh& ranks);

/// True where the k ring can send the output's chunks round: each rank that has summands of a block gets two
/// half-chunks of at least one slice. Otherwise a task whose output travels first computes its summand and then reduces
/// it (schedule/gather_reduce.hpp). Every rank gets the same answer.
EINPARALLEL_INLINE bool k_ring_suits(const task& work);

/// Chooses the tensor that travels. Held operands never do.
/// - `automatic`: the tensor with the most bytes to move per rank. Candidates are operands with a piece for every rank
///   of their ring, and the output if the k ring suits. Without a candidate nothing_travels: tensors that must move are
///   then gathered or reduced by trees.
/// - `mn`: the shared operand with the most bytes to move, even where some ranks have no piece; `k`: the output, if
///   ranks have summands of it. Where there is no such tensor: nothing_travels.
/// - `c` and `master_worker`: nothing_travels.
EINPARALLEL_INLINE int choose_travelling(const task& work, algorithm wanted = algorithm::automatic);

/// The algorithm that a task runs: `master_worker` where all tensors travel, `k` where the output travels, `mn` where
/// an operand travels or is gathered, `k` where the output is only reduced, `c` where nothing moves.
EINPARALLEL_INLINE algorithm algorithm_of(const task& work);

/// The task of a vertex that is cut over the mesh `ranks`. Shared blocks of its tensors rest in pieces along `cuts`.
/// The caller says which tensor travels (choose_travelling).
/// @pre one axis per label, every axis on a label of the form
EINPARALLEL_INLINE task make_task(summed_einsum einsum, std::vector<std::size_t> operand_bytes,
                                  std::size_t output_bytes, mesh ranks, const task_cuts& cuts,
                                  int travelling = nothing_travels);

/// The task with its einsum run as master–worker: all tensors rest on the master. The mesh of `work` must be one axis
/// along a label of the output.
EINPARALLEL_INLINE task fed_task(task work, const feeding& feed);

}  // namespace einparallel
