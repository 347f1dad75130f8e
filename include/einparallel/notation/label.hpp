#pragma once
// Labels: the names of indices, as distinct types.

#include <einparallel/notation/einsum_form.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace einparallel {

/// Text as a template argument. All texts of a kind have one fixed capacity, because nvcc never matches a type whose
/// capacity is deduced.
template <std::size_t Capacity>
struct fixed_text {
    char characters[Capacity + 1] = {};  ///< ends with a zero

    constexpr fixed_text() = default;

    /// From a literal. The text must fit.
    template <std::size_t Length>
    constexpr fixed_text(const char (&literal)[Length])  // implicit: label<"i">, einsum<"ij,jk->ik">
        : fixed_text(std::string_view(literal, std::min(Length - 1, Capacity))) {
        static_assert(Length <= Capacity + 1, "einparallel: this label or subscript string is too long");
    }
    /// From text that fits.
    explicit constexpr fixed_text(std::string_view text) { std::copy(text.begin(), text.end(), characters); }

    /// The text without the zero at its end.
    [[nodiscard]] constexpr std::string_view view() const { return characters; }

    friend constexpr bool operator==(const fixed_text&, const fixed_text&) = default;
};

namespace detail {

/// True for a byte that continues a character of UTF-8.
constexpr bool continues_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace detail

/// Name of a label: up to 31 bytes of UTF-8.
using label_name = fixed_text<31>;

/// A label. Each name has its own type, with one object per type. The type spells the name, so that errors show it as
/// label<'i'>. EINPARALLEL_LABELS(i, j, k) declares such objects; ep::label_named<"i"> is the type. Two labels of the
/// same name are the same label in all translation units.
template <char... Characters>
struct label {
    static_assert(
        sizeof...(Characters) > 0,
        "einparallel: a label has a name, and is a type of its own: EINPARALLEL_LABELS(i, j) declares i and j");

    /// The name, with a zero at the end.
    static constexpr char text[sizeof...(Characters) + 1] = {Characters..., '\0'};
    /// The name in tables and errors.
    static constexpr std::string_view name{text, sizeof...(Characters)};
    /// Converts a label to its name, where dimensions are named by text: Z.pinned({{i, 4}}).
    operator std::string() const { return std::string(name); }
};

namespace detail {

template <class T>
inline constexpr bool is_label = false;
template <char... Characters>
inline constexpr bool is_label<label<Characters...>> = true;

template <label_name Name, class Positions>
struct spell;
template <label_name Name, std::size_t... Position>
struct spell<Name, std::index_sequence<Position...>> : std::type_identity<label<Name.characters[Position]...>> {};

/// A list of labels in the order written. The list of an operand has one entry for each dimension, with repetitions;
/// the list of an expression has each label once.
template <class... Labels>
struct label_list {
    static constexpr std::size_t size = sizeof...(Labels);
};

template <class... Lists>
struct concatenate;
template <template <class...> class List, class... A>
struct concatenate<List<A...>> : std::type_identity<List<A...>> {};
template <template <class...> class List, class... A, class... B, class... Rest>
struct concatenate<List<A...>, List<B...>, Rest...> : concatenate<List<A..., B...>, Rest...> {};
template <class... Lists>
using concatenate_t = typename concatenate<Lists...>::type;

template <class Label, class List>
inline constexpr bool appears_in = false;
template <class Label, class... Labels>
inline constexpr bool appears_in<Label, label_list<Labels...>> = (std::is_same_v<Label, Labels> || ...);

/// The labels of two lists, each once. Equal lists stay as they are.
template <class A, class B>
struct united;
template <class... A>
struct united<label_list<A...>, label_list<>> : std::type_identity<label_list<A...>> {};
template <class... A, class B, class... Rest>
struct united<label_list<A...>, label_list<B, Rest...>>
    : united<std::conditional_t<(std::is_same_v<A, B> || ...), label_list<A...>, label_list<A..., B>>,
             label_list<Rest...>> {};
template <class... Lists>
struct all_united;
template <class A>
struct all_united<A> : std::type_identity<A> {};
template <class A, class B, class... Rest>
struct all_united<A, B, Rest...>
    : all_united<typename std::conditional_t<std::is_same_v<A, B>, std::type_identity<A>, united<A, B>>::type,
                 Rest...> {};
template <class... Lists>
using united_t = typename all_united<label_list<>, Lists...>::type;

/// Position of the first occurrence of a label in a list; the size of the list where the label is not in it.
template <class Label, class... Labels>
constexpr std::size_t position_of(label_list<Labels...> /*list*/) {
    std::size_t position = 0;
    static_cast<void>(((std::is_same_v<Label, Labels> || (++position, false)) || ...));
    return position;
}

/// Every label that a statement mentions. A label's id is the position of its first occurrence.
template <class List>
struct universe;
template <class... Labels>
struct universe<label_list<Labels...>> {
    static constexpr std::size_t size = sizeof...(Labels);
    static constexpr std::array<std::string_view, sizeof...(Labels)> names = {Labels::name...};

