// Graphs on ranks under several plans in turns: one JSON object per line, for papers.py.
//
//     mpiexec -n 2 run --graph thesis:16,thesis:24 [--plan EinDecomp,c,mn,k] [--rounds 5] [--element double]
//
// Graphs and plans: bench/graphs/named.hpp. Besides `one rank` (the first one computes all of it, the others sleep) and
// `capacity` (every rank computes all of it for itself, all at once: seconds / ranks are what so many cores allow).
// Elements are double, float or (llama) bfloat16; inputs rest where the plan reads them. First the constants of the
// time model that world.calibrate() finds, with which plans are made. `difference` is the distance of the outputs, in
// one weighted sum, from those of the first plan; `needs` is an upper bound for the memory of all ranks.

#include "../graphs/named.hpp"
#include "../resting.hpp"
#include "../text.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace ep = einparallel;

/// A number in [-1, 1) for every position, other ones for every name.
double number_at(std::uint64_t seed, ep::index position) {
    std::uint64_t state = (seed ^ static_cast<std::uint64_t>(position)) + 0x9e3779b97f4a7c15U;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebU;
    return static_cast<double>(static_cast<std::int64_t>(state ^ (state >> 31))) / 9223372036854775808.0;
}

/// Elements of an input by position. Weights are as small as their rows are long, gains are about 1, and two inputs
/// choose: a class for each data point, the last token of each prompt.
std::function<double(ep::index)> elements_of(const std::string& name, const std::vector<ep::index>& extents) {
    const std::uint64_t seed = std::hash<std::string>{}(name);
    const ep::index last = extents.back();
    const std::string bare = name.substr(name.find('.') + 1);
    if (name == "Y" && extents.size() == 2) {
        return [last](ep::index at) { return at % last == at / last * 5 % last ? 1.0 : 0.0; };
    }
    if (bare == "chosen") {
        return [last](ep::index at) { return at % last == last - 1 ? 1.0 : 0.0; };
    }
    if (bare.ends_with("gain")) {
        return [seed](ep::index at) { return 1 + 0.1 * number_at(seed, at); };
    }
    double rows = 1;
    for (std::size_t dimension = 0; bare.starts_with("W") && dimension + 1 < extents.size(); ++dimension) {
        rows *= static_cast<double>(extents[dimension]);
    }
    return [seed, scale = 1 / std::sqrt(rows)](ep::index at) { return scale * number_at(seed, at); };
}

/// The placeholders of a plan, of T, with elements where it reads them.
template <class T>
class bound_inputs {
public:
    std::vector<ep::binding> values;

    bound_inputs(ep::context& world, const ep::plan& plan) {
        for (const ep::planned_vertex& each : plan.vertices()) {
            if (!each.is_input() || (*each.origin).origin->kind() != ep::source_kind::placeholder) {
                continue;
            }
            [&]<std::size_t... Rank>(std::index_sequence<Rank...>) {
                ((each.bounds.size() == Rank + 1 ? bind<Rank + 1>(world, plan, each.origin) : void()), ...);
            }
            (std::make_index_sequence<5>{});
        }
    }

private:
    std::vector<std::shared_ptr<const void>> elements_;

    template <std::size_t Rank>
    void bind(ep::context& world, const ep::plan& plan, const std::shared_ptr<ep::vertex>& input) {
        const ep::tensor<T, Rank> tensor(input);
        const auto resting = std::make_shared<bench::resting_input<T, Rank>>(world, plan, tensor, world.rank(),
                                                                             elements_of(input->name, input->bounds));
        values.push_back(ep::bind(tensor, resting->part));
        elements_.push_back(resting);
    }
};

/// Σ and Σ|·| of all outputs times weights, of this rank's elements.
struct weighted_sum {
    double sum = 0;
    double size = 0;

    template <class T, std::size_t Rank>
    void add(const ep::distributed<T, Rank>& part) {
        part.for_each_local([&](auto at, T value) {
            ep::index position = 0;
            for (const ep::index each : at) {
                position = position * 1'000'003 + each;
            }
            const double product = static_cast<double>(value) * number_at(1, position);
            sum += product;
            size += std::abs(product);
        });
    }

    template <class T>
    void add_output(const ep::results& run, std::size_t output, std::size_t rank) {
        switch (rank) {
            case 0:
                return add(run.at<T, 0>(output));
            case 1:
                return add(run.at<T, 1>(output));
            case 2:
                return add(run.at<T, 2>(output));
            case 4:
                return add(run.at<T, 4>(output));
            default:
                return add(run.at<T, 5>(output));
        }
    }

