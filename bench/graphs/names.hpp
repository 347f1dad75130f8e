#pragma once
// Names of temporaries: the terms of a sum and the pairs of a product, which no handle refers to.

#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/vertex.hpp>

#include <set>
#include <string>

namespace experiments {

namespace ep = einparallel;

/// Names every unnamed einsum below `made` after its reader and its number there: `F_vv.2`. `named` holds the vertices
/// already visited.
inline void name_terms(const ep::vertex& made, std::set<const ep::vertex*>& named) {
    if (!named.insert(&made).second) {
        return;
    }
    int terms = 0;
    for (const auto& operand : made.operands) {
        if (operand->name.empty()) {
            operand->name = made.name + "." + std::to_string(++terms);
        }
        name_terms(*operand, named);
    }
}

template <class... Tensors>
void name_terms(const Tensors&... made) {
    std::set<const ep::vertex*> named;
    (name_terms(*made.node(), named), ...);
}

}  // namespace experiments
