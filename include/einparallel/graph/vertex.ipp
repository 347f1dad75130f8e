#pragma once

#include <einparallel/graph/vertex.hpp>

#include <einparallel/graph/text.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM std::string name_of_input(const vertex& input) {
    const std::string made_by = input.origin == nullptr ? "an input" : input.origin->description();
    return input.name.empty() ? made_by : "'" + input.name + "' (" + made_by + ")";
}

EINPARALLEL_SELDOM void mark_statement(vertex& last) {
    last.constraints.without_communication = true;
    std::vector<vertex*> reached{&last};
    while (!reached.empty()) {
        const std::vector<std::shared_ptr<vertex>>& read = reached.back()->operands;
        reached.pop_back();
        for (const std::shared_ptr<vertex>& each : read) {
            if (each->is_intermediate && !each->constraints.without_communication) {
                each->constraints.without_communication = true;
                reached.push_back(each.get());
            }
        }
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

// A loop may record a chain of any length: letting it go must not recurse once per vertex.
EINPARALLEL_VIRTUAL vertex::~vertex() {
    std::vector<std::shared_ptr<vertex>> released = std::move(operands);
    while (!released.empty()) {
        const std::shared_ptr<vertex> last = std::move(released.back());
        released.pop_back();
        if (last != nullptr && last.use_count() == 1) {
            for (std::shared_ptr<vertex>& operand : last->operands) {
                released.push_back(std::move(operand));
            }
            last->operands.clear();
        }
    }
}

EINPARALLEL_SELDOM std::string points_text(const std::vector<index>& points) {
    return points.empty() ? ""
                          : " at " + detail::joined(points, ",", [](index point) { return std::to_string(point); });
}

EINPARALLEL_SELDOM std::string vertex_constraints::pin_text() const {
    const auto text_of = [](const pinned_part& each) {
        return (each.label.empty() ? std::to_string(each.dimension) : each.label) + ":" + std::to_string(each.parts) +
               points_text(each.points);
    };
    const std::string written = detail::joined(pin.value_or(std::vector<pinned_part>{}), " ", text_of);
    return written.empty() ? "one block" : written;
}

}  // namespace einparallel
