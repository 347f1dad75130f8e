// Headers sound and unsound against the reference implementations: fixtures/*_headers.txt has the verdicts of the
// packages safetensors 0.8.0 and NumPy 2.4.6, written by make_verdicts.py, which also says what the lines mean.

#include <einparallel/io/npy.hpp>
#include <einparallel/io/safetensors.hpp>
#include <einparallel/notation/error.hpp>

#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace reference_test {

namespace {

namespace ep = einparallel;

/// A line of the table.
struct verdict {
    char said = '-';       ///< + read, - refused, = read by the reference and refused here
    std::size_t data = 0;  ///< bytes of elements
    std::string header;
    std::string contents;  ///< what the reference reads
};

std::string unquoted(const std::string& text) {
    std::string made;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '%' && at + 2 < text.size()) {
            made += static_cast<char>(std::stoi(text.substr(at + 1, 2), nullptr, 16));
            at += 2;
        } else if (text[at] != '%') {
            made += text[at];
        }
    }
    return made;
}

std::vector<verdict> verdicts(const std::string& name) {
    std::ifstream file(std::string(EINPARALLEL_TEST_DIR) + "/io/fixtures/" + name);
    std::vector<verdict> all;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        verdict made;
        words >> made.said >> made.data >> made.header >> made.contents;
        made.header = unquoted(made.header);
        made.contents = unquoted(made.contents);
        all.push_back(made);
    }
    return all;
}

/// Little-endian.
std::string number(std::size_t value, int bytes) {
    std::string made;
    for (int byte = 0; byte < bytes; ++byte) {
        made += static_cast<char>(value >> (8 * byte));
    }
    return made;
}

std::string list_of(const std::vector<ep::index>& shape) {
    std::string made = "[";
    for (const ep::index extent : shape) {
        made += (made.size() > 1 ? "," : "") + std::to_string(extent);
    }
    return made + "]";
}

/// What the reader says of the tensors of a file, sorted by their names.
std::string contents_of(const ep::safetensors_file& file) {
    std::string made;
    for (const std::string& name : file.names()) {
        std::string type;
        try {
            type = ep::detail::safetensors_type_name(file.type(name));
        } catch (const ep::error& unknown) {  // one that has no element type here
            const std::string sentence = unknown.what();
            const std::size_t at = sentence.find(" of type ") + 9;
            type = sentence.substr(at, sentence.find(';', at) - at);
        }
        made += (made.empty() ? "" : ";") + name + ":" + type;
        try {
            made += list_of(file.shape(name));
        } catch (const ep::error&) {
            made += "?";
        }
    }
    return made;
}

/// Without the extents of tensors whose elements have no type here.
std::string known_contents(const std::string& contents) {
    std::string made;
    std::istringstream tensors(contents);
    for (std::string tensor; std::getline(tensors, tensor, ';');) {
        const bool known = tensor.find(":F4[") == std::string::npos && tensor.find(":F6_") == std::string::npos &&
                           tensor.find("FNUZ[") == std::string::npos && tensor.find("E8M0[") == std::string::npos;
        made += (made.empty() ? "" : ";") + (known ? tensor : tensor.substr(0, tensor.rfind('[')) + "?");
    }
    return made;
}

/// The number of lines on which the reader and the table do not agree. read(verdict) is what a file says that is read.
int disagreements(const std::string& table, const std::string& path, auto&& content, auto&& read) {
    int wrong = 0;
    std::map<char, int> lines;
    for (const verdict& line : verdicts(table)) {
        ++lines[line.said];
        std::ofstream(path, std::ios::binary) << content(line) << std::string(line.data, '\7');
        std::string made;
        try {
            made = read(path);
        } catch (const ep::error& refused) {
            made = "refused";
            const std::string sentence = refused.what();
            if (sentence.find("'" + path + "' ") != 0) {
                MESSAGE("of another file: " << sentence);
                ++wrong;
            }
        }
        const std::string expected = line.said == '+' ? known_contents(line.contents) : "refused";
        if (made != expected) {
            MESSAGE(line.header << ": " << made << ", and not " << expected);
            ++wrong;
        }
    }
    std::remove(path.c_str());
    CHECK(lines['+'] > 100);
    CHECK(lines['-'] > 500);
    CHECK(lines['='] < 30);
    return wrong;
}

}  // namespace

TEST_CASE("headers of safetensors are read and refused as by the package safetensors") {
    const std::string path = "/tmp/einparallel_" + std::to_string(::getpid()) + "_verdict.safetensors";
    CHECK(disagreements(
              "safetensors_headers.txt", path,
              [](const verdict& line) { return number(line.header.size(), 8) + line.header; },
              [](const std::string& file) { return contents_of(ep::safetensors_file(file)); }) == 0);
}

TEST_CASE("headers of .npy files are read and refused as by NumPy") {
    const std::string path = "/tmp/einparallel_" + std::to_string(::getpid()) + "_verdict.npy";
    const auto content = [](const verdict& line) {
        const std::string header = line.header.substr(3);
        const char major = line.header[0];
        return "\x93NUMPY" + number(static_cast<std::size_t>(major - '0'), 1) +
               number(static_cast<std::size_t>(line.header[1] - '0'), 1) + number(header.size(), major == '1' ? 2 : 4) +
               header;
    };
    CHECK(disagreements("npy_headers.txt", path, content, [](const std::string& name) {
              const ep::npy_file file(name);
              std::string type = ep::detail::npy_type_name(file.type());
              type[0] = file.type().bytes > 1 && file.other_byte_order() ? '>' : type[0];
              return type + list_of(file.shape()) + (file.fortran_order() ? "F" : "C");
          }) == 0);
}

}  // namespace reference_test
