#pragma once
// MPI datatypes for strided boxes of elements, of any size.

#include <einparallel/mpi/error.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <mpi.h>

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace einparallel {

/// Owns an MPI datatype; predefined types are held without being owned. Move-only.
class datatype {
public:
    datatype() noexcept = default;

    /// A predefined type, never freed; or, `owned`, one that the caller made and gives away.
    explicit datatype(MPI_Datatype type, bool owned = false) noexcept : handle_(type), owned_(owned) {}

    datatype(datatype&& other) noexcept
        : handle_(std::exchange(other.handle_, MPI_DATATYPE_NULL)), owned_(std::exchange(other.owned_, false)) {}
    datatype& operator=(datatype&& other) noexcept {
        if (this != &other) {
            release();
            handle_ = std::exchange(other.handle_, MPI_DATATYPE_NULL);
            owned_ = std::exchange(other.owned_, false);
        }
        return *this;
    }
    datatype(const datatype&) = delete;
    datatype& operator=(const datatype&) = delete;
    ~datatype() { release(); }

    [[nodiscard]] MPI_Datatype native() const noexcept { return handle_; }

    EINPARALLEL_INLINE void commit() {
        if (owned_) {
            detail::check_mpi(MPI_Type_commit(&handle_), "MPI_Type_commit");
        }
    }

private:
    EINPARALLEL_INLINE void release() noexcept {
        if (owned_ && handle_ != MPI_DATATYPE_NULL && detail::mpi_is_running()) {
            MPI_Type_free(&handle_);
        }
    }

    MPI_Datatype handle_ = MPI_DATATYPE_NULL;
    bool owned_ = false;
};

namespace EINPARALLEL_DETAIL {

/// The largest count that one MPI call of this library's takes: MPI 4 has calls with wide counts.
#if MPI_VERSION >= 4
inline constexpr index largest_count = std::numeric_limits<index>::max();
#else
inline constexpr index largest_count = std::numeric_limits<int>::max();
#endif

/// The same for any count: more than `limit` are taken as full runs of `limit` and a remainder. `limit` is a parameter
/// so that tests reach that branch with few elements. @pre limit > 1
EINPARALLEL_INLINE datatype repeat(index count, index stride, const datatype& element, index limit = largest_count);

/// The predefined type that elements of this size are counted in, and its size. Both sides of a message choose it by
/// the element size alone, so their type signatures agree however each side lies in memory.
EINPARALLEL_INLINE std::pair<MPI_Datatype, index> unit_of(std::size_t element_bytes);

}  // namespace EINPARALLEL_DETAIL

/// Where the elements of a box lie, counted from the buffer's first byte, as one MPI call takes it.
struct box_type {
    std::ptrdiff_t offset = 0;  ///< bytes from the start of the buffer to the first element
    index count = 0;            ///< how many of `type`
    datatype type;              ///< a predefined type where the elements are contiguous, else a derived one, committed
    std::size_t bytes = 0;      ///< bytes that travel
};

/// The elements of `region` in a buffer over `place`, dense and row-major or with these strides, in elements and in any
/// order. An empty region gives a count of 0.
/// @pre contains(place, region); no stride is negative (Open MPI 4.1 gets those wrong for elements of one byte)
EINPARALLEL_INLINE box_type type_of_box(const box& place, const box& region, std::size_t element_bytes,
                                        index limit = detail::largest_count, std::vector<index> strides = {});

}  // namespace einparallel
