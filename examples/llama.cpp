// A LLaMA model from a checkpoint: prefill, then token by token with a cache of keys and values.
//
//     mpiexec -n 2 llama [--memory MIB] [--scratch DIRECTORY] FOLDER STEPS TOKEN TOKEN ...
//
// goes on behind a prompt of token ids with STEPS more, the likeliest ones. FOLDER holds config.json and safetensors as
// Hugging Face stores them, in float32, float16 or bfloat16, gains of normalisations in any of these; what a tokenizer
// does is not done here. `--memory MIB` before FOLDER holds no more than that on each rank: weights are read from their
// files layer by layer while the layer before is computed, and what else does not fit waits in files in `--scratch
// DIRECTORY` (the current one). With FOLDER alone the prompts of its tokens.npy are computed under several plans beside
// the scores in its logits.npy; without arguments so are four small models with random weights, beside the scores that
// PyTorch computed (data/README.md, bench/llama/checkpoint.py makes others). The model is in
// bench/graphs/llama_model.hpp, its cache and its plans in llama_session.hpp.

#include "example.hpp"

#include <einparallel.hpp>
#include <graphs/llama_checkpoint.hpp>
#include <graphs/llama_session.hpp>

#include <cmath>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ep = einparallel;

namespace {

struct planner {
    const char* name;
    ep::cutting_rule rule;
};

/// EinDecomp's plan, and those that are made by hand.
std::vector<planner> planners() {
    return {{"EinDecomp", nullptr},
            {"data parallel", ep::rivals::data_parallel("b")},
            {"sequence", ep::rivals::sequence("s")},
            {"megatron", ep::rivals::megatron({.columns = {"g", "f"}, .batch = "b", .tokens = "s"})},
            {"attention heads", ep::rivals::attention_heads("g", "b", "s")},
            {"square root", ep::rivals::sqrt()}};
}

/// Columns `begin` to `end` of the tokens of all prompts.
ep::array<int, 2> columns(const ep::array<int, 2>& tokens, ep::index begin, ep::index end) {
    EINPARALLEL_LABELS(b, s);
    ep::array<int, 2> part;
    part(b, s) = ep::slice(tokens, {0, begin}, {tokens.extent(0), end})(b, s);
    return part;
}

/// Prompts of a file under several plans; true where all scores are the reference's: in float to 1e-4 of their standard
/// deviation, in bfloat16 to 2e-2 and in float16 to 4e-3 of it on average (root mean square). A model that is wrong by
/// one position, or leaves its positions unscaled, must fail.
template <class T>
bool agrees(ep::context& world, const std::string& folder, const experiments::llama_config& n,
            const experiments::llama_weights<T>& weights) {
    const ep::array<float, 3> expected =
        ep::evaluate(world, ep::load_npy<float, 3>(folder + "/logits.npy")).allgather();
    const ep::array<int, 2> tokens = ep::evaluate(world, ep::load_npy<int, 2>(folder + "/tokens.npy")).allgather();
    const ep::index steps = expected.extent(0) - 1;
    const ep::index prompt = tokens.extent(1) - steps;
    double squares = 0, sum = 0;
    for (ep::index at = 0; at < expected.size(); ++at) {
        sum += double(expected.data()[at]);
        squares += double(expected.data()[at]) * double(expected.data()[at]);
    }
    const auto count = double(expected.size());
    const double deviation = std::sqrt(squares / count - sum * sum / (count * count));

    const auto is_good = [&](const char* name, const experiments::llama_config& model, const ep::cutting_rule& rule) {
        experiments::llama_session<T> session(world, model, weights, tokens.extent(0),
                                              {.objective = ep::objective::bytes, .runs = std::size_t(session.block)},
                                              rule);
        if (world.rank() == 0) {
            std::cout << std::setw(16) << name << std::flush;
        }
        double difference = 0, differences = 0;
        for (ep::index step = 0; step <= steps; ++step) {
            const ep::index begin = step == 0 ? 0 : prompt + step - 1;
            const ep::array<float, 2> made = session(columns(tokens, begin, prompt + step)).logits.allgather();
            for (ep::index at = 0; at < made.size(); ++at) {
                const double apart =
                    std::abs(double(made.data()[at]) - double(expected.data()[step * made.size() + at]));
                difference = apart <= difference ? difference : apart;  // a NaN stays
                differences += apart * apart;
            }
        }
        const double average = std::sqrt(differences / count);
        const std::size_t bytes = session.plan(1).bytes_sent_again();
        if (world.rank() == 0) {
            std::cout << std::setw(14) << bytes << std::setw(14) << session.bytes_grown() << std::setw(14)
                      << difference / deviation << std::setw(14) << average / deviation << std::endl;
        }
        return std::is_same_v<T, float>         ? difference <= 1e-4 * deviation
               : std::is_same_v<T, ep::float16> ? average <= 4e-3 * deviation
                                                : average <= 2e-2 * deviation;
    };
    bool good = true;
    for (const planner& each : planners()) {
        good = is_good(each.name, n, each.rule) && good;
    }
    if (std::is_same_v<T, float>) {
        experiments::llama_config mask = n, keys = n, cache = n;
        mask.off.mask = keys.off.keys = cache.off.cache = 1;
        good = !is_good("wrong: mask", mask, nullptr) && good;
        good = !is_good("wrong: rotation", keys, nullptr) && good;
        good = !is_good("wrong: cache", cache, nullptr) && good;
    }
    if (n.scaling.factor != 1) {
        experiments::llama_config unscaled = n;
        unscaled.scaling = {};
        good = !is_good("wrong: scaling", unscaled, nullptr) && good;
    }
    return good;
}

/// What the words before FOLDER ask for.
struct given_memory {
    std::size_t limit = 0;  ///< bytes; 0: no limit
    std::string scratch = ".";
};

template <class T>
bool run_model(ep::context& world, const std::string& folder, const experiments::llama_config& n,
               const ep::safetensors_file& file, const std::vector<int>& prompt, ep::index steps,
               const given_memory& memory) {
    const auto weights = example::on_all_ranks(world, [&] { return experiments::load_llama_weights<T>(n, file); });
    if (prompt.empty()) {
        return agrees(world, folder, n, weights);
    }
    const bool pages = memory.limit > 0;
    const auto run = [&](const ep::plan& plan, std::vector<ep::binding> bound) {
        bound.push_back(ep::scratch(memory.scratch));
        return plan.run(world, bound);
    };
    experiments::llama_session<T> session(
        world, n, weights, 1,
        {.memory_limit = memory.limit, .runs = pages ? 1 : std::size_t(session.block), .paging = pages}, nullptr,
        pages ? typename experiments::llama_session<T>::runner(run) : nullptr);
    ep::array<int, 2> tokens({1, ep::index(prompt.size())});
    std::copy(prompt.begin(), prompt.end(), tokens.data());
    for (ep::index step = 0; step < steps; ++step) {
        const ep::array<int, 1> next = session(tokens).next.allgather();
        tokens = ep::array<int, 2>({1, 1});
        tokens(0, 0) = next(0);
        if (world.rank() == 0) {
            std::cout << next(0) << (step + 1 < steps ? ' ' : '\n') << std::flush;
        }
    }
    return true;
}

/// The checkpoint's elements decide in which type is multiplied.
bool run_checkpoint(ep::context& world, const std::string& folder, const std::vector<int>& prompt, ep::index steps,
                    const given_memory& memory = {}) {
    const auto [n, file, type] = example::on_all_ranks(world, [&] {
        const ep::safetensors_file weights = experiments::open_llama_weights(folder);
        return std::tuple(experiments::read_llama_config(folder), weights, experiments::llama_element_type(weights));
    });
    if (world.rank() == 0) {
        std::cout << (prompt.empty() ? "                  bytes a step bytes to grow    difference       average\n"
                                     : "");
    }
    if (type == ep::element_type_of<float>()) {
        return run_model<float>(world, folder, n, file, prompt, steps, memory);
    }
    if (type == ep::element_type_of<ep::float16>()) {
        return run_model<ep::float16>(world, folder, n, file, prompt, steps, memory);
    }
    if (type == ep::element_type_of<ep::bfloat16>()) {
        return run_model<ep::bfloat16>(world, folder, n, file, prompt, steps, memory);
    }
    throw ep::error("llama: 'model.embed_tokens.weight' of '" + folder + "' is neither F32 nor F16 nor BF16");
}

bool llama(ep::context& world, int argc, char** argv) {
    given_memory memory;
    while (argc > 2 && std::string_view(argv[1]).starts_with("--")) {
        const std::string_view word = argv[1];
        if (word == "--memory") {
            memory.limit = std::size_t(example::argument(argc, argv, 2, 0)) << 20U;
        } else if (word == "--scratch") {
            memory.scratch = argv[2];
        } else {
            throw ep::error("llama: " + std::string(word) + " is neither --memory nor --scratch");
        }
        argc -= 2;
        argv += 2;
    }
    if (argc > 3) {
        std::vector<int> prompt;
        for (int word = 3; word < argc; ++word) {
            const ep::index token = example::argument(argc, argv, word, 0, 0);
            if (token > std::numeric_limits<int>::max()) {
                throw ep::error("llama: no vocabulary has a token " + std::to_string(token));
            }
            prompt.push_back(int(token));
        }
        return run_checkpoint(world, argv[1], prompt, example::argument(argc, argv, 2, 1), memory);
    }
    if (argc == 2) {
        return run_checkpoint(world, argv[1], {}, 0);
    }
    if (argc > 1) {
        throw ep::error("llama: FOLDER, STEPS and the tokens of a prompt are wanted, or FOLDER alone, or nothing");
    }
    bool good = true;
    for (const char* each : {"float32", "bfloat16", "float16_llama3", "bfloat16_linear"}) {
        if (world.rank() == 0) {
            std::cout << each << std::endl;
        }
        good = run_checkpoint(world, std::string(EINPARALLEL_EXAMPLE_DATA) + "/llama_" + each, {}, 0) && good;
    }
    return good;
}

}  // namespace

int main(int argc, char** argv) {
    return example::run(argc, argv, [&](ep::context& world) { return llama(world, argc, argv); });
}
