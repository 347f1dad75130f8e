#include "named.hpp"

#include "attention.hpp"
#include "best_grid.hpp"
#include "ccsd.hpp"
#include "classifier.hpp"
#include "corner.hpp"
#include "llama.hpp"
#include "matrix_chain.hpp"
#include "mp2.hpp"
#include "response.hpp"
#include "tucker.hpp"

#include <einparallel/graph/einsum.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/plan/by_hand.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <system_error>
#include <type_traits>
#include <utility>

namespace experiments {

namespace {

/// All kinds, with their usual sizes.
const std::vector<sized_graph>& graph_kinds() {
    static const std::vector<sized_graph> known{
        {"product", {16'384, 0, 0}},                              // m, k, n; 0: as many as m
        {"thesis", {24, 70}},                                     // outer, inner extents
        {"chain-square", {10'240}},                               // s
        {"chain-skewed", {10'240}},                               // s
        {"attention", {4096, 8192, 64, 128}},                     // sequence, attributes, heads, depth
        {"classifier", {512, 597'540, 8192, 14'588}},             // batch, features, hidden, classes
        {"llama", {32, 8, 1024, 4096, 32, 128, 11'008, 32'000}},  // layers, then as in llama_sizes
        {"mp2", {20, 100}},                                       // occupied, virtual orbitals
        {"df-mp2", {40, 260, 300, 1000}},                         // besides: basis, auxiliary functions
        {"ccsd", {20, 100}},                                      // occupied, virtual orbitals
        {"tucker", {1200, 1000, 800, 96}},                        // dimensions of the data, rank of the factors
        {"response", {16, 12, 40, 1000, 6, 1500}},  // points, occupied and empty bands, waves, frequencies, grid
        {"corner", {256, 16}},                      // bonds of the environment and of the lattice
    };
    return known;
}

/// m0 c0 k0 k1 m1, n0 c0 k0 n1 k1 -> m0 n0 c0 n1 m1 (Distributed einsum_ir, figures 1 and 6): |c0| = 2.
template <class Inputs>
auto build_thesis(ep::index outer, ep::index inner, const Inputs& inputs) {
    const auto X = inputs("X", {outer, ep::index{2}, outer, inner, inner});
    const auto Y = inputs("Y", {outer, ep::index{2}, outer, inner, inner});
    return ep::einsum<"mcklo,nckpl->mncpo">(X, Y).named("Z");
}

}  // namespace

sized_graph graph_of(const std::string& text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    std::string names;
    for (const sized_graph& each : graph_kinds()) {
        names += (names.empty() ? "" : ", ") + each.kind;
        if (each.kind != text.substr(0, colon)) {
            continue;
        }
        sized_graph made = each;
        const char* at = text.data() + colon;
        const char* const end = text.data() + text.size();
        for (std::size_t number = 0; at != end; ++number) {
            ep::index size = 0;
            const bool expected = *at == (number == 0 ? ':' : 'x') && number < made.n.size();
            const auto [next, failure] = std::from_chars(at + 1, end, size);
            if (!expected || failure != std::errc{} || size < 1) {
                throw ep::error("the graph '" + text + "' needs at most " + std::to_string(made.n.size()) +
                                " positive sizes, separated by x");
            }
            made.n[number] = size;
            at = next;
        }
        return made;
    }
    throw ep::error("the graph '" + text.substr(0, colon) + "' is none of " + names);
}

template <class T>
outputs record(const sized_graph& asked) {
    const placeholders<T> inputs;
    const auto& [kind, n] = asked;
    if (kind == "llama") {
        return {build_llama({n[1], n[2], static_cast<int>(n[0]), n[3], n[4], n[5], n[6], n[7]}, inputs).logits.node()};
    }
    if constexpr (std::is_same_v<T, ep::bfloat16>) {
        throw ep::error("the graph '" + kind + "' is not recorded with halves, llama is");
    } else if (kind == "product") {
        const ep::index inner = n[1] > 0 ? n[1] : n[0];
        const ep::index columns = n[2] > 0 ? n[2] : n[0];
        return {ep::einsum<"ij,jk->ik">(inputs("A", {n[0], inner}), inputs("B", {inner, columns})).named("C").node()};
    } else if (kind == "thesis") {
        return {build_thesis(n[0], n[1], inputs).node()};
    } else if (kind == "chain-square" || kind == "chain-skewed") {
        const matrix_chain_sizes sizes = kind == "chain-square" ? square_chain(n[0]) : skewed_chain(n[0]);
        return {build_matrix_chain(sizes, inputs).Z.node()};
    } else if (kind == "attention") {
        return {build_attention({n[0], n[1], n[2], n[3]}, inputs).Y.node()};
    } else if (kind == "classifier") {
        const auto made = build_classifier({n[0], n[1], n[2], n[3]}, inputs);
        return {made.loss.node(), made.dW1.node(), made.dW2.node()};
    } else if (kind == "mp2") {
        return {build_mp2({n[0], n[1]}, inputs).E.node()};
    } else if (kind == "tucker") {
        const auto made = build_tucker({n[0], n[1], n[2], n[3]}, inputs);
        return {made.Gu.node(), made.Gv.node(), made.Gw.node(), made.core.node(), made.norm.node()};
    } else if (kind == "response") {
        const auto made = build_response({n[0], n[1], n[2], n[3], n[4], n[5]}, inputs);
        return {made.Q.node(), made.S.node()};
    } else if (kind == "corner") {
        const auto made = build_corner({n[0], n[1]}, inputs);
        return {made.corner_new.node(), made.edge_new.node(), made.density.node(), made.norm.node()};
    } else if (kind == "df-mp2") {
        return {build_df_mp2({n[0], n[1], n[2], n[3]}, inputs).E.node()};
    } else {
        const auto made = build_ccsd({n[0], n[1]}, inputs);
        return {made.t1.node(), made.t2.node(), made.E.node()};
    }
}

template outputs record<float>(const sized_graph& asked);
template outputs record<double>(const sized_graph& asked);
template outputs record<ep::bfloat16>(const sized_graph& asked);

std::vector<rival> rivals_of(const sized_graph& graph, int ranks) {
    namespace rivals = ep::rivals;
    if (graph.kind == "product") {
        // The grid that sends least per rank, which COSMA takes.
        const auto& [rows, inner, columns] =
            std::array{graph.n[0], graph.n[1] > 0 ? graph.n[1] : graph.n[0], graph.n[2] > 0 ? graph.n[2] : graph.n[0]};
        const bench::integer_grid best = bench::best_grid({1, rows, columns, inner}, ranks);
        const ep::label_parts cuts{{"i", best.m}, {"j", best.k}, {"k", best.n}};
        return {{"SQRT", rivals::sqrt()},
                {"rows", rivals::along("i")},
                {"COSMA", [cuts](const ep::vertex_to_cut& /*of*/) { return cuts; }}};
    }
    if (graph.kind.starts_with("chain")) {
        return {{"SQRT", rivals::sqrt()}, {"rows", rivals::along("i")}};
    }
    if (graph.kind == "classifier") {
        return {{"SQRT", rivals::sqrt()},
                {"data parallel", rivals::data_parallel("b")},
                {"tensor parallel", rivals::megatron({{"h"}, "", "b"})}};
    }
    if (graph.kind == "llama") {
        int group = static_cast<int>(std::min<ep::index>(ranks, graph.n[4]));
        while (ranks % group != 0) {
            --group;  // to the largest divisor of the ranks
        }
        return {{"SQRT", rivals::sqrt()},
                {"data parallel", rivals::data_parallel("b")},
                {"Megatron", rivals::megatron({{"h", "f", "v"}, "b", "s", group})},
                {"sequence", rivals::sequence("s")},
                {"attention heads", rivals::attention_heads("h", "b", "s", group)}};
    }
    return {};
}

ep::plan planned(const sized_graph& graph, const std::string& name, ep::options asked, const outputs& wanted) {
    static const std::vector<std::pair<std::string, ep::algorithm>> ours{
        {"EinDecomp", ep::algorithm::automatic},
        {"c", ep::algorithm::c},
        {"mn", ep::algorithm::mn},
        {"k", ep::algorithm::k},
        {"master-worker", ep::algorithm::master_worker}};
    std::string names;
    for (const auto& [word, algorithm] : ours) {
        names += (names.empty() ? "" : ", ") + word;
        if (word == name) {
            asked.algorithm = algorithm;
            return ep::decompose_vertices(asked, wanted);
        }
    }
    for (const rival& each : rivals_of(graph, asked.processes)) {
        names += ", " + each.name;
        if (each.name == name) {
            return ep::plan_vertices_with(asked, each.rule, wanted);
        }
    }
    throw ep::error("the plan '" + name + "' is none of " + names);
}

std::set<const ep::vertex*> put_into_files(const outputs& wanted, const ep::detail::function_source::reader& read) {
    std::set<const ep::vertex*> known;
    const std::function<void(const std::shared_ptr<ep::vertex>&)> visit = [&](const std::shared_ptr<ep::vertex>& of) {
        if (!known.insert(of.get()).second) {
            return;
        }
        if (of->is_input() && (of->origin == nullptr || of->origin->kind() == ep::source_kind::placeholder)) {
            of->origin = std::make_shared<ep::detail::function_source>("weights", read, "", read);
        }
        std::ranges::for_each(of->operands, visit);
    };
    std::ranges::for_each(wanted, visit);
    return known;
}

std::string cuts_text(const ep::plan& plan) {
    std::map<std::string, double> points;
    double all = 0;
    for (const ep::planned_vertex& each : plan.vertices()) {
        if (each.is_input()) {
            continue;
        }
        ep::label_parts parts = plan.partition(*each.origin);
        std::sort(parts.begin(), parts.end());  // however the statement's labels are ordered
        std::string cut;
        for (const auto& [label, count] : parts) {
            cut += count == 1 ? "" : (cut.empty() ? "" : " ") + label + ":" + std::to_string(count);
        }
        double of_vertex = 1;
        for (const ep::index extent : each.work.extents) {
            of_vertex *= static_cast<double>(extent);
        }
        points[cut] += of_vertex;
        all += of_vertex;
    }
    std::vector<std::pair<double, std::string>> shares;
    for (const auto& [cut, of_cut] : points) {
        shares.emplace_back(100 * of_cut / all, cut.empty() ? "not cut" : cut);
    }
    std::sort(shares.rbegin(), shares.rend());
    std::string text;
    for (const auto& [share, cut] : shares) {
        if (share >= 1) {
            text += (text.empty() ? "" : ", ") + cut + " " + std::to_string(std::lround(share)) + " %";
        }
    }
    return text;
}

std::vector<graph> named_graphs() {
    const auto single = [](std::string name, const std::string& text) {
        return graph{std::move(name), [of = graph_of(text)] { return experiments::record<float>(of); }};
    };
    const auto twice = [](const std::string& text) {
        return graph{text, [of = graph_of(text)] { return experiments::record<double>(of); }};
    };
    return {twice("mp2"),
            single("chain-square", "chain-square"),
            single("chain-skewed", "chain-skewed"),
            single("attention", "attention"),
            single("classifier", "classifier"),
            single("llama-7b-1", "llama:1"),
            twice("df-mp2"),
            twice("ccsd"),
            single("llama-65b-80", "llama:80x16x1024x8192x64x128x22016")};
}

const graph& graph_named(const std::vector<graph>& graphs, const std::string& name) {
    std::string names;
    for (const graph& each : graphs) {
        if (each.name == name) {
            return each;
        }
        names += (names.empty() ? "" : ", ") + each.name;
    }
    throw ep::error("the graph '" + name + "' is none of " + names);
}

}  // namespace experiments
