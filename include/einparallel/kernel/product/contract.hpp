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

/// Z[ℓZ] (+)= scale · Σ X1[ℓ1] · … · Xr[ℓr] with elements of type T. Labels of extent 1 are dropped, labels adjacent in
/// every tensor are fused, labels of a single operand are summed before the product. Two operands become a blocked
/// matrix product on the fused labels, packed straight from the strided tensors. More than two operands are one loop
/// nest: their order is chosen before (order/contraction_order.hpp).
/// Overwriting never reads the output. Where nothing is contracted, an output may be overwritten that is the same
/// memory as an operand, with the same stride along every label.
/// Order of summation: an element of a matrix product is summed in one accumulator over a block of the summed labels,
/// and block after block is added to the output. Sums row by row, and dot products, have an accumulator for each vector
/// lane. Long sums to few elements are made of splits that are added up by halves. The order depends on shapes, strides
/// and the processor (its vectors, caches, fused multiply-adds), and on a linked BLAS; never on the number of threads.
/// The scale multiplies the packed elements of an operand, or the sums. The work is the product of all extents, except
/// that labels of a single operand count for this operand only.
/// One or two operands may be of other types, whose elements are elements of T: they are converted as they are read.
/// (T is an Element. Templates that the library instantiates name no concept: only clang 18 and later have one in a
/// symbol's name.)
template <class T>
[[gnu::visibility("default")]] void contract_product(const block_call& call, T scale);

/// The type whose products are computed for T. Signed integers are summed as unsigned ones, which have the same bits
/// and may be read in their place: so they need no kernels of their own.
template <class T>
struct summed_as : std::type_identity<T> {};
template <std::signed_integral T>
    requires(!std::is_same_v<T, wchar_t>)
struct summed_as<T> : std::make_unsigned<T> {};
template <>
struct summed_as<char8_t> : std::type_identity<unsigned char> {};
template <class T>
using summed_as_t = typename summed_as<T>::type;

/// contract_product() of two operands, where T is a summed_as_t. It is a function of its own, so that a unit of
/// products compiles no copies.
template <Element T>
void contract_pair(const block_call& call, T scale);

/// The program Σ scale · x · y · … for operands of these types.
template <class T>
[[gnu::visibility("default")]] op_program product_program(T scale, std::span<const element_type> operands);

/// The work Σ scale · x · y · … of tensors.
struct product_work {
    std::size_t operands = 0;
    number_bits scale{};
};

}  // namespace einparallel::EINPARALLEL_DETAIL
