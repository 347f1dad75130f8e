#pragma once

#include <einparallel/graph/names.hpp>

#include <einparallel/notation/search_range.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM std::string name_for(source_kind named) {
    return name_at(named, {"read by every rank", "on one rank", "distributed", "placeholder"});
}

EINPARALLEL_SELDOM std::string name_in_formula(const std::string& name) {
    // Letters, digits, underscores, dots, and what is beyond ASCII.
    const bool is_word = !name.empty() && all_in(name, [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || letter == '_' || letter == '.' ||
               static_cast<unsigned char>(letter) >= 0x80;
    });
    const bool is_bracketed = name.size() > 2 && name.front() == '(' && name.find(')') == name.size() - 1;
    return is_word || is_bracketed ? name : "'" + name + "'";
}

EINPARALLEL_SELDOM std::string full_name(const einsum_graph& graph, std::size_t number) {
    const auto name_of = [&](std::size_t each) { return graph.name_of(each); };
    const vertex& of = *graph.vertices[number];
    return full_name(of, name_of(number), [&] { return formula_text(of, graph.inputs[number], name_of); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
