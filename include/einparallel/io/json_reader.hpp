#pragma once
// Reads JSON from the front of a text, value by value: the headers of files. Nothing is trusted, and only what is asked
// for is kept. It is as strict as RFC 8259. Repeated members, which RFC 8259 leaves open, are refused as well.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/function_ref.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace einparallel::EINPARALLEL_DETAIL {

/// Reads a text that is one value. Errors begin with the path of the file that holds the text.
class json_reader {
public:
    json_reader(const std::string& path, std::string_view text) : subject_("'" + path + "'"), rest_(text) {}
    /// @param subject, noun  in the errors, instead of a file and of its header: what is read, and its JSON
    json_reader(std::string subject, const char* noun, std::string_view text)
        : subject_(std::move(subject)), noun_(noun), rest_(text) {}

    /// Reads the next value, an object. Calls visit(name) for each member; visit reads or skips the member's value.
    /// @throws error
    EINPARALLEL_INLINE void object(function_ref<void(const std::string&)> visit);
    /// Reads the next value, an array. Calls visit() for each of its values; visit reads or skips the value. @throws
    /// error
    EINPARALLEL_INLINE void array(function_ref<void()> visit);
    /// Reads the next value, a string of UTF-8, and resolves its escapes. @throws error
    EINPARALLEL_INLINE std::string text();
    /// Reads the next value, a whole number that is not negative. @throws error
    EINPARALLEL_INLINE std::uint64_t whole_number();
    /// Reads the next value, a number. @throws error
    EINPARALLEL_INLINE double decimal();
    /// Reads the next value if it is null. Returns whether it was.
    EINPARALLEL_INLINE bool null();
    /// Skips the next value, whatever it is. @throws error
    EINPARALLEL_INLINE void skip();
    /// Checks that only blanks are left. @throws error
    EINPARALLEL_INLINE void end();

    /// @throws error that begins with the path, or the subject, where `holds` is false
    void check(bool holds, std::initializer_list<word> otherwise) const { require(holds, {subject_, " "}, otherwise); }

private:
    EINPARALLEL_INLINE void skip_blanks();
    EINPARALLEL_INLINE bool take(std::string_view wanted);
    EINPARALLEL_INLINE void expect(std::string_view wanted);
    EINPARALLEL_INLINE void values(std::string_view begin, std::string_view end, function_ref<void()> visit);
    EINPARALLEL_INLINE unsigned hexadecimal();
    EINPARALLEL_INLINE unsigned escape();
    EINPARALLEL_INLINE std::string_view number();

    std::string subject_;
    const char* noun_ = "header";
    std::string_view rest_;
    int depth_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
