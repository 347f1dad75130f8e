#pragma once
// How a call that needs more memory than there is runs in tiles: which labels are cut, in which order the tiles follow
// each other, and which of its tensors then pass through memory tile by tile.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>
#include <map>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A call in tiles.
struct tiling {
    struct loop {
        label_id label = no_label;
        int parts = 1;
    };
    std::vector<loop> loops{};     ///< outermost first; empty: the call is not cut
    std::vector<bool> is_paged{};  ///< by operand, the output last: tiles of it are loaded and evicted
    double cost = 0;               ///< bytes to and from storage; short runs count as longer ones
    double bytes = 0;              ///< memory of the call, with a second tile of what changes while it runs
};

/// What is known of a tensor that a call reads or writes.
struct tiled_tensor {
    bool may_page = false;   ///< its elements may stay in storage
    bool is_turned = false;  ///< its first index is the fastest in storage
    double held = 0;         ///< bytes that it takes of the call's memory where it is whole
    double whole = 0;        ///< cost of having all of it in memory for this call
    double beside = 0;       ///< cost that paging it adds elsewhere: it is stored before, or loaded after
};

/// A buffer for a tile: loaded before the first step that names it, evicted after the last one.
struct tile_page {
    buffer_id tile = no_buffer;
    buffer_id of = no_buffer;  ///< the buffer whose elements it has
    bool loads = false;
    bool evicts = false;
};

/// Tilings by all that they depend on: calls of layers are alike.
using known_tilings = std::map<std::vector<double>, tiling>;

/// The cheapest tiling of a call for `bytes` bytes of memory that was found; without loops where there is none. Tiles
/// take no more memory than they need to be nearly as cheap.
/// @param known   says what is known of a buffer of the call
/// @param before  tilings found for the same number of bytes
EINPARALLEL_INLINE const tiling& best_tiling(const program& of_rank, const contraction& call, double bytes,
                                             function_ref<tiled_tensor(buffer_id)> known, known_tilings& before);

}  // namespace einparallel::EINPARALLEL_DETAIL
