// Single contractions over MPI as shares of capacity: automatic plan, forced rings, one rank alone.
//
//     mpiexec -n 2 rings [--quick] [--rounds <n>] [--only <part of a case's name>] [--algorithm <word>]
//     [--no-alone] [--sizes]
//
// --sizes: products of 16³ to 4096³ and the thesis's contraction, and whether the automatic plan is as fast as one rank
// and every forced algorithm within 5 %, by the best rounds or by the medians. What runs without messages (one rank, or
// the batch cut) runs inside the same context there: that ranks agree before and after a run costs them some 2 µs.
//
// Capacity of a case: every rank runs its even share of the arithmetic in the local kernel, all at once, no message;
// the share is cut along the longest label. Variants are alternated in each round; a duration is the slowest rank's.
// Share of a variant = duration of capacity / duration of the variant, of the best rounds and of the medians. Operands
// rest where the plan reads them; results are let go of in every round.

#include "resting.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace ep = einparallel;
using bench::resting_input;
using bench::variant;
using ep::index;

std::string word(ep::algorithm algorithm) {
    switch (algorithm) {
        case ep::algorithm::c:
            return "c";
        case ep::algorithm::mn:
            return "mn";
        case ep::algorithm::k:
            return "k";
        case ep::algorithm::master_worker:
            return "master_worker";
        default:
            return "automatic";
    }
}

/// What the plan does with its one contraction: the partition vector, and what travels.
template <class Tensor>
std::string way_of(const ep::plan& plan, const Tensor& output) {
    std::string text;
    for (const auto& [label, parts] : plan.partition(output)) {
        text += parts > 1 ? label + "/" + std::to_string(parts) + " " : "";
    }
    const int travelling = plan.vertices().back().work.travelling;
    return text + (travelling == ep::nothing_travels  ? "no ring"
                   : travelling == ep::output_travels ? "k ring"
                   : travelling == ep::all_travel     ? "fed"
                                                      : "mn ring");
}

/// A contraction of two tensors, written once by its subscripts.
template <class T, std::size_t RankX, std::size_t RankY, class Record>
variant make_variant(ep::context& world, const ep::options& asked, const std::vector<index>& x_extents,
                     const std::vector<index>& y_extents, Record record) {
    ep::extent x[RankX];
    ep::extent y[RankY];
    std::ranges::copy(x_extents, x);
    std::ranges::copy(y_extents, y);
    const ep::tensor<T, RankX> first = ep::placeholder<T>(x);
    const ep::tensor<T, RankY> second = ep::placeholder<T>(y);
    const auto output = record(first, second);
    const ep::plan plan = ep::decompose(world, asked, output);
    const int rank = world.state()->payload.rank();
    const auto element = [](index number) { return static_cast<T>(number % 17) / T(16); };
    const auto left = std::make_shared<resting_input<T, RankX>>(world, plan, first, rank, element);
    const auto right = std::make_shared<resting_input<T, RankY>>(world, plan, second, rank, element);
    variant made;
    made.name = way_of(plan, output);
    made.bytes = static_cast<double>(plan.bytes_sent(rank));
    made.run = [&world, plan, first, second, output, left, right] {
        static_cast<void>(plan.run(world, ep::bind(first, left->part), ep::bind(second, right->part)));
    };
    return made;
}

/// The labels of a case by extent; X and Y list positions of labels.
struct shape {
    std::vector<index> extents;
    std::vector<std::size_t> x;
    std::vector<std::size_t> y;

    [[nodiscard]] std::vector<index> of(const std::vector<std::size_t>& labels) const {
        std::vector<index> lengths;
        for (const std::size_t label : labels) {
            lengths.push_back(extents[label]);
        }
        return lengths;
    }
    [[nodiscard]] double points() const {
        double product = 1;
        for (const index extent : extents) {
            product *= static_cast<double>(extent);
        }
        return product;
    }
};

