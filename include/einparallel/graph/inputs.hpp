#pragma once
// Inputs that are not on one rank: functions of the index, placeholders, and files. Files of arrays.

#include <einparallel/array/array.hpp>
#include <einparallel/graph/source.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/io/npy.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/refused.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace einparallel {

class safetensors_file;  // io/safetensors.hpp

namespace EINPARALLEL_DETAIL {

/// Calls visit(at) for every element of a box, in row-major order. `at` already has the indices of dimensions before
/// `Dimension`.
template <std::size_t Dimension = 0, std::size_t Rank, class Visit>
void for_each_index(const box& region, std::array<index, Rank>& at, const Visit& visit) {
    if constexpr (Dimension == Rank) {
        if (!region.nothing) {
            visit(std::as_const(at));
        }
    } else {
        const interval side = region.sides[Dimension];
        for (at[Dimension] = side.begin; at[Dimension] < side.end; ++at[Dimension]) {
            for_each_index<Dimension + 1>(region, at, visit);
        }
    }
}

/// A source whose elements a function writes, on each rank by itself. Without a function it is the source of a
/// placeholder.
class function_source final : public source {
public:
    using reader = std::function<void(const box& region, void* destination)>;

    /// @param stream  for elements in a file: reads them, and they need not be held in the system's cache
    /// @param is_turned  the first index is the fastest in the file
    explicit function_source(std::string description, reader read = nullptr, std::string number = {},
                             reader stream = nullptr, bool is_turned = false)
        : description_(std::move(description)),
          read_(std::move(read)),
          stream_(std::move(stream)),
          number_(std::move(number)),
          is_turned_(is_turned) {}

