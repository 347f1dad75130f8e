#pragma once
// Checks that all ranks hold the same graph. Every rank records it for itself, and planning needs equal graphs.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/text.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/kernel/work/join.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/plan/json_writer.hpp>
#include <einparallel/plan/names.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/pins.hpp>

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The name of a type as it is written in source code, where the compiler can demangle it.
EINPARALLEL_SELDOM std::string readable_type(std::string_view name) {
    std::string readable(name);
#if __has_include(<cxxabi.h>)
    int status = 0;
    char* const written = abi::__cxa_demangle(readable.c_str(), nullptr, nullptr, &status);
    readable = written != nullptr ? written : readable;
    std::free(written);
#endif
    return readable;
}

/// The facts about a graph as one text. Each line is subject, \x1f, quantity, \x1f, value and \n. The structure comes
/// first, then the extents of inputs, then for each vertex its extents, source and constraints. In this order the first
/// difference between two ranks explains most.
EINPARALLEL_INLINE class graph_facts {
public:
    explicit graph_facts(const options& asked) : keeps_(asked.runs > 1) { add_fields("", asked); }

    void add(const einsum_graph& graph) {
        add("the graph", "number of vertices", index(graph.vertices.size()));
        add("the graph", "number of outputs", index(graph.outputs.size()));
        for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
            add_structure(graph, number);
        }
        for (std::size_t position = 0; position < graph.outputs.size(); ++position) {
            add("output " + std::to_string(position), "vertex", index(graph.outputs[position]));
        }
        for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
            if (graph.vertices[number]->is_input()) {
                add_bounds(subject(number), *graph.vertices[number]);
            }
        }
        for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
            const vertex& each = *graph.vertices[number];
            for (std::size_t label = 0; label < each.extents.size(); ++label) {
                add(subject(number) + ", label " + each.form.names[label], "extent", each.extents[label]);
            }
            add_source(subject(number), each);
            add(subject(number), "pin", each.constraints.pin ? each.constraints.pin_text() : "none");
            add(subject(number), "without_communication",
                each.constraints.without_communication ? "marked" : "not marked");
        }
    }

    /// Adds the extents of the inputs behind `outputs`; recording of einsums between them may have failed. Clears the
    /// text where an input has failed or an operand is missing.
    void add_inputs(const std::vector<std::shared_ptr<vertex>>& outputs) {
        std::vector<std::shared_ptr<vertex>> reached = outputs;
        std::map<const vertex*, std::size_t> seen;  // by position
        for (std::size_t position = 0; position < reached.size(); ++position) {
            const std::shared_ptr<vertex> each = reached[position];
            if (each == nullptr || (each->is_input() && !each->failure.empty())) {
                text_.clear();
                return;
            }
            if (seen.try_emplace(each.get(), position).second) {
                if (each->is_input()) {
                    add_bounds(name_of_input(*each), *each);
                }
                reached.insert(reached.end(), each->operands.begin(), each->operands.end());
            }
        }
    }

    const std::string& text() const { return text_; }
    /// Hashes of the values that the application's functors hold; empty where there are no functors, or where the
    /// compiler gives no access to these values.
    std::string states() const { return tells_states_ ? states_ : std::string(); }

