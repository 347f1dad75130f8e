#pragma once
// Σ of products on blocks with run-time labels: the one routine that all einsums of an element type share.

#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/op_program.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Z[ℓZ] (+)= scale · Σ X1[ℓ1] · … · Xr[ℓr], every tensor of type T. Labels of extent 1 are dropped, labels adjacent in
/// every tensor are fused, labels of a single operand are summed before the product; two operands become a blocked
/// matrix product on the fused labels, packed straight from the strided tensors. More than two operands are one loop
/// nest: their order is chosen above (contraction_order.hpp).
/// Overwriting never reads the output. An output that is the same memory as an operand, label for label, may be
/// overwritten where nothing is contracted.
/// Order of summation: an element of a matrix product is summed in one accumulator over a block of the summed labels,
/// and block after block into the output; what is summed row by row or as a dot product has an accumulator per vector
/// lane, and long sums to few elements are made of pieces that are added up by halves. It depends on shapes, strides
/// and the processor (its vectors, caches, fused multiply-adds), and on a linked BLAS; never on the number of threads.
/// The scale multiplies the packed elements of an operand, or the sums. Work ∏ of all extents, but that one-sided
/// labels count for their own operand only.
/// @param stored  of one or two operands that are not of type T: what they are, converted as they are read
template <Element T>
[[gnu::visibility("default")]] void contract_product(const block_call& call, T scale, stored_codes stored = 0);

/// Whose products are computed for T: signed integers are summed as unsigned ones, which are the same bits and may be
/// read so, and need no kernels of their own.
template <class T>
struct summed_as {
    using type = T;
};
template <std::signed_integral T>
    requires(!std::is_same_v<T, wchar_t>)
struct summed_as<T> {
    using type = std::make_unsigned_t<T>;
};
template <>
struct summed_as<char8_t> {
    using type = unsigned char;
};
template <class T>
using summed_as_t = typename summed_as<T>::type;

/// contract_product of two operands, T being what products are computed for: apart, so that a unit of products compiles
/// no copies.
template <Element T>
void contract_pair(const block_call& call, T scale, stored_codes stored = 0);

/// Σ scale · x · y · … as a value.
template <Element T>
[[gnu::visibility("default")]] op_program product_program(T scale, std::size_t operands, stored_codes stored = 0);

/// The kernel of Σ of products of `operands` tensors of type T, times a scale.
template <Element T>
[[gnu::visibility("default")]] std::shared_ptr<const kernel> make_product_kernel(T scale, std::size_t operands,
                                                                                 stored_codes stored = 0);

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {
inline namespace EINPARALLEL_WAY {

/// The kernel of Σ of products of `operand_count` tensors of type T, times a scale.
template <Element T>
class product_kernel final : public detail::reducing_kernel {
public:
    /// @pre operand_count >= 1
    product_kernel(T scale, std::size_t operand_count, detail::stored_codes stored = 0)
        : detail::reducing_kernel(detail::product_program(scale, operand_count, stored),
                                  detail::row_reduction_of<T>(op::sum)),
          scale_(scale),
          operand_count_(operand_count),
          stored_(stored) {}

    void contract(const block_call& call) const override { detail::contract_product<T>(call, scale_, stored_); }

    [[nodiscard]] bool is_contraction() const override { return operand_count_ == 2; }

    /// r − 1 multiplications and an addition; a complex multiply-add is eight real operations.
    [[nodiscard]] double operations_per_point() const override {
        return double(operand_count_) * (detail::is_complex<T>::value ? 4.0 : 1.0);
    }

    [[nodiscard]] T scale() const { return scale_; }
    [[nodiscard]] std::size_t operand_count() const { return operand_count_; }

private:
    T scale_;
    std::size_t operand_count_;
    detail::stored_codes stored_;
};

}  // namespace EINPARALLEL_WAY
}  // namespace einparallel
