// Plans carried out on a simulated cluster (SimGrid's SMPI): the executor and its messages are real, arithmetic and
// network take simulated time, and elements are neither stored nor computed.
//
//     simulated [--graph NAMES] [--plan NAMES] [--cluster TEXT] [--ranks NUMBERS] [--element float|double|bfloat16]
//               [--memory MEGABYTES] [--model levels|one] [--check yes] [--vertices yes] [--json yes]
//
// Lists are separated by commas. Graphs: bench/graphs/named.hpp, with their sizes (chain-square:4096). Plans:
// EinDecomp, an algorithm (c, mn, k, master-worker), a rival (SQRT, Megatron, ...). The cluster:
// `nodes=16,ranks=4,gbit=100,us=2,tflops=1` has 16 nodes of 4 ranks, one full-duplex link of 100 Gbit/s for each node
// into one crossbar, 2 us from node to node, 1 Tflop/s for each rank. Where a node has several ranks, node_gbit and
// node_us say what lies between them, and what lies between each of them and the link. `sockets=2,socket_gbit=50,
// socket_us=0.3` puts the ranks of a node into two halves with a link for each; `switch=8,taper=2,switch_us=1` puts 8
// nodes under one switch, whose link carries half of what they can send. `storage_gbit=128` puts all inputs behind a
// link of each rank, through which also tensors pass that wait there where they do not fit into --memory of a rank;
// `touch=800` says how many operations take as long as to read or write an element. `exposed` is the share of the
// shorter of arithmetic and transfer that the machine does not hide (ep::machine): the run is then so much of the way
// from full overlap to none. Defaults: product, EinDecomp, nodes=64,ranks=1,gbit=100,us=2,tflops=1 of which 4, 16 and
// 64 ranks are used, double. The plan is made for these constants: for a machine with levels, or, with --model one, for
// one on which all ranks are alike, as slow as a step in which all ranks of a node send out of it. A contraction takes
// its operations and what packing operands anew takes, copies and sums of partial results what the time model prices
// them at.
//
// Columns: between = megabytes sent between nodes, or between sockets; paged = megabytes to and from storage, of the
// rank with most; run = simulated seconds; efficiency = arithmetic
// / (ranks * rate * run); /model = run / plan.seconds(); /limit = run / max(arithmetic, transfer) of the rank with
// most; exposed = mean share of the run that a rank waits for messages; no overlap = run where every message starts
// when it is waited for; held = plan.peak_bytes of the rank with most; inputs = bytes of all inputs that rest on a
// rank, of which held counts those in use; planning = seconds of the planner; MB = memory of the simulation.
// --check: the end is 1 where /limit is above 1.10, /model off by more than 15 %, or no overlap faster. --json: one
// object per line.

#include "child.hpp"
#include "graphs/named.hpp"
#include "text.hpp"

#include <smpi/mpi.h>
#include <einparallel.hpp>
#include <einparallel/cost/traffic.hpp>

#include <simgrid/s4u.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

namespace ep = einparallel;
namespace sg4 = simgrid::s4u;

struct cluster {
    int nodes = 0;
    int ranks_per_node = 0;
    double link_bytes = 0;  ///< per second, of a node's link
    double link_latency = 0;
    double flops = 0;
    double node_bytes = 0;  ///< of what lies between the ranks of a node
    double node_latency = 0;
    double exposed = 0;
    int sockets = 1;  ///< of a node
    double socket_bytes = 0;
    double socket_latency = 0;
    int nodes_per_switch = 0;  ///< 0: one crossbar for all
    double taper = 1;
    double switch_latency = 0;
    double storage_bytes = 0;  ///< per second between a rank and storage; 0: inputs are in memory
    double operations_per_touch = ep::machine().operations_per_touch;
    int ranks = 0;  ///< in use, node by node

