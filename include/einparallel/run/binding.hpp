#pragma once
// A value for a placeholder, or the memory for an output, types erased: what ep::bind and ep::into return and a run
// takes.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/run/collect.hpp>

#include <memory>

namespace einparallel {

/// The placeholder and the input that stands for it in one run, or an output and where its elements go. Made by
/// ep::bind and ep::into.
struct binding {
    std::shared_ptr<vertex> placeholder;                     ///< what is bound
    std::shared_ptr<vertex> value;                           ///< where its elements come from
    std::shared_ptr<const detail::distributed_part> into{};  ///< of an output: where they go
    element_type element{};                                  ///< of that memory

    /// True for an output.
    [[nodiscard]] bool is_output() const { return into != nullptr; }
};

}  // namespace einparallel
