#pragma once

#include <einparallel/graph/gradient/term_statement.hpp>

#include <einparallel/kernel/work/join.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <span>
#include <string_view>

namespace einparallel::EINPARALLEL_DETAIL {

/// The kernel of Σ scale · x · y · …
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

EINPARALLEL_SELDOM term_id term_statement::add(const labelled_tensor& operand, element_type type) {
    const term_id scale = terms_.number(computed(type), operand.scale);
    if (operand.handle == nullptr) {
        return scale;
    }
    const auto known = std::find_if(operands_.begin(), operands_.end(), [&](const labelled_tensor& each) {
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

EINPARALLEL_SELDOM std::span<const row_call> calls_of(const vertex& made) {
    const auto* const joins = made.work->as<join_work>();
    return joins == nullptr ? std::span<const row_call>()
                            : std::span<const row_call>(joins->calls.begin(), joins->calls.size());
}

EINPARALLEL_SELDOM term_id term_statement::add_made(const labelled_tensor& operand, element_type type) {
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

EINPARALLEL_SELDOM std::vector<label_id> term_statement::labels_of(term_id term) const {
    std::vector<label_id> all;
    for (const std::size_t operand : terms_.operands_of(term)) {
        for (const label_id label : operands_[operand].labels) {
            if (label != no_label && !found_in(label, all)) {
                all.push_back(label);
            }
        }
    }
    return all;
}

EINPARALLEL_SELDOM std::vector<recording_builder::operand_type> term_statement::operands_at(
    std::span<const std::size_t> read) const {
    return list_of(read, [&](std::size_t operand) {
        return recording_builder::operand_type{operands_[operand].handle, operands_[operand].labels};
    });
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> term_statement::reduce(term_id term, reduction by, label_span out) const {
    written_term written = terms_.write(term, by);
    written.keeps.insert(written.keeps.end(), keeps_.begin(), keeps_.end());
    return recording_builder(views_of_names())
        .record(
            recording_builder::last_vertex{}, out, operands_at(written.read),
            make_join_kernel(join_work_of(written.program, written.calls), written.program, std::move(written.keeps)));
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> term_statement::contract(label_span out, std::span<const std::size_t> read,
                                                                    element_type type,
                                                                    std::complex<double> scale) const {
    const std::vector<std::string_view> names = views_of_names();
    const recording_builder builder(names);
    constexpr recording_builder::last_vertex last{};
    const bool is_pair = read.size() <= 2;
    std::vector<recording_builder::operand_type> operands = operands_at(read);
    for (recording_builder::operand_type& operand : operands) {
        if (const element_type stored = operand.handle->element; stored != type && !is_pair) {
            operand.handle =
                builder.record(std::nullopt, operand.labels, {&operand, 1}, product_kernel_of(type, 1, {&stored, 1}));
        }
    }
    const std::vector<element_type> types =
        list_of(operands, [](const recording_builder::operand_type& each) { return each.handle->element; });
    const std::vector<element_type> two(2, type);
    return is_pair ? builder.record(last, out, operands, product_kernel_of(type, scale, types))
                   : builder.contract_pairwise(last, out, operands, product_kernel_of(type, scale, types),
                                               product_kernel_of(type, scale, two), product_kernel_of(type, 1, two));
}

EINPARALLEL_SELDOM labelled_tensor term_statement::sum(term_id term, label_span kept, label_span summed) {
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

EINPARALLEL_SELDOM labelled_tensor term_statement::product(factored_term product, element_type type, label_span kept,
                                                           label_span summed) {
    const std::vector<label_id> labels = labels_of(terms_.product_of(product, type));
    const bool sums = any_in(labels, [&](label_id label) { return found_in(label, summed); });
    if (product.factors.empty()) {
        return {nullptr, {}, product.scale};
    }
    const std::optional<std::size_t> only =
        product.factors.size() == 1 ? terms_.as_operand(product.factors[0]) : std::nullopt;
    if (only && !sums && operands_[*only].labels.size() == labels.size() && operands_[*only].handle->element == type) {
        labelled_tensor same = operands_[*only];
        same.scale = product.scale;
        return same;
    }
    // A factor that is to be computed is computed first, where that is less often.
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
    std::vector<label_id> out;
    for (const label_id label : kept) {
        if (found_in(label, labels)) {
            out.push_back(label);
        }
    }
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

}  // namespace einparallel::EINPARALLEL_DETAIL
