#pragma once
// The planner's enumerations and vertices in words.

#include <einparallel/graph/source.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/plan.hpp>

#include <string>

namespace einparallel::detail {

inline std::string word_for(algorithm named) {
    switch (named) {
        case algorithm::c:
            return "c";
        case algorithm::mn:
            return "mn";
        case algorithm::k:
            return "k";
        case algorithm::master_worker:
            return "master_worker";
        default:
            return "automatic";
    }
}

inline std::string word_for(objective named) {
    return named == objective::paper ? "paper" : named == objective::bytes ? "bytes" : "time";
}

inline std::string word_for(method named) {
    return named == method::exact ? "exact" : "linearized";
}

inline std::string word_for(order named) {
    return named == order::best_plan ? "best_plan" : "fewest_operations";
}

/// Who has an input's elements.
inline std::string word_for(source_kind named) {
    switch (named) {
        case source_kind::everywhere:
            return "read by every rank";
        case source_kind::root:
            return "on one rank";
        case source_kind::resting:
            return "distributed";
        default:
            return "placeholder";
    }
}

/// Without line breaks and other control characters, which would tear a table apart.
inline std::string printable(std::string text) {
    for (char& letter : text) {
        letter = static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f ? '?' : letter;
    }
    return text;
}

inline std::string source_text(const planned_vertex& each) {
    return each.origin != nullptr && each.origin->origin != nullptr ? each.origin->origin->description() : "";
}

/// Every rank can read any part of this input: nothing has to be sent, whatever the consumers want.
inline bool read_by_all(const planned_vertex& input) {
    return input.origin == nullptr || input.origin->origin == nullptr ||
           input.origin->origin->kind() == source_kind::everywhere;
}

}  // namespace einparallel::detail
