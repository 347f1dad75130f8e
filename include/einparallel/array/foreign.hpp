#pragma once
// Other libraries' tensors, recognised by their members and without including them: Eigen matrices, vectors, maps and
// tensor maps; contiguous ranges; std::mdspan, mdarray and Kokkos::View; xtensor's containers and views.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Eigen::MatrixBase with direct access to its memory: dense objects, maps, blocks, not products.
template <class M>
concept EigenMatrix = requires(M& matrix) {
    typename std::remove_cvref_t<M>::Scalar;
    { std::remove_cvref_t<M>::IsVectorAtCompileTime } -> std::convertible_to<int>;
    { matrix.rows() } -> std::convertible_to<index>;
    { matrix.rowStride() } -> std::convertible_to<index>;
    { matrix.colStride() } -> std::convertible_to<index>;
    {matrix.data()};
};

/// Eigen::Tensor and Eigen::TensorMap.
template <class M>
concept EigenTensor = requires(M& tensor) {
    typename std::remove_cvref_t<M>::Scalar;
    { std::remove_cvref_t<M>::NumDimensions } -> std::convertible_to<int>;
    { tensor.dimensions()[std::size_t{0}] } -> std::convertible_to<index>;
    { std::remove_cvref_t<M>::Layout } -> std::convertible_to<int>;
    {tensor.data()};
};

/// The number of dimensions, as a std::integral_constant, if the type gives it: as the size of shape(), as rank() or as
/// rank.
template <class M>
auto rank_of() {
    if constexpr (requires(M & tensor) { tensor.shape(); }) {
        using Shape = std::remove_cvref_t<decltype(std::declval<M&>().shape())>;
        if constexpr (requires { std::tuple_size<Shape>::value; }) {
            return std::integral_constant<std::size_t, std::tuple_size<Shape>::value>();
        }
    } else if constexpr (requires { typename std::integral_constant<std::size_t, M::rank()>; }) {
        return std::integral_constant<std::size_t, M::rank()>();
    } else if constexpr (requires { typename std::integral_constant<std::size_t, M::rank>; }) {
        return std::integral_constant<std::size_t, M::rank>();
    }
}
template <class M>
using rank_of_t = decltype(rank_of<std::remove_cv_t<M>>());

/// The address of the first element. (The data() of xtensor's views is that of the container.)
template <class M>
auto first_element(M& tensor) {
    if constexpr (requires { tensor.data() + tensor.data_offset(); }) {
        return tensor.data() + tensor.data_offset();
    } else if constexpr (requires { tensor.data(); }) {
        return tensor.data();
    } else if constexpr (requires { tensor.data_handle(); }) {
        return tensor.data_handle();
    }
}

/// True where the accessor reads element i of memory at p as p[i]: std::default_accessor does so, the scaled accessor
/// of std::linalg does not.
template <class Accessor>
constexpr bool reads_plainly() {
    typename Accessor::element_type elements[3]{};
    const Accessor accessor{};
    return &accessor.access(elements, 0) == elements && &accessor.access(elements, 2) == elements + 2;
}
/// True where elements are read by reference, at data() or by such an accessor, and where the type has no accessor.
template <class M>
inline constexpr bool has_default_access = true;
template <class M>
    requires requires {
        typename M::accessor_type::reference;
    }
inline constexpr bool has_default_access<M> = [] {
    using Accessor = typename M::accessor_type;
    constexpr bool by_reference = std::is_same_v<typename Accessor::reference, typename Accessor::element_type&>;
    if constexpr (!by_reference || requires(M & tensor) { tensor.data(); }) {
        return by_reference;
    } else {
        return std::is_empty_v<Accessor> && requires {
            typename std::enable_if_t<reads_plainly<Accessor>()>;
        };
    }
}();
/// True where every mapping of the tensor's layout has strides, and where the tensor has no layout.
template <class M>
inline constexpr bool is_always_strided = true;
template <class M>
    requires requires {
        M::is_always_strided();
    }
inline constexpr bool is_always_strided<M> = M::is_always_strided();

/// std::mdspan, mdarray and Kokkos::View.
template <class M>
concept Mdspan = requires(M& tensor) {
    typename rank_of_t<M>::value_type;
    { tensor.extent(0) } -> std::convertible_to<index>;
    requires rank_of_t<M>::value == 0 || requires {
        { tensor.stride(0) } -> std::convertible_to<index>;
    };
    requires std::is_pointer_v<decltype(first_element(tensor))> && has_default_access<M> && is_always_strided<M>;
};

/// xtensor's containers and views.
template <class M>
concept Xtensor = requires(M& tensor) {
    { tensor.shape()[0] } -> std::convertible_to<index>;
    { tensor.strides()[0] } -> std::convertible_to<index>;
    { tensor.data_offset() } -> std::convertible_to<index>;
    typename rank_of_t<M>::value_type;
    { first_element(tensor) } -> std::convertible_to<const typename M::value_type*>;
};

