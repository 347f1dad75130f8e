// Files of the safetensors format: as PyTorch writes them, mutated ones, and the sentences about them.

#include <einparallel/io/safetensors.hpp>
#include <einparallel/notation/error.hpp>

#include <support/sentence_of.hpp>

#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace safetensors_test {

namespace {

namespace ep = einparallel;

/// A file that goes with the object.
struct temporary_file {
    std::string path;

    temporary_file(const std::string& name, std::string_view content)
        : path("/tmp/einparallel_" + std::to_string(::getpid()) + "_" + name) {
        std::ofstream(path, std::ios::binary).write(content.data(), std::streamsize(content.size()));
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file() { std::remove(path.c_str()); }
};

/// A file with this header, and so many bytes 0, 1, 2, … of elements.
std::string file_of(const std::string& header, std::size_t data) {
    std::string made;
    for (int byte = 0; byte < 8; ++byte) {
        made += char(static_cast<unsigned char>(header.size() >> 8 * byte));
    }
    made += header;
    for (std::size_t byte = 0; byte < data; ++byte) {
        made += char(static_cast<unsigned char>(byte));
    }
    return made;
}

const std::string sound =
    R"({"__metadata__":{"format":"pt","n":"1"},"w":{"dtype":"I16","shape":[2,3],"data_offsets":[0,12]},)"
    R"("layers.0.b":{"dtype":"BF16","shape":[4],"data_offsets":[12,20]}, "s" : { "shape" : [], "dtype":"U8",)"
    R"("data_offsets":[20,21]},"none":{"dtype":"F32","shape":[0,5],"data_offsets":[21,21]}})";

std::string refused(const std::string& content) {
    const temporary_file file("bad.safetensors", content);
    try {
        const ep::safetensors_file opened(file.path);
        return "";
    } catch (const ep::error& wrong) {
        const std::string sentence = wrong.what();
        return sentence.substr(sentence.find("' ") + 2);
    }
}

}  // namespace

TEST_CASE("names, types, shapes and boxes of the tensors of a file") {
    const temporary_file made("sound.safetensors", file_of(sound, 21));
    const ep::safetensors_file file(made.path);
    CHECK(file.names() == std::vector<std::string>{"layers.0.b", "none", "s", "w"});
    CHECK(file.type("w") == ep::element_type_of<std::int16_t>());
    CHECK(file.type("layers.0.b") == ep::element_type_of<ep::bfloat16>());
    CHECK(file.shape("w") == std::vector<ep::index>{2, 3});
    CHECK(file.shape("s").empty());
    CHECK(!file.contains("v"));
    std::vector<std::int16_t> box(4);
    file.read_box("w", {{{0, 2}, {1, 3}}}, box.data());
    CHECK(box == std::vector<std::int16_t>{0x0302, 0x0504, 0x0908, 0x0b0a});
    std::uint8_t one = 0;
    file.read_box("s", {}, &one);
    CHECK(one == 20);
    file.read_box("none", {{{0, 0}, {0, 5}}}, nullptr);
    CHECK_THROWS_WITH_AS(file.read_box("w", {{{0, 3}, {0, 3}}}, box.data()),
                         doctest::Contains("a box outside of tensor 'w' is asked for"), ep::error);
    CHECK_THROWS_WITH_AS(
        file.require("w", ep::element_type_of<float>(), 2),
        doctest::Contains("tensor 'w' is of type int16 and rank 2, and type float and rank 2 are asked for"),
        ep::error);
    CHECK_THROWS_WITH_AS(
        file.require("w", ep::element_type_of<std::int16_t>(), 1),
        doctest::Contains("tensor 'w' is of type int16 and rank 2, and type int16 and rank 1 are asked for"),
        ep::error);
    CHECK_THROWS_WITH_AS(static_cast<void>(file.shape("v")), doctest::Contains("has no tensor 'v'"), ep::error);
}

TEST_CASE("the same elements as a tensor of other extents") {
    const temporary_file made("others.safetensors", file_of(sound, 21));
    const ep::safetensors_file file(made.path);
    const std::vector<ep::index> shape = file.shape("w");
    const ep::index count = ep::whole_box(shape).size();
    std::vector<std::int16_t> all(std::size_t(count), 0), part(1);
    file.read_box("w", ep::whole_box(shape), all.data());
    for (ep::index at = 0; at < count; ++at) {
        file.read_box("w", {1, count, 1}, {{{0, 1}, {at, at + 1}, {0, 1}}}, part.data());
        CHECK(part[0] == all[std::size_t(at)]);
    }
    for (const std::vector<ep::index>& wrong : std::vector<std::vector<ep::index>>{
             {count + 1}, {-count, -1}, {0}, {}, {ep::index{1} << 33, ep::index{1} << 33, count}}) {
        CHECK_THROWS_WITH_AS(file.read_box("w", wrong, {}, nullptr),
                             ("'" + made.path + "': tensor 'w' has " + std::to_string(count) +
                              " elements, not those of the extents asked for")
                                 .c_str(),
                             ep::error);
    }
}

namespace {

/// The elements of a tensor of a file.
template <class T>
std::vector<T> all_of(const ep::safetensors_file& file, const std::string& name) {
    const std::vector<ep::index> shape = file.shape(name);
    std::vector<T> all(std::size_t(ep::whole_box(shape).size()));
    file.require(name, ep::element_type_of<T>(), shape.size());
    file.read_box(name, ep::whole_box(shape), all.data());
    return all;
}

}  // namespace

TEST_CASE_TEMPLATE("elements of 8 bits are those of ml_dtypes, all patterns and all float16", T, ep::float8_e4m3,
                   ep::float8_e5m2) {
    const ep::safetensors_file file(std::string(EINPARALLEL_TEST_DIR) + "/io/fixtures/float8.safetensors");
    const std::string name = std::is_same_v<T, ep::float8_e4m3> ? "e4m3" : "e5m2";
    const auto stored = all_of<T>(file, name);
    const auto values = all_of<float>(file, name + "_values");
    const auto first = all_of<std::uint16_t>(file, name + "_first");
    REQUIRE((stored.size() == 256 && values.size() == 256 && first.size() == 128));
    int wrong = 0;
    for (std::size_t at = 0; at < 256; ++at) {
        wrong += stored[at].bits() == at ? 0 : 1;
        wrong += std::bit_cast<std::uint32_t>(float(stored[at])) == std::bit_cast<std::uint32_t>(values[at]) ||
                         (std::isnan(values[at]) && std::isnan(float(stored[at])))
                     ? 0
                     : 1;
    }
    std::size_t pattern = 0;
    for (unsigned bits = 0; bits <= 0x7c00; ++bits) {
        while (pattern + 1 < 128 && first[pattern + 1] <= bits) {
            ++pattern;
        }
        for (const unsigned sign : {0U, 1U}) {
            const auto half = ep::float16::of_bits(std::uint16_t(bits | sign << 15U));
            const auto expected = unsigned(pattern) | sign << 7U;
            wrong += T(float(half)).bits() == expected && T(double(float(half))).bits() == expected ? 0 : 1;
        }
    }
    for (unsigned bits = 0x7c01; bits < 0x8000; ++bits) {
        wrong += std::isnan(float(T(float(ep::float16::of_bits(std::uint16_t(bits)))))) ? 0 : 1;
        wrong += std::isnan(float(T(float(ep::float16::of_bits(std::uint16_t(bits | 0x8000U)))))) ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("several files by their index") {
    const temporary_file first("one.safetensors",
                               file_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2));
    const temporary_file second("two.safetensors", file_of(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]},)"
                                                           R"("c":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
                                                           3));
    const auto name_of = [](const temporary_file& file) { return file.path.substr(5); };
    const auto index_of = [&](const std::string& where) {
        return R"({"metadata":{"total_size":3},"weight_map":{"a":")" + name_of(first) + R"(","b":")" + where + "\"}}";
    };
    const temporary_file index("model.index.json", index_of(name_of(second)));
    const ep::safetensors_file file(index.path);
    CHECK(file.names() == std::vector<std::string>{"a", "b"});
    std::uint8_t one = 0;
    file.read_box("b", {{{0, 1}}}, &one);
    CHECK(one == 2);
    const auto refusal = [&](const std::string& text) {
        const temporary_file bad("bad.index.json", text);
        try {
            const ep::safetensors_file opened(bad.path);
            return std::string();
        } catch (const ep::error& wrong) {
            return std::string(wrong.what());
        }
    };
    CHECK(refusal(index_of("../two")).find("lists the file '../two', which is outside of its folder") !=
          std::string::npos);
    CHECK(refusal(index_of(name_of(first))).find("lists tensor 'b' in '") != std::string::npos);
    CHECK(refusal("{}").find("is no index of safetensors: it has no weight_map") != std::string::npos);
    CHECK(refusal(index_of("missing")).find("missing' cannot be opened") != std::string::npos);
}

