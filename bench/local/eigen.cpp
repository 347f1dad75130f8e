// Eigen's matrix product and Tensor module behind a C interface, told this processor (-march=native), for bench/local.

#include <Eigen/Core>
#include <unsupported/Eigen/CXX11/Tensor>

#include <array>
#include <cstdint>

namespace {

template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const void* a, const void* b, void* c) {
    using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const matrix> left(static_cast<const T*>(a), m, k);
    const Eigen::Map<const matrix> right(static_cast<const T*>(b), k, n);
    Eigen::Map<matrix>(static_cast<T*>(c), m, n).noalias() = left * right;
}

/// What a contraction is to Eigen: pairs of contracted dimensions, and the order of those that remain.
struct contraction {
    const std::int64_t* a_extents;
    const std::int64_t* b_extents;
    const std::int64_t* c_extents;
    const int* a_summed;
    const int* b_summed;
    const int* order;
    const void* a;
    const void* b;
    void* c;
};

template <int Rank>
std::array<Eigen::Index, Rank> extents_of(const std::int64_t* from) {
    std::array<Eigen::Index, Rank> extents{};
    for (int dimension = 0; dimension < Rank; ++dimension) {
        extents[static_cast<std::size_t>(dimension)] = from[dimension];
    }
    return extents;
}

template <class T, int ARank, int BRank, int Summed>
void contract(const contraction& call) {
    constexpr int rank = ARank + BRank - 2 * Summed;
    using tensor_a = Eigen::Tensor<const T, ARank, Eigen::RowMajor>;
    using tensor_b = Eigen::Tensor<const T, BRank, Eigen::RowMajor>;
    const Eigen::TensorMap<tensor_a> left(static_cast<const T*>(call.a), extents_of<ARank>(call.a_extents));
    const Eigen::TensorMap<tensor_b> right(static_cast<const T*>(call.b), extents_of<BRank>(call.b_extents));
    Eigen::TensorMap<Eigen::Tensor<T, rank, Eigen::RowMajor>> result(static_cast<T*>(call.c),
                                                                     extents_of<rank>(call.c_extents));
    std::array<Eigen::IndexPair<int>, Summed> pairs{};
    for (std::size_t pair = 0; pair < Summed; ++pair) {
        pairs[pair] = {call.a_summed[pair], call.b_summed[pair]};
    }
    std::array<int, rank> order{};
    bool in_order = true;
    for (std::size_t dimension = 0; dimension < rank; ++dimension) {
        order[dimension] = call.order[dimension];
        in_order = in_order && order[dimension] == static_cast<int>(dimension);
    }
    if (in_order) {
        result = left.contract(right, pairs);
    } else {
        result = left.contract(right, pairs).shuffle(order);
    }
}

template <class T>
int contract_any(int a_rank, int b_rank, int summed, const contraction& call) {
#define BENCH_RANKS(A, B, S)                         \
    if (a_rank == A && b_rank == B && summed == S) { \
        contract<T, A, B, S>(call);                  \
        return 1;                                    \
    }
    BENCH_RANKS(2, 2, 1)
    BENCH_RANKS(2, 3, 1)
    BENCH_RANKS(3, 2, 1)
    BENCH_RANKS(3, 3, 1)
    BENCH_RANKS(3, 3, 2)
    BENCH_RANKS(2, 4, 1)
    BENCH_RANKS(4, 2, 1)
    BENCH_RANKS(4, 4, 1)
    BENCH_RANKS(4, 4, 2)
    BENCH_RANKS(5, 2, 1)
#undef BENCH_RANKS
    return 0;
}

}  // namespace

extern "C" {

void eigen_gemm(int type, std::int64_t m, std::int64_t n, std::int64_t k, const void* a, const void* b, void* c) {
    type == 4 ? gemm<float>(m, n, k, a, b, c) : gemm<double>(m, n, k, a, b, c);
}

/// 0 where these ranks were not compiled.
int eigen_contract(int type, int a_rank, int b_rank, int summed, const std::int64_t* a_extents,
                   const std::int64_t* b_extents, const std::int64_t* c_extents, const int* a_summed,
                   const int* b_summed, const int* order, const void* a, const void* b, void* c) {
    const contraction call{a_extents, b_extents, c_extents, a_summed, b_summed, order, a, b, c};
    return type == 4 ? contract_any<float>(a_rank, b_rank, summed, call)
                     : contract_any<double>(a_rank, b_rank, summed, call);
}

void eigen_threads(int count) {
    Eigen::setNbThreads(count);
}

}  // extern "C"
