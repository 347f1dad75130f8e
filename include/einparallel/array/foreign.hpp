#pragma once
// Other libraries' tensors, recognised by their shape and without including them: Eigen matrices, vectors, maps and
// tensor maps; std::span, std::vector and std::array; std::mdspan and its ancestors.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <array>
#include <concepts>
#include <cstddef>
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

/// std::mdspan and mdarray shapes.
template <class M>
concept Mdspan = requires(M& span) {
    { std::remove_cvref_t<M>::rank() } -> std::convertible_to<std::size_t>;
    {span.data_handle()};
    { span.extent(0) } -> std::convertible_to<index>;
    { span.stride(0) } -> std::convertible_to<index>;
};

/// std::span, std::vector, std::array and alike: contiguous, one dimension.
template <class M>
concept Sequence = requires(M& elements) {
    typename std::remove_cvref_t<M>::value_type;
    { elements.size() } -> std::convertible_to<std::size_t>;
    { elements.data() } -> std::convertible_to<const typename std::remove_cvref_t<M>::value_type*>;
    {elements[std::size_t{0}]};
};

/// An object of another library that a view can refer to.
template <class M>
concept ForeignTensor = EigenMatrix<M> || EigenTensor<M> || Mdspan<M> || Sequence<M>;

/// Where its elements lie.
template <class T, std::size_t Rank>
struct foreign_block {
    T* data;
    std::array<index, Rank> extents{};
    std::array<index, Rank> strides{};

    using element = T;
    static constexpr std::size_t rank = Rank;
};

template <ForeignTensor M>
auto foreign_block_of(M& object) {
    using Bare = std::remove_cvref_t<M>;
    const auto block_at = [](auto* data, auto rank) {
        return foreign_block<std::remove_pointer_t<decltype(data)>, decltype(rank)::value>{data};
    };
    if constexpr (EigenMatrix<M>) {
        constexpr std::size_t rank = Bare::IsVectorAtCompileTime ? 1 : 2;
        auto made = block_at(object.data(), std::integral_constant<std::size_t, rank>{});
        if constexpr (made.rank == 1) {
            made.extents[0] = static_cast<index>(object.size());
            made.strides[0] = static_cast<index>(object.innerStride());
        } else {
            made.extents = {static_cast<index>(object.rows()), static_cast<index>(object.cols())};
            made.strides = {static_cast<index>(object.rowStride()), static_cast<index>(object.colStride())};
        }
        return made;
    } else if constexpr (EigenTensor<M>) {
        auto made = block_at(object.data(), std::integral_constant<std::size_t, std::size_t{Bare::NumDimensions}>{});
        constexpr bool is_row_major = (static_cast<int>(Bare::Layout) & 1) != 0;
        index stride = 1;
        for (std::size_t step = 0; step < made.rank; ++step) {
            const std::size_t dimension = is_row_major ? made.rank - 1 - step : step;
            made.extents[dimension] = static_cast<index>(object.dimensions()[dimension]);
            made.strides[dimension] = stride;
            stride *= made.extents[dimension];
        }
        return made;
    } else if constexpr (Mdspan<M>) {
        auto made = block_at(object.data_handle(), std::integral_constant<std::size_t, Bare::rank()>{});
        for (std::size_t dimension = 0; dimension < made.rank; ++dimension) {
            made.extents[dimension] = static_cast<index>(object.extent(dimension));
            made.strides[dimension] = static_cast<index>(object.stride(dimension));
        }
        return made;
    } else {
        auto made = block_at(object.data(), std::integral_constant<std::size_t, 1>{});
        made.extents[0] = static_cast<index>(object.size());
        made.strides[0] = 1;
        return made;
    }
}
template <ForeignTensor M>
using foreign_block_t = decltype(foreign_block_of(std::declval<M&>()));

/// A view of elements T and this rank can refer to it.
template <class M, class T, std::size_t Rank>
concept ForeignOfRank = ForeignTensor<M> && foreign_block_t<M>::rank ==
                        Rank&& std::is_convertible_v<typename foreign_block_t<M>::element*, T*>;

}  // namespace einparallel::EINPARALLEL_DETAIL