private:
    /// Names a vertex by its number. The vertex's name replaces it in error sentences; names may differ between ranks.
    static std::string subject(std::size_t number) { return std::string("#").append(std::to_string(number)); }

    void add(std::string_view subject, std::string_view quantity, const word& value) {
        text_.append(subject).append("\x1f").append(quantity).append("\x1f").append(value.text()).append("\n");
    }

    void add_fields(const std::string& of, const auto& fields) {
        describe(fields, [&](std::string_view name, const auto& value) {
            using field = std::remove_cvref_t<decltype(value)>;
            const std::string quantity = of + std::string(name);
            if constexpr (std::is_class_v<field> && !requires { value.begin(); }) {
                add_fields(quantity + ".", value);
            } else if constexpr (std::is_floating_point_v<field>) {
                std::array<char, 32> digits{};  // as many as tell any two numbers apart
                std::snprintf(digits.data(), digits.size(), "%.17g", value);
                add("options", quantity, digits.data());
            } else {
                std::string text = std::move(json_writer().value(value)).text();
                std::erase(text, '"');
                add("options", quantity, text);
            }
        });
    }

    void add_bounds(const std::string& of, const vertex& each) {
        for (std::size_t dimension = 0; dimension < each.bounds.size(); ++dimension) {
            add(of + ", dimension " + std::to_string(dimension), "extent", each.bounds[dimension]);
        }
    }

    void add_structure(const einsum_graph& graph, std::size_t number) {
        const vertex& each = *graph.vertices[number];
        const std::string who = subject(number);
        add(who, "element type", written_element(each.element));
        add(who, "number of dimensions", index(each.bounds.size()));
        if (each.is_input()) {
            add(who, "source", each.origin == nullptr ? "none" : name_for(each.origin->kind()));
            add(who, "number", each.origin == nullptr ? "" : each.origin->number());
            return;
        }
        add(who, "einsum", each.form.text());
        for (const operand_read* const read : each.form.all_reads()) {
            add(who, "what is read", text_of(*read, each.form.names));
        }
        add(who, "formula", each.work->program().formula());
        add(who, "program", each.work->program().text());
        if (const auto* const joins = each.work->as<join_work>(); joins != nullptr) {
            add_functor(who, joins->reduction.told, joins->reduction.functor);
            for_each_in(joins->calls, [&](const row_call& call) { add_functor(who, call.identity, call.functor); });
        }
        add(who, "operands", numbers_text(graph.inputs[number], ","));
    }

    static std::string text_of(const operand_read& read, const std::vector<std::string>& names) {
        std::string text = "operand " + std::to_string(read.operand);
        for (const auto& [word, functions] :
             {std::pair(" at", &read.at.functions), std::pair(" where", &read.at.where)}) {
            for (const index_function& each : *functions) {
                text.append(word).append(" ") +=
                    function_text(each, names) + ";" +
                    (functions == &read.at.where ? " < " + std::to_string(each.extent) : "");
            }
        }
        return text;
    }

    void add_functor(const std::string& who, identity_function told, const void* functor) {
        if (told != nullptr) {
            const functor_identity known = told(functor);
            add(who, "functor", readable_type(known.type));
            states_ += sentence({who, "\x1fhash of what a functor holds\x1f", std::to_string(known.state), "\n"});
            tells_states_ = tells_states_ && known.is_told;
        }
    }

    void add_source(const std::string& who, const vertex& each) {
        if (!each.is_input() || each.origin == nullptr) {
            return;
        }
        if (keeps_) {
            add(who, "elements", each.origin->lasts() ? "that last" : "that may change");
        }
        if (each.origin->kind() == source_kind::root) {
            add(who, "root", each.origin->root());
        } else if (each.origin->kind() == source_kind::resting) {
            add(who, "ranks of its parts", each.origin->holders());  // a plan may be cut over all of them
            add(who, "fingerprint of its parts", std::to_string(fingerprint().add(resting_of_source(each)).value()));
        }
    }

    bool keeps_;  ///< the plan is for several runs, so it matters whether elements of sources last
    std::string text_;
    std::string states_;
    bool tells_states_ = true;
};

/// A subject in words for an error sentence: "#3, label i" becomes "vertex 'Z', label i".
EINPARALLEL_SELDOM std::string subject_in_words(std::string_view subject, const einsum_graph& graph) {
    if (!subject.starts_with('#')) {
        return std::string(subject);
    }
    const std::size_t end = std::min(subject.find(','), subject.size());
    const std::string number(subject.substr(1, end - 1));
    const std::size_t position = std::stoul(number);
    const vertex* const known = position < graph.vertices.size() ? graph.vertices[position].get() : nullptr;
    const std::string name = known != nullptr ? graph.name_of(position) : "v" + number;
    const std::string of(subject.substr(end));
    return (known != nullptr && known->is_input() && !of.empty() ? name_of_input(*known) : "vertex '" + name + "'") +
           of;
}

/// Subject, quantity and value of the line of graph_facts that starts at `begin`; empty strings at the end of the text.
EINPARALLEL_SELDOM std::array<std::string, 3> fact_at(std::string_view text, std::size_t begin) {
    std::string_view rest = text.substr(begin, text.find('\n', begin) - begin);
    std::array<std::string, 3> fact;
    for (std::string& each : fact) {
        const std::size_t length = std::min(rest.find('\x1f'), rest.size());
        each = rest.substr(0, length);
        rest.remove_prefix(std::min(length + 1, rest.size()));
    }
    return fact;
}

