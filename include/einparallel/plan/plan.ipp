#pragma once

#include <einparallel/plan/plan.hpp>

#include <einparallel/notation/error.hpp>
#include <einparallel/schedule/program.hpp>

namespace einparallel {

EINPARALLEL_INLINE bool operator==(const planned_vertex& a, const planned_vertex& b) {
    return a.name == b.name && a.bounds == b.bounds && a.element == b.element && a.inputs == b.inputs &&
           a.work == b.work && a.resting == b.resting && a.algorithm == b.algorithm && a.fell_back == b.fell_back &&
           a.join == b.join && a.aggregation == b.aggregation && a.repartition == b.repartition && a.bytes == b.bytes &&
           a.seconds == b.seconds;
}

EINPARALLEL_INLINE bool operator==(const plan& a, const plan& b) {
    return a.processes_ == b.processes_ && a.options_ == b.options_ && a.outputs_ == b.outputs_ &&
           a.vertices_ == b.vertices_;
}

EINPARALLEL_INLINE double plan::cost() const {
    double sum = 0;
    for (const planned_vertex& each : vertices_) {
        sum += each.join + each.aggregation + each.repartition;
    }
    return sum;
}

EINPARALLEL_INLINE double plan::seconds() const {
    double sum = 0;
    for (const planned_vertex& each : vertices_) {
        sum += each.seconds;
    }
    return sum;
}

EINPARALLEL_INLINE std::size_t plan::bytes_moved() const {
    std::size_t sum = 0;
    for (const planned_vertex& each : vertices_) {
        sum += each.bytes;
    }
    return sum;
}

EINPARALLEL_INLINE double plan::objective_cost() const {
    switch (options_.objective) {
        case objective::paper:
            return cost();
        case objective::bytes:
            return static_cast<double>(bytes_moved());
        default:
            return seconds();
    }
}

EINPARALLEL_INLINE std::vector<std::pair<std::string, int>> plan::partition(const vertex& made) const {
    for (const planned_vertex& each : vertices_) {
        if (each.origin.get() == &made) {
            std::vector<std::pair<std::string, int>> parts;
            for (std::size_t label = 0; label < each.work.own_labels(); ++label) {
                parts.emplace_back(each.work.form.names[label], each.work.ranks.parts(static_cast<label_id>(label)));
            }
            return parts;
        }
    }
    throw error("plan: " + (made.name.empty() ? "this tensor" : made.name) + " is not made by any vertex of this plan");
}

}  // namespace einparallel
