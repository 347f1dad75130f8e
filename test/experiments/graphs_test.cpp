// The experiments' graphs at full size: they record, every vertex has a name, and rivals cut them as they should.

#include <graphs/attention.hpp>
#include <graphs/ccsd.hpp>
#include <graphs/classifier.hpp>
#include <graphs/inputs.hpp>
#include <graphs/llama.hpp>
#include <graphs/matrix_chain.hpp>
#include <graphs/mp2.hpp>

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/decompose.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace experiments;
namespace rivals = ep::rivals;

struct counts {
    std::size_t einsums = 0;
    std::size_t inputs = 0;
    friend bool operator==(const counts&, const counts&) = default;
};

/// Collects what the outputs are made of and checks that every vertex has a name of its own.
counts count_named(const std::vector<std::shared_ptr<ep::vertex>>& outputs) {
    counts found;
    std::set<std::string> names;
    for (const std::shared_ptr<ep::vertex>& each : ep::detail::collect(outputs).vertices) {
        ++(each->is_input() ? found.inputs : found.einsums);
        CHECK_FALSE(each->name.empty());
        CHECK_MESSAGE(names.insert(each->name).second, each->name, " stands for two vertices");
    }
    return found;
}

/// `b:16 h:64`: the cut labels of a vertex in the order of its labels.
std::string cut_of(const ep::plan& plan, const std::string& name) {
    for (const ep::planned_vertex& each : plan.vertices()) {
        if (each.name == name) {
            std::string written;
            for (const auto& [label, parts] : plan.partition(*each.origin)) {
                written += parts == 1 ? "" : (written.empty() ? "" : " ") + label + ":" + std::to_string(parts);
            }
            return written;
        }
    }
    return "no such vertex";
}

double megabytes(const ep::plan& plan) {
    return static_cast<double>(plan.bytes_sent()) * 1e-6;
}

}  // namespace

