#pragma once
// What a term adds to the gradient of a tensor that it was read from: at functions of labels solved for the labels,
// where these are ±1 · label + …; else through indices that are data.

#include <einparallel/graph/gradient/term_statement.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <complex>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Σ of the term, summed over `space` but for labels of the read: what it adds to the gradient of `tensor`, with
/// numbers of its dimensions as labels. @param before  reads that replace this one where they are inside
EINPARALLEL_INLINE labelled_tensor scattered(term_statement statement, term_id term, const vertex& tensor,
                                             const operand_read& read, std::span<const operand_read* const> before,
                                             const std::vector<label_id>& space);

}  // namespace einparallel::EINPARALLEL_DETAIL
