#pragma once

#include <einparallel/io/safetensors.hpp>

#include <einparallel/io/box_reader.ipp>
#include <einparallel/io/json_reader.ipp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>

#include <bit>
#include <optional>
#include <tuple>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

/// Headers are no longer than that (the format's own limit).
inline constexpr std::uint64_t longest_json = 100'000'000;

struct named_element_type {
    std::string_view name;
    element_type type;
};
inline constexpr named_element_type safetensors_types[] = {
    {"F64", {'f', 8}},     {"F32", {'f', 4}}, {"F16", {'f', 2}}, {"BF16", {'B', 2}}, {"F8_E4M3", {'E', 1}},
    {"F8_E5M2", {'F', 1}}, {"I64", {'i', 8}}, {"I32", {'i', 4}}, {"I16", {'i', 2}},  {"I8", {'i', 1}},
    {"U64", {'u', 8}},     {"U32", {'u', 4}}, {"U16", {'u', 2}}, {"U8", {'u', 1}},   {"BOOL", {'b', 1}}};

EINPARALLEL_SELDOM std::string safetensors_type_names() {
    std::string all;
    for (const named_element_type& each : safetensors_types) {
        all += (all.empty() ? "" : ", ") + std::string(each.name);
    }
    return all;
}

EINPARALLEL_SELDOM std::string_view safetensors_type_name(element_type type) {
    const auto known = find_in(safetensors_types, type, &named_element_type::type);
    return known == std::end(safetensors_types) ? std::string_view() : known->name;
}

EINPARALLEL_SELDOM std::string safetensors_preamble(const std::vector<std::string>& names,
                                                    const std::vector<element_type>& types,
                                                    const std::vector<std::vector<index>>& shapes) {
    std::string header = "{";
    std::uint64_t begin = 0;
    for (std::size_t number = 0; number < names.size(); ++number) {
        const std::string_view type = safetensors_type_name(types[number]);
        require(!type.empty(),
                {"'", names[number], "': safetensors hold no elements of type ", name_of_element(types[number])});
        const std::uint64_t end = begin + std::uint64_t(whole_box(shapes[number]).size()) * types[number].bytes;
        require(names[number] != "__metadata__", {"'__metadata__' is no name for a tensor in safetensors"});
        header += number > 0 ? ",\"" : "\"";
        for (const char letter : names[number]) {
            require(
                static_cast<unsigned char>(letter) >= ' ' && letter != '"' && letter != '\\',
                {"'", names[number], "': names of tensors in safetensors have no quotes, backslashes and controls"});
            header += letter;
        }
        header += "\":{\"dtype\":\"" + std::string(type) + "\",\"shape\":[";
        for (std::size_t dimension = 0; dimension < shapes[number].size(); ++dimension) {
            header += (dimension > 0 ? "," : "") + std::to_string(shapes[number][dimension]);
        }
        header += "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
        begin = end;
    }
    header += "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    std::string preamble;
    for (int byte = 0; byte < 8; ++byte) {
        preamble += char(static_cast<unsigned char>(header.size() >> 8 * byte));
    }
    return preamble + header;
}

/// True where there are `count` elements of these extents, which nobody has checked.
EINPARALLEL_SELDOM bool are_of(index count, const std::vector<index>& extents) {
    index left = count;
    for (const index extent : extents) {
        if (extent <= 0 || left % extent != 0) {
            return extent == 0 && count == 0;
        }
        left /= extent;
    }
    return left == 1;
}

