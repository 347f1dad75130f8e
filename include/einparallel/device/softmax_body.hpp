#pragma once
// Softmax along one loop of a strided box: the body of a kernel.

#include <einparallel/device/body.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/host_device.hpp>
#include <einparallel/notation/operators.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace einparallel::detail {

/// Z = exp(X − max X) / Σ exp(X − max X): `across` rows of a block, each by `along` threads, in a fixed order. Where
/// rows fit into shared memory they are read once, else once for each of the maximum, the sum and the result.
template <class T>
struct softmax_body {
    T* output;
    const T* operand;
    std::uint32_t rows;
    std::uint32_t length;
    index output_step;
    index operand_step;
    int across;  ///< powers of two; across · along threads
    int along;
    bool along_fast;  ///< neighbouring threads have neighbouring elements of a row, else neighbouring rows
    bool kept;        ///< rows stay in shared memory
    int loops;
    struct {
        divisor extent;
        std::uint32_t size;
        index output_stride;
        index operand_stride;
    } loop[launch::most_loops];  ///< of rows, fastest first

    template <class Context>
    EINPARALLEL_HOST_DEVICE void operator()(Context& at) const {
        const int thread = at.thread();
        const int lane = along_fast ? thread & (along - 1) : thread / across;
        const int column = along_fast ? thread / along : thread & (across - 1);
        const std::uint32_t row = static_cast<std::uint32_t>(at.block()) * static_cast<std::uint32_t>(across) +
                                  static_cast<std::uint32_t>(column);
        index target = 0;
        index source = 0;
        std::uint32_t rest = row;
        for (int position = 0; position < loops; ++position) {
            const std::uint32_t next = loop[position].extent.quotient(rest);
            const auto digit = static_cast<index>(rest - next * loop[position].size);
            target += digit * loop[position].output_stride;
            source += digit * loop[position].operand_stride;
            rest = next;
        }
        T* const all = reinterpret_cast<T*>(at.shared());
        T* const own = all + at.threads() + thread;  // the thread's elements, `threads` apart
        const auto rounds =
            static_cast<int>((length + static_cast<std::uint32_t>(along) - 1) / static_cast<std::uint32_t>(along));
        const auto element = [&](int round) { return static_cast<std::uint32_t>(round * along + lane); };
        const auto is_inside = [&](int round) { return row < rows && element(round) < length; };
        const auto given = [&](int round) {
            return at.load(is_inside(round), operand + (source + static_cast<index>(element(round)) * operand_step));
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
            at.store(is_inside(round), output + (target + static_cast<index>(element(round)) * output_step), e / sum);
        }
    }
};

}  // namespace einparallel::detail
