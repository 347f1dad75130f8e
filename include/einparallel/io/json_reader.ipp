#pragma once

#include <einparallel/io/json_reader.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM bool json_reader::take(char wanted) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t\r"), rest_.size()));
    const bool found = rest_.starts_with(wanted);
    rest_.remove_prefix(found ? 1 : 0);
    return found;
}

EINPARALLEL_SELDOM void json_reader::expect(char wanted) {
    const bool found = take(wanted);
    check(found, {"has a header that is no JSON: '", std::string_view(&wanted, 1), "' is missing ",
                  rest_.empty() ? "at its end" : "before '", rest_.substr(0, 12), rest_.empty() ? "" : "'"});
}

EINPARALLEL_SELDOM void json_reader::values(char begin, char end, function_ref<void()> visit) {
    constexpr int deepest = 64;
    expect(begin);
    check(++depth_ <= deepest, {"has a header that is nested more than ", deepest, " deep"});
    for (bool more = !take(end); more;) {
        visit();
        more = take(',');
        if (!more) {
            expect(end);
        }
    }
    --depth_;
}

EINPARALLEL_SELDOM void json_reader::object(function_ref<void(const std::string&)> visit) {
    values('{', '}', [&] {
        const std::string name = text();
        expect(':');
        visit(name);
    });
}

EINPARALLEL_SELDOM void json_reader::array(function_ref<void()> visit) {
    values('[', ']', visit);
}

EINPARALLEL_SELDOM unsigned json_reader::hexadecimal() {
    unsigned value = 0;
    const char* const last = rest_.data() + std::min<std::size_t>(rest_.size(), 4);
    check(last - rest_.data() == 4 && std::from_chars(rest_.data(), last, value, 16).ptr == last,
          {"has a header with a bad escape in a string"});
    rest_.remove_prefix(4);
    return value;
}

EINPARALLEL_SELDOM std::string json_reader::text() {
    expect('"');
    std::string made;
    for (;;) {
        check(!rest_.empty(), {"has a header with an open quotation mark"});
        const char next = rest_.front();
        rest_.remove_prefix(1);
        if (next == '"') {
            return made;
        }
        if (next != '\\') {
            made += next;
            continue;
        }
        constexpr std::string_view letters = "\"\\/bfnrtu";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        const std::size_t place = rest_.empty() ? std::string_view::npos : letters.find(rest_.front());
        check(place != std::string_view::npos, {"has a header with a bad escape in a string"});
        rest_.remove_prefix(1);
        if (place < meanings.size()) {
            made += meanings[place];
            continue;
        }
        unsigned code = hexadecimal();
        if (code >= 0xd800 && code < 0xdc00 && rest_.starts_with("\\u")) {
            rest_.remove_prefix(2);
            code = 0x10000U + ((code - 0xd800U) << 10U) + ((hexadecimal() - 0xdc00U) & 0x3ffU);
        }
        const int behind = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // UTF-8
        constexpr unsigned first[] = {0, 0xc0, 0xe0, 0xf0};
        made += char(first[behind] | code >> 6 * behind);
        for (int byte = behind; byte-- > 0;) {
            made += char(0x80U | (code >> 6 * byte & 0x3fU));
        }
    }
}

EINPARALLEL_SELDOM std::uint64_t json_reader::whole_number() {
    take('\0');  // blanks
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    check(failure != std::errc::result_out_of_range, {"has a header with a number above 2^64 - 1"});
    check(failure == std::errc() &&
              (end == rest_.data() + rest_.size() || std::string_view(".eE").find(*end) == std::string_view::npos),
          {"has a header with '", rest_.substr(0, 12), "' where a whole number belongs"});
    rest_.remove_prefix(std::size_t(end - rest_.data()));
    return value;
}

EINPARALLEL_SELDOM void json_reader::skip() {
    take('\0');
    if (rest_.starts_with('{')) {
        object([&](const std::string& /*name*/) { skip(); });
    } else if (rest_.starts_with('[')) {
        array([&] { skip(); });
    } else if (rest_.starts_with('"')) {
        text();
    } else {
        const std::size_t length = std::min(rest_.find_first_of(",]} \n\t\r"), rest_.size());
        check(length > 0, {"has a header that is no JSON: a value is missing"});
        rest_.remove_prefix(length);
    }
}

EINPARALLEL_SELDOM void json_reader::end() {
    take('\0');
    check(rest_.empty(), {"has text behind its header"});
}

}  // namespace einparallel::EINPARALLEL_DETAIL
