#pragma once
// How a product with short labels is cut into panels: which loop lies in the lanes of vectors, which loops a panel
// covers, and which tensors are copied to packed memory, chosen by cost.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstddef>
#include <cstdint>

namespace einparallel {

/// What the lanes of a vector hold in a product with short labels.
enum class lane_role : std::uint8_t {
    none,
    columns,  ///< columns of the output: elements of the other operand are broadcast
    points,   ///< points of the batch, which all three tensors have
    terms,    ///< terms of the sum: lanes are added up at the end
};

namespace EINPARALLEL_DETAIL {

/// A product cut into panels. A panel covers `block` iterations of each loop. Its matrices are read and written in
/// place, or copied to packed memory. A panel is multiplied by small_product.
struct panel_plan {
    static constexpr std::size_t none = std::size_t(-1);

    lane_role lanes = lane_role::none;
    std::size_t along = none;       ///< the loop in the lanes
    std::size_t points = none;      ///< a loop around the products of a panel, besides `along`
    bool swapped = false;           ///< columns are those of the first operand
    index unit = 1;                 ///< points that a panel along the lanes has a multiple of, where it is in place
    bool packs[3] = {};             ///< the output and the operands: copied, since lanes cannot read them in place
    small_vector<index, 12> block;  ///< iterations of each loop in a panel
    odometer::loop_list outputs;    ///< loops of the output that have several panels, outermost first
    odometer::loop_list sums;       ///< contracted loops that have several panels; inside the others
    double nanoseconds = 0;         ///< an estimate on one thread, without what every way reads and writes
};

/// The points along the loop in the lanes that do not fill a vector, where it lies. They are a panel of their own,
/// which is copied.
EINPARALLEL_INLINE index rest_along(const panel_plan& plan, const loop_nest& nest, std::size_t loop);

/// The number of panels along a loop.
EINPARALLEL_INLINE index panels_along(const panel_plan& plan, const loop_nest& nest, std::size_t loop);

/// The number of panels of these loops together.
EINPARALLEL_INLINE index panels_of(const panel_plan& plan, const loop_nest& nest, const odometer::loop_list& loops);

/// The index of the matrix product that a loop is in a panel; batch: a loop around panels, or around products.
EINPARALLEL_INLINE product_index role_of(const panel_plan& plan, const loop_nest& nest, std::size_t loop);

/// How long this index is in a panel, without the loop in the lanes.
EINPARALLEL_INLINE index size_of(const panel_plan& plan, const loop_nest& nest, product_index role);

/// Points that a vector holds; a complex number in a column takes two lanes.
EINPARALLEL_INLINE index lanes_of(element_type type, lane_role role);

/// The loop along which the tensor of this slot is contiguous, or panel_plan::none.
EINPARALLEL_INLINE std::size_t contiguous_loop(const loop_nest& nest, std::size_t slot);

/// How many elements a tensor has in so many iterations of each loop.
EINPARALLEL_INLINE index elements_in(const loop_nest& nest, std::size_t slot,
                                     const small_vector<index, 12>& iterations);

/// The cheapest plan for a product, by estimates from extents, strides and the caches. Its `lanes` are none where no
/// loop can lie in lanes.
/// @param type  element type of the products, an arithmetic type of vectors
/// @param operands  element types of the operands
/// @pre the nest has three slots, no extent is 0 or 1, and each loop moves two slots at least
EINPARALLEL_INLINE panel_plan cheapest_panels(const loop_nest& nest, element_type type,
                                              const element_type (&operands)[2]);

}  // namespace EINPARALLEL_DETAIL
}  // namespace einparallel
