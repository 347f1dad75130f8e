// Indices that are data beside memcpy: the rows of an embedding that random tokens name, W(token(i), d), and a
// histogram. Prints bytes read and written a second, and their share of memcpy's over as many bytes.

#include <einparallel.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>

namespace {

namespace ep = einparallel;
EINPARALLEL_LABELS(i, d, t);

/// The shortest of some runs, in seconds.
template <class Work>
double seconds_of(const Work& work) {
    double least = std::numeric_limits<double>::infinity();
    for (int run = 0; run < 15; ++run) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return least;
}

ep::array<int, 1> random_tokens(ep::index count, ep::index below) {
    ep::array<int, 1> made({count});
    made(i) =
        ep::map([=](double uniform) { return int(uniform * double(below)); }, ep::map(ep::uniform(1), ep::iota(i)));
    return made;
}

}  // namespace

int main() {
    constexpr ep::index vocabulary = 32000;
    constexpr ep::index width = 4096;
    constexpr ep::index tokens = 2048;
    ep::array<float, 2> W({vocabulary, width}), Y({tokens, width}), X({tokens, width});
    W(t, d) = ep::join(ep::uniform(2), ep::iota(t), ep::iota(d));
    X(i, d) = 1.0F;
    const ep::array<int, 1> token = random_tokens(tokens, vocabulary);
    const double bytes = 2.0 * double(tokens * width) * sizeof(float);
    const double copied =
        seconds_of([&] { std::memcpy(Y.data(), X.data(), std::size_t(tokens * width) * sizeof(float)); });
    const double gathered = seconds_of([&] { Y(i, d) = W(token(i), d); });
    const double scattered = seconds_of([&] { W(token(i), d) += X(i, d); });
    std::printf("memcpy                  %6.2f GB/s\n", bytes / copied * 1e-9);
    std::printf("Y(i, d) = W(token(i), d)  %6.2f GB/s, %.2f of memcpy\n", bytes / gathered * 1e-9, copied / gathered);
    std::printf("W(token(i), d) += X(i, d) %6.2f GB/s (of three accesses), %.2f of memcpy\n",
                1.5 * bytes / scattered * 1e-9, 1.5 * copied / scattered);

    constexpr ep::index points = 1 << 22;
    constexpr ep::index bins = 1000;
    const ep::array<int, 1> bin = random_tokens(points, bins);
    ep::array<int, 1> H({bins}), loop({bins});
    const double by_loop = seconds_of([&] {
        for (ep::index at = 0; at < points; ++at) {
            loop.data()[bin.data()[at]] += 1;
        }
    });
    const double counted = seconds_of([&] { H(bin(i)) += 1; });
    std::printf("H(bin(i)) += 1            %6.2f ns for a point, a loop %.2f ns\n", counted / points * 1e9,
                by_loop / points * 1e9);
    return H(0) == loop(0) ? 0 : 1;
}
