// Files that all ranks write and read: names and metadata of safetensors whatever their letters, complex numbers,
// shards in folders, .npy files in the other order of bytes; bad ones are one sentence on every rank.

#include <doctest/doctest.h>

#include <einparallel/data/distributed.hpp>
#include <einparallel/data/evaluate.hpp>
#include <einparallel/data/files/save.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/io/npy.hpp>
#include <einparallel/io/safetensors.hpp>

#include <support/graphs.hpp>

#include <mpi.h>
#include <unistd.h>

#include <complex>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace files_test {

#if !defined(SMPI_H)  // whose files are simulated, too

namespace {

EINPARALLEL_LABELS(i, j);

/// A folder that no other run of the tests has, the same on every rank.
struct temporary_folder {
    std::string path;
    int rank = 0;

    temporary_folder() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        std::int64_t process = getpid();
        MPI_Bcast(&process, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        path = (std::filesystem::temp_directory_path() / ("ep_files_" + std::to_string(process) + "/")).string();
        if (rank == 0) {
            std::filesystem::create_directories(path + "sub/deeper");
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder() {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            std::filesystem::remove_all(path);
        }
    }

    /// Written by rank 0. Returns the path.
    [[nodiscard]] std::string write(const std::string& name, const std::string& content) const {
        if (rank == 0) {
            std::ofstream(path + name, std::ios::binary) << content;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        return path + name;
    }
};

/// A .safetensors file of this header.
std::string file_of(const std::string& header, std::size_t data) {
    std::string made;
    for (int byte = 0; byte < 8; ++byte) {
        made += static_cast<char>(header.size() >> (8 * byte));
    }
    return made + header + std::string(data, '\1');
}

template <class T>
ep::distributed<T, 2> counted(ep::context& world, ep::index rows, ep::index columns) {
    ep::tensor<T, 2> Z;
    const auto A = ep::generate<double>(
        {rows, columns}, [=](auto row, auto column) { return static_cast<double>(row * columns + column + 1); });
    if constexpr (std::is_same_v<T, double>) {
        Z(i, j) = 1.0 * A(i, j);
    } else {
        Z(i, j) = ep::map([](double value) { return T(float(value), float(-value)); }, A(i, j));
    }
    return ep::evaluate(world, Z);
}

std::string sentence_of_call(auto&& f) {
    return ep::detail::failure_of("", f);
}

}  // namespace

TEST_CASE("names and metadata of any letters are read as they were written") {
    ep::context world(MPI_COMM_WORLD);
    const temporary_folder folder;
    const auto z = counted<double>(world, 5, 3);
    const std::map<std::string, std::string> metadata = {{"format", "pt"},
                                                         {"", "no name"},
                                                         {"quoted \"name\"", "back\\slash"},
                                                         {"lines", "a\nb\r\tc\x01\x1f"},
                                                         {std::string("n\0l", 3), std::string("\0", 1)},
                                                         {"π 😀", "ü\x7f"}};
    std::vector<ep::saved_tensor> tensors;
    for (const auto& [name, value] : metadata) {
        tensors.emplace_back(name, z);
    }
    const std::string path = folder.path + "letters.safetensors";
    ep::save_safetensors(path, tensors, metadata);
    const ep::safetensors_file file(path);
    CHECK(file.metadata() == metadata);
    REQUIRE(file.names().size() == metadata.size());
    for (const auto& [name, value] : metadata) {
        REQUIRE(file.contains(name));
        CHECK(ep::evaluate(world, ep::load_safetensors<double, 2>(file, name)).allgather()(4, 2) == 15);
    }
    // Bytes of what the package safetensors reads.
    std::string text(8 + 100, ' ');
    std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(text.size()));
    CHECK(text.find(R"({"__metadata__":{"":"no name","format":"pt","lines":"a\u000ab\u000d\u0009c\u0001\u001f",)") ==
          8);

