// Steps of training, beside PyTorch's (training.py): losses, and seconds of a step.
//
//     ours classifier SAMPLESxKEPTxFEATURESxWIDTHxCLASSES | characters BATCHxCONTEXTxWIDTHxHEADSxLAYERSxALPHABET
//          float|double STEPS [FOLDER]
//
// FOLDER receives the first weights and all samples as .npy. Prints a line of JSON.

#include <einparallel.hpp>
#include <graphs/character_model.hpp>
#include <graphs/sparse_classifier.hpp>

#include "../text.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace ep = einparallel;
using namespace experiments;

template <class Array>
void save(ep::context& world, const std::string& folder, const std::string& name, const Array& elements) {
    if (!folder.empty()) {
        ep::save_npy(folder + "/" + name + ".npy", ep::evaluate(world, ep::from_root(elements, 0)));
    }
}

std::mt19937_64 random_numbers;

template <class T, std::size_t Rank>
ep::array<T, Rank> normal(const std::array<ep::index, Rank>& extents, double width) {
    std::normal_distribution<double> numbers(0, width);
    ep::array<T, Rank> made(extents);
    std::generate_n(made.data(), made.size(), [&] { return T(numbers(random_numbers)); });
    return made;
}
template <std::size_t Rank>
ep::array<int, Rank> below(ep::index most, const std::array<ep::index, Rank>& extents) {
    std::uniform_int_distribution<int> numbers(0, int(most) - 1);
    ep::array<int, Rank> made(extents);
    std::generate_n(made.data(), made.size(), [&] { return numbers(random_numbers); });
    return made;
}

/// What is trained.
template <class T>
struct trained {
    std::vector<std::pair<ep::tensor<T, 2>, ep::tensor<T, 2>>> held;  ///< what the next step has, and what makes it
    std::vector<ep::array<T, 2>> start;
    ep::tensor<T, 0> loss;
};

/// Losses and seconds of all steps. `samples(step)`: further bindings.
template <class T, class Samples>
void train(ep::context& world, const trained<T>& of, int steps, const std::string& folder, const Samples& samples) {
    std::vector<ep::binding> state;
    std::vector<ep::tensor<T, 2>> made;
    for (std::size_t each = 0; each < of.held.size(); ++each) {
        state.push_back(ep::bind(of.held[each].first, of.start[each]));
        made.push_back(of.held[each].second);
        save(world, folder, "start" + std::to_string(each), of.start[each]);
    }
    const ep::plan plan = ep::decompose(world, of.loss, made);
    std::vector<double> losses;
    std::vector<double> seconds;
    for (int step = 0; step < steps; ++step) {
        std::vector<ep::binding> bound = state;
        samples(step, bound);
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        const ep::results found = plan.run(world, bound);
        MPI_Barrier(MPI_COMM_WORLD);
        seconds.push_back(MPI_Wtime() - begin);
        for (std::size_t each = 0; each < made.size(); ++each) {
            state[each] = ep::bind(of.held[each].first, found.get(made[each]));
        }
        losses.push_back(double(found.get(of.loss).allgather().value()));
    }
    if (world.rank() == 0) {
        std::printf("{\"losses\": [");
        for (std::size_t step = 0; step < losses.size(); ++step) {
            std::printf("%s%.17g", step == 0 ? "" : ", ", losses[step]);
        }
        std::sort(seconds.begin(), seconds.end());
        std::printf("], \"seconds\": %.9f}\n", seconds[seconds.size() / 2]);
    }
}

