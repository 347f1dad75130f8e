#pragma once

#include <einparallel/data/files/save.hpp>

#include <einparallel/data/collect.ipp>
#include <einparallel/data/local_tensor.ipp>
#include <einparallel/io/file.hpp>
#include <einparallel/io/npy_header.hpp>
#include <einparallel/io/safetensors.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/datatype.hpp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/notation/tiles.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Opens an existing file for writing on all ranks of a communicator (MPI-IO). This call and all calls on the file are
/// collective. Each may throw on some ranks only: the ranks must agree about that before the next call, unless it
/// closes the file.
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

/// Writes elements from memory to the file. `here` describes where they lie in memory, relative to `data`. `there`
/// describes where they belong in the file, relative to byte `offset`. Both describe the same number of elements of
/// `element_bytes` bytes; it may be 0 on this rank.
/// @pre in row-major order the elements have ascending places in the file; they have at most 2 GiB
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

/// Writes a preamble and then the tensors, one after the other. `who` is the call that errors name. `same` must be the
/// same on all ranks.
EINPARALLEL_SELDOM void save_tensors(const std::string& who, const std::string& path,
                                     std::span<const local_tensor> tensors, fingerprint same,
                                     function_ref<std::string()> write_preamble, std::size_t most_bytes) {
    const std::shared_ptr<context_state> world = context_of(tensors.front());
    const exclusive guard(*world, who.c_str());
    const communicator& control = world->control;
    std::string failure;
    const auto attempt = [&](const std::string& doing, function_ref<void()> f) {
        const std::string thrown = failure_of("", f);
        failure = !failure.empty() || thrown.empty() ? failure : doing + (thrown[0] == ':' ? "" : ": ") + thrown;
    };
    struct file_slab {
        std::size_t local;
        std::uint64_t begin;  ///< byte after the preamble at which the tensor begins
        box_type there;       ///< in the file
        box_type here;        ///< in memory
    };
    std::string preamble;
    std::vector<file_slab> slabs;
    std::vector<local_tensor> own;
    std::uint64_t bytes = 0;  // of all elements
    attempt(who, [&] {
        preamble = write_preamble();
        for (const local_tensor& local : tensors) {
            require(context_of(local) == world, {"the tensors are not of one context"});
            const std::vector<index>& bounds = local.where->bounds();
            const std::size_t element_bytes = local.elements.element.bytes;
            own.push_back(on_host(local));
            const strided_box& elements = own.back().elements;
            for_each_slab(elements.held, element_bytes, most_bytes, [&](const box& slab) {
                slabs.push_back({own.size() - 1, bytes, type_of_box(whole_box(bounds), slab, element_bytes),
                                 type_of_box(elements.held, slab, element_bytes, largest_count, elements.strides)});
            });
            bytes += std::uint64_t(whole_box(bounds).size()) * element_bytes;
        }
    });
    for (const local_tensor& local : tensors) {
        same.add(fingerprint_of(local, 0)).add(name_of_element(local.elements.element));
    }
    agree(control, failure,
          {{same.add(path).value(), who + ": the ranks do not save the same tensor to the same file"}});

    std::optional<output_file> made;  // by rank 0
    attempt(who, [&] {
        if (control.rank() == 0) {
            made.emplace(path);
            made->reserve(preamble.size() + bytes);
        }
    });
    agree(control, failure);
    const std::string doing = who + ": '" + path + "': rank " + std::to_string(control.rank());
    MPI_File file = MPI_FILE_NULL;
    attempt(doing, [&] { file = open_together(control, path); });
    agree(control, failure);
    std::uint64_t rounds = ~std::uint64_t(slabs.size());  // the smallest complement belongs to the most slabs
    allreduce_minimum(control, {&rounds, 1});
    slabs.resize(std::size_t(~rounds));
    for (const file_slab& each : slabs) {
        const strided_box& elements = own[each.local].elements;
        attempt(doing, [&] {
            write_together(file, preamble.size() + each.begin, each.there, elements.data, each.here,
                           elements.element.bytes);
        });
    }
    attempt(doing, [&] { check_mpi(MPI_File_close(&file), "MPI_File_close"); });
    agree(control, failure);
    attempt(who, [&] {
        if (made) {
            made->write(preamble.data(), preamble.size(), 0);
            made->close();
        }
    });
    agree(control, failure);
}

EINPARALLEL_SELDOM void save_tensor(const local_tensor& local, const std::string& path, std::size_t most_bytes) {
    save_tensors(
        "save_npy", path, {&local, 1}, {}, [&] { return npy_preamble(local.elements.element, local.where->bounds()); },
        most_bytes);
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_SELDOM void save_safetensors(const std::string& path, const std::vector<saved_tensor>& tensors,
                                         const std::map<std::string, std::string>& metadata) {
    std::string mistake;  // which the other ranks are told
    std::vector<saved_tensor> all;
    for (const saved_tensor& each : tensors) {
        if (each.local.where != nullptr) {
            all.push_back(each);
        } else {
            mistake = detail::sentence({"'", each.name, "' is an empty handle"});
        }
    }
    detail::require(!all.empty(), {"save_safetensors: ", tensors.empty() ? "no tensor is given" : mistake});
    detail::sort_range(all, [](const saved_tensor& a, const saved_tensor& b) {
        return std::pair(b.local.elements.element.bytes, std::string_view(a.name)) <
               std::pair(a.local.elements.element.bytes, std::string_view(b.name));
    });
    const std::vector<std::string> names = detail::list_of(all, &saved_tensor::name);
    detail::fingerprint same;
    for (const std::string& name : names) {
        if (detail::count_in(names, name) > 1) {
            mistake = detail::sentence({"two tensors are called '", name, "'"});
        }
        same.add(name);
    }
    for (const auto& [name, value] : metadata) {
        same.add(name).add(value);
    }
    const auto preamble = [&] {
        detail::expect(mistake.empty(), mistake);
        const auto types = detail::list_of(all, [](const saved_tensor& each) { return each.local.elements.element; });
        const auto shapes = detail::list_of(all, [](const saved_tensor& each) { return each.local.where->bounds(); });
        return detail::safetensors_preamble(names, types, shapes, metadata);
    };
    detail::save_tensors("save_safetensors", path, detail::list_of(all, &saved_tensor::local),
                         same.add(names.size()).add(metadata.size()), preamble, std::size_t{1} << 30);
}

}  // namespace einparallel
