#pragma once
// The exception of the library, and functions that build the texts of errors from words and numbers when they are
// needed.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace einparallel {

/// The exception for every misuse and failure at run time. Its text is one sentence, which names the vertex, the label
/// and both extents where there are any. On a communicator every rank throws the same text.
class error : public std::runtime_error {
public:
    /// Makes an error whose what() returns `sentence`.
    explicit error(const std::string& sentence) : std::runtime_error(sentence) {}
};

namespace detail {

/// @throws error with the text `otherwise` where `holds` is false
///@{
inline void expect(bool holds, const char* otherwise) {
    if (!holds) {
        throw error(otherwise);
    }
}
inline void expect(bool holds, const std::string& otherwise) {
    expect(holds, otherwise.c_str());
}
///@}

}  // namespace detail

namespace EINPARALLEL_DETAIL {

/// A part of a sentence: a text, to which it only refers, or a whole number.
class word {
public:
    word(const char* words) : words_(words) {}
    word(const std::string& words) : words_(words) {}
    word(std::string_view words) : words_(words) {}
    template <std::integral Number>
        requires(!std::same_as<Number, char> && !std::same_as<Number, bool>)
    word(Number number) : number_(std::int64_t(number)), is_number_(true) {}

    [[nodiscard]] std::string text() const { return is_number_ ? std::to_string(number_) : std::string(words_); }

private:
    std::string_view words_;
    std::int64_t number_ = 0;
    bool is_number_ = false;
};

/// Joins the words to one text.
inline std::string sentence(std::initializer_list<word> words) {
    return sum_in(words, std::string(), &word::text);
}

/// @throws error with the joined words as its text
[[noreturn]] inline void refuse(std::initializer_list<word> words) {
    throw error(sentence(words));
}

/// @throws error with the joined words `otherwise` where `holds` is false; they are joined only then
inline void require(bool holds, std::initializer_list<word> otherwise) {
    if (!holds) {
        refuse(otherwise);
    }
}
/// Like the function above, but the text begins with `who`.
inline void require(bool holds, std::initializer_list<word> who, std::initializer_list<word> otherwise) {
    if (!holds) {
        refuse({sentence(who), sentence(otherwise)});
    }
}

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