TEST_CASE("a tensor of a type that is not read is listed, and refused where it is asked for") {
    const temporary_file made("mixed.safetensors",
                              file_of(R"({"w":{"dtype":"F8_E8M0","shape":[2],"data_offsets":[0,2]},)"
                                      R"("u":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
                                      4));
    const ep::safetensors_file file(made.path);
    CHECK(file.names() == std::vector<std::string>{"u", "w"});
    std::uint8_t read[2] = {};
    file.read_box("u", ep::whole_box({2}), read);
    CHECK(read[1] == 3);
    std::string sentence;
    try {
        file.require("w", ep::element_type_of<std::uint8_t>(), 1);
    } catch (const ep::error& wrong) {
        sentence = wrong.what();
    }
    CHECK(sentence.substr(sentence.find("' ") + 2) ==
          "has tensor 'w' of type F8_E8M0; those that can be read are F64, F32, F16, BF16, F8_E4M3, F8_E5M2, C64, I64, "
          "I32, I16, I8, U64, U32, U16, U8, BOOL");
}

TEST_CASE("names and metadata of any letters are written and read again") {
    const std::map<std::string, std::string> metadata = {{"format", "pt"},
                                                         {"\"\\/", "\b\f\n\r\t\x01\x1f\x7f"},
                                                         {std::string("\0", 1), "\xc3\xbc \xf0\x9f\x98\x80"},
                                                         {"", ""}};
    std::vector<std::string> names;
    for (const auto& [name, value] : metadata) {
        names.push_back(value);
    }
    const auto complex = ep::element_type_of<std::complex<float>>();
    const std::vector<ep::element_type> types(names.size(), complex);
    const std::vector<std::vector<ep::index>> shapes(names.size(), {1, 2});
    const std::string preamble = ep::detail::safetensors_preamble(names, types, shapes, metadata);
    CHECK(preamble.size() % 8 == 0);
    CHECK(preamble.find(
              R"({"__metadata__":{"":"","\u0000":"ü 😀","\"\\/":"\u0008\u000c\u000a\u000d\u0009\u0001\u001f)") == 8);
    const temporary_file made("letters.safetensors", preamble + std::string(16 * names.size(), '\0'));
    const ep::safetensors_file file(made.path);
    CHECK(file.metadata() == metadata);
    std::sort(names.begin(), names.end());
    CHECK(file.names() == names);
    CHECK(file.type("pt") == complex);
    CHECK(ep::detail::safetensors_preamble({}, {}, {}).substr(8) == "{}      ");

    const auto refusal = [&](const std::string& name, const std::map<std::string, std::string>& words) {
        return ep::testing::sentence_of([&] { ep::detail::safetensors_preamble({name}, {complex}, {{1}}, words); });
    };
    CHECK(refusal("a\xff", {}) == "the name 'a\xff' is not UTF-8, and safetensors must be");
    CHECK(refusal("a", {{"b", "\x80"}}) == "the metadata '\x80' is not UTF-8, and safetensors must be");
    CHECK(refusal("__metadata__", {}) == "'__metadata__' is no name for a tensor in safetensors");
    CHECK(ep::testing::sentence_of([] {
              ep::detail::safetensors_preamble({"z"}, {{'c', 16}}, {{1}});
          }) ==
          "'z': safetensors hold no elements of type complex<double>, but F64, F32, F16, BF16, F8_E4M3, F8_E5M2, C64, "
          "I64, I32, I16, I8, U64, U32, U16, U8, BOOL");
}

