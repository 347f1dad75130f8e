#pragma once
// MPI datatypes for strided boxes of elements, of any size.

#include <einparallel/mpi/error.hpp>
#include <einparallel/notation/box.hpp>

#include <mpi.h>

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace einparallel {

/// Owns an MPI datatype; predefined types are held without being owned. Move-only.
class datatype {
public:
    datatype() noexcept = default;

    /// A predefined type, never freed.
    static datatype predefined(MPI_Datatype type) noexcept {
        datatype held;
        held.handle_ = type;
        return held;
    }

    /// Takes over a type that the caller made.
    static datatype owning(MPI_Datatype type) noexcept {
        datatype held = predefined(type);
        held.owned_ = true;
        return held;
    }

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

    void commit() {
        if (owned_) {
            detail::check_mpi(MPI_Type_commit(&handle_), "MPI_Type_commit");
        }
    }

private:
    void release() noexcept {
        if (owned_ && handle_ != MPI_DATATYPE_NULL && detail::mpi_is_running()) {
            MPI_Type_free(&handle_);
        }
        handle_ = MPI_DATATYPE_NULL;
        owned_ = false;
    }

    MPI_Datatype handle_ = MPI_DATATYPE_NULL;
    bool owned_ = false;
};

namespace detail {

/// The largest count that one MPI call of this library's takes: MPI 4 has calls with wide counts.
#if MPI_VERSION >= 4
inline constexpr index largest_count = std::numeric_limits<index>::max();
#else
inline constexpr index largest_count = std::numeric_limits<int>::max();
#endif

/// `count` copies of `element`, `stride` bytes apart. @pre 0 < count <= largest_count
inline datatype repeat_directly(index count, index stride, const datatype& element) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
#if MPI_VERSION >= 4
    check_mpi(MPI_Type_create_hvector_c(count, 1, stride, element.native(), &made), "MPI_Type_create_hvector_c");
#else
    check_mpi(
        MPI_Type_create_hvector(static_cast<int>(count), 1, static_cast<MPI_Aint>(stride), element.native(), &made),
        "MPI_Type_create_hvector");
#endif
    return datatype::owning(made);
}

/// The same for any count: more than `limit` are taken as full runs of `limit` and a remainder. `limit` is a parameter
/// so that tests reach that branch with few elements. @pre limit > 1
inline datatype repeat(index count, index stride, const datatype& element, index limit = largest_count) {
    if (count <= limit) {
        return repeat_directly(count, stride, element);
    }
    const index runs = count / limit;
    const index rest = count % limit;
    const datatype run = repeat_directly(limit, stride, element);
    datatype full = repeat(runs, stride * limit, run, limit);
    if (rest == 0) {
        return full;
    }
    const datatype remainder = repeat_directly(rest, stride, element);
    const std::array<int, 2> lengths{1, 1};
    const std::array<MPI_Aint, 2> displacements{0, static_cast<MPI_Aint>(runs * limit * stride)};
    const std::array<MPI_Datatype, 2> parts{full.native(), remainder.native()};
    MPI_Datatype made = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_create_struct(2, lengths.data(), displacements.data(), parts.data(), &made),
              "MPI_Type_create_struct");
    return datatype::owning(made);
}

/// The predefined type that elements of this size are counted in, and its size. Both sides of a message choose it by
/// the element size alone, so their type signatures agree however each side lies in memory.
inline std::pair<MPI_Datatype, index> unit_of(std::size_t element_bytes) {
    if (element_bytes % 8 == 0) {
        return {MPI_UINT64_T, 8};
    }
    if (element_bytes % 4 == 0) {
        return {MPI_UINT32_T, 4};
    }
    if (element_bytes % 2 == 0) {
        return {MPI_UINT16_T, 2};
    }
    return {MPI_BYTE, 1};
}

}  // namespace detail

/// Where the elements of a box lie, counted from the buffer's first byte, as one MPI call takes it.
struct box_type {
    std::ptrdiff_t offset = 0;  ///< bytes from the start of the buffer to the first element
    index count = 0;            ///< how many of `type`
    datatype type;              ///< a predefined type where the elements are contiguous, else a derived one, committed
    std::size_t bytes = 0;      ///< bytes that travel
};

/// The elements at offset + Σ i[d]·strides[d] bytes, 0 <= i[d] < extents[d], in row-major order of i. Strides are in
/// bytes, in any order. An empty box gives a count of 0.
/// @pre no stride is negative (Open MPI 4.1 gets those wrong for elements of one byte)
inline box_type type_of_strided(std::span<const index> extents, std::span<const index> strides,
                                std::size_t element_bytes, std::ptrdiff_t offset = 0,
                                index limit = detail::largest_count) {
    const auto [unit, unit_bytes] = detail::unit_of(element_bytes);
    const index element = static_cast<index>(element_bytes);
    box_type made;
    made.offset = offset;
    made.type = datatype::predefined(unit);
    index total = 1;
    for (const index length : extents) {
        total *= length;
    }
    if (total <= 0) {
        return made;
    }
    made.bytes = static_cast<std::size_t>(total) * element_bytes;

    // Innermost first: what continues the contiguous run joins it, what continues the dimension inside joins that one.
    struct side {
        index length;
        index stride;
    };
    index run = element;
    std::vector<side> sides;
    for (std::size_t dimension = extents.size(); dimension-- > 0;) {
        const index length = extents[dimension];
        const index stride = strides[dimension];
        if (length == 1) {
            continue;
        }
        if (sides.empty() && stride == run) {
            run *= length;
        } else if (!sides.empty() && stride == sides.back().stride * sides.back().length) {
            sides.back().length *= length;
        } else {
            sides.push_back({length, stride});
        }
    }
    made.count = run / unit_bytes;
    if (sides.empty() && made.count <= limit) {
        return made;
    }
    if (made.count > 1) {
        made.type = detail::repeat(made.count, unit_bytes, made.type, limit);
    }
    made.count = 1;
    for (const side& each : sides) {
        made.type = detail::repeat(each.length, each.stride, made.type, limit);
    }
    made.type.commit();
    return made;
}

/// The elements of `region` in a dense row-major buffer over `place`.
/// @pre contains(place, region)
inline box_type type_of_box(const box& place, const box& region, std::size_t element_bytes,
                            index limit = detail::largest_count) {
    if (region.empty()) {
        return type_of_strided(std::array<index, 1>{0}, std::array<index, 1>{0}, element_bytes, 0, limit);
    }
    std::vector<index> strides = dense_strides(place);
    std::vector<index> extents(region.rank());
    std::ptrdiff_t offset = 0;
    for (std::size_t dimension = 0; dimension < region.rank(); ++dimension) {
        strides[dimension] *= static_cast<index>(element_bytes);
        extents[dimension] = region.sides[dimension].size();
        offset += (region.sides[dimension].begin - place.sides[dimension].begin) * strides[dimension];
    }
    return type_of_strided(extents, strides, element_bytes, offset, limit);
}

}  // namespace einparallel
