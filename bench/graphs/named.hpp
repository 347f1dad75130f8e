#pragma once
// The graphs that benchmarks know by name, cheapest to plan first.

#include "attention.hpp"
#include "ccsd.hpp"
#include "classifier.hpp"
#include "inputs.hpp"
#include "llama.hpp"
#include "matrix_chain.hpp"
#include "mp2.hpp"

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/error.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace experiments {

using outputs = std::vector<std::shared_ptr<ep::vertex>>;

struct graph {
    std::string name;
    std::function<outputs()> record;
};

inline std::vector<graph> named_graphs() {
    const placeholders<float> single;
    const placeholders<double> twice;
    const auto llama_outputs = [=](llama_sizes n, int layers) {
        n.layers = layers;
        return outputs{build_llama(n, single).logits.node()};
    };
    return {
        {"mp2",
         [=] {
             return outputs{build_mp2({20, 100}, twice).E.node()};
         }},
        {"chain-square", [=] { return outputs{build_matrix_chain(square_chain(10'240), single).Z.node()}; }},
        {"chain-skewed", [=] { return outputs{build_matrix_chain(skewed_chain(10'240), single).Z.node()}; }},
        {"attention",
         [=] {
             return outputs{build_attention({4096, 8192, 64, 128}, single).Y.node()};
         }},
        {"classifier",
         [=] {
             const auto made = build_classifier(amazon_cat(512), single);
             return outputs{made.loss.node(), made.dW1.node(), made.dW2.node()};
         }},
        {"llama-7b-1", [=] { return llama_outputs(llama_7b(8, 1024), 1); }},
        {"df-mp2",
         [=] {
             return outputs{build_df_mp2({40, 260, 300, 1000}, twice).E.node()};
         }},
        {"ccsd",
         [=] {
             const auto made = build_ccsd({20, 100}, twice);
             return outputs{made.t1.node(), made.t2.node(), made.E.node()};
         }},
        {"llama-65b-80", [=] { return llama_outputs(llama_65b(16, 1024), 80); }},
    };
}

/// @throws error where no graph has that name
inline const graph& graph_named(const std::vector<graph>& graphs, const std::string& name) {
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
