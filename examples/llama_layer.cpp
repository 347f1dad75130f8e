// One layer of a LLaMA model in float: attention with rotary positions, then the SwiGLU network. Three plans for the
// same layer, what each of them sends, and their results beside NumPy's.
//
//     mpiexec -n 4 llama_layer [FOLDER]
//
// FOLDER holds the weights, the input and NumPy's output (data/README.md). With --device the ranks compute on GPUs,
// where there are any. The einsums of the layer are in
// bench/graphs/llama.hpp; its labels are b (prompts of a batch), s (tokens), a (attributes), h (heads), f (neurons).

#include "example.hpp"

#include <einparallel.hpp>
#include <graphs/llama.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <string>

namespace ep = einparallel;

namespace {

/// Weights by name, each in a file of its own. Every rank reads the parts that its plan gives it.
struct weights {
    using value_type = float;
    std::string folder;

    template <std::size_t Rank>
    ep::tensor<float, Rank> operator()(const std::string& name, const ep::extent (&/*extents*/)[Rank]) const {
        return ep::load_npy<float, Rank>(folder + "/" + name + ".npy").named(name);
    }
};

/// Runs a plan on all ranks and prints what it sends. True where the result is NumPy's to single precision.
bool agrees(ep::context& world, const char* title, const ep::plan& plan, const ep::array<float, 3>& expected) {
    const ep::distributed<float, 3> result = example::run_plan(world, plan);
    const ep::array<float, 3> y = result.allgather();
    float difference = 0, largest = 0;
    for (ep::index at = 0; at < expected.size(); ++at) {
        difference = std::max(difference, std::abs(y.data()[at] - expected.data()[at]));
        largest = std::max(largest, std::abs(expected.data()[at]));
    }
    if (world.rank() == 0) {
        std::cout << std::setw(15) << title << std::setw(15) << plan.bytes_sent() << std::setw(16) << plan.peak_bytes(0)
                  << std::setw(16) << difference / largest << std::endl;
    }
    return difference < 1e-5F * largest;
}

bool layer(ep::context& world, const std::string& folder) {
    const weights inputs{folder + "/llama_layer"};
    const ep::tensor<float, 3> x = inputs("x", {0, 0, 0});  // extents come from the file
    const auto extents = x.extents();
    const experiments::llama_sizes n{.batch = extents[0],
                                     .sequence = extents[1],
                                     .layers = 1,
                                     .attributes = extents[2],
                                     .heads = 8,
                                     .depth = 4,
                                     .neurons = 48,
                                     .vocabulary = 0};

    // Functions of the index: the rotation by a token's position, and minus infinity where a token would look ahead.
    const auto turn = ep::generate<float>({n.sequence, n.depth / 2, 2, 2}, experiments::rotation<float>{n.depth});
    const auto mask = ep::generate<float>({n.sequence, n.sequence}, experiments::causal_mask<float>{});
    const ep::tensor<float, 3> y = experiments::build_llama_layer(n, inputs, "", x, turn, mask).output;
    const ep::array<float, 3> expected = ep::evaluate(world, inputs("y", {0, 0, 0})).allgather();

    // Each rank its own prompts; all weights reach every rank.
    const ep::plan data = ep::plan_with(world, {}, ep::rivals::data_parallel("b"), y);
    // Each rank its own heads and neurons, as in Megatron; what passes between them is summed over the ranks.
    const ep::plan tensor =
        ep::plan_with(world, {}, ep::rivals::megatron({.columns = {"h", "f"}, .batch = "b", .tokens = "s"}), y);
    // As the planner finds best, where every rank is to have a part in every einsum.
    const ep::plan automatic = ep::decompose(world, {.objective = ep::objective::bytes}, y);

    if (world.rank() == 0) {
        std::cout << "plan                bytes sent  held by rank 0      difference\n";
    }
    bool good = agrees(world, "data parallel", data, expected);
    good = agrees(world, "tensor parallel", tensor, expected) && good;
    return agrees(world, "automatic", automatic, expected) && good;
}

}  // namespace

int main(int argc, char** argv) {
    return example::run(
        argc, argv, [&](ep::context& world) { return layer(world, argc > 1 ? argv[1] : EINPARALLEL_EXAMPLE_DATA); });
}
