// A small transformer that learns the characters of this library's own pages: two layers, four heads, its backward pass
// by ep::gradient, Adam as einsums (bench/graphs/character_model.hpp). One plan serves all steps; text is sampled at
// the end.
//
//     mpiexec -n 2 character_model [STEPS [CHARACTERS]]
//
// After 3000 steps, half a minute, what it writes looks like these pages.

#include "example.hpp"

#include <einparallel.hpp>
#include <graphs/character_model.hpp>

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

constexpr ep::index batch = 8, context = 48;

using model = experiments::character_model<float>;

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
std::string sample(ep::context& world, const std::vector<ep::binding>& bound, const model& of,
                   const experiments::character_sizes& sizes, const std::string& alphabet, const std::string& start,
                   ep::index characters) {
    const auto text = ep::placeholder<int>({1, context});
    ep::tensor<float, 3> logits = experiments::logits_of(sizes, text, of.weights);
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
    const experiments::character_sizes sizes{batch, context, 48, 4, 2, ep::index(alphabet.size())};
    const model of = experiments::build_character_model<float>(sizes, 0.003);
    const ep::plan plan = ep::decompose(world, of.loss, of.new_weights, of.new_means, of.new_squares);

    // The first weights, and no means.
    std::vector<ep::binding> state;
    for (std::size_t each = 0; each < of.weights.size(); ++each) {
        ep::array<float, 2> start(experiments::weights_of(sizes)[each]);
        const float scale = each < 2 ? 0.3F : 1.7F / std::sqrt(float(start.extent(0)));
        for (ep::index at = 0; at < start.size(); ++at) {
            start.data()[at] = scale * float(example::numbers{each + 20}(at));
        }
        const ep::array<float, 2> nothing(start.extents());
        state.push_back(ep::bind(of.weights[each], std::move(start)));
        state.push_back(ep::bind(of.means[each], ep::array<float, 2>(nothing)));
        state.push_back(ep::bind(of.squares[each], ep::array<float, 2>(nothing)));
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
        bound.insert(bound.end(), {ep::bind(of.text, x), ep::bind(of.next, y), ep::bind(of.bias, bias),
                                   ep::bind(of.square_bias, square_bias)});
        const ep::results made = plan.run(world, bound);
        for (std::size_t each = 0; each < of.weights.size(); ++each) {
            state[3 * each] = ep::bind(of.weights[each], made.get(of.new_weights[each]));
            state[3 * each + 1] = ep::bind(of.means[each], made.get(of.new_means[each]));
            state[3 * each + 2] = ep::bind(of.squares[each], made.get(of.new_squares[each]));
        }
        latest = made.get(of.loss).allgather().value();
        earliest = step == 0 ? latest : earliest;
        if (world.rank() == 0 && (step % std::max<ep::index>(steps / 8, 1) == 0 || step + 1 == steps)) {
            std::cout << "step " << step << ": " << latest << " nats a character" << std::endl;
        }
    }
    std::vector<ep::binding> trained;
    for (std::size_t each = 0; each < of.weights.size(); ++each) {
        trained.push_back(state[3 * each]);
    }
    const std::string written = sample(world, trained, of, sizes, alphabet, text.substr(0, context), characters);
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
