#pragma once
// The local work of one vertex, with its types and functors erased: what graph records, schedules name and run calls.
//
// The room, from the top:
//   product/        Σ of products on blocks (contract): few_points; else a loop_nest, for which contraction_decision
//                   chooses what pair_contraction runs: product_rows, dots, small_product (in place or batch_in_lanes),
//                   gemm or blas
//   join            any ⊕ and ⊗ on blocks: as a blocked product (product/gemm), else as steps over rows (row_program)
//   rows            a nest row by row
//   copy, softmax   boxes and rows of one operand
//   select/         Σ over labels that indices in operands choose; running sums
//   space           memory as a run sees it
//   simd/           what is compiled for every instruction set (for_instruction_sets)

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/operations/op_program.hpp>

#include <cstdint>
#include <span>
#include <utility>

namespace einparallel {

class progress_hook;

namespace detail {
struct device_functor;  // device/launch.hpp
}

/// One operand of a call on blocks: its first element, and per dimension the label and the stride (in elements, any
/// sign).
struct operand_block {
    const void* data = nullptr;
    label_span labels;
    index_span strides;
};

/// The output of a call on blocks. No two of its elements share an address.
struct output_block {
    void* data = nullptr;
    label_span labels;
    index_span strides;
};

/// The stride of a label in a block; of several dimensions that carry it, along their diagonal.
index stride_along(const auto& block, label_id label) {
    index stride = 0;
    for (std::size_t dimension = 0; dimension < block.labels.size(); ++dimension) {
        stride += block.labels[dimension] == label ? block.strides[dimension] : 0;
    }
    return stride;
}

/// What happens to what the output held before.
enum class write_mode : std::uint8_t {
    overwrite,  ///< Z = ⊕ …, the identity of ⊕ where nothing is aggregated (a contracted extent of 0)
    combine     ///< Z = Z ⊕ (⊕ …): how a ring adds its contribution to the partial that arrived
};

/// Z[ℓZ] (⊕)= ⊕_agg ⊗(X1[ℓ1], …, Xr[ℓr]) on strided blocks. `extents[label]` is the length of the block along that
/// label; a dimension that carries `no_label` has extent 1. A call reads spans only: it never allocates to describe
/// itself.
struct block_call {
    index_span extents;
    std::span<const operand_block> operands;
    output_block output;
    write_mode mode = write_mode::overwrite;
    progress_hook* hook = nullptr;  ///< reported to between blocks (progress.hpp); null: to nobody
    index_span first{};             ///< where the block begins along each label, for sentences; none: at 0
};

/// The operators ⊕ and ⊗ of a vertex, compiled for its element types.
/// Stateless towards its caller: one kernel object may be called from several threads at once on disjoint outputs.
class kernel : private detail::not_copied {
public:
    explicit kernel(op_program program = {}) : program_(std::move(program)) {}
    virtual ~kernel() = default;

    /// Computes one block. May throw what a user's functor throws. Where nothing is aggregated and the call overwrites,
    /// the output may be the same memory as one operand, label for label.
    virtual void contract(const block_call& call) const = 0;

    /// into[i] = into[i] ⊕ from[i] over a box with these extents; strides in elements.
    virtual void combine(index_span extents, void* into, index_span into_strides, const void* from,
                         index_span from_strides) const = 0;

    /// ⊕ and ⊗ as a value; empty where nobody asks.
    [[nodiscard]] const op_program& program() const { return program_; }

    /// How devices call the application's functors in it, where a unit that nvcc compiled has recorded it; else null.
    [[nodiscard]] const detail::device_functor* on_device() const { return on_device_; }
    /// Called once, by who makes it.
    void bring(const detail::device_functor* functor) { on_device_ = functor; }

    /// True for Σ of a product of two operands: the case with a GEMM inside and with the c, m/n and k algorithms'
    /// names.
    [[nodiscard]] virtual bool is_contraction() const { return false; }

    /// True where the output is the last operand, but for elements that the other operands replace: it may be the same
    /// memory as the last operand.
    [[nodiscard]] virtual bool replaces() const { return false; }

    /// False where ⊕ cannot put results of parts together: contracted labels are never cut, nor is, but where it
    /// replaces, what the first operand lacks.
    [[nodiscard]] virtual bool takes_parts() const { return true; }

    /// Arithmetic per point of the iteration space, for the time model (2 for a multiply-add).
    [[nodiscard]] virtual double operations_per_point() const = 0;

private:
    op_program program_;
    const detail::device_functor* on_device_ = nullptr;
};

}  // namespace einparallel
