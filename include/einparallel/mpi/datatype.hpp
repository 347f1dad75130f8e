#pragma once
// MPI datatypes for strided boxes of elements, of any size.

#include <einparallel/mpi/error.hpp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

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

    datatype(datatype&& other) noexcept { *this = std::move(other); }
    datatype& operator=(datatype&& other) noexcept {
        std::swap(handle_, other.handle_);
        std::swap(owned_, other.owned_);
        return *this;
    }
    ~datatype() {
        if (owned_ && detail::mpi_is_running()) {
            MPI_Type_free(&handle_);
        }
    }

    [[nodiscard]] MPI_Datatype native() const noexcept { return handle_; }

private:
    MPI_Datatype handle_ = MPI_DATATYPE_NULL;
    bool owned_ = false;
};

namespace EINPARALLEL_DETAIL {

/// The largest count that one MPI call takes. (MPI 4's calls with wide counts are not used: MPICH 4.0's MPI-IO does not
/// know their types.)
inline constexpr index largest_count = std::numeric_limits<int>::max();

/// `count` copies of `element`, `stride` bytes apart: more than `limit` are taken as full runs of `limit` and a
/// remainder. `limit` is a parameter so that tests reach that branch with few elements. @pre limit > 1
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

/// The elements of `region` in a buffer over `whole`, dense and row-major or with these strides, in elements and in any
/// order. An empty region gives a count of 0.
/// @pre contains(whole, region); no stride is negative (Open MPI 4.1 gets those wrong for elements of one byte)
EINPARALLEL_INLINE box_type type_of_box(const box& whole, const box& region, std::size_t element_bytes,
                                        index limit = detail::largest_count, std::vector<index> strides = {});

}  // namespace einparallel
