// Checkpoints of LLaMA models: what of config.json is applied, what is refused, and the types of the weights.

#include <graphs/llama_checkpoint.hpp>

#include <einparallel/notation/error.hpp>

#include <doctest/doctest.h>

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace llama_checkpoint_test {

namespace {

using namespace experiments;

/// A folder that goes with the object.
struct temporary_folder {
    std::string path =
        (std::filesystem::temp_directory_path() / ("einparallel_llama_" + std::to_string(::getpid()))).string();

    temporary_folder() { std::filesystem::create_directories(path); }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder() { std::filesystem::remove_all(path); }

    void write(const std::string& name, const std::string& content) const {
        std::ofstream(path + "/" + name, std::ios::binary).write(content.data(), std::streamsize(content.size()));
    }
};

using keys = std::map<std::string, std::string>;

/// config.json with these keys instead of its own, or without those of no value.
llama_config read(const keys& others) {
    keys all{{"model_type", "\"llama\""},  {"hidden_size", "4096"},         {"intermediate_size", "14336"},
             {"num_hidden_layers", "32"},  {"num_attention_heads", "32"},   {"num_key_value_heads", "8"},
             {"vocab_size", "128256"},     {"rms_norm_eps", "1e-05"},       {"max_position_embeddings", "131072"},
             {"rope_theta", "500000.0"},   {"hidden_act", "\"silu\""},      {"attention_bias", "false"},
             {"eos_token_id", "[1, 2]"},   {"torch_dtype", "\"bfloat16\""}, {"pretraining_tp", "1"},
             {"attention_dropout", "0.0"}, {"bos_token_id", "128000"},      {"tie_word_embeddings", "false"}};
    for (const auto& [key, value] : others) {
        all[key] = value;
    }
    std::string text;
    for (const auto& [key, value] : all) {
        if (!value.empty()) {
            text += (text.empty() ? "{" : ", ") + ("\"" + key + "\": ") + value;
        }
    }
    const temporary_folder folder;
    folder.write("config.json", text + "}");
    return read_llama_config(folder.path);
}

/// The sentence that such a config.json gets, behind the path.
std::string refused(const keys& others) {
    try {
        read(others);
    } catch (const ep::error& failure) {
        const std::string sentence = failure.what(), end = "config.json': ";
        const std::size_t begin = sentence.find(end);
        return begin == std::string::npos ? sentence : sentence.substr(begin + end.size());
    }
    return "";
}

std::string llama3(const std::string& more = "") {
    return R"({"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, )"
           R"("original_max_position_embeddings": 8192)" +
           more + "}";
}

void check_frequencies(const llama_config& n, const std::map<ep::index, double>& expected) {
    for (const auto& each : expected) {
        CAPTURE(each.first);
        CHECK(rotary_frequency(n, each.first) == doctest::Approx(each.second).epsilon(1e-6));
    }
}

/// Names, types and shapes of a model's tensors.
using entries = std::map<std::string, std::pair<std::string, std::vector<ep::index>>>;

/// A model of one layer, of matrices and gains of these types.
entries tensors(const std::string& matrices, const std::string& gains) {
    const std::string layer = "model.layers.0.";
    return {{"model.embed_tokens.weight", {matrices, {3, 4}}},
            {"lm_head.weight", {matrices, {3, 4}}},
            {"model.norm.weight", {gains, {4}}},
            {layer + "input_layernorm.weight", {gains, {4}}},
            {layer + "post_attention_layernorm.weight", {gains, {4}}},
            {layer + "self_attn.q_proj.weight", {matrices, {4, 4}}},
            {layer + "self_attn.k_proj.weight", {matrices, {2, 4}}},
            {layer + "self_attn.v_proj.weight", {matrices, {2, 4}}},
            {layer + "self_attn.o_proj.weight", {matrices, {4, 4}}},
            {layer + "mlp.gate_proj.weight", {matrices, {6, 4}}},
            {layer + "mlp.up_proj.weight", {matrices, {6, 4}}},
            {layer + "mlp.down_proj.weight", {matrices, {4, 6}}}};
}

/// A file of them, of zeros but for the last byte of each, which is `last`.
std::string file_of(const entries& all, const std::map<std::string, char>& last = {}) {
    std::string header, data;
    for (const auto& [name, entry] : all) {
        std::string shape;
        std::size_t bytes = entry.first == "F64" ? 8 : entry.first == "F32" ? 4 : 2;
        for (const ep::index each : entry.second) {
            shape += (shape.empty() ? "" : ",") + std::to_string(each);
            bytes *= std::size_t(each);
        }
        header += (header.empty() ? "{\"" : ",\"") + name + R"(":{"dtype":")" + entry.first + R"(","shape":[)" + shape +
                  R"(],"data_offsets":[)" + std::to_string(data.size()) + "," + std::to_string(data.size() + bytes) +
                  "]}";
        data.resize(data.size() + bytes);
        data.back() = last.contains(name) ? last.at(name) : '\0';
    }
    header += "}";
    std::string size;
    for (int byte = 0; byte < 8; ++byte) {
        size += char(static_cast<unsigned char>(header.size() >> 8 * byte));
    }
    return size + header + data;
}

llama_config small(bool tied = false) {
    llama_config n{};
    n.attributes = 4, n.neurons = 6, n.layers = 1, n.groups = 1, n.heads = 2, n.depth = 2, n.vocabulary = 3;
    n.positions = 8, n.tied = tied;
    return n;
}

template <class T>
llama_weights<T> load(const entries& all, bool tied = false, const std::map<std::string, char>& last = {}) {
    const temporary_folder folder;
    folder.write("model.safetensors", file_of(all, last));
    return load_llama_weights<T>(small(tied), open_llama_weights(folder.path));
}

template <class T>
std::string refused(const entries& all, bool tied = false, const std::map<std::string, char>& last = {}) {
    try {
        load<T>(all, tied, last);
    } catch (const ep::error& failure) {
        const std::string sentence = failure.what(), end = "': tensor ";
        const std::size_t begin = sentence.find(end);
        return begin == std::string::npos ? sentence : sentence.substr(begin + end.size());
    }
    return "";
}

}  // namespace

TEST_CASE("rotary frequencies are scaled as config.json says") {
    // Of transformers' LlamaRotaryEmbedding, computed in float.
    const std::map<ep::index, double> plain{{0, 1.0}, {20, 0.0165604401}, {31, 0.00173604545}, {63, 2.45514079e-06}};
    const std::map<ep::index, double> eight{{0, 1.0},
                                            {20, 0.0165604409},
                                            {28, 0.00321144611},
                                            {29, 0.00216657063},
                                            {30, 0.00137189368},
                                            {31, 0.00085675146},
                                            {32, 0.000524846022},
                                            {33, 0.00031269365},
                                            {34, 0.000178507791},
                                            {35, 9.55621217e-05},
                                            {63, 3.06892588e-07}};
    check_frequencies(read({}), plain);
    check_frequencies(read({{"rope_scaling", "null"}}), plain);
    check_frequencies(read({{"rope_scaling", R"({"rope_type": "default"})"}}), plain);
    check_frequencies(read({{"rope_scaling", llama3(R"(, "rope_type": "llama3")")}}), eight);
    check_frequencies(read({{"rope_scaling", llama3(R"(, "type": "llama3")")}}), eight);
    check_frequencies(read({{"rope_scaling", llama3(R"(, "type": "llama3", "rope_type": "llama3")")}}), eight);

    // Of Llama 3.2: the factor is 32.
    const std::string larger = R"({"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 8192})";
    check_frequencies(
        read({{"rope_scaling", larger}}),
        {{28, 0.00321144611}, {29, 0.00211840682}, {31, 0.000762541255}, {34, 9.70828623e-05}, {35, 2.38905304e-05}});

    for (const char* type : {"rope_type", "type"}) {
        const llama_config n = read({{"rope_scaling", R"({"factor": 4, ")" + std::string(type) + R"(": "linear"})"}});
        for (ep::index r = 0; r < 64; ++r) {
            CHECK(rotary_frequency(n, r) == doctest::Approx(rotary_frequency(read({}), r) / 4).epsilon(1e-14));
        }
    }

    // One object of both, as newer files have it.
    const std::string theta = R"(, "rope_theta": 500000.0)";
    check_frequencies(read({{"rope_theta", ""}, {"rope_parameters", "{" + theta.substr(1) + "}"}}), plain);
    check_frequencies(read({{"rope_theta", ""}, {"rope_parameters", llama3(theta + R"(, "rope_type": "llama3")")}}),
                      eight);
    check_frequencies(read({{"rope_parameters", R"({"rope_type": "default"})"}}), plain);
    check_frequencies(read({{"rope_parameters", "null"}, {"rope_scaling", llama3(R"(, "type": "llama3")")}}), eight);
}

