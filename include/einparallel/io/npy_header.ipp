#pragma once

#include <einparallel/io/npy_header.hpp>

#include <einparallel/io/python_literal.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <bit>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// An element type, and a name that numpy.dtype has for it.
struct npy_name {
    std::string_view name;
    element_type type;
};
/// Names of one letter, before which a byte order may stand. long has 8 bytes, as on all systems but Windows.
inline constexpr npy_name npy_letters[] = {{"?", {'b', 1}}, {"b", {'i', 1}}, {"B", {'u', 1}}, {"h", {'i', 2}},
                                           {"H", {'u', 2}}, {"i", {'i', 4}}, {"I", {'u', 4}}, {"l", {'i', 8}},
                                           {"L", {'u', 8}}, {"q", {'i', 8}}, {"Q", {'u', 8}}, {"n", {'i', 8}},
                                           {"N", {'u', 8}}, {"p", {'i', 8}}, {"P", {'u', 8}}, {"e", {'f', 2}},
                                           {"f", {'f', 4}}, {"d", {'f', 8}}, {"F", {'c', 8}}, {"D", {'c', 16}}};
inline constexpr npy_name npy_words[] = {
    {"bool", {'b', 1}},      {"bool_", {'b', 1}},   {"int8", {'i', 1}},        {"byte", {'i', 1}},
    {"int16", {'i', 2}},     {"short", {'i', 2}},   {"int32", {'i', 4}},       {"intc", {'i', 4}},
    {"int64", {'i', 8}},     {"int", {'i', 8}},     {"int_", {'i', 8}},        {"long", {'i', 8}},
    {"longlong", {'i', 8}},  {"intp", {'i', 8}},    {"uint8", {'u', 1}},       {"ubyte", {'u', 1}},
    {"uint16", {'u', 2}},    {"ushort", {'u', 2}},  {"uint32", {'u', 4}},      {"uintc", {'u', 4}},
    {"uint64", {'u', 8}},    {"uint", {'u', 8}},    {"ulong", {'u', 8}},       {"ulonglong", {'u', 8}},
    {"uintp", {'u', 8}},     {"float16", {'f', 2}}, {"half", {'f', 2}},        {"float32", {'f', 4}},
    {"single", {'f', 4}},    {"float64", {'f', 8}}, {"double", {'f', 8}},      {"float", {'f', 8}},
    {"complex64", {'c', 8}}, {"csingle", {'c', 8}}, {"complex128", {'c', 16}}, {"cdouble", {'c', 16}},
    {"complex", {'c', 16}}};

/// The type of 'f8', 'd' or 'float64', the name without its byte order. It has 0 bytes for any other text. `has_order`:
/// a byte order stood before it, so that it may be no word.
EINPARALLEL_SELDOM element_type npy_type(std::string_view text, bool has_order) {
    if (const auto known = find_in(npy_letters, text, &npy_name::name); known != std::end(npy_letters)) {
        return known->type;
    }
    if (const auto known = find_in(npy_words, text, &npy_name::name); !has_order && known != std::end(npy_words)) {
        return known->type;
    }
    element_type found{' ', 0};
    if (!text.empty()) {
        found.kind = text[0];
        const char* const last = text.data() + text.size();
        if (std::from_chars(text.data() + 1, last, found.bytes).ptr != last) {
            found.bytes = 0;
        }
    }
    return is_element_type(found) && found.kind >= 'a' ? found : element_type{' ', 0};
}

EINPARALLEL_SELDOM npy_header parse_npy_header(const std::string& path, std::string_view text, unsigned version) {
    using kind = python_value::kind;
    struct entry {
        std::string_view key;
        kind wanted;
        const char* otherwise;
        std::optional<python_value> value;
    };
    const char* const no_shape = "has a header whose shape is not a tuple of whole numbers";
    entry entries[] = {
        {"descr", kind::text, "holds records, not numbers of one type", {}},
        {"fortran_order", kind::truth, "has a header in which fortran_order is neither True nor False", {}},
        {"shape", kind::tuple, no_shape, {}}};
    python_reader reader(path, text, version <= 2);
    reader.dictionary([&](const std::string& key, const python_value& value) {
        const auto known = find_in(entries, std::string_view(key), &entry::key);
        reader.check(known != std::end(entries), {"has the unknown entry '", key, "' in its header"});
        const word otherwise = known->otherwise;  // nvcc loses a list of one such member
        reader.check(value.is != kind::other, {otherwise});
        known->value = value;
    });
    for (const entry& each : entries) {
        reader.check(each.value.has_value(), {"has no entry '", each.key, "' in its header"});
        reader.check(each.value->is == each.wanted, {each.otherwise});
    }
    const std::string& type = entries[0].value->text;
    const bool has_order = !type.empty() && std::string_view("<>=|").find(type.front()) != std::string_view::npos;
    constexpr char other_order = std::endian::native == std::endian::little ? '>' : '<';
    npy_header made;
    made.type = npy_type(std::string_view(type).substr(has_order ? 1 : 0), has_order);
    reader.check(made.type.bytes > 0,
                 {"holds elements of type '", type,
                  "'; those that can be read are bool, integers of 1 to 8 bytes, floats of 2, 4 and 8, and complex "
                  "numbers of 8 and 16"});
    made.is_swapped = made.type.bytes > 1 && type.front() == other_order;
    made.fortran_order = entries[1].value->number != 0;
    for (const python_value& extent : entries[2].value->items) {
        reader.check(extent.is == kind::number && extent.number >= 0, {no_shape});
        made.shape.push_back(extent.number);
    }
    return made;
}

EINPARALLEL_SELDOM std::string npy_type_name(element_type type) {
    expect(type.kind >= 'a',  // NumPy's are small letters
           "an .npy file cannot hold bfloat16 and elements of 8 bits: safetensors can");
    const char order = type.bytes == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
    return order + name_of_element(type);
}

EINPARALLEL_SELDOM std::string npy_preamble(element_type type, const std::vector<index>& shape) {
    std::string dictionary = "{'descr': '" + npy_type_name(type) + "', 'fortran_order': False, 'shape': (";
    for (std::size_t dimension = 0; dimension < shape.size(); ++dimension) {
        dictionary += std::to_string(shape[dimension]);
        dictionary += dimension + 1 < shape.size() ? ", " : shape.size() == 1 ? "," : "";
    }
    dictionary += "), }";
    const bool small = dictionary.size() + 64 + 10 <= 65535;
    const std::size_t before = small ? 10 : 12;
    while ((before + dictionary.size() + 1) % 64 != 0) {
        dictionary += ' ';
    }
    dictionary += '\n';
    std::string preamble("\x93NUMPY", 6);
    preamble += small ? '\1' : '\2';
    preamble += '\0';
    for (std::size_t byte = 0; byte < (small ? 2U : 4U); ++byte) {
        preamble += char(static_cast<unsigned char>((dictionary.size() >> (8 * byte)) & 0xFF));
    }
    return preamble + dictionary;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