    /// Constants as world.calibrate() would find them: of ranks that all send to the next one, the slowest.
    [[nodiscard]] ep::machine constants() const {
        const bool inside = ranks_per_node > 1;
        const bool outside = ranks > ranks_per_node || !inside;
        const double share = link_bytes / std::min(ranks, ranks_per_node);  // of a link, where all ranks send
        const double slowest = std::min(outside ? share : node_bytes, inside ? node_bytes : share);
        ep::machine made{(outside ? link_latency : 0) + (inside ? node_latency : 0), 1 / slowest, 1 / flops, exposed,
                         operations_per_touch};
        if (storage_bytes > 0) {
            made.seconds_per_stored_byte = made.seconds_per_host_byte = 1 / storage_bytes;
        }
        return made;
    }

    /// Ranks of the groups within the whole cluster, innermost first, with the link that leaves each.
    struct group {
        int ranks = 0;
        double bytes = 0;
        double latency = 0;
    };
    [[nodiscard]] std::vector<group> groups() const {
        std::vector<group> made;
        if (sockets > 1) {
            made.push_back({ranks_per_node / sockets, socket_bytes, socket_latency});
        }
        if (ranks_per_node > 1) {
            made.push_back({ranks_per_node, link_bytes, link_latency});
        }
        if (nodes_per_switch > 0) {
            made.push_back({ranks_per_node * nodes_per_switch, link_bytes * nodes_per_switch / taper, switch_latency});
        }
        std::erase_if(made, [&](const group& each) { return each.ranks >= ranks; });
        return made;
    }

    /// The same with its levels.
    [[nodiscard]] ep::machine levels() const {
        ep::machine made = constants();
        const std::vector<group> inside = groups();
        if (inside.empty()) {
            return made;
        }
        const bool alone = ranks_per_node == 1;  // of each rank on its node
        double latency = alone ? link_latency : node_latency;
        double bytes = alone ? link_bytes : node_bytes;
        made.levels[0] = {inside[0].ranks, latency, 1 / bytes, 1, {}};
        for (std::size_t number = 0; number < inside.size(); ++number) {
            latency += inside[number].latency;
            // A switch sends as fast as one of its nodes, and so many at once.
            const bool is_switch = nodes_per_switch > 0 && inside[number].ranks == ranks_per_node * nodes_per_switch;
            const double one = is_switch ? link_bytes : inside[number].bytes;
            made.levels[number + 1] = {number + 1 < inside.size() ? inside[number + 1].ranks : 0,
                                       latency,
                                       1 / one,
                                       inside[number].bytes / one,
                                       {}};
        }
        if (ranks % made.levels[0].ranks != 0) {
            throw ep::error("the cluster's last node is not full");
        }
        return made;
    }
};

