#pragma once

#include <einparallel/io/npy_header.hpp>

#include <bit>
#include <cstddef>
#include <limits>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE npy_header npy_header_parser::parse() {
    bool has_type = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!take('}')) {
        const std::string key = quoted();
        expect(':');
        if (key == "descr") {
            header_.type = type();
            has_type = true;
        } else if (key == "fortran_order") {
            header_.fortran_order = boolean();
            has_order = true;
        } else if (key == "shape") {
            header_.shape = shape();
            has_shape = true;
        } else {
            refuse("has the unknown entry '" + key + "' in its header");
        }
        if (!take(',')) {
            expect('}');
            break;
        }
    }
    skip_blanks();
    if (!rest_.empty()) {
        refuse("has text behind the dictionary of its header");
    }
    if (!has_type || !has_order || !has_shape) {
        refuse(std::string("has no entry '") +
               (!has_type    ? "descr"
                : !has_order ? "fortran_order"
                             : "shape") +
               "' in its header");
    }
    return header_;
}

EINPARALLEL_INLINE void npy_header_parser::skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t' ||
                              rest_.front() == '\r' || rest_.front() == '\0')) {
        rest_.remove_prefix(1);
    }
}

EINPARALLEL_INLINE bool npy_header_parser::take(char wanted) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != wanted) {
        return false;
    }
    rest_.remove_prefix(1);
    return true;
}

EINPARALLEL_INLINE void npy_header_parser::expect(char wanted) {
    if (!take(wanted)) {
        refuse(std::string("has a header that cannot be read: '") + wanted + "' is missing before '" +
               std::string(rest_.substr(0, 12)) + "'");
    }
}

EINPARALLEL_INLINE std::string npy_header_parser::quoted() {
    skip_blanks();
    const char quote = !rest_.empty() && rest_.front() == '"' ? '"' : '\'';
    expect(quote);
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) {
        refuse("has a header with an open quotation mark");
    }
    std::string word(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return word;
}

EINPARALLEL_INLINE bool npy_header_parser::boolean() {
    skip_blanks();
    for (const bool value : {true, false}) {
        const std::string_view word = value ? "True" : "False";
        if (rest_.substr(0, word.size()) == word) {
            rest_.remove_prefix(word.size());
            return value;
        }
    }
    refuse("has a header in which fortran_order is neither True nor False");
}

EINPARALLEL_INLINE index npy_header_parser::number() {
    skip_blanks();
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') {
        refuse("has a header whose shape is not a tuple of whole numbers");
    }
    index value = 0;
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
        const index digit = rest_.front() - '0';
        if (value > (std::numeric_limits<index>::max() - digit) / 10) {
            refuse("has a header with an extent above 2^63 - 1");
        }
        value = 10 * value + digit;
        rest_.remove_prefix(1);
    }
    if (!rest_.empty() && rest_.front() == 'L') {
        rest_.remove_prefix(1);
    }
    return value;
}

EINPARALLEL_INLINE std::vector<index> npy_header_parser::shape() {
    std::vector<index> extents;
    expect('(');
    while (!take(')')) {
        extents.push_back(number());
        if (!take(',')) {
            expect(')');
            break;
        }
    }
    return extents;
}

EINPARALLEL_INLINE element_type npy_header_parser::type() {
    skip_blanks();
    if (!rest_.empty() && rest_.front() == '[') {
        refuse("holds records, not numbers of one type");
    }
    const std::string text = quoted();
    const std::string_view orders = "<>=|";
    element_type found;
    std::size_t position = 0;
    char order = '=';
    if (!text.empty() && orders.find(text[0]) != std::string_view::npos) {
        order = text[0];
        position = 1;
    }
    if (position < text.size()) {
        found.kind = text[position];
    }
    for (++position; position < text.size() && found.bytes < 1000; ++position) {
        if (text[position] < '0' || text[position] > '9') {
            refuse("holds elements of type '" + text + "', which is no number type");
        }
        found.bytes = 10 * found.bytes + static_cast<std::size_t>(text[position] - '0');
    }
    if (!known(found)) {
        refuse("holds elements of type '" + text +
               "'; those that can be read are bool, integers of 1 to 8 bytes, floats of 4 and 8, and complex numbers "
               "of 8 and 16");
    }
    constexpr char other_order = std::endian::native == std::endian::little ? '>' : '<';
    if (found.bytes > 1 && order == other_order) {
        refuse("holds elements of type '" + text + "', whose bytes are in the order of another machine (" +
               (other_order == '>' ? "big-endian" : "little-endian") + "): convert it before it is read");
    }
    return found;
}

EINPARALLEL_INLINE bool npy_header_parser::known(element_type type) {
    switch (type.kind) {
        case 'b':
            return type.bytes == sizeof(bool);
        case 'i':
        case 'u':
            return type.bytes == 1 || type.bytes == 2 || type.bytes == 4 || type.bytes == 8;
        case 'f':
            return type.bytes == 4 || type.bytes == 8;
        case 'c':
            return type.bytes == 8 || type.bytes == 16;
        default:
            return false;
    }
}

EINPARALLEL_INLINE std::string npy_type_name(element_type type) {
    const char order = type.bytes == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
    return std::string(1, order) + type.kind + std::to_string(type.bytes);
}

EINPARALLEL_INLINE std::string npy_preamble(element_type type, const std::vector<index>& shape) {
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
        preamble += static_cast<char>(static_cast<unsigned char>((dictionary.size() >> (8 * byte)) & 0xFF));
    }
    return preamble + dictionary;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
