#pragma once
// The one exception of the library, and the sentences of errors, made of words and numbers where they are wanted.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace einparallel {

/// What every run-time misuse or failure throws: one sentence that names vertex, label and both extents where there are
/// such. On a communicator every rank throws the same text.
class error : public std::runtime_error {
public:
    /// With the sentence that what() returns.
    explicit error(const std::string& sentence) : std::runtime_error(sentence) {}
};

namespace detail {

/// @throws error with this sentence where something does not hold
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

/// Words, which it refers to, or a whole number.
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

/// One behind the other.
inline std::string sentence(std::initializer_list<word> words) {
    return sum_in(words, std::string(), &word::text);
}

/// @throws error with this sentence
[[noreturn]] inline void refuse(std::initializer_list<word> words) {
    throw error(sentence(words));
}

/// @throws error with this sentence, made only then, where something does not hold
inline void require(bool holds, std::initializer_list<word> otherwise) {
    if (!holds) {
        refuse(otherwise);
    }
}
/// The same, with a sentence that begins with `who`.
inline void require(bool holds, std::initializer_list<word> who, std::initializer_list<word> otherwise) {
    if (!holds) {
        refuse({sentence(who), sentence(otherwise)});
    }
}

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
