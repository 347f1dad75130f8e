// Labels are types: the same name is the same label wherever it is declared.

#include <einparallel/notation/label.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

namespace label_test {

namespace ep = einparallel;

namespace {

EINPARALLEL_LABELS(i, j, batch_of_sequences);

// Thirty labels at once: there is no alphabet and no limit of 52.
EINPARALLEL_LABELS(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4,
                   c5, c6, c7, c8, c9);

template <class... Labels>
std::string names(Labels... /*labels*/) {
    std::string all;
    ((all += std::string(Labels::name) + " "), ...);
    return all;
}

}  // namespace

TEST_CASE("a label is its name") {
    static_assert(decltype(i)::name == "i");
    static_assert(decltype(batch_of_sequences)::name == "batch_of_sequences");
    static_assert(!std::is_same_v<decltype(i), decltype(j)>);
    static_assert(std::is_same_v<std::remove_const_t<decltype(i)>, ep::label<'i'>>);
    static_assert(std::is_same_v<ep::label_named<"head">, ep::label<'h', 'e', 'a', 'd'>>);
    static_assert(ep::Label<decltype(i)>);
    static_assert(!ep::Label<int>);
    CHECK(names(a0, c9, i) == "a0 c9 i ");
}

TEST_CASE("labels may be declared in a block, and mean the same there") {
    const bool same_outside = std::is_same_v<std::remove_const_t<decltype(i)>, ep::label_named<"i">>;
    EINPARALLEL_LABELS(k, l);
    static_assert(!std::is_same_v<decltype(k), decltype(l)>);
    CHECK(same_outside);
}

TEST_CASE("ids are positions of first occurrence") {
    using list = ep::detail::label_list<ep::label<'j'>, ep::label<'i'>, ep::label<'j'>, ep::label<'k'>>;
    using all = ep::detail::universe<list>;
    static_assert(all::id<ep::label<'j'>> == 0);
    static_assert(all::id<ep::label<'i'>> == 1);
    static_assert(all::id<ep::label<'k'>> == 3);
    constexpr auto ids = all::ids<list>;
    CHECK(ids == std::array<ep::label_id, 4>{0, 1, 0, 3});
}

}  // namespace label_test
