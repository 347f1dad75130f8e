#pragma once

#include <einparallel/graph/vertex.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void mark_statement(vertex& last) {
    last.wishes.without_communication = true;
    std::vector<vertex*> reached{&last};
    while (!reached.empty()) {
        const std::vector<std::shared_ptr<vertex>>& read = reached.back()->operands;
        reached.pop_back();
        for (const std::shared_ptr<vertex>& each : read) {
            if (each->is_intermediate && !each->wishes.without_communication) {
                each->wishes.without_communication = true;
                reached.push_back(each.get());
            }
        }
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
