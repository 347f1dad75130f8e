#pragma once
// A value for a placeholder, with its type erased: what ep::bind returns and a run takes.

#include <einparallel/graph/vertex.hpp>

#include <memory>

namespace einparallel {

/// The placeholder and the input that stands for it in one run. Made by ep::bind.
struct binding {
    std::shared_ptr<vertex> placeholder;  ///< what is bound
    std::shared_ptr<vertex> value;        ///< where its elements come from
};

}  // namespace einparallel
