#pragma once
// A statement that is written while it runs: terms of labelled tensors, and vertices of what they are summed to.

#include <einparallel/graph/gradient/derivation_rules.ipp>
#include <einparallel/graph/gradient/labelled_tensor.ipp>
#include <einparallel/graph/record.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/kernel/row_program.hpp>
#include <einparallel/kernel/work/join.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The rows of the calls in a vertex's ⊗; none where its kernel does not tell them.
EINPARALLEL_SELDOM std::span<const row_call> calls_of(const vertex& made) {
    const auto* const joins = made.work->as<join_work>();
    return joins == nullptr ? std::span<const row_call>()
                            : std::span<const row_call>(joins->calls.begin(), joins->calls.size());
}

/// The kernel that computes Σ scale · x · y · …
EINPARALLEL_SELDOM std::shared_ptr<const kernel> product_kernel_of(element_type type, std::complex<double> scale,
                                                                   std::span<const element_type> operands) {
    std::shared_ptr<const kernel> made;
    with_element(type, [&]<class T>(std::type_identity<T> /*type*/) {
        if constexpr (is_complex<T>::value) {
            made = make_product_kernel<T>(converted<T>(scale), operands);
        } else if constexpr (std::is_floating_point_v<T>) {
            made = make_product_kernel<T>(T(scale.real()), operands);
        }
    });
    return made;
}

/// Terms of labelled tensors, of which vertices can be made. Operand r of the terms is operand r of the statement. A
/// label has the same extent in all operands.
class term_statement {
public:
    /// A statement over labels with these names and extents. `keeps`: owns the functors that the terms refer to.
    term_statement(std::vector<std::string> names, std::vector<index> extents, derivation terms = {},
                   std::shared_ptr<const kernel> keeps = nullptr)
        : names_(std::move(names)), extents_(std::move(extents)), terms_(std::move(terms)), keeps_{std::move(keeps)} {}

    [[nodiscard]] derivation& terms() { return terms_; }
    [[nodiscard]] const labelled_tensor& operand(std::size_t number) const { return operands_[number]; }
    [[nodiscard]] const std::vector<index>& extents() const { return extents_; }
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

    /// Adds a label and returns it.
    label_id add_label(std::string name, index extent) {
        names_.push_back(std::move(name));
        extents_.push_back(extent);
        return label_id(names_.size() - 1);
    }

    /// Sets the tensor that is operand number `operand` of the terms.
    void set_operand(std::size_t operand, labelled_tensor tensor) {
        operands_.resize(std::max(operands_.size(), operand + 1));
        operands_[operand] = std::move(tensor);
    }

    /// Adds an operand, unless the statement has it, and returns its term. The operand's scale is a factor of the term.
    EINPARALLEL_SELDOM term_id add(const labelled_tensor& operand, element_type type) {
        const term_id scale = terms_.number(computed(type), operand.scale);
        if (operand.handle == nullptr) {
            return scale;
        }
        const auto known = find_if_in(operands_, [&](const labelled_tensor& each) {
            return each.handle == operand.handle && each.labels == operand.labels;
        });
        const auto number = std::size_t(known - operands_.begin());
        if (known == operands_.end()) {
            operands_.push_back(operand);
            operands_.back().scale = 1;
            terms_.add_operand(operand.handle->element);
        }
        return terms_.times(scale, terms_.operand(number));
    }

    /// The same, but an operand whose elements are each a term of other tensors' elements is replaced by this term.
    EINPARALLEL_SELDOM term_id add_made(const labelled_tensor& operand, element_type type) {
        const std::shared_ptr<vertex>& made = operand.handle;
        const std::vector<label_id>& out = made->form.output;
        const bool is_join =
            made->work != nullptr && (made->work->is_contraction() || made->work->as<join_work>() != nullptr);
        if (!is_join || out.size() < made->extents.size()) {
            return add(operand, type);
        }
        std::vector<term_id> read;
        for (const operand_read& each : made->form.listed_reads()) {
            labelled_tensor from = read_of(*made, each);
            for (label_id& label : from.labels) {
                label = label == no_label ? label : operand.labels[std::size_t(find_in(out, label) - out.begin())];
            }
            read.push_back(add(from, from.handle->element));
        }
        keeps_.push_back(made->work);
        return terms_.times(terms_.number(computed(type), operand.scale),
                            terms_.insert(made->work->program(), calls_of(*made), read));
    }