template <class T>
void classifier(ep::context& world, const std::vector<int>& n, int steps, const std::string& folder) {
    const sparse_classifier_sizes sizes{n[0], n[1], n[2], n[3], n[4]};
    const sparse_classifier<T> of = build_sparse_classifier<T>(sizes, 0.5);
    trained<T> all;
    all.loss = of.loss;
    for (std::size_t each = 0; each < 2; ++each) {
        all.held.emplace_back(of.weights[each], of.updated[each]);
    }
    all.start.push_back(normal<T, 2>({sizes.features, sizes.width}, 0.2));
    all.start.push_back(normal<T, 2>({sizes.width, sizes.classes}, 1 / std::sqrt(double(sizes.width))));
    ep::array<int, 2> features;
    ep::array<int, 1> classes;
    train(world, all, steps, folder, [&](int step, std::vector<ep::binding>& bound) {
        features = below<2>(sizes.features, {sizes.samples, sizes.kept});
        classes = below<1>(sizes.classes, {sizes.samples});
        save(world, folder, "first" + std::to_string(step), features);
        save(world, folder, "second" + std::to_string(step), classes);
        bound.insert(bound.end(), {ep::bind(of.features, features), ep::bind(of.classes, classes)});
    });
}

template <class T>
void characters(ep::context& world, const std::vector<int>& n, int steps, const std::string& folder) {
    const character_sizes sizes{n[0], n[1], n[2], n[3], n[4], n[5]};
    const character_model<T> of = build_character_model<T>(sizes, 0.003);
    trained<T> all;
    all.loss = of.loss;
    const auto hold = [&](const auto& before, const auto& after, double width) {
        for (std::size_t each = 0; each < before.size(); ++each) {
            all.held.emplace_back(before[each], after[each]);
            const std::array<ep::index, 2> extents = weights_of(sizes)[each];
            const double scale = each < 2 ? 0.3 : 1 / std::sqrt(double(extents[0]));
            all.start.push_back(normal<T, 2>(extents, width * scale));
        }
    };
    hold(of.weights, of.new_weights, 1);
    hold(of.means, of.new_means, 0);
    hold(of.squares, of.new_squares, 0);
    ep::array<int, 2> text;
    ep::array<int, 2> next;
    ep::array<T, 0> bias;
    ep::array<T, 0> square_bias;
    train(world, all, steps, folder, [&](int step, std::vector<ep::binding>& bound) {
        text = below<2>(sizes.alphabet, {sizes.batch, sizes.context});
        next = below<2>(sizes.alphabet, {sizes.batch, sizes.context});
        bias.value() = T(1 / (1 - std::pow(0.9, step + 1)));
        square_bias.value() = T(1 / (1 - std::pow(0.99, step + 1)));
        save(world, folder, "first" + std::to_string(step), text);
        save(world, folder, "second" + std::to_string(step), next);
        bound.insert(bound.end(), {ep::bind(of.text, text), ep::bind(of.next, next), ep::bind(of.bias, bias),
                                   ep::bind(of.square_bias, square_bias)});
    });
}

void run(ep::context& world, const std::vector<std::string>& asked) {
    const bool is_classifier = !asked.empty() && asked[0] == "classifier";
    const bool is_known = asked.size() >= 4 && (is_classifier || asked[0] == "characters");
    if (!is_known) {
        throw ep::error("usage: ours classifier|characters SIZES float|double STEPS [FOLDER]");
    }
    std::vector<int> sizes;
    for (const std::string& each : bench::separated(asked[1], 'x')) {
        sizes.push_back(bench::whole_number(each, 1));
    }
    if (sizes.size() != (is_classifier ? 5U : 6U)) {
        throw ep::error("the sizes of the classifier are five, those of the characters six");
    }
    const std::string folder = asked.size() > 4 ? asked[4] : "";
    const int steps = bench::whole_number(asked[3], 1);
    const auto with = [&]<class T>(T /*element*/) {
        is_classifier ? classifier<T>(world, sizes, steps, folder) : characters<T>(world, sizes, steps, folder);
    };
    asked[2] == "double" ? with(double()) : with(float());
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int failed = 0;
    try {
        ep::context world(MPI_COMM_WORLD);
        run(world, {argv + 1, argv + argc});
    } catch (const ep::error& wrong) {
        std::cerr << wrong.what() << std::endl;
        failed = 1;
    }
    MPI_Finalize();
    return failed;
}