    void over_all_ranks() {
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
};

/// Bytes that processes may still take.
double free_memory() {
    std::ifstream lines("/proc/meminfo");
    for (std::string word; lines >> word;) {
        double kibibytes = 0;
        if (word == "MemAvailable:" && lines >> kibibytes) {
            return 1024 * kibibytes;
        }
    }
    return 0;
}

/// A way to run the graph, planned and with its inputs.
struct way : bench::variant {
    std::string failure;
    std::string cuts;
    double model = 0;
    double needs = 0;
    double held = 0;   ///< by the rank with most
    double share = 1;  ///< of a round's seconds that count
    weighted_sum result = {};
};

/// On the first rank.
void print(const ep::context& world, const std::vector<std::pair<std::string, std::string>>& words,
           const std::vector<std::pair<std::string, double>>& numbers, const std::string& failure = {}) {
    if (world.rank() == 0) {
        std::cout << bench::json_object(words, numbers, failure) << std::endl;
    }
}

template <class T>
void compare(const std::string& text, const std::vector<std::string>& names, const ep::machine& machine, int rounds) {
    ep::context world(MPI_COMM_WORLD);
    ep::context self(MPI_COMM_SELF);
    const int ranks = world.size();
    double room = 0.9 * free_memory();
    MPI_Bcast(&room, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    std::vector<way> ways;
    for (const std::string& name : names) {
        way& made = ways.emplace_back();
        made.name = name;
        const bool alone = name == "one rank", all = name == "capacity";
        ep::context& on = alone || all ? self : world;
        try {
            const experiments::sized_graph graph = experiments::graph_of(text);
            const experiments::outputs outputs = experiments::record<T>(graph);
            ep::options asked;
            asked.processes = on.size();
            asked.machine = machine;
            const ep::plan plan = experiments::planned(graph, alone || all ? "EinDecomp" : name, asked, outputs);
            made.model = plan.seconds();
            made.cuts = experiments::cuts_text(plan);
            for (const ep::planned_vertex& each : plan.vertices()) {
                made.needs += each.is_input() ? static_cast<double>(ep::whole_box(each.bounds).size()) * sizeof(T) : 0;
            }
            for (int rank = 0; rank < on.size(); ++rank) {
                made.needs += static_cast<double>(plan.peak_bytes(rank));
                made.held = std::max(made.held, static_cast<double>(plan.peak_bytes(rank)));
            }
            made.needs *= all ? ranks : 1;
            made.share = all ? 1.0 / ranks : 1;
            if (made.needs > room) {
                throw ep::error(text + " as '" + name + "' needs " + bench::formatted("%.1f", made.needs / 1e9) +
                                " GB on this machine, which has " + bench::formatted("%.1f", room / 1e9) + " GB left");
            }
            room -= made.needs;
            made.bytes = static_cast<double>(plan.bytes_sent());
            if (alone && world.rank() != 0) {
                made.run = nullptr;
            } else {
                const auto bound = std::make_shared<bound_inputs<T>>(on, plan);
                made.run = [&on, plan, bound] { static_cast<void>(ep::detail::carry_out(plan, on, bound->values)); };
                const ep::results run = ep::detail::carry_out(plan, on, bound->values);
                for (std::size_t output = 0; output < outputs.size() && (!all || world.rank() == 0); ++output) {
                    made.result.template add_output<T>(run, output, outputs[output]->bounds.size());
                }
            }
        } catch (const std::exception& failure) {
            made.failure = failure.what();
        }
    }
    // Sums are taken after all ways are made, so that a rank whose way failed still takes part.
    std::vector<bench::variant> running;
    const way* first = nullptr;  // that did not fail
    for (way& each : ways) {
        each.result.over_all_ranks();
        if (each.failure.empty()) {
            running.push_back(each);
            first = first == nullptr ? &each : first;
        }
    }
    bench::measure(running, rounds);
    std::size_t measured = 0;
    for (const way& each : ways) {
        if (!each.failure.empty()) {
            print(world, {{"graph", text}, {"plan", each.name}}, {}, each.failure);
            continue;
        }
        const bench::samples& times = running[measured++];
        print(world, {{"graph", text}, {"plan", each.name}, {"cuts", each.cuts}},
              {{"ranks", ranks},
               {"seconds", each.share * times.best()},
               {"median", each.share * times.median()},
               {"model", each.model},
               {"bytes", each.bytes},
               {"held", each.held},
               {"needs", each.needs},
               {"difference", std::abs(each.result.sum - first->result.sum) / first->result.size}});
    }
}

}  // namespace

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    int status = 0;
    try {
        std::string graphs = "product:1024";
        std::string plans = "EinDecomp";
        std::string element = "double";
        int rounds = 5;
        bench::read_options(argc, argv,
                            {{"--graph", [&](const std::string& value) { graphs = value; }},
                             {"--plan", [&](const std::string& value) { plans = value; }},
                             {"--element", [&](const std::string& value) { element = value; }},
                             {"--rounds", [&](const std::string& value) { rounds = bench::whole_number(value, 1); }}});
        ep::context world(MPI_COMM_WORLD);
        const ep::machine machine = world.calibrate();
        print(world, {{"kernels", ep::local_kernels()}},
              {{"ranks", world.size()},
               {"seconds_per_message", machine.seconds_per_message},
               {"seconds_per_byte", machine.seconds_per_byte},
               {"seconds_per_flop", machine.seconds_per_flop},
               {"exposed", machine.exposed}});
        const auto of = element == "double"     ? &compare<double>
                        : element == "float"    ? &compare<float>
                        : element == "bfloat16" ? &compare<ep::bfloat16>
                                                : nullptr;
        if (of == nullptr) {
            throw ep::error("--element is none of double, float, bfloat16: " + element);
        }
        for (const std::string& graph : bench::separated(graphs)) {
            of(graph, bench::separated(plans), machine, rounds);
        }
    } catch (const std::exception& failure) {
        std::cerr << "run: " << failure.what() << '\n';
        status = 2;
    }
    MPI_Finalize();
    return status;
}
