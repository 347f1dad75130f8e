#pragma once
// ep::padded, slice, concatenate and reshape of recorded tensors.

#include <einparallel/array/shape.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/record.hpp>
#include <einparallel/graph/section.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/tensor_leaves.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// The operand type of a recorded tensor, or of a view that the functions below return.
template <class T>
struct shaped {};
template <class T, std::size_t Rank>
struct shaped<tensor<T, Rank>> : std::type_identity<tensor_operand<T, Rank>> {};
template <class T, std::size_t Rank>
struct shaped<operand_view<tensor_operand<T, Rank>>> : std::type_identity<tensor_operand<T, Rank>> {};
template <class T>
using shaped_t = typename shaped<std::remove_cvref_t<T>>::type;
template <class T>
concept Shaped = requires {
    typename shaped_t<T>;
};

/// The vertex of a tensor or of a view.
template <class T, std::size_t Rank>
std::shared_ptr<vertex> vertex_of(const tensor<T, Rank>& read) {
    return handle_of(tensor_operand<T, Rank>{read.node()});
}
template <class T, std::size_t Rank>
std::shared_ptr<vertex> vertex_of(const operand_view<tensor_operand<T, Rank>>& read) {
    return read.held().node;
}

/// A view of `of` at the functions `at`, with these extents. A view of a view reads the same tensors as that view.
inline std::shared_ptr<vertex> viewed(const std::shared_ptr<vertex>& of, const affine_map& at, index_span extents,
                                      std::shared_ptr<vertex> elsewhere = nullptr) {
    return view_vertex(of, at, first_labels(extents.size()), whole_box({extents.begin(), extents.end()}).sides,
                       std::move(elsewhere));
}

/// A view with these extents, in which the first element of `of` is at `lower`. `elsewhere` is read around these
/// elements.
inline std::shared_ptr<vertex> shifted_to(const std::shared_ptr<vertex>& of, index_span lower, index_span extents,
                                          std::shared_ptr<vertex> elsewhere = nullptr) {
    affine_map at;
    for (std::size_t dimension = 0; dimension < extents.size(); ++dimension) {
        at.functions.push_back({{{label_id(dimension), 1}}, -lower[dimension]});
        if (of->is_view() && (lower[dimension] > 0 || lower[dimension] + of->bounds[dimension] < extents[dimension])) {
            at.where.push_back(at.functions.back());
            at.where.back().extent = of->bounds[dimension];
        }
    }
    return viewed(of, at, extents, std::move(elsewhere));
}

/// The view that make() returns. Where a vertex of `read` has failed, or make() throws, it is an input that has failed.
template <class Operand, class Make>
operand_view<Operand> shaped_by(const std::vector<std::shared_ptr<vertex>>& read, const Make& make) {
    std::string failure;
    for (const std::shared_ptr<vertex>& each : read) {
        failure = failure.empty() ? each->failure : failure;
    }
    try {
        if (failure.empty()) {
            return operand_view<Operand>({make()});
        }
    } catch (const error& wrong) {
        failure = wrong.what();
    }
    return operand_view<Operand>({input_vertex(std::vector<index>(Operand::rank),
                                               element_type_of<typename Operand::value_type>(), nullptr, failure)});
}

template <std::size_t Rank, class A>
auto reshaped_tensor(const A& tensor, const std::array<index, Rank>& extents) {
    using Operand = shaped_t<A>;
    using T = typename Operand::value_type;
    std::shared_ptr<vertex> read = vertex_of(tensor);
    if (read->is_view()) {
        using Labels = typename summed_labels<std::make_index_sequence<Operand::rank>>::type;
        read = record_statement<T, Labels>(leaf<Operand, Labels>(Operand{read}));
        read->is_intermediate = true;
    }
    return shaped_by<tensor_operand<T, Rank>>(
        {read}, [&] { return viewed(read, checked_reshaping(read->bounds, extents), extents); });
}

}  // namespace EINPARALLEL_DETAIL

