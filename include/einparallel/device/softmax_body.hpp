#pragma once
// Softmax along one loop of a strided box: the body of a kernel.

#include <einparallel/device/join_bodies.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/host_device.hpp>
#include <einparallel/notation/operators.hpp>

#include <cmath>
#include <cstdint>

namespace einparallel::detail {

/// Z = exp(X − max X) / Σ exp(X − max X): `across` rows of a block, each by `along` threads, in a fixed order. Where
/// rows fit into shared memory they are read once, else once for each of the maximum, the sum and the result.
template <class T>
struct softmax_body {
    void* output = nullptr;
    const void* from[1] = {};
    std::uint32_t points = 0;  ///< rows
    bool combine = false;
    join_loops<1> loops{};  ///< of rows
    int length = 0;
    index steps[2] = {};  ///< along a row
    int across = 1;       ///< powers of two; across · along threads
    int along = 1;
    bool along_fast = true;  ///< neighbouring threads have neighbouring elements of a row, else neighbouring rows
    bool kept = true;        ///< rows stay in shared memory

    template <class Context>
    EINPARALLEL_HOST_DEVICE void operator()(Context& at) const {
        const int thread = at.thread();
        const int lane = along_fast ? thread & (along - 1) : thread / across;
        const int column = along_fast ? thread / along : thread & (across - 1);
        const auto row = static_cast<std::uint32_t>(at.block() * across + column);
        index offsets[2] = {};
        loops.add(false, row, offsets);
        T* const all = reinterpret_cast<T*>(at.shared());
        T* const own = all + at.threads() + thread;  // the thread's elements, `threads` apart
        const int rounds = (length + along - 1) / along;
        const auto is_inside = [&](int round) { return row < points && round * along + lane < length; };
        const auto place = [&](int round, int tensor) {
            return offsets[tensor] + (index{round} * along + lane) * steps[tensor];
        };
        const auto given = [&](int round) {
            return at.load(is_inside(round), static_cast<const T*>(from[0]) + place(round, 1));
        };
        // x ⊕ y of all threads of a row.
        const auto reduced = [&](T x, auto by) {
            at.barrier();
            all[thread] = x;
            for (int distance = along / 2; distance > 0; distance /= 2) {
                at.barrier();
                if (lane < distance) {
                    all[thread] = by(all[thread], all[thread + distance * (along_fast ? 1 : across)]);
                }
            }
            at.barrier();
            return all[along_fast ? thread - lane : column];
        };
        T largest = op::max_type::identity<T>();
        for (int round = 0; round < rounds; ++round) {
            const T x = given(round);
            if (is_inside(round)) {
                largest = op::max_type{}(largest, x);
            }
            if (kept) {
                own[round * at.threads()] = x;
            }
        }
        largest = reduced(largest, op::max_type{});
        T sum = 0;
        for (int round = 0; round < rounds; ++round) {
            const T e = std::exp((kept ? own[round * at.threads()] : given(round)) - largest);
            sum += is_inside(round) ? e : T(0);
            if (kept) {
                own[round * at.threads()] = e;
            }
        }
        sum = reduced(sum, op::sum_type{});
        for (int round = 0; round < rounds; ++round) {
            const T e = kept ? own[round * at.threads()] : std::exp(given(round) - largest);
            at.store(is_inside(round), static_cast<T*>(output) + place(round, 0), e / sum);
        }
    }
};

}  // namespace einparallel::detail
