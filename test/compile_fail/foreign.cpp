// Other libraries' tensors of which the type does not say where the elements lie: wherever one is given, one sentence
// says what is written instead.

#define EINPARALLEL_COMPILED 1
#define EINPARALLEL_HAS_MPI 1
#include <einparallel.hpp>

#include <complex>
#include <cstddef>
#include <deque>
#include <vector>

namespace ep = einparallel;

EINPARALLEL_LABELS(i, j, k);

/// std::mdspan, with an accessor.
template <class Accessor, int Number = 0>  // a compiler says once what is wrong with a type
struct matrix_like {
    using accessor_type = Accessor;
    typename Accessor::data_handle_type data_handle() const { return nullptr; }
    static constexpr std::size_t rank() { return 2; }
    std::size_t extent(std::size_t) const { return 2; }
    std::size_t stride(std::size_t dimension) const { return 2 - dimension; }
};
template <class T>
struct default_accessor {
    using element_type = T;
    using reference = T&;
    using data_handle_type = T*;
    constexpr T& access(T* at, std::size_t number) const { return at[number]; }
};
/// std::linalg::scaled.
struct scaled_accessor {
    using element_type = const double;
    using reference = double;
    using data_handle_type = const double*;
    double factor;
    constexpr double access(const double* at, std::size_t number) const { return factor * at[number]; }
};
/// std::linalg::conjugated.
struct conjugated_accessor {
    using element_type = const std::complex<double>;
    using reference = std::complex<double>;
    using data_handle_type = const std::complex<double>*;
    reference access(data_handle_type at, std::size_t number) const { return std::conj(at[number]); }
};
/// A matrix that is a contiguous range.
struct range_matrix : std::vector<double> {
    double& operator()(int, int) { return front(); }
    double operator()(int, int) const { return front(); }
};

matrix_like<default_accessor<double>> plain;
matrix_like<scaled_accessor> scaled;
matrix_like<conjugated_accessor> conjugated;
range_matrix rows;
std::deque<double> queue;
ep::array<double, 2> a({2, 2});
ep::tensor<double, 2> X = ep::placeholder<double>({2, 2});
void reads(ep::view<const double, 2> matrix);

#if MISTAKES == 1

// ERROR ONLY the type of this tensor does not say where its elements lie
void borrowed_scaled() {
    auto made = ep::borrow(scaled);
}
// ERROR ONLY ep::einsum: subscripts stand in angle brackets or come first
void number_in_einsum() {
    a = ep::einsum<"ij,->ij">(a, 2.0);
}
// ERROR ONLY the type of this tensor does not say where its elements lie
void scaled_in_einsum() {
    a = ep::einsum<"ij,jk->ik">(a, scaled);
}
// ERROR ONLY the type of this tensor does not say where its elements lie
void conjugated_in_einsum() {
    auto made = ep::einsum<"ij->ji">(conjugated);
}
// ERROR ONLY the type of this tensor does not say where its elements lie
void matrix_as_a_range_in_einsum() {
    auto made = ep::einsum<"i->">(rows);
}
// ERROR ONLY the type of this tensor does not say where its elements lie
void scaled_into() {
    ep::einsum_into<"ij->ij">(a, matrix_like<scaled_accessor, 1>());
}
// ERROR ONLY the type of this tensor does not say where its elements lie
void into_a_queue() {
    ep::einsum_into<"ij->i">(queue, a);
}
// ERROR ONLY the type of this tensor does not say where its elements lie
void root_of_conjugated() {
    auto made = ep::from_root(matrix_like<conjugated_accessor, 3>(), 0);
}
// ERROR ONLY ep::from_root: an array, a view or another library's object comes first
void root_of_a_number() {
    auto made = ep::from_root(2.0, 0);
}

#elif MISTAKES == 2  // in bodies of functions, which nvcc does not look at after another mistake

// ERROR ONLY ep::view: extents stand in braces
void view_without_braces() {
    const ep::view<double, 2> seen(a.data(), 2, 2);
}
// ERROR ONLY the type of this tensor does not say where its elements lie
void view_of_a_queue() {
    const ep::view seen(queue);
}
// ERROR ONLY the type of this tensor does not say where its elements lie
void view_of_scaled() {
    const ep::view<const double, 2> seen(scaled);
}
// ERROR ONLY the type of this tensor does not say where its elements lie
void matrix_as_a_view() {
    reads(rows);
}
// ERROR ONLY the type of this tensor does not say where its elements lie
void bound_to_scaled() {
    auto made = ep::bind(X, matrix_like<scaled_accessor, 4>());
}

#else

void accepted() {
    a = ep::einsum<"ij,jk->ik">(a, plain);
    ep::einsum_into<"ij->ij">(plain, a);
    const ep::view seen(plain);
    reads(plain);
    X = ep::from_root(plain, 0);
    X = ep::from_root(ep::borrow(plain), 0);
    auto made = ep::bind(X, plain);
    seen(i, j) = ep::view(plain)(j, i) * ep::slice(plain, {0, 0}, {2, 2})(i, j);
}

#endif

int main() {}
