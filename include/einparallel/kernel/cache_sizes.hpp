#pragma once
// How large this processor's data caches are, as far as it says.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Bytes of the first- and second-level data cache of a core; 0 where the processor does not say, or says what cannot
/// be (some hypervisors hide their caches).
struct cache_sizes {
    std::size_t first = 0;
    std::size_t second = 0;

    /// Of this processor: asked once, which may cost microseconds on a virtual machine; a load afterwards.
    EINPARALLEL_INLINE static const cache_sizes& here();

    /// The same, without sizes that no processor has.
    EINPARALLEL_INLINE [[nodiscard]] cache_sizes checked() const;

private:
    EINPARALLEL_INLINE static cache_sizes asked();
};

/// How many cache lines, `step` bytes apart, fit into one way of the first-level cache: few where the step is a
/// multiple of a large power of two, since they fall into few sets.
EINPARALLEL_INLINE index lines_of_a_way(index step);

}  // namespace einparallel::EINPARALLEL_DETAIL
