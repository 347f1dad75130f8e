#pragma once

#include <einparallel/mpi/datatype.hpp>

#include <array>

namespace einparallel::EINPARALLEL_DETAIL {

/// `count` copies of `element`, `stride` bytes apart. @pre 0 < count <= largest_count
/// Copies without gaps become a contiguous type: MPICH moves the blocks of a vector type one by one (1024 rows of 8
/// KiB: 40 ms instead of 4).
EINPARALLEL_SELDOM datatype repeat_directly(index count, index stride, const datatype& element) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const MPI_Datatype one = element.native();
    std::array<MPI_Count, 2> bounds{};
    check_mpi(MPI_Type_get_extent_x(one, &bounds[0], &bounds[1]), "MPI_Type_get_extent_x");
    const int number = int(count);
    if (index(bounds[1]) == stride) {
        check_mpi(MPI_Type_contiguous(number, one, &made), "MPI_Type_contiguous");
    } else {
        check_mpi(MPI_Type_create_hvector(number, 1, MPI_Aint(stride), one, &made), "MPI_Type_create_hvector");
    }
    return datatype(made, true);
}

EINPARALLEL_SELDOM datatype repeat(index count, index stride, const datatype& element, index limit) {
    if (count <= limit) {
        return repeat_directly(count, stride, element);
    }
    const index runs = count / limit;
    const index rest = count % limit;
    datatype full = repeat(runs, stride * limit, repeat_directly(limit, stride, element), limit);
    if (rest == 0) {
        return full;
    }
    const datatype remainder = repeat_directly(rest, stride, element);
    const int lengths[] = {1, 1};
    const MPI_Aint displacements[] = {0, MPI_Aint(runs * limit * stride)};
    const MPI_Datatype types[] = {full.native(), remainder.native()};
    MPI_Datatype made = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_create_struct(2, lengths, displacements, types, &made), "MPI_Type_create_struct");
    return datatype(made, true);
}

EINPARALLEL_SELDOM std::pair<MPI_Datatype, index> unit_of(std::size_t element_bytes) {
    using unit = std::pair<MPI_Datatype, index>;
    return element_bytes % 8 == 0   ? unit{MPI_UINT64_T, 8}
           : element_bytes % 4 == 0 ? unit{MPI_UINT32_T, 4}
           : element_bytes % 2 == 0 ? unit{MPI_UINT16_T, 2}
                                    : unit{MPI_BYTE, 1};
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_SELDOM box_type type_of_box(const box& whole, const box& region, std::size_t element_bytes, index limit,
                                        std::vector<index> strides) {
    const auto [unit, unit_bytes] = detail::unit_of(element_bytes);
    box_type made;
    made.type = datatype(unit);
    if (region.empty()) {
        return made;
    }
    made.bytes = std::size_t(region.size()) * element_bytes;
    strides = strides.empty() ? dense_strides(whole) : std::move(strides);

    // Innermost first: what continues the contiguous run joins it, what continues the dimension inside joins that one.
    struct side {
        index length;
        index stride;
    };
    index run = index(element_bytes);
    std::vector<side> sides;
    for (std::size_t dimension = region.rank(); dimension-- > 0;) {
        const index length = region.sides[dimension].size();
        const index stride = strides[dimension] * index(element_bytes);
        made.offset += (region.sides[dimension].begin - whole.sides[dimension].begin) * stride;
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
    MPI_Datatype derived = made.type.native();
    detail::check_mpi(MPI_Type_commit(&derived), "MPI_Type_commit");
    return made;
}

}  // namespace einparallel
