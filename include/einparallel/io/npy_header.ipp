#pragma once

#include <einparallel/io/npy_header.hpp>

#include <einparallel/notation/error.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <system_error>

namespace einparallel::EINPARALLEL_DETAIL {

/// Takes a header from the front of its text, piece by piece.
EINPARALLEL_INLINE class npy_header_parser {
public:
    npy_header_parser(const std::string& path, std::string_view text) : path_(path), rest_(text) {}

    npy_header parse() {
        std::optional<element_type> type;
        std::optional<bool> order;
        std::optional<std::vector<index>> shape;
        expect('{');
        for (bool more = !take('}'); more;) {
            const std::string key = quoted();
            expect(':');
            if (key == "descr") {
                type = element();
            } else if (key == "fortran_order") {
                order = boolean();
            } else if (key == "shape") {
                shape = extents();
            } else {
                check(false, {"has the unknown entry '", key, "' in its header"});
            }
            more = goes_on('}');
        }
        skip_blanks();
        check(rest_.empty(), {"has text behind the dictionary of its header"});
        const char* const missing = !type ? "descr" : !order ? "fortran_order" : !shape ? "shape" : "";
        check(*missing == '\0', {"has no entry '", missing, "' in its header"});
        return {*type, *order, *std::move(shape)};
    }

private:
    void check(bool holds, std::initializer_list<word> otherwise) const {
        require(holds, {"'", path_, "' "}, otherwise);
    }

    void skip_blanks() {
        constexpr std::string_view blanks(" \n\t\r\0", 5);
        rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
    }

    bool take(char wanted) {
        skip_blanks();
        const bool found = rest_.starts_with(wanted);
        rest_.remove_prefix(found ? 1 : 0);
        return found;
    }

    void expect(char wanted) {
        check(take(wanted), {"has a header that cannot be read: '", std::string_view(&wanted, 1),
                             "' is missing before '", rest_.substr(0, 12), "'"});
    }

    /// Behind an entry of a list: false where the list ends, with or without a comma.
    bool goes_on(char end) {
        if (take(',')) {
            return !take(end);
        }
        expect(end);
        return false;
    }

    std::string quoted() {
        skip_blanks();
        const char quote = rest_.starts_with('"') ? '"' : '\'';
        expect(quote);
        const std::size_t end = rest_.find(quote);
        check(end != std::string_view::npos, {"has a header with an open quotation mark"});
        std::string word(rest_.substr(0, end));
        rest_.remove_prefix(end + 1);
        return word;
    }

    bool boolean() {
        skip_blanks();
        const bool value = rest_.starts_with("True");
        check(value || rest_.starts_with("False"), {"has a header in which fortran_order is neither True nor False"});
        rest_.remove_prefix(value ? 4 : 5);
        return value;
    }

    index number() {
        skip_blanks();
        index value = -1;
        const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        check(failure != std::errc::result_out_of_range, {"has a header with an extent above 2^63 - 1"});
        check(value >= 0 && rest_.front() != '-', {"has a header whose shape is not a tuple of whole numbers"});
        rest_.remove_prefix(std::size_t(end - rest_.data()));
        rest_.remove_prefix(rest_.starts_with('L') ? 1 : 0);
        return value;
    }

    std::vector<index> extents() {
        std::vector<index> found;
        expect('(');
        for (bool more = !take(')'); more; more = goes_on(')')) {
            found.push_back(number());
        }
        return found;
    }

    element_type element() {
        skip_blanks();
        check(!rest_.starts_with('['), {"holds records, not numbers of one type"});
        const std::string text = quoted();
        const bool has_order = !text.empty() && std::string_view("<>=|").find(text[0]) != std::string_view::npos;
        const char order = has_order ? text[0] : '=';
        element_type found{' ', 0};
        if (const std::string_view left = std::string_view(text).substr(has_order ? 1 : 0); !left.empty()) {
            found.kind = left[0];
            const char* const last = left.data() + left.size();
            check(std::from_chars(left.data() + 1, last, found.bytes).ptr == last,
                  {"holds elements of type '", text, "', which is no number type"});
        }
        check(is_element_type(found) && found.kind >= 'a',
              {"holds elements of type '", text,
               "'; those that can be read are bool, integers of 1 to 8 bytes, floats of 2, 4 and 8, and complex "
               "numbers of 8 and 16"});
        constexpr char other_order = std::endian::native == std::endian::little ? '>' : '<';
        check(found.bytes <= 1 || order != other_order,
              {"holds elements of type '", text, "', whose bytes are in the order of another machine (",
               other_order == '>' ? "big-endian" : "little-endian", "): convert it before it is read"});
        return found;
    }

    const std::string& path_;
    std::string_view rest_;
};

EINPARALLEL_SELDOM npy_header parse_npy_header(const std::string& path, std::string_view text) {
    return npy_header_parser(path, text).parse();
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
