#pragma once
// A LLaMA checkpoint as Hugging Face stores it: config.json, and weights in model.safetensors or in the files that
// model.safetensors.index.json lists.

#include "llama_model.hpp"

#define BOOST_BIND_GLOBAL_PLACEHOLDERS  // Debian 12's Boost uses its own names as it advises against
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>

#include <array>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace experiments {

/// Reads config.json.
/// @throws ep::error that names the file and the key: one that is missing, of a wrong value, or not known here, for it
/// might change the result
inline llama_config read_llama_config(const std::string& folder) {
    const std::string path = folder + "/config.json";
    boost::property_tree::ptree config;
    try {
        boost::property_tree::read_json(path, config);
    } catch (const boost::property_tree::json_parser_error& wrong) {
        throw ep::error("'" + path + "' is no JSON that can be read: " + wrong.message() +
                        (wrong.line() > 0 ? ", line " + std::to_string(wrong.line()) : ""));
    }
    const auto refuse = [&](const std::string& what) { throw ep::error("'" + path + "': " + what); };

    // What a value must be where the key is there, and what says nothing of the result.
    const std::map<std::string, std::set<std::string>> fixed{
        {"model_type", {"llama"}},         {"hidden_act", {"silu"}},
        {"attention_bias", {"false"}},     {"mlp_bias", {"false"}},
        {"rope_scaling", {"null"}},        {"sliding_window", {"null"}},
        {"pretraining_tp", {"1", "null"}}, {"tie_word_embeddings", {"true", "false"}}};
    const std::set<std::string> silent{"architectures", "attention_dropout",    "bos_token_id", "dtype",
                                       "eos_token_id",  "initializer_range",    "pad_token_id", "torch_dtype",
                                       "use_cache",     "transformers_version", "_name_or_path"};
    const std::set<std::string> numbers{
        "hidden_size", "intermediate_size",      "num_hidden_layers", "num_attention_heads",
        "vocab_size",  "num_key_value_heads",    "head_dim",          "rms_norm_eps",
        "rope_theta",  "max_position_embeddings"};
    for (const auto& [key, value] : config) {
        if (const auto known = fixed.find(key); known != fixed.end()) {
            if (!value.empty() || !known->second.contains(value.data())) {
                refuse("\"" + key + "\" is " + (value.empty() ? value.data() : "an object") +
                       ", and such models are not known here");
            }
        } else if (key == "rope_parameters") {  // instead of rope_theta
            for (const auto& [parameter, said] : value) {
                if (parameter != "rope_theta" && (parameter != "rope_type" || said.data() != "default")) {
                    refuse("\"rope_parameters." + parameter + "\" is " + said.data() +
                           ", and such models are not known here");
                }
            }
        } else if (key.empty()) {
            refuse("no object");
        } else if (!silent.contains(key) && !numbers.contains(key)) {
            refuse("\"" + key + "\" is not known here, and may change the result");
        }
    }

    const auto number = [&](const char* key, double otherwise = -1) {
        const auto found = config.get_optional<std::string>(key);
        if (!found || *found == "null") {
            if (otherwise < 0) {
                refuse(std::string("\"") + key + "\" is missing");
            }
            return otherwise;
        }
        const auto value = config.get_optional<double>(key);
        if (!value || !(*value > 0) || *value > 1e15) {
            refuse(std::string("\"") + key + "\" is " + *found + ", and must be a positive number");
        }
        return *value;
    };
    const auto whole = [&](const char* key, double otherwise = -1) {
        const double value = number(key, otherwise);
        if (value != std::floor(value) || value < 1) {
            refuse(std::string("\"") + key + "\" is no whole number");
        }
        return ep::index(value);
    };
    llama_config n{};
    n.attributes = whole("hidden_size");
    n.neurons = whole("intermediate_size");
    n.layers = whole("num_hidden_layers");
    const ep::index heads = whole("num_attention_heads");
    n.groups = whole("num_key_value_heads", double(heads));
    n.depth = whole("head_dim", double(n.attributes / heads > 0 ? n.attributes / heads : 1));
    n.vocabulary = whole("vocab_size");
    n.positions = whole("max_position_embeddings");
    n.epsilon = number("rms_norm_eps", 1e-6);
    n.theta = number(config.count("rope_parameters") > 0 ? "rope_parameters.rope_theta" : "rope_theta", 10'000);
    n.tied = config.get<std::string>("tie_word_embeddings", "false") == "true";
    n.heads = heads / n.groups;
    if (n.heads * n.groups != heads) {
        refuse("\"num_attention_heads\" is " + std::to_string(heads) + ", no multiple of \"num_key_value_heads\", " +
               std::to_string(n.groups));
    }
    if (n.depth % 2 != 0) {
        refuse("heads have " + std::to_string(n.depth) + " numbers, and rotary positions turn an even number");
    }
    return n;
}

/// The file of a checkpoint's weights, or the index of several.
inline ep::safetensors_file open_llama_weights(const std::string& folder) {
    const std::string index = folder + "/model.safetensors.index.json";
    return ep::safetensors_file(std::filesystem::exists(index) ? index : folder + "/model.safetensors");
}

/// The weights, of which each rank reads what its plans give it.
/// @throws ep::error that names a tensor that is missing, that has another shape than the config says, and both shapes,
/// or that the model has no use for: it might change the result
template <class T>
llama_weights<T> load_llama_weights(const llama_config& n, const ep::safetensors_file& file) {
    std::set<std::string> used;
    const auto load = [&]<std::size_t Dimensions, std::size_t Rank>(const std::string& name,
                                                                    const std::array<ep::index, Dimensions>& shape,
                                                                    const ep::extent(&extents)[Rank]) {
        used.insert(name);
        if (const std::vector<ep::index> said(shape.begin(), shape.end()); file.shape(name) != said) {
            const auto text = [](const std::vector<ep::index>& numbers) {
                std::string made;
                for (const ep::index each : numbers) {
                    made += (made.empty() ? "" : " x ") + std::to_string(each);
                }
                return made;
            };
            throw ep::error("'" + file.path() + "': tensor '" + name + "' is " + text(file.shape(name)) +
                            ", and by config.json it is " + text(said));
        }
        return ep::load_safetensors<T>(file, name, extents).named(name);
    };
    const auto vector = [&](const std::string& name) { return load(name, std::array{n.attributes}, {n.attributes}); };
    const auto matrix = [&](const std::string& name, ep::index rows, ep::index columns) {
        return load(name, std::array{rows, columns}, {rows, columns});
    };
    llama_weights<T> made;
    made.embedding = matrix("model.embed_tokens.weight", n.vocabulary, n.attributes);
    made.W_logits = n.tied ? made.embedding : matrix("lm_head.weight", n.vocabulary, n.attributes);
    made.last_gain = vector("model.norm.weight");
    const ep::index a = n.attributes, g = n.groups, h = n.heads, d = n.depth;
    for (ep::index number = 0; number < n.layers; ++number) {
        const std::string prefix = "model.layers." + std::to_string(number) + ".";
        const std::string attention = prefix + "self_attn.", network = prefix + "mlp.";
        auto& layer = made.layers.emplace_back();
        layer.attention_gain = vector(prefix + "input_layernorm.weight");
        layer.network_gain = vector(prefix + "post_attention_layernorm.weight");
        layer.W_Q = load(attention + "q_proj.weight", std::array{g * h * d, a}, {g, h, 2, d / 2, a});
        layer.W_K = load(attention + "k_proj.weight", std::array{g * d, a}, {g, 2, d / 2, a});
        layer.W_V = load(attention + "v_proj.weight", std::array{g * d, a}, {g, d, a});
        layer.W_O = load(attention + "o_proj.weight", std::array{a, g * h * d}, {a, g, h, d});
        layer.W_gate = matrix(network + "gate_proj.weight", n.neurons, a);
        layer.W_up = matrix(network + "up_proj.weight", n.neurons, a);
        layer.W_down = matrix(network + "down_proj.weight", a, n.neurons);
    }
    for (const std::string& name : file.names()) {
        // Old files hold the rotary positions' angles; some tied ones the embedding twice.
        const bool says_nothing = name.ends_with("rotary_emb.inv_freq") || (n.tied && name == "lm_head.weight");
        if (!used.contains(name) && !says_nothing) {
            throw ep::error("'" + file.path() + "': tensor '" + name +
                            "' is not known here, and may change the result");
        }
    }
    return made;
}

}  // namespace experiments
