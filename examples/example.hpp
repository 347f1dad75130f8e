#pragma once
// What the examples share beside the library: made-up input, the count of bytes, and the comparison with a reference.

#include <einparallel.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace example {

namespace ep = einparallel;

/// A tensor of numbers in [-1, 1], each a pure function of its index: ep::generate calls it on the rank that holds the
/// element, the reference calls it where it likes, and both see the same tensor. Tensors with different seeds differ.
struct numbers {
    std::uint64_t seed;

    template <class... Indices>
    double operator()(Indices... at) const {
        std::uint64_t state = seed;
        ((state = mixed(state ^ static_cast<std::uint64_t>(at))), ...);
        // The upper 53 bits are an exact double in [0, 1).
        return 2.0 * static_cast<double>(mixed(state) >> 11) / 9007199254740992.0 - 1.0;
    }

private:
    /// A step of the generator SplitMix64.
    static std::uint64_t mixed(std::uint64_t state) {
        state += 0x9e3779b97f4a7c15U;
        state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
        state = (state ^ (state >> 27)) * 0x94d049bb133111ebU;
        return state ^ (state >> 31);
    }
};

/// Argument number `position` of the program as a number of at least `least`, `otherwise` where there is none.
/// @throws ep::error, on every rank, because all are started with the same arguments
inline ep::index argument(int argc, char** argv, int position, ep::index otherwise, ep::index least = 1) {
    if (position >= argc) {
        return otherwise;
    }
    const std::string_view text = argv[position];
    ep::index value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size() || value < least) {
        throw ep::error("argument " + std::to_string(position) + " is '" + std::string(text) +
                        "', and must be a whole number of at least " + std::to_string(least));
    }
    return value;
}

/// Prints the bytes that the plan predicted and those that the run moved, both summed over the ranks. True where they
/// agree on every rank. Collective.
inline bool moved_as_predicted(const ep::context& world, const ep::plan& plan, const ep::results& run) {
    const std::size_t predicted = plan.bytes_sent(world.rank());
    const std::size_t moved = run.bytes_sent();
    std::array<std::uint64_t, 3> sums{predicted, moved, predicted == moved ? 0U : 1U};
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (world.rank() == 0) {
        std::cout << "bytes predicted: " << sums[0] << "\nbytes moved: " << sums[1] << '\n';
    }
    return sums[2] == 0;
}

/// Prints max |result − reference| / max |reference|; true where that is below 1e-10. Both are read on rank 0 only.
/// Collective.
inline bool agrees(const ep::context& world, std::span<const double> result, std::span<const double> reference) {
    double difference = 0;
    if (world.rank() == 0) {
        double largest = 0;
        bool comparable = result.size() == reference.size();
        for (std::size_t at = 0; comparable && at < reference.size(); ++at) {
            difference = std::max(difference, std::abs(result[at] - reference[at]));
            largest = std::max(largest, std::abs(reference[at]));
            comparable = std::isfinite(result[at]);  // max() would pass over a NaN
        }
        difference = !comparable ? HUGE_VAL : largest > 0 ? difference / largest : difference;
        std::cout << "largest relative difference: " << difference << std::endl;
    }
    MPI_Bcast(&difference, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return difference < 1e-10;
}

/// What make() returns, where it does on all ranks. For what each rank does for itself, as opening a file: where one
/// fails the others do not wait for it.
/// @throws ep::error the sentence of the first rank that failed, on all ranks. Collective
template <class Make>
auto on_all_ranks(const ep::context& world, const Make& make) {
    std::optional<decltype(make())> made;
    std::string sentence;
    try {
        made.emplace(make());
    } catch (const std::exception& failure) {
        sentence = failure.what();
    }
    int first = made ? world.size() : world.rank();
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first < world.size()) {
        auto length = int(sentence.size());
        MPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD);
        sentence.resize(std::size_t(length));
        MPI_Bcast(sentence.data(), length, MPI_CHAR, first, MPI_COMM_WORLD);
        throw ep::error(sentence);
    }
    return *std::move(made);
}

/// True where --device is among the program's arguments, until there turns out to be none.
inline bool wants_device = false;

/// plan.run(world, more…), with --device on the ranks' devices; where there are none, on the host, after a sentence.
template <class... More>
ep::results run_plan(ep::context& world, const ep::plan& plan, More&... more) {
    std::string why = wants_device ? "this program was built without CUDA" : "";
#if defined(EINPARALLEL_HAS_CUDA)
    try {
        if (wants_device) {
            return plan.run(world, ep::on_device, more...);
        }
    } catch (const ep::error& failure) {
        why = failure.what();
        if (why.find("no CUDA device") == std::string::npos && why.find("driver of the device") == std::string::npos) {
            throw;
        }
    }
#endif
    if (!why.empty() && world.rank() == 0) {
        std::cout << "on the host: " << why << std::endl;
    }
    wants_device = false;
    return plan.run(world, more...);
}

/// The main of an example: initialises MPI, takes --device out of the arguments, makes a context of all ranks, and
/// calls `program(world)`, which says whether the results are right. Returns what main returns.
template <class Program>
int run(int& argc, char** argv, const Program& program) {
    MPI_Init(&argc, &argv);
    char** const end = std::remove_if(argv + 1, argv + argc, [](std::string_view word) { return word == "--device"; });
    wants_device = end != argv + argc;
    argc = static_cast<int>(end - argv);
    bool good = false;
    try {
        ep::context world{MPI_COMM_WORLD};
        good = program(world);
    } catch (const ep::error& failure) {  // the same sentence on every rank: once is enough
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) {
            std::cerr << failure.what() << '\n';
        }
    }
    MPI_Finalize();
    return good ? 0 : 1;
}

}  // namespace example
