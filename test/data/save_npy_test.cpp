// Distributed tensors in one .npy file: every element type, any layout, against a file written by one rank and against
// the library's reader; failures are one sentence on every rank.

#include <doctest/doctest.h>

#include <einparallel/data/distributed.hpp>
#include <einparallel/data/evaluate.hpp>
#include <einparallel/data/files/save.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/io/npy.hpp>
#include <einparallel/io/safetensors.hpp>

#include <support/graphs.hpp>

#include <mpi.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace ep = einparallel;
using namespace ep::testing;

namespace save_npy_test {

#if !defined(SMPI_H)  // whose files are simulated, too

namespace {

/// A name that no other run of the tests has, the same on every rank.
struct temporary {
    std::string path;

    explicit temporary(const std::string& name) {
        std::int64_t process = getpid();
        MPI_Bcast(&process, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        path = (std::filesystem::temp_directory_path() / ("ep_" + std::to_string(process) + "_" + name)).string();
    }
    temporary(const temporary&) = delete;
    temporary& operator=(const temporary&) = delete;
    ~temporary() {
        MPI_Barrier(MPI_COMM_WORLD);
        std::remove(path.c_str());
    }
};

std::string bytes_in(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class T>
T value_at(ep::index number) {
    if constexpr (std::is_same_v<T, bool>) {
        return number % 3 == 1;
    } else if constexpr (std::is_arithmetic_v<T>) {
        return static_cast<T>(number % 101 + 1);
    } else {
        return {static_cast<typename T::value_type>(number), static_cast<typename T::value_type>(-number)};
    }
}

/// Rows of an odd number each, the last rank's first; rank 1 has none. Memory is column-major with a gap.
template <class T>
void check_rows(ep::context& world, std::size_t most_bytes) {
    constexpr ep::index columns = 7;
    std::vector<ep::index> begins{0};
    for (int rank = world.size(); rank-- > 0;) {
        begins.push_back(begins.back() + (rank == 1 ? 0 : 2 * rank + 1));
    }
    const ep::index rows = begins.back();
    const auto turn = static_cast<std::size_t>(world.size() - 1 - world.rank());
    const ep::index first = begins[turn];
    const ep::index mine = begins[turn + 1] - first;
    std::vector<char> memory(static_cast<std::size_t>((mine + 1) * columns) * sizeof(T));
    ep::view<T, 2> local(reinterpret_cast<T*>(memory.data()), {mine, columns}, {1, mine + 1});
    for (ep::index row = 0; row < mine; ++row) {
        for (ep::index column = 0; column < columns; ++column) {
            local(row, column) = value_at<T>((first + row) * columns + column);
        }
    }
    const ep::distributed<T, 2> whole(world, {rows, columns}, {first, 0}, local);
    const temporary together("together.npy");
    const temporary alone("alone.npy");
    ep::detail::save_tensor(whole.local_tensor(), together.path, most_bytes);

    const ep::array<T, 2> all = whole.gather(0);
    if (world.rank() == 0) {
        ep::write_npy(alone.path, ep::element_type_of<T>(), {rows, columns}, all.data());
        CHECK(bytes_in(together.path) == bytes_in(alone.path));
    }
    const ep::npy_file written(together.path);
    CHECK(written.type() == ep::element_type_of<T>());
    CHECK(written.shape() == std::vector<ep::index>{rows, columns});
    std::vector<char> read(static_cast<std::size_t>(rows * columns) * sizeof(T));
    written.read_box(ep::whole_box(written.shape()), read.data());
    bool same = true;
    for (ep::index number = 0; number < rows * columns; ++number) {
        same = same && reinterpret_cast<const T*>(read.data())[number] == value_at<T>(number);
    }
    CHECK(same);
}

}  // namespace

TEST_CASE_TEMPLATE("rows of any type lie in the file as one rank would have written them", T, float, double,
                   std::complex<float>, std::complex<double>, bool, std::int8_t, std::int16_t, std::int32_t,
                   std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t) {
    ep::context world(MPI_COMM_WORLD);
    check_rows<T>(world, std::size_t{1} << 30);
}

TEST_CASE("what is too much for one call is written in several, more on some ranks than on others") {
    ep::context world(MPI_COMM_WORLD);
    const std::size_t least = world.size() > 2 ? 50 : 1;  // ranks that share a core take turns
    for (const std::size_t most : {least, std::size_t{24}, std::size_t{100}}) {
        check_rows<double>(world, most);
        check_rows<std::complex<double>>(world, most);
    }
}

TEST_CASE("results of a plan, whatever their cut, and tensors of rank 0 and without elements") {
    ep::context world(MPI_COMM_WORLD);
    ep::tensor<double, 3> A = ep::generate<double>(
        {5, 3, 6}, [](auto i, auto j, auto k) { return static_cast<double>(100 * i + 10 * j + k); });
    EINPARALLEL_LABELS(i, j, k);
    ep::tensor<double, 3> Z;
    Z(k, i, j) = 2.0 * A(i, j, k);
    ep::tensor<double, 0> total;
    total() = A(i, j, k);
    ep::tensor<float, 2> nothing = ep::generate<float>({4, 0}, [](auto, auto) { return 1.0F; });
    ep::tensor<float, 2> Y;
    Y(i, j) = 2.0F * nothing(i, j);
    const auto [z, sum, y] = ep::evaluate(world, Z, total, Y);
    const temporary file("result.npy");
    const auto same = [&](const auto& result, const auto& all) {
        ep::save_npy(file.path, result);
        const ep::npy_file written(file.path);
        std::vector<std::byte> read(static_cast<std::size_t>(all.size()) * written.type().bytes);
        written.read_box(ep::whole_box(written.shape()), read.data());
        const bool equal =
            std::ranges::equal(std::as_bytes(std::span(all.data(), static_cast<std::size_t>(all.size()))), read);
        MPI_Barrier(MPI_COMM_WORLD);  // the next file has this one's name
        return equal;
    };
    const ep::array<double, 3> all = z.allgather();
    CHECK(all(5, 4, 2) == 850);
    CHECK(same(z, all));
    CHECK(same(sum, sum.allgather()));
    CHECK(same(y, y.allgather()));
}

TEST_CASE_TEMPLATE("tensors of several types are saved by their names as safetensors, and loaded", Half, ep::bfloat16,
                   ep::float8_e4m3, ep::float8_e5m2) {
    ep::context world(MPI_COMM_WORLD);
    EINPARALLEL_LABELS(i, j);
    const auto A = ep::generate<double>({7, 5}, [](auto row, auto column) { return double(10 * row + column); });
    ep::tensor<double, 2> Z;
    ep::tensor<Half, 1> rows;
    ep::tensor<float, 0> total;
    Z(i, j) = 2.0 * A(i, j);
    rows(i) = ep::sum(j, A(i, j));
    total() = A(i, j);
    const auto [made, r, t] = ep::evaluate(world, Z, rows, total);
    const auto& z = made;  // which lambdas capture
    const temporary file("all.safetensors");
    ep::save_safetensors(file.path, {{"rows", r}, {"total", t}, {"layers.0.z", z}});
    const ep::safetensors_file written(file.path);
    CHECK(written.names() == std::vector<std::string>{"layers.0.z", "rows", "total"});
    CHECK(written.type("rows") == ep::element_type_of<Half>());
    CHECK(written.shape("layers.0.z") == std::vector<ep::index>{7, 5});
    std::string header(200, ' ');  // elements of 8 bytes, then 4, then the others: all are aligned
    std::ifstream(file.path, std::ios::binary).read(header.data(), std::streamsize(header.size()));
    CHECK(header.find(R"({"layers.0.z":{"dtype":"F64","shape":[7,5],"data_offsets":[0,280]},"total")") == 8);
    ep::tensor<double, 2> again;
    ep::tensor<Half, 1> rows_again;
    again(i, j) = ep::load_safetensors<double, 2>(file.path, "layers.0.z")(i, j);
    rows_again(i) = ep::load_safetensors<Half, 1>(written, "rows")(i);
    EINPARALLEL_LABELS(k, l);
    ep::tensor<Half, 3> folded;  // the same elements as of other extents
    folded(j, k, l) = ep::load_safetensors<Half>(written, "rows", {1, 7, 1})(j, k, l);
    const ep::array<Half, 3> column = ep::evaluate(world, folded).allgather();
    CHECK(column(0, 6, 0).bits() == Half(310.0).bits());
    CHECK_THROWS_WITH_AS(
        static_cast<void>(ep::evaluate(world, ep::load_safetensors<double>(written, "layers.0.z", {6, 6}))),
        doctest::Contains("tensor 'layers.0.z' has 35 elements, not those of the extents asked for"), ep::error);
    const float again_total = *ep::evaluate(world, ep::load_safetensors<float, 0>(written, "total")).allgather().data();
    CHECK(again_total == *t.allgather().data());
    CHECK_THROWS_WITH_AS(ep::save_safetensors(file.path, {{"__metadata__", z}}),
                         doctest::Contains("'__metadata__' is no name for a tensor"), ep::error);
    const auto [read, read_rows] = ep::evaluate(world, again, rows_again);
    const ep::array<double, 2> all = read.allgather();
    const ep::array<Half, 1> sums = read_rows.allgather();
    for (ep::index row = 0; row < 7; ++row) {
        CHECK(all(row, 4) == 2.0 * double(10 * row + 4));
        CHECK(sums(row).bits() == Half(double(50 * row + 10)).bits());
    }
    const std::string twice = ep::detail::failure_of("", [&] {
        ep::save_safetensors(file.path, {{"z", z}, {"z", z}});
    });
    CHECK(twice == "save_safetensors: two tensors are called 'z'");
    ep::tensor<double, 2> missing;
    missing(i, j) = ep::load_safetensors<double, 2>(file.path, "y")(i, j);
    const std::string sentence = ep::detail::failure_of("", [&] { static_cast<void>(ep::evaluate(world, missing)); });
    CHECK(sentence.find("has no tensor 'y'") != std::string::npos);
    CHECK(same_everywhere(world, sentence));
}

TEST_CASE("what cannot be written is one sentence on every rank, and nobody waits") {
    ep::context world(MPI_COMM_WORLD);
    ep::tensor<double, 2> A = ep::generate<double>({64, 64}, [](auto i, auto j) { return static_cast<double>(i + j); });
    EINPARALLEL_LABELS(i, j);
    ep::tensor<double, 2> Z;
    Z(i, j) = 2.0 * A(i, j);
    const ep::distributed<double, 2> z = ep::evaluate(world, Z);
    const auto refused = [&](const std::string& path) {
        const std::string sentence = ep::detail::failure_of("", [&] { ep::save_npy(path, z); });
        CHECK(same_everywhere(world, sentence));
        return sentence;
    };
    CHECK(refused("/nowhere/z.npy").find("save_npy: '/nowhere/z.npy' cannot be opened for writing: No such file") == 0);
    CHECK(refused("/tmp").find("save_npy: '/tmp' cannot be opened for writing: Is a directory") == 0);
    CHECK(refused("/proc/z.npy").find("save_npy: '/proc/z.npy' cannot be opened for writing: ") == 0);
    if (world.size() > 1) {
        CHECK(refused("/nowhere/" + std::to_string(world.rank())) ==
              "save_npy: the ranks do not save the same tensor to the same file");
    }

    // No room: on all ranks, and on the last alone, which may have others write for it.
    const temporary file("full.npy");
    const auto before = signal(SIGXFSZ, SIG_IGN);
    rlimit unlimited{};
    getrlimit(RLIMIT_FSIZE, &unlimited);
    for (const bool everywhere : {true, false}) {
        rlimit small = unlimited;
        small.rlim_cur = everywhere || world.rank() == world.size() - 1 ? 4096 : unlimited.rlim_cur;
        setrlimit(RLIMIT_FSIZE, &small);
        const std::string sentence = refused(file.path);
        setrlimit(RLIMIT_FSIZE, &unlimited);
        CHECK((!everywhere || sentence.find("cannot be written: File too large") != std::string::npos));
    }
    signal(SIGXFSZ, before);
    CHECK(refused(file.path).empty());
    CHECK(ep::npy_file(file.path).shape() == std::vector<ep::index>{64, 64});
}

#endif

}  // namespace save_npy_test
