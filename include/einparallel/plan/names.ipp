#pragma once

#include <einparallel/plan/names.hpp>

#include <algorithm>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM std::string name_for(algorithm named) {
    return name_at(named, {"automatic", "c", "mn", "k", "master_worker"});
}
EINPARALLEL_SELDOM std::string name_for(objective named) {
    return name_at(named, {"time", "paper", "bytes"});
}
EINPARALLEL_SELDOM std::string name_for(method named) {
    return name_at(named, {"exact", "linearized"});
}
EINPARALLEL_SELDOM std::string name_for(order named) {
    return name_at(named, {"fewest_operations", "best_plan"});
}

EINPARALLEL_SELDOM std::string formula_text(const plan& shown, const planned_vertex& each) {
    return formula_text(*each.origin, each.inputs, [&](std::size_t input) { return shown.vertices()[input].name; });
}

EINPARALLEL_SELDOM std::string full_name(const plan& shown, const planned_vertex& each) {
    return full_name(*each.origin, each.name, [&] { return formula_text(shown, each); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
