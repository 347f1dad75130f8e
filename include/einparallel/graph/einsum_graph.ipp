#pragma once

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/notation/search_range.hpp>

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/error.hpp>

#include <cstdint>
#include <map>
#include <typeinfo>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM std::vector<std::size_t> renumbered(const std::vector<std::size_t>& numbers,
                                                       const std::vector<std::size_t>& number_of) {
    return list_of(numbers, [&](std::size_t number) { return number_of[number]; });
}

EINPARALLEL_SELDOM std::string einsum_graph::name_of(std::size_t number) const {
    std::string name;
    for (const std::shared_ptr<vertex>& origin : origins[number]) {
        if (!origin->name.empty() && origin->name != name) {
            name += (name.empty() ? "" : " = ") + origin->name;
        }
    }
    if (!name.empty()) {
        return name;
    }
    if (result_of[number] != number) {
        return name_of(result_of[number]) + "." + std::to_string(step_of[number]);
    }
    return "v" + std::to_string(number);
}

EINPARALLEL_SELDOM einsum_graph in_order(const einsum_graph& graph, const std::vector<std::size_t>& einsums,
                                         std::vector<std::size_t>& number_of) {
    constexpr std::size_t unknown = std::size_t(-1);
    number_of.assign(graph.vertices.size(), unknown);
    std::vector<std::size_t> all;
    const auto add = [&](std::size_t number) {
        if (number_of[number] == unknown) {
            number_of[number] = all.size();
            all.push_back(number);
        }
    };
    for (const std::size_t einsum : einsums) {
        for_each_in(graph.inputs[einsum], add);
        add(einsum);
    }
    for_each_in(graph.outputs, add);  // inputs that nobody reads
    einsum_graph made;
    for (const std::size_t number : all) {
        made.add(graph.vertices[number], graph.origins[number], renumbered(graph.inputs[number], number_of),
                 graph.step_of[number]);
        made.result_of.back() = number_of[graph.result_of[number]];
    }
    made.outputs = renumbered(graph.outputs, number_of);
    return made;
}

/// Fills in result_of and step_of. An intermediate belongs to the first result that is made of it.
EINPARALLEL_SELDOM void find_results(einsum_graph& graph) {
    const std::size_t count = graph.vertices.size();
    constexpr std::size_t unknown = std::size_t(-1);
    graph.result_of.assign(count, unknown);
    graph.step_of.assign(count, 0);
    for (std::size_t number = count; number-- > 0;) {
        std::size_t& result = graph.result_of[number];
        result = result == unknown || !graph.vertices[number]->is_intermediate ? number : result;
        for (const std::size_t input : graph.inputs[number]) {
            graph.result_of[input] = result;
        }
    }
    std::vector<std::size_t> steps(count, 0);
    for (std::size_t number = 0; number < count; ++number) {
        if (graph.result_of[number] != number) {
            graph.step_of[number] = ++steps[graph.result_of[number]];
        }
    }
}

/// The one of two equal vertices that stands for both: the one with constraints, else the one with a handle. Null where
/// both have constraints and these differ.
EINPARALLEL_SELDOM std::shared_ptr<vertex> either_of(const std::shared_ptr<vertex>& a,
                                                     const std::shared_ptr<vertex>& b) {
    const vertex_constraints none{};
    if (a->constraints != none && b->constraints != none && a->constraints != b->constraints) {
        return nullptr;
    }
    const bool takes_b =
        a->constraints == none && (b->constraints != none || (a->is_intermediate && !b->is_intermediate));
    return takes_b ? b : a;
}

/// True where two kernels call functors of the same types.
EINPARALLEL_SELDOM bool calls_same(const kernel& a, const kernel& b) {
    const auto* const x = a.as<join_work>();
    const auto* const y = b.as<join_work>();
    const auto is_one = [](const row_call& one, const row_call& other) { return one.run == other.run; };
    return x == nullptr || y == nullptr ? a.work().index() == b.work().index()
                                        : x->reduction.run == y->reduction.run && equal_in(x->calls, y->calls, is_one);
}

/// True where two kernels compute the same from the same operands, as far as types and numbers tell. A user's functor
/// with a state is equal to itself only.
EINPARALLEL_SELDOM bool computes_same(const kernel& a, const kernel& b) {
    return &a == &b || (a.program() == b.program() && !a.program().has_state() &&
                        (!a.program().is_opaque() || (calls_same(a, b) && a.on_device() == b.on_device())));
}

