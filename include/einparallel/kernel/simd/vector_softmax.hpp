// The passes of a softmax over one row. Compiled for every instruction set: this header includes itself once for each,
// through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_SOFTMAX)
#define EINPARALLEL_DETAIL_VECTOR_SOFTMAX

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/vector_lanes.hpp>
#include <einparallel/kernel/simd/vector_math.hpp>
#include <einparallel/notation/box.hpp>

#include <limits>

namespace einparallel::EINPARALLEL_DETAIL {

/// The passes of a softmax for float and double with the instructions of Set.
template <class T, instruction_set Set>
struct vector_softmax;

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/vector_softmax.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>
#include <einparallel/notation/compiled.hpp>

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
struct vector_softmax<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    using math = vector_math<T, instruction_set::EINPARALLEL_DETAIL_SET>;
    using code = vector_lanes<T, instruction_set::EINPARALLEL_DETAIL_SET>;
    using vector = typename code::vector;
    static constexpr index lanes = code::lanes;

    /// The largest element of a row; NaN where an element is NaN.
    EINPARALLEL_DETAIL_TARGET static T largest(const T* x, index count) {
        vector most = vector{} + x[0];
        vector none{};  // 1 in lanes that had no number; conditions stay in ?:, where nvcc takes vectors
        none = most != most ? vector{} + T(1) : none;
        code::each(count, [&](index at, index length) EINPARALLEL_DETAIL_TARGET {
            const vector value = code::read(x + at, length, x[0]);
            most = value > most ? value : most;
            none = value != value ? vector{} + T(1) : none;
        });
        T found = most[0];
        bool all_numbers = true;
        for (index lane = 0; lane < lanes; ++lane) {
            found = most[lane] > found ? most[lane] : found;
            all_numbers = all_numbers && none[lane] == 0;
        }
        return all_numbers ? found : std::numeric_limits<T>::quiet_NaN();
    }

    /// y = exp(x − shift). @return Σ y
    EINPARALLEL_DETAIL_TARGET static T shifted(T* y, const T* x, T shift, index count) {
        vector sums{};
        code::each(count, [&](index at, index length) EINPARALLEL_DETAIL_TARGET {
            const vector value =
                math::exponential(code::read(x + at, length, -std::numeric_limits<T>::infinity()) - shift);
            code::write(y + at, value, length);
            sums += value;
        });
        T sum = sums[0];
        for (index lane = 1; lane < lanes; ++lane) {
            sum += sums[lane];
        }
        return sum;
    }
    /// Softmax of short rows that lie side by side, in place: element `at` of row r is x[at · pitch + r]. Vectors hold
    /// rows. @pre rows fill whole vectors
    EINPARALLEL_DETAIL_TARGET static void side_by_side(T* x, index pitch, index count, index rows) {
        for (index row = 0; row < rows; row += lanes) {
            vector most = code::read(x + row, lanes, T(0));
            for (index at = 1; at < count; ++at) {
                const vector value = code::read(x + at * pitch + row, lanes, T(0));
                most = value > most ? value : most;
            }
            vector sum{};
            for (index at = 0; at < count; ++at) {
                const vector value = math::exponential(code::read(x + at * pitch + row, lanes, T(0)) - most);
                code::write(x + at * pitch + row, value, lanes);
                sum += value;
            }
            for (index at = 0; at < count; ++at) {
                code::write(x + at * pitch + row, code::read(x + at * pitch + row, lanes, T(0)) / sum, lanes);
            }
        }
    }
    EINPARALLEL_DETAIL_TARGET static void divide(T* y, T by, index count) {
        code::each(count, [&](index at, index length) EINPARALLEL_DETAIL_TARGET {
            code::write(y + at, code::read(y + at, length, T(0)) / by, length);
        });
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
