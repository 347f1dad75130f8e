// The feed-forward classifier of EinDecomp's second experiment, trained: many classes, samples that have few of many
// features. The backward pass is ep::gradient's (bench/graphs/sparse_classifier.hpp), and one plan serves all steps.
//
//     mpiexec -n 2 classifier [STEPS [FEATURES [CLASSES [CURVE.svg]]]]
//
// The curve of losses goes into the file CURVE.svg. 600 20000 1000 takes about half a minute on two ranks.

#include "example.hpp"

#include <einparallel.hpp>
#include <graphs/sparse_classifier.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace ep = einparallel;

namespace {

constexpr ep::index samples = 128;  // of a step
constexpr ep::index width = 64;     // of the hidden layer
constexpr ep::index kept = 24;      // features of a sample
constexpr double rate = 4;

/// A number in [0, 1) of these, the same everywhere.
double number(std::uint64_t seed, auto... of) {
    return (example::numbers{seed}(of...) + 1) / 2;
}

/// A step's samples: two thirds of a sample's features are among the 30 that its class prefers.
struct batch {
    ep::array<int, 2> features{{samples, kept}};
    ep::array<int, 1> classes{{samples}};

    batch(ep::index step, ep::index all_features, ep::index all_classes) {
        for (ep::index sample = 0; sample < samples; ++sample) {
            const auto its_class = ep::index(number(1, step, sample) * double(all_classes));
            classes(sample) = int(its_class);
            for (ep::index each = 0; each < kept; ++each) {
                const auto preferred = ep::index(30 * number(2, step, sample, each));
                const double place = each % 3 == 2 ? number(3, step, sample, each) : number(4, its_class, preferred);
                features(sample, each) = int(place * double(all_features));
            }
        }
    }
};

/// Weights, and a step of training them with plain loops.
struct reference {
    ep::array<float, 2> w, v;

