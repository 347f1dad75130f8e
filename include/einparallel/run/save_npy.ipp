#pragma once

#include <einparallel/run/save_npy.hpp>

#include <einparallel/io/file.hpp>
#include <einparallel/io/npy_header.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/file.hpp>
#include <einparallel/notation/tiles.hpp>
#include <einparallel/run/collect.ipp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void save_part(const distributed_part& part, element_type element, const std::string& path,
                                  std::size_t most_bytes) {
    const std::shared_ptr<context_state> world = context_of(part);
    const exclusive guard(*world, "save_npy");
    const communicator& control = world->control;
    const std::vector<index>& bounds = part.where->bounds();
    std::string failure;
    const auto attempt = [&](const std::string& doing, function_ref<void()> f) {
        const std::string thrown = failure_of("", f);
        failure = !failure.empty() || thrown.empty() ? failure : doing + (thrown[0] == ':' ? "" : ": ") + thrown;
    };
    std::string preamble;
    std::vector<std::byte> copied;
    std::vector<std::pair<box_type, box_type>> slices;  // in the file, in memory
    distributed_part here;
    strided_box elements;
    attempt("save_npy", [&] {
        preamble = npy_preamble(element, bounds);
        here = on_host(part);
        elements = here.elements;
        if (is_backwards(elements)) {
            copied.resize(static_cast<std::size_t>(elements.held.size()) * element.bytes);
            elements.read(elements.held, copied.data(), "save_npy");
            elements.data = copied.data();
            elements.strides = dense_strides(elements.held);
        }
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
            made->reserve(preamble.size() + static_cast<std::uint64_t>(whole_box(bounds).size()) * element.bytes);
        }
    });
    agree(control, failure);
    const std::string doing = "save_npy: '" + path + "': rank " + std::to_string(control.rank());
    std::optional<shared_file> file;
    attempt(doing, [&] { file.emplace(control, path); });
    agree(control, failure);
    std::uint64_t rounds = ~static_cast<std::uint64_t>(slices.size());  // the smallest complement: the most slices
    allreduce_minimum(control, {&rounds, 1});
    slices.resize(static_cast<std::size_t>(~rounds));
    for (const auto& each : slices) {  // clang 14 does not capture structured bindings
        attempt(doing, [&] { file->write(preamble.size(), each.first, elements.data, each.second, element.bytes); });
    }
    attempt(doing, [&] { file->close(); });
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
