#pragma once

#include <einparallel/data/save_npy.hpp>

#include <einparallel/data/collect.ipp>
#include <einparallel/data/part.ipp>
#include <einparallel/io/file.hpp>
#include <einparallel/io/npy_header.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/datatype.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/tiles.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// An existing file, open for writing on all ranks of a communicator (MPI-IO). Collective, as all calls on it are; each
/// may throw on some ranks only, which the others must be told before the next one that does not close it.
EINPARALLEL_SELDOM MPI_File open_together(const communicator& ranks, const std::string& path) {
#if defined(SMPI_H)
    refuse({"'", path, "' cannot be opened by ranks that SimGrid simulates (", ranks.size(),
            "): their files are simulated, too"});
#else
    MPI_File file = MPI_FILE_NULL;
    check_mpi(MPI_File_open(ranks.native(), path.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &file), "MPI_File_open");
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    return file;
#endif
}

/// Writes the elements that `here` describes in memory, from `data` on, to where `there` has them in the file, from
/// byte `offset` on. Both describe as many elements of so many bytes, on this rank perhaps none.
/// @pre elements in row-major order do not go back in the file; they are 2 GiB at most
EINPARALLEL_SELDOM void write_together(MPI_File file, std::size_t offset, const box_type& there, const void* data,
                                       const box_type& here, std::size_t element_bytes) {
    const auto [unit, unit_bytes] = unit_of(element_bytes);
    const auto type_of = [unit = unit](const box_type& of) { return of.count > 0 ? of.type.native() : unit; };
    const int viewed = MPI_File_set_view(file, static_cast<MPI_Offset>(offset) + there.offset, unit, type_of(there),
                                         "native", MPI_INFO_NULL);
    const auto* first = static_cast<const std::byte*>(data) + here.offset;
    MPI_Status status;
    const int code = MPI_File_write_all(file, first, int(here.count), type_of(here), &status);
    check_mpi(viewed, "MPI_File_set_view");
    check_mpi(code, "MPI_File_write_all");
    MPI_Count written = 0;
    check_mpi(MPI_Get_elements_x(&status, unit, &written), "MPI_Get_elements_x");
    require(std::size_t(written) * std::size_t(unit_bytes) == here.bytes,
            {"MPI_File_write_all wrote ", written * unit_bytes, " of ", here.bytes, " bytes"});
}

EINPARALLEL_SELDOM void save_part(const distributed_part& part, const std::string& path, std::size_t most_bytes) {
    const std::shared_ptr<context_state> world = context_of(part);
    const exclusive guard(*world, "save_npy");
    const communicator& control = world->control;
    const std::vector<index>& bounds = part.where->bounds();
    const element_type element = part.elements.element;
    std::string failure;
    const auto attempt = [&](const std::string& doing, function_ref<void()> f) {
        const std::string thrown = failure_of("", f);
        failure = !failure.empty() || thrown.empty() ? failure : doing + (thrown[0] == ':' ? "" : ": ") + thrown;
    };
    std::string preamble;
    std::vector<std::pair<box_type, box_type>> slices;  // in the file, in memory
    distributed_part here;
    attempt("save_npy", [&] {
        preamble = npy_preamble(element, bounds);
        here = on_host(part);
        const strided_box& elements = here.elements;
        for_each_slab(elements.held, element.bytes, most_bytes, [&](const box& slab) {
            slices.emplace_back(type_of_box(whole_box(bounds), slab, element.bytes),
                                type_of_box(elements.held, slab, element.bytes, largest_count, elements.strides));
        });
    });
    agree(control, failure,
          {{fingerprint().add(fingerprint_of(part, 0)).add(name_of_element(element)).add(path).value(),
            "save_npy: the ranks do not save the same tensor to the same file"}});

    std::optional<output_file> made;  // by rank 0
    attempt("save_npy", [&] {
        if (control.rank() == 0) {
            made.emplace(path);
            made->reserve(preamble.size() + std::uint64_t(whole_box(bounds).size()) * element.bytes);
        }
    });
    agree(control, failure);
    const std::string doing = "save_npy: '" + path + "': rank " + std::to_string(control.rank());
    MPI_File file = MPI_FILE_NULL;
    attempt(doing, [&] { file = open_together(control, path); });
    agree(control, failure);
    std::uint64_t rounds = ~std::uint64_t(slices.size());  // the smallest complement: the most slices
    allreduce_minimum(control, {&rounds, 1});
    slices.resize(std::size_t(~rounds));
    for (const auto& each : slices) {  // clang 14 does not capture structured bindings
        attempt(doing, [&] {
            write_together(file, preamble.size(), each.first, here.elements.data, each.second, element.bytes);
        });
    }
    attempt(doing, [&] { check_mpi(MPI_File_close(&file), "MPI_File_close"); });
    agree(control, failure);
    attempt("save_npy", [&] {
        if (made) {
            made->write(preamble.data(), preamble.size(), 0);
            made->close();
        }
    });
    agree(control, failure);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
