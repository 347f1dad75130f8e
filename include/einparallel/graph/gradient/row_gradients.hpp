#pragma once
// The gradients of vertices that are no ⊕ over ⊗: softmax, running sums, ranks, and what indices select.

#include <einparallel/graph/gradient/term_statement.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// What is added to the gradient of an operand: of `reader`, where it reads that, with labels of the read.
struct read_gradient {
    const vertex* reader;
    operand_read read;
    labelled_tensor term;
};

/// By the gradient of a vertex, which has the vertex's labels. None where the vertex is ⊕ over ⊗.
EINPARALLEL_INLINE std::optional<std::vector<read_gradient>> row_gradients(const std::shared_ptr<vertex>& made,
                                                                           const labelled_tensor& gradient);

}  // namespace einparallel::EINPARALLEL_DETAIL
