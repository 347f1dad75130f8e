#pragma once

#include <einparallel/graph/gradient/backward.hpp>

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/gradient/row_gradients.ipp>
#include <einparallel/graph/gradient/scatter.ipp>
#include <einparallel/graph/gradient/shift.ipp>
#include <einparallel/graph/gradient/term_statement.ipp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/names.hpp>
#include <einparallel/kernel/work/join.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <map>
#include <unordered_set>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE class backward_pass {
public:
    explicit backward_pass(std::span<const std::shared_ptr<vertex>> of) {
        for_each_in(of, [&](const std::shared_ptr<vertex>& each) { terms_[each.get()]; });
    }

    /// Goes from the loss to the tensors, and adds up the gradient of each vertex on the way.
    void run(const std::shared_ptr<vertex>& loss) {
        const std::vector<std::shared_ptr<vertex>> order = collect({loss}, "").vertices;
        for (const std::shared_ptr<vertex>& each : order) {
            reached_.insert(each.get());
            if (any_in(each->operands, [&](const auto& operand) { return depends(*operand); })) {
                terms_[each.get()];
            }
        }
        add(*loss, {});
        for (std::size_t number = order.size(); number-- > 0;) {
            const std::shared_ptr<vertex>& made = order[number];
            if (depends(*made) && !terms_[made.get()].empty() && !made->is_input() && has_gradient(*made)) {
                const vertex& who = *made;
                if (number + 1 < order.size() && is_extreme(who) &&
                    cancels(who, std::span(order).subspan(number + 1))) {
                    continue;
                }
                try {
                    through(made, gathered(who));
                } catch (const error& wrong) {
                    refuse({"ep::gradient: ", who.name.empty() ? who.work->program().formula() : "'" + who.name + "'",
                            ": ", wrong.what()});
                }
            }
        }
    }

    /// ∂loss/∂of as a tensor. @throws error where the loss does not depend on it
    std::shared_ptr<vertex> result(const vertex& of, const vertex& loss, std::size_t number) {
        const auto quoted = [](const vertex& each) { return each.name.empty() ? "" : "'" + each.name + "', "; };
        require(reached_.contains(&of), {"ep::gradient: ", quoted(loss), "the loss", loss.name.empty() ? "" : ",",
                                         " does not depend on ", quoted(of), "tensor ", number + 1,
                                         " with respect to which it is differentiated: if this handle was assigned to "
                                         "again, give a copy that was made before"});
        const std::shared_ptr<vertex> made = stored_as(of.element, whole_tensor(gathered(of), of));
        if (!of.name.empty()) {
            name(*made, "d " + of.name);
        }
        return made;
    }