/// A recorded tensor with `before` elements before it and `after` elements behind it along each dimension. All of these
/// are `value`, as in ep::padded of an array (array/shape.hpp). The readers of the result compute block by block: the
/// padding is neither moved between ranks nor held in memory. A mistake is an ep::error at the next decompose, here and
/// in the functions below.
template <detail::Shaped A, detail::Scalar Value>
auto padded(const A& tensor, const detail::padding<detail::shaped_t<A>::rank>& before,
            const detail::padding<detail::shaped_t<A>::rank>& after, Value value) {
    using Operand = detail::shaped_t<A>;
    using T = typename Operand::value_type;
    const std::shared_ptr<vertex> read = detail::vertex_of(tensor);
    return detail::shaped_by<Operand>({read}, [&] {
        const auto extents = detail::padded_extents(detail::listed_extents<Operand::rank>(read->bounds), before, after);
        const T made = detail::converted<T>(value);
        const affine_map first{std::vector<index_function>(1)};
        return detail::shifted_to(
            read, before, extents,
            detail::viewed(detail::constant_vertex(element_type_of<T>(), &made, {1}), first, extents));
    });
}

/// The elements of a recorded tensor from `begin` to below `end` along each dimension, as ep::slice of an array. The
/// result is an operand. Other elements are not moved.
template <detail::Shaped A>
auto slice(const A& tensor, const detail::corner<detail::shaped_t<A>::rank>& begin,
           const detail::corner<detail::shaped_t<A>::rank>& end) {
    using Operand = detail::shaped_t<A>;
    const std::shared_ptr<vertex> read = detail::vertex_of(tensor);
    return detail::shaped_by<Operand>({read}, [&] {
        const auto extents = detail::sliced_extents(detail::listed_extents<Operand::rank>(read->bounds), begin, end);
        std::array<index, Operand::rank> lower{};
        std::transform(begin.begin(), begin.end(), lower.begin(), std::negate<>());
        return detail::shifted_to(read, lower, extents);
    });
}

/// Recorded tensors one behind the other along a dimension, as ep::concatenate of arrays. The result is an operand.
/// Each tensor rests where it is, and only the elements that a rank reads are moved to it.
template <detail::Shaped A, detail::Shaped... More>
    requires(std::is_same_v<detail::shaped_t<A>, detail::shaped_t<More>>&&...)
auto concatenate(std::size_t dimension, const A& first, const More&... more) {
    using Operand = detail::shaped_t<A>;
    const std::vector<std::shared_ptr<vertex>> read{detail::vertex_of(first), detail::vertex_of(more)...};
    return detail::shaped_by<Operand>(read, [&] {
        std::array<index, Operand::rank> extents{};
        std::vector<std::array<index, Operand::rank>> lower;
        for (const std::shared_ptr<vertex>& each : read) {
            lower.push_back(detail::append_extents(extents, dimension,
                                                   detail::listed_extents<Operand::rank>(each->bounds), lower.empty()));
        }
        std::shared_ptr<vertex> all;
        for (std::size_t each = read.size(); each-- > 0;) {
            all = detail::shifted_to(read[each], lower[each], extents, std::move(all));
        }
        return all;
    });
}

/// The elements of a recorded tensor in row-major order, with other extents, as ep::reshape of an array. The result is
/// an operand. Nothing is moved where both tensors are cut along corresponding outermost dimensions. Other cuts move
/// the elements that a rank's block lacks, and the plan counts these bytes. A view is computed before it is reshaped.
template <detail::Shaped A, std::size_t Rank>
auto reshape(const A& tensor, const extent (&extents)[Rank]) {
    return detail::reshaped_tensor(tensor, detail::listed_extents<Rank>(extents));
}
/// The same with extents in a std::array. For rank 0: ep::reshape(X, {}).
template <detail::Shaped A, detail::NumberArray Extents = std::array<extent, 0>>
auto reshape(const A& tensor, const Extents& extents) {
    return detail::reshaped_tensor(tensor, detail::listed_extents<std::tuple_size_v<Extents>>(extents));
}

}  // namespace einparallel