TEST_CASE("scalings that are not known or not clear are refused") {
    const auto scaling = [](const std::string& object) { return refused({{"rope_scaling", object}}); };
    for (const char* type : {"yarn", "dynamic", "longrope", "su", "mrope"}) {
        const std::string known = ", and only default, linear and llama3 are known here";
        CHECK(scaling(R"({"type": ")" + std::string(type) + R"(", "factor": 2.0})") ==
              "\"rope_scaling\" is of the type " + std::string(type) + known);
        CHECK(refused({{"rope_parameters", R"({"rope_type": ")" + std::string(type) + R"("})"}}) ==
              "\"rope_parameters\" is of the type " + std::string(type) + known);
    }
    CHECK(scaling(R"({"factor": 2.0})") == "\"rope_scaling.rope_type\" is missing");
    CHECK(scaling(R"({"type": "linear"})") == "\"rope_scaling.factor\" is missing");
    CHECK(scaling(R"({"type": "linear", "factor": 0.5})") == "\"rope_scaling.factor\" must be at least 1");
    CHECK(scaling(R"({"type": "linear", "factor": "two"})") ==
          "\"rope_scaling.factor\" is two, and must be a positive number");
    CHECK(scaling(R"({"type": "linear", "rope_type": "llama3", "factor": 2.0})") ==
          "\"rope_scaling\" is of the types llama3 and linear, and either may be meant");
    CHECK(scaling(R"({"type": "linear", "factor": 2.0, "attention_factor": 1.5})") ==
          "\"rope_scaling.attention_factor\" is not known here with the type linear, and may change the result");
    CHECK(scaling(R"({"type": "default", "factor": 2.0})") ==
          "\"rope_scaling.factor\" is not known here with the type default, and may change the result");
    CHECK(scaling(R"({"type": "linear", "factor": 2.0, "factor": 4.0})") ==
          "\"rope_scaling.factor\" is there twice, and either may be meant");
    CHECK(scaling(R"({"type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0})") ==
          "\"rope_scaling.original_max_position_embeddings\" is missing");
    CHECK(scaling(R"({"type": "llama3", "factor": 8.0, "low_freq_factor": 4.0, "high_freq_factor": 4.0,
                      "original_max_position_embeddings": 8192})") ==
          "\"rope_scaling.high_freq_factor\" must be more than \"low_freq_factor\"");
    CHECK(scaling("8.0") == "\"rope_scaling\" is 8.0, and must be null or an object with keys");
    CHECK(scaling("[8.0]") == "\"rope_scaling\" is no object");
    CHECK(refused({{"rope_parameters", R"({"full_attention": {"rope_type": "default"}})"}}) ==
          "\"rope_parameters.full_attention\" is not known here with the type default, and may change the result");
    CHECK(refused({{"rope_parameters", R"({"rope_theta": 10000.0})"}}) ==
          "\"rope_theta\" and \"rope_parameters.rope_theta\" are two numbers, and either may be meant");
    CHECK(refused({{"rope_parameters", R"({"rope_theta": 500000.0})"}, {"rope_scaling", R"({"type": "default"})"}}) ==
          "\"rope_scaling\" and \"rope_parameters\" are both there, and either may be meant");
    CHECK(refused({{"rope_parameters", R"({"partial_rotary_factor": 0.5})"}}) ==
          "\"rope_parameters.partial_rotary_factor\" is 0.5, and such models are not known here");
}

