#pragma once
// What the experiments' graphs compute, one scalar at a time and without the library.

#include "inputs.hpp"

#include <graphs/classifier.hpp>
#include <graphs/llama.hpp>
#include <graphs/matrix_chain.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace experiments {

using row_major = std::vector<double>;

inline row_major reference_chain(const matrix_chain_sizes& n) {
    const numbers A("A"), B("B"), C("C"), D("D"), E("E");
    row_major Z;
    for (ep::index i = 0; i < n.i; ++i) {
        for (ep::index m = 0; m < n.m; ++m) {
            double sum = 0;
            for (ep::index j = 0; j < n.j; ++j) {
                sum += A(i, j) * B(j, m);
            }
            for (ep::index k = 0; k < n.k; ++k) {
                for (ep::index l = 0; l < n.l; ++l) {
                    sum += C(i, k) * D(k, l) * E(l, m);
                }
            }
            Z.push_back(sum);
        }
    }
    return Z;
}

/// The loss as a function of the weights, row-major.
inline double classifier_loss(const classifier_sizes& n, const row_major& W1, const row_major& W2) {
    const numbers X("X");
    double loss = 0;
    for (ep::index b = 0; b < n.batch; ++b) {
        row_major activated;
        for (ep::index h = 0; h < n.hidden; ++h) {
            double sum = 0;
            for (ep::index f = 0; f < n.features; ++f) {
                sum += X(b, f) * W1[static_cast<std::size_t>(f * n.hidden + h)];
            }
            activated.push_back(std::max(sum, 0.0));
        }
        row_major scores;
        double total = 0;
        for (ep::index l = 0; l < n.classes; ++l) {
            double sum = 0;
            for (ep::index h = 0; h < n.hidden; ++h) {
                sum += activated[static_cast<std::size_t>(h)] * W2[static_cast<std::size_t>(h * n.classes + l)];
            }
            scores.push_back(sum);
            total += std::exp(sum);
        }
        loss -= std::log(std::exp(scores[static_cast<std::size_t>(class_of(b, n.classes))]) / total);
    }
    return loss / static_cast<double>(n.batch);
}

struct classifier_reference {
    double loss;
    row_major dW1, dW2;
};

/// The gradients are central differences of the loss: right to some 1e-9 for weights of order one, and ignorant of how
/// the graph goes backwards.
inline classifier_reference reference_classifier(const classifier_sizes& n) {
    row_major W1, W2;
    for (ep::index f = 0; f < n.features; ++f) {
        for (ep::index h = 0; h < n.hidden; ++h) {
            W1.push_back(numbers("W1")(f, h));
        }
    }
    for (ep::index h = 0; h < n.hidden; ++h) {
        for (ep::index l = 0; l < n.classes; ++l) {
            W2.push_back(numbers("W2")(h, l));
        }
    }
    const auto gradient = [&](row_major& weights) {
        constexpr double step = 1e-5;
        row_major slope;
        for (double& weight : weights) {
            const double here = weight;
            weight = here + step;
            const double above = classifier_loss(n, W1, W2);
            weight = here - step;
            slope.push_back((above - classifier_loss(n, W1, W2)) / (2 * step));
            weight = here;
        }
        return slope;
    };
    const row_major dW1 = gradient(W1);
    return {classifier_loss(n, W1, W2), dW1, gradient(W2)};
}

/// One token's numbers divided by their root mean square, times the gain.
inline row_major rms_norm(const row_major& token, const numbers& gain) {
    double squares = 0;
    for (const double each : token) {
        squares += each * each;
    }
    row_major made;
    for (std::size_t a = 0; a < token.size(); ++a) {
        made.push_back(token[a] * gain(a) / std::sqrt(squares / static_cast<double>(token.size()) + 1e-5));
    }
    return made;
}

/// Σ_a token(a) · weight(a, at…).
template <class... Indices>
double projected(const row_major& token, const numbers& weight, Indices... at) {
    double sum = 0;
    for (std::size_t a = 0; a < token.size(); ++a) {
        sum += token[a] * weight(a, at...);
    }
    return sum;
}