    /// The term, summed over the labels `summed`. The result has the labels of `kept` that the term depends on, in this
    /// order. Products become contractions. Factors that depend on no summed label are multiplied after the sum.
    EINPARALLEL_SELDOM labelled_tensor sum(term_id term, label_span kept, label_span summed) {
        const element_type type = terms_.type_of(term);
        factored_term all = terms_.factors_of(term);
        const std::vector<label_id> labels = labels_of(term);
        for (const label_id label : summed) {
            all.scale *= found_in(label, labels) ? 1.0 : double(extents_[std::size_t(label)]);
        }
        const auto outside = std::stable_partition(all.factors.begin(), all.factors.end(), [&](term_id factor) {
            return any_in(labels_of(factor), [&](label_id label) { return found_in(label, summed); });
        });
        if (outside == all.factors.begin() || outside == all.factors.end()) {
            return product(std::move(all), type, kept, summed);
        }
        const labelled_tensor inside = product({1, {all.factors.begin(), outside}}, type, kept, summed);
        all.factors.erase(all.factors.begin(), outside);
        const term_id made = terms_.times(add(inside, type), terms_.product_of(all, type));
        return product(terms_.factors_of(made), type, kept, {});
    }

    /// A vertex that is ⊕ of the term. Its labels are `out`, and the term depends on each of them.
    EINPARALLEL_SELDOM std::shared_ptr<vertex> reduce(term_id term, reduction by, label_span out) const {
        written_term written = terms_.write(term, by);
        written.keeps.insert(written.keeps.end(), keeps_.begin(), keeps_.end());
        return recording_builder(views_of_names())
            .record(recording_builder::last_vertex{}, out, operands_at(written.read),
                    make_join_kernel(join_work_of(written.program, written.calls), written.program,
                                     std::move(written.keeps)));
    }

    /// A vertex that is scale · Σ of the product of the operands `read`. Its labels are `out`.
    EINPARALLEL_SELDOM std::shared_ptr<vertex> contract(label_span out, std::span<const std::size_t> read,
                                                        element_type type, std::complex<double> scale) const {
        const std::vector<std::string_view> names = views_of_names();
        const recording_builder builder(names);
        constexpr recording_builder::last_vertex last{};
        const bool is_pair = read.size() <= 2;
        std::vector<recording_builder::operand_type> operands = operands_at(read);
        for (recording_builder::operand_type& operand : operands) {
            if (const element_type stored = operand.handle->element; stored != type && !is_pair) {
                operand.handle = builder.record(std::nullopt, operand.labels, {&operand, 1},
                                                product_kernel_of(type, 1, {&stored, 1}));
            }
        }
        const std::vector<element_type> types =
            list_of(operands, [](const recording_builder::operand_type& each) { return each.handle->element; });
        const std::vector<element_type> two(2, type);
        return is_pair
                   ? builder.record(last, out, operands, product_kernel_of(type, scale, types))
                   : builder.contract_pairwise(last, out, operands, product_kernel_of(type, scale, types),
                                               product_kernel_of(type, scale, two), product_kernel_of(type, 1, two));
    }

    /// Labels that a term depends on.
    EINPARALLEL_SELDOM [[nodiscard]] std::vector<label_id> labels_of(term_id term) const {
        std::vector<label_id> all;
        for (const std::size_t operand : terms_.operands_of(term)) {
            append_new(all, operands_[operand].labels);
        }
        std::erase(all, no_label);
        return all;
    }

private:
    [[nodiscard]] std::vector<std::string_view> views_of_names() const { return {names_.begin(), names_.end()}; }
    EINPARALLEL_SELDOM [[nodiscard]] std::vector<recording_builder::operand_type> operands_at(
        std::span<const std::size_t> read) const {
        return list_of(read, [&](std::size_t operand) {
            return recording_builder::operand_type{operands_[operand].handle, operands_[operand].labels};
        });
    }

