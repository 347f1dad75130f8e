// The library's local work behind a C interface, so that one process can time it beside its peers, on the same memory.
// Built as a user would build it: -O2, no -march.

#include <einparallel/array/array.hpp>
#include <einparallel/array/einsum.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/product/contract.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/half.hpp>
#include <einparallel/notation/row_functions.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <iterator>
#include <string>
#include <vector>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace {

namespace ep = einparallel;

/// A dense row-major tensor by its labels.
struct dense {
    std::vector<ep::label_id> labels;
    std::vector<ep::index> strides;

    dense(const std::int64_t* extents, int rank, const int* labels_of) {
        ep::index stride = 1;
        strides.resize(static_cast<std::size_t>(rank));
        for (int dimension = rank; dimension-- > 0;) {
            strides[static_cast<std::size_t>(dimension)] = stride;
            stride *= extents[labels_of[dimension]];
        }
        for (int dimension = 0; dimension < rank; ++dimension) {
            labels.push_back(static_cast<ep::label_id>(labels_of[dimension]));
        }
    }
};

#if defined(__clang__)
#define BENCH_UNROLL _Pragma("clang loop unroll(full)")
#else
#define BENCH_UNROLL _Pragma("GCC unroll 16")
#endif

// Operations per round of chains of multiply-adds that do not wait for one another: the peak of a core.
#define BENCH_MULTIPLY_ADDS(NAME, TARGET, BYTES, CHAINS)                \
    template <class T>                                                  \
    TARGET double NAME(long rounds, volatile T* sink) {                 \
        typedef T vector __attribute__((vector_size(BYTES)));           \
        vector sums[CHAINS];                                            \
        vector factor = vector{} + T(0.999);                            \
        vector term = vector{} + T(1e-3);                               \
        BENCH_UNROLL for (int chain = 0; chain < CHAINS; ++chain) {     \
            sums[chain] = vector{} + T(chain);                          \
        }                                                               \
        for (long round = 0; round < rounds; ++round) {                 \
            BENCH_UNROLL for (int chain = 0; chain < CHAINS; ++chain) { \
                sums[chain] = sums[chain] * factor + term;              \
            }                                                           \
        }                                                               \
        BENCH_UNROLL for (int chain = 0; chain < CHAINS; ++chain) {     \
            *sink = sums[chain][0];                                     \
        }                                                               \
        return 2.0 * CHAINS * BYTES / sizeof(T);                        \
    }
BENCH_MULTIPLY_ADDS(peak_baseline, , 16, 10)
#if EINPARALLEL_DETAIL_X86
BENCH_MULTIPLY_ADDS(peak_avx2, __attribute__((target("avx2,fma"))), 32, 10)
BENCH_MULTIPLY_ADDS(peak_avx512, __attribute__((target("avx2,fma,avx512f"))), 64, 16)
#endif

template <class T>
double peak(long rounds) {
    volatile T sink = 0;
#if EINPARALLEL_DETAIL_X86
    if (ep::detail::supported(ep::detail::instruction_set::avx512)) {
        return peak_avx512<T>(rounds, &sink);
    }
    if (ep::detail::supported(ep::detail::instruction_set::avx2)) {
        return peak_avx2<T>(rounds, &sink);
    }
#endif
    return peak_baseline<T>(rounds, &sink);
}

template <class T>
void max_plus(ep::index n, const void* a, const void* b, void* c) {
    EINPARALLEL_LABELS(i, j, k);
    const ep::view<const T, 2> A(static_cast<const T*>(a), {n, n});
    const ep::view<const T, 2> B(static_cast<const T*>(b), {n, n});
    const ep::view<T, 2> C(static_cast<T*>(c), {n, n});
    C(i, k) = ep::max(A(i, j) + B(j, k));
}

template <class T>
void squared_distance(ep::index n, const void* a, const void* b, void* c) {
    EINPARALLEL_LABELS(i, j, k);
    const ep::view<const T, 2> A(static_cast<const T*>(a), {n, n});
    const ep::view<const T, 2> B(static_cast<const T*>(b), {n, n});
    const ep::view<T, 2> C(static_cast<T*>(c), {n, n});
    const auto square_of_difference = [](T x, T y) { return (x - y) * (x - y); };
    C(i, k) = ep::sum(ep::join(square_of_difference, A(i, j), B(j, k)));
}