class comparison {
public:
    comparison(int rounds, std::string only, std::string algorithm, bool alone)
        : rounds_(rounds),
          only_(std::move(only)),
          algorithm_(std::move(algorithm)),
          alone_(alone),
          world_(MPI_COMM_WORLD),
          self_(MPI_COMM_SELF) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
        machine_ = world_.calibrate();
        if (rank_ == 0) {
            std::printf("%d ranks; %s; best and median of %d rounds\n", ranks_, ep::local_kernels().c_str(), rounds_);
            std::printf("calibrated: %.3g s per flop, %.3g s per byte, %.3g s per message, exposed %.2f\n",
                        machine_.seconds_per_flop, machine_.seconds_per_byte, machine_.seconds_per_message,
                        machine_.exposed);
        }
    }

    /// `forced`: algorithms beside the automatic plan.
    template <class T, std::size_t RankX, std::size_t RankY, class Record>
    void run(const std::string& name, const shape& whole, const std::vector<ep::algorithm>& forced, Record record) {
        if (name.find(only_) == std::string::npos) {
            return;
        }
        const auto made = [&](ep::context& world, const shape& of, ep::algorithm algorithm,
                              const ep::machine& machine) {
            ep::options asked;
            asked.algorithm = algorithm;
            asked.machine = machine;
            return make_variant<T, RankX, RankY>(world, asked, of.of(of.x), of.of(of.y), record);
        };
        shape share = whole;
        index& longest = *std::ranges::max_element(share.extents);
        longest = (longest + ranks_ - 1) / ranks_;
        std::vector<variant> variants;
        variants.push_back(made(self_, share, ep::algorithm::automatic, machine_));
        variants.back().name = "capacity";
        if (algorithm_.empty() || algorithm_ == word(ep::algorithm::automatic)) {
            variants.push_back(made(world_, whole, ep::algorithm::automatic, machine_));
            variants.back().name = "automatic: " + variants.back().name;
        }
        for (const ep::algorithm algorithm : forced) {
            if (!algorithm_.empty() && algorithm_ != word(algorithm)) {
                continue;
            }
            variants.push_back(made(world_, whole, algorithm, machine_));
            variants.back().name = word(algorithm) + ": " + variants.back().name;
        }
        if (judges) {
            ep::machine slow = machine_;
            slow.seconds_per_message = 1;
            variants.push_back(made(world_, whole, ep::algorithm::automatic, slow));
            variants.back().name = "no message: " + variants.back().name;
        } else if (alone_) {
            variants.push_back(rank_ == 0 ? made(self_, whole, ep::algorithm::automatic, machine_) : variant{});
            variants.back().name = "one rank alone";
        }
        bench::measure(variants, rounds_);
        const double flop = 2 * whole.points() / ranks_;
        if (rank_ == 0) {
            print(name, flop, variants);
        }
        const auto others = std::span(variants).subspan(2);
        const auto fastest = std::ranges::min_element(others, {}, &variant::best);
        if (judges && fastest != others.end()) {
            const bool slower = variants[1].best() > 1.05 * fastest->best() &&
                                variants[1].median() > 1.05 * std::ranges::min(others, {}, &variant::median).median();
            slower_ += slower ? 1 : 0;
            if (rank_ == 0) {
                std::printf("    automatic / fastest other: %.2f%s\n", variants[1].best() / fastest->best(),
                            slower ? "  SLOWER" : "");
            }
        }
    }

    bool judges = false;  ///< whether the automatic plan is as fast as the others

    void verdict() const {
        if (judges && rank_ == 0) {
            std::printf("automatic slower than another way: %d\n", slower_);
        }
    }

private:
    static void print(const std::string& name, double flop, const std::vector<variant>& variants) {
        const variant& capacity = variants.front();
        std::printf("%s: %.0f MFlop per rank, capacity %.4f / %.4f ms (%.1f GFlop/s per rank)\n", name.c_str(),
                    flop / 1e6, 1e3 * capacity.best(), 1e3 * capacity.median(), flop / capacity.best() / 1e9);
        for (const variant& each : variants) {
            if (&each != &capacity) {
                std::printf("    %-34s %9.4f / %9.4f ms   share %.2f / %.2f   %8.3f MB moved\n", each.name.c_str(),
                            1e3 * each.best(), 1e3 * each.median(), capacity.best() / each.best(),
                            capacity.median() / each.median(), each.bytes / 1e6);
            }
        }
        std::fflush(stdout);
    }

    int rounds_;
    std::string only_;
    std::string algorithm_;  ///< empty: all
    bool alone_;
    ep::context world_;
    ep::context self_;
    ep::machine machine_;
    int rank_ = 0;
    int ranks_ = 1;
    int slower_ = 0;
};