TEST_CASE("sentences about what is wrong with a file") {
    CHECK(refused(file_of(sound, 21)) == "");
    CHECK(refused("abc") == "is no safetensors file: it has only 3 bytes");
    CHECK(refused(std::string(8, '\xff') + "{}").find("is no safetensors file, or truncated: its header would have") ==
          0);
    const temporary_file long_one("long.safetensors", std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10));
    CHECK(::truncate(long_one.path.c_str(), 100'000'100) == 0);  // a hole, for the most part
    CHECK(ep::testing::sentence_of([&] { ep::safetensors_file{long_one.path}; }) ==
          "'" + long_one.path + "' has a header of 100000001 bytes, and safetensors have 100000000 at most");
    CHECK(refused(file_of(sound, 20)) ==
          "has tensor 's' outside of its 20 bytes of elements: it is truncated, or wrong");
    const auto tensor = [](const std::string& type, const std::string& shape, const std::string& offsets) {
        return file_of(R"({"w":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}",
                       64);
    };
    CHECK(refused(tensor("F32", "[2]", "[0,8]")) == "has 56 bytes behind its tensors");
    CHECK(refused(tensor("F32", "[2]", "[0,4]")) == "has 4 bytes of tensor 'w', and type and shape need 8");
    CHECK(refused(tensor("F32", "[4611686018427387904,4]", "[0,64]")).find("has a number above 2^62") == 0);
    CHECK(refused(tensor("F32", "[4611686018427387903,4]", "[0,64]")) ==
          "has 64 bytes of tensor 'w', and type and shape need more than there can be");
    CHECK(refused(tensor("F32", "[99999999999999999999]", "[0,64]")) == "has a header with a number above 2^64 - 1");
    CHECK(refused(tensor("F32", "[-1]", "[0,64]")).find("has a header with '-1]") == 0);
    CHECK(refused(tensor("F32", "[06]", "[0,64]")).find("has a header with '06]") == 0);
    CHECK(refused(tensor("F32", "[1.5]", "[0,64]")).find("where a whole number belongs") != std::string::npos);
    CHECK(refused(tensor("F32", "[2]", "[8,0]")).find("has tensor 'w' outside of its 64 bytes") == 0);
    CHECK(refused(tensor("F32", "[2]", "[0,8,16]")).find("has tensor 'w' outside") == 0);
    CHECK(refused(file_of(R"({"w":{"dtype":"U8","shape":[2]}})", 2)) == "says no data_offsets of tensor 'w'");
    CHECK(refused(file_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],)"
                          R"("data_offsets":[1,3]}})",
                          3)) == "has tensors 'a' and 'b' at the same bytes");
    CHECK(refused(file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],)"
                          R"("data_offsets":[1,2]}})",
                          2)) == "has 'a' twice in one object of its header");
    const std::string u8 = R"(:{"dtype":"U8","shape":[2],"data_offsets":)";
    CHECK(refused(file_of(R"({"a")" + u8 + R"([0,2]},"b")" + u8 + "[4,6]}}", 6)) ==
          "has 2 bytes before tensor 'b' that belong to no tensor");
    CHECK(refused(file_of(R"({"a")" + u8 + "[1,3]}}", 3)) == "has 1 bytes before tensor 'a' that belong to no tensor");
    CHECK(refused(tensor("F4", "[3]", "[0,2]")) ==
          "has 3 elements of 4 bits in tensor 'w', which do not fill whole bytes");
    CHECK(refused(tensor("F8_E4M3FN", "[64]", "[0,64]")) ==
          "has tensor 'w' of type 'F8_E4M3FN', which the safetensors format does not have");
    CHECK(refused(file_of("{\"a\n\":1}", 0)) == "has a header with the control character 10 in a string");
    CHECK(refused(file_of("{\"\xff\":1}", 0)) == "has a header with a string that is no UTF-8");
    CHECK(refused(file_of(R"({"\udc00":1})", 0)) == "has a header with half of a surrogate pair in a string");
    CHECK(refused(file_of("[]", 0)) == "has a header that is no JSON: '{' is missing before '[]'");
    CHECK(refused(file_of(R"({"__metadata__":{"a":1}})", 0)) ==
          "has a header that is no JSON: '\"' is missing before '1}}'");
    CHECK(refused(file_of(R"({"a" 1})", 0)) == "has a header that is no JSON: ':' is missing before '1}'");
    CHECK(refused(file_of(R"({"a)", 0)) == "has a header with an open quotation mark");
    CHECK(refused(file_of("{} x", 0)) == "has text behind its header");
    CHECK(refused(file_of(R"({"w":{"x":)" + std::string(200, '[') + "}", 0)) ==
          "has a header that is nested more than 127 deep");
}

TEST_CASE("mutated files are read or refused in a sentence, whatever they say") {
    std::mt19937 random(11);
    const std::string whole = file_of(sound, 21);
    int refusals = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        std::string content = whole;
        for (unsigned change = 0; change <= unsigned(trial) % 4U && !content.empty(); ++change) {
            const std::size_t at = random() % content.size();
            switch (random() % 5) {
                case 0:
                    content[at] = char(random());
                    break;
                case 1:
                    content.erase(at, 1 + random() % 9);
                    break;
                case 2:
                    content.insert(at, content.substr(random() % content.size(), 1 + random() % 30));
                    break;
                case 3:
                    content[at] = "0123456789[]{},:\"-\\"[random() % 19];
                    break;
                default:
                    content.resize(at + 1);
            }
        }
        const temporary_file made("mutated.safetensors", content);
        try {
            const ep::safetensors_file file(made.path);
            for (const std::string& name : file.names()) {
                const ep::box all = ep::whole_box(file.shape(name));
                REQUIRE(all.size() * ep::index(file.type(name).bytes) <= ep::index(content.size()));
                std::vector<char> elements(std::size_t(all.size()) * file.type(name).bytes + 1);
                file.read_box(name, all, elements.data());
            }
        } catch (const ep::error& wrong) {
            ++refusals;
            REQUIRE(std::string_view(wrong.what()).find(made.path) != std::string_view::npos);
        }
    }
    CHECK(refusals > 500);
    CHECK(refusals < 2000);
}

}  // namespace safetensors_test
