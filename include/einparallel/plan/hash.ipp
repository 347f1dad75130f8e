#pragma once

#include <einparallel/plan/hash.hpp>

#include <functional>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

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

}  // namespace einparallel::EINPARALLEL_DETAIL

EINPARALLEL_INLINE std::size_t std::hash<einparallel::plan>::operator()(const einparallel::plan& hashed) const {
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