TEST_CASE("keys of config.json are applied or refused") {
    const llama_config n = read({{"head_dim", "64"}, {"rms_norm_eps", "2e-06"}, {"tie_word_embeddings", "true"}});
    CHECK(n.depth == 64);
    CHECK(n.groups == 8);
    CHECK(n.heads == 4);
    CHECK(n.epsilon == 2e-6);
    CHECK(n.theta == 500'000);
    CHECK(n.tied);
    CHECK(read({{"head_dim", "null"}}).depth == 128);
    const llama_config others = read({{"num_key_value_heads", ""}, {"rms_norm_eps", ""}, {"rope_theta", ""}});
    CHECK(others.groups == 32);
    CHECK(others.heads == 1);
    CHECK(others.epsilon == 1e-6);
    CHECK(others.theta == 10'000);
    CHECK(read({{"partial_rotary_factor", "1.0"}, {"sliding_window", "null"}}).depth == 128);

    const keys wrong{{"attention_bias", "true"}, {"mlp_bias", "true"},          {"hidden_act", "\"gelu\""},
                     {"sliding_window", "4096"}, {"model_type", "\"mistral\""}, {"partial_rotary_factor", "0.5"}};
    for (const auto& [key, value] : wrong) {
        const std::string said = value.front() == '"' ? value.substr(1, value.size() - 2) : value;
        CHECK(refused({{key, value}}) == "\"" + key + "\" is " + said + ", and such models are not known here");
    }
    for (const char* key : {"quantization_config", "logit_scale", "attn_logit_softcapping", "num_local_experts"}) {
        CHECK(refused({{key, "2"}}) == "\"" + std::string(key) + "\" is not known here, and may change the result");
    }
    CHECK(refused({{"model_type", ""}}) == "\"model_type\" is missing");
    CHECK(refused({{"hidden_act", "\"silu\", \"hidden_act\": \"silu\""}}) ==
          "\"hidden_act\" is there twice, and either may be meant");
    CHECK(refused({{"hidden_size", "4100"}}) ==
          "\"hidden_size\" is 4100, no multiple of \"num_attention_heads\", 32, and \"head_dim\" is missing");
    CHECK(refused({{"num_key_value_heads", "5"}}) ==
          "\"num_attention_heads\" is 32, no multiple of \"num_key_value_heads\", 5");
    CHECK(refused({{"rms_norm_eps", "{}"}}) == "\"rms_norm_eps\" is empty, and must be a positive number");
}

TEST_CASE("gains keep their type, and matrices are of one") {
    const llama_weights<ep::bfloat16> floats = load<ep::bfloat16>(tensors("BF16", "F32"));
    CHECK(std::holds_alternative<ep::tensor<float, 1>>(floats.last_gain));
    CHECK(std::holds_alternative<ep::tensor<float, 1>>(floats.layers[0].attention_gain));
    CHECK(std::holds_alternative<ep::tensor<float, 1>>(floats.layers[0].network_gain));
    CHECK(std::holds_alternative<ep::tensor<float, 1>>(load<ep::float16>(tensors("F16", "F32")).last_gain));
    CHECK(std::holds_alternative<ep::tensor<ep::bfloat16, 1>>(load<float>(tensors("F32", "BF16")).last_gain));
    CHECK(std::holds_alternative<ep::tensor<ep::float16, 1>>(load<ep::float16>(tensors("F16", "F16")).last_gain));
    CHECK(refused<ep::float16>(tensors("F16", "F64")) == "'model.norm.weight' is neither F32 nor F16 nor BF16");

    entries mixed = tensors("BF16", "F32");
    mixed["lm_head.weight"].first = "F32";
    CHECK(refused<ep::bfloat16>(mixed) ==
          "'lm_head.weight' is F32, and all matrices must be of the type of the embedding, BF16");
    entries biased = tensors("BF16", "F32");
    biased["model.layers.0.self_attn.q_proj.bias"] = {"BF16", {4}};
    CHECK(refused<ep::bfloat16>(biased) ==
          "'model.layers.0.self_attn.q_proj.bias' is not known here, and may change the result");
}

TEST_CASE("scores that are tied to the embedding are those of the file") {
    const entries all = tensors("BF16", "F32");
    CHECK(refused<ep::bfloat16>(all, true) == "");
    CHECK(refused<ep::bfloat16>(all, true, {{"lm_head.weight", '\1'}}) ==
          "'lm_head.weight' is not the embedding, and config.json has \"tie_word_embeddings\"");
    CHECK(refused<ep::bfloat16>(all, false, {{"lm_head.weight", '\1'}}) == "");
}

}  // namespace llama_checkpoint_test
