// Multi-head attention as the EinDecomp paper writes it in EinSum (§3), softmax included, checked against loops.
//
//     mpiexec -n 4 attention [SEQUENCE [ATTRIBUTES [HEADS [DEPTH]]]]        64 96 6 16 where nothing is said
//
// With --device the ranks compute on GPUs, where there are any.

#include "example.hpp"

#include <einparallel.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <vector>

namespace ep = einparallel;

namespace {

struct sizes {
    ep::index sequence;
    ep::index attributes;
    ep::index heads;
    ep::index depth;  ///< of query, key and value in one head: the paper's d_k
};

/// The inputs: what each of query, key and value holds, and the weights that project them and the output.
constexpr example::numbers query{1}, key{2}, value{3}, query_weights{4}, key_weights{5}, value_weights{6},
    output_weights{7};

/// The same, one scalar at a time and without the library: Y as rows of `attributes` numbers.
std::vector<double> reference(const sizes& n) {
    const auto projected = [&](const example::numbers& input, const example::numbers& weights) {
        std::vector<double> made;  // [sequence][heads][depth]
        for (ep::index s = 0; s < n.sequence; ++s) {
            for (ep::index h = 0; h < n.heads; ++h) {
                for (ep::index d = 0; d < n.depth; ++d) {
                    double sum = 0;
                    for (ep::index a = 0; a < n.attributes; ++a) {
                        sum += input(s, a) * weights(a, h, d);
                    }
                    made.push_back(sum);
                }
            }
        }
        return made;
    };
    const auto at = [&](ep::index s, ep::index h, ep::index d) {
        return static_cast<std::size_t>((s * n.heads + h) * n.depth + d);
    };
    const std::vector<double> queries = projected(query, query_weights);
    const std::vector<double> keys = projected(key, key_weights);
    const std::vector<double> values = projected(value, value_weights);

    std::vector<double> attended(queries.size(), 0.0);  // [sequence][heads][depth]
    std::vector<double> score(static_cast<std::size_t>(n.sequence));
    for (ep::index s = 0; s < n.sequence; ++s) {
        for (ep::index h = 0; h < n.heads; ++h) {
            for (ep::index t = 0; t < n.sequence; ++t) {
                double sum = 0;
                for (ep::index d = 0; d < n.depth; ++d) {
                    sum += queries[at(s, h, d)] * keys[at(t, h, d)];
                }
                score[static_cast<std::size_t>(t)] = sum / std::sqrt(static_cast<double>(n.depth));
            }
            const double largest = *std::max_element(score.begin(), score.end());
            double total = 0;
            for (double& each : score) {
                each = std::exp(each - largest);
                total += each;
            }
            for (ep::index t = 0; t < n.sequence; ++t) {
                for (ep::index d = 0; d < n.depth; ++d) {
                    attended[at(s, h, d)] += score[static_cast<std::size_t>(t)] / total * values[at(t, h, d)];
                }
            }
        }
    }

    std::vector<double> result;
    for (ep::index s = 0; s < n.sequence; ++s) {
        for (ep::index a = 0; a < n.attributes; ++a) {
            double sum = 0;
            for (ep::index h = 0; h < n.heads; ++h) {
                for (ep::index d = 0; d < n.depth; ++d) {
                    sum += attended[at(s, h, d)] * output_weights(a, h, d);
                }
            }
            result.push_back(sum);
        }
    }
    return result;
}

/// True where the result is the reference's and the plan foretold every byte.
bool attention(ep::context& world, const sizes& n) {
    const auto Q = ep::generate<double>({n.sequence, n.attributes}, query).named("Q");
    const auto K = ep::generate<double>({n.sequence, n.attributes}, key).named("K");
    const auto V = ep::generate<double>({n.sequence, n.attributes}, value).named("V");
    const auto W_Q = ep::generate<double>({n.attributes, n.heads, n.depth}, query_weights).named("W_Q");
    const auto W_K = ep::generate<double>({n.attributes, n.heads, n.depth}, key_weights).named("W_K");
    const auto W_V = ep::generate<double>({n.attributes, n.heads, n.depth}, value_weights).named("W_V");
    const auto W_O = ep::generate<double>({n.attributes, n.heads, n.depth}, output_weights).named("W_O");

    // The paper's labels: sequence s (t where it writes s'), attribute a, head h, depth d.
    EINPARALLEL_LABELS(s, t, a, h, d);
    ep::tensor<double, 3> Q_H, K_H, V_H, T1, T2, T3, O;
    ep::tensor<double, 2> Y;
    Q_H(s, h, d) = Q(s, a) * W_Q(a, h, d);
    K_H(s, h, d) = K(s, a) * W_K(a, h, d);
    V_H(s, h, d) = V(s, a) * W_V(a, h, d);
    T1(h, s, t) = Q_H(s, h, d) * K_H(t, h, d);
    T2(h, s, t) = 1.0 / std::sqrt(static_cast<double>(n.depth)) * T1(h, s, t);
    T3(h, s, t) = ep::softmax(t, T2(h, s, t));
    O(s, h, d) = T3(h, s, t) * V_H(t, h, d);
    Y(s, a) = O(s, h, d) * W_O(a, h, d);

    // Names for the table.
    Q_H.named("Q_H");
    K_H.named("K_H");
    V_H.named("V_H");
    T1.named("T1");
    T2.named("T2");
    T3.named("T3");
    O.named("O");
    Y.named("Y");

    // The fewest bytes among plans that occupy every rank. The default objective, time, may leave something as small as
    // this to fewer ranks.
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes}, Y);
    if (world.rank() == 0) {
        std::cout << plan << '\n';
    }

    const ep::results run = example::run_plan(world, plan);
    const ep::array<double, 2> result = run.get(Y).gather(0);
    const bool as_predicted = example::moved_as_predicted(world, plan, run);
    const std::vector<double> expected = world.rank() == 0 ? reference(n) : std::vector<double>{};
    return example::agrees(world, {result.data(), static_cast<std::size_t>(result.size())}, expected) && as_predicted;
}

}  // namespace

int main(int argc, char** argv) {
    return example::run(argc, argv, [&](ep::context& world) {
        return attention(world, {.sequence = example::argument(argc, argv, 1, 64),
                                 .attributes = example::argument(argc, argv, 2, 96),
                                 .heads = example::argument(argc, argv, 3, 6),
                                 .depth = example::argument(argc, argv, 4, 16)});
    });
}
