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

/// A rate as text: how many units per second, when one takes `seconds_each`.
EINPARALLEL_SELDOM std::string rate_text(double seconds_each, const char* unit) {
    return (seconds_each > 0 ? counted(std::min(1 / seconds_each, 1e21)) : "unlimited ") + unit + "/s";
}

EINPARALLEL_SELDOM std::string machine_text(const machine& shown) {
    return duration_text(shown.seconds_per_message) + " per message, " + rate_text(shown.seconds_per_byte, "B") + ", " +
           rate_text(shown.seconds_per_flop, "flop") + ", " + three_digits(shown.operations_per_touch) +
           " flop in the time of a copied element, " + three_digits(100 * shown.exposed) +
           "% of the shorter of arithmetic and transfer exposed";
}

EINPARALLEL_SELDOM std::string formula_text(const plan& shown, const planned_vertex& each) {
    return formula_text(*each.origin, each.inputs, [&](std::size_t input) { return shown.vertices()[input].name; });
}

EINPARALLEL_SELDOM std::string full_name(const plan& shown, const planned_vertex& each) {
    return full_name(*each.origin, each.name, [&] { return formula_text(shown, each); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
