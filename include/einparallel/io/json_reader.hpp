#pragma once
// Reads JSON from the front of a text, value by value: what a file says of itself. Nothing is trusted, and nothing is
// kept but what is asked for. As strict as RFC 8259; members given twice, which it leaves open, are refused as well.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/function_ref.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace einparallel::EINPARALLEL_DETAIL {

/// A text of one value. Sentences begin with the path of the file that it is from.
class json_reader {
public:
    json_reader(std::string path, std::string_view text) : path_(std::move(path)), rest_(text) {}

    /// The next value is an object: visit(name) reads, or skips, the value of each member. @throws error
    EINPARALLEL_INLINE void object(function_ref<void(const std::string&)> visit);
    /// The next value is an array: visit() reads, or skips, each of its values. @throws error
    EINPARALLEL_INLINE void array(function_ref<void()> visit);
    /// The next value, where it is a string of UTF-8; escapes are resolved. @throws error
    EINPARALLEL_INLINE std::string text();
    /// The next value, where it is a whole number that is not negative. @throws error
    EINPARALLEL_INLINE std::uint64_t whole_number();
    /// True where the next value is null, which is then behind.
    EINPARALLEL_INLINE bool null();
    /// Goes behind the next value, whatever it is. @throws error
    EINPARALLEL_INLINE void skip();
    /// Nothing but blanks is left. @throws error
    EINPARALLEL_INLINE void end();

    /// @throws error that begins with the path
    void check(bool holds, std::initializer_list<word> otherwise) const {
        require(holds, {"'", path_, "' "}, otherwise);
    }

private:
    EINPARALLEL_INLINE void skip_blanks();
    EINPARALLEL_INLINE bool take(std::string_view wanted);
    EINPARALLEL_INLINE void expect(std::string_view wanted);
    EINPARALLEL_INLINE void values(std::string_view begin, std::string_view end, function_ref<void()> visit);
    EINPARALLEL_INLINE unsigned hexadecimal();
    EINPARALLEL_INLINE unsigned escape();
    EINPARALLEL_INLINE std::string_view number();

    std::string path_;
    std::string_view rest_;
    int depth_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
