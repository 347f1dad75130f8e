#pragma once
// NumPy's .npy files: what a file holds, any box of it, and writing one.

#include <einparallel/io/box_reader.hpp>
#include <einparallel/io/file.hpp>
#include <einparallel/io/npy_header.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einparallel {

/// An .npy file, open: its element type, its shape, and any part of it. Formats 1.0 to 3.0, C and Fortran order, bool,
/// integers, floats and complex numbers in this machine's byte order. A copy refers to the same open file, and a file
/// that is replaced by another of its name is still read as it was. Threads may read at once.
class npy_file {
public:
    /// Opens the file and reads its header.
    /// @throws error whose sentence begins with the path: no such file, no .npy file, a type that cannot be read, a
    /// file shorter than its shape needs (with both numbers of bytes). Bytes behind the elements are ignored, as by
    /// NumPy.
    explicit npy_file(std::string path) : file_(std::make_shared<detail::input_file>(std::move(path))) {
        unsigned char start[12] = {};
        const std::string_view magic("\x93NUMPY", 6);
        if (file_->size() < 10) {
            refuse("is no .npy file: it has only " + std::to_string(file_->size()) + " bytes");
        }
        file_->read(start, 10, 0);
        for (std::size_t byte = 0; byte < magic.size(); ++byte) {
            if (start[byte] != static_cast<unsigned char>(magic[byte])) {
                refuse("is no .npy file: it does not begin with \\x93NUMPY");
            }
        }
        const unsigned version = start[6];
        if (version < 1 || version > 3) {
            refuse("is of .npy format " + std::to_string(version) + "." + std::to_string(unsigned{start[7]}) +
                   "; 1.0, 2.0 and 3.0 can be read");
        }
        const std::size_t before = version == 1 ? 10 : 12;
        std::uint64_t header_bytes = start[8] + 256U * start[9];
        if (version > 1 && file_->size() >= 12) {
            file_->read(start + 10, 2, 10);
            header_bytes += (std::uint64_t{start[10]} << 16) + (std::uint64_t{start[11]} << 24);
        }
        data_offset_ = before + header_bytes;
        if (data_offset_ > file_->size()) {
            refuse("is truncated: its header ends at byte " + std::to_string(data_offset_) + ", the file at byte " +
                   std::to_string(file_->size()));
        }
        std::string text(static_cast<std::size_t>(header_bytes), ' ');
        file_->read(text.data(), header_bytes, before);
        header_ = detail::npy_header_parser(file_->path(), text).parse();
        check_size();
    }

    [[nodiscard]] const std::string& path() const { return file_->path(); }
    [[nodiscard]] element_type type() const { return header_.type; }
    /// Extents in the array's own order of dimensions, also where the file is in Fortran order.
    [[nodiscard]] const std::vector<index>& shape() const { return header_.shape; }
    [[nodiscard]] bool fortran_order() const { return header_.fortran_order; }
    /// Where the elements begin, in bytes from the beginning of the file.
    [[nodiscard]] std::uint64_t data_offset() const { return data_offset_; }

    /// Checks that the file holds a tensor of this type and rank.
    /// @throws error that names the file, what it holds and what was asked for
    void require(element_type type, std::size_t rank) const {
        if (header_.type != type) {
            refuse("holds elements of type " + detail::npy_type_name(header_.type) + ", and " +
                   detail::npy_type_name(type) + " is asked for");
        }
        if (header_.shape.size() != rank) {
            refuse("holds a tensor of rank " + std::to_string(header_.shape.size()) + ", and rank " +
                   std::to_string(rank) + " is asked for");
        }
    }

    /// Copies the elements of `region` to `destination`, dense and row-major whatever the order of the file.
    /// Takes one system call for each run of the file, or for many short ones that lie close together.
    /// @pre destination has region.size() * type().bytes bytes
    /// @throws error where the region is no box of the tensor, or reading fails
    void read_box(const box& region, void* destination) const {
        bool inside = region.rank() == header_.shape.size();
        for (std::size_t dimension = 0; inside && dimension < region.rank(); ++dimension) {
            const interval side = region.sides[dimension];
            inside = side.empty() || (side.begin >= 0 && side.end <= header_.shape[dimension]);
        }
        if (!inside) {
            refuse("has shape " + shape_text() + ", and a box outside of it is asked for");
        }
        if (!region.empty()) {
            detail::box_reader(*file_, data_offset_, header_.type.bytes, header_.shape, header_.fortran_order, region)
                .read(destination);
        }
    }

private:
    [[noreturn]] void refuse(const std::string& what) const { throw error("'" + file_->path() + "' " + what); }

    [[nodiscard]] std::string shape_text() const {
        std::string text = "(";
        for (const index bound : header_.shape) {
            text += (text.size() > 1 ? ", " : "") + std::to_string(bound);
        }
        return text + ")";
    }

    void check_size() const {
        constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<index>::max());
        std::uint64_t expected = header_.type.bytes;
        bool fits = true;
        bool empty = false;
        for (const index bound : header_.shape) {
            const auto factor = static_cast<std::uint64_t>(bound);
            empty = empty || factor == 0;
            fits = fits && (factor == 0 || expected <= limit / factor);
            expected = fits && factor != 0 ? expected * factor : expected;
        }
        const std::uint64_t present = file_->size() - data_offset_;
        if (!empty && !fits) {
            refuse("says that its shape is " + shape_text() + ", which is more than 2^63 bytes");
        }
        if (!empty && present < expected) {
            refuse("is truncated: its shape " + shape_text() + " needs " + std::to_string(expected) +
                   " bytes of elements, and " + std::to_string(present) + " are there");
        }
    }

    std::shared_ptr<const detail::input_file> file_;
    detail::npy_header header_;
    std::uint64_t data_offset_ = 0;
};

/// Writes dense row-major elements as an .npy file in C order; an older file of this name is replaced.
/// @throws error where the file cannot be written
inline void write_npy(const std::string& path, element_type type, const std::vector<index>& shape, const void* data) {
    const std::string preamble = detail::npy_preamble(type, shape);
    const std::size_t elements = static_cast<std::size_t>(whole_box(shape).size());
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) {
        throw error("'" + path + "' cannot be opened for writing");
    }
    const bool written = std::fwrite(preamble.data(), 1, preamble.size(), file) == preamble.size() &&
                         std::fwrite(data, type.bytes, elements, file) == elements;
    // Closing writes what is still buffered, so it may be what finds the disk full.
    const bool closed = std::fclose(file) == 0;
    if (!written || !closed) {
        throw error("'" + path + "' cannot be written: the disk may be full");
    }
}

/// The same for elements of a type known to the compiler.
/// @pre data.size() is the product of the extents
template <Element T>
void write_npy(const std::string& path, const std::vector<index>& shape, std::span<const T> data) {
    if (static_cast<index>(data.size()) != whole_box(shape).size()) {
        throw error("write_npy: '" + path + "' is to have " + std::to_string(whole_box(shape).size()) +
                    " elements by its shape, and " + std::to_string(data.size()) + " are given");
    }
    write_npy(path, element_type_of<T>(), shape, static_cast<const void*>(data.data()));
}

}  // namespace einparallel