private:
    /// The gradient with this element type. Gradients of halves are summed in float, and rounded here, once.
    static std::shared_ptr<vertex> stored_as(element_type element, std::shared_ptr<vertex> gradient) {
        if (gradient->element == element) {
            return gradient;
        }
        op_program program(reduction::sum, std::array{gradient->element});
        const op_register whole = 0;
        program.call({op_code::cast}, element, {}, {&whole, 1});
        const std::vector<std::string> names = names_of_dimensions(*gradient);
        const std::vector<std::string_view> views(names.begin(), names.end());
        const std::vector<label_id> all = first_labels(names.size());
        const recording_builder::operand_type operand{gradient, all};
        return recording_builder(views).record(recording_builder::last_vertex{}, all, {&operand, 1},
                                               make_join_kernel(join_work_of(program, {}), program));
    }
    static bool has_gradient(const vertex& of) { return computed(of.element).kind == 'f' || of.element.kind == 'c'; }
    static bool is_extreme(const vertex& of) {
        const reduction by = of.work->program().aggregates_by();
        return by == reduction::max || by == reduction::min;
    }
    [[nodiscard]] bool depends(const vertex& of) const { return terms_.contains(&of); }

    void add(const vertex& to, labelled_tensor term) {
        if (term.scale != 0.0) {
            terms_[&to].push_back(std::move(term));
        }
    }

    /// The gradient of a tensor: the sum of its terms. Its labels are numbers of the tensor's dimensions.
    labelled_tensor gathered(const vertex& of) {
        std::vector<labelled_tensor>& terms = terms_[&of];
        if (terms.size() != 1) {
            term_statement sum(names_of_dimensions(of), of.bounds);
            term_id total = sum.terms().number(computed(of.element), 0);
            for (const labelled_tensor& term : terms) {
                const bool is_apart = term.labels.size() < of.bounds.size() || sums_.contains(term.handle.get());
                total = sum.terms().plus(total, is_apart ? sum.add(term, of.element) : sum.add_made(term, of.element));
            }
            terms = {sum.sum(total, first_labels(of.bounds.size()), {})};
        }
        sums_.insert(terms[0].handle.get());
        if (!of.name.empty() && terms[0].handle != nullptr) {
            name(*terms[0].handle, "d " + of.name);
        }
        return terms[0];
    }

    /// Names the gradient of a tensor, and its intermediate results, after the tensor.
    void name(vertex& gradient, const std::string& after) {
        std::vector<vertex*> open{&gradient};
        while (!open.empty()) {
            vertex& made = *open.back();
            open.pop_back();
            if (made.is_input() || !reached_.insert(&made).second) {
                continue;
            }
            if (!made.is_view() && made.name.empty()) {
                std::size_t& number = names_[after];
                made.name = number == 0 ? after : after + "." + std::to_string(number);
                ++number;
            }
            for_each_in(made.operands, [&](const std::shared_ptr<vertex>& operand) { open.push_back(operand.get()); });
        }
    }

    /// Adds a term to the gradients of the tensors that one read of vertex `made` reads. The statement has the labels
    /// of the vertex.
    void give(const vertex& made, const term_statement& statement, term_id term, const operand_read& read,
              const std::vector<label_id>& space) {
        std::vector<const operand_read*> before;
        const auto to = [&](const operand_read& each) {
            const vertex& tensor = *made.operands[each.operand];
            if (depends(tensor) && has_gradient(tensor)) {
                add(tensor, scattered(statement, term, tensor, each, before, space));
            }
            before.push_back(&each);
        };
        to(read);
        for_each_in(read.elsewhere, to);
    }
    void through(const std::shared_ptr<vertex>& made, labelled_tensor gradient) {
        for (label_id& label : gradient.labels) {
            label = made->form.output[std::size_t(label)];
        }
        if (const auto rows = row_gradients(made, gradient)) {
            for (const read_gradient& each : *rows) {
                term_statement statement(each.reader->form.names, each.reader->extents);
                const term_id term = statement.add(each.term, made->element);
                give(*each.reader, statement, term, each.read, {});
            }
        } else {
            through_terms(made, gradient);
        }
    }

    /// Goes through a vertex that is ⊕ over ⊗.
    void through_terms(const std::shared_ptr<vertex>& made, const labelled_tensor& gradient) {
        const einsum_form& form = made->form;
        term_statement statement(form.names, made->extents, derivation(made->work->program(), calls_of(*made)),
                                 made->work);
        const std::vector<operand_read> reads = form.listed_reads();
        for (std::size_t number = 0; number < reads.size(); ++number) {
            statement.set_operand(number, read_of(*made, reads[number]));
        }
        std::vector<label_id> space = first_labels(made->extents.size());
        std::erase(space, form.running.terms);
        const std::vector<label_id> summed = those_in(space, [&](label_id label) { return !form.in_output(label); });
        const term_id x = statement.terms().result();
        term_id g = statement.add(gradient, made->element);
        if (summed.empty()) {
            statement.terms().read_result(statement.add({made, form.output}, made->element));
        } else {
            g = through_reduction(made, statement, x, g, summed);
        }
        const std::vector<std::optional<term_id>> gradients = statement.terms().gradients(x, g);
        for (std::size_t number = 0; number < reads.size(); ++number) {
            if (gradients[number]) {
                give(*made, statement, *gradients[number], reads[number], space);
            }
        }
    }

    /// g · ∂(⊕ x)/∂x.
    static term_id through_reduction(const std::shared_ptr<vertex>& made, term_statement& statement, term_id x,
                                     term_id g, const std::vector<label_id>& summed) {
        derivation& terms = statement.terms();
        const element_type type = computed(made->element);
        const auto truth = [&](term_id a, term_id b) {
            return terms.call(op_code::equal, element_type_of<bool>(), {a, b});
        };
        const auto chosen = [&](term_id when, term_id a, term_id b) {
            return terms.call(op_code::choice, type, {when, a, b});
        };
        const std::vector<label_id>& out = made->form.output;
        const term_id zero = terms.number(type, 0);
        const term_id one = terms.number(type, 1);
        const reduction by = made->work->program().aggregates_by();
        if (const std::string_view text = reduction_row_of(by).derivative; !text.empty()) {
            std::vector<std::pair<char, term_id>> values{{'g', g}, {'a', x}};
            if (text.find('z') != std::string_view::npos) {
                values.emplace_back('z', statement.add({made, out}, type));
            }
            return terms.evaluated(text, type, values);
        }
        switch (by) {
            case reduction::max:
            case reduction::min: {  // to the first that is as extreme
                constexpr element_type index_type = element_type_of<index>();
                term_id position = terms.number(index_type, 0);
                index step = 1;
                for (std::size_t number = summed.size(); number-- > 0;) {
                    const index extent = made->extents[std::size_t(summed[number])];
                    const term_id at = statement.add({iota_vertex(extent), {summed[number]}}, index_type);
                    position = terms.plus(position, terms.times(terms.number(index_type, double(step)), at));
                    step *= extent;
                }
                const term_id extreme = statement.add({made, out}, type);
                const term_id here = terms.call(op_code::position, index_type, {x, extreme, position});
                const term_id first = statement.add({statement.reduce(here, reduction::min, out), out}, index_type);
                return chosen(truth(position, first), g, zero);
            }
            case reduction::prod: {  // without division by 0
                const term_id is_zero = truth(x, zero);
                const term_id others =
                    statement.add({statement.reduce(chosen(is_zero, one, x), reduction::prod, out), out}, type);
                const term_id zeros =
                    statement.add({statement.reduce(chosen(is_zero, one, zero), reduction::sum, out), out}, type);
                const term_id quotient = terms.call(op_code::divide, type, {others, x});
                const auto where = [&](term_id count, term_id value) {
                    return chosen(truth(zeros, count), value, zero);
                };
                const term_id factor = chosen(is_zero, where(one, others), where(zero, quotient));
                return terms.times(g, terms.call(op_code::conjugate, type, {factor}));
            }
            default:
                throw error(
                    "the reduction is the application's own and has no derivative; the library's reductions have one");
        }
    }

    std::map<const vertex*, std::vector<labelled_tensor>> terms_;
    std::unordered_set<const vertex*> sums_;     ///< gradients of tensors, which others may read
    std::unordered_set<const vertex*> reached_;  ///< vertices that the loss is made of, and vertices that were named
    std::map<std::string, std::size_t> names_;   ///< by name: how many vertices are named after it
};

EINPARALLEL_SELDOM std::vector<std::shared_ptr<vertex>> gradients_of(const std::shared_ptr<vertex>& loss,
                                                                     std::span<const std::shared_ptr<vertex>> of) {
    std::vector<std::shared_ptr<vertex>> made;
    std::string failure;
    try {
        for_each_in(of, [](const std::shared_ptr<vertex>& each) { expect(each->failure.empty(), each->failure); });
        backward_pass pass(of);
        pass.run(loss);
        for (std::size_t number = 0; number < of.size(); ++number) {
            made.push_back(pass.result(*of[number], *loss, number));
        }
    } catch (const error& wrong) {
        failure = wrong.what();
    }
    for (std::size_t number = 0; number < of.size() && !failure.empty(); ++number) {
        made.resize(number);
        made.push_back(unassigned_vertex(of[number]->bounds.size(), of[number]->element));
        made.back()->failure = failure;
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
