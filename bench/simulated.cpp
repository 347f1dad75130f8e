// Plans carried out on a simulated cluster (SimGrid's SMPI): the executor and its messages are real, arithmetic and
// network take simulated time, and elements are neither stored nor computed.
//
//     simulated [--graph NAMES] [--ranks NUMBERS] [--gbit RATE] [--latency MICROSECONDS] [--tflops RATE]
//               [--algorithm automatic|c|mn|k] [--vertices] [--check]
//
// NAMES: product-N (an N x N x N product of doubles), or what bench/graphs/named.hpp knows. The cluster: ranks of RATE
// Tflop/s, each on a full-duplex link of RATE Gbit/s into one crossbar, MICROSECONDS from rank to rank. Defaults:
// product-16384 on 4, 16 and 64 ranks, 100 Gbit/s, 2 us, 1 Tflop/s. The plan is made for exactly these constants, with
// nothing exposed. A contraction takes its operations, copies and sums of partial results what the time model prices
// them at.
//
// Columns: run = simulated seconds; efficiency = arithmetic / (ranks · rate · run); /model = run / plan.seconds();
// /limit = run / max(arithmetic, transfer) of the rank with most; exposed = mean share of the run that a rank waits for
// messages; no overlap = run where every message starts when it is waited for; held = plan.peak_bytes of the rank with
// most; planning = seconds of ep::decompose; MB = memory of the simulation.
// --vertices prints the plan, too. --check: the end is 1 where /limit is above 1.10, /model off by more than 15 %, or
// no overlap faster.

#include "child.hpp"
#include "graphs/named.hpp"
#include "text.hpp"

#include <smpi/mpi.h>
#include <einparallel.hpp>

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace ep = einparallel;
namespace sg4 = simgrid::s4u;

struct cluster {
    int ranks = 1;
    double bytes_per_second = 12.5e9;
    double latency = 2e-6;
    double flops = 1e12;

    [[nodiscard]] ep::machine constants() const { return {latency, 1 / bytes_per_second, 1 / flops, 0}; }
};

/// What a rank did in one run.
struct tally {
    double begin = 0;
    double end = 0;
    double operations = 0;
    double waited = 0;
    double sent = 0;
    std::vector<MPI_Request> delayed{};  ///< to start when one of them is waited for
};

/// The simulated ranks are actors of one process that take turns, so they share this.
struct {
    bool overlap = true;
    std::vector<tally> ranks;

    tally& mine() {
        int rank = 0;
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return ranks[static_cast<std::size_t>(rank)];
    }

    int delayed(int code, const MPI_Request* made) {
        mine().delayed.push_back(*made);
        return code;
    }
} simulation;

}  // namespace

// The messages of the executor, seen at MPI's profiling interface.

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm ranks, MPI_Request* made) {
    int bytes = 0;
    PMPI_Type_size(type, &bytes);
    simulation.mine().sent += static_cast<double>(bytes) * count;
    return simulation.overlap ? PMPI_Isend(buffer, count, type, peer, tag, ranks, made)
                              : simulation.delayed(PMPI_Send_init(buffer, count, type, peer, tag, ranks, made), made);
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm ranks, MPI_Request* made) {
    return simulation.overlap ? PMPI_Irecv(buffer, count, type, peer, tag, ranks, made)
                              : simulation.delayed(PMPI_Recv_init(buffer, count, type, peer, tag, ranks, made), made);
}

int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
    *done = 0;
    return simulation.overlap ? PMPI_Test(request, done, status) : MPI_SUCCESS;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    tally& mine = simulation.mine();
    const double begin = PMPI_Wtime();
    if (std::vector<MPI_Request> started = std::exchange(mine.delayed, {}); !started.empty()) {
        PMPI_Startall(static_cast<int>(started.size()), started.data());
    }
    const int code = PMPI_Wait(request, status);
    if (!simulation.overlap) {
        PMPI_Request_free(request);
    }
    mine.waited += PMPI_Wtime() - begin;
    return code;
}