EINPARALLEL_SELDOM void share_equal(einsum_graph& graph) {
    einsum_graph made;
    std::vector<std::size_t> number_of;
    std::map<std::vector<index>, std::vector<std::size_t>> alike;  // by operands, labels and extents
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        const std::shared_ptr<vertex>& each = graph.vertices[number];
        std::vector<std::size_t> inputs = renumbered(graph.inputs[number], number_of);
        std::vector<index> key;
        for (std::size_t operand = 0; operand < inputs.size(); ++operand) {
            key.push_back(index(inputs[operand]));
            key.insert(key.end(), each->form.operands[operand].begin(), each->form.operands[operand].end());
            key.push_back(-2);  // no label
        }
        key.insert(key.end(), each->form.output.begin(), each->form.output.end());
        key.push_back(-2);
        key.insert(key.end(), each->extents.begin(), each->extents.end());
        const bool is_lasting = each->is_input() && each->origin->lasts();
        if (is_lasting) {
            key.push_back(index(reinterpret_cast<std::uintptr_t>(each->origin.get())));
            key.insert(key.end(), each->bounds.begin(), each->bounds.end());
        }
        std::shared_ptr<vertex> both;
        std::vector<std::size_t>* const known = each->is_input() && !is_lasting ? nullptr : &alike[key];
        for (std::size_t position = 0; known != nullptr && position < known->size() && both == nullptr; ++position) {
            std::shared_ptr<vertex>& first = made.vertices[(*known)[position]];
            const bool same =
                is_lasting || (computes_same(*each->work, *first->work) && each->form.reads == first->form.reads);
            both = same ? either_of(first, each) : nullptr;
            if (both != nullptr) {
                std::vector<std::shared_ptr<vertex>>& origins = made.origins[(*known)[position]];
                origins.push_back(each);
                std::swap(origins.front(), both == each ? origins.back() : origins.front());
                number_of.push_back((*known)[position]);
                first = both;
            }
        }
        if (both == nullptr) {
            number_of.push_back(made.add(each, {each}, std::move(inputs)));
            if (known != nullptr) {
                known->push_back(number_of.back());
            }
        }
    }
    made.outputs = renumbered(graph.outputs, number_of);
    find_results(made);
    graph = std::move(made);
}

EINPARALLEL_SELDOM einsum_graph collect(const std::vector<std::shared_ptr<vertex>>& outputs, std::string_view who) {
    expect(!outputs.empty(), "decompose: there is no output to plan for");
    einsum_graph graph;
    constexpr std::size_t open = std::size_t(-1);  // its operands are being visited
    std::map<const vertex*, std::size_t> number_of;
    std::vector<std::pair<std::shared_ptr<vertex>, std::size_t>> path;  // a vertex and its operand to visit next
    const auto visit = [&](const std::shared_ptr<vertex>& next) {
        const auto [known, fresh] = number_of.try_emplace(next.get(), open);
        if (fresh) {
            path.emplace_back(next, std::size_t{0});
        }
        expect(fresh || known->second != open, "decompose: the vertices of the graph depend on each other in a circle");
    };
    for (std::size_t output = 0; output < outputs.size(); ++output) {
        require(outputs[output] != nullptr, {who, "output ", output, " is a tensor that nothing was assigned to"});
        visit(outputs[output]);
        while (!path.empty()) {
            auto& [current, operand] = path.back();
            if (operand < current->operands.size()) {
                const std::shared_ptr<vertex> next = current->operands[operand++];
                require(next != nullptr,
                        {current->failure.empty() ? who : "",
                         current->failure.empty() ? "a vertex reads a tensor that nothing was assigned to"
                                                  : current->failure});
                visit(next);
                continue;
            }
            const std::string& name = current->name;
            require(current->failure.empty(), {who, name.empty() ? "" : "vertex '" + name + "', ", current->failure});
            require(is_countable(current->bounds),
                    {who, name.empty() ? "a tensor" : "'" + name + "'", " has more than 2^59 elements"});
            number_of[current.get()] =
                graph.add(current, {current},
                          list_of(current->operands, [&](const auto& read) { return number_of.at(read.get()); }));
            path.pop_back();
        }
        graph.outputs.push_back(number_of.at(outputs[output].get()));
    }
    find_results(graph);
    return graph;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
