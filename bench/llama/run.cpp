// Tokens a second of a LLaMA checkpoint, on as many ranks as it is started on.
//
//     mpiexec -n P llama_run FOLDER [--prompts B] [--tokens S] [--steps N] [--rounds R] [--device 1]
//
// On the ranks' devices where it is asked for, and the program is built with CUDA. Prints, as lines of JSON, the
// seconds of a prefill of S tokens and of each of N steps behind it (the least and the median of all rounds), what a
// plan and the first step of a new capacity took, and the bytes of weights a second that a step reads, beside a sum
// over as many bytes with as many threads. Names of numbers end in their unit.

#include <einparallel.hpp>
#include <graphs/llama_checkpoint.hpp>
#include <graphs/llama_session.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ep = einparallel;

namespace {

struct asked {
    std::string folder;
    ep::index prompts = 1, tokens = 64, steps = 32, rounds = 3, device = 0;
};

double least(const std::vector<double>& seconds) {
    return *std::min_element(seconds.begin(), seconds.end());
}
double median(std::vector<double> seconds) {
    std::nth_element(seconds.begin(), seconds.begin() + std::ptrdiff_t(seconds.size() / 2), seconds.end());
    return seconds[seconds.size() / 2];
}

/// Seconds of f() on the rank that takes longest.
template <class F>
double seconds_of(const F& f) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    f();
    double taken = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return taken;
}

/// Bytes of the weights that a step reads: all but the embedding, of which it reads one row for each token.
std::size_t bytes_read(const ep::safetensors_file& file, const experiments::llama_config& n) {
    std::size_t bytes = 0;
    for (const std::string& name : file.names()) {
        if (n.tied || name != "model.embed_tokens.weight") {
            bytes += std::size_t(ep::whole_box(file.shape(name)).size()) * file.type(name).bytes;
        }
    }
    return bytes;
}

/// The sum of numbers, on all threads: they are read once, in order.
std::uint32_t sum_of(const std::uint32_t* numbers, std::size_t count) {
    std::uint32_t sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (std::size_t at = 0; at < count; ++at) {
        sum += numbers[at];
    }
    return sum;
}

/// Seconds of a sum over so many bytes, all ranks together: what it takes to read them.
double seconds_of_sum(std::size_t bytes, ep::index rounds) {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::size_t count = bytes / sizeof(std::uint32_t) / std::size_t(ranks);
    const std::unique_ptr<std::uint32_t[]> numbers(new std::uint32_t[count]);
#pragma omp parallel for
    for (std::size_t at = 0; at < count; ++at) {
        numbers[at] = std::uint32_t(at);
    }
    std::vector<double> taken;
    volatile std::uint32_t sum = 0;
    for (ep::index round = 0; round < rounds + 3; ++round) {
        taken.push_back(seconds_of([&] { sum = sum_of(numbers.get(), count); }));
    }
    return least(taken);
}

/// Runs plans on the ranks' devices, where their results stay: the next step reads the cache there.
std::function<ep::results(const ep::plan&, std::vector<ep::binding>)> on_devices([[maybe_unused]] ep::context& world) {
#if EINPARALLEL_HAS_CUDA
    return [&world](const ep::plan& plan, const std::vector<ep::binding>& bound) {
        return plan.run(world, ep::device_run{.results_stay = true}, bound);
    };
#else
    throw std::invalid_argument("llama_run: built without CUDA");
#endif
}

template <class T>
void measure(ep::context& world, const asked& what, const ep::safetensors_file& file) {
    const experiments::llama_config n = experiments::read_llama_config(what.folder);
    const auto weights = experiments::load_llama_weights<T>(n, file);
    using session_type = experiments::llama_session<T>;
    session_type session(world, n, weights, what.prompts, {.runs = std::size_t(session_type::block)}, nullptr,
                         what.device > 0 ? on_devices(world) : nullptr);
    ep::array<int, 2> prompt({what.prompts, what.tokens}), one({what.prompts, 1});
    for (ep::index at = 0; at < prompt.size(); ++at) {
        prompt.data()[at] = int(at * 7919 % n.vocabulary);
    }
    std::vector<double> prefills, steps, first_steps;
    for (ep::index round = 0; round <= what.rounds; ++round) {  // the first one plans, and brings the weights
        session.restart();
        ep::array<int, 1> next;
        const double prefill = seconds_of([&] { next = session(prompt).next.allgather(); });
        for (ep::index step = 0; step < what.steps; ++step) {
            std::copy(next.data(), next.data() + next.size(), one.data());
            const ep::index capacity = session.capacity();
            const double seconds = seconds_of([&] { next = session(one).next.allgather(); });
            if (step > 0 && session.capacity() == capacity) {
                steps.push_back(seconds);
            } else if (round == 0) {
                first_steps.push_back(seconds);
            }
        }
        prefills.push_back(prefill);
        if (round == 0) {
            prefills.clear();
            steps.clear();
        }
    }
    const std::size_t bytes = bytes_read(file, n);
    const double sum = seconds_of_sum(bytes, what.rounds);
    const std::size_t bytes_sent = session.plan(1).bytes_sent_again();
    if (world.rank() == 0) {
        const auto line = [&](const char* name, double value) { std::cout << ", \"" << name << "\": " << value; };
        std::cout << "{\"ranks\": " << world.size();
        line("prefill_tokens_per_s", double(what.prompts * what.tokens) / least(prefills));
        line("prefill_median_s", median(prefills));
        line("decoding_tokens_per_s", double(what.prompts) / least(steps));
        line("decoding_median_s", median(steps));
        line("weights_MB", double(bytes) / 1e6);
        line("weights_GB_per_s", double(bytes) / least(steps) / 1e9);
        line("weights_median_GB_per_s", double(bytes) / median(steps) / 1e9);
        line("sum_GB_per_s", double(bytes) / sum / 1e9);
        line("first_step_s", first_steps.front());
        if (first_steps.size() > 1) {
            line("larger_cache_s", first_steps.back());
        }
        line("bytes_a_step", double(bytes_sent));
        std::cout << "}" << std::endl;
    }
}

asked parse(int argc, char** argv) {
    if (argc < 2 || argc % 2 != 0) {
        throw std::invalid_argument("llama_run: FOLDER, then options with their values");
    }
    asked made{argv[1]};
    for (int word = 2; word + 1 < argc; word += 2) {
        const std::string name = argv[word];
        ep::index* const to = name == "--prompts"  ? &made.prompts
                              : name == "--tokens" ? &made.tokens
                              : name == "--steps"  ? &made.steps
                              : name == "--rounds" ? &made.rounds
                              : name == "--device" ? &made.device
                                                   : nullptr;
        if (to == nullptr || (*to = std::atoll(argv[word + 1])) < (to == &made.device ? 0 : 1)) {
            throw std::invalid_argument("llama_run: '" + name + " " + argv[word + 1] + "' is no option");
        }
    }
    return made;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int failed = 0;
    try {
        ep::context world{MPI_COMM_WORLD};
        const asked what = parse(argc, argv);
        const ep::safetensors_file file = experiments::open_llama_weights(what.folder);
        if (experiments::llama_element_type(file) == ep::element_type_of<float>()) {
            measure<float>(world, what, file);
        } else if (experiments::llama_element_type(file) == ep::element_type_of<ep::bfloat16>()) {
            measure<ep::bfloat16>(world, what, file);
        } else {
            throw std::invalid_argument("llama_run: matrices are neither F32 nor BF16");
        }
    } catch (const std::exception& failure) {
        std::cerr << failure.what() << std::endl;
        failed = 1;
    }
    MPI_Finalize();
    return failed;
}
