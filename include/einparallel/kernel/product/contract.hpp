#pragma once
// Σ of products on blocks with run-time labels: the one routine that all einsums of an element type share.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/op_program.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Z[ℓZ] (+)= scale · Σ X1[ℓ1] · … · Xr[ℓr], every tensor of type T. Labels of extent 1 are dropped, labels adjacent in
/// every tensor are fused, labels of a single operand are summed before the product; two operands become a blocked
/// matrix product on the fused labels, packed straight from the strided tensors. More than two operands are one loop
/// nest: their order is chosen above (order/contraction_order.hpp).
/// Overwriting never reads the output. An output that is the same memory as an operand, label for label, may be
/// overwritten where nothing is contracted.
/// Order of summation: an element of a matrix product is summed in one accumulator over a block of the summed labels,
/// and block after block into the output; what is summed row by row or as a dot product has an accumulator per vector
/// lane, and long sums to few elements are made of splits that are added up by halves. It depends on shapes, strides
/// and the processor (its vectors, caches, fused multiply-adds), and on a linked BLAS; never on the number of threads.
/// The scale multiplies the packed elements of an operand, or the sums. Work ∏ of all extents, but that one-sided
/// labels count for their own operand only.
/// One or two operands may be of types whose elements are elements of T: they are converted as they are read.
/// (T is an Element. Templates that the library instantiates name no concept: only clang 18 and later have one in a
/// symbol's name.)
template <class T>
[[gnu::visibility("default")]] void contract_product(const block_call& call, T scale);

/// Whose products are computed for T: signed integers are summed as unsigned ones, which are the same bits and may be
/// read so, and need no kernels of their own.
template <class T>
struct summed_as : std::type_identity<T> {};
template <std::signed_integral T>
    requires(!std::is_same_v<T, wchar_t>)
struct summed_as<T> : std::make_unsigned<T> {};
template <>
struct summed_as<char8_t> : std::type_identity<unsigned char> {};
template <class T>
using summed_as_t = typename summed_as<T>::type;

/// contract_product of two operands, T being what products are computed for: apart, so that a unit of products compiles
/// no copies.
template <Element T>
void contract_pair(const block_call& call, T scale);

/// Σ scale · x · y · … of operands of these types as a value.
template <class T>
[[gnu::visibility("default")]] op_program product_program(T scale, std::span<const element_type> operands);

/// Σ scale · x · y · … of tensors.
struct product_work {
    std::size_t operands = 0;
    number_bits scale{};
};

}  // namespace einparallel::EINPARALLEL_DETAIL