    ep::save_safetensors(path, {{"z", z}}, {{"format", "pt"}});
    CHECK(ep::safetensors_file(path).metadata() == std::map<std::string, std::string>{{"format", "pt"}});
    ep::save_safetensors(path, {{"z", z}});
    CHECK(ep::safetensors_file(path).metadata().empty());
}

TEST_CASE("what safetensors cannot hold is one sentence on every rank, also where one rank alone says it") {
    ep::context world(MPI_COMM_WORLD);
    const temporary_folder folder;
    const std::string path = folder.path + "z.safetensors";
    const auto z = counted<double>(world, 4, 4);
    const auto refused = [&](const std::vector<ep::saved_tensor>& tensors,
                             const std::map<std::string, std::string>& metadata = {}) {
        const std::string sentence = sentence_of_call([&] { ep::save_safetensors(path, tensors, metadata); });
        CHECK(same_everywhere(world, sentence));
        return sentence;
    };
    CHECK(refused({{"\xff", z}}).find("save_safetensors: the name '\xff' is not UTF-8") == 0);
    CHECK(refused({{"z", z}}, {{"\xc0\xaf", ""}}).find("save_safetensors: the metadata '\xc0\xaf' is not UTF-8") == 0);
    CHECK(refused({{"z", z}}, {{"a", "\xed\xa0\x80"}}).find("save_safetensors: the metadata ") == 0);
    CHECK(refused({{"z", counted<std::complex<double>>(world, 2, 2)}}) ==
          "save_safetensors: 'z': safetensors hold no elements of type complex<double>, but F64, F32, F16, BF16, "
          "F8_E4M3, F8_E5M2, C64, I64, I32, I16, I8, U64, U32, U16, U8, BOOL");
    CHECK(refused({{"", z}, {"", z}}) == "save_safetensors: two tensors are called ''");
    const ep::distributed<double, 2> nothing;
    CHECK(refused({{"z", z}, {"y", nothing}}) == "save_safetensors: 'y' is an empty handle");
    CHECK(refused({{"y", nothing}}) == "save_safetensors: 'y' is an empty handle");
    CHECK(refused({}) == "save_safetensors: no tensor is given");
    CHECK(!std::filesystem::exists(path));
    if (world.size() > 1) {
        const bool here = world.rank() == world.size() - 1;
        const std::string mixed = refused({{"z", z}}, {{"rank", std::to_string(world.rank())}});
        CHECK(mixed == "save_safetensors: the ranks do not save the same tensor to the same file");
        CHECK(refused({{"z", z}, {here ? "z" : "y", z}}).find("two tensors are called 'z'") != std::string::npos);
        CHECK(refused({{here ? "\xff" : "z", z}}).find("is not UTF-8") != std::string::npos);
        CHECK(refused({{"z", z}, {"y", here ? nothing : z}}).find("'y' is an empty handle") != std::string::npos);
    }
}

TEST_CASE("complex numbers of single precision in safetensors") {
    ep::context world(MPI_COMM_WORLD);
    const temporary_folder folder;
    const std::string path = folder.path + "c.safetensors";
    using complex = std::complex<float>;
    const auto z = counted<complex>(world, 7, 3);
    ep::save_safetensors(path, {{"z", z}, {"real", counted<double>(world, 1, 1)}});
    const ep::safetensors_file file(path);
    CHECK(file.type("z") == ep::element_type_of<complex>());
    const ep::array<complex, 2> read = ep::evaluate(world, ep::load_safetensors<complex, 2>(path, "z")).allgather();
    CHECK(read(0, 0) == complex(1, -1));
    CHECK(read(6, 2) == complex(21, -21));
}

TEST_CASE("shards in the folders below an index, on every rank") {
    ep::context world(MPI_COMM_WORLD);
    const temporary_folder folder;
    const auto a = counted<double>(world, 3, 2);
    const auto b = counted<double>(world, 5, 2);
    ep::save_safetensors(folder.path + "sub/one.safetensors", {{"a", a}}, {{"format", "pt"}, {"part", "1"}});
    ep::save_safetensors(folder.path + "sub/deeper/two.safetensors", {{"b", b}}, {{"format", "pt"}, {"part", "2"}});
    const auto index_of = [&](const std::string& name, const std::string& first, const std::string& second) {
        return folder.write(
            name, R"({"metadata":{"total_size":128},"weight_map":{"a":")" + first + R"(","b":")" + second + "\"}}");
    };
    const std::string index =
        index_of("model.safetensors.index.json", "sub/one.safetensors", "./sub/deeper/two.safetensors");
    const ep::safetensors_file file(index);
    CHECK(file.names() == std::vector<std::string>{"a", "b"});
    CHECK(file.metadata() == std::map<std::string, std::string>{{"format", "pt"}, {"part", "1"}});
    CHECK(ep::evaluate(world, ep::load_safetensors<double, 2>(index, "b")).allgather()(4, 1) == 10);