/// An error sentence about the first line in which two texts differ. @pre the texts differ
EINPARALLEL_SELDOM std::string first_difference(std::string_view on_root, std::string_view here,
                                                const einsum_graph& graph, int rank) {
    const auto same = std::mismatch(on_root.begin(), on_root.end(), here.begin(), here.end()).first - on_root.begin();
    const std::size_t begin = on_root.substr(0, std::size_t(same)).rfind('\n') + 1;
    const auto [their_subject, their_quantity, their_value] = fact_at(on_root, begin);
    const auto [subject, quantity, value] = fact_at(here, begin);
    const std::string theirs = subject_in_words(their_subject, graph);
    const std::string ours = subject_in_words(subject, graph);
    return their_subject == subject && their_quantity == quantity
               ? sentence({"decompose: ", ours, ": ", quantity, " ", their_value, " on rank 0 and ", value, " on rank ",
                           rank})
               : sentence({"decompose: the graphs differ: ", theirs, " (", their_quantity, " ", their_value,
                           ") on rank 0 and ", ours, " (", quantity, " ", value, ") on rank ", rank});
}

/// Returns, after one allreduce, if all ranks have the same graph behind the outputs. Otherwise all ranks throw an
/// error with the same sentence. It tells why recording failed on the lowest rank where it failed, or the first
/// difference between rank 0 and the lowest rank that differs ("decompose: vertex 'Z', label i: extent 5 on rank 0 and
/// 6 on rank 2"). Functors of the application are compared by type and bytes (kernel/simd/functor_identity.hpp), those
/// of sources not at all. Collective.
EINPARALLEL_SELDOM void agree_on_graph(const context& world, const options& asked,
                                       const std::vector<std::shared_ptr<vertex>>& outputs) {
    const communicator& control = world.control();
    einsum_graph graph;
    std::string facts;
    std::string states;
    const std::string failure = failure_of("decompose: rank " + std::to_string(control.rank()), [&] {
        graph = collect(outputs);
        for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
            const source* origin = graph.vertices[number]->origin.get();
            if (origin != nullptr && origin->kind() == source_kind::resting && !origin->rests_here(control.rank())) {
                refuse({"decompose: ", graph.name_of(number), " (", origin->description(), ") ", lies_elsewhere});
            }
        }
        graph_facts collected(asked);
        collected.add(graph);
        facts = collected.text();
        states = collected.states();
    });
    /// Throws an error about the first difference from rank 0 on the lowest rank that has one.
    const auto compare = [&](const std::string& text) {
        std::uint64_t length = text.size();
        broadcast(control, &length, sizeof length, 0);
        std::string on_root;
        agree(control, failure_of("decompose", [&] { on_root = text, on_root.resize(length); }));
        broadcast(control, on_root.data(), on_root.size(), 0);
        const bool same = on_root == text || on_root.empty() || text.empty();
        agree(control, same ? std::string() : first_difference(on_root, text, graph, control.rank()));
    };
    const std::uint64_t mine = fingerprint().add(facts).value();
    constexpr std::uint64_t any = ~std::uint64_t{0} >> 1U;
    const std::uint64_t state = fingerprint().add(states).value() >> 1U;
    agreement_numbers least{std::uint64_t(failure.empty() ? control.size() : control.rank()), mine, ~mine,
                            states.empty() ? any : state, states.empty() ? any : any - state};
    least_of_all(control, "decompose", least);
    if (least[0] < std::uint64_t(control.size())) {
        graph_facts inputs({});  // einsums may have failed because ranks gave an input different extents
        facts = failure_of("", [&] { inputs.add_inputs(outputs); }).empty() ? inputs.text() : std::string();
        compare(facts);
        agree(control, failure);
    }
    if (least[1] != ~least[2]) {
        compare(facts);
        throw error("decompose: the graph is not the same on all ranks");
    }
    if (least[3] < any - least[4]) {  // compares only ranks that know these values
        compare(states);
        throw error("decompose: a functor does not hold the same values on all ranks");
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
