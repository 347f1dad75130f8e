#pragma once
// A file that is open for reading, as an owned object; all of its system calls are in file.ipp.

#include <einparallel/notation/compiled.hpp>

#include <cstdint>
#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

/// Reads a regular file at any position. Reading does not move a cursor, so threads may read at once.
class input_file {
public:
    /// @throws error where the path names no file that can be read
    EINPARALLEL_INLINE explicit input_file(std::string path);

    input_file(const input_file&) = delete;
    input_file& operator=(const input_file&) = delete;
    ~input_file();

    [[nodiscard]] const std::string& path() const { return path_; }
    /// Bytes in the file when it was opened.
    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// Copies exactly `bytes` bytes that begin at `offset`.
    /// @throws error where the file ends before, or the system reports a failure
    EINPARALLEL_INLINE void read(void* destination, std::uint64_t bytes, std::uint64_t offset) const;

private:
    std::string path_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
