#pragma once

#include <einparallel/data/local_tensor.hpp>

#include <einparallel/array/aliasing.hpp>
#include <einparallel/array/print.hpp>
#include <einparallel/data/memory_source.hpp>
#include <einparallel/data/own_layout.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/text.hpp>
#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM void strided_box::read(const box& region, void* destination, std::string_view what) const {
    if (region.empty()) {
        return;
    }
    require(contains(held, region), {"a tensor (", what, ") ", lies_elsewhere});
    copy_box(extents_of(region), element.bytes, destination, dense_strides(region), first(region), strides);
}

EINPARALLEL_SELDOM std::shared_ptr<vertex> input_in_memory(const local_tensor& given, std::optional<int> root) {
    return input_vertex(given.where == nullptr ? extents_of(given.elements.held) : bounds_of(given),
                        given.elements.element, std::make_shared<memory_source>(given, root));
}

EINPARALLEL_SELDOM const local_tensor& not_given(const donation& elements) {
    static const local_tensor nothing;
    expect(!elements.is_begun,
           "distributed: the elements of this handle were given to a run by ep::bind(W, std::move(w)): bind the result "
           "of the run, or, if it failed, a copy that was kept");
    return elements.value == nullptr ? nothing : *elements.value->origin->local();
}

/// True where a stride is negative and the box is not empty.
EINPARALLEL_SELDOM bool is_backwards(const strided_box& of) {
    return !of.held.empty() && any_in(of.strides, [](index stride) { return stride < 0; });
}

EINPARALLEL_SELDOM const void* strided_box::borrow(const box& region, std::vector<index>& found) const {
    found.clear();
    if (region.empty() || !contains(held, region) || is_backwards(*this)) {
        return nullptr;
    }
    if (!is_dense(extents_of(region), strides.data())) {
        found = strides;
    }
    return first(region);
}

EINPARALLEL_SELDOM strided_box strided_box::at(index_span lower) const {
    strided_box made = *this;
    made.held = box_at(lower, extents_of(held));
    made.held.nothing = made.held.nothing || data == nullptr;
    return made;
}

/// The addresses of the first byte and behind the last one; both are 0 where there is no element.
EINPARALLEL_SELDOM std::pair<std::uintptr_t, std::uintptr_t> memory_of(const strided_box& of) {
    const std::vector<index> extents = extents_of(of.held);
    const strided_block block{of.data, extents, of.strides.data(), of.element};
    return of.held.empty() ? std::pair<std::uintptr_t, std::uintptr_t>() : block.touched();
}

/// True where the address ranges of both, from the first byte to the last one, overlap.
EINPARALLEL_SELDOM bool meet(const strided_box& a, const strided_box& b) {
    const auto [a_begin, a_end] = memory_of(a);
    const auto [b_begin, b_end] = memory_of(b);
    return a_begin < b_end && b_begin < a_end;
}

EINPARALLEL_SELDOM strided_box dense_block(const distribution& where, int rank, element_type element,
                                           std::byte* memory) {
    const box held = where.held_by(rank);
    return {memory, held, dense_strides(held), element};
}

/// The context of a local tensor. Throws where it is gone. That is so on all ranks or on none, so they need no
/// agreement.
EINPARALLEL_SELDOM std::shared_ptr<context_state> context_of(const local_tensor& local) {
    std::shared_ptr<context_state> world = local.world.lock();
    expect(world != nullptr && mpi_is_running(), "distributed: the context of this tensor is gone");
    return world;
}

EINPARALLEL_SELDOM std::string check_target(const strided_box& target) {
    const std::string negative = negative_extent(extents_of(target.held));
    return target.held.nothing || !negative.empty() || !overlaps_itself(extents_of(target.held), target.strides.data())
               ? negative
               : "the view has strides by which several of its elements share one place";
}

/// Copies all elements of `from` to `into`. `space` can access the memory of both.
EINPARALLEL_SELDOM void copy_in(const memory_space& space, const strided_box& into, const strided_box& from) {
    if (!from.held.empty()) {
        space.copy({extents_of(from.held), into.data, into.strides, from.data, from.strides, from.element.bytes});
        space.finish(space.given());
    }
}

/// The memory space in which the elements of a local tensor lie. @throws error where the context has none
EINPARALLEL_SELDOM std::shared_ptr<const memory_space> space_of(const local_tensor& local) {
    if (!local.elements.is_on_device) {
        return {std::shared_ptr<const void>(), &the_host};
    }
    const std::shared_ptr<context_state> world = local.world.lock();
    for (std::size_t each = 0; world != nullptr && each < world->spaces.size(); ++each) {
        if (world->spaces[each]->refuses(local.elements.data, true).empty()) {
            return world->spaces[each];
        }
    }
    throw error(
        "distributed: these elements are on a device, and the host cannot reach them: no run on that device has begun "
        "on their context, or the context is gone");
}

/// Memory on the host that MPI can read and write for a local tensor. It is the tensor's own memory, unless this is on
/// a device, has a negative stride, or `is_shared`; else new dense memory.
EINPARALLEL_SELDOM local_tensor room_on_host(const local_tensor& local, bool is_shared = false) {
    local_tensor made = local;
    if (!local.elements.held.empty() && (local.elements.is_on_device || is_backwards(local.elements) || is_shared)) {
        const auto block = shared_block(space_of(local)->on_host(), local.elements.bytes());
        made.elements = {block->data(), local.elements.held, dense_strides(local.elements.held),
                         local.elements.element};
        made.keep = block;
    }
    return made;
}

EINPARALLEL_SELDOM local_tensor on_host(const local_tensor& local, bool is_shared) {
    local_tensor made = room_on_host(local, is_shared);
    if (made.elements.data != local.elements.data) {
        copy_in(*space_of(local), made.elements, local.elements);
    }
    return made;
}

EINPARALLEL_SELDOM void write_back(const local_tensor& local, const local_tensor& copied) {
    if (copied.elements.data != local.elements.data) {
        copy_in(*space_of(local), local.elements, copied.elements);
    }
}

EINPARALLEL_SELDOM std::ostream& print_tensor(std::ostream& stream, const local_tensor& local) {
    if (local.where == nullptr) {
        return stream << "an empty handle";
    }
    const local_tensor here = on_host(local);
    const box& held = here.elements.held;
    if (held.rank() == 0 && !held.empty()) {
        return print_elements(stream, here.elements.element, here.elements.data, {}, {});
    }
    for (std::size_t dimension = 0; dimension < held.rank() && !held.empty(); ++dimension) {
        const interval& side = held.sides[dimension];
        stream << (dimension == 0 ? "[" : ", ") << side.begin << ':' << side.end;
    }
    stream << (held.empty() ? "nothing" : "]");
    const std::vector<index>& bounds = local.where->bounds();
    stream << (bounds.empty() ? "" : " of ") << numbers_text(bounds, " x ");
    if (!held.empty()) {
        print_elements(stream << '\n', here.elements.element, here.elements.data, extents_of(held),
                       here.elements.strides);
    }
    return stream;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