// Element-wise expressions of x, y, z and w: name, NumPy's form (evaluated by local.py), ours.
// clang-format off
#define BENCH_TREES(TREE)                                                                        \
    TREE("add", "x + y", x + y)                                                                  \
    TREE("affine", "2 * x + 1", 2 * x + 1)                                                       \
    TREE("multiply-add", "x * y + z", x * y + z)                                                 \
    TREE("where", "where(x > y, x, y)", where(x > y, x, y))                                      \
    TREE("exp", "exp(x)", exp(x))                                                                \
    TREE("x sigmoid(x)", "x / (1 + exp(-x))", x * sigmoid(x))                                    \
    TREE("silu", "x / (1 + exp(-x))", silu(x))                                                   \
    TREE("tanh", "tanh(2 * x - 3 * y)", tanh(2 * x - 3 * y))                                     \
    TREE("norm", "sqrt(x * x + y * y + z * z)", sqrt(x * x + y * y + z * z))                     \
    TREE("softplus", "log(1 + exp(-abs(x)))", log(1 + exp(-abs(x))))                             \
    TREE("horner 6", "(((((x - 3) * x + 5) * x - 2) * x + 4) * x - 1) * x + 7",                  \
         (((((x - 3) * x + 5) * x - 2) * x + 4) * x - 1) * x + 7)                                \
    TREE("mix of 12", "log(abs(x) + 1) * exp(minimum(y, z)) + maximum(z, w) / (abs(x) + 2) - y", \
         log(abs(x) + 1) * exp(min(y, z)) + max(z, w) / (abs(x) + 2) - y)
// clang-format on

struct named_tree {
    const char* name;
    const char* numpy;
};
#define BENCH_NAMED(name, numpy, ours) named_tree{name, numpy},
constexpr named_tree trees[] = {BENCH_TREES(BENCH_NAMED)};

template <class T>
void run_tree(int number, ep::index n, const void* const* operands, void* result) {
    EINPARALLEL_LABELS(i);
    const auto operand = [&](int which) { return ep::view<const T, 1>(static_cast<const T*>(operands[which]), {n}); };
    const auto x = operand(0)(i);
    const auto y = operand(1)(i);
    const auto z = operand(2)(i);
    const auto w = operand(3)(i);
    const ep::view<T, 1> out(static_cast<T*>(result), {n});
    int each = 0;
#define BENCH_RUN(name, numpy, ours) \
    if (each++ == number) {          \
        out(i) = ours;               \
    }
    BENCH_TREES(BENCH_RUN)
}

// Expressions of a matrix x with short rows, a column a and a row b: name, NumPy's form, ours.
// clang-format off
#define BENCH_ROWS(ROW)                                                                \
    ROW("x + b", "x + b", out(i, k) = x(i, k) + b(k))                                  \
    ROW("x - a", "x - a[:, None]", out(i, k) = x(i, k) - a(i))                         \
    ROW("largest |x - b|", "amax(abs(x - b), 1)", column(i) = ep::max(abs(x(i, k) - b(k)))) \
    ROW("sums |x - a|", "sum(abs(x - a[:, None]), 0)", row(k) = ep::sum(abs(x(i, k) - a(i))))
// clang-format on
constexpr named_tree short_rows[] = {BENCH_ROWS(BENCH_NAMED)};

template <class T>
void run_rows(int number, ep::index rows, ep::index columns, const void* const* operands, void* result) {
    EINPARALLEL_LABELS(i, k);
    const ep::view<const T, 2> x(static_cast<const T*>(operands[0]), {rows, columns});
    const ep::view<const T, 1> a(static_cast<const T*>(operands[1]), {rows});
    const ep::view<const T, 1> b(static_cast<const T*>(operands[2]), {columns});
    const ep::view<T, 2> out(static_cast<T*>(result), {rows, columns});
    const ep::view<T, 1> column(static_cast<T*>(result), {rows});
    const ep::view<T, 1> row(static_cast<T*>(result), {columns});
    int each = 0;
#define BENCH_RUN_ROWS(name, numpy, ours) \
    if (each++ == number) {               \
        ours;                             \
    }
    BENCH_ROWS(BENCH_RUN_ROWS)
}

}  // namespace

