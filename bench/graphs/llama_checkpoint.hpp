#pragma once
// A LLaMA checkpoint as Hugging Face stores it: config.json, and weights in model.safetensors or in the files that
// model.safetensors.index.json lists.

#include "llama_model.hpp"

#define BOOST_BIND_GLOBAL_PLACEHOLDERS  // Debian 12's Boost uses its own names as it advises against
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace experiments {

/// config.json, of which each value that is read has a rule: a key without one is refused.
class llama_config_file {
public:
    explicit llama_config_file(std::string path) : path_(std::move(path)) {
        try {
            boost::property_tree::read_json(path_, all_);
        } catch (const boost::property_tree::json_parser_error& wrong) {
            throw ep::error("'" + path_ + "' is no JSON that can be read: " + wrong.message() +
                            (wrong.line() > 0 ? ", line " + std::to_string(wrong.line()) : ""));
        }
        check_keys("", all_);
    }

    [[noreturn]] void refuse(const std::string& what) const { throw ep::error("'" + path_ + "': " + what); }

    /// What a key's value is as a text; nothing where it is missing or null. Keys of an object follow its own and a
    /// dot.
    [[nodiscard]] std::optional<std::string> text(const std::string& key) const {
        const auto found = all_.get_child_optional(key);
        if (!found || is_null(*found)) {
            return std::nullopt;
        }
        return said(*found);
    }

    [[nodiscard]] double number(const std::string& key, double otherwise = -1) const {
        const std::optional<std::string> found = text(key);
        if (!found) {
            if (otherwise < 0) {
                refuse("\"" + key + "\" is missing");
            }
            return otherwise;
        }
        const auto value = all_.get_optional<double>(key);
        if (!value || !(*value > 0) || *value > 1e15) {
            refuse("\"" + key + "\" is " + *found + ", and must be a positive number");
        }
        return *value;
    }

    [[nodiscard]] ep::index whole(const std::string& key, double otherwise = -1) const {
        const double value = number(key, otherwise);
        if (value != std::floor(value) || value < 1) {
            refuse("\"" + key + "\" is no whole number");
        }
        return ep::index(value);
    }

    /// The frequencies' base and scaling: rope_theta and rope_scaling, or both in rope_parameters, as newer files have
    /// them.
    void read_rotary(llama_config& n) const {
        const bool is_new = text("rope_parameters").has_value();
        if (is_new && text("rope_scaling")) {
            refuse("\"rope_scaling\" and \"rope_parameters\" are both there, and either may be meant");
        }
        const std::string object = is_new ? "rope_parameters" : "rope_scaling";
        const double theta = number("rope_theta", 10'000);
        n.theta = is_new ? number("rope_parameters.rope_theta", theta) : theta;
        if (is_new && text("rope_theta") && n.theta != theta) {
            refuse("\"rope_theta\" and \"rope_parameters.rope_theta\" are two numbers, and either may be meant");
        }
        if (!text(object)) {
            return;
        }
        const std::optional<std::string> type = text(object + ".rope_type"), older = text(object + ".type");
        if (type && older && *type != *older) {
            refuse("\"" + object + "\" is of the types " + *type + " and " + *older + ", and either may be meant");
        }
        if (!type && !older && !is_new) {
            refuse("\"rope_scaling.rope_type\" is missing");
        }
        const std::string rule = type ? *type : older.value_or("default");
        std::set<std::string> keys{"rope_type", "type", "partial_rotary_factor"};
        if (is_new) {
            keys.insert("rope_theta");
        }
        if (rule == "linear" || rule == "llama3") {
            keys.insert("factor");
            n.scaling.factor = number(object + ".factor");
        } else if (rule != "default") {
            refuse("\"" + object + "\" is of the type " + rule +
                   ", and only default, linear and llama3 are known here");
        }
        if (rule == "llama3") {
            keys.insert({"low_freq_factor", "high_freq_factor", "original_max_position_embeddings"});
            n.scaling.trained = whole(object + ".original_max_position_embeddings");
            n.scaling.slowest = number(object + ".low_freq_factor");
            n.scaling.fastest = number(object + ".high_freq_factor");
            if (n.scaling.fastest <= n.scaling.slowest) {
                refuse("\"" + object + ".high_freq_factor\" must be more than \"low_freq_factor\"");
            }
        }
        if (n.scaling.factor < 1) {
            refuse("\"" + object + ".factor\" must be at least 1");
        }
        for (const auto& [key, value] : all_.get_child(object)) {
            if (!keys.contains(key) && !is_null(value)) {
                refuse("\"" + object + "." + key + "\" is not known here with the type " + rule +
                       ", and may change the result");
            }
        }
    }

private:
    using tree = boost::property_tree::ptree;

    static std::string said(const tree& value) {
        return !value.empty() ? "an object" : value.data().empty() ? "empty" : value.data();
    }
    static bool is_null(const tree& value) { return value.empty() && value.data() == "null"; }

    /// Refuses what may change the result and is read by nobody. @param object  the keys' own, and a dot
    void check_keys(const std::string& object, const tree& values) const {
        // What a value must be where the key is there.
        static const std::map<std::string, std::set<std::string>> fixed{
            {"model_type", {"llama"}},         {"hidden_act", {"silu"}},
            {"attention_bias", {"false"}},     {"mlp_bias", {"false"}},
            {"sliding_window", {"null"}},      {"partial_rotary_factor", {"1", "1.0", "null"}},
            {"pretraining_tp", {"1", "null"}}, {"tie_word_embeddings", {"true", "false"}}};
        // What says nothing of the result.
        static const std::set<std::string> silent{
            "architectures", "attention_dropout",    "bos_token_id", "dtype",
            "eos_token_id",  "initializer_range",    "pad_token_id", "torch_dtype",
            "use_cache",     "transformers_version", "_name_or_path"};
        static const std::set<std::string> numbers{
            "hidden_size", "intermediate_size",      "num_hidden_layers", "num_attention_heads",
            "vocab_size",  "num_key_value_heads",    "head_dim",          "rms_norm_eps",
            "rope_theta",  "max_position_embeddings"};
        static const std::set<std::string> objects{"rope_scaling", "rope_parameters"};
        std::set<std::string> seen;
        for (const auto& [key, value] : values) {
            const std::string name = object + key;
            if (key.empty()) {
                refuse(object.empty() ? "no object" : "\"" + object.substr(0, object.size() - 1) + "\" is no object");
            }
            if (!seen.insert(key).second) {
                refuse("\"" + name + "\" is there twice, and either may be meant");
            }
            if (const auto known = fixed.find(key); known != fixed.end()) {
                if (!value.empty() || !known->second.contains(value.data())) {
                    refuse("\"" + name + "\" is " + said(value) + ", and such models are not known here");
                }
            } else if (object.empty() && objects.contains(key)) {
                if (value.empty() && !is_null(value)) {
                    refuse("\"" + key + "\" is " + said(value) + ", and must be null or an object with keys");
                }
                check_keys(key + ".", value);
            } else if (object.empty() && !silent.contains(key) && !numbers.contains(key)) {
                refuse("\"" + key + "\" is not known here, and may change the result");
            }
        }
    }

    std::string path_;
    tree all_;
};

/// Reads config.json.
/// @throws ep::error that names the file and the key: one that is missing, of a wrong value, or not known here, for it
/// might change the result
inline llama_config read_llama_config(const std::string& folder) {
    const llama_config_file file(folder + "/config.json");
    llama_config n{};
    if (!file.text("model_type")) {
        file.refuse("\"model_type\" is missing");
    }
    n.attributes = file.whole("hidden_size");
    n.neurons = file.whole("intermediate_size");
    n.layers = file.whole("num_hidden_layers");
    const ep::index heads = file.whole("num_attention_heads");
    n.groups = file.whole("num_key_value_heads", double(heads));
    if (!file.text("head_dim") && n.attributes % heads != 0) {
        file.refuse("\"hidden_size\" is " + std::to_string(n.attributes) +
                    ", no multiple of \"num_attention_heads\", " + std::to_string(heads) +
                    ", and \"head_dim\" is missing");
    }
    n.depth = file.whole("head_dim", double(n.attributes / heads));
    n.vocabulary = file.whole("vocab_size");
    n.positions = file.whole("max_position_embeddings");
    n.epsilon = file.number("rms_norm_eps", 1e-6);
    n.tied = file.text("tie_word_embeddings") == "true";
    file.read_rotary(n);
    n.heads = heads / n.groups;
    if (n.heads * n.groups != heads) {
        file.refuse("\"num_attention_heads\" is " + std::to_string(heads) +
                    ", no multiple of \"num_key_value_heads\", " + std::to_string(n.groups));
    }
    if (n.depth % 2 != 0) {
        file.refuse("heads have " + std::to_string(n.depth) + " numbers, and rotary positions turn an even number");
    }
    return n;
}

/// The file of a checkpoint's weights, or the index of several.
inline ep::safetensors_file open_llama_weights(const std::string& folder) {
    const std::string index = folder + "/model.safetensors.index.json";
    return ep::safetensors_file(std::filesystem::exists(index) ? index : folder + "/model.safetensors");
}

/// The type of a checkpoint's matrices, in which is multiplied.
inline ep::element_type llama_element_type(const ep::safetensors_file& file) {
    return file.type("model.embed_tokens.weight");
}

/// True where two matrices of a file are the same, element by element.
inline bool are_equal(const ep::safetensors_file& file, const std::string& one, const std::string& other) {
    if (file.type(one) != file.type(other) || file.shape(one) != file.shape(other)) {
        return false;
    }
    const ep::index rows = file.shape(one)[0], columns = file.shape(one)[1];
    const ep::index step = 256;
    const std::size_t bytes = std::size_t(step * columns) * file.type(one).bytes;
    std::vector<std::byte> these(bytes), those(bytes);
    for (ep::index row = 0; row < rows; row += step) {
        const ep::box region{{{row, std::min(row + step, rows)}, {0, columns}}};
        file.read_box(one, region, these.data());
        file.read_box(other, region, those.data());
        if (these != those) {
            return false;
        }
    }
    return true;
}

/// The weights, of which each rank reads what its plans give it: matrices of type T, and gains of any type.
/// @throws ep::error that names a tensor that is missing, that has another shape than the config says, and both shapes,
/// or that is of another type; or one that the model has no use for: it might change the result
template <class T>
llama_weights<T> load_llama_weights(const llama_config& n, const ep::safetensors_file& file) {
    std::set<std::string> used;
    const auto refuse = [&](const std::string& name, const std::string& what) {
        throw ep::error("'" + file.path() + "': tensor '" + name + "' " + what);
    };
    const auto check = [&](const std::string& name, const std::vector<ep::index>& shape) {
        used.insert(name);
        if (file.shape(name) != shape) {
            const auto text = [](const std::vector<ep::index>& numbers) {
                std::string made;
                for (const ep::index each : numbers) {
                    made += (made.empty() ? "" : " x ") + std::to_string(each);
                }
                return made;
            };
            refuse(name, "is " + text(file.shape(name)) + ", and by config.json it is " + text(shape));
        }
    };
    const auto load = [&]<std::size_t Rank>(const std::string& name, const std::vector<ep::index>& shape,
                                            const ep::extent(&extents)[Rank]) {
        check(name, shape);
        if (file.type(name) != ep::element_type_of<T>()) {
            const auto text = [](ep::element_type type) {
                return std::string(ep::detail::safetensors_type_name(type));
            };
            refuse(name, "is " + text(file.type(name)) + ", and all matrices must be of the type of the embedding, " +
                             text(ep::element_type_of<T>()));
        }
        return ep::load_safetensors<T>(file, name, extents).named(name);
    };
    const auto vector = [&](const std::string& name) -> llama_gain {
        check(name, {n.attributes});
        const ep::element_type type = file.type(name);
        if (type == ep::element_type_of<ep::float16>()) {
            return ep::load_safetensors<ep::float16, 1>(file, name).named(name);
        }
        if (type == ep::element_type_of<ep::bfloat16>()) {
            return ep::load_safetensors<ep::bfloat16, 1>(file, name).named(name);
        }
        if (type != ep::element_type_of<float>()) {
            refuse(name, "is neither F32 nor F16 nor BF16");
        }
        return ep::load_safetensors<float, 1>(file, name).named(name);
    };
    const auto matrix = [&](const std::string& name, ep::index rows, ep::index columns) {
        return load(name, {rows, columns}, {rows, columns});
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
        layer.W_Q = load(attention + "q_proj.weight", {g * h * d, a}, {g, h, 2, d / 2, a});
        layer.W_K = load(attention + "k_proj.weight", {g * d, a}, {g, 2, d / 2, a});
        layer.W_V = load(attention + "v_proj.weight", {g * d, a}, {g, d, a});
        layer.W_O = load(attention + "o_proj.weight", {a, g * h * d}, {a, g, h, d});
        layer.W_gate = matrix(network + "gate_proj.weight", n.neurons, a);
        layer.W_up = matrix(network + "up_proj.weight", n.neurons, a);
        layer.W_down = matrix(network + "down_proj.weight", a, n.neurons);
    }
    for (const std::string& name : file.names()) {
        if (n.tied && name == "lm_head.weight") {  // some files hold the embedding twice
            if (!are_equal(file, name, "model.embed_tokens.weight")) {
                refuse(name, "is not the embedding, and config.json has \"tie_word_embeddings\"");
            }
        } else if (!used.contains(name) && !name.ends_with("rotary_emb.inv_freq")) {  // frequencies, in old files
            refuse(name, "is not known here, and may change the result");
        }
    }
    return made;
}

}  // namespace experiments
