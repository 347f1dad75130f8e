#pragma once
// One call of run, as its inputs and its outputs see it.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/run/part.hpp>
#include <einparallel/run/plan_cache.ipp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// One call of run, as its inputs and its outputs see it.
struct plan_call {
    const plan& asked;
    std::shared_ptr<context_state> world;
    std::span<const binding> bound;
    plan_cache& cache;
    prepared_plan* ready = nullptr;  ///< where the plan could be prepared
    fingerprint bound_signature{};   ///< of what is bound, and where it rests

    [[nodiscard]] bool is_on_device() const { return !cache.space.is_host(); }
    [[nodiscard]] executable& moves() const { return ready->moves(); }
    [[nodiscard]] const planned_vertex& output(std::size_t position) const {
        return asked.vertices()[asked.outputs()[position]];
    }
};

/// "double, 3 x 4"
EINPARALLEL_INLINE std::string shape_text(element_type element, const std::vector<index>& bounds) {
    std::string text = name_of_element(element) + ",";
    for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
        text += (dimension == 0 ? " " : " x ") + std::to_string(bounds[dimension]);
    }
    return text;
}

EINPARALLEL_INLINE std::string name_of(const binding& each) {
    const bool named = each.placeholder != nullptr && !each.placeholder->name.empty();
    return named ? "'" + each.placeholder->name + "'" : "a tensor";
}

}  // namespace einparallel::EINPARALLEL_DETAIL