    [[nodiscard]] source_kind kind() const override {
        return read_ == nullptr ? source_kind::placeholder : source_kind::everywhere;
    }
    void read(const box& region, void* destination) const override { read_(region, destination); }
    [[nodiscard]] bool is_in_file() const override { return stream_ != nullptr; }
    [[nodiscard]] bool is_turned() const override { return is_turned_; }
    void stream(const box& region, void* destination) const override {
        (stream_ != nullptr ? stream_ : read_)(region, destination);
    }
    [[nodiscard]] std::string description() const override { return description_; }
    [[nodiscard]] std::string number() const override { return number_; }

private:
    std::string description_;
    reader read_;
    reader stream_;
    std::string number_;
    bool is_turned_;
};

/// The source of ep::iota: the element at index i is i.
class index_source final : public source {
public:
    [[nodiscard]] source_kind kind() const override { return source_kind::everywhere; }
    void read(const box& region, void* destination) const override {
        std::iota(static_cast<index*>(destination), static_cast<index*>(destination) + region.size(),
                  region.sides[0].begin);
    }
    [[nodiscard]] bool counts() const override { return true; }
    [[nodiscard]] std::string description() const override { return "iota"; }
};

/// An input vertex with the source `origin`; a placeholder where this is null. The vertex has failed where an extent is
/// negative, or `failure` is not empty.
EINPARALLEL_INLINE std::shared_ptr<vertex> input_vertex(std::vector<index> bounds, element_type element,
                                                        std::shared_ptr<const source> origin, std::string failure = "");

/// The vertex of load_npy. It has failed where the file does not hold a tensor of this element type and rank.
EINPARALLEL_INLINE std::shared_ptr<vertex> npy_vertex(const std::string& path, element_type element, std::size_t rank);

/// The vertex of load_safetensors. @param known  the file if it is open already, or null
/// @param extents  extents with which the elements are read; empty: the extents in the file
EINPARALLEL_INLINE std::shared_ptr<vertex> safetensors_vertex(const std::string& path, const safetensors_file* known,
                                                              const std::string& name, element_type element,
                                                              std::size_t rank, const std::vector<index>& extents = {});

/// True where a call of the function with one index for each dimension returns a value that converts to T.
template <class T, class Function, std::size_t... Dimension>
constexpr bool makes_elements(std::index_sequence<Dimension...> /*all*/) {
    return requires(const Function& function, const std::array<index, sizeof...(Dimension)>& at) {
        T(function(at[Dimension]...));
    };
}

template <class... Arguments>
struct other_than_extents : refused {
    static_assert(fits<Arguments...>,
                  "ep::generate, placeholder: extents stand in braces: ep::generate<double>({m, n}, f), "
                  "ep::placeholder<double>({m, n})");
};

/// An input with elements of type T; a placeholder where `origin` is null.
template <class T, std::size_t Rank>
tensor<T, Rank> input_tensor(std::vector<index> bounds, std::shared_ptr<const source> origin = nullptr) {
    return tensor<T, Rank>(input_vertex(std::move(bounds), element_type_of<T>(), std::move(origin)));
}

/// An input whose elements `function` returns. The function need not be copyable. A wrong call does not compile.
template <class T, std::size_t Rank, class Function>
auto generated_tensor(const std::array<index, Rank>& extents, Function function) {
    static_assert(is_element<T>, "ep::generate: name the element type: ep::generate<double>({m, n}, f)");
    constexpr bool makes = Element<T> && makes_elements<T, Function>(std::make_index_sequence<Rank>{});
    static_assert(makes || !is_element<T>,
                  "ep::generate: the function must be callable as const with one index for each extent, and must "
                  "return an element");
    if constexpr (makes) {
        const auto kept = std::make_shared<const Function>(std::move(function));
        const auto write = [kept](const box& region, void* destination) {
            T* next = static_cast<T*>(destination);
            std::array<index, Rank> at{};
            for_each_index(region, at, [&, &made_by = *kept](const std::array<index, Rank>& element) {
                *next++ = T(std::apply(made_by, element));
            });
        };
        return input_tensor<T, Rank>({extents.begin(), extents.end()},
                                     std::make_shared<function_source>("generate", write));
    } else {
        return refused();
    }
}

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// An input whose elements are function(i, j, …). Each rank calls the function for its own elements, in any order and
/// possibly more than once, so the function must be pure. Where it throws on a rank, every rank of the run throws.
template <class T = detail::refused, std::size_t Rank, class Function>
auto generate(const extent (&extents)[Rank], Function function) {
    return detail::generated_tensor<T>(detail::listed_extents<Rank>(extents), std::move(function));
}
/// The same with extents in a std::array. For rank 0: `ep::generate<double>({}, [] { return 1.0; })`.
template <class T = detail::refused, detail::NumberArray Extents = std::array<extent, 0>, class Function>
auto generate(const Extents& extents, Function function) {
    return detail::generated_tensor<T>(detail::listed_extents<std::tuple_size_v<Extents>>(extents),
                                       std::move(function));
}

/// Other arguments: refused.
template <class T = detail::refused, class... Arguments>
detail::other_than_extents<Arguments...> generate(const Arguments&... /*arguments*/) {
    return {};
}

/// An input whose elements are given at each run by ep::bind.
template <Element T, std::size_t Rank>
tensor<T, Rank> placeholder(const extent (&extents)[Rank]) {
    return detail::input_tensor<T, Rank>({extents, extents + Rank});
}
/// The same with extents in a std::array. For rank 0: `ep::placeholder<double>({})`.
template <Element T, detail::NumberArray Extents = std::array<extent, 0>>
auto placeholder(const Extents& extents) {
    return detail::input_tensor<T, std::tuple_size_v<Extents>>({extents.begin(), extents.end()});
}
/// Other arguments: refused.
template <class T = detail::refused, class... Arguments>
detail::other_than_extents<Arguments...> placeholder(const Arguments&... /*arguments*/) {
    return {};
}

/// An input read from a .npy file, in C or Fortran order. At each run every rank opens the file and reads the elements
/// that it needs. The next decompose fails where the file is missing, truncated, or of another element type or rank. It
/// fails on every rank alike, even where only one rank sees such a file.
template <class T = detail::refused, std::size_t... Rank>
auto load_npy(const std::string& path) {
    constexpr bool said = Element<T> && sizeof...(Rank) == 1;
    static_assert(said,
                  "ep::load_npy: name the element type and the number of dimensions: ep::load_npy<double, 2>(path)");
    if constexpr (said) {
        return tensor<T, Rank...>(detail::npy_vertex(path, element_type_of<T>(), (Rank + ...)));
    } else {
        return detail::refused();
    }
}

/// The tensor of a .npy file as an array of this process: the elements are read at this call.
/// @throws error that names the file, where load_npy would make the next decompose fail
template <class T = detail::refused, std::size_t... Rank>
auto read_npy(const std::string& path) {
    constexpr bool said = Element<T> && sizeof...(Rank) == 1;
    static_assert(said,
                  "ep::read_npy: name the element type and the number of dimensions: ep::read_npy<double, 2>(path)");
    if constexpr (said) {
        const npy_file file(path);
        file.require(element_type_of<T>(), (Rank + ...));
        std::array<index, (Rank + ...)> extents{};
        std::copy(file.shape().begin(), file.shape().end(), extents.begin());
        array<T, Rank...> elements(extents, detail::first_elements::unwritten);
        file.read_box(whole_box(file.shape()), elements.data());
        return elements;
    } else {
        return detail::refused();
    }
}

/// Writes an array of this process as a .npy file in C order; an older file of this name is replaced. (save_npy writes
/// a distributed tensor, on all ranks.)
/// @throws error where the file cannot be written
template <class T, std::size_t Rank>
void write_npy(const std::string& path, const array<T, Rank>& elements) {
    write_npy(path, element_type_of<T>(), {elements.extents().begin(), elements.extents().end()}, elements.data());
}

/// An input read from a tensor of a .safetensors file, or of the files that an index lists
/// (model.safetensors.index.json). Elements are read and mistakes reported as by load_npy. The header of a file that is
/// open already is not read again.
///@{
template <class T = detail::refused, std::size_t... Rank>
auto load_safetensors(const std::string& path, const std::string& name) {
    constexpr bool said = Element<T> && sizeof...(Rank) == 1;
    static_assert(said,
                  "ep::load_safetensors: name the element type and the number of dimensions: "
                  "ep::load_safetensors<float, 2>(path, name)");
    if constexpr (said) {
        return tensor<T, Rank...>(detail::safetensors_vertex(path, nullptr, name, element_type_of<T>(), (Rank + ...)));
    } else {
        return detail::refused();
    }
}
template <Element T, std::size_t Rank>
tensor<T, Rank> load_safetensors(const safetensors_file& file, const std::string& name) {
    return tensor<T, Rank>(detail::safetensors_vertex({}, &file, name, element_type_of<T>(), Rank));
}
///@}

/// The same for a tensor that is read with other extents, its elements in row-major order. Here the rows of a weight
/// become heads, each of `depth` rows:
///
///     ep::load_safetensors<float>(file, "model.layers.0.self_attn.q_proj.weight", {heads, depth, attributes})
template <Element T, std::size_t Rank>
tensor<T, Rank> load_safetensors(const safetensors_file& file, const std::string& name, const extent (&extents)[Rank]) {
    const auto wanted = detail::listed_extents<Rank>(extents);
    return tensor<T, Rank>(
        detail::safetensors_vertex({}, &file, name, element_type_of<T>(), Rank, {wanted.begin(), wanted.end()}));
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
