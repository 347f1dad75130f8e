#pragma once
// Files that are open for reading or for writing, as owned objects, and all of their system calls.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// A file descriptor and the path that it was opened by.
class open_file : private not_copied {
public:
    [[nodiscard]] const std::string& path() const { return path_; }

    /// Copies exactly `bytes` bytes that begin at `offset`.
    /// @throws error where the file ends before, or the system reports a failure
    EINPARALLEL_INLINE void read(void* destination, std::uint64_t bytes, std::uint64_t offset) const {
        auto* const first = static_cast<std::byte*>(destination);
        const std::uint64_t done = move_all(bytes, "cannot be read", [&](std::uint64_t at, std::size_t wanted) {
            return ::pread(descriptor_, first + at, wanted, off_t(offset + at));
        });
        if (done < bytes) {
            struct stat now {};
            static_cast<void>(::fstat(descriptor_, &now));
            require(false, {"'", path_, "' became shorter after it was opened: it has ", std::uint64_t(now.st_size),
                            " bytes now, and bytes up to ", offset + bytes, " are wanted"});
        }
    }

    /// @throws error where the file was written to since it was opened for reading
    EINPARALLEL_INLINE void require_unchanged() const {
        struct stat now {};
        const bool is_known = status_.st_mtim.tv_sec != 0 && ::fstat(descriptor_, &now) == 0;
        require(!is_known || (now.st_mtim.tv_sec == status_.st_mtim.tv_sec &&
                              now.st_mtim.tv_nsec == status_.st_mtim.tv_nsec && now.st_size == status_.st_size),
                {"'", path_, "' was changed after it was opened: it had ", std::uint64_t(status_.st_size),
                 " bytes and has ", std::uint64_t(now.st_size)});
    }

    /// Writes exactly `bytes` bytes from `offset` on. @throws error
    EINPARALLEL_INLINE void write(const void* data, std::uint64_t bytes, std::uint64_t offset) const {
        const auto* const first = static_cast<const std::byte*>(data);
        const std::uint64_t done = move_all(bytes, unwritten, [&](std::uint64_t at, std::size_t given) {
            return ::pwrite(descriptor_, first + at, given, off_t(offset + at));
        });
        if (done < bytes) {
            errno = EIO;
            refuse(unwritten);
        }
    }

    /// Returns when what was written is on the disk. @throws error
    EINPARALLEL_INLINE void flush() const {
        if (::fdatasync(descriptor_) != 0) {
            refuse(unwritten);
        }
    }

    /// Tells the system that these bytes will not be read again soon: it need not hold them in its cache. Bytes that
    /// were written begin to go to the disk.
    EINPARALLEL_INLINE void drop(std::uint64_t bytes, std::uint64_t offset) const {
#if defined(__linux__) && defined(_GNU_SOURCE)
        static_cast<void>(::sync_file_range(descriptor_, off64_t(offset), off64_t(bytes), SYNC_FILE_RANGE_WRITE));
#endif
        // The cache holds stretches of up to 2 MiB that begin at multiples of their length, and drops only whole ones:
        // also that in which the bytes begin. The one in which they end may have been read ahead.
        constexpr std::uint64_t stretch = std::uint64_t{2} << 20;
        const std::uint64_t begin = offset / stretch * stretch;
        static_cast<void>(
            ::posix_fadvise(descriptor_, off_t(begin), off_t(offset + bytes - begin), POSIX_FADV_DONTNEED));
    }

protected:
    /// A file that is open already. @throws error with the text `failure` where `descriptor` is negative
    EINPARALLEL_INLINE open_file(int descriptor, std::string path, const char* failure)
        : path_(std::move(path)), descriptor_(descriptor) {
        if (descriptor_ < 0) {
            refuse(failure);
        }
    }
    /// Opens the file. @throws error with the text `failure` where it cannot be opened
    EINPARALLEL_INLINE open_file(std::string path, int flags, const char* failure)
        : path_(std::move(path)), descriptor_(::open(path_.c_str(), flags | O_CLOEXEC, 0666)) {
        if (descriptor_ < 0) {
            refuse(failure);
        }
    }
    ~open_file() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }

    /// Throws error with the path, the text `what` and the system's own words for errno.
    EINPARALLEL_INLINE [[noreturn]] void refuse(const char* what) const {
        throw error("'" + path_ + "' " + what + ": " + std::generic_category().message(errno));
    }

    /// Moves `bytes` bytes by calls of call(bytes done so far, bytes wanted), which returns the number of bytes that it
    /// moved, or less than 0 for a failure. Stops where a call moves none. Returns the number of bytes moved.
    /// @throws error with the text `failure` where a call fails
    std::uint64_t move_all(std::uint64_t bytes, const char* failure, auto call) const {
        // Linux moves at most 2 GiB - 4 KiB a call, whatever is asked for.
        constexpr std::uint64_t largest_request = std::uint64_t{1} << 30;
        std::uint64_t done = 0;
        for (ssize_t moved = 1; done < bytes && moved != 0; done += moved < 0 ? 0 : std::uint64_t(moved)) {
            moved = call(done, std::size_t(std::min(bytes - done, largest_request)));
            if (moved < 0 && errno != EINTR) {
                refuse(failure);
            }
        }
        return done;
    }

    static constexpr const char* unwritten = "cannot be written";

    std::string path_;
    int descriptor_;
    struct stat status_ {};  ///< of a file that is read: its state when it was opened
};

