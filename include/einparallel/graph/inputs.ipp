#pragma once

#include <einparallel/graph/inputs.hpp>

#include <einparallel/notation/element_type.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

class placeholder_source final : public source {
public:
    [[nodiscard]] source_kind kind() const override { return source_kind::placeholder; }
    void read(const box& /*region*/, void* /*destination*/) const override {}
    [[nodiscard]] std::string description() const override { return "placeholder"; }
};

EINPARALLEL_INLINE std::shared_ptr<const source> placeholder_origin() {
    return std::make_shared<placeholder_source>();
}

EINPARALLEL_INLINE std::shared_ptr<vertex> input_vertex(const std::vector<index>& bounds, element_type element,
                                                        std::shared_ptr<const source> origin) {
    auto made = std::make_shared<vertex>();
    made->bounds = bounds;
    made->element = element;
    for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
        if (bounds[dimension] < 0) {
            made->failure = origin->description() + ": extent " + std::to_string(bounds[dimension]) + " of dimension " +
                            std::to_string(dimension) + " is negative";
            made->bounds[dimension] = 0;
        }
    }
    made->origin = std::move(origin);
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
