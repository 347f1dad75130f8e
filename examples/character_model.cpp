// A small transformer that learns the characters of this library's own pages: two layers, four heads, its backward pass
// by ep::gradient, Adam as einsums. One plan serves all steps; text is sampled at the end.
//
//     mpiexec -n 2 character_model [STEPS [CHARACTERS]]
//
// After 3000 steps, half a minute, what it writes looks like these pages.

#include "example.hpp"

#include <einparallel.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace ep = einparallel;

namespace {

constexpr ep::index batch = 8, context = 48, width = 48, heads = 4, inner = 4 * width;
constexpr int layers = 2;

using weights = std::vector<ep::tensor<float, 2>>;

EINPARALLEL_LABELS(b, s, t, d, h, k, f, v);

/// x over the root of its mean square.
ep::tensor<float, 3> normalized(const ep::tensor<float, 3>& x) {
    ep::tensor<float, 2> square;
    square(b, t) = x(b, t, d) * x(b, t, d) / float(width);
    ep::tensor<float, 3> made;
    made(b, t, d) = x(b, t, d) / sqrt(square(b, t) + 1e-5F);
    return made;
}

/// Logits of the next character, by place in the text. Weights: of characters, places, then six of each layer, then of
/// the logits.
ep::tensor<float, 3> logits_of(const ep::tensor<int, 2>& text, const weights& all) {
    ep::tensor<float, 3> x;
    x(b, t, d) = all[0](text(b, t), d) + all[1](t, d);
    for (std::size_t layer = 0; layer < layers; ++layer) {
        const auto weight = [&](std::size_t which) { return all[2 + 6 * layer + which]; };
        const auto by_head = [&](std::size_t which) {
            return ep::reshape(weight(which), {width, heads, width / heads});
        };
        ep::tensor<float, 3> n = normalized(x);
        ep::tensor<float, 4> query, key, value, share, seen;
        query(b, t, h, k) = n(b, t, d) * by_head(0)(d, h, k);
        key(b, t, h, k) = n(b, t, d) * by_head(1)(d, h, k);
        value(b, t, h, k) = n(b, t, d) * by_head(2)(d, h, k);
        const float scale = 1 / std::sqrt(float(width / heads));
        share(b, h, s, t) = ep::softmax(
            t, ep::where(ep::iota(t) <= ep::iota(s), scale * ep::sum(k, query(b, s, h, k) * key(b, t, h, k)), -1e9F));
        seen(b, s, h, k) = share(b, h, s, t) * value(b, t, h, k);
        x(b, t, d) = x(b, t, d) + seen(b, t, h, k) * ep::reshape(weight(3), {heads, width / heads, width})(h, k, d);
        n = normalized(x);
        ep::tensor<float, 3> up;
        up(b, t, f) = gelu(ep::sum(d, n(b, t, d) * weight(4)(d, f)));
        x(b, t, d) = x(b, t, d) + up(b, t, f) * weight(5)(f, d);
    }
    ep::tensor<float, 3> logits;
    logits(b, t, v) = normalized(x)(b, t, d) * all.back()(d, v);
    return logits;
}

/// This library's pages, one behind the other.
std::string pages() {
    std::vector<std::filesystem::path> files;
    for (const auto& each : std::filesystem::directory_iterator(std::string(EINPARALLEL_EXAMPLE_DATA) + "/../pages")) {
        files.push_back(each.path());
    }
    std::sort(files.begin(), files.end());
    std::string text;
    for (const std::filesystem::path& each : files) {
        std::ifstream from(each);
        text.append(std::istreambuf_iterator<char>(from), {});
    }
    return text;
}

/// Text from `begin` on, as numbers of characters.
ep::array<int, 2> rows_of(const std::string& text, const std::string& alphabet, const std::vector<std::size_t>& begin) {
    ep::array<int, 2> made({begin.size(), context});
    for (std::size_t row = 0; row < begin.size(); ++row) {
        for (ep::index at = 0; at < context; ++at) {
            made(row, at) = int(alphabet.find(text[begin[row] + std::size_t(at)]));
        }
    }
    return made;
}

/// The likeliest text behind `start`, but for some chance.
std::string sample(ep::context& world, const std::vector<ep::binding>& bound, const weights& all,
                   const std::string& alphabet, const std::string& start, ep::index characters) {
    const auto text = ep::placeholder<int>({1, context});
    ep::tensor<float, 3> logits = logits_of(text, all);
    const ep::plan plan = ep::decompose(world, logits);
    std::string made = start;
    for (ep::index count = 0; count < characters; ++count) {
        const ep::array<int, 2> row = rows_of(made, alphabet, {made.size() - context});
        std::vector<ep::binding> with = bound;
        with.push_back(ep::bind(text, row));
        const ep::array<float, 3> found = ep::distributed<float, 3>(plan.run(world, with)).allgather();
        double sum = 0;
        std::vector<double> shares;
        for (ep::index each = 0; each < found.extent(2); ++each) {
            shares.push_back(sum += std::exp(1.4 * double(found(0, context - 1, each))));
        }
        const double chosen = sum * (example::numbers{9}(count) + 1) / 2;
        const auto next = std::lower_bound(shares.begin(), shares.end(), chosen) - shares.begin();
        made += alphabet[std::min(std::size_t(next), alphabet.size() - 1)];
    }
    return made.substr(start.size());
}

/// True where the loss falls.
bool character_model(ep::context& world, ep::index steps, ep::index characters) {
    const std::string text = pages();
    std::string alphabet = text;
    std::sort(alphabet.begin(), alphabet.end());
    alphabet.erase(std::unique(alphabet.begin(), alphabet.end()), alphabet.end());
    const auto letters = ep::index(alphabet.size());

    std::vector<std::array<ep::index, 2>> shapes{{letters, width}, {context, width}};
    for (int layer = 0; layer < layers; ++layer) {
        shapes.insert(shapes.end(), 4, {width, width});
        shapes.insert(shapes.end(), {{width, inner}, {inner, width}});
    }
    shapes.push_back({width, letters});

    const auto here = ep::placeholder<int>({batch, context}).named("text");
    const auto next = ep::placeholder<int>({batch, context}).named("next");
    const auto first_bias = ep::placeholder<float>({});
    const auto second_bias = ep::placeholder<float>({});
    weights W, first, second;  // Adam's means of gradients, and of their squares
    for (const auto& [rows, columns] : shapes) {
        W.push_back(ep::placeholder<float>({rows, columns}).named("W" + std::to_string(W.size())));
        first.push_back(ep::placeholder<float>({rows, columns}));
        second.push_back(ep::placeholder<float>({rows, columns}));
    }

    const ep::tensor<float, 3> logits = logits_of(here, W);
    ep::tensor<float, 2> largest, entropy;
    largest(b, t) = ep::max(logits(b, t, v));
    entropy(b, t) = log(ep::sum(v, exp(logits(b, t, v) - largest(b, t)))) + largest(b, t) - logits(b, t, next(b, t));
    ep::tensor<float, 0> loss;
    loss() = entropy(b, t) / float(batch * context);

    const weights gradients = ep::gradient(loss, W);
    weights new_W(W.size()), new_first(W.size()), new_second(W.size());
    for (std::size_t each = 0; each < W.size(); ++each) {
        new_first[each](d, f) = 0.9F * first[each](d, f) + 0.1F * gradients[each](d, f);
        new_second[each](d, f) = 0.99F * second[each](d, f) + 0.01F * gradients[each](d, f) * gradients[each](d, f);
        new_W[each](d, f) = W[each](d, f) - 0.003F * first_bias() * new_first[each](d, f) /
                                                (sqrt(second_bias() * new_second[each](d, f)) + 1e-8F);
    }
    const ep::plan plan = ep::decompose(world, loss, new_W, new_first, new_second);

    // The first weights, and no means.
    std::vector<ep::binding> state;
    for (std::size_t each = 0; each < W.size(); ++each) {
        ep::array<float, 2> start(shapes[each]);
        const float scale = each < 2 ? 0.3F : 1.7F / std::sqrt(float(shapes[each][0]));
        for (ep::index at = 0; at < start.size(); ++at) {
            start.data()[at] = scale * float(example::numbers{each + 20}(at));
        }
        state.push_back(ep::bind(W[each], std::move(start)));
        state.push_back(ep::bind(first[each], ep::array<float, 2>(shapes[each])));
        state.push_back(ep::bind(second[each], ep::array<float, 2>(shapes[each])));
    }

    float earliest = 0;
    float latest = 0;
    for (ep::index step = 0; step < steps; ++step) {
        std::vector<std::size_t> begin;
        for (ep::index row = 0; row < batch; ++row) {
            begin.push_back(std::size_t((example::numbers{7}(step, row) + 1) / 2 * double(text.size() - context - 1)));
        }
        const ep::array<int, 2> x = rows_of(text, alphabet, begin);
        std::for_each(begin.begin(), begin.end(), [](std::size_t& each) { ++each; });
        const ep::array<int, 2> y = rows_of(text, alphabet, begin);
        ep::array<float, 0> bias, square_bias;
        bias.value() = 1 / (1 - std::pow(0.9F, float(step + 1)));
        square_bias.value() = 1 / (1 - std::pow(0.99F, float(step + 1)));

        std::vector<ep::binding> bound = state;
        bound.insert(bound.end(), {ep::bind(here, x), ep::bind(next, y), ep::bind(first_bias, bias),
                                   ep::bind(second_bias, square_bias)});
        const ep::results made = plan.run(world, bound);
        for (std::size_t each = 0; each < W.size(); ++each) {
            state[3 * each] = ep::bind(W[each], made.get(new_W[each]));
            state[3 * each + 1] = ep::bind(first[each], made.get(new_first[each]));
            state[3 * each + 2] = ep::bind(second[each], made.get(new_second[each]));
        }
        latest = made.get(loss).allgather().value();
        earliest = step == 0 ? latest : earliest;
        if (world.rank() == 0 && (step % std::max<ep::index>(steps / 8, 1) == 0 || step + 1 == steps)) {
            std::cout << "step " << step << ": " << latest << " nats a character" << std::endl;
        }
    }
    std::vector<ep::binding> trained;
    for (std::size_t each = 0; each < W.size(); ++each) {
        trained.push_back(state[3 * each]);
    }
    const std::string written = sample(world, trained, W, alphabet, text.substr(0, context), characters);
    if (world.rank() == 0) {
        std::cout << "----\n" << written << "\n----" << std::endl;
    }
    return latest < 0.8F * earliest;
}

}  // namespace

int main(int argc, char** argv) {
    return example::run(argc, argv, [&](ep::context& world) {
        return character_model(world, example::argument(argc, argv, 1, 40), example::argument(argc, argv, 2, 20));
    });
}
