// Products of two element types beside converting both operands first: by a statement, einsum_into<> and a network. In
// turns, medians. Then what a product of two types has on the heap at most, beside one of equal types.
//   mixed [rounds]

#include <einparallel.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <vector>

namespace ep = einparallel;

namespace {

std::size_t on_heap = 0, most_on_heap = 0;

struct header {
    alignas(64) std::size_t bytes;
};

void* counted(std::size_t bytes, std::size_t alignment) {
    const std::size_t before = std::max(sizeof(header), alignment);
    auto* const memory =
        static_cast<std::byte*>(std::aligned_alloc(before, (bytes + 2 * before - 1) / before * before));
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    on_heap += bytes;
    most_on_heap = std::max(most_on_heap, on_heap);
    new (memory + before - sizeof(header)) header{bytes};
    return memory + before;
}
void uncounted(void* memory, std::size_t alignment) {
    if (memory != nullptr) {
        auto* const first = static_cast<std::byte*>(memory);
        on_heap -= reinterpret_cast<header*>(first - sizeof(header))->bytes;
        std::free(first - std::max(sizeof(header), alignment));
    }
}

}  // namespace

void* operator new(std::size_t bytes) {
    return counted(bytes, 64);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return counted(bytes, std::size_t(alignment));
}
void operator delete(void* memory) noexcept {
    uncounted(memory, 64);
}
void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
    uncounted(memory, 64);
}
void operator delete(void* memory, std::align_val_t alignment) noexcept {
    uncounted(memory, std::size_t(alignment));
}
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t alignment) noexcept {
    uncounted(memory, std::size_t(alignment));
}

namespace {

EINPARALLEL_LABELS(i, j, k);

int rounds = 7;

/// Median seconds of each, which take turns.
std::vector<double> in_turns(const std::vector<std::function<void()>>& works) {
    std::vector<std::vector<double>> seconds(works.size());
    for (int round = 0; round <= rounds; ++round) {
        for (std::size_t work = 0; work < works.size(); ++work) {
            const auto start = std::chrono::steady_clock::now();
            works[work]();
            seconds[work].push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
    }
    std::vector<double> medians;
    for (std::vector<double>& each : seconds) {
        std::sort(each.begin() + 1, each.end());  // the first one fills the caches
        medians.push_back(each[1 + std::size_t(rounds) / 2]);
    }
    return medians;
}

template <class T, std::size_t Rank>
ep::array<T, Rank> made(const std::array<ep::index, Rank>& extents, int period) {
    ep::array<T, Rank> x(extents);
    for (ep::index at = 0; at < x.size(); ++at) {
        x.data()[at] = T(int(at * 7 % period % 2));
    }
    return x;
}

/// Z = X · Y of types A and B into Out; first converted, they are of type T.
template <class Out, class A, class B, class T>
void products(const char* name, ep::index n) {
    const auto x = made<A, 2>({n, n}, 13);
    const auto y = made<B, 2>({n, n}, 11);
    ep::array<Out, 2> expected({n, n}), z({n, n}), into({n, n});
    ep::array<T, 2> net;
    std::vector<std::function<void()>> works{
        [&] {
            ep::array<T, 2> a, b;
            a(i, j) = x(i, j);
            b(j, k) = y(j, k);
            expected(i, k) = a(i, j) * b(j, k);
        },
        [&] { z(i, k) = x(i, j) * y(j, k); },
        [&] { ep::einsum_into<"ij,jk->ik">(into, x, y); },
        [&] {
            ep::network<T> network;
            network.add(x, "ij");
            network.add(y, "jk");
            net = network.result("ik");
        },
    };
    const std::vector<double> seconds = in_turns(works);
    std::printf("%-26s %5ld %10.3f %10.2f %13.2f %8.2f", name, long(n), 1e3 * seconds[0], seconds[0] / seconds[1],
                seconds[0] / seconds[2], seconds[0] / seconds[3]);
    bool same = true;
    for (ep::index at = 0; at < z.size(); ++at) {
        same = same && z.data()[at] == expected.data()[at] && into.data()[at] == expected.data()[at] &&
               net.data()[at] == expected.data()[at];
    }
    std::printf("%s\n", same ? "" : "  DIFFERENT");
}

template <class Out, class A, class B>
std::size_t most_of_product(ep::index n) {
    const auto x = made<A, 2>({n, n}, 13);
    const auto y = made<B, 2>({n, n}, 11);
    ep::array<Out, 2> z({n, n});
    const std::size_t before = on_heap;
    most_on_heap = on_heap;
    z(i, k) = x(i, j) * y(j, k);
    return most_on_heap - before;
}

}  // namespace

int main(int count, char** arguments) {
    rounds = count > 1 ? std::atoi(arguments[1]) : rounds;
    std::printf("n x n by n x n        n  convert first, ms   of its speed: statement  einsum_into<>  network\n");
    for (const ep::index n : {100, 320, 1000}) {
        products<std::complex<double>, std::complex<double>, double, std::complex<double>>("complex x real", n);
        products<double, ep::float16, double, double>("float16 x double", n);
        products<double, std::uint8_t, std::uint8_t, double>("uint8 x uint8, double", n);
        products<int, bool, bool, int>("bool x bool, int", n);
        products<double, float, float, double>("float x float, double", n);
        products<int, std::int8_t, std::int8_t, int>("int8 x int8, int", n);
        products<double, int, double, double>("int x double", n);
        products<std::int64_t, int, unsigned, std::int64_t>("int x unsigned, int64", n);
        products<float, ep::float8_e4m3, ep::float8_e5m2, float>("float8 x float8, float", n);
        products<float, ep::float8_e4m3, float, float>("float8 x float, float", n);
    }
    const ep::index n = 2000;
    std::printf("\nheap of a product of 2000 x 2000 at most, MiB: double x double %.2f",
                double(most_of_product<double, double, double>(n)) / (1 << 20));
    std::printf(", int x double %.2f", double(most_of_product<double, int, double>(n)) / (1 << 20));
    std::printf(", uint8 x uint8 into double %.2f",
                double(most_of_product<double, std::uint8_t, std::uint8_t>(n)) / (1 << 20));
    std::printf(", float8 x float8 into float %.2f\n",
                double(most_of_product<float, ep::float8_e4m3, ep::float8_e4m3>(n)) / (1 << 20));
}
