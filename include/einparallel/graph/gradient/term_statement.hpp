#pragma once
// A statement that is written while it runs: terms of labelled tensors, and vertices of what they are summed to.

#include <einparallel/graph/gradient/derivation.hpp>
#include <einparallel/graph/gradient/labelled_tensor.hpp>
#include <einparallel/graph/record.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/kernel/row_program.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Rows of the calls in a vertex's ⊗, where they are known.
EINPARALLEL_INLINE std::span<const row_call> calls_of(const vertex& made);

/// Operand number r of the terms is number r of the statement. A label's extent is that of all operands that have it.
class term_statement {
public:
    /// Of labels with these names and extents. `keeps`: whose functors the terms refer to.
    term_statement(std::vector<std::string> names, std::vector<index> extents, derivation terms = {},
                   std::shared_ptr<const kernel> keeps = nullptr)
        : names_(std::move(names)), extents_(std::move(extents)), terms_(std::move(terms)), keeps_{std::move(keeps)} {}

    [[nodiscard]] derivation& terms() { return terms_; }
    [[nodiscard]] const labelled_tensor& operand(std::size_t number) const { return operands_[number]; }
    [[nodiscard]] const std::vector<index>& extents() const { return extents_; }
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

    /// One more label.
    label_id add_label(std::string name, index extent) {
        names_.push_back(std::move(name));
        extents_.push_back(extent);
        return label_id(names_.size() - 1);
    }
    /// What operand number `operand` of the terms is.
    void set_operand(std::size_t operand, labelled_tensor tensor) {
        operands_.resize(std::max(operands_.size(), operand + 1));
        operands_[operand] = std::move(tensor);
    }
    /// One more operand, as a term: its scale is a factor.
    EINPARALLEL_INLINE term_id add(const labelled_tensor& operand, element_type type);

    /// The same as what makes it, where each element is a term of others' elements.
    EINPARALLEL_INLINE term_id add_made(const labelled_tensor& operand, element_type type);

    /// The term, summed over these labels, with labels among `kept` in the order of these: products as contractions,
    /// and what does not depend on a label outside of the sum over it.
    EINPARALLEL_INLINE labelled_tensor sum(term_id term, label_span kept, label_span summed);
    /// ⊕ of the term as a vertex with these labels, each of which it has.
    EINPARALLEL_INLINE std::shared_ptr<vertex> reduce(term_id term, reduction by, label_span out) const;

    /// scale · Σ of the product of these operands as a vertex with these labels.
    EINPARALLEL_INLINE std::shared_ptr<vertex> contract(label_span out, std::span<const std::size_t> read,
                                                        element_type type, std::complex<double> scale) const;

    /// Labels that a term depends on.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<label_id> labels_of(term_id term) const;

private:
    [[nodiscard]] std::vector<std::string_view> views_of_names() const { return {names_.begin(), names_.end()}; }
    EINPARALLEL_INLINE [[nodiscard]] std::vector<recording_builder::operand_type> operands_at(
        std::span<const std::size_t> read) const;
    EINPARALLEL_INLINE labelled_tensor product(factored_term product, element_type type, label_span kept,
                                               label_span summed);

    std::vector<std::string> names_;
    std::vector<index> extents_;
    derivation terms_;
    std::vector<labelled_tensor> operands_;
    std::vector<std::shared_ptr<const void>> keeps_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
