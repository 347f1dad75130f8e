#pragma once
// A file that is open for reading, as an owned object; all of its system calls are here.

#include <einparallel/notation/error.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace einparallel::detail {

/// Reads a regular file at any position. Reading does not move a cursor, so threads may read at once.
class input_file {
public:
    /// @throws error where the path names no file that can be read
    explicit input_file(std::string path) : path_(std::move(path)) {
        descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptor_ < 0) {
            throw error("'" + path_ + "' cannot be opened: " + std::generic_category().message(errno));
        }
        struct stat status {};
        if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
            ::close(descriptor_);
            throw error("'" + path_ + "' is not a regular file");
        }
        size_ = static_cast<std::uint64_t>(status.st_size);
    }

    input_file(const input_file&) = delete;
    input_file& operator=(const input_file&) = delete;
    ~input_file() { ::close(descriptor_); }

    [[nodiscard]] const std::string& path() const { return path_; }
    /// Bytes in the file when it was opened.
    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// Copies exactly `bytes` bytes that begin at `offset`.
    /// @throws error where the file ends before, or the system reports a failure
    void read(void* destination, std::uint64_t bytes, std::uint64_t offset) const {
        // Linux reads at most 2 GiB - 4 KiB a call, whatever is asked for.
        constexpr std::uint64_t largest_request = std::uint64_t{1} << 30;
        auto* next = static_cast<std::byte*>(destination);
        std::uint64_t done = 0;
        while (done < bytes) {
            const std::uint64_t rest = bytes - done;
            const std::size_t request = static_cast<std::size_t>(rest < largest_request ? rest : largest_request);
            const ssize_t got = ::pread(descriptor_, next + done, request, static_cast<off_t>(offset + done));
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got < 0) {
                throw error("'" + path_ + "' cannot be read: " + std::generic_category().message(errno));
            }
            if (got == 0) {
                throw error("'" + path_ + "' ends at byte " + std::to_string(offset + done) + ", and bytes up to " +
                            std::to_string(offset + bytes) + " were wanted: it became shorter while it was read");
            }
            done += static_cast<std::uint64_t>(got);
        }
    }

private:
    std::string path_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
};

}  // namespace einparallel::detail
