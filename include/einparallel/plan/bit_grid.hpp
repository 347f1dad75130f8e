#pragma once
// Regular distributions over powers of two, by the bits of a rank's number: what moves between two of them in closed
// form, without looking at any rank's box.

#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// What a redistribution costs, in all and the rank with the most to do.
struct traffic {
    double elements = 0;  ///< moved in all
    double busiest = 0;   ///< elements sent or received by one rank
    double messages = 0;  ///< sent or received by one rank
};

/// A distribution whose every dimension is cut evenly into a power of two parts. Which part a rank has is written in
/// some bits of its number, by dimension, the most significant bit of the part first.
struct bit_grid {
    bool valid = false;
    int rank_bits = 0;
    double each = 1;  ///< elements per rank
    std::vector<std::vector<int>> bits;

    bit_grid() = default;
    EINPARALLEL_INLINE bit_grid(const std::vector<index>& bounds, const mesh& ranks,
                                const std::vector<label_id>& labels, std::size_t cut);
};

/// What moves between two valid grids of one tensor. Ranks keep something where all bits that both grids cut a
/// dimension by agree; they all keep the same amount then.
EINPARALLEL_INLINE traffic traffic_between(const bit_grid& from, const bit_grid& to);

}  // namespace einparallel::EINPARALLEL_DETAIL
