#pragma once
// Batches of matrix products as a BLAS on a device takes them, and the seconds that they take.

#include <einparallel/kernel/kernel.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

/// A matrix of a product: rows and columns with their strides, as a BLAS takes it or not.
struct blas_operand {
    bool fits = false;
    bool transpose = false;
    index leading = 1;

    static blas_operand of(index rows, index row_stride, index columns, index column_stride) {
        if ((rows == 1 || row_stride == 1) && (columns == 1 || column_stride >= rows)) {
            return {true, false, columns == 1 ? rows : column_stride};
        }
        if ((columns == 1 || column_stride == 1) && (rows == 1 || row_stride >= columns)) {
            return {true, true, rows == 1 ? columns : row_stride};
        }
        return {};
    }
};

/// A batch of matrix products as cublas<T>gemmStridedBatched takes them: columns are contiguous, C (+)= op(A) · op(B),
/// C of m rows and n columns.
struct blas_product {
    bool transpose_a = false;
    bool transpose_b = false;
    index m = 1;
    index n = 1;
    index k = 1;
    index a_leading = 1;  ///< distance of A's columns
    index b_leading = 1;  ///< … of B's
    index c_leading = 1;  ///< … of C's
    index batch = 1;
    index a_step = 0;  ///< distance of the batch's matrices, not negative; 0 where all have one
    index b_step = 0;
    index c_step = 0;

    friend bool operator==(const blas_product&, const blas_product&) = default;
};

/// By what ways to contract are compared: of a current GPU (H200).
struct device_rates {
    double bytes = 4.0e12;          ///< copied or streamed, read and written, each second
    double multiply_adds = 2.5e13;  ///< of real numbers in large products, each second
    double joined_points = 1.0e12;  ///< of a join that multiplies and adds, each second
    double launch = 4e-6;           ///< seconds
    double processors = 132;        ///< multiprocessors, each at work on one tile of a product
};

/// Seconds of one batch of products: padded to the tiles of a BLAS, on as many multiprocessors as there are tiles, or
/// bound by memory.
EINPARALLEL_INLINE double seconds_of(const blas_product& product, element_type type, write_mode mode,
                                     const device_rates& rates);

}  // namespace einparallel::EINPARALLEL_DETAIL
