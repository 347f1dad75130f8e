#pragma once
// A value for a placeholder, with its type erased: what ep::bind returns and a run takes.

#include <einparallel/graph/source.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>

#include <memory>
#include <vector>

namespace einparallel {

/// The placeholder and what stands for it in one run. Made by ep::bind.
struct binding {
    std::shared_ptr<vertex> placeholder;
    std::shared_ptr<const source> value;
    element_type element;
    std::vector<index> extents;
};

}  // namespace einparallel
