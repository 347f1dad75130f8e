#pragma once
// Records vertices as they are lowered: the builder behind assignments to tensors.

#include <einparallel/array/lower.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/kernel/work/work.hpp>
#include <einparallel/notation/affine_map.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/element_type.hpp>
#if EINPARALLEL_DETAIL_FOR_DEVICES
#include <einparallel/device/functor_launch.hpp>
#endif

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A tensor in an expression.
template <Element T, std::size_t Rank>
struct tensor_operand {
    using value_type = T;
    static constexpr std::size_t rank = Rank;

    std::shared_ptr<vertex> node;
};

/// A failed vertex, which stands for a handle that nothing was assigned to.
EINPARALLEL_INLINE std::shared_ptr<vertex> unassigned_vertex(std::size_t rank, element_type element);

template <class T, std::size_t Rank>
std::shared_ptr<vertex> handle_of(const tensor_operand<T, Rank>& held) {
    return held.node != nullptr ? held.node : unassigned_vertex(Rank, element_type_of<T>());
}

/// An input with elements 0, 1, 2, …
EINPARALLEL_INLINE std::shared_ptr<vertex> iota_vertex(index extent);

/// An input whose elements are all this value. It has rank 0 unless `extents` are given.
EINPARALLEL_INLINE std::shared_ptr<vertex> constant_vertex(element_type element, const void* value,
                                                           std::vector<index> extents = {});

/// A view of `of`, which is read at the functions `at` of `labels`. Its dimensions are these labels; their extents are
/// the sizes of `ranges`. `elsewhere`, of the same dimensions, is read where `at` lies outside of the tensor or its
/// conditions do not hold. A plain `at`: the view is the first elements of the tensor. The view of a view reads the
/// same tensors as that view. The view has failed where `of` has.
EINPARALLEL_INLINE std::shared_ptr<vertex> view_vertex(std::shared_ptr<vertex> of, const affine_map& at,
                                                       label_span labels, std::span<const interval> ranges,
                                                       std::shared_ptr<vertex> elsewhere = nullptr);

/// The tensor that an operand is, or is a view of; null for no operand. Operands with the same tensor count as the
/// same.
inline const vertex* tensor_read_by(const std::shared_ptr<vertex>& handle) {
    return handle != nullptr && handle->is_view() ? handle->operands.front().get() : handle.get();
}

/// The builder that records statements. It never throws for a user's mistake, but keeps the failure in the vertex. So a
/// mistake on one rank becomes the same exception on every rank at the next collective call.
class recording_builder {
public:
    using handle = std::shared_ptr<vertex>;
    struct operand_type {
        std::shared_ptr<vertex> handle;
        label_span labels;
    };

    explicit recording_builder(std::span<const std::string_view> names) : names_(names) {}

    /// The destination of a statement's last vertex. Intermediate vertices have none.
    struct last_vertex {};
    using destination = std::optional<last_vertex>;

    static constexpr bool records = true;
    static bool is_joined(const operand_type& read) { return read.handle->is_view(); }

    EINPARALLEL_INLINE [[nodiscard]] handle join(destination sink, label_span out,
                                                 std::span<const operand_type> operands, const join_work& work,
                                                 const op_program& program) const {
        return record(sink, out, operands, make_join_kernel(work, program));
    }

    template <class Out, std::size_t Count>
    handle product(destination sink, label_span out, std::span<const operand_type, Count> operands, Out scale) const {
        if constexpr (Count > 2) {
            return contract_pairwise(sink, out, operands, make_product_kernel<Out>(scale, operands.size()),
                                     make_product_kernel<Out>(scale, 2), make_product_kernel<Out>(1, 2));
        } else {
            std::array<element_type, Count> types;
            for (std::size_t operand = 0; operand < Count; ++operand) {
                types[operand] = operands[operand].handle->element;
            }
            return record(sink, out, operands, make_product_kernel<Out>(scale, types));
        }
    }

    EINPARALLEL_INLINE [[nodiscard]] handle ranked(destination sink, label_span out,
                                                   const std::array<operand_type, 2>& operands,
                                                   const ranked_work& work) const;

    /// Records running sums of `x` along a label. In the vertex's form the terms have a label of their own, apart from
    /// that of the sums.
    EINPARALLEL_INLINE [[nodiscard]] handle running(destination sink, label_span out, const operand_type& x,
                                                    label_id along, const running_work& work) const;

    /// Records one vertex. Labels are numbered in the order in which they appear first. The vertex fails where operands
    /// have different extents for a label.
    EINPARALLEL_INLINE [[nodiscard]] handle record(destination sink, label_span out,
                                                   std::span<const operand_type> operands,
                                                   std::shared_ptr<const kernel> work) const;

    /// Records a product as contractions in the cheapest order. `last` is the kernel of the last contraction, and
    /// `earlier` that of the others. `all` is the kernel that multiplies all operands, for a product that becomes one
    /// vertex.
    EINPARALLEL_INLINE [[nodiscard]] handle contract_pairwise(destination sink, label_span out,
                                                              std::span<const operand_type> operands,
                                                              const std::shared_ptr<const kernel>& all,
                                                              const std::shared_ptr<const kernel>& last,
                                                              const std::shared_ptr<const kernel>& earlier) const;

private:
    std::span<const std::string_view> names_;
};

/// An operand with its labels. A view that only gives each dimension of a tensor a label of its own is replaced by this
/// tensor.
struct whole_read {
    std::shared_ptr<vertex> handle;
    std::vector<label_id> labels;

    EINPARALLEL_INLINE explicit whole_read(const recording_builder::operand_type& read);
};

/// Names of labels, followed by the names of the indices that are data.
EINPARALLEL_INLINE std::vector<std::string_view> names_with(std::span<const std::string_view> names,
                                                            const std::vector<data_index>& indices);

/// The labels in `all` are those of a tensor that values are added to. Returns those of them that the values depend on:
/// labels of the operands, and positions, which are numbered from `first_position`.
EINPARALLEL_INLINE std::vector<label_id> written_labels(const std::vector<label_id>& all,
                                                        std::span<const recording_builder::operand_type> operands,
                                                        std::size_t first_position);

/// Records a vertex that reads or writes at indices that are data. `operands`: X, then the integer tensors of indices.
/// `old`: the tensor whose elements are replaced, or null where none are.
EINPARALLEL_INLINE std::shared_ptr<vertex> record_selection(std::span<const std::string_view> names_and_positions,
                                                            recording_builder::destination sink, label_span out,
                                                            std::span<const recording_builder::operand_type> operands,
                                                            const whole_read* old, const select_work& work);

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel::EINPARALLEL_UNIT {

/// The builder of statements in this translation unit.
class unit_builder : public recording_builder {
public:
    using recording_builder::recording_builder;

    template <class Out, class MakeJoin, class MakeProgram>
    handle emit(destination sink, label_span out, std::span<const operand_type> operands, MakeJoin&& make_join,
                MakeProgram&& make_program) const {
        using Join = decltype(make_join());
        const std::shared_ptr<const Join> made(new Join(make_join()));
        const std::shared_ptr<kernel> work = make_join_kernel(made->work, make_program(), {made});
#if EINPARALLEL_DETAIL_FOR_DEVICES
        work->attach(functor_of(*made));
#endif
        return record(sink, out, operands, work);
    }
};

}  // namespace einparallel::EINPARALLEL_UNIT