extern "C" {

/// What was compiled, and what runs on this processor.
const char* bench_describe() {
    static const std::string text = std::string(ep::detail::name_of(ep::detail::best_instruction_set())) +
                                    " kernels, " BENCH_COMPILER ", flags " +
                                    BENCH_FLAGS
#if defined(_OPENMP)
                                    ", OpenMP";
#else
                                    ", no OpenMP";
#endif
    return text.c_str();
}

void bench_threads([[maybe_unused]] int count) {
#if defined(_OPENMP)
    omp_set_num_threads(count);
#endif
}

/// c[labels] = Σ a · b on dense row-major tensors; `type` is NumPy's short name of the element type, or b2: bfloat16 in
/// a and b, float in c. Returns false for a type that the sweep over layouts does not have.
bool bench_product(const char* type, int label_count, const std::int64_t* extents, int a_rank, const int* a_labels,
                   const void* a, int b_rank, const int* b_labels, const void* b, int c_rank, const int* c_labels,
                   void* c) {
    const dense a_of(extents, a_rank, a_labels);
    const dense b_of(extents, b_rank, b_labels);
    const dense c_of(extents, c_rank, c_labels);
    const std::vector<ep::index> by_label(extents, extents + label_count);
    const std::string name = type;
    const bool is_half = name == "b2";
    const auto run = [&]<class T>(T one) {
        constexpr ep::element_type element = ep::element_type_of<T>();
        const ep::element_type read = is_half ? ep::element_type_of<ep::bfloat16>() : element;
        const ep::strided_block operands[2] = {{a, read, a_of.labels, a_of.strides},
                                               {b, read, b_of.labels, b_of.strides}};
        ep::detail::contract_product<T>({by_label, operands, {c, element, c_of.labels, c_of.strides}}, one);
        return true;
    };
    return name == "f8"              ? run(1.0)
           : name == "f4" || is_half ? run(1.0F)
           : name == "c8"            ? run(std::complex<float>(1))
           : name == "i4"            ? run(std::int32_t{1})
                                     : false;
}

/// c[labels] = Σ a · b on dense row-major tensors; `type` is 4 for float and 8 for double.
void bench_contract(int type, int label_count, const std::int64_t* extents, int a_rank, const int* a_labels,
                    const void* a, int b_rank, const int* b_labels, const void* b, int c_rank, const int* c_labels,
                    void* c) {
    bench_product(type == 4 ? "f4" : "f8", label_count, extents, a_rank, a_labels, a, b_rank, b_labels, b, c_rank,
                  c_labels, c);
}

/// to[permuted] = from on dense row-major tensors: dimension d of `to` is dimension order[d] of `from`.
void bench_permute(int type, int rank, const std::int64_t* extents, const int* order, const void* from, void* to) {
    std::vector<int> identity;
    for (int dimension = 0; dimension < rank; ++dimension) {
        identity.push_back(dimension);
    }
    const dense from_of(extents, rank, identity.data());
    const dense to_of(extents, rank, order);
    std::vector<ep::index> lengths;
    std::vector<ep::index> from_strides;
    for (int dimension = 0; dimension < rank; ++dimension) {
        lengths.push_back(extents[order[dimension]]);
        from_strides.push_back(from_of.strides[static_cast<std::size_t>(order[dimension])]);
    }
    ep::copy_box(lengths, static_cast<std::size_t>(type), to, to_of.strides, from, from_strides);
}

/// The C library's copy, which the permutations are measured against.
void bench_copy(std::int64_t bytes, const void* from, void* to) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

void bench_max_plus(int type, std::int64_t n, const void* a, const void* b, void* c) {
    type == 4 ? max_plus<float>(n, a, b, c) : max_plus<double>(n, a, b, c);
}

void bench_squared_distance(int type, std::int64_t n, const void* a, const void* b, void* c) {
    type == 4 ? squared_distance<float>(n, a, b, c) : squared_distance<double>(n, a, b, c);
}

/// Name of tree `number`, null beyond the last one, and NumPy's form of it.
const char* bench_tree_name(int number) {
    return number < int(std::size(trees)) ? trees[number].name : nullptr;
}
const char* bench_tree_numpy(int number) {
    return trees[number].numpy;
}

/// The same of expressions with short rows.
const char* bench_rows_name(int number) {
    return number < int(std::size(short_rows)) ? short_rows[number].name : nullptr;
}
const char* bench_rows_numpy(int number) {
    return short_rows[number].numpy;
}

/// Expression `number` of a matrix, a column and a row.
void bench_rows(int type, int number, std::int64_t rows, std::int64_t columns, const void* const* operands,
                void* result) {
    type == 4 ? run_rows<float>(number, rows, columns, operands, result)
              : run_rows<double>(number, rows, columns, operands, result);
}

/// Tree `number` on x, y, z and w of n elements each.
void bench_tree(int type, int number, std::int64_t n, const void* const* operands, void* result) {
    type == 4 ? run_tree<float>(number, n, operands, result) : run_tree<double>(number, n, operands, result);
}

/// Floating-point operations that so many rounds at the peak of a core are.
double bench_peak(int type, long rounds) {
    return static_cast<double>(rounds) * (type == 4 ? peak<float>(rounds) : peak<double>(rounds));
}

/// Nanoseconds of one 2×2 by 2×2 einsum, of `repeat` in a row.
double bench_dispatch(int into, int repeat) {
    ep::array<double, 2> a({2, 2});
    ep::array<double, 2> b({2, 2});
    ep::array<double, 2> c({2, 2});
    a(0, 0) = 1;
    b(0, 0) = 1;
    EINPARALLEL_LABELS(i, j, k);
    const auto once = [&] {
        if (into == 0) {
            c(i, k) = a(i, j) * b(j, k);
        } else if (into == 1) {
            ep::einsum_into<"ij,jk->ik">(c, a, b);
        } else {
            c = ep::einsum<"ij,jk->ik">(a, b);
        }
    };
    once();
    const std::clock_t start = std::clock();  // of this process: elapsed time would count whoever shares the core
    for (int round = 0; round < repeat; ++round) {
        once();
        a(0, 0) = c(0, 0) * 0.5;
    }
    return 1e9 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / repeat;
}

}  // extern "C"
