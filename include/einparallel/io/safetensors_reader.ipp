#pragma once
// Reads headers of .safetensors files, and of the files that an index lists. Nothing in them is trusted.

#include <einparallel/io/file.hpp>
#include <einparallel/io/json_reader.hpp>
#include <einparallel/io/safetensors_header.ipp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Reads and checks the header of one file.
EINPARALLEL_INLINE class safetensors_reader {
public:
    explicit safetensors_reader(const std::string& path)
        : path_(path), file_(std::make_shared<const input_file>(path)) {}

    safetensors_contents read() {
        const std::string text = header_text();
        json_reader header(path_, text);
        header.object([&](const std::string& name) {
            if (name != "__metadata__") {
                read_tensor(header, name);
            } else if (!header.null()) {
                header.object([&](const std::string& word) { contents_.metadata.emplace(word, header.text()); });
            }
        });
        header.end();
        check_offsets();
        return std::move(contents_);
    }

private:
    void check(bool holds, std::initializer_list<word> otherwise) const {
        require(holds, {"'", path_, "' "}, otherwise);
    }

    std::string header_text() {
        check(file_->size() >= 8, {"is no safetensors file: it has only ", file_->size(), " bytes"});
        std::uint64_t bytes = 0;
        file_->read(&bytes, 8, 0);
        check(bytes <= file_->size() - 8, {"is no safetensors file, or truncated: its header would have ",
                                           std::to_string(bytes), " bytes, and ", file_->size() - 8, " are there"});
        check(bytes <= longest_safetensors_header,
              {"has a header of ", bytes, " bytes, and safetensors have ", longest_safetensors_header, " at most"});
        std::string text(std::size_t(bytes), ' ');
        file_->read(text.data(), bytes, 8);
        data_begin_ = 8 + bytes;
        data_bytes_ = file_->size() - data_begin_;
        return text;
    }

    void read_tensor(json_reader& header, const std::string& name) {
        std::optional<std::string> type;
        std::optional<std::vector<index>> shape;
        std::optional<std::vector<index>> offsets;
        const auto numbers = [&](std::optional<std::vector<index>>& into) {
            into.emplace();
            header.array([&] {
                const std::uint64_t number = header.whole_number();
                check(number >> 62U == 0, {"has a number above 2^62 in tensor '", name, "'"});
                into->push_back(index(number));
            });
        };
        header.object([&](const std::string& member) {
            if (member == "dtype") {
                type = header.text();
            } else if (member == "shape") {
                numbers(shape);
            } else if (member == "data_offsets") {
                numbers(offsets);
            } else {
                header.skip();
            }
        });
        const char* const missing = !type ? "dtype" : !shape ? "shape" : !offsets ? "data_offsets" : "";
        check(*missing == '\0', {"says no ", missing, " of tensor '", name, "'"});
        add_tensor(name, *type, *shape, *offsets);
    }

    void add_tensor(const std::string& name, const std::string& type, const std::vector<index>& shape,
                    const std::vector<index>& offsets) {
        const auto known = find_in(safetensors_types, std::string_view(type), &safetensors_type::name);
        check(known != std::end(safetensors_types),
              {"has tensor '", name, "' of type '", type, "', which the safetensors format does not have"});
        check(
            offsets.size() == 2 && offsets[0] <= offsets[1] && std::uint64_t(offsets[1]) <= data_bytes_,
            {"has tensor '", name, "' outside of its ", data_bytes_, " bytes of elements: it is truncated, or wrong"});
        const bool countable = is_countable(shape);
        const index count = countable ? whole_box(shape).size() : 0;
        check(known->bits >= 8 || count * index(known->bits) % 8 == 0,
              {"has ", count, " elements of ", known->bits, " bits in tensor '", name,
               "', which do not fill whole bytes"});
        const index wanted = known->bits < 8 ? count * index(known->bits) / 8 : count * index(known->bits / 8);
        const index bytes = offsets[1] - offsets[0];
        check(countable && bytes == wanted, {"has ", bytes, " bytes of tensor '", name, "', and type and shape need ",
                                             countable ? std::to_string(wanted) : "more than there can be"});
        offsets_.emplace_back(offsets[0], offsets[1], name);
        contents_.tensors.emplace(name, safetensors_entry{known->type, known->type.bytes > 0 ? "" : type, shape, file_,
                                                          data_begin_ + std::uint64_t(offsets[0])});
    }

    /// Checks that the tensors lie one behind the other and fill the file.
    void check_offsets() {
        sort_range(offsets_);
        index end = 0;
        const std::string* before = nullptr;
        for (const auto& [first, last, name] : offsets_) {
            check(first <= end, {"has ", first - end, " bytes before tensor '", name, "' that belong to no tensor"});
            check(first == end,
                  {"has tensors '", before == nullptr ? "" : *before, "' and '", name, "' at the same bytes"});
            end = last;
            before = &name;
        }
        check(std::uint64_t(end) == data_bytes_,
              {"has ", data_bytes_ - std::uint64_t(end), " bytes behind its tensors"});
    }

    std::string path_;
    std::shared_ptr<const input_file> file_;
    std::uint64_t data_begin_ = 0;
    std::uint64_t data_bytes_ = 0;
    safetensors_contents contents_;
    std::vector<std::tuple<index, index, std::string>> offsets_;  ///< begin and end in the data, in bytes; name
};

/// The normal form of a relative path: "a/b" for "./a//b". nullopt for a path that is absolute or contains "..".
EINPARALLEL_SELDOM std::optional<std::string> path_inside(const std::string& path) {
    if (path.starts_with('/') || path.find('\0') != std::string::npos) {
        return std::nullopt;
    }
    std::string inside;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string segment = path.substr(begin, end - begin);
        if (segment == "..") {
            return std::nullopt;
        } else if (!segment.empty() && segment != ".") {
            inside.append(inside.empty() ? "" : "/").append(segment);
        }
        begin = end + 1;
    }
    return inside;
}

/// Reads an index, and the headers of the files that it lists. These must be in its folder or below.
EINPARALLEL_SELDOM safetensors_contents read_safetensors_index(const std::string& path) {
    const input_file file(path);
    require(file.size() <= longest_safetensors_header,
            {"'", path, "' is no index of safetensors: it has ", file.size(), " bytes"});
    std::string text(std::size_t(file.size()), ' ');
    file.read(text.data(), file.size(), 0);
    safetensors_contents all;
    std::map<std::string, safetensors_contents> files;
    const std::string folder = path.substr(0, path.find_last_of('/') + 1);
    json_reader header(path, text);
    bool is_listed = false;
    header.object([&](const std::string& member) {
        if (member != "weight_map") {
            header.skip();
            return;
        }
        is_listed = true;
        header.object([&](const std::string& name) {
            const std::string own = header.text();
            const std::optional<std::string> inside = path_inside(own);
            header.check(inside.has_value(), {"lists the file '", own, "', which is outside of its folder"});
            auto known = files.find(*inside);
            if (known == files.end()) {
                known = files.emplace(*inside, safetensors_reader(folder + *inside).read()).first;
                all.metadata.insert(known->second.metadata.begin(), known->second.metadata.end());
            }
            const auto found = known->second.tensors.find(name);
            header.check(found != known->second.tensors.end(),
                         {"lists tensor '", name, "' in '", own, "', which does not have this tensor"});
            all.tensors.emplace(name, found->second);
        });
    });
    header.end();
    header.check(is_listed, {"is no index of safetensors: it has no weight_map"});
    return all;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
