// Products of halves beside those of floats: large matrices, and a matrix by few vectors, which reads every element
// once, beside a sum over as many bytes. One thread, medians. Prints a table; with a Python that has PyTorch its
// products of bfloat16 (oneDNN's, rounded to bfloat16) beside ours (floats), in turns.
//   halves [rounds [python]]

#include <einparallel.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace ep = einparallel;

namespace {

EINPARALLEL_LABELS(i, j, k);

int rounds = 7;

double median_seconds(const std::function<void()>& work) {
    std::vector<double> seconds;
    for (int round = 0; round <= rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        work();
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(seconds.begin() + 1, seconds.end());  // the first one fills the caches
    return seconds[1 + seconds.size() / 2 - 1];
}

template <class T>
ep::array<T, 2> matrix(ep::index rows, ep::index columns, int period) {
    ep::array<T, 2> x({rows, columns});
    for (ep::index at = 0; at < x.size(); ++at) {
        x.data()[at] = T(float(at * 7 % period) - 6.0F);
    }
    return x;
}

/// Seconds of Z(i, k) = A(i, j) · B(j, k), B transposed in memory or not.
template <class A, class B>
double product(ep::index m, ep::index n, bool turned) {
    const ep::array<A, 2> a = matrix<A>(m, n, 13);
    const ep::array<B, 2> b = matrix<B>(n, n, 11);
    ep::array<float, 2> z({m, n});
    return median_seconds([&] {
        if (turned) {
            z(i, k) = a(i, j) * b(k, j);
        } else {
            z(i, k) = a(i, j) * b(j, k);
        }
    });
}

/// With the vectors that the library's kernels have. @pre count is a multiple of 32
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
std::uint64_t
sum_of(const std::uint64_t* words, std::size_t count) {
    typedef std::uint64_t vector __attribute__((vector_size(64), aligned(8)));
    vector sums[4] = {};
    for (std::size_t at = 0; at < count; at += 32) {
        for (std::size_t part = 0; part < 4; ++part) {
            sums[part] += *reinterpret_cast<const vector*>(words + at + 8 * part);
        }
    }
    const vector all = sums[0] + sums[1] + sums[2] + sums[3];
    return all[0] + all[1] + all[2] + all[3] + all[4] + all[5] + all[6] + all[7];
}

/// Seconds of a sum over as many bytes, which is all that reading them costs.
double reading(std::size_t bytes) {
    const std::vector<std::uint64_t> words(bytes / 8, 3);
    volatile std::uint64_t kept = 0;
    return median_seconds([&] { kept = kept + sum_of(words.data(), words.size()); });
}

/// Seconds of PyTorch's product of m x n numbers by n x n transposed ones, as in its linear layers, bfloat16, on one
/// thread; 0 where it does not run.
double product_of_torch(const std::string& python, ep::index m, ep::index n) {
    const std::string program =
        "import time, torch; torch.set_num_threads(1); n = " + std::to_string(n) +
        "; a, b = (torch.randn(m, n).to(torch.bfloat16) for m in (" + std::to_string(m) +
        ", n)); a @ b.mT\n"
        "def run():\n start = time.perf_counter(); a @ b.mT; return time.perf_counter() - start\n"
        "print(sorted(run() for _ in range(" +
        std::to_string(rounds) + "))[" + std::to_string(rounds / 2) + "])";
    const std::string command = "'" + python + "' -c '" + program + "'";
    std::FILE* const child = popen(command.c_str(), "r");
    double seconds = 0;
    const bool is_read = child != nullptr && std::fscanf(child, "%lf", &seconds) == 1;
    if (child != nullptr) {
        pclose(child);
    }
    return is_read ? seconds : 0;
}

}  // namespace

int main(int count, char** words) {
    rounds = count > 1 ? std::atoi(words[1]) : rounds;
    std::printf("%s\n\nmatrix products, as fast as floats:\n%6s %7s %9s %8s %8s %8s %8s\n", ep::local_kernels().c_str(),
                "n", "B", "Gflop/s", "bf16", "f16", "f*bf16", "bf16*f16");
    for (const ep::index n : {1024, 2048, 4096}) {
        for (const bool turned : {false, true}) {
            const double floats = product<float, float>(n, n, turned);
            std::printf("%6td %7s %9.1f %8.2f %8.2f %8.2f %8.2f\n", n, turned ? "(k, j)" : "(j, k)",
                        2e-9 * double(n * n * n) / floats, floats / product<ep::bfloat16, ep::bfloat16>(n, n, turned),
                        floats / product<ep::float16, ep::float16>(n, n, turned),
                        floats / product<float, ep::bfloat16>(n, n, turned),
                        floats / product<ep::bfloat16, ep::float16>(n, n, turned));
            std::fflush(stdout);
        }
    }
    if (count > 2) {
        std::printf("\n%6s %6s %21s %18s %12s\n", "m", "n", "torch bf16, Gflop/s", "ours", "ours / torch");
        const ep::index shapes[][2] = {{1024, 1024}, {2048, 2048}, {4096, 4096}, {128, 4096}, {128, 8192}, {16, 8192}};
        for (const auto& [m, n] : shapes) {
            const double ours = product<ep::bfloat16, ep::bfloat16>(m, n, true);
            const double theirs = product_of_torch(words[2], m, n);
            const double again = product<ep::bfloat16, ep::bfloat16>(m, n, true);
            const double operations = 2e-9 * double(m * n * n);
            std::printf("%6td %6td %21.1f %8.1f, %8.1f %12.2f\n", m, n, operations / theirs, operations / ours,
                        operations / again, theirs / std::max(ours, again));
            std::fflush(stdout);
        }
    }
    std::printf(
        "\nmatrix by m vectors, GB/s of the matrix, and the share of a sum over its bytes:\n%6s %3s %7s %16s %16s "
        "%16s\n",
        "n", "m", "B", "float", "bf16", "f16");
    for (const ep::index n : {4096, 8192}) {
        for (const ep::index m : {1, 2, 4, 16, 128}) {
            for (const bool turned : {false, true}) {
                std::printf("%6td %3td %7s", n, m, turned ? "(k, j)" : "(j, k)");
                const auto show = [&](double seconds, std::size_t element) {
                    const std::size_t bytes = std::size_t(n * n) * element;
                    std::printf(" %9.1f (%.2f)", 1e-9 * double(bytes) / seconds, reading(bytes) / seconds);
                };
                show(product<float, float>(m, n, turned), 4);
                show(product<float, ep::bfloat16>(m, n, turned), 2);
                show(product<float, ep::float16>(m, n, turned), 2);
                std::printf("\n");
            }
        }
    }
    return 0;
}
