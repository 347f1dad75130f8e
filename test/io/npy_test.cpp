// Files that NumPy wrote (fixtures/, by make_fixtures.py) and files written here by hand; boxes of them against loops.

#include <support/sentence_of.hpp>

#include <doctest/doctest.h>

#include <einparallel/io/npy.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace ep = einparallel;

std::string fixture(const std::string& name) {
    return std::string(EINPARALLEL_TEST_DIR) + "/io/fixtures/" + name + ".npy";
}

/// A path in the temporary folder whose file is gone at the end of the test case.
struct temporary_file {
    std::string path;
    explicit temporary_file(const std::string& name)
        : path((std::filesystem::temp_directory_path() /
                ("einparallel_" + std::to_string(std::random_device{}()) + "_" + name + ".npy"))
                   .string()) {}
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file() { std::remove(path.c_str()); }

    void write(const std::string& bytes) const {
        std::ofstream out(path, std::ios::binary);
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
};

std::string refusal(const std::string& path) {
    return ep::testing::sentence_of([&] { ep::npy_file{path}; });
}

bool mentions(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

/// What make_fixtures.py puts at the flat position in C order.
template <class T>
T value_at(ep::index position) {
    if constexpr (std::is_same_v<T, bool>) {
        return position % 3 == 0;
    } else if constexpr (ep::detail::is_complex<T>::value) {
        const auto number = static_cast<typename T::value_type>(position + 1);
        return T(number, -number / 2);
    } else {
        return static_cast<T>(position + 1);
    }
}

/// Calls f(index of the element in the whole array, in C order) for each element of the box in C order.
template <class F>
void for_each_element(const std::vector<ep::index>& bounds, const ep::box& region, F f) {
    if (region.empty()) {
        return;
    }
    std::vector<ep::index> at(bounds.size());
    for (std::size_t d = 0; d < at.size(); ++d) {
        at[d] = region.sides[d].begin;
    }
    for (;;) {
        ep::index flat = 0;
        for (std::size_t d = 0; d < at.size(); ++d) {
            flat = flat * bounds[d] + at[d];
        }
        f(flat);
        std::size_t d = at.size();
        while (d > 0 && ++at[d - 1] == region.sides[d - 1].end) {
            at[d - 1] = region.sides[d - 1].begin;
            --d;
        }
        if (d == 0) {
            return;
        }
    }
}

/// Number of elements of the box that are not what value_at says.
template <class T>
ep::index wrong_elements(const ep::npy_file& file, const ep::box& region) {
    const auto count = static_cast<std::size_t>(region.size());
    const std::unique_ptr<T[]> read(new T[count + 1]());
    read[count] = T(1);  // a guard behind the last element
    file.read_box(region, read.get());
    ep::index wrong = read[count] == T(1) ? 0 : 1;
    std::size_t next = 0;
    for_each_element(file.shape(), region, [&](ep::index flat) { wrong += read[next++] == value_at<T>(flat) ? 0 : 1; });
    return wrong;
}

ep::box random_box(const std::vector<ep::index>& bounds, std::mt19937& random) {
    ep::box region;
    for (const ep::index bound : bounds) {
        const ep::index a = std::uniform_int_distribution<ep::index>(0, bound)(random);
        const ep::index b = std::uniform_int_distribution<ep::index>(0, bound)(random);
        const bool whole = random() % 3 == 0;
        region.sides.push_back(whole ? ep::interval{0, bound} : ep::interval{std::min(a, b), std::max(a, b)});
    }
    return region;
}

template <class T>
void check_fixture(const std::string& name, bool fortran_order) {
    CAPTURE(name);
    const ep::npy_file file(fixture(name));
    CHECK(file.type() == ep::element_type_of<T>());
    CHECK(file.shape() == std::vector<ep::index>{3, 4, 5});
    CHECK(file.fortran_order() == fortran_order);
    CHECK(wrong_elements<T>(file, ep::whole_box(file.shape())) == 0);
    std::mt19937 random(1);
    for (int repeat = 0; repeat < 100; ++repeat) {
        CHECK(wrong_elements<T>(file, random_box(file.shape(), random)) == 0);
    }
}

/// A file by hand: elements value_at<T> of an array of this shape, in C or Fortran order.
template <class T>
std::string by_hand(const std::vector<ep::index>& bounds, bool fortran_order) {
    std::string shape;
    for (const ep::index bound : bounds) {
        shape += std::to_string(bound) + ",";
    }
    std::string header = "{'descr': '" + ep::detail::npy_type_name(ep::element_type_of<T>()) +
                         "', 'fortran_order': " + (fortran_order ? "True" : "False") + ", 'shape': (" + shape + ")}\n";
    std::string bytes("\x93NUMPY\1\0", 8);
    bytes += static_cast<char>(header.size() & 0xFF);
    bytes += static_cast<char>(header.size() >> 8);
    bytes += header;
    const ep::index count = ep::whole_box(bounds).size();
    std::vector<ep::index> at(bounds.size(), 0);
    for (ep::index written = 0; written < count; ++written) {
        ep::index flat = 0;
        for (std::size_t d = 0; d < at.size(); ++d) {
            flat = flat * bounds[d] + at[d];
        }
        const T value = value_at<T>(flat);
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
        for (std::size_t step = 0; step < at.size(); ++step) {  // the fastest index first
            const std::size_t d = fortran_order ? step : at.size() - 1 - step;
            if (++at[d] < bounds[d]) {
                break;
            }
            at[d] = 0;
        }
    }
    return bytes;
}

}  // namespace

TEST_CASE("every element type that NumPy writes, any box") {
    check_fixture<bool>("c_b1", false);
    check_fixture<std::int8_t>("c_i1", false);
    check_fixture<std::int16_t>("c_i2", false);
    check_fixture<std::int32_t>("c_i4", false);
    check_fixture<std::int64_t>("c_i8", false);
    check_fixture<std::uint8_t>("c_u1", false);
    check_fixture<std::uint16_t>("c_u2", false);
    check_fixture<std::uint32_t>("c_u4", false);
    check_fixture<std::uint64_t>("c_u8", false);
    check_fixture<float>("c_f4", false);
    check_fixture<ep::float16>("half", false);
    check_fixture<double>("c_f8", false);
    check_fixture<std::complex<float>>("c_c8", false);
    check_fixture<std::complex<double>>("c_c16", false);
    check_fixture<double>("version_2", false);
    check_fixture<double>("version_3", false);
}

TEST_CASE("Fortran order is read, for every size of an element") {
    check_fixture<bool>("fortran_b1", true);
    check_fixture<std::int16_t>("fortran_i2", true);
    check_fixture<float>("fortran_f4", true);
    check_fixture<double>("fortran_f8", true);
    check_fixture<std::complex<double>>("fortran_c16", true);
    const ep::npy_file matrix(fixture("matrix_fortran"));
    CHECK(matrix.fortran_order());
    CHECK(matrix.shape() == std::vector<ep::index>{7, 6});
    CHECK(wrong_elements<double>(matrix, ep::whole_box({7, 6})) == 0);
}

TEST_CASE("numbers in the other order of bytes are turned round, any box") {
    check_fixture<double>("big_endian", false);
    check_fixture<std::int16_t>("big_endian_i2", false);
    check_fixture<std::uint32_t>("big_endian_u4", true);
    check_fixture<std::complex<float>>("big_endian_c8", true);
    check_fixture<std::complex<double>>("big_endian_c16", false);
    CHECK(ep::npy_file(fixture("big_endian")).other_byte_order());
    CHECK_FALSE(ep::npy_file(fixture("c_f8")).other_byte_order());
    CHECK_FALSE(ep::npy_file(fixture("c_i1")).other_byte_order());
}

TEST_CASE("a scalar, and an array without elements") {
    const ep::npy_file scalar(fixture("scalar"));
    CHECK(scalar.shape().empty());
    CHECK(wrong_elements<double>(scalar, ep::whole_box({})) == 0);
    CHECK(wrong_elements<double>(scalar, ep::no_box(0)) == 0);
    const ep::npy_file empty(fixture("empty"));
    CHECK(empty.shape() == std::vector<ep::index>{3, 0, 2});
    CHECK(wrong_elements<double>(empty, ep::whole_box({3, 0, 2})) == 0);
}

TEST_CASE("files larger than the reader's own memory, random boxes of ranks 1 to 5, both orders") {
    struct shape {
        std::vector<ep::index> bounds;
        int boxes;
    };
    // Runs long and short, gaps long and short, chunks cut in every dimension.
    const std::vector<shape> shapes = {{{1'500'000}, 20},      {{1000, 1300}, 20},     {{3, 400'001}, 20},
                                       {{400'001, 3}, 20},     {{60, 130, 170}, 20},   {{5, 7, 11, 13, 250}, 20},
                                       {{2, 3, 2, 1, 5}, 200}, {{9000, 5, 2, 15}, 20}, {{1, 700'000, 2}, 20}};
    std::mt19937 random(2);
    for (const shape& one : shapes) {
        for (const bool fortran_order : {false, true}) {
            const temporary_file file("large");
            file.write(by_hand<double>(one.bounds, fortran_order));
            const ep::npy_file npy(file.path);
            CAPTURE(one.bounds.size());
            CAPTURE(fortran_order);
            CHECK(wrong_elements<double>(npy, ep::whole_box(one.bounds)) == 0);
            for (int repeat = 0; repeat < one.boxes; ++repeat) {
                CHECK(wrong_elements<double>(npy, random_box(one.bounds, random)) == 0);
            }
        }
    }
}

TEST_CASE("threads read one file at once") {
    const std::vector<ep::index> bounds = {40, 50, 60};
    const temporary_file file("threads");
    file.write(by_hand<float>(bounds, true));
    const ep::npy_file npy(file.path);
    std::atomic<ep::index> wrong = 0;
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            std::mt19937 random(thread);
            for (int repeat = 0; repeat < 20; ++repeat) {
                wrong += wrong_elements<float>(npy, random_box(bounds, random));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(wrong == 0);
}

/// Bytes of a file that the system holds in its cache.
std::size_t bytes_in_cache(const std::string& path) {
    const int opened = ::open(path.c_str(), O_RDONLY);
    struct stat found {};
    ::fstat(opened, &found);
    const auto bytes = static_cast<std::size_t>(found.st_size);
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, opened, 0);
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> pages((bytes + page - 1) / page);
    ::mincore(mapped, bytes, pages.data());
    ::munmap(mapped, bytes);
    ::close(opened);
    return page * static_cast<std::size_t>(
                      std::count_if(pages.begin(), pages.end(), [](unsigned char each) { return (each & 1U) != 0; }));
}

TEST_CASE("elements that are not wanted again do not stay in the system's cache, wherever they begin") {
    const temporary_file file("dropped");
    const std::vector<ep::index> bounds = {12'000'001};
    file.write(by_hand<float>(bounds, false));
    const ep::npy_file npy(file.path);
    const int opened = ::open(file.path.c_str(), O_RDONLY);
    ::fdatasync(opened);
    ::posix_fadvise(opened, 0, 0, POSIX_FADV_DONTNEED);
    ::close(opened);
    if (bytes_in_cache(file.path) > 0) {
        MESSAGE("this file system keeps files in memory");
        return;
    }
    std::vector<float> part(345'679);
    for (int round = 0; round < 2; ++round) {
        for (ep::index begin = 0; begin < bounds[0]; begin += ep::index(part.size())) {
            npy.read_box(ep::box{{{begin, std::min(begin + ep::index(part.size()), bounds[0])}}}, part.data(), true);
        }
        CHECK(bytes_in_cache(file.path) <= std::size_t{4} << 20U);
    }
}

TEST_CASE("what write_npy wrote is read again, byte for byte as NumPy writes it") {
    const temporary_file file("written");
    std::vector<double> values(60);
    for (std::size_t n = 0; n < values.size(); ++n) {
        values[n] = value_at<double>(static_cast<ep::index>(n));
    }
    ep::write_npy<double>(file.path, {3, 4, 5}, values);
    CHECK(wrong_elements<double>(ep::npy_file(file.path), ep::whole_box({3, 4, 5})) == 0);
    const auto content = [](const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    CHECK(content(file.path).size() == content(fixture("c_f8")).size());
    CHECK(content(file.path).substr(content(file.path).size() - 480) ==
          content(fixture("c_f8")).substr(content(fixture("c_f8")).size() - 480));

    CHECK(mentions(ep::testing::sentence_of([&] {
                       ep::write_npy<double>(file.path, {7, 9}, values);
                   }),
                   "63 elements for its shape, and 60"));
    CHECK(mentions(ep::testing::sentence_of([&] { ep::write_npy<double>("/nowhere/x.npy", {60}, values); }),
                   "'/nowhere/x.npy'"));
}

TEST_CASE("a file that is replaced is read as it was when it was opened") {
    const temporary_file file("replaced");
    file.write(by_hand<double>({4, 4}, false));
    const ep::npy_file npy(file.path);
    const ep::npy_file copy = npy;
    const temporary_file other("other");
    other.write(by_hand<float>({2}, false));
    std::filesystem::rename(other.path, file.path);
    CHECK(wrong_elements<double>(copy, ep::whole_box({4, 4})) == 0);
}

TEST_CASE("files that cannot be read are refused with a sentence that begins with their path") {
    CHECK(mentions(refusal("/nowhere/w.npy"), "'/nowhere/w.npy' cannot be opened: No such file or directory"));
    CHECK(mentions(refusal(std::string(EINPARALLEL_TEST_DIR)), "is not a regular file"));
    CHECK(mentions(refusal(fixture("text")), "'<U3'"));
    CHECK(mentions(refusal(fixture("records")), "holds records"));

    const temporary_file file("bad");
    file.write("");
    CHECK(mentions(refusal(file.path), "'" + file.path + "' is no .npy file: it has only 0 bytes"));
    file.write("PK\3\4 this is an archive of several arrays");
    CHECK(mentions(refusal(file.path), "does not begin with"));
    file.write(std::string("\x93NUMPY\4\0\x10\0                ", 26));
    CHECK(mentions(refusal(file.path), "format 4.0"));
    file.write(std::string("\x93NUMPY\1\0\xff\xff {'descr'", 18));
    CHECK(mentions(refusal(file.path), "is truncated: its header ends at byte 65545, the file at byte 18"));
}

TEST_CASE("a truncated file is noticed when it is opened, with both numbers of bytes") {
    const temporary_file file("truncated");
    const std::string whole = by_hand<double>({5, 3}, false);
    for (const std::size_t missing : {std::size_t{1}, std::size_t{8}, std::size_t{120}}) {
        file.write(whole.substr(0, whole.size() - missing));
        const std::string said = refusal(file.path);
        CHECK(mentions(said, "'" + file.path + "' is truncated: its shape (5, 3) needs 120 bytes of elements, and " +
                                 std::to_string(120 - missing) + " are there"));
    }
    file.write(whole + "bytes of something else");
    CHECK(wrong_elements<double>(ep::npy_file(file.path), ep::whole_box({5, 3})) == 0);
    std::string boundless = whole;
    boundless.replace(boundless.find("(5,3,)"), 6, "(4294967296,4294967296,)");
    boundless[8] = static_cast<char>(boundless[8] + 18);
    file.write(boundless);
    CHECK(mentions(refusal(file.path), "more than 2^59 elements"));

    file.write(whole);
    const ep::npy_file opened(file.path);
    std::filesystem::resize_file(file.path, whole.size() - 16);
    std::vector<double> all(15);
    CHECK(mentions(ep::testing::sentence_of([&] {
                       opened.read_box(ep::whole_box({5, 3}), all.data());
                   }),
                   "became shorter after it was opened: it has " + std::to_string(whole.size() - 16) + " bytes now"));
}

TEST_CASE("a pipe is refused, and not waited for") {
    const temporary_file pipe("pipe");
    REQUIRE(::mkfifo(pipe.path.c_str(), 0600) == 0);
    CHECK(mentions(refusal(pipe.path), "is not a regular file"));
}

TEST_CASE("very many dimensions, all but two of extent 1, in both orders") {
    for (const bool fortran : {false, true}) {
        constexpr std::size_t ones = 100000;
        std::string shape = "(3, ";
        for (std::size_t each = 0; each < ones; ++each) {
            shape += "1, ";
        }
        std::string header = "{'descr': '|u1', 'fortran_order': ";
        header.append(fortran ? "True" : "False").append(", 'shape': ").append(shape).append("2), }\n");
        std::string bytes("\x93NUMPY\x02\x00", 8);
        for (std::size_t shift = 0; shift < 32; shift += 8) {
            bytes += char(header.size() >> shift & 255U);
        }
        const temporary_file file("deep");
        file.write(bytes + header + std::string("\x01\x02\x03\x04\x05\x06"));
        const ep::npy_file opened{file.path};
        std::vector<std::uint8_t> read(6);
        opened.read_box(ep::whole_box(opened.shape()), read.data());
        CHECK(read ==
              (fortran ? std::vector<std::uint8_t>{1, 4, 2, 5, 3, 6} : std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}));
    }
}

TEST_CASE("another type, another rank and a box outside of the array are refused") {
    const ep::npy_file file(fixture("c_f4"));
    file.require(ep::element_type_of<float>(), 3);
    CHECK(mentions(ep::testing::sentence_of([&] { file.require(ep::element_type_of<double>(), 3); }),
                   "c_f4.npy' is of type float and rank 3, and type double and rank 3 are asked for"));
    CHECK(mentions(ep::testing::sentence_of([&] { file.require(ep::element_type_of<float>(), 2); }),
                   "c_f4.npy' is of type float and rank 3, and type float and rank 2 are asked for"));
    float none = 0;
    for (const ep::box& outside : {ep::box{{{0, 1}, {0, 1}, {5, 6}}, false}, ep::box{{{-1, 0}, {0, 1}, {0, 1}}, false},
                                   ep::box{{{0, 1}, {0, 1}}, false}}) {
        CHECK(mentions(ep::testing::sentence_of([&] { file.read_box(outside, &none); }),
                       "has shape (3, 4, 5), and a box outside of it is asked for"));
    }
}
