#pragma once
// Files that are open for reading or for writing, as owned objects; all of their system calls are in file.ipp.

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

/// Writes a file anew, at any position; what was there under its name is gone.
class output_file {
public:
    /// @throws error where the path names no file that can be written
    EINPARALLEL_INLINE explicit output_file(std::string path);

    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;
    ~output_file();

    /// Makes the file so long, all zeroes, with room for them on the disk where the system can promise it.
    /// @throws error
    EINPARALLEL_INLINE void reserve(std::uint64_t bytes) const;

    /// Writes exactly `bytes` bytes from `offset` on. @throws error
    EINPARALLEL_INLINE void write(const void* data, std::uint64_t bytes, std::uint64_t offset) const;

    /// @throws error where the system could not write after all
    EINPARALLEL_INLINE void close();

private:
    EINPARALLEL_INLINE [[noreturn]] void refuse(const char* what) const;

    std::string path_;
    int descriptor_ = -1;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