    EINPARALLEL_SELDOM labelled_tensor product(factored_term product, element_type type, label_span kept,
                                               label_span summed) {
        const std::vector<label_id> labels = labels_of(terms_.product_of(product, type));
        const bool sums = any_in(labels, [&](label_id label) { return found_in(label, summed); });
        if (product.factors.empty()) {
            return {nullptr, {}, product.scale};
        }
        const std::optional<std::size_t> only =
            product.factors.size() == 1 ? terms_.as_operand(product.factors[0]) : std::nullopt;
        if (only && !sums && operands_[*only].labels.size() == labels.size() &&
            operands_[*only].handle->element == type) {
            labelled_tensor same = operands_[*only];
            same.scale = product.scale;
            return same;
        }
        // A factor that is no operand is computed first, where it depends on fewer labels than the product.
        for (std::size_t number = 0; sums && number < product.factors.size(); ++number) {
            const std::vector<label_id> own = labels_of(product.factors[number]);
            if (own.size() < labels.size() && !terms_.as_operand(product.factors[number])) {
                factored_term others = product;
                others.factors.erase(others.factors.begin() + std::ptrdiff_t(number));
                const std::vector<label_id> elsewhere = labels_of(terms_.product_of(others, type));
                std::vector<label_id> stays;
                std::vector<label_id> goes;
                for (const label_id label : own) {
                    (found_in(label, summed) && !found_in(label, elsewhere) ? goes : stays).push_back(label);
                }
                const factored_term made = terms_.factors_of(add(sum(product.factors[number], stays, goes), type));
                if (made.factors.empty()) {
                    return {nullptr, {}, product.scale * made.scale};  // 0, of no elements
                }
                product.scale *= made.scale;
                product.factors[number] = made.factors[0];
            }
        }
        const std::vector<label_id> out = those_in(kept, [&](label_id label) { return found_in(label, labels); });
        std::vector<std::size_t> read;
        for (const term_id factor : product.factors) {
            if (const std::optional<std::size_t> operand = terms_.as_operand(factor)) {
                read.push_back(*operand);
            }
        }
        if (read.size() == product.factors.size() && (sums || read.size() <= 2)) {
            return {contract(out, read, type, product.scale), out};
        }
        return {reduce(terms_.product_of(product, type), reduction::sum, out), out};
    }

    std::vector<std::string> names_;
    std::vector<index> extents_;
    derivation terms_;
    std::vector<labelled_tensor> operands_;
    std::vector<std::shared_ptr<const void>> keeps_;
};

/// A copy of a tensor that is no view, and has a dimension for each of these labels.
EINPARALLEL_SELDOM std::shared_ptr<vertex> copied(const labelled_tensor& tensor, const std::vector<std::string>& names,
                                                  const std::vector<index>& extents, label_span labels) {
    const element_type element = computed(tensor.handle->element);
    term_statement copy(names, extents);
    copy.add(tensor.labels.size() == labels.size() ? tensor : broadcast(tensor, labels, extents), element);
    return copy.contract(labels, std::array{std::size_t(0)}, element, tensor.scale);
}

/// The tensor itself, or where it has rank 0, a copy with one dimension of extent 1, which can be read under
/// conditions.
EINPARALLEL_SELDOM labelled_tensor with_dimension(const labelled_tensor& tensor) {
    return tensor.handle->bounds.empty()
               ? labelled_tensor{copied({tensor.handle, {}}, {"0"}, {1}, first_labels(1)), {}, tensor.scale}
               : tensor;
}

/// A view of a tensor at a map of labels. It is 0 where the map lies outside of the tensor, or its conditions do not
/// hold.
EINPARALLEL_SELDOM labelled_tensor seen_at(const labelled_tensor& of, affine_map at,
                                           const std::vector<index>& extents) {
    const labelled_tensor tensor = with_dimension(of);
    at.bounds = tensor.handle->bounds;
    at.functions.resize(at.bounds.size());
    if (tensor.handle->is_view()) {  // the view must lie inside of its tensor, too
        const std::vector<index_function> inside = at.inside();
        at.where.insert(at.where.begin(), inside.begin(), inside.end());
    }

    const std::vector<label_id> labels = at.labels();
    const std::vector<interval> ranges = ranges_of(labels, extents);
    const affine_map nowhere{std::vector<index_function>(1)};
    const auto zeros = view_vertex(scalar_vertex(tensor.handle->element, 0), nowhere, labels, ranges);
    return {view_vertex(tensor.handle, at, labels, ranges, zeros), labels, tensor.scale};
}

/// A term, labelled with numbers of dimensions, as a tensor with the extents of `of` that is no view.
EINPARALLEL_SELDOM std::shared_ptr<vertex> whole_tensor(labelled_tensor term, const vertex& of) {
    const std::vector<label_id> all = first_labels(of.bounds.size());
    if (term.handle != nullptr && term.labels == all && term.scale == 1.0 && !term.handle->is_view()) {
        return term.handle;
    }

    if (term.handle == nullptr) {
        term.handle = scalar_vertex(computed(of.element), 1, std::vector<index>(all.empty() ? 0 : 1, 1));
    }

    return copied(term, names_of_dimensions(of), of.bounds, all);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
