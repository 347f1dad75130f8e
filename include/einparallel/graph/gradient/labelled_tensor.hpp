#pragma once
// Tensors with labels that are known at run time, as operands: broadcast, copied, read at functions of labels.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/element_type.hpp>

#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// scale · tensor, which is the same along labels that it lacks. No tensor: the scale alone.
struct labelled_tensor {
    std::shared_ptr<vertex> handle;
    std::vector<label_id> labels;
    std::complex<double> scale = 1;
};

/// A tensor with this value: of one element, to be read as any other one, or of rank 0.
EINPARALLEL_INLINE std::shared_ptr<vertex> scalar_vertex(element_type element, std::complex<double> value,
                                                         std::vector<index> extents = {1});

/// Names for the dimensions of a tensor as labels: those in the einsum that makes it; of an input "0", "1", ….
EINPARALLEL_INLINE std::vector<std::string> names_of_dimensions(const vertex& of);

/// The same tensor with these labels, which are its own and others.
EINPARALLEL_INLINE labelled_tensor broadcast(const labelled_tensor& tensor, label_span labels,
                                             const std::vector<index>& extents);

/// The same with a dimension of extent 1 instead of none, to be read under conditions.
EINPARALLEL_INLINE labelled_tensor with_dimension(const labelled_tensor& tensor);

/// The same as a tensor with a dimension for each of these labels that is no view.
EINPARALLEL_INLINE std::shared_ptr<vertex> copied(const labelled_tensor& tensor, const std::vector<std::string>& names,
                                                  const std::vector<index>& extents, label_span labels);

/// The same as a tensor like `of` that is no view, of a term labelled with numbers of dimensions.
EINPARALLEL_INLINE std::shared_ptr<vertex> whole_tensor(labelled_tensor term, const vertex& of);

/// What a vertex's kernel reads as an operand.
EINPARALLEL_INLINE labelled_tensor read_of(const vertex& made, const operand_read& read);

/// Ranges of labels in a view.
EINPARALLEL_INLINE std::vector<interval> ranges_of(label_span labels, const std::vector<index>& extents);
/// A tensor that is read at a map of labels, and as 0 where this is outside or its conditions do not hold.
EINPARALLEL_INLINE labelled_tensor seen_at(const labelled_tensor& tensor, affine_map at,
                                           const std::vector<index>& extents);

}  // namespace einparallel::EINPARALLEL_DETAIL