/// True where the type has extents or rows, or can be called with two indices.
template <class M>
inline constexpr bool has_dimensions = (
    requires(M & tensor) { tensor.shape(); } || requires(M & tensor) { tensor.extent(0); } ||
    requires(M & tensor) { tensor.rows(); } || requires(M & tensor) { tensor(0, 0); });
/// std::span, std::vector, std::array and the like: contiguous ranges of one dimension.
template <class M>
concept Sequence = requires(M& elements) {
    { elements.begin() } -> std::contiguous_iterator;
    { elements.end() } -> std::sized_sentinel_for<decltype(elements.begin())>;
    { elements.size() } -> std::convertible_to<index>;
    { elements.data() } -> std::same_as<std::add_pointer_t<decltype(*elements.begin())>>;
    { elements[std::size_t{0}] } -> std::same_as<decltype(*elements.begin())>;
    requires !has_dimensions<M>;
};

/// A tensor of this library, recognised by its extents().
template <class M>
concept OwnTensor = requires(M& tensor) {
    { tensor.extents()[0] } -> std::convertible_to<index>;
};
/// An object of another library that a view can refer to.
template <class M>
concept ForeignTensor = !OwnTensor<M> && (EigenMatrix<M> || EigenTensor<M> || Mdspan<M> || Xtensor<M> || Sequence<M>);

/// True where the type seems to have elements.
template <class M>
inline constexpr bool has_elements_somewhere = (
    requires(M & tensor) { tensor.data(); } || requires(M & tensor) { tensor.data_handle(); } ||
    requires(M & tensor) { tensor.shape(); } || requires(M & tensor) { tensor.begin(); });
/// A tensor or range of another library to which no view can refer.
template <class M>
concept OpaqueTensor =
    has_elements_somewhere<const std::remove_reference_t<M>> && !OwnTensor<const std::remove_reference_t<M>> &&
    !ForeignTensor<const std::remove_reference_t<M>>;

/// Where the elements of another library's object lie.
template <class T, std::size_t Rank>
struct foreign_block {
    T* data;
    std::array<index, Rank> extents;
    std::array<index, Rank> strides;

    using element = T;
    static constexpr std::size_t rank = Rank;
};
template <class T, std::size_t Rank>
foreign_block(T*, std::array<index, Rank>, std::array<index, Rank>) -> foreign_block<T, Rank>;

template <class... Integers>
std::array<index, sizeof...(Integers)> indices_of(Integers... values) {
    return {index(values)...};
}

template <ForeignTensor M>
auto foreign_block_of(M& object) {
    using Bare = std::remove_cvref_t<M>;
    if constexpr (EigenMatrix<M>) {
        if constexpr (Bare::IsVectorAtCompileTime) {
            return foreign_block{object.data(), indices_of(object.size()), indices_of(object.innerStride())};
        } else {
            return foreign_block{object.data(), indices_of(object.rows(), object.cols()),
                                 indices_of(object.rowStride(), object.colStride())};
        }
    } else if constexpr (EigenTensor<M>) {
        constexpr std::size_t rank{Bare::NumDimensions};
        foreign_block made{object.data(), std::array<index, rank>(), std::array<index, rank>()};
        index stride = 1;
        for (std::size_t step = 0; step < rank; ++step) {
            const std::size_t dimension = (int(Bare::Layout) & 1) != 0 ? rank - 1 - step : step;
            made.extents[dimension] = index(object.dimensions()[dimension]);
            made.strides[dimension] = stride;
            stride *= made.extents[dimension];
        }
        return made;
    } else if constexpr (Mdspan<M> || Xtensor<M>) {
        constexpr std::size_t rank = rank_of_t<M>::value;
        foreign_block made{first_element(object), std::array<index, rank>(), std::array<index, rank>()};
        for (std::size_t dimension = 0; dimension != rank; ++dimension) {
            if constexpr (Xtensor<M>) {
                made.extents[dimension] = index(object.shape()[dimension]);
                made.strides[dimension] = index(object.strides()[dimension]);
            } else if constexpr (rank > 0) {  // libc++'s mdspan of rank 0 has no stride()
                made.extents[dimension] = index(object.extent(dimension));
                made.strides[dimension] = index(object.stride(dimension));
            }
        }
        return made;
    } else {
        const auto count = object.end() - object.begin();
        expect(index(object.size()) == index(count),
               "ep::view: size() of this range is not the number of its elements: write ep::view<double, 2>(pointer, "
               "{m, n})");
        return foreign_block{object.data(), indices_of(count), indices_of(1)};
    }
}
template <ForeignTensor M>
using foreign_block_t = decltype(foreign_block_of(std::declval<M&>()));

/// An object to which a view<T, Rank> can refer.
template <class M, class T, std::size_t Rank>
concept ForeignOfRank = ForeignTensor<M> && foreign_block_t<M>::rank ==
                        Rank&& std::is_convertible_v<typename foreign_block_t<M>::element*, T*>;

}  // namespace einparallel::EINPARALLEL_DETAIL
