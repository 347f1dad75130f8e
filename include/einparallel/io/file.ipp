#pragma once

#include <einparallel/io/file.hpp>

#include <einparallel/notation/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <cerrno>

#include <cstddef>
#include <system_error>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE input_file::input_file(std::string path) : path_(std::move(path)) {
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

EINPARALLEL_INLINE void input_file::read(void* destination, std::uint64_t bytes, std::uint64_t offset) const {
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

EINPARALLEL_VIRTUAL input_file::~input_file() {
    ::close(descriptor_);
}

EINPARALLEL_INLINE output_file::output_file(std::string path) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
        refuse("cannot be opened for writing");
    }
}

EINPARALLEL_INLINE void output_file::refuse(const char* what) const {
    throw error("'" + path_ + "' " + what + ": " + std::generic_category().message(errno));
}

EINPARALLEL_INLINE void output_file::reserve(std::uint64_t bytes) const {
    if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
        refuse("cannot be written");
    }
#if defined(__linux__) && defined(_GNU_SOURCE)
    if (bytes > 0 && ::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) != 0 && errno == ENOSPC) {
        refuse("cannot be written");
    }
#endif
}

EINPARALLEL_INLINE void output_file::write(const void* data, std::uint64_t bytes, std::uint64_t offset) const {
    constexpr std::uint64_t largest_request = std::uint64_t{1} << 30;
    const auto* next = static_cast<const std::byte*>(data);
    for (std::uint64_t done = 0; done < bytes;) {
        const std::uint64_t rest = bytes - done;
        const std::size_t request = static_cast<std::size_t>(rest < largest_request ? rest : largest_request);
        const ssize_t put = ::pwrite(descriptor_, next + done, request, static_cast<off_t>(offset + done));
        if (put < 0 && errno != EINTR) {
            refuse("cannot be written");
        }
        done += put < 0 ? 0 : static_cast<std::uint64_t>(put);
    }
}

EINPARALLEL_INLINE void output_file::close() {
    // Closing writes what is still buffered, so it may be what finds the disk full.
    if (::close(std::exchange(descriptor_, -1)) != 0) {
        refuse("cannot be written");
    }
}

EINPARALLEL_VIRTUAL output_file::~output_file() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
