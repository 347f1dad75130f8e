#pragma once

#include <einparallel/io/safetensors_header.hpp>

#include <einparallel/io/text.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <cstddef>
#include <iterator>

namespace einparallel::EINPARALLEL_DETAIL {

/// A type of the format.
struct safetensors_type {
    std::string_view name;
    unsigned bits;
    element_type type;  ///< has 0 bytes where the library does not have it
};
inline constexpr safetensors_type safetensors_types[] = {
    {"F64", 64, {'f', 8}},        {"F32", 32, {'f', 4}},       {"F16", 16, {'f', 2}},    {"BF16", 16, {'B', 2}},
    {"F8_E4M3", 8, {'E', 1}},     {"F8_E5M2", 8, {'F', 1}},    {"C64", 64, {'c', 8}},    {"I64", 64, {'i', 8}},
    {"I32", 32, {'i', 4}},        {"I16", 16, {'i', 2}},       {"I8", 8, {'i', 1}},      {"U64", 64, {'u', 8}},
    {"U32", 32, {'u', 4}},        {"U16", 16, {'u', 2}},       {"U8", 8, {'u', 1}},      {"BOOL", 8, {'b', 1}},
    {"F4", 4, {' ', 0}},          {"F6_E2M3", 6, {' ', 0}},    {"F6_E3M2", 6, {' ', 0}}, {"F8_E8M0", 8, {' ', 0}},
    {"F8_E4M3FNUZ", 8, {' ', 0}}, {"F8_E5M2FNUZ", 8, {' ', 0}}};

/// The names of all types that can be read, for the texts of errors.
EINPARALLEL_SELDOM std::string safetensors_type_names() {
    std::string all;
    for (const safetensors_type& each : safetensors_types) {
        if (each.type.bytes > 0) {
            all.append(all.empty() ? "" : ", ").append(each.name);
        }
    }
    return all;
}

EINPARALLEL_SELDOM std::string_view safetensors_type_name(element_type type) {
    const auto known = find_in(safetensors_types, type, &safetensors_type::type);
    return known == std::end(safetensors_types) ? std::string_view() : known->name;
}

/// The text as a JSON string. @param what  names the text in an error
EINPARALLEL_SELDOM std::string json_string(std::string_view what, const std::string& text) {
    require(is_utf8(text), {what, " '", text, "' is not UTF-8, and safetensors must be"});
    return std::string("\"").append(escaped(text)).append("\"");
}

EINPARALLEL_SELDOM std::string safetensors_preamble(const std::vector<std::string>& names,
                                                    const std::vector<element_type>& types,
                                                    const std::vector<std::vector<index>>& shapes,
                                                    const std::map<std::string, std::string>& metadata) {
    std::string header = "{";
    for (const auto& [name, value] : metadata) {
        header.append(header.size() == 1 ? "\"__metadata__\":{" : ",").append(json_string("the metadata", name));
        header.append(":").append(json_string("the metadata", value));
    }
    header += metadata.empty() ? "" : "}";
    std::uint64_t begin = 0;
    for (std::size_t number = 0; number < names.size(); ++number) {
        const std::string_view type = safetensors_type_name(types[number]);
        require(!type.empty(), {"'", names[number], "': safetensors hold no elements of type ",
                                written_element(types[number]), ", but ", safetensors_type_names()});
        const std::uint64_t end = begin + std::uint64_t(whole_box(shapes[number]).size()) * types[number].bytes;
        require(names[number] != "__metadata__", {"'__metadata__' is no name for a tensor in safetensors"});
        header.append(header.size() > 1 ? "," : "").append(json_string("the name", names[number]));
        header.append(":{\"dtype\":\"").append(type).append("\",\"shape\":[");
        for (std::size_t dimension = 0; dimension < shapes[number].size(); ++dimension) {
            header.append(dimension > 0 ? "," : "").append(std::to_string(shapes[number][dimension]));
        }
        header.append("],\"data_offsets\":[").append(std::to_string(begin)).append(",");
        header.append(std::to_string(end)).append("]}");
        begin = end;
    }
    header += "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    require(header.size() <= longest_safetensors_header,
            {"the header would have ", header.size(), " bytes, and safetensors have ", longest_safetensors_header,
             " at most"});
    std::string preamble;
    for (int byte = 0; byte < 8; ++byte) {
        preamble += char(static_cast<unsigned char>(header.size() >> 8 * byte));
    }
    return preamble + header;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
