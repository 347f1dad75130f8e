// LLaMA whose weights lie in storage: the fourth experiment of the EinDecomp paper in form. Batches of 16 on eight
// devices of 40 GB (machine::a100_40gb, assumed), by the time model: EinDecomp's plan with paging, beside cuts by hand
// that page, too: data parallel, where every device reads an eighth of the weights and they go round a ring (as
// ZeRO-Inference does with several devices), and tensor parallel. The last rival is a bound: every device reads all
// weights, and nothing but the longer of reading and of a data parallel plan's arithmetic takes time. In brackets:
// seconds of planning with all in memory.
//   paging [--limit GB] [--layers N] [--lengths 512,1024,…]

#include "graphs/named.hpp"
#include "text.hpp"

#include <einparallel.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ep = einparallel;

namespace {

struct model {
    const char* name;
    int layers;
    std::string sizes;  // behind batch and length: attributes, heads, depth, hidden, vocabulary
};

void plan_one(const model& of, int length, int layers, std::size_t limit, const std::string& way) {
    const std::string text = "llama:" + std::to_string(layers) + "x16x" + std::to_string(length) + "x" + of.sizes;
    const experiments::sized_graph graph = experiments::graph_of(text);
    const experiments::outputs wanted = experiments::record<ep::bfloat16>(graph);
    const std::set<const ep::vertex*> known = experiments::put_into_files(
        wanted, [](const ep::box& /*region*/, void* /*destination*/) { throw ep::error("only planned"); });
    const ep::options asked{.processes = 8, .memory_limit = limit, .machine = ep::machine::a100_40gb, .paging = true};
    const auto seconds_since = [](std::chrono::steady_clock::time_point start) {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const auto start = std::chrono::steady_clock::now();
    if (way == "all read all") {
        double bytes = 0;
        for (const ep::vertex* const each : known) {
            bytes += each->is_input() ? double(ep::whole_box(each->bounds).size()) * double(each->element.bytes) : 0;
        }
        ep::options whole = asked;
        whole.memory_limit = 0;
        const double arithmetic = experiments::planned(graph, "data parallel", whole, wanted).seconds();
        std::printf("%-6s %6d  %-14s %9.3f s  or more\n", of.name, length, way.c_str(),
                    std::max(arithmetic, bytes * asked.machine.seconds_per_stored_byte));
        return;
    }
    try {
        const ep::plan made = experiments::planned(graph, way, asked, wanted);
        const double planned = seconds_since(start);
        ep::options resident = asked;
        resident.memory_limit = 0;
        resident.paging = false;
        const auto again = std::chrono::steady_clock::now();
        static_cast<void>(experiments::planned(graph, way, resident, wanted));
        const double without = seconds_since(again);
        std::size_t paged = 0, peak = 0;
        for (int rank = 0; rank < made.processes(); ++rank) {
            std::size_t loads = 0;
            const ep::program mine = made.program_of(rank);
            for (const ep::step& each : mine.steps) {
                loads += bytes_paged(mine, each);
            }
            paged = std::max(paged, loads);
            peak = std::max(peak, made.peak_bytes(rank));
        }
        std::printf(
            "%-6s %6d  %-14s %9.3f s  exposed %8.3f s  moved %7.2f GB  held %6.2f GB  planned in %.2f s (%.2f)\n",
            of.name, length, way.c_str(), made.seconds(), made.paging().seconds, double(paged) / 1e9,
            double(peak) / 1e9, planned, without);
    } catch (const std::exception& refused) {
        std::printf("%-6s %6d  %-14s %s\n", of.name, length, way.c_str(), refused.what());
    }
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    double gigabytes = 40;
    int layers = 0;
    std::vector<std::string> lengths{"512", "1024", "2048", "4096", "8192"};
    for (int word = 1; word + 1 < argc; word += 2) {
        const std::string name = argv[word];
        gigabytes = name == "--limit" ? std::stod(argv[word + 1]) : gigabytes;
        layers = name == "--layers" ? bench::whole_number(argv[word + 1], 1) : layers;
        lengths = name == "--lengths" ? bench::separated(argv[word + 1]) : lengths;
    }
    const model models[] = {{"7B", 32, "4096x32x128x11008x32000"}, {"65B", 80, "8192x64x128x22016x32000"}};
    for (const model& each : models) {
        for (const std::string& length : lengths) {
            for (const char* way : {"EinDecomp", "data parallel", "Megatron", "all read all"}) {
                plan_one(each, bench::whole_number(length, 1), layers > 0 ? layers : each.layers,
                         std::size_t(gigabytes * 1e9), way);
            }
        }
    }
    return 0;
}
