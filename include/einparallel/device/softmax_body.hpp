#pragma once
// The body of a kernel for softmax along one loop of a strided box.

#include <einparallel/device/join_body.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <cmath>
#include <cstdint>

namespace einparallel::detail {

/// Computes Z = exp(X − max X) / Σ exp(X − max X). A block has `across` rows, each computed by `along` threads in a
/// fixed order. It reads a row three times, for the maximum, the sum and the result; the last two reads come from
/// caches.
template <class T>
struct softmax_body {
    T* output = nullptr;
    const T* from = nullptr;
    join_shape shape{};     ///< points are rows, terms their elements
    index steps[2] = {};    ///< strides along a row, of output and from
    join_loops<1> loops{};  ///< loops over rows

    EINPARALLEL_HOST_DEVICE void operator()(auto& at) const {
        const index lane = shape.lane(at.thread());
        const auto row = std::uint32_t(at.block() * shape.across + shape.column(at.thread()));
        index offsets[2] = {};
        loops.add(false, row, 1, offsets);
        T* const all = reinterpret_cast<T*>(at.shared());
        // visit(step, is inside, x) for elements x of the row.
        const auto for_each = [&](auto visit) {
            for (index step = lane; step - lane < shape.terms; step += shape.along) {
                const bool is_inside = row < shape.points && step < shape.terms;
                visit(step, is_inside, at.load(is_inside, from + offsets[1] + step * steps[1]));
            }
        };
        const auto reduced = [&](T x, auto by) {  // for all threads of the row
            x = shape.reduced(at, x, all, by);
            at.barrier();
            return all[shape.sum_fast ? at.thread() - int(lane) : shape.column(at.thread())];
        };
        T largest = op::max_type::identity<T>();
        for_each([&](index, bool is_inside, T x) { largest = is_inside ? op::max_type{}(largest, x) : largest; });
        largest = reduced(largest, op::max_type{});
        T sum = 0;
        for_each([&](index, bool is_inside, T x) { sum += is_inside ? std::exp(x - largest) : T(0); });
        sum = reduced(sum, op::sum_type{});
        for_each([&](index step, bool is_inside, T x) {
            at.store(is_inside, output + offsets[0] + step * steps[0], std::exp(x - largest) / sum);
        });
    }
};

}  // namespace einparallel::detail
