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

/// An MPI datatype. It owns a derived type, but not a predefined one. Move-only.
class datatype {
public:
    datatype() noexcept = default;

    /// Holds a predefined type, which is never freed; or, with `owned`, takes over a type that the caller made.
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

/// `count` copies of `element`, `stride` bytes apart. More than `limit` copies become runs of `limit` copies and a
/// remainder. `limit` is a parameter so that tests reach this case with few elements. @pre limit > 1
EINPARALLEL_INLINE datatype repeat(index count, index stride, const datatype& element, index limit = largest_count);

/// The predefined type that represents elements of this size in messages, and the size of this type in bytes. Both
/// sides of a message choose it by the element size alone. So their type signatures agree, however the elements lie in
/// memory on each side.
EINPARALLEL_INLINE std::pair<MPI_Datatype, index> unit_of(std::size_t element_bytes);

}  // namespace EINPARALLEL_DETAIL

/// Where the elements of a box lie in a buffer, in the form that one MPI call takes.
struct box_type {
    std::ptrdiff_t offset = 0;  ///< bytes from the start of the buffer to the first element
    index count = 0;            ///< the number of elements of `type`
    datatype type;              ///< a predefined type where the elements are contiguous, else a committed derived type
    std::size_t bytes = 0;      ///< bytes that a message of the box has
};

/// Describes the elements of `region` in a buffer that holds `whole`: dense and row-major, or with `strides` in
/// elements, in any order of dimensions. An empty region gives a count of 0.
/// @pre contains(whole, region); no stride is negative (Open MPI 4.1 gets those wrong for elements of one byte)
EINPARALLEL_INLINE box_type type_of_box(const box& whole, const box& region, std::size_t element_bytes,
                                        index limit = detail::largest_count, std::vector<index> strides = {});

}  // namespace einparallel