/// @throws error for missing, unknown and senseless numbers
cluster cluster_of(const std::string& text) {
    cluster made;
    struct field {
        std::string name;
        std::function<void(double)> set;
        bool required;
        bool whole = false;
        bool may_be_zero = false;
    };
    const std::vector<field> fields{
        {"nodes", [&](double value) { made.nodes = static_cast<int>(value); }, true, true},
        {"ranks", [&](double value) { made.ranks_per_node = static_cast<int>(value); }, true, true},
        {"gbit", [&](double value) { made.link_bytes = value * 1e9 / 8; }, true},
        {"us", [&](double value) { made.link_latency = value * 1e-6; }, true, false, true},
        {"tflops", [&](double value) { made.flops = value * 1e12; }, true},
        {"node_gbit", [&](double value) { made.node_bytes = value * 1e9 / 8; }, false},
        {"node_us", [&](double value) { made.node_latency = value * 1e-6; }, false, false, true},
        {"sockets", [&](double value) { made.sockets = static_cast<int>(value); }, false, true},
        {"socket_gbit", [&](double value) { made.socket_bytes = value * 1e9 / 8; }, false},
        {"socket_us", [&](double value) { made.socket_latency = value * 1e-6; }, false, false, true},
        {"switch", [&](double value) { made.nodes_per_switch = static_cast<int>(value); }, false, true},
        {"taper", [&](double value) { made.taper = value; }, false},
        {"switch_us", [&](double value) { made.switch_latency = value * 1e-6; }, false, false, true},
        {"storage_gbit", [&](double value) { made.storage_bytes = value * 1e9 / 8; }, false},
        {"touch", [&](double value) { made.operations_per_touch = value; }, false},
        {"exposed", [&](double value) { made.exposed = value; }, false, false, true}};
    std::set<std::string> given;
    for (const std::string& word : bench::separated(text)) {
        const std::size_t sign = std::min(word.find('='), word.size());
        const auto known = std::ranges::find(fields, word.substr(0, sign), &field::name);
        if (known == fields.end() || sign == word.size() || !given.insert(known->name).second) {
            throw ep::error("the cluster's '" + word +
                            "' is none of nodes, ranks, gbit, us, tflops, node_gbit, node_us and exposed = a number, "
                            "each once");
        }
        double value = 0;
        const char* const end = word.data() + word.size();
        const auto [next, failure] = std::from_chars(word.data() + sign + 1, end, value);
        const bool number = failure == std::errc{} && next == end && std::isfinite(value);
        if (!number || value < 0 || (value == 0 && !known->may_be_zero) || value > 1e6 ||
            (known->whole && value != std::floor(value)) || (known->name == "exposed" && value > 1)) {
            throw ep::error("the cluster's " + word + " is no " + (known->whole ? "whole " : "") + "number " +
                            (known->name == "exposed" ? "from 0 to 1"
                             : known->may_be_zero     ? "from 0 to a million"
                                                      : "above 0, of a million at most"));
        }
        known->set(value);
    }
    for (const field& each : fields) {
        if (each.required && !given.contains(each.name)) {
            throw ep::error("the cluster '" + text + "' does not say its " + each.name);
        }
    }
    if (static_cast<double>(made.nodes) * made.ranks_per_node > 1e6) {
        throw ep::error("the cluster '" + text + "' has more than a million ranks");
    }
    if (made.ranks_per_node > 1 && !(given.contains("node_gbit") && given.contains("node_us"))) {
        throw ep::error("the cluster '" + text +
                        "' has nodes of several ranks and does not say their node_gbit and node_us");
    }
    if (made.sockets > 1 &&
        (made.ranks_per_node % made.sockets != 0 || !given.contains("socket_gbit") || !given.contains("socket_us"))) {
        throw ep::error("the cluster '" + text +
                        "' has sockets that do not divide its ranks, or does not say their socket_gbit and socket_us");
    }
    return made;
}

/// What a rank did in one run.
struct tally {
    double begin = 0;
    double end = 0;
    double operations = 0;
    double waited = 0;
    double sent = 0;
    double between = 0;                  ///< sent to ranks in other groups
    double paged = 0;                    ///< bytes to and from storage
    std::vector<MPI_Request> delayed{};  ///< to start when one of them is waited for
    const ep::kernel* work = nullptr;    ///< of the call before, and its operands
    std::vector<const void*> operands{};
    const void* output = nullptr;
};

/// The simulated ranks are actors of one process that take turns, so they share this.
struct {
    bool overlap = true;
    std::size_t element = 0;  ///< bytes
    int together = 0;         ///< ranks of the innermost groups; 0: none
    double operations_per_touch = 0;
    double storage_bytes = 0;  ///< per second
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

/// Addresses without room behind them: nobody stores elements, and SMPI is kept from copying messages that lie here.
class no_memory {
public:
    static constexpr std::size_t all = std::size_t{1} << 45;

    std::byte* take(std::size_t bytes) {
        std::byte* const taken = next_;
        next_ += (bytes + 63) / 64 * 64;
        if (begin_ == MAP_FAILED || next_ > begin_ + all) {
            throw std::bad_alloc();
        }
        return taken;
    }

