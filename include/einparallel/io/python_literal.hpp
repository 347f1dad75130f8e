#pragma once
// The Python literals that headers of .npy files contain: strings, whole numbers, truth values, tuples, a dictionary.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/function_ref.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The value of a Python literal; `other` is whatever has none of these kinds.
struct python_value {
    enum class kind { text, number, truth, tuple, other };

    kind is = kind::other;
    std::string text;
    index number = 0;                 ///< of a truth: 0 or 1
    std::vector<python_value> items;  ///< of a tuple
};

/// Reads a text that is one dictionary, as ast.literal_eval does: any spelling of strings and numbers, brackets around
/// values, comments, continued lines. Errors begin with the path of the file that holds the text.
class python_reader {
public:
    /// @param long_integers  numbers may end in L, as Python 2 wrote them
    python_reader(std::string path, std::string_view text, bool long_integers)
        : path_(std::move(path)), rest_(text), long_integers_(long_integers) {}

    /// Reads the whole text, a dictionary whose keys are strings. Calls visit(key, value) for each entry, in their
    /// order. A value of kind `other` cannot be read further: after its visit, dictionary throws. @throws error
    EINPARALLEL_INLINE void dictionary(function_ref<void(const std::string&, const python_value&)> visit);

    /// @throws error that begins with the path where `holds` is false
    void check(bool holds, std::initializer_list<word> otherwise) const {
        require(holds, {"'", path_, "' "}, otherwise);
    }

private:
    EINPARALLEL_INLINE bool is_next(std::string_view letters, std::size_t at = 0) const;
    EINPARALLEL_INLINE bool is_word_next() const;
    EINPARALLEL_INLINE void skip_blanks(std::string_view blanks = " \t\f\n\r", bool continued = true);
    EINPARALLEL_INLINE bool take(std::string_view wanted);
    EINPARALLEL_INLINE void expect(std::string_view wanted);
    EINPARALLEL_INLINE bool goes_on(std::string_view end);
    EINPARALLEL_INLINE void open(std::string_view bracket);
    EINPARALLEL_INLINE python_value value();
    EINPARALLEL_INLINE python_value tuple();
    EINPARALLEL_INLINE python_value number();
    EINPARALLEL_INLINE std::string digits(std::string_view letters);
    EINPARALLEL_INLINE std::size_t letters_before_quote() const;
    EINPARALLEL_INLINE void append_string(std::string& into);
    EINPARALLEL_INLINE void append_escape(std::string& into);

    std::string path_;
    std::string_view rest_;
    bool long_integers_;
    int depth_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