    // The same index in a folder of its own, by a path that is relative to the working folder.
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path + "sub");
    index_of("sub/own.index.json", "one.safetensors", "deeper/two.safetensors");
    CHECK(ep::safetensors_file("own.index.json").shape("b") == std::vector<ep::index>{5, 2});
    std::filesystem::current_path(before);

    for (const std::string outside :
         {"../one.safetensors", "sub/../../x", "sub/../sub/one.safetensors", "..", "sub/..", "/etc/one.safetensors"}) {
        const std::string bad = index_of("bad.index.json", outside, outside);
        const std::string sentence = sentence_of_call(
            [&] { static_cast<void>(ep::evaluate(world, ep::load_safetensors<double, 2>(bad, "a"))); });
        CHECK(sentence.find("'" + bad + "' lists the file '" + outside + "', which is outside of its folder") !=
              std::string::npos);
        CHECK(same_everywhere(world, sentence));
    }
    const std::string dots = index_of("dots.index.json", "sub/..one.safetensors", "sub/..one.safetensors");
    CHECK(sentence_of_call([&] { ep::safetensors_file{dots}; }).find("..one.safetensors' cannot be opened") !=
          std::string::npos);
    const std::string twice = folder.write("twice.index.json", R"({"weight_map":{"a":"sub/one.safetensors",)"
                                                               R"("a":"sub/one.safetensors"}})");
    CHECK(sentence_of_call([&] { ep::safetensors_file{twice}; }) ==
          "'" + twice + "' has 'a' twice in one object of its header");
}

TEST_CASE("a bad file is the same sentence on every rank") {
    ep::context world(MPI_COMM_WORLD);
    const temporary_folder folder;
    const auto said = [&](const auto& input) {
        const std::string sentence = sentence_of_call([&] { static_cast<void>(ep::evaluate(world, input)); });
        CHECK(same_everywhere(world, sentence));
        return sentence;
    };
    const std::string w = R"("w":{"dtype":"F64","shape":[2],"data_offsets":[8,24]})";
    const std::string hole = folder.write("hole.safetensors", file_of("{" + w + "}", 24));
    CHECK(said(ep::load_safetensors<double, 1>(hole, "w"))
              .find("has 8 bytes before tensor 'w' that belong to no tensor") != std::string::npos);
    const std::string npy = folder.write("shape.npy", std::string("\x93NUMPY\1\0\x40\0", 10) +
                                                          "{'descr': '<f8', 'fortran_order': False, 'shape': (6), }" +
                                                          std::string(8, ' ') + std::string(48, '\0'));
    CHECK(said(ep::load_npy<double, 1>(npy))
              .find("'" + npy + "' has a header whose shape is not a tuple of whole numbers") != std::string::npos);
}

TEST_CASE("each rank reads its own part of a file in the other order of bytes") {
    ep::context world(MPI_COMM_WORLD);
    const std::string fixtures = std::string(EINPARALLEL_TEST_DIR) + "/io/fixtures/big_endian";
    EINPARALLEL_LABELS(k);
    const int parts = std::min(world.size(), 3);
    const auto check = [&]<class T>(const std::string& name, auto value_at, std::type_identity<T> /*element*/) {
        ep::tensor<T, 3> Z;
        Z(i, j, k) = ep::load_npy<T, 3>(fixtures + name + ".npy")(i, j, k) * T(1);
        Z.pinned({{"i", parts}});
        const ep::array<T, 3> all = ep::evaluate(world, Z).allgather();
        int wrong = 0;
        for (ep::index number = 0; number < all.size(); ++number) {
            wrong += all.data()[number] == value_at(number + 1) ? 0 : 1;
        }
        CHECK(wrong == 0);
    };
    check(
        "", [](ep::index number) { return static_cast<double>(number); }, std::type_identity<double>());
    check(
        "_u4", [](ep::index number) { return static_cast<std::uint32_t>(number); },
        std::type_identity<std::uint32_t>());
    check(
        "_c16",
        [](ep::index number) {
            const auto real = static_cast<double>(number);
            return std::complex<double>(real, -real / 2);
        },
        std::type_identity<std::complex<double>>());
}

#endif

}  // namespace files_test