/// Attention of one head over the normalised tokens of one prompt: by token, `depth` numbers. Queries and keys are
/// turned as complex numbers.
inline std::vector<row_major> attention_head(const llama_sizes& n, const std::string& prefix,
                                             const std::vector<row_major>& tokens, ep::index head) {
    const auto turned = [&](const numbers& weight, std::size_t token) {
        row_major made;
        for (ep::index r = 0; r < n.depth / 2; ++r) {
            const double real = projected(tokens[token], weight, head, r, 0);
            const double imaginary = projected(tokens[token], weight, head, r, 1);
            const double angle = static_cast<double>(token) *
                                 std::pow(10'000.0, -2.0 * static_cast<double>(r) / static_cast<double>(n.depth));
            made.push_back(real * std::cos(angle) - imaginary * std::sin(angle));
            made.push_back(real * std::sin(angle) + imaginary * std::cos(angle));
        }
        return made;
    };
    std::vector<row_major> made;
    for (std::size_t s = 0; s < tokens.size(); ++s) {
        const row_major query = turned(numbers(prefix + "W_Q"), s);
        row_major shares;
        double total = 0;
        for (std::size_t t = 0; t <= s; ++t) {
            const row_major key = turned(numbers(prefix + "W_K"), t);
            double score = 0;
            for (std::size_t d = 0; d < key.size(); ++d) {
                score += query[d] * key[d];
            }
            shares.push_back(std::exp(score / std::sqrt(static_cast<double>(n.depth))));
            total += shares.back();
        }
        row_major attended(static_cast<std::size_t>(n.depth), 0.0);
        for (std::size_t t = 0; t <= s; ++t) {
            for (ep::index d = 0; d < n.depth; ++d) {
                attended[static_cast<std::size_t>(d)] +=
                    shares[t] / total * projected(tokens[t], numbers(prefix + "W_V"), head, d);
            }
        }
        made.push_back(attended);
    }
    return made;
}

/// One layer on the tokens of one prompt.
inline void llama_layer_in_place(const llama_sizes& n, const std::string& prefix, std::vector<row_major>& tokens) {
    std::vector<row_major> normalised;
    for (const row_major& token : tokens) {
        normalised.push_back(rms_norm(token, numbers(prefix + "attention_gain")));
    }
    const numbers W_O(prefix + "W_O");
    for (ep::index head = 0; head < n.heads; ++head) {
        const std::vector<row_major> attended = attention_head(n, prefix, normalised, head);
        for (std::size_t s = 0; s < tokens.size(); ++s) {
            for (std::size_t a = 0; a < tokens[s].size(); ++a) {
                for (std::size_t d = 0; d < attended[s].size(); ++d) {
                    tokens[s][a] += attended[s][d] * W_O(head, d, a);
                }
            }
        }
    }
    for (row_major& token : tokens) {
        const row_major input = rms_norm(token, numbers(prefix + "network_gain"));
        for (ep::index f = 0; f < n.neurons; ++f) {
            const double gate = projected(input, numbers(prefix + "W_gate"), f);
            const double up = projected(input, numbers(prefix + "W_up"), f);
            for (std::size_t a = 0; a < token.size(); ++a) {
                token[a] += gate / (1 + std::exp(-gate)) * up * numbers(prefix + "W_down")(f, a);
            }
        }
    }
}

/// [b, v].
inline row_major reference_llama(const llama_sizes& n) {
    row_major logits;
    for (ep::index b = 0; b < n.batch; ++b) {
        std::vector<row_major> tokens(static_cast<std::size_t>(n.sequence));
        for (std::size_t s = 0; s < tokens.size(); ++s) {
            for (ep::index a = 0; a < n.attributes; ++a) {
                tokens[s].push_back(numbers("prompt")(b, s, a));
            }
        }
        for (int layer = 0; layer < n.layers; ++layer) {
            llama_layer_in_place(n, "layer" + std::to_string(layer) + ".", tokens);
        }
        const row_major last =
            rms_norm(tokens[static_cast<std::size_t>(last_token(b, n.sequence))], numbers("final_gain"));
        for (ep::index v = 0; v < n.vocabulary; ++v) {
            logits.push_back(projected(last, numbers("W_logits"), v));
        }
    }
    return logits;
}

}  // namespace experiments