const std::vector<ep::algorithm> mn_and_k{ep::algorithm::mn, ep::algorithm::k};
const std::vector<ep::algorithm> every{ep::algorithm::c, ep::algorithm::mn, ep::algorithm::k,
                                       ep::algorithm::master_worker};

template <class T>
void product(comparison& all, const std::string& type, index m, index n, index k) {
    all.run<T, 2, 2>(type + " " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k),
                     {{m, k, n}, {0, 1}, {1, 2}}, mn_and_k,
                     [](const auto& x, const auto& y) { return ep::einsum<"ij,jk->ik">(x, y); });
}

template <class T>
void batch(comparison& all, const std::string& type, index side) {
    all.run<T, 3, 3>(type + " bij,bjk->bik 2, " + std::to_string(side), {{2, side, side, side}, {0, 1, 2}, {0, 2, 3}},
                     every, [](const auto& x, const auto& y) { return ep::einsum<"bij,bjk->bik">(x, y); });
}

/// c0 m0 k0 k1 m1, c0 n0 k0 n1 k1 -> c0 m0 n0 n1 m1 (thesis §6.2)
template <class T>
void thesis(comparison& all, const std::string& type, index outer) {
    constexpr index inner = 70;
    all.run<T, 5, 5>(type + " thesis 2, " + std::to_string(outer) + ", 70",
                     {{2, outer, outer, inner, inner, outer, inner}, {0, 1, 2, 3, 4}, {0, 5, 2, 6, 3}}, every,
                     [](const auto& x, const auto& y) { return ep::einsum<"cmklo,cnkpl->cmnpo">(x, y); });
}

/// Shares of capacity of large products, and of forced rings.
void shares(comparison& all, bool quick) {
    const std::vector<index> sides =
        quick ? std::vector<index>{200, 510} : std::vector<index>{200, 321, 510, 800, 1264, 1720};
    for (const index side : sides) {
        batch<double>(all, "double", side);
    }
    for (const index outer : quick ? std::vector<index>{3} : std::vector<index>{3, 5, 9, 14}) {
        thesis<double>(all, "double", outer);
    }
    for (const index side :
         quick ? std::vector<index>{2, 48, 512} : std::vector<index>{2, 16, 48, 128, 256, 512, 1024}) {
        product<double>(all, "double", side, side, side);
    }
    product<double>(all, "double", 2048, 2048, 2048);
    product<double>(all, "double", 512, 512, 65536);
    if (!quick) {
        product<double>(all, "double", 65536, 512, 512);
        product<double>(all, "double", 8192, 8192, 819);
        product<double>(all, "double", 4096, 4096, 4096);
        product<float>(all, "float", 2048, 2048, 2048);
        product<float>(all, "float", 512, 512, 65536);
        product<float>(all, "float", 65536, 512, 512);
        product<float>(all, "float", 8192, 8192, 819);
        product<float>(all, "float", 4096, 4096, 4096);
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    bool quick = false;
    bool alone = true;
    bool sizes = false;
    int rounds = 5;
    std::string only;
    std::string algorithm;
    for (int position = 1; position < argc; ++position) {
        const std::string word = argv[position];
        quick = quick || word == "--quick";
        alone = alone && word != "--no-alone";
        sizes = sizes || word == "--sizes";
        if (word == "--rounds" && position + 1 < argc) {
            rounds = std::max(1, std::atoi(argv[++position]));
        } else if (word == "--only" && position + 1 < argc) {
            only = argv[++position];
        } else if (word == "--algorithm" && position + 1 < argc) {
            algorithm = argv[++position];
        }
    }
    {
        comparison all(rounds, only, algorithm, alone);
        all.judges = sizes;
        for (index side = 16; side <= 4096 && sizes; side *= 2) {
            product<double>(all, "double", side, side, side);
        }
        for (const index outer : sizes ? std::vector<index>{1, 2, 3, 5, 9, 14} : std::vector<index>{}) {
            thesis<double>(all, "double", outer);
        }
        all.verdict();
        if (!sizes) {
            shares(all, quick);
        }
    }
    MPI_Finalize();
    return 0;
}
