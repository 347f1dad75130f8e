// The dictionary in an .npy file's header, as NumPy writes it and as other programs do.

#include <support/sentence_of.hpp>

#include <doctest/doctest.h>

#include <einparallel/io/npy_header.hpp>
#include <einparallel/notation/error.hpp>

#include <string>
#include <vector>

namespace npy_header_test {

namespace {

namespace ep = einparallel;

ep::detail::npy_header parse(const std::string& text) {
    return ep::detail::parse_npy_header("w.npy", text);
}

std::string refusal(const std::string& text) {
    return ep::testing::sentence_of([&] { parse(text); });
}

bool mentions(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a header in NumPy's own spelling") {
    const auto header = parse("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }        \n");
    CHECK(header.type == ep::element_type{'f', 8});
    CHECK_FALSE(header.fortran_order);
    CHECK(header.shape == std::vector<ep::index>{3, 4});
}

TEST_CASE("blanks, order of the keys, quotes, a missing last comma and Python 2's long integers change nothing") {
    for (const char* text :
         {"{'descr':'<f4','fortran_order':True,'shape':(3,4)}",
          "{'shape': (3L, 4L), 'fortran_order': True, 'descr': '<f4'}",
          "  {  \"fortran_order\"  :\tTrue ,\n \"descr\" : \"<f4\" , \"shape\" : ( 3 , 4 , ) , }  \n",
          "{'descr': '=f4', 'shape': (3, 4,), 'fortran_order': True, }",
          "{'descr': 'f4', 'shape': (3, 4,), 'fortran_order': True, }"}) {
        CAPTURE(text);
        const auto header = parse(text);
        CHECK(header.type == ep::element_type{'f', 4});
        CHECK(header.fortran_order);
        CHECK(header.shape == std::vector<ep::index>{3, 4});
    }
}

TEST_CASE("ranks 0 and 1") {
    CHECK(parse("{'descr': '|b1', 'fortran_order': False, 'shape': (), }").shape.empty());
    CHECK(parse("{'descr': '|b1', 'fortran_order': False, 'shape': (7,), }").shape == std::vector<ep::index>{7});
}

TEST_CASE("the order of bytes counts where an element has more than one") {
    const auto parsed = [](const std::string& type) {
        return parse("{'descr': '" + type + "', 'fortran_order': False, 'shape': (), }");
    };
    CHECK(parsed(">i1").type == ep::element_type{'i', 1});
    CHECK_FALSE(parsed(">i1").is_swapped);
    CHECK(parsed(">i4").type == ep::element_type{'i', 4});
    CHECK(parsed(">i4").is_swapped);
    CHECK(parsed(">c16").type == ep::element_type{'c', 16});
    CHECK(parsed(">c16").is_swapped);
    CHECK_FALSE(parsed("|f8").is_swapped);
    CHECK_FALSE(parsed("|u1").is_swapped);
}

TEST_CASE("float16 has its name, bfloat16 has none") {
    CHECK(parse("{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }").type ==
          ep::element_type_of<ep::float16>());
    CHECK(ep::detail::npy_type_name(ep::element_type_of<ep::float16>()) == "<f2");
    CHECK_THROWS_WITH_AS(static_cast<void>(ep::detail::npy_type_name(ep::element_type_of<ep::bfloat16>())),
                         "an .npy file cannot hold bfloat16 and elements of 8 bits: safetensors can", ep::error);
}

TEST_CASE("what is no number is refused by its name") {
    for (const char* type :
         {"<B2", "<f16", "<U3", "|S5", "|O", "<M8[ns]", "<c4", "<i3", "<b2", "", "<", "<g", "<f99999999999"}) {
        CAPTURE(type);
        const std::string said =
            refusal("{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (3,), }");
        CHECK(mentions(said, "'w.npy' holds elements of type '" + std::string(type) + "'"));
    }
    CHECK(mentions(refusal("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,), }"), "holds records"));
}

TEST_CASE("a damaged header is refused, never guessed at") {
    const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }";
    REQUIRE(refusal(good).empty());
    for (std::size_t length = 0; length < good.size(); ++length) {  // cut off anywhere
        CHECK_FALSE(refusal(good.substr(0, length)).empty());
    }
    CHECK(mentions(refusal("{'descr': '<f8', 'fortran_order': False, }"), "no entry 'shape'"));
    CHECK(mentions(refusal("{'fortran_order': False, 'shape': ()}"), "no entry 'descr'"));
    CHECK(mentions(refusal("{'descr': '<f8', 'shape': ()}"), "no entry 'fortran_order'"));
    CHECK(mentions(refusal("{'descr': '<f8', 'fortran_order': 0, 'shape': ()}"), "neither True nor False"));
    CHECK(
        mentions(refusal("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}"), "not a tuple of whole numbers"));
    CHECK(
        mentions(refusal("{'descr': '<f8', 'fortran_order': False, 'shape': (3.5,)}"), "not a tuple of whole numbers"));
    CHECK(mentions(refusal("{'descr': '<f8', 'fortran_order': False, 'shape': [3]}"), "not a tuple of whole numbers"));
    for (const char* shape : {"(6)", "6", "(True,)", "(02, 3)", "('6',)", "(6,,)"}) {
        CAPTURE(shape);
        CHECK_FALSE(refusal("{'descr': '<f8', 'fortran_order': False, 'shape': " + std::string(shape) + "}").empty());
    }
    CHECK(mentions(refusal("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}"), "2^63"));
    CHECK(mentions(refusal("{'descr': '<f8', 'fortran_order': False, 'shape': (), 'colour': 'red'}"), "'colour'"));
    CHECK(mentions(refusal(good + " and more"), "behind the dictionary"));
}

TEST_CASE("what is written can be read, and the elements begin at a multiple of 64") {
    for (const auto& shape :
         {std::vector<ep::index>{}, {5}, {3, 0, 2}, std::vector<ep::index>(30, 1), std::vector<ep::index>(30000, 1)}) {
        const std::string preamble = ep::detail::npy_preamble({'c', 16}, shape);
        CHECK(preamble.size() % 64 == 0);
        const bool long_form = preamble[6] == '\2';
        CHECK(long_form == (shape.size() > 20000));
        const auto header = parse(preamble.substr(long_form ? 12 : 10));
        CHECK(header.type == ep::element_type{'c', 16});
        CHECK(header.shape == shape);
        CHECK_FALSE(header.fortran_order);
    }
}

}  // namespace npy_header_test