    /// What SMPI calls to hand a message on.
    static void copy(smx_activity_t message, void* from, std::size_t bytes);

private:
    std::byte* begin_ = static_cast<std::byte*>(
        ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    std::byte* next_ = begin_;
} nowhere;

void no_memory::copy(smx_activity_t message, void* from, std::size_t bytes) {
    const auto* const first = static_cast<std::byte*>(from);
    if (!(nowhere.begin_ <= first && first < nowhere.next_)) {
        // The activity is a communication; its class has no public declaration.
        smpi_comm_copy_buffer_callback(reinterpret_cast<simgrid::kernel::activity::CommImpl*>(message), from, bytes);
    }
}

/// A message in one piece, as SMPI would copy strided ones; a long one of long elements, as lengths are ints.
struct piece {
    double bytes;
    int count;
    MPI_Datatype type;
};
piece piece_of(int count, MPI_Datatype type) {
    MPI_Count bytes = 0;
    PMPI_Type_size_x(type, &bytes);
    if (bytes < 0) {  // SMPI multiplies a vector's counts as ints; that nothing else went wrong, the plan's bytes say
        bytes += (MPI_Count{1} << 32) * static_cast<MPI_Count>(simulation.element);
    }
    bytes *= count;
    const MPI_Count element = bytes > std::numeric_limits<int>::max() ? 32 : 4;
    return {static_cast<double>(bytes), static_cast<int>((bytes + element - 1) / element),
            element == 32 ? MPI_C_LONG_DOUBLE_COMPLEX : MPI_FLOAT};
}

}  // namespace

// The messages of the executor, seen at MPI's profiling interface.

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm ranks, MPI_Request* made) {
    const piece sent = piece_of(count, type);
    simulation.mine().sent += sent.bytes;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const bool leaves = simulation.together > 0 && rank / simulation.together != peer / simulation.together;
    simulation.mine().between += leaves ? sent.bytes : 0;
    // SMPI takes lengths beyond an int for short ones, which it copies to send them later, unless they wait to be met.
    const bool waits = sent.bytes > std::numeric_limits<int>::max();
    const auto start = waits ? PMPI_Issend : PMPI_Isend;
    const auto prepare = waits ? PMPI_Ssend_init : PMPI_Send_init;
    return simulation.overlap
               ? start(buffer, sent.count, sent.type, peer, tag, ranks, made)
               : simulation.delayed(prepare(buffer, sent.count, sent.type, peer, tag, ranks, made), made);
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm ranks, MPI_Request* made) {
    const piece got = piece_of(count, type);
    return simulation.overlap
               ? PMPI_Irecv(buffer, got.count, got.type, peer, tag, ranks, made)
               : simulation.delayed(PMPI_Recv_init(buffer, got.count, got.type, peer, tag, ranks, made), made);
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

/// Memory that takes addresses and no room, on which work takes time and does nothing. Where inputs lie in storage,
/// this is that of a device, and what passes between it and the host takes the time of the rank's link to storage.
struct simulated_space final : ep::memory_space {
    simulated_space(tally* of_rank, const ep::memory_space* on_host) : of_rank_(of_rank), on_host_(on_host) {}
    [[nodiscard]] const ep::memory_space& on_host() const override { return on_host_ == nullptr ? *this : *on_host_; }
    void copy_page(const ep::box_pair& boxes) const override {
        const double bytes = elements_of(boxes.extents) * static_cast<double>(boxes.element_bytes);
        of_rank_->paged += bytes;
        sg4::this_actor::sleep_for(bytes / simulation.storage_bytes);
    }

    [[nodiscard]] std::string refuses(const void* /*address*/, bool /*is_on_device*/) const override { return {}; }
    [[nodiscard]] void* allocate(std::size_t bytes) const override { return nowhere.take(bytes); }
    void deallocate(void* /*memory*/, std::size_t /*bytes*/) const noexcept override {}
    void contract(const ep::kernel& work, const ep::block_call& call) const override {
        tally& mine = simulation.mine();
        const double operations = elements_of(call.extents) * work.operations_per_point();
        mine.operations += operations;
        double packed_again = 0;  // what several calls of one contraction read is packed by each of them
        std::vector<const void*> operands;
        for (std::size_t operand = 0; operand < call.operands.size(); ++operand) {
            const ep::strided_block& block = call.operands[operand];
            operands.push_back(block.data);
            if (mine.work == &work && mine.operands.size() > operand && mine.operands[operand] == block.data) {
                double elements = 1;
                for (const ep::label_id label : block.labels) {
                    elements *=
                        label == ep::no_label ? 1 : static_cast<double>(call.extents[static_cast<std::size_t>(label)]);
                }
                packed_again += elements;
            }
        }
        // A call of few terms reads and writes its output for them alone (cost/traffic.ipp).
        double terms = 1;
        double outputs = 1;
        for (std::size_t label = 0; label < call.extents.size(); ++label) {
            const bool kept = std::ranges::count(call.output.labels, static_cast<ep::label_id>(label)) > 0;
            (kept ? outputs : terms) *= static_cast<double>(call.extents[label]);
        }
        const bool is_next = mine.work == &work && mine.output == call.output.data;
        const double read_again = is_next ? std::max(0.0, 1 - terms / ep::detail::terms_per_pass) * outputs : 0;
        mine.work = &work;
        mine.output = call.output.data;
        mine.operands = std::move(operands);
        smpi_execute_flops(operations + (packed_again + read_again) * simulation.operations_per_touch);
    }
    void softmax(ep::element_type /*element*/, const ep::block_call& call, ep::label_id /*along*/) const override {
        constexpr double operations = 4;  // for each element: of the largest, exp, their sum, the quotient
        smpi_execute_flops(operations * elements_of(call.extents));
    }
    void combine(const ep::kernel& /*work*/, const ep::box_pair& boxes) const override { copy(boxes); }
    void copy(const ep::box_pair& boxes) const override {
        smpi_execute_flops(elements_of(boxes.extents) * simulation.operations_per_touch);
    }
    void fill(const ep::box& /*region*/, void* /*into*/, std::size_t /*element_bytes*/,
              read_function /*read*/) const override {}

private:
    tally* of_rank_;
    const ep::memory_space* on_host_;
};
const simulated_space host_memory(nullptr, nullptr);

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

/// Hosts, and a route between any two of them: up to their smallest common group, and down. (Stars within stars would
/// say the same, but SimGrid 3.32 finds no way from a host to the router of a group around its own.)
void build(const cluster& of) {
    sg4::NetZone* const whole = sg4::create_full_zone("cluster");
    const std::vector<cluster::group> groups = of.groups();
    const bool alone = of.ranks_per_node == 1;
    std::vector<const sg4::Host*> hosts;
    std::vector<std::vector<const sg4::SplitDuplexLink*>> ways;  // by rank: its own link, then those of its groups
    for (int rank = 0; rank < of.ranks; ++rank) {
        hosts.push_back(whole->create_host("host" + std::to_string(rank), of.flops)->seal());
        std::vector<const sg4::SplitDuplexLink*> way;
        for (std::size_t level = 0; level <= groups.size(); ++level) {
            const bool is_own = level == 0;
            if (!is_own && rank % groups[level - 1].ranks != 0) {
                way.push_back(ways.back()[level]);
                continue;
            }
            const double bytes = !is_own ? groups[level - 1].bytes : alone ? of.link_bytes : of.node_bytes;
            const double latency = !is_own ? groups[level - 1].latency : alone ? of.link_latency : of.node_latency;
            const std::string name = "link" + std::to_string(level) + "_" + std::to_string(rank);
            way.push_back(whole->create_split_duplex_link(name, bytes));
            const_cast<sg4::SplitDuplexLink*>(way.back())->set_latency(latency / 2)->seal();
        }
        ways.push_back(std::move(way));
    }
    for (std::size_t from = 0; from < hosts.size(); ++from) {
        for (std::size_t to = 0; to < from; ++to) {
            std::size_t common = 0;  // links of groups that both ranks leave
            while (common < groups.size() && from / static_cast<std::size_t>(groups[common].ranks) !=
                                                 to / static_cast<std::size_t>(groups[common].ranks)) {
                ++common;
            }
            std::vector<sg4::LinkInRoute> route;
            for (std::size_t level = 0; level <= common; ++level) {
                route.emplace_back(ways[from][level], sg4::LinkInRoute::Direction::UP);
            }
            for (std::size_t level = common + 1; level-- > 0;) {
                route.emplace_back(ways[to][level], sg4::LinkInRoute::Direction::DOWN);
            }
            whole->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr, route, true);
        }
    }
    whole->seal();
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
    double inputs = 0;
    double megabytes = 0;
    double bytes = 0;    ///< sent by all ranks
    double paged = 0;    ///< to and from storage by the rank with most
    double between = 0;  ///< of these, between the innermost groups
    std::array<char, 300> cuts{};
    std::array<char, 300> failure{};  ///< why there is none of it

    void fail(std::string_view sentence) { write(failure, sentence); }
    static void write(std::array<char, 300>& into, std::string_view text) {
        into = {};
        text.copy(into.data(), into.size() - 1);
    }
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

/// What a run is simulated with instead of values: the graph of an element type, and the bytes of one.
struct element_kind {
    experiments::outputs (*record)(const experiments::sized_graph&);
    std::size_t bytes;
};

element_kind element_named(const std::string& name) {
    if (name == "double") {
        return {&experiments::record<double>, sizeof(double)};
    }
    if (name == "float") {
        return {&experiments::record<float>, sizeof(float)};
    }
    if (name == "bfloat16") {
        return {&experiments::record<ep::bfloat16>, sizeof(ep::bfloat16)};
    }
    throw ep::error("'" + name + "' is none of float, double and bfloat16");
}

figures simulate(const std::string& text, const std::string& name, const element_kind& element, const cluster& on,
                 std::size_t memory_limit, bool levels, bool vertices, bool also_serial) {
    figures made;
    const bool pages = on.storage_bytes > 0;
    ep::options asked;
    asked.processes = on.ranks;
    asked.machine = levels ? on.levels() : on.constants();
    asked.memory_limit = memory_limit;
    asked.paging = pages;
    const experiments::sized_graph graph = experiments::graph_of(text);
    const experiments::outputs recorded = element.record(graph);
    if (pages) {
        experiments::put_into_files(recorded, [](const ep::box& /*region*/, void* /*destination*/) {});
    }
    const auto before = std::chrono::steady_clock::now();
    const ep::plan plan = experiments::planned(graph, name, asked, recorded);
    made.planning = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    made.model = plan.seconds();
    made.bytes = static_cast<double>(plan.bytes_sent());
    figures::write(made.cuts, experiments::cuts_text(plan));
    if (vertices) {
        std::cout << plan;
    }
    double needs = 0;
    for (int rank = 0; rank < on.ranks; ++rank) {
        needs += static_cast<double>(plan.peak_bytes(rank)) * (also_serial || on.exposed > 0 ? 2 : 1);
        made.held = std::max(made.held, static_cast<double>(plan.peak_bytes(rank)));
        double inputs = 0;
        for (const ep::planned_vertex& each : plan.vertices()) {
            inputs += each.is_input() ? static_cast<double>(each.resting.held_by(rank).size()) *
                                            static_cast<double>(each.element.bytes)
                                      : 0;
        }
        made.inputs = std::max(made.inputs, inputs);
    }
    if (needs > static_cast<double>(no_memory::all)) {
        throw ep::error(text + " needs " + bench::formatted("%.1f", needs / 1e12) +
                        " TB of addresses; a simulation has " +
                        bench::formatted("%.1f", static_cast<double>(no_memory::all) / 1e12));
    }
    const std::vector<ep::binding> bound = bindings_of(plan);

    std::vector<std::string> words{"simulated", "--log=root.thresh:warning"};
    // Transfers take latency + bytes / bandwidth, polling and the clock nothing.
    for (const char* word :
         {"network/model:CM02", "network/crosstraffic:0", "network/bandwidth-factor:1", "network/latency-factor:1",
          "network/weight-S:0", "smpi/simulate-computation:no", "smpi/test:0", "smpi/wtime:0"}) {
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
    smpi_comm_set_copy_data_callback(no_memory::copy);
    const auto run = [&](ep::context& world, const simulated_space& space, bool overlap) {
        PMPI_Barrier(MPI_COMM_WORLD);
        simulation.overlap = overlap;
        simulation.mine() = {};
        simulation.mine().begin = PMPI_Wtime();
        const ep::results made_here =
            ep::detail::carry_out(plan, world, bound, space, nullptr, true, std::numeric_limits<std::size_t>::max());
        simulation.mine().end = PMPI_Wtime();
        PMPI_Barrier(MPI_COMM_WORLD);
    };
    simulation.element = element.bytes;
    simulation.together = on.groups().empty() ? 0 : on.groups().front().ranks;
    simulation.operations_per_touch = on.operations_per_touch;
    simulation.storage_bytes = on.storage_bytes;
    simulation.ranks.resize(static_cast<std::size_t>(on.ranks));
    for (int rank = 0; rank < on.ranks; ++rank) {
        const std::string number = std::to_string(rank);
        sg4::ActorPtr actor = sg4::Actor::init("rank" + number, engine.host_by_name("host" + number));
        actor->set_property("instance_id", "run");
        actor->set_property("rank", number);
        actor->start([&, rank] {
            PMPI_Init(nullptr, nullptr);
            {
                const simulated_space space(&simulation.ranks[static_cast<std::size_t>(rank)],
                                            pages ? &host_memory : nullptr);
                ep::context world{MPI_COMM_WORLD};
                run(world, space, true);
                if (rank == 0) {
                    made.run = duration();
                    const std::vector<cluster::group> groups = on.groups();
                    for (std::size_t level = 0; level < groups.size() && levels; ++level) {
                        made.limit = std::max(made.limit, static_cast<double>(plan.bytes_between(level)) /
                                                              (on.ranks / groups[level].ranks) / groups[level].bytes);
                    }
                    for (int of = 0; of < on.ranks; ++of) {
                        const tally& each = simulation.ranks[static_cast<std::size_t>(of)];
                        if (each.sent != static_cast<double>(plan.bytes_sent(of))) {
                            made.fail("rank " + std::to_string(of) + " sent " + bench::formatted("%.0f", each.sent) +
                                      " bytes, " + std::to_string(plan.bytes_sent(of)) +
                                      " by the plan (SMPI miscounts messages of many gigabytes)");
                        }
                        if (each.paged != static_cast<double>(plan.bytes_paged(of))) {
                            made.fail("rank " + std::to_string(of) + " paged " + bench::formatted("%.0f", each.paged) +
                                      " bytes, " + std::to_string(plan.bytes_paged(of)) + " by the plan");
                        }
                        made.paged = std::max(made.paged, each.paged);
                        made.operations += each.operations;
                        made.between += each.between;
                        made.exposed += each.waited / made.run / on.ranks;
                        const double own_link = on.ranks_per_node == 1 ? on.link_bytes : on.node_bytes;
                        made.limit =
                            std::max({made.limit, each.operations / on.flops, pages ? each.paged / on.storage_bytes : 0,
                                      each.sent * (levels ? 1 / own_link : asked.machine.seconds_per_byte)});
                    }
                }
                if (rank == 0 && levels && made.between != static_cast<double>(plan.bytes_between(0))) {
                    made.fail(bench::formatted("%.0f", made.between) + " bytes between groups, " +
                              std::to_string(plan.bytes_between(0)) + " by the plan");
                }
                if (also_serial || on.exposed > 0) {
                    run(world, space, false);
                }
                if (rank == 0) {
                    made.serial = duration();
                    made.run += on.exposed * (made.serial - made.run);
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
    constexpr int widths[] = {-22, -16, 5, 9, 9, 10, 10, 7, 7, 8, 12, 9, 9, 8, 6};
    std::string line;
    for (std::size_t column = 0; column < cells.size(); ++column) {
        const std::string blanks(
            static_cast<std::size_t>(std::max(0, std::abs(widths[column]) - static_cast<int>(cells[column].size()))),
            ' ');
        line += widths[column] < 0 ? cells[column] + blanks : "  " + blanks + cells[column];
    }
    std::cout << line << std::endl;
}

int run(int argc, char** argv) {
    std::string graphs = "product";
    std::string plans = "EinDecomp";
    std::string described = "nodes=64,ranks=1,gbit=100,us=2,tflops=1";
    std::string ranks;
    element_kind element = element_named("double");
    std::size_t memory_limit = 0;
    bool vertices = false, check = false, json = false, levels = true;
    const auto either = [](bool& set, std::string chosen, std::string other) {
        return [&set, chosen, other](const std::string& value) {
            set = value == chosen;
            if (!set && value != other) {
                throw ep::error("'" + value + "' is neither " + chosen + " nor " + other);
            }
        };
    };
    bench::read_options(argc, argv,
                        {{"--graph", [&](const std::string& value) { graphs = value; }},
                         {"--plan", [&](const std::string& value) { plans = value; }},
                         {"--cluster",
                          [&](const std::string& value) {
                              described = value;
                              ranks = ranks.empty() ? "all" : ranks;
                          }},
                         {"--ranks", [&](const std::string& value) { ranks = value; }},
                         {"--element", [&](const std::string& value) { element = element_named(value); }},
                         {"--memory",
                          [&](const std::string& value) {
                              memory_limit =
                                  std::size_t{1'000'000} * static_cast<std::size_t>(bench::whole_number(value, 1));
                          }},
                         {"--model", either(levels, "levels", "one")},
                         {"--vertices", either(vertices, "yes", "no")},
                         {"--check", either(check, "yes", "no")},
                         {"--json", either(json, "yes", "no")}});
    cluster on = cluster_of(described);
    if (on.storage_bytes > 0 && memory_limit == 0) {
        throw ep::error("the cluster has storage_gbit, and --memory is not given");
    }
    const int all = on.nodes * on.ranks_per_node;
    ranks = ranks.empty() ? "4,16,64" : ranks == "all" ? std::to_string(all) : ranks;
    if (!json) {
        std::cout << "cluster " << described << '\n';
        print({"graph", "plan", "p", "between", "paged", "run ms", "efficiency", "/model", "/limit", "exposed",
               "no overlap", "held MB", "inputs", "planning", "MB"});
    }
    bool good = true;
    for (const std::string& text : bench::separated(graphs)) {
        for (const std::string& number : bench::separated(ranks)) {
            on.ranks = bench::whole_number(number, 1);
            if (on.ranks > all) {
                throw ep::error("the cluster has " + std::to_string(all) + " ranks, not " + number);
            }
            for (const std::string& plan : bench::separated(plans)) {
                const auto child = bench::in_child({}, [&] {
                    try {
                        return simulate(text, plan, element, on, memory_limit, levels, vertices, !json);
                    } catch (const std::exception& failure) {
                        figures none;
                        none.fail(failure.what());
                        return none;
                    }
                });
                const figures made = child.value.value_or(figures{});
                const std::string failure = child.value ? made.failure.data() : child.failure;
                const double efficiency = made.operations / on.ranks / on.flops / made.run;
                if (json) {
                    std::cout << bench::json_object({{"graph", text},
                                                     {"plan", plan},
                                                     {"cluster", described},
                                                     {"cuts", made.cuts.data()}},
                                                    {{"ranks", on.ranks},
                                                     {"seconds", made.run},
                                                     {"model", made.model},
                                                     {"bytes", made.bytes},
                                                     {"between", made.between},
                                                     {"paged", made.paged},
                                                     {"limit", made.limit},
                                                     {"efficiency", efficiency},
                                                     {"exposed", made.exposed},
                                                     {"held", made.held},
                                                     {"inputs", made.inputs},
                                                     {"planning", made.planning}},
                                                    failure)
                              << std::endl;
                    continue;
                }
                if (!failure.empty()) {
                    print({text, plan, number, failure});
                    good = false;
                    continue;
                }
                const double beside_model = made.run / made.model;
                good = good && (!check || (made.run <= 1.1 * made.limit && std::abs(beside_model - 1) <= 0.15 &&
                                           made.run <= made.serial));
                print({text, plan, number, bench::formatted("%.1f", made.between / 1e6),
                       bench::formatted("%.1f", made.paged / 1e6), milliseconds(made.run),
                       bench::formatted("%.3f", efficiency), bench::formatted("%.3f", beside_model),
                       bench::formatted("%.3f", made.run / made.limit), bench::formatted("%.1f %%", 100 * made.exposed),
                       milliseconds(made.serial), bench::formatted("%.1f", made.held / 1e6),
                       bench::formatted("%.1f", made.inputs / 1e6), bench::formatted("%.2f", made.planning),
                       bench::formatted("%.0f", made.megabytes)});
            }
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