/// Reads a regular file at any position. Reading does not move a cursor, so threads may read at once.
class input_file : public open_file {
public:
    /// @throws error where the path names no file that can be read
    EINPARALLEL_INLINE explicit input_file(std::string path)
        : open_file(std::move(path), O_RDONLY | O_NONBLOCK, "cannot be opened") {  // a pipe is refused, not waited for
        require(::fstat(descriptor_, &status_) == 0 && S_ISREG(status_.st_mode),
                {"'", path_, "' is not a regular file"});
    }

    /// Bytes in the file when it was opened.
    [[nodiscard]] std::uint64_t size() const { return std::uint64_t(status_.st_size); }
};

/// A file without a name in a folder, for this process alone. It is gone when it is closed, also where the process
/// dies.
class scratch_file : public open_file {
public:
    /// @throws error where no file can be made in the folder
    EINPARALLEL_INLINE explicit scratch_file(const std::string& folder)
        : open_file(opened(folder), folder, "cannot hold scratch files") {}

    /// Makes the file `bytes` bytes long, and keeps room for them on the disk.
    /// @throws error where there is too little room
    EINPARALLEL_INLINE void reserve(std::uint64_t bytes) const {
        errno = bytes == 0 ? 0 : ::posix_fallocate(descriptor_, 0, off_t(bytes));
        if (errno != 0) {
            refuse(("cannot hold " + std::to_string(bytes) + " bytes of scratch files").c_str());
        }
    }

private:
    static int opened(const std::string& folder) {
        constexpr int mine = 0600;
#if defined(O_TMPFILE)
        if (const int made = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mine); made >= 0) {
            return made;
        }
#endif
        std::string name = folder + "/einparallel-XXXXXX";
        const int made = ::mkstemp(name.data());
        if (made >= 0) {
            ::unlink(name.c_str());
            ::fcntl(made, F_SETFD, FD_CLOEXEC);
        }
        return made;
    }
};

/// Writes a new file, at any position. The old contents of a file of this name are lost.
class output_file : public open_file {
public:
    /// @throws error where the path names no file that can be written
    EINPARALLEL_INLINE explicit output_file(std::string path)
        : open_file(std::move(path), O_RDWR | O_CREAT | O_TRUNC, "cannot be opened for writing") {}

    /// Makes the file `bytes` bytes long, all zeroes. Where the system can promise it, there is room for them on the
    /// disk.
    /// @throws error
    EINPARALLEL_INLINE void reserve(std::uint64_t bytes) const {
        if (::ftruncate(descriptor_, off_t(bytes)) != 0) {
            refuse(unwritten);
        }
#if defined(__linux__) && defined(_GNU_SOURCE)
        if (bytes > 0 && ::fallocate(descriptor_, 0, 0, off_t(bytes)) != 0 && errno == ENOSPC) {
            refuse(unwritten);
        }
#endif
    }

    /// Closes the file. The system may write buffered bytes only now, and find that the disk is full.
    /// @throws error where the system could not write after all
    EINPARALLEL_INLINE void close() {
        if (::close(std::exchange(descriptor_, -1)) != 0) {
            refuse(unwritten);
        }
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL
