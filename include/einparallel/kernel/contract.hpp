#pragma once
// Σ of products on blocks with run-time labels: the one routine that all einsums of an element type share.

#include <einparallel/kernel/arithmetic.hpp>
#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/few_points.hpp>
#include <einparallel/kernel/formula.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/pair_contraction.hpp>
#include <einparallel/kernel/product_rows.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace einparallel::detail {

/// Z[ℓZ] (+)= scale · Σ X1[ℓ1] · … · Xr[ℓr], every tensor of type T. Labels of extent 1 are dropped, labels adjacent in
/// every tensor are fused, labels of a single operand are summed before the product; two operands become a blocked
/// matrix product on the fused labels, packed straight from the strided tensors. More than two operands are one loop
/// nest: their order is chosen above (contraction_order.hpp).
/// Overwriting never reads the output. An output that is the same memory as an operand, label for label, may be
/// overwritten where nothing is contracted.
/// Order of summation: an element of a matrix product is summed in one accumulator over a block of the summed labels,
/// and block after block into the output; what is summed row by row or as a dot product has an accumulator per vector
/// lane, and long sums to few elements are made of pieces that are added in order. It depends on shapes, strides
/// and the processor (its vectors, caches, fused multiply-adds), and on a linked BLAS; never on the number of threads.
/// The scale multiplies the packed elements of an operand, or the sums. Work ∏ of all extents, but that one-sided
/// labels count for their own operand only.
template <Element T>
void contract_product(const block_call& call, T scale) {
    using semiring = sum_of_products<T>;
    if (product_of_few_points(call, scale)) {
        return;
    }
    loop_nest nest(call);
    T* const output = static_cast<T*>(call.output.data);
    if (nest.output_empty) {
        return;
    }
    if (nest.sum_empty) {
        if (call.mode == write_mode::overwrite) {
            odometer point = output_points(nest);
            small_vector<index, 12> offsets(nest.slots, 0);
            do {
                output[offsets[0]] = semiring::zero;
            } while (point.advance(offsets.data()));
        }
        return;
    }
    if (const index repeats = drop_resting(nest); repeats > 1) {
        scale = semiring::repeated(scale, repeats);
    }
    small_vector<const T*, 8> operands;
    for (const operand_block& operand : call.operands) {
        operands.push_back(static_cast<const T*>(operand.data));
    }
    if (operands.size() == 2) {
        pair_contraction<T>(nest, operands[0], operands[1], output, scale, call.mode).run();
        return;
    }
    nest.sort_by(0);
    if (operands.size() == 1 && scale == semiring::one && call.mode == write_mode::overwrite && nest.all_in_output() &&
        operands[0] != output) {
        copy_nest(nest, sizeof(T), output, operands[0]);
        return;
    }
    product_rows<T> worker(output, operands.data(), operands.size(), scale, call.mode);
    run_rows(nest, worker);
}

/// into = into + from on a strided box.
template <Element T>
void add_box(std::span<const index> extents, T* into, std::span<const index> into_strides, const T* from,
             std::span<const index> from_strides) {
    loop_nest nest(2);
    if (!nest.add_box(extents, into_strides, from_strides)) {
        return;
    }
    nest.sort_by(0);
    product_rows<T> worker(into, &from, 1, sum_of_products<T>::one, write_mode::combine);
    run_rows(nest, worker);
}

}  // namespace einparallel::detail

namespace einparallel {

/// The kernel of Σ of products of `operand_count` tensors of type T, times a scale.
template <Element T>
class product_kernel final : public kernel {
public:
    /// @pre operand_count >= 1
    product_kernel(T scale, std::size_t operand_count) : scale_(scale), operand_count_(operand_count) {}

    void contract(const block_call& call) const override { detail::contract_product<T>(call, scale_); }

    void combine(std::span<const index> extents, void* into, std::span<const index> into_strides, const void* from,
                 std::span<const index> from_strides) const override {
        detail::add_box<T>(extents, static_cast<T*>(into), into_strides, static_cast<const T*>(from), from_strides);
    }

    [[nodiscard]] element_type output_type() const override { return element_type_of<T>(); }
    [[nodiscard]] bool is_contraction() const override { return operand_count_ == 2; }
    [[nodiscard]] bool is_distributive() const override { return true; }
    [[nodiscard]] reduction aggregates_by() const override { return reduction::sum; }
    /// A product takes one factor in summands.
    [[nodiscard]] bool takes_summands(std::uint64_t operands) const override { return std::has_single_bit(operands); }

    /// r − 1 multiplications and an addition; a complex multiply-add is eight real operations.
    [[nodiscard]] double operations_per_point() const override {
        return static_cast<double>(operand_count_) * (detail::is_complex<T>::value ? 4.0 : 1.0);
    }

    [[nodiscard]] std::string formula() const override {
        std::string text = scale_ == T(1) ? "" : scale_ == T(-1) ? "-" : detail::written_value(scale_) + "*";
        for (std::size_t operand = 0; operand < operand_count_; ++operand) {
            text += (operand > 0 ? "*" : "") + detail::operand_letter(operand);
        }
        return "sum " + text;
    }

    [[nodiscard]] T scale() const { return scale_; }
    [[nodiscard]] std::size_t operand_count() const { return operand_count_; }

private:
    T scale_;
    std::size_t operand_count_;
};

}  // namespace einparallel
