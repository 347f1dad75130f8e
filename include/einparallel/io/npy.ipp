#pragma once

#include <einparallel/io/npy.hpp>

#include <einparallel/io/box_reader.ipp>
#include <einparallel/io/text.hpp>

#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// Reverses the bytes of `count` numbers of `bytes` bytes each.
EINPARALLEL_INLINE void swap_bytes(void* numbers, std::size_t count, std::size_t bytes) {
    const auto swap = [&]<class Word>(std::type_identity<Word> /*of so many bytes*/) {
        auto* at = static_cast<std::byte*>(numbers);
        for (std::size_t number = 0; number < count; ++number, at += sizeof(Word)) {
            Word from = 0;
            Word into = 0;
            std::memcpy(&from, at, sizeof(Word));
            for (std::size_t byte = 0; byte < sizeof(Word); ++byte) {  // one instruction
                into = Word(Word(into << 8U) | Word(from & 0xffU));
                from = Word(from >> 8U);
            }
            std::memcpy(at, &into, sizeof(Word));
        }
    };
    if (bytes == 2) {
        swap(std::type_identity<std::uint16_t>());
    } else if (bytes == 4) {
        swap(std::type_identity<std::uint32_t>());
    } else {
        swap(std::type_identity<std::uint64_t>());
    }
}

}  // namespace EINPARALLEL_DETAIL

EINPARALLEL_SELDOM npy_file::npy_file(std::string path) : file_(std::make_shared<detail::input_file>(std::move(path))) {
    unsigned char start[12] = {};
    const std::string_view magic("\x93NUMPY", 6);
    check(file_->size() >= 10, {"is no .npy file: it has only ", file_->size(), " bytes"});
    file_->read(start, 10, 0);
    check(std::string_view(reinterpret_cast<const char*>(start), magic.size()) == magic,
          {"is no .npy file: it does not begin with \\x93NUMPY"});
    const unsigned version = start[6];
    check(version >= 1 && version <= 3 && start[7] == 0,
          {"is of .npy format ", version, ".", unsigned{start[7]}, "; 1.0, 2.0 and 3.0 can be read"});
    const std::size_t before = version == 1 ? 10 : 12;
    std::uint64_t header_bytes = start[8] + 256U * start[9];
    if (version > 1 && file_->size() >= 12) {
        file_->read(start + 10, 2, 10);
        header_bytes += (std::uint64_t{start[10]} << 16) + (std::uint64_t{start[11]} << 24);
    }
    data_offset_ = before + header_bytes;
    check(data_offset_ <= file_->size(),
          {"is truncated: its header ends at byte ", data_offset_, ", the file at byte ", file_->size()});
    std::string text(std::size_t(header_bytes), ' ');
    file_->read(text.data(), header_bytes, before);
    check(version < 3 || detail::is_utf8(text), {"has a header of format 3.0 that is no UTF-8"});
    header_ = detail::parse_npy_header(file_->path(), text, version);
    check(is_countable(header_.shape), {"says that its shape is ", shape_text(), ", which is more than 2^59 elements"});
    const std::uint64_t expected = std::uint64_t(whole_box(header_.shape).size()) * header_.type.bytes;
    const std::uint64_t present = file_->size() - data_offset_;
    check(present >= expected, {"is truncated: its shape ", shape_text(), " needs ", expected,
                                " bytes of elements, and ", present, " are there"});
}

EINPARALLEL_SELDOM const std::string& npy_file::path() const {
    return file_->path();
}

EINPARALLEL_SELDOM void npy_file::check(bool holds, std::initializer_list<detail::word> otherwise) const {
    detail::require(holds, {"'", path(), "' "}, otherwise);
}

EINPARALLEL_SELDOM void npy_file::require(element_type type, std::size_t rank) const {
    detail::require_tensor({"'", path()}, header_.type, header_.shape.size(), type, rank);
}

EINPARALLEL_SELDOM void npy_file::read_box(const box& region, void* destination, bool drops) const {
    check(region.rank() == header_.shape.size() && contains(whole_box(header_.shape), region),
          {"has shape ", shape_text(), ", and a box outside of it is asked for"});
    if (!region.empty()) {
        detail::box_reader(*file_, data_offset_, header_.type.bytes, header_.shape, header_.fortran_order, region,
                           drops)
            .read(destination);
    }
    if (header_.is_swapped) {
        const std::size_t numbers = header_.type.kind == 'c' ? 2 : 1;  // of an element
        detail::swap_bytes(destination, std::size_t(region.size()) * numbers, header_.type.bytes / numbers);
    }
}

EINPARALLEL_SELDOM std::string npy_file::shape_text() const {
    std::string text = "(";
    for (const index bound : header_.shape) {
        text += (text.size() > 1 ? ", " : "") + std::to_string(bound);
    }
    return text + ")";
}

EINPARALLEL_SELDOM void write_npy(const std::string& path, element_type type, const std::vector<index>& shape,
                                  const void* data) {
    const std::string preamble = detail::npy_preamble(type, shape);
    detail::output_file file(path);
    file.write(preamble.data(), preamble.size(), 0);
    file.write(data, std::uint64_t(whole_box(shape).size()) * type.bytes, preamble.size());
    file.close();
}

}  // namespace einparallel
