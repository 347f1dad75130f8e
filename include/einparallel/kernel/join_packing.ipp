#pragma once
// The packing functions of joins.

#include <einparallel/kernel/join_product.hpp>
#include <einparallel/kernel/pack.hpp>
#include <einparallel/kernel/tile_kernel.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

template <class T, index Panel, instruction_set Set>
void pack_for_join(const void* /*context*/, void* into, const void* from, const pack_source& source) {
    pack_slivers<T, Panel, Set>(into, from, source);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