namespace {

double elements_of(std::span<const ep::index> extents) {
    double product = 1;
    for (const ep::index extent : extents) {
        product *= static_cast<double>(extent);
    }
    return product;
}

/// Of an element that is copied or added, as in plan/traffic.ipp.
constexpr double operations_per_touch = 24;

/// Memory that takes addresses and no room, on which work takes time and does nothing.
struct simulated_space final : ep::memory_space {
    [[nodiscard]] void* allocate(std::size_t bytes) const override { return SMPI_SHARED_MALLOC(bytes); }
    void deallocate(void* memory, std::size_t /*bytes*/) const noexcept override { SMPI_SHARED_FREE(memory); }
    void contract(const ep::kernel& work, const ep::block_call& call) const override {
        spend(elements_of(call.extents) * work.operations_per_point());
    }
    void combine(const ep::kernel& /*work*/, std::span<const ep::index> extents, void* /*into*/,
                 std::span<const ep::index> /*into_strides*/, const void* /*from*/,
                 std::span<const ep::index> /*from_strides*/) const override {
        touch(extents);
    }
    void copy(std::span<const ep::index> extents, void* /*into*/, std::span<const ep::index> /*into_strides*/,
              const void* /*from*/, std::span<const ep::index> /*from_strides*/,
              std::size_t /*element_bytes*/) const override {
        touch(extents);
    }
    void read(const ep::source& /*origin*/, const ep::box& /*region*/, void* /*into*/) const override {}
    [[nodiscard]] const void* borrow(const ep::source& /*origin*/, const ep::box& /*region*/,
                                     std::vector<ep::index>& /*strides*/) const override {
        return nullptr;
    }

private:
    static void spend(double operations) {
        simulation.mine().operations += operations;
        smpi_execute_flops(operations);
    }
    static void touch(std::span<const ep::index> extents) {
        smpi_execute_flops(elements_of(extents) * operations_per_touch);
    }
};
const simulated_space space;

/// A value that is where it is wanted, and is never looked at.
struct no_source final : ep::source {
    [[nodiscard]] ep::source_kind kind() const override { return ep::source_kind::everywhere; }
    void read(const ep::box& /*region*/, void* /*destination*/) const override {}
    [[nodiscard]] std::string description() const override { return "simulated"; }
};

std::vector<ep::binding> bindings_of(const ep::plan& plan) {
    std::vector<ep::binding> made;
    for (const ep::planned_vertex& each : plan.vertices()) {
        if (each.is_input() && each.origin->origin->kind() == ep::source_kind::placeholder) {
            made.push_back(
                {each.origin, ep::detail::input_vertex(each.bounds, each.element, std::make_shared<no_source>())});
        }
    }
    return made;
}

void build(const cluster& of) {
    sg4::NetZone* const zone = sg4::create_star_zone("cluster");
    for (int rank = 0; rank < of.ranks; ++rank) {
        const std::string number = std::to_string(rank);
        const sg4::Host* const host = zone->create_host("host" + number, of.flops)->seal();
        const sg4::Link* const link =
            zone->create_split_duplex_link("link" + number, of.bytes_per_second)->set_latency(of.latency / 2)->seal();
        zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                        {sg4::LinkInRoute(link, sg4::LinkInRoute::Direction::UP)}, true);
    }
    zone->seal();
}

/// Megabytes of memory that this process takes, pages that are mapped many times counted once.
double memory() {
    std::ifstream lines("/proc/self/smaps_rollup");
    for (std::string word; lines >> word;) {
        double kibibytes = 0;
        if (word == "Pss:" && lines >> kibibytes) {
            return kibibytes * 1024e-6;
        }
    }
    return 0;
}

/// Plain data: it goes through a pipe.
struct figures {
    double planning = 0;
    double model = 0;
    double run = 0;
    double serial = 0;  ///< without overlap
    double operations = 0;
    double limit = 0;
    double exposed = 0;
    double held = 0;
    double megabytes = 0;
};

/// Seconds from the first rank's start to the last one's end.
double duration() {
    double begin = std::numeric_limits<double>::infinity();
    double end = 0;
    for (const tally& each : simulation.ranks) {
        begin = std::min(begin, each.begin);
        end = std::max(end, each.end);
    }
    return end - begin;
}

figures simulate(const experiments::outputs& graph, const cluster& on, ep::algorithm algorithm, bool vertices) {
    figures made;
    ep::options asked;
    asked.processes = on.ranks;
    asked.algorithm = algorithm;
    asked.machine = on.constants();
    const auto before = std::chrono::steady_clock::now();
    const ep::plan plan = ep::decompose_vertices(asked, graph);
    made.planning = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    made.model = plan.seconds();
    if (vertices) {
        std::cout << plan;
    }
    for (int rank = 0; rank < on.ranks; ++rank) {
        made.held = std::max(made.held, static_cast<double>(plan.peak_bytes(rank)));
    }
    const std::vector<ep::binding> bound = bindings_of(plan);

    std::vector<std::string> words{"simulated", "--log=root.thresh:warning"};
    // Transfers take latency + bytes / bandwidth, polling and the clock nothing.
    for (const char* word : {"network/model:CM02", "network/crosstraffic:0", "network/bandwidth-factor:1",
                             "network/latency-factor:1", "network/weight-S:0", "smpi/simulate-computation:no",
                             "smpi/test:0", "smpi/wtime:0", "smpi/shared-malloc:global"}) {
        words.push_back(std::string("--cfg=") + word);
    }
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    int count = static_cast<int>(arguments.size());
    sg4::Engine engine(&count, arguments.data());
    build(on);
    SMPI_app_instance_register("run", nullptr, on.ranks);
    SMPI_init();
    sg4::Engine::set_config(
        "smpi/shared-malloc-blocksize:67108864");  // bytes that all memory shares; known from here on
    const auto run = [&](ep::context& world, bool overlap) {
        PMPI_Barrier(MPI_COMM_WORLD);
        simulation.overlap = overlap;
        simulation.mine() = {};
        simulation.mine().begin = PMPI_Wtime();
        static_cast<void>(ep::detail::carry_out(plan, world, bound, space));
        simulation.mine().end = PMPI_Wtime();
        PMPI_Barrier(MPI_COMM_WORLD);
    };
    simulation.ranks.resize(static_cast<std::size_t>(on.ranks));
    for (int rank = 0; rank < on.ranks; ++rank) {
        const std::string number = std::to_string(rank);
        sg4::ActorPtr actor = sg4::Actor::init("rank" + number, engine.host_by_name("host" + number));
        actor->set_property("instance_id", "run");
        actor->set_property("rank", number);
        actor->start([&, rank] {
            PMPI_Init(nullptr, nullptr);
            {
                ep::context world{MPI_COMM_WORLD};
                run(world, true);
                if (rank == 0) {
                    made.run = duration();
                    for (const tally& each : simulation.ranks) {
                        made.operations += each.operations;
                        made.exposed += each.waited / made.run / on.ranks;
                        made.limit =
                            std::max({made.limit, each.operations / on.flops, each.sent / on.bytes_per_second});
                    }
                }
                run(world, false);
                if (rank == 0) {
                    made.serial = duration();
                    made.megabytes = memory();
                }
            }
            PMPI_Finalize();
        });
    }
    engine.run();
    return made;
}