    double step(const batch& of) {
        const ep::index classes = v.extent(1);
        ep::array<double, 2> dv(v.extents());
        std::vector<double> dh(std::size_t(samples * width));
        std::vector<double> h(dh.size());
        double loss = 0;
        for (ep::index sample = 0; sample < samples; ++sample) {
            std::vector<double> share(std::size_t(classes), 0.0);
            double largest = -1e300;
            for (ep::index unit = 0; unit < width; ++unit) {
                double& sum = h[std::size_t(sample * width + unit)];
                for (ep::index each = 0; each < kept; ++each) {
                    sum += double(w(of.features(sample, each), unit));
                }
                sum = std::max(sum, 0.0);
            }
            for (ep::index each = 0; each < classes; ++each) {
                for (ep::index unit = 0; unit < width; ++unit) {
                    share[std::size_t(each)] += h[std::size_t(sample * width + unit)] * double(v(unit, each));
                }
                largest = std::max(largest, share[std::size_t(each)]);
            }
            const double own = share[std::size_t(of.classes(sample))];
            double all = 0;
            for (double& each : share) {
                all += each = std::exp(each - largest);
            }
            loss += (std::log(all) + largest - own) / double(samples);
            for (ep::index each = 0; each < classes; ++each) {
                const double slope =
                    (share[std::size_t(each)] / all - (each == of.classes(sample) ? 1 : 0)) / double(samples);
                for (ep::index unit = 0; unit < width; ++unit) {
                    dv(unit, each) += slope * h[std::size_t(sample * width + unit)];
                    dh[std::size_t(sample * width + unit)] += slope * double(v(unit, each));
                }
            }
        }
        for (ep::index sample = 0; sample < samples; ++sample) {
            for (ep::index unit = 0; unit < width; ++unit) {
                const auto at = std::size_t(sample * width + unit);
                for (ep::index each = 0; h[at] > 0 && each < kept; ++each) {
                    w(of.features(sample, each), unit) -= float(rate * dh[at]);
                }
            }
        }
        EINPARALLEL_LABELS(h_, c);
        v(h_, c) -= rate * dv(h_, c);
        return loss;
    }
};

/// A curve of losses as a picture.
void draw(const std::string& path, const std::vector<float>& losses) {
    std::ofstream into(path);
    const float most = *std::max_element(losses.begin(), losses.end());
    into << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 320\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n"
         << "<rect width=\"640\" height=\"320\" fill=\"white\"/>\n<path d=\"M50 20V280H620\" fill=\"none\" "
            "stroke=\"gray\"/>\n"
         << "<text x=\"46\" y=\"26\" text-anchor=\"end\">" << std::round(double(most) * 10) / 10
         << "</text>\n<text x=\"46\" y=\"284\" text-anchor=\"end\">0</text>\n<text x=\"620\" y=\"300\" "
            "text-anchor=\"end\">step "
         << losses.size()
         << "</text>\n<text x=\"60\" y=\"20\">cross entropy</text>\n<polyline fill=\"none\" stroke=\"#1f77b4\" "
            "points=\"";
    for (std::size_t step = 0; step < losses.size(); ++step) {
        into << 50 + 570 * double(step) / double(std::max<std::size_t>(losses.size() - 1, 1)) << ','
             << 280 - 260 * double(losses[step] / most) << ' ';
    }
    into << "\"/>\n</svg>\n";
}

/// True where the first losses are those of plain loops, and the last ones are below.
bool classifier(ep::context& world, ep::index steps, ep::index features, ep::index classes, const std::string& curve) {
    const experiments::sparse_classifier_sizes sizes{samples, kept, features, width, classes};
    const auto of = experiments::build_sparse_classifier<float>(sizes, rate);
    const ep::plan plan = ep::decompose(world, of.loss, of.updated);
    if (world.rank() == 0) {
        std::cout << plan;
    }

    reference plain{ep::array<float, 2>({features, width}), ep::array<float, 2>({width, classes})};
    for (ep::index at = 0; at < plain.w.size(); ++at) {
        plain.w.data()[at] = float(0.2 * example::numbers{5}(at));
    }
    for (ep::index at = 0; at < plain.v.size(); ++at) {
        plain.v.data()[at] = float(0.2 * example::numbers{6}(at));
    }
    const ep::array<float, 2> w = plain.w;
    const ep::array<float, 2> v = plain.v;

    std::vector<float> losses;
    double apart = 0;  // from plain loops
    ep::distributed<float, 2> now_w, now_v;
    for (ep::index step = 0; step < steps; ++step) {
        const batch here(step, features, classes);
        const ep::results made =
            plan.run(world, ep::bind(of.features, here.features), ep::bind(of.classes, here.classes),
                     step == 0 ? ep::bind(of.weights[0], w) : ep::bind(of.weights[0], std::move(now_w)),
                     step == 0 ? ep::bind(of.weights[1], v) : ep::bind(of.weights[1], std::move(now_v)));
        now_w = made.get(of.updated[0]);
        now_v = made.get(of.updated[1]);
        losses.push_back(made.get(of.loss).allgather().value());
        if (step < 5) {
            apart = std::max(apart, std::abs(plain.step(here) / double(losses.back()) - 1));
        }
        if (world.rank() == 0 && (step % std::max<ep::index>(steps / 8, 1) == 0 || step + 1 == steps)) {
            std::cout << "step " << step << ": loss " << losses.back() << '\n';
        }
    }
    if (world.rank() == 0) {
        std::cout << "first losses beside plain loops, relative difference: "
                  << (apart < 1e-5 ? "below 1e-5" : "too large") << std::endl;
        if (!curve.empty()) {
            draw(curve, losses);
        }
    }
    return apart < 1e-5 && losses.back() < 0.9F * losses.front();
}

}  // namespace

int main(int argc, char** argv) {
    return example::run(argc, argv, [&](ep::context& world) {
        return classifier(world, example::argument(argc, argv, 1, 40), example::argument(argc, argv, 2, 1000),
                          example::argument(argc, argv, 3, 50), argc > 4 ? argv[4] : "");
    });
}