    template <class Label>
    static constexpr label_id id = label_id(position_of<Label>(label_list<Labels...>{}));

    template <class... Some>
    static constexpr std::array<label_id, sizeof...(Some)> list_ids(label_list<Some...> /*some*/) {
        return {id<Some>...};
    }
    /// Ids of some labels, in their order.
    template <class List>
    static constexpr auto ids = list_ids(List{});
};

}  // namespace detail

/// The type of the label with this name.
template <label_name Name>
using label_named = typename detail::spell<Name, std::make_index_sequence<Name.view().size()>>::type;

/// A label object's type.
template <class T>
concept Label = detail::is_label<std::remove_cvref_t<T>>;

}  // namespace einparallel

// EINPARALLEL_LABELS(i, j, k): constexpr label objects i, j, k at namespace or block scope, up to 32 in one
// declaration. Positions without a label stay empty. No such macro stands inside another, and this part counts as a
// system header: a compiler that warns about a label (that it hides a variable, say) writes lines for every macro of
// others on the way.
#if defined(__GNUC__) && !defined(__CUDACC__)
#pragma GCC system_header
#endif
// clang-format off
#define EINPARALLEL_DETAIL_LABEL(...) \
    __VA_OPT__([[maybe_unused]] constexpr ::einparallel::label_named<#__VA_ARGS__> __VA_ARGS__{};)
#define EINPARALLEL_DETAIL_NO_LABEL(...) \
    __VA_OPT__(static_assert(false, "EINPARALLEL_LABELS: at most 32 labels in one declaration; the others go into another");)
#define EINPARALLEL_DETAIL_LABELS( \
    l1, l2, l3, l4, l5, l6, l7, l8, l9, l10, l11, l12, l13, l14, l15, l16, \
    l17, l18, l19, l20, l21, l22, l23, l24, l25, l26, l27, l28, l29, l30, l31, l32, more, ...) \
    EINPARALLEL_DETAIL_LABEL(l1) EINPARALLEL_DETAIL_LABEL(l2) EINPARALLEL_DETAIL_LABEL(l3) EINPARALLEL_DETAIL_LABEL(l4) \
    EINPARALLEL_DETAIL_LABEL(l5) EINPARALLEL_DETAIL_LABEL(l6) EINPARALLEL_DETAIL_LABEL(l7) EINPARALLEL_DETAIL_LABEL(l8) \
    EINPARALLEL_DETAIL_LABEL(l9) EINPARALLEL_DETAIL_LABEL(l10) EINPARALLEL_DETAIL_LABEL(l11) EINPARALLEL_DETAIL_LABEL(l12) \
    EINPARALLEL_DETAIL_LABEL(l13) EINPARALLEL_DETAIL_LABEL(l14) EINPARALLEL_DETAIL_LABEL(l15) EINPARALLEL_DETAIL_LABEL(l16) \
    EINPARALLEL_DETAIL_LABEL(l17) EINPARALLEL_DETAIL_LABEL(l18) EINPARALLEL_DETAIL_LABEL(l19) EINPARALLEL_DETAIL_LABEL(l20) \
    EINPARALLEL_DETAIL_LABEL(l21) EINPARALLEL_DETAIL_LABEL(l22) EINPARALLEL_DETAIL_LABEL(l23) EINPARALLEL_DETAIL_LABEL(l24) \
    EINPARALLEL_DETAIL_LABEL(l25) EINPARALLEL_DETAIL_LABEL(l26) EINPARALLEL_DETAIL_LABEL(l27) EINPARALLEL_DETAIL_LABEL(l28) \
    EINPARALLEL_DETAIL_LABEL(l29) EINPARALLEL_DETAIL_LABEL(l30) EINPARALLEL_DETAIL_LABEL(l31) EINPARALLEL_DETAIL_LABEL(l32) \
    EINPARALLEL_DETAIL_NO_LABEL(more)
#define EINPARALLEL_LABELS(...) \
    EINPARALLEL_DETAIL_LABELS(__VA_ARGS__ __VA_OPT__(,),,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,) \
    static_assert(true, "a declaration that takes the semicolon")
// clang-format on