std::string milliseconds(double seconds) {
    return bench::formatted("%.3f", 1e3 * seconds);
}

void print(const std::vector<std::string>& cells) {
    constexpr int widths[] = {-14, 5, 10, 10, 7, 7, 8, 12, 9, 8, 6};
    std::string line;
    for (std::size_t column = 0; column < cells.size(); ++column) {
        const std::string blanks(
            static_cast<std::size_t>(std::max(0, std::abs(widths[column]) - static_cast<int>(cells[column].size()))),
            ' ');
        line += widths[column] < 0 ? cells[column] + blanks : "  " + blanks + cells[column];
    }
    std::cout << line << std::endl;
}

experiments::graph graph_of(const std::string& name) {
    if (name.starts_with("product-")) {
        const ep::index side = bench::whole_number(name.substr(8), 1);
        return {name, [side] {
                    const auto x = ep::placeholder<double>({side, side}).named("A");
                    const auto y = ep::placeholder<double>({side, side}).named("B");
                    return experiments::outputs{ep::einsum<"ij,jk->ik">(x, y).named("C").node()};
                }};
    }
    return experiments::graph_named(experiments::named_graphs(), name);
}

int run(int argc, char** argv) {
    std::string graphs = "product-16384";
    std::string ranks = "4,16,64";
    ep::algorithm algorithm = ep::algorithm::automatic;
    cluster on;
    bool vertices = false;
    bool check = false;
    for (int position = 1; position < argc; ++position) {
        const std::string option = argv[position];
        if (option == "--vertices" || option == "--check") {
            (option == "--vertices" ? vertices : check) = true;
            continue;
        }
        if (position + 1 == argc) {
            throw ep::error(option + " needs a value");
        }
        const std::string value = argv[++position];
        if (option == "--graph") {
            graphs = value;
        } else if (option == "--ranks") {
            ranks = value;
        } else if (option == "--gbit") {
            on.bytes_per_second = std::stod(value) * 1e9 / 8;
        } else if (option == "--latency") {
            on.latency = std::stod(value) * 1e-6;
        } else if (option == "--tflops") {
            on.flops = std::stod(value) * 1e12;
        } else if (option == "--algorithm") {
            algorithm = value == "c"    ? ep::algorithm::c
                        : value == "mn" ? ep::algorithm::mn
                        : value == "k"  ? ep::algorithm::k
                                        : ep::algorithm::automatic;
        } else {
            throw ep::error("the option '" + option + "' is unknown; the head of simulated.cpp lists them");
        }
    }
    std::cout << "ranks of " << on.constants() << '\n';
    print({"graph", "p", "run ms", "efficiency", "/model", "/limit", "exposed", "no overlap", "held MB", "planning",
           "MB"});
    bool good = true;
    for (const std::string& name : bench::separated(graphs)) {
        const experiments::graph graph = graph_of(name);
        for (const std::string& number : bench::separated(ranks)) {
            on.ranks = bench::whole_number(number, 1);
            const auto child = bench::in_child({}, [&] { return simulate(graph.record(), on, algorithm, vertices); });
            if (!child.value) {
                print({name, number, child.failure});
                good = false;
                continue;
            }
            const figures& made = *child.value;
            const double beside_model = made.run / made.model;
            good = good && (!check || (made.run <= 1.1 * made.limit && std::abs(beside_model - 1) <= 0.15 &&
                                       made.run <= made.serial));
            print({name, number, milliseconds(made.run),
                   bench::formatted("%.3f", made.operations / on.ranks / on.flops / made.run),
                   bench::formatted("%.3f", beside_model), bench::formatted("%.3f", made.run / made.limit),
                   bench::formatted("%.1f %%", 100 * made.exposed), milliseconds(made.serial),
                   bench::formatted("%.1f", made.held / 1e6), bench::formatted("%.2f", made.planning),
                   bench::formatted("%.0f", made.megabytes)});
        }
    }
    return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& failure) {
        std::cerr << "simulated: " << failure.what() << '\n';
        return 2;
    }
}