TEST_CASE("all experiments record at full size") {
    const auto chain = build_matrix_chain(skewed_chain(1280), placeholders<float>{});
    CHECK(count_named({chain.Z.node()}) == counts{4, 5});
    CHECK(chain.DE.extents() == std::vector<ep::index>{128, 1280});

    const auto step = build_classifier(amazon_cat(512), placeholders<float>{});
    CHECK(count_named({step.loss.node(), step.dW1.node(), step.dW2.node()}) == counts{15, 4});
    CHECK(step.dW1.extents() == step.W1.extents());
    CHECK(step.dW2.extents() == step.W2.extents());

    const auto small = build_llama(llama_7b(8, 4096), placeholders<float>{});
    CHECK(count_named({small.logits.node()}) == counts{32 * 23 + 4, 32 * 9 + 6});
    CHECK(small.logits.extents() == std::vector<ep::index>{8, 32'000});
    const auto large = build_llama(llama_65b(16, 1024), placeholders<float>{});
    CHECK(count_named({large.logits.node()}) == counts{80 * 23 + 4, 80 * 9 + 6});
    CHECK(large.layers[79].scores.extents() == std::vector<ep::index>{16, 64, 1024, 1024});

    const auto attention = build_attention({4096, 8192, 64, 128}, placeholders<float>{});
    CHECK(count_named({attention.Y.node()}) == counts{11, 7});
    const auto energy = build_mp2({20, 100}, placeholders<double>{});
    CHECK(count_named({energy.E.node()}) == counts{4, 3});
    const auto fitted = build_df_mp2({40, 260, 300, 1000}, placeholders<double>{});
    CHECK(count_named({fitted.E.node()}) == counts{8, 6});
    const auto ccsd = build_ccsd({20, 100}, placeholders<double>{});
    CHECK(count_named({ccsd.t1.node(), ccsd.t2.node(), ccsd.E.node()}) == counts{65, 14});
}

TEST_CASE("weights of LLaMA are as many as its name says") {
    const auto weights_of = [](const llama_sizes& n) {
        const auto made = build_llama(n, placeholders<float>{});
        double count = 0;
        for (const std::shared_ptr<ep::vertex>& each : ep::detail::collect({made.logits.node()}).vertices) {
            if (each->is_input() &&
                (each->name.find("W_") != std::string::npos || each->name.find("gain") != std::string::npos)) {
                double elements = 1;
                for (const ep::index bound : each->bounds) {
                    elements *= static_cast<double>(bound);
                }
                count += elements;
            }
        }
        return count;
    };
    // Touvron et al. 2023: 6.7 and 65.2 billion, of which the table of embedded tokens is as large as W_logits.
    CHECK(weights_of(llama_7b(1, 1)) + 32'000.0 * 4096 == doctest::Approx(6.7e9).epsilon(0.01));
    CHECK(weights_of(llama_65b(1, 1)) + 32'000.0 * 8192 == doctest::Approx(65.2e9).epsilon(0.01));
}

TEST_CASE("SQRT on the square chain, counted by hand") {
    const auto chain = build_matrix_chain(square_chain(8), placeholders<double>{});
    const ep::plan plan = ep::plan_with({.processes = 4, .objective = ep::objective::paper}, rivals::sqrt(), chain.Z);
    for (const std::string name : {"AB", "CDE", "Z"}) {
        CHECK(cut_of(plan, name) == "i:2 m:2");
    }
    CHECK(cut_of(plan, "DE") == "k:2 m:2");
    // Three products move 4 · (4·8 + 8·4) numbers, the sum 4 · 2 · 4·4, and DE goes from blocks of 4 × 4 to 8 × 4.
    CHECK(plan.cost() == 3 * 256 + 128 + 1 * 2 * (32 + 16));
    // Each product gathers both operands from pairs of ranks; DE is one of them, where it lies.
    CHECK(plan.bytes_sent() >= 3 * 2 * 64 * sizeof(double));
    CHECK(plan.cost() >= ep::decompose({.processes = 4, .objective = ep::objective::paper}, chain.Z).cost());
}

TEST_CASE("rivals on the classifier") {
    const auto step = build_classifier(amazon_cat(128), placeholders<float>{});
    const auto planned = [&](int processes, const ep::cutting_rule& rule) {
        return ep::plan_with({.processes = processes}, rule, step.loss, step.dW1, step.dW2);
    };
    const ep::plan data = planned(64, rivals::data_parallel("b"));
    for (const ep::planned_vertex& each : data.vertices()) {
        if (!each.is_input()) {
            CHECK(cut_of(data, each.name) == "b:64");
        }
    }
    // Both weights travel to all ranks, W2 twice, and both gradients are aggregated over all of them.
    const double weights = 4e-6 * (2 * 597'540.0 * 8192 + 3 * 8192.0 * 14'588);
    CHECK(megabytes(data) == doctest::Approx(63 * weights).epsilon(1e-6));

    const ep::plan model = planned(64, rivals::megatron({{"h"}, "", "b"}));
    CHECK(cut_of(model, "hidden") == "h:64");
    CHECK(cut_of(model, "scores") == "h:64");
    CHECK(cut_of(model, "exponentials") == "b:64");
    CHECK(cut_of(model, "dW1") == "h:64");
    CHECK(megabytes(model) < megabytes(data) / 60);
}

namespace {

/// A step of gradient descent: the loss and the new weights.
struct descent {
    classifier<float> step;
    ep::tensor<float, 2> W1, W2;

    explicit descent(const classifier_sizes& n) : step(build_classifier(n, placeholders<float>{})) {
        EINPARALLEL_LABELS(f, h, l);
        W1(f, h) = step.W1(f, h) - 0.1 * step.dW1(f, h);
        W2(h, l) = step.W2(h, l) - 0.1 * step.dW2(h, l);
        W1.named("new W1");
        W2.named("new W2");
    }
    [[nodiscard]] ep::plan plan(int ranks) const {
        return ep::decompose({.processes = ranks, .objective = ep::objective::bytes}, step.loss, W1, W2);
    }
    [[nodiscard]] double by_hand(int ranks, const ep::cutting_rule& rule) const {
        const ep::options asked{.processes = ranks, .objective = ep::objective::bytes};
        return double(ep::plan_with(asked, rule, step.loss, W1, W2).bytes_sent());
    }
};

/// Multiplications of a matrix product take as long as operations of the rest.
double operations(const std::vector<std::shared_ptr<ep::vertex>>& outputs) {
    double sum = 0;
    for (const std::shared_ptr<ep::vertex>& each : ep::detail::collect(outputs).vertices) {
        double points = 1;
        for (const ep::index extent : each->extents) {
            points *= double(extent);
        }
        sum += each->is_input() ? 0 : points * each->work->operations_per_point();
    }
    return sum;
}

}  // namespace

TEST_CASE("a step of the classifier never sends more than data parallel, Megatron or a mixture of both") {
    for (const ep::index batch : {128, 512}) {
        for (const ep::index features : {1000, 10'000, 100'000, 600'000}) {
            const descent of({batch, features, 8192, 14'588});
            for (int ranks = 2; ranks <= 64; ranks *= 2) {
                CAPTURE(batch);
                CAPTURE(features);
                CAPTURE(ranks);
                const auto sent = double(of.plan(ranks).bytes_sent());
                CHECK(sent <= of.by_hand(ranks, rivals::data_parallel("b")));
                CHECK(sent <= of.by_hand(ranks, rivals::megatron({{"h"}, "", "b"})));
                for (int group = 2; group < ranks; group *= 2) {
                    CHECK(sent <= of.by_hand(ranks, rivals::megatron({{"h"}, "b", "", group})));
                }
            }
        }
    }
}

TEST_CASE("data parallel comes out where samples are many: one all-reduce of the gradients") {
    const descent of({8192, 64, 32, 16});
    for (const int ranks : {2, 4, 8}) {
        const ep::plan plan = of.plan(ranks);
        for (const std::string name :
             {"hidden", "activated", "scores", "exponentials", "d scores", "d hidden", "dW1", "dW2"}) {
            CHECK(cut_of(plan, name) == "b:" + std::to_string(ranks));
        }
        // An all-reduce of n numbers by p ranks sends 2 (p − 1) n: to pieces, of which the new weights are made, and
        // these to all, once for the forward and the backward pass.
        CHECK(plan.bytes_sent() == 4 * std::size_t(ranks - 1) * (2 * (64 * 32 + 32 * 16) + 1));
        CHECK(double(plan.bytes_sent()) == of.by_hand(ranks, rivals::data_parallel("b")));
    }
}

TEST_CASE("Megatron's pair of products comes out: one all-reduce forwards, one backwards") {
    EINPARALLEL_LABELS(b, i, h, o);
    const ep::tensor<float, 2> X = ep::placeholder<float>({256, 1024}), T = ep::placeholder<float>({256, 1024}),
                               A = ep::placeholder<float>({1024, 4096}), B = ep::placeholder<float>({4096, 1024});
    ep::tensor<float, 2> H, Y, new_A, new_B;
    ep::tensor<float, 0> loss;
    H(b, h) = relu(ep::sum(i, X(b, i) * A(i, h)));
    H.named("H");
    Y(b, o) = X(b, o) + H(b, h) * B(h, o);
    loss() = ep::sum((Y(b, o) - T(b, o)) * (Y(b, o) - T(b, o)));
    const auto [dA, dB, dX] = ep::gradient(loss, A, B, X);
    new_A(i, h) = A(i, h) - 0.1 * dA(i, h);
    new_B(h, o) = B(h, o) - 0.1 * dB(h, o);
    new_A.named("new A");
    new_B.named("new B");
    for (const int ranks : {2, 4, 8}) {
        const ep::options asked{.processes = ranks, .objective = ep::objective::bytes};
        const ep::plan plan = ep::decompose(asked, loss, new_A, new_B, dX);
        const std::string columns = "h:" + std::to_string(ranks);
        for (const std::string name : {"H", "d H", "new A", "new B"}) {
            CHECK(cut_of(plan, name) == columns);
        }
        // Forwards Y is reduced to pieces, backwards dX is; X and dY are gathered, once for all products that read
        // them.
        CHECK(plan.bytes_sent() == 4 * std::size_t(ranks - 1) * (4 * 256 * 1024 + 1));
        CHECK(plan.bytes_sent() ==
              ep::plan_with(asked, rivals::megatron({{"h"}, "", "b"}), loss, new_A, new_B, dX).bytes_sent());
    }
}

TEST_CASE("sequence parallelism comes out: a scale that all tokens share has its gradient reduced") {
    EINPARALLEL_LABELS(s, b, h);
    const ep::tensor<float, 3> X = ep::placeholder<float>({2048, 4, 64});
    const ep::tensor<float, 1> scale = ep::placeholder<float>({64});
    ep::tensor<float, 3> Y;
    ep::tensor<float, 2> square;
    ep::tensor<float, 1> new_scale;
    square(s, b) = X(s, b, h) * X(s, b, h) / 64.0F;
    Y(s, b, h) = scale(h) * X(s, b, h) / sqrt(square(s, b) + 1e-5F);
    Y.named("Y");
    ep::tensor<float, 0> loss;
    loss() = ep::sum(tanh(Y(s, b, h)));
    const ep::tensor<float, 1> gradient = ep::gradient(loss, scale);
    new_scale(h) = scale(h) - 0.1 * gradient(h);
    for (const int ranks : {2, 4, 8}) {
        const ep::plan plan = ep::decompose({.processes = ranks, .objective = ep::objective::bytes}, loss, new_scale);
        CHECK(cut_of(plan, "Y") == "s:" + std::to_string(ranks));
        // The scale goes to all, its gradient from all, and so does the loss.
        CHECK(plan.bytes_sent() == 4 * std::size_t(ranks - 1) * (2 * 64 + 1));
    }
}

TEST_CASE("operations of the forward and the backward pass") {
    const auto step = build_classifier(amazon_cat(128), placeholders<float>{});
    const double forward = operations({step.loss.node()});
    CHECK(operations({step.loss.node(), step.dW1.node(), step.dW2.node()}) < 3.05 * forward);

    // A chain of products, by all of its factors.
    EINPARALLEL_LABELS(i, j, k);
    std::vector<ep::tensor<double, 2>> factors(6);
    for (ep::tensor<double, 2>& each : factors) {
        each = ep::placeholder<double>({500, 500});
    }
    ep::tensor<double, 2> product = factors.front();
    for (std::size_t number = 1; number < factors.size(); ++number) {
        product(i, k) = product(i, j) * factors[number](j, k);
    }
    ep::tensor<double, 0> loss;
    loss() = product(i, j) * product(i, j);
    std::vector<std::shared_ptr<ep::vertex>> outputs{loss.node()};
    for (const ep::tensor<double, 2>& each : ep::gradient(loss, factors)) {
        outputs.push_back(each.node());
    }
    CHECK(operations(outputs) < 3.05 * operations({loss.node()}));
}

namespace {

/// Weights that last, and a prompt for each run.
struct lasting_weights {
    using value_type = float;

    template <std::size_t Rank>
    ep::tensor<float, Rank> operator()(const std::string& name, const ep::extent (&extents)[Rank]) const {
        return (name == "prompt" ? ep::placeholder<float>(extents)
                                 : ep::generate<float>(extents, [](auto...) { return 0.0F; }))
            .named(name);
    }
};

}  // namespace

TEST_CASE("data parallel LLaMA sends every weight in the first run, and nothing in later ones") {
    llama_sizes n = llama_7b(16, 256);
    n.layers = 1;
    const auto graph = build_llama(n, lasting_weights{});
    const auto planned = [&](std::size_t runs) {
        return ep::plan_with({.processes = 8, .runs = runs}, rivals::data_parallel("b"), graph.logits);
    };
    const ep::plan once = planned(1);
    const ep::plan often = planned(100);
    const double weights = 4e-6 * (4 * 4096.0 * 4096 + 3 * 4096.0 * 11'008 + 4096.0 * 32'000);
    CHECK(megabytes(once) == doctest::Approx(7 * weights).epsilon(0.01));
    CHECK(once.bytes_sent_again() == once.bytes_sent());
    CHECK(often.bytes_sent() < once.bytes_sent());  // both readers of the rotation hold one and the same block
    CHECK(often.bytes_sent_again() == 0);
    CHECK(often.bytes_sent_again(3) == 0);
    CHECK(static_cast<double>(often.peak_bytes(0)) > 1e6 * weights);  // a replica on every rank
    CHECK(often.objective_cost() < 100 * once.objective_cost());
    // Where a replica has no room, weights go round as they do for one run.
    const ep::plan small = ep::decompose(
        {.processes = 8, .memory_limit = often.peak_bytes(0) / 4, .runs = 100, .effort = 40'000}, graph.logits);
    CHECK(small.peak_bytes(0) <= often.peak_bytes(0) / 4);
}

TEST_CASE("rivals on LLaMA-65B, 16 prompts") {
    llama_sizes n = llama_65b(16, 1024);
    n.layers = 2;
    const auto graph = build_llama(n, placeholders<float>{});
    const auto planned = [&](int processes, const ep::cutting_rule& rule) {
        return ep::plan_with({.processes = processes}, rule, graph.logits);
    };
    SUBCASE("Megatron in groups of 64") {
        const ep::plan plan = planned(1024, rivals::megatron({{"h", "f", "v"}, "b", "s", 64}));
        for (const std::string name :
             {"query", "rotated_key", "scores", "largest", "probabilities", "attended", "projected"}) {
            CHECK(cut_of(plan, "layer1." + name) == "b:16 h:64");
        }
        for (const std::string name : {"gate", "up", "gated", "down"}) {
            CHECK(cut_of(plan, "layer1." + name) == "b:16 f:64");
        }
        for (const std::string name : {"attention_squares", "attention_input", "attention_output", "output"}) {
            CHECK(cut_of(plan, "layer1." + name) == "b:16 s:64");
        }
        CHECK(cut_of(plan, "logits") == "b:16 v:64");
        CHECK(cut_of(plan, "normalised") == "b:16 a:64");
    }
    SUBCASE("Megatron in one group of eight moves the activations, and hardly a weight") {
        const ep::plan plan = planned(8, rivals::megatron({{"h", "f", "v"}, "b", "s"}));
        CHECK(cut_of(plan, "layer0.query") == "h:8");
        CHECK(cut_of(plan, "layer0.down") == "f:8");
        // Per layer: the normalised tokens are gathered for five products, two outputs are aggregated.
        const double activations = 16.0 * 1024 * 8192 * 4e-6;
        CHECK(megabytes(plan) > 2 * 7 * 7 * activations);
        CHECK(megabytes(plan) < 2 * 7 * 7.1 * activations);
    }
    SUBCASE("sequence") {
        const ep::plan plan = planned(64, rivals::sequence("s"));
        for (const std::string name : {"query", "scores", "probabilities", "attended", "gate", "output"}) {
            CHECK(cut_of(plan, "layer0." + name) == "s:64");
        }
        CHECK(cut_of(plan, "last") == "s:64");
        CHECK(cut_of(plan, "logits") == "b:16 a:4");  // no token left: as its operands, and no rank idle
    }
    SUBCASE("attention heads") {
        const ep::plan plan = planned(64, rivals::attention_heads("h", "b", "s"));
        for (const std::string name : {"query", "scores", "probabilities", "projected"}) {
            CHECK(cut_of(plan, "layer0." + name) == "h:64");
        }
        for (const std::string name : {"attention_input", "gate", "down", "output"}) {
            CHECK(cut_of(plan, "layer0." + name) == "s:64");
        }
    }
    SUBCASE("data parallel") {
        const ep::plan plan = planned(16, rivals::data_parallel("b"));
        for (const ep::planned_vertex& each : plan.vertices()) {
            if (!each.is_input()) {
                CHECK(cut_of(plan, each.name) == "b:16");
            }
        }
    }
}
