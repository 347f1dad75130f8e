#pragma once
// What the user fixes about one vertex before the planner decides the rest.

#include <einparallel/notation/compiled.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace einparallel {

/// Into how many parts one dimension of a tensor is cut. The dimension is named by its label in the einsum that makes
/// the tensor, or by its number from 0 (inputs have no labels of their own).
struct pinned_part {
    std::string label;  ///< empty where the dimension is named by its number
    int dimension = 0;  ///< counts where `label` is empty
    int parts = 1;

    pinned_part(std::string along, int count) : label(std::move(along)), parts(count) {}
    pinned_part(int along, int count) : dimension(along), parts(count) {}

    /// `i` or `dimension 0`.
    EINPARALLEL_INLINE [[nodiscard]] std::string where() const;

    friend bool operator==(const pinned_part&, const pinned_part&) = default;
};

/// Wishes that every plan obeys; see tensor::pinned and tensor::without_communication.
struct vertex_wishes {
    std::optional<std::vector<pinned_part>> pin;  ///< exactly this cut, outermost axis of the mesh first
    bool without_communication = false;

    /// The pin as `i:4 k:2` or `0:4 1:2`; "one block" for a tensor that is not cut.
    EINPARALLEL_INLINE [[nodiscard]] std::string pin_text() const;

    friend bool operator==(const vertex_wishes&, const vertex_wishes&) = default;
};

}  // namespace einparallel
