#pragma once
// Inputs that know of ranks: an array of one rank, a tensor that is distributed already, values for placeholders.

#include <einparallel/array/array.hpp>
#include <einparallel/array/einsum.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/data/distributed.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/record.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/kernel/array_memory.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// An input with a copy of the elements of `given`, a whole tensor that rank `root` has.
EINPARALLEL_INLINE std::shared_ptr<vertex> input_copied(const local_tensor& given, int root);

/// A local tensor that refers to the elements of `value`, which the caller keeps.
template <DenseOperand Value>
local_tensor refer_to(const Value& value) {
    local_tensor made;
    made.elements = elements_of(readable(value));  // never written
    if constexpr (is_a<Value, array>) {
        if (value.data() != nullptr) {
            made.life = life_of(value.data());
        }
    }
    return made;
}
/// A local tensor that owns its elements: `value` is moved into it.
template <DenseOperand Value>
local_tensor keep_elements(Value value) {
    const auto keep = std::make_shared<const Value>(std::move(value));
    local_tensor made = refer_to(*keep);
    made.life.reset();
    made.keep = keep;
    return made;
}
/// The tensor type of an input with the elements of a dense operand of type `Value`.
template <class Value>
using input_of = tensor<typename readable_t<Value>::value_type, readable_t<Value>::rank>;

// Results of the functions below for arguments that do not compile.
template <class... Arguments>
struct other_than_root : refused {
    static_assert(fits<Arguments...>,
                  "ep::from_root: the elements come first, then the rank that has them: ep::from_root(a, 0)");
};
template <class... Arguments>
struct other_than_distributed : refused {
    static_assert(
        fits<Arguments...>,
        "ep::from_distributed: elements on several ranks are an ep::distributed<T, Rank>; an array of one rank is "
        "brought in by ep::from_root, device memory by ep::bind");
};
template <class... Arguments>
struct other_than_value : binding, refused {
    static_assert(fits<Arguments...>, "ep::bind: the placeholder comes first, then its value: ep::bind(X, x)");
};
template <class... Arguments>
struct other_than_target : binding, refused {
    static_assert(fits<Arguments...>,
                  "ep::into: a tensor comes first, then an ep::distributed of its element type and rank, which "
                  "ep::distributed<double, 2>(world, {m, n}, {first_row, 0}, view) makes of an array or view, and "
                  "distributed_over(world, {m, n}, {first_row, 0}) of an ep::device_view");
};

}  // namespace EINPARALLEL_DETAIL

/// A reference to the caller's memory, for from_root. ep::borrow makes it.
template <class T, std::size_t Rank>
struct borrowed {
    using input = tensor<T, Rank>;  ///< what from_root returns for it
    detail::local_tensor what;      ///< the caller's memory
};