/// Reads the header of a file.
EINPARALLEL_SELDOM std::map<std::string, safetensors_entry> read_safetensors(const std::string& path) {
    const auto file = std::make_shared<const input_file>(path);
    const auto check = [&](bool holds, std::initializer_list<word> otherwise) {
        require(holds, {"'", path, "' "}, otherwise);
    };
    check(file->size() >= 8, {"is no safetensors file: it has only ", file->size(), " bytes"});
    std::uint64_t header_bytes = 0;
    file->read(&header_bytes, 8, 0);
    check(header_bytes <= std::min(file->size() - 8, longest_json),
          {"is no safetensors file, or truncated: its header would have ", header_bytes, " bytes, and ",
           file->size() - 8, " are there"});
    std::string text(std::size_t(header_bytes), ' ');
    file->read(text.data(), header_bytes, 8);
    const std::uint64_t data_bytes = file->size() - 8 - header_bytes;

    std::map<std::string, safetensors_entry> tensors;
    std::vector<std::tuple<std::uint64_t, std::uint64_t, std::string>> places;  // begin and end in the data
    json_reader header(path, text);
    header.object([&](const std::string& name) {
        if (name == "__metadata__") {
            header.skip();
            return;
        }
        std::optional<std::string> type;
        std::optional<std::vector<index>> shape;
        std::optional<std::vector<std::uint64_t>> offsets;
        const auto numbers = [&](auto& into) {
            into.emplace();
            header.array([&] {
                const std::uint64_t number = header.whole_number();
                check(number >> 62U == 0, {"has a number above 2^62 in tensor '", name, "'"});
                into->push_back(typename std::decay_t<decltype(*into)>::value_type(number));
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
        const auto known = find_in(safetensors_types, std::string_view(*type), &named_element_type::name);
        const bool is_known = known != std::end(safetensors_types);
        check(offsets->size() == 2 && (*offsets)[0] <= (*offsets)[1] && (*offsets)[1] <= data_bytes,
              {"has tensor '", name, "' outside of its ", data_bytes, " bytes of elements: it is truncated, or wrong"});
        const bool countable = is_countable(*shape);
        const std::uint64_t bytes = (*offsets)[1] - (*offsets)[0];
        const std::uint64_t wanted = !is_known   ? bytes
                                     : countable ? std::uint64_t(whole_box(*shape).size()) * known->type.bytes
                                                 : 0;
        check(countable && bytes == wanted, {"has ", bytes, " bytes of tensor '", name, "', and type and shape need ",
                                             countable ? std::to_string(wanted) : "more than there can be"});
        if (wanted > 0) {
            places.emplace_back((*offsets)[0], (*offsets)[1], name);
        }
        safetensors_entry made{is_known ? known->type : element_type(), is_known ? "" : *type, *shape, file,
                               8 + header_bytes + (*offsets)[0]};
        const bool fresh = tensors.emplace(name, std::move(made)).second;
        check(fresh, {"has two tensors '", name, "'"});
    });
    header.end();
    sort_range(places);
    const std::uint64_t end = places.empty() ? 0 : std::get<1>(places.back());
    check(end == data_bytes, {"has ", data_bytes - end, " bytes behind its tensors"});
    for (std::size_t next = 1; next < places.size(); ++next) {
        check(std::get<1>(places[next - 1]) <= std::get<0>(places[next]),
              {"has tensors '", std::get<2>(places[next - 1]), "' and '", std::get<2>(places[next]),
               "' at the same bytes"});
    }
    return tensors;
}

/// Reads an index, and the headers of the files that it lists, which are beside it.
EINPARALLEL_SELDOM std::map<std::string, safetensors_entry> read_index(const std::string& path) {
    const input_file file(path);
    require(file.size() <= longest_json, {"'", path, "' is no index of safetensors: it has ", file.size(), " bytes"});
    std::string text(std::size_t(file.size()), ' ');
    file.read(text.data(), file.size(), 0);
    std::map<std::string, safetensors_entry> tensors;
    std::map<std::string, std::map<std::string, safetensors_entry>> files;
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
            header.check(own.find('/') == std::string::npos && own.find('\0') == std::string::npos,
                         {"lists the file '", own, "', which is not beside it"});
            auto known = files.find(own);
            if (known == files.end()) {
                known = files.emplace(own, read_safetensors(folder + own)).first;
            }
            const auto found = known->second.find(name);
            header.check(found != known->second.end(), {"lists tensor '", name, "' in '", own, "', which has none"});
            tensors.emplace(name, found->second);
        });
    });
    header.end();
    header.check(is_listed, {"is no index of safetensors: it has no weight_map"});
    return tensors;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_SELDOM safetensors_file::safetensors_file(const std::string& path)
    : path_(path), tensors_(path.ends_with(".json") ? detail::read_index(path) : detail::read_safetensors(path)) {}

EINPARALLEL_SELDOM std::vector<std::string> safetensors_file::names() const {
    std::vector<std::string> all;
    for (const auto& [name, tensor] : tensors_) {
        all.push_back(name);
    }
    return all;
}

EINPARALLEL_SELDOM const detail::safetensors_entry& safetensors_file::entry(const std::string& name) const {
    const auto known = tensors_.find(name);
    detail::require(known != tensors_.end(), {"'", path_, "' has no tensor '", name, "'"});
    detail::require(known->second.unknown.empty(),
                    {"'", path_, "' has tensor '", name, "' of type ", known->second.unknown,
                     "; those that can be read are ", detail::safetensors_type_names()});
    return known->second;
}

EINPARALLEL_SELDOM void safetensors_file::require(const std::string& name, element_type type, std::size_t rank) const {
    const detail::safetensors_entry& has = entry(name);
    const std::string_view asked = detail::safetensors_type_name(type);
    detail::require(
        has.type == type,
        {"'", path_, "': tensor '", name, "' has elements of type ", detail::safetensors_type_name(has.type), ", and ",
         asked.empty() ? std::string_view(detail::name_of_element(type)) : asked, " is asked for"});
    detail::require(has.shape.size() == rank, {"'", path_, "': tensor '", name, "' has rank ", has.shape.size(),
                                               ", and rank ", rank, " is asked for"});
}

EINPARALLEL_SELDOM void safetensors_file::read_box(const std::string& name, const std::vector<index>& extents,
                                                   const box& region, void* destination) const {
    const detail::safetensors_entry& has = entry(name);
    const index count = whole_box(has.shape).size();
    detail::require(detail::are_of(count, extents), {"'", path_, "': tensor '", name, "' has ", count,
                                                     " elements, not those of the extents asked for"});
    detail::require(region.rank() == extents.size() && einparallel::contains(whole_box(extents), region),
                    {"'", path_, "': a box outside of tensor '", name, "' is asked for"});
    if (!region.empty()) {
        detail::box_reader(*has.file, has.begin, has.type.bytes, extents, false, region).read(destination);
    }
}

}  // namespace einparallel
