#pragma once
// Threads inside one contraction, where the program links OpenMP: units compiled without -fopenmp refer to its run-time
// library by weak symbols, so that all units have the same functions, and a program without OpenMP stays on one thread.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/function_ref.hpp>

#include <atomic>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

#if defined(__GNUC__) && defined(__ELF__)

#if defined(_OPENMP)
#define EINPARALLEL_DETAIL_IF_LINKED
#else
#define EINPARALLEL_DETAIL_IF_LINKED __attribute__((weak))
#endif

extern "C" {
// Names of our own for the library's functions: <omp.h> declares them differently from compiler to compiler.
int einparallel_detail_max_threads() __asm__("omp_get_max_threads") EINPARALLEL_DETAIL_IF_LINKED;
int einparallel_detail_processors() __asm__("omp_get_num_procs") EINPARALLEL_DETAIL_IF_LINKED;
int einparallel_detail_in_parallel() __asm__("omp_in_parallel") EINPARALLEL_DETAIL_IF_LINKED;
int einparallel_detail_thread_number() __asm__("omp_get_thread_num") EINPARALLEL_DETAIL_IF_LINKED;
int einparallel_detail_thread_count() __asm__("omp_get_num_threads") EINPARALLEL_DETAIL_IF_LINKED;
void einparallel_detail_parallel(void (*body)(void*), void* data, unsigned threads,
                                 unsigned flags) __asm__("GOMP_parallel") EINPARALLEL_DETAIL_IF_LINKED;
}

#undef EINPARALLEL_DETAIL_IF_LINKED

#if defined(_OPENMP) && defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED
// The compiled library refers to OpenMP weakly: this reference is what makes the linker keep it.
[[gnu::used]] inline int (*const refers_to_openmp)() = &einparallel_detail_max_threads;
#endif

template <class Function>
bool is_linked(Function* function) {
    return function != nullptr;
}

#endif

/// The most threads that a contraction uses where the user has not told OpenMP how many. The ranks of a node set it,
/// because they share the processors.
EINPARALLEL_INLINE std::atomic<int>& thread_limit();

/// True where OpenMP is linked.
EINPARALLEL_INLINE bool has_threads();

/// How many threads a contraction may use. OpenMP says it (OMP_NUM_THREADS, omp_set_num_threads, the affinity mask);
/// where that is merely the number of processors, thread_limit() limits it. It is one inside a parallel region of the
/// caller, and where no OpenMP is linked.
EINPARALLEL_INLINE int available_threads();

/// A number that changes whenever available_threads() may have changed. It is faster to get.
EINPARALLEL_INLINE std::int64_t thread_settings();

/// Calls work(share, shares) once for every share, on `threads` threads. @pre has_threads()
EINPARALLEL_INLINE void run_on_threads(int threads, function_ref<void(index, index)> work);

/// Calls body(share, shares) once for every share, on up to `threads` threads. `shares` is how many threads there
/// really are. Throws the first exception that a body throws.
void on_threads(int threads, const auto& body) {
    if (threads <= 1) {
        body(index{0}, index{1});
        return;
    }
    run_on_threads(threads, body);
}

/// Threads share work that is bound by memory if it moves at least this many bytes.
inline constexpr index threaded_bytes = index{1} << 20;

/// Share number `share` when 0 … count − 1 is divided into `shares` even shares. `end` is one past its last.
struct even_share {
    index begin;
    index end;

    even_share(index count, index share, index shares)
        : begin(count * share / shares), end(count * (share + 1) / shares) {}
};

}  // namespace einparallel::EINPARALLEL_DETAIL
