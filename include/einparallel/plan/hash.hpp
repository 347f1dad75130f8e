#pragma once
// Plans as keys of unordered containers.

#include <einparallel/plan/plan.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace einparallel::detail {

/// Mixes one value after the other into a number.
class hash_mixer {
public:
    template <class Value>
    hash_mixer& add(const Value& value) {
        state_ ^= std::hash<Value>{}(value) + 0x9e3779b9U + (state_ << 6U) + (state_ >> 2U);
        return *this;
    }
    template <class Value>
    hash_mixer& add(const std::vector<Value>& values) {
        add(values.size());
        for (const Value& value : values) {
            add(value);
        }
        return *this;
    }
    [[nodiscard]] std::size_t value() const { return state_; }

private:
    std::size_t state_ = 0;
};

}  // namespace einparallel::detail

/// Equal plans have equal hashes. Where tensors rest counts by the meshes of their vertices: distributions are equal
/// however they are described.
template <>
struct std::hash<einparallel::plan> {
    std::size_t operator()(const einparallel::plan& hashed) const {
        einparallel::detail::hash_mixer mixer;
        const einparallel::options& asked = hashed.asked();
        mixer.add(hashed.processes()).add(asked.processes).add(static_cast<int>(asked.objective));
        mixer.add(asked.memory_limit).add(static_cast<int>(asked.algorithm)).add(static_cast<int>(asked.method));
        mixer.add(hashed.outputs()).add(hashed.vertices().size());
        for (const einparallel::planned_vertex& each : hashed.vertices()) {
            mixer.add(each.name).add(each.bounds).add(each.inputs).add(each.bytes).add(each.seconds);
            mixer.add(each.work.form.names).add(each.work.extents).add(each.work.travelling);
            for (const einparallel::mesh_axis& axis : each.work.ranks.axes) {
                mixer.add(axis.label).add(axis.parts);
            }
        }
        return mixer.value();
    }
};
