#pragma once
// What a vertex computes, as a value: what graph records, schedules name and run calls.
//
// The room, from the top:
//   work/           the kinds of work, each a value and what the host does with it: join (any ⊕ and ⊗: as a blocked
//                   product, else as steps over rows), select, running, ranked; products of tensors are in product/
//   product/        Σ of products on blocks (contract): few_points; else a loop_nest, for which contraction_decision
//                   chooses what pair_contraction runs: product_rows, dots, small_product (in place or product_panels),
//                   gemm or blas
//   rows            a nest row by row
//   copy, softmax   boxes and rows of one operand
//   space           memory as a run sees it
//   simd/           what is compiled for every instruction set (for_instruction_sets)
// Another kind is a struct here; device/contraction.ipp says what devices do with it, and graph/gradient what its
// gradient is.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/product/contract.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/work/join.hpp>
#include <einparallel/kernel/work/ranked.hpp>
#include <einparallel/kernel/work/running.hpp>
#include <einparallel/kernel/work/select.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operations/op_program.hpp>

#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel {

namespace detail {
struct device_functor;  // device/launch.hpp
}

namespace EINPARALLEL_DETAIL {

using vertex_work = std::variant<product_work, join_work, select_work, running_work, ranked_work>;

/// Owners of functors that the work refers to.
using kept_functors = std::vector<std::shared_ptr<const void>>;

}  // namespace EINPARALLEL_DETAIL

/// The work of a vertex and its program. Calls do not change a kernel: several threads may call it at once on disjoint
/// outputs.
class kernel {
public:
    /// Computes one block. May throw what a user's functor throws. Where nothing is aggregated and the call overwrites,
    /// the output may be the same memory as one operand, with the same stride along every label.
    using function = void (*)(const block_call& call, const kernel& of);
    /// Decides how calls like this one are computed.
    using decision = std::unique_ptr<prepared_call> (*)(const block_call& call, const kernel& of);

    /// @param reduction  ⊕ of the results of parts; empty where these cannot be put together
    /// @param operations  arithmetic per point of the iteration space, for the time model (2 for a multiply-add)
    /// @param decides  null: there is nothing to decide
    kernel(detail::vertex_work work, op_program program, const detail::row_reduction& reduction, double operations,
           function run, detail::kept_functors keeps = {}, decision decides = nullptr)
        : work_(std::move(work)),
          program_(std::move(program)),
          reduction_(reduction),
          operations_(operations),
          run_(run),
          decide_(decides),
          keeps_(std::move(keeps)) {}

    void contract(const block_call& call) const { run_(call, *this); }
    /// The function that decides how the host computes calls like a given one, also at other addresses; null where
    /// there is nothing to decide.
    [[nodiscard]] decision decider() const { return decide_; }

    /// into[i] = into[i] ⊕ from[i] over a box with these extents; strides in elements.
    void combine(index_span extents, void* into, index_span into_strides, const void* from,
                 index_span from_strides) const {
        detail::combine_boxes(reduction_, extents, into, into_strides, from, from_strides);
    }

    [[nodiscard]] const detail::vertex_work& work() const { return work_; }
    /// The work, where it is of this kind; else null.
    template <class Kind>
    [[nodiscard]] const Kind* as() const {
        return std::get_if<Kind>(&work_);
    }
    /// ⊕ and ⊗ as a value.
    [[nodiscard]] const op_program& program() const { return program_; }
    /// The element type of the results, and the element type of an operand.
    [[nodiscard]] element_type element() const {
        return program_.instructions().empty() ? reduction_.element : program_.type();
    }
    [[nodiscard]] element_type operand_type(std::size_t operand) const {
        return operand < program_.operand_count() ? program_.instructions()[operand].type() : element();
    }
    [[nodiscard]] const detail::row_reduction& reduction() const { return reduction_; }
    [[nodiscard]] double operations_per_point() const { return operations_; }
    [[nodiscard]] const detail::kept_functors& keeps() const { return keeps_; }

    /// How devices call the application's functors in this kernel, if a unit that nvcc compiled has recorded the
    /// kernel; else null.
    [[nodiscard]] const detail::device_functor* on_device() const { return on_device_; }
    /// Sets on_device(). The code that makes the kernel calls it once.
    void attach(const detail::device_functor* functor) { on_device_ = functor; }

    /// True for Σ of a product of two operands. Only such a kernel has a GEMM inside, and algorithms with the names c,
    /// m/n and k.
    [[nodiscard]] bool is_contraction() const {
        const auto* const product = as<detail::product_work>();
        return product != nullptr && product->operands == 2;
    }
    /// True where the output equals the last operand, except for elements that the other operands replace. The output
    /// may be the same memory as the last operand then.
    [[nodiscard]] bool replaces() const {
        const auto* const selects = as<detail::select_work>();
        return selects != nullptr && selects->replaces;
    }
    /// True where the host reads no memory of an operand that is the indices along a label.
    [[nodiscard]] bool takes_indices(std::size_t operand) const {
        const auto* const selects = as<detail::select_work>();
        return as<detail::join_work>() != nullptr ||
               (selects != nullptr && operand > selects->indices.size() && operand <= 2 * selects->indices.size());
    }
    /// True for a label of the einsum that may be cut. Where results of parts cannot be put together, contracted labels
    /// are never cut; nor are labels that the first operand lacks, unless the kernel replaces elements.
    [[nodiscard]] bool may_cut(const einsum_form& form, label_id label) const {
        const bool takes_parts =
            !replaces() && as<detail::running_work>() == nullptr && as<detail::ranked_work>() == nullptr;
        return takes_parts || (form.in_output(label) && (replaces() || form.in_operand(0, label)));
    }

private:
    detail::vertex_work work_;
    op_program program_;
    detail::row_reduction reduction_;
    double operations_;
    function run_;
    decision decide_;
    detail::kept_functors keeps_;
    const detail::device_functor* on_device_ = nullptr;
};

namespace EINPARALLEL_DETAIL {

/// The kernel of a join. @param keeps  owners of functors that the work points to
EINPARALLEL_INLINE std::shared_ptr<kernel> make_join_kernel(join_work work, op_program program,
                                                            kept_functors keeps = {});

/// The kernel of running sums, for an einsum whose operand has a label s where the output has t. `extent`: the extent
/// of s and t.
EINPARALLEL_INLINE std::shared_ptr<const kernel> make_running_kernel(const running_work& work, index extent);

/// The kernel of elements by rank. `count`: how many elements of each row are wanted.
EINPARALLEL_INLINE std::shared_ptr<const kernel> make_ranked_kernel(const ranked_work& work, index count);

EINPARALLEL_INLINE std::shared_ptr<const kernel> make_select_kernel(const select_work& work);

/// The kernel of scale · Σ of products of tensors of these types, whose elements are elements of T.
template <class T>
[[gnu::visibility("default")]] std::shared_ptr<const kernel> make_product_kernel(
    T scale, std::span<const element_type> operands);
/// The kernel of scale · Σ of products of `operands` tensors of type T.
template <class T>
std::shared_ptr<const kernel> make_product_kernel(T scale, std::size_t operands) {
    return make_product_kernel<T>(scale, std::vector<element_type>(operands, element_type_of<T>()));
}

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
