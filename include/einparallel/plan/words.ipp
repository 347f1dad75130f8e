#pragma once

#include <einparallel/plan/words.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::string word_for(algorithm named) {
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

EINPARALLEL_INLINE std::string word_for(objective named) {
    return named == objective::paper ? "paper" : named == objective::bytes ? "bytes" : "time";
}

EINPARALLEL_INLINE std::string word_for(method named) {
    return named == method::exact ? "exact" : "linearized";
}

EINPARALLEL_INLINE std::string word_for(order named) {
    return named == order::best_plan ? "best_plan" : "fewest_operations";
}

EINPARALLEL_INLINE std::string word_for(source_kind named) {
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

EINPARALLEL_INLINE std::string printable(std::string text) {
    for (char& letter : text) {
        letter = static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f ? '?' : letter;
    }
    return text;
}

EINPARALLEL_INLINE std::string source_text(const planned_vertex& each) {
    return each.origin != nullptr && each.origin->origin != nullptr ? each.origin->origin->description() : "";
}

EINPARALLEL_INLINE bool read_by_all(const planned_vertex& input) {
    return input.origin == nullptr || input.origin->origin == nullptr ||
           input.origin->origin->kind() == source_kind::everywhere;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
