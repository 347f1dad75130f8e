#pragma once
// The graphs that benchmarks know by name, `kind:AxB…` for other sizes than the usual ones, and their rivals. Compiled
// once, in named.cpp: recording all of them costs the compiler as much as a program.

#include "inputs.hpp"

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/search/options.hpp>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace experiments {

using outputs = std::vector<std::shared_ptr<ep::vertex>>;

/// A kind of graph and its sizes.
struct sized_graph {
    std::string kind;
    std::vector<ep::index> n;
};

/// `llama:2x4` is a LLaMA of 2 layers and 4 prompts, otherwise as usual.
/// @throws error for kinds that nobody knows, and for what are no sizes
sized_graph graph_of(const std::string& text);

/// Records a graph of placeholders of T: float, double, or for `llama` bfloat16.
/// @throws error for other graphs of halves
template <class T>
outputs record(const sized_graph& asked);

/// Makes the placeholders of a graph lie in files, whose elements `read` reads. Returns all vertices.
std::set<const ep::vertex*> put_into_files(const outputs& wanted, const ep::detail::function_source::reader& read);

/// A decomposition by hand.
struct rival {
    std::string name;
    ep::cutting_rule rule;
};

/// Those that the paper's experiment with such a graph compares with, and some more.
std::vector<rival> rivals_of(const sized_graph& graph, int ranks);

/// A plan by its name: EinDecomp, an algorithm that all contractions are forced to (c, mn, k, master-worker), or a
/// rival. @throws error where there is no such plan
ep::plan planned(const sized_graph& graph, const std::string& name, ep::options asked, const outputs& wanted);

/// How a plan cuts: the shares of its multiply-adds by cut, `h:8 81 %, s:4 b:2 17 %`, those of 1 % and more.
std::string cuts_text(const ep::plan& plan);

/// A graph ready to be recorded for planning.
struct graph {
    std::string name;
    std::function<outputs()> record;
};

/// Cheapest to plan first.
std::vector<graph> named_graphs();

/// @throws error where no graph has that name
const graph& graph_named(const std::vector<graph>& graphs, const std::string& name);

}  // namespace experiments