inline namespace EINPARALLEL_WAY {

/// Makes from_root refer to an array, a view or another library's object, instead of copying it. Each run reads the
/// elements that the object has at that time. The object must outlive the runs; a run throws if an ep::array is gone.
///
///     ep::tensor<double, 2> A = ep::from_root(ep::borrow(a), 0);
template <detail::DenseOperand Value>
[[nodiscard]] auto borrow(Value&& elements) {
    using Input = detail::input_of<Value>;
    constexpr bool stays = std::is_lvalue_reference_v<Value> || detail::is_a<std::remove_cvref_t<Value>, view>;
    static_assert(stays,
                  "ep::borrow: this object is gone before the run: give it a name, or call from_root without borrow");
    return borrowed<typename Input::value_type, Input::rank>{detail::refer_to(elements)};
}
/// Tensors whose elements cannot be found do not compile.
template <detail::OpaqueTensor Other>
detail::known_tensors<Other> borrow(const Other& elements);

/// An input whose elements rank `root` has, in an array, a view or another library's object (an Eigen matrix, vector or
/// map, a std::span, an mdspan). The root sends every other rank the elements that this rank computes with. Every rank
/// gives an object of the same extents; only the elements of the root are read. They are copied now, so the caller may
/// change or delete the object. Not copied are an ep::array that is moved in, which the input keeps, and memory to
/// which ep::borrow refers.
template <class Value>
[[nodiscard]] auto from_root(Value&& elements, int root) {
    if constexpr (!detail::DenseOperand<Value>) {
        constexpr bool is_borrowed = requires {
            elements.what;
        };
        static_assert(is_borrowed || detail::OpaqueTensor<Value>,
                      "ep::from_root: an array, a view or another library's object comes first, then its rank");
        if constexpr (is_borrowed) {  // the caller's memory, which every run reads as it is then
            return typename std::remove_cvref_t<Value>::input(detail::input_in_memory(elements.what, root));
        } else {
            static_cast<void>(detail::known_tensors<Value>());
            return detail::refused();
        }
    } else if constexpr (detail::is_a<Value, array>) {  // no reference: an rvalue
        return detail::input_of<Value>(detail::input_in_memory(detail::keep_elements(std::move(elements)), root));
    } else {
        return detail::input_of<Value>(detail::input_copied(detail::refer_to(elements), root));
    }
}
/// Other arguments do not compile.
template <class... Arguments>
    requires(sizeof...(Arguments) != 2)
detail::other_than_root<Arguments...> from_root(const Arguments&... /*arguments*/);

/// An input that is distributed already: an earlier result, or a tensor in the application's own distribution. The
/// input shares the elements of an earlier result and keeps them alive. It only refers to elements of the application.
template <Element T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> from_distributed(const distributed<T, Rank>& elements) {
    if (elements.local_tensor().where == nullptr) {
        std::shared_ptr<vertex> nothing = detail::unassigned_vertex(Rank, element_type_of<T>());
        nothing->failure = "from_distributed: the distributed tensor holds nothing";
        return tensor<T, Rank>(std::move(nothing));
    }
    return tensor<T, Rank>(detail::input_in_memory(elements.local_tensor()));
}
/// Other values do not compile.
template <class Other>
detail::other_than_distributed<Other> from_distributed(const Other& /*elements*/);

/// Binds a value to a placeholder for one run. The value may be an array, a view or another library's object: then
/// every rank has the whole tensor, and reads the elements that it needs. It may be an ep::distributed or an
/// ep::block_cyclic matrix: if the plan reads it in another distribution, the run first sends its elements there
/// (results.extra_bytes_sent() counts these bytes). It may be an input: bind(X, ep::from_root(a, 0)) if one rank has
/// the data, bind(X, ep::load_npy<double, 2>(path)), bind(X, ep::generate<double>(…)). An lvalue is referred to and
/// must live until the run returns; an rvalue is owned.
///
/// An earlier result that is moved in, bind(W, std::move(w)), is given to the run. The run may write a result of the
/// same extents over it, element by element, if no other handle and no ep::results shares the elements. A loop that
/// trains W then holds W in memory once instead of twice. When the ranks have begun the run, every use of the handle
/// throws, even if the run fails. If the run fails before that, the handle keeps its elements. The error says which of
/// the two happened.
template <class T, std::size_t Rank, class Value>
[[nodiscard]] binding bind(const tensor<T, Rank>& placeholder, Value&& value) {
    using Plain = std::remove_cvref_t<Value>;
    binding made{placeholder.node(), nullptr};
    if constexpr (requires { value.bound_to(placeholder); }) {
        made = value.bound_to(placeholder);
    } else if constexpr (requires { value.node(); }) {
        constexpr bool same = std::is_same_v<Plain, tensor<T, Rank>>;
        static_assert(same, "bind: the tensor has another element type or rank than the placeholder");
        if constexpr (same) {
            made.value = value.node();
        }
    } else if constexpr (requires { value.local_tensor(); }) {
        constexpr bool same = std::is_same_v<Plain, distributed<T, Rank>>;
        static_assert(same, "bind: the distributed tensor has another element type or rank than the placeholder");
        if constexpr (same && requires { std::forward<Value>(value).give(); } && !std::is_lvalue_reference_v<Value>) {
            made.gives = value.give();
        } else if constexpr (same) {
            made.value =
                value.local_tensor().where == nullptr ? nullptr : detail::input_in_memory(value.local_tensor());
        }
    } else {
        constexpr bool fits = requires {
            requires detail::DenseOperand<Value> && std::is_same_v<detail::input_of<Value>, tensor<T, Rank>>;
        };
        static_cast<void>(detail::known_tensors<Value>());
        static_assert(fits || detail::OpaqueTensor<Value>,
                      "bind: the value is no array, view, tensor or distributed tensor of the placeholder's element "
                      "type and rank");
        if constexpr (fits && std::is_lvalue_reference_v<Value>) {
            made.value = detail::input_in_memory(detail::refer_to(value));
        } else if constexpr (fits) {
            made.value = detail::input_in_memory(detail::keep_elements(std::move(value)));
        }
    }
    return made;
}

/// Other arguments do not compile.
template <class Placeholder, class Value>
detail::other_than_value<Placeholder> bind(const Placeholder& /*placeholder*/, Value&& /*value*/);

/// Gives a run the memory for one of its outputs: that of an earlier result, or the application's own. plan.run(world,
/// ep::into(Z, z)) leaves the elements of Z in the blocks of `z`, and results.get(Z) is a handle to them. The run
/// computes Z directly in this memory where it can, with or without strides. It cannot if the plan leaves Z in other
/// blocks (Z.pinned(z.pin()) prevents that), if a stride is negative, or if an input of the run lies in the same
/// memory. Then it copies or sends the elements to `z` when the work is done. A run that throws before its first vertex
/// has written nothing.
template <class T, std::size_t Rank>
[[nodiscard]] binding into(const tensor<T, Rank>& output, const distributed<T, Rank>& blocks) {
    return {output.node(), nullptr, std::make_shared<const detail::local_tensor>(blocks.local_tensor())};
}
/// Other arguments do not compile.
template <class... Arguments>
detail::other_than_target<Arguments...> into(const Arguments&... /*arguments*/);

/// The folder in which tensors of a run may wait (options.paging): plan.run(world, ep::scratch("/local/disk"), …). Each
/// rank makes one file there, which only it can read and which is gone when the run ends, also where the process dies.
/// The room for it is kept on the disk before the first kernel runs. Ranks may give different folders.
/// @throws error where the folder has no name
inline binding scratch(std::string folder) {
    detail::expect(!folder.empty(), "scratch: the folder has no name");
    binding made;
    made.folder = std::move(folder);
    return made;
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
