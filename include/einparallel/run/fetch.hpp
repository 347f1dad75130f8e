#pragma once
// Brings elements of a distributed tensor to the ranks that ask for them, in boxes given rank by rank.

#include <einparallel/kernel/aliasing.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/mpi/transfer.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/collect.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/own_elements.hpp>
#include <einparallel/run/own_layout.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// What is wrong with memory to write to; empty where nothing is.
inline std::string check_target(const box& wanted, std::span<const index> strides) {
    std::vector<index> extents;
    for (const interval& side : wanted.sides) {
        extents.push_back(side.size());
    }
    if (wanted.nothing || !shares_places(extents, strides)) {
        return {};
    }
    return "the view has strides by which several of its elements share one place";
}

/// Brings `wanted.held_by(rank)` of a tensor to where place() says, which also allocates. Boxes of different ranks may
/// overlap. Collective; `wanted` and what is known of `part` are the same on every rank. Messages go straight from who
/// holds to who wants, one for each pair of ranks whose boxes meet: nothing is sent that is not wanted, and between
/// strided memory without copies. Where the target meets the memory of the tensor itself (ghost cells around its own
/// block), what others want of it is copied first.
/// Returns the bytes that this rank sent.
template <class Place>
std::size_t fetch_boxes(context_state& world, const distributed_part& part, std::size_t element_bytes,
                        const distribution& wanted, Place&& place) {
    struct prepared {
        int peer;
        box_type elements;
    };
    const int rank = world.payload.rank();
    const std::string doing = "fetch: rank " + std::to_string(rank);
    transfers flight(world.payload);
    strided_box target;
    strided_box arriving;  // the target, or what stands in for it
    dense_stand_in stand_in;
    elements_to_send held;
    std::vector<prepared> receives;
    std::vector<prepared> sends;
    box kept = no_box(wanted.bounds().size());
    agree(world.control, failure_of(doing, [&] {
              target = place();
              const strided_box original = elements_of(part, element_bytes);
              held = elements_to_send(original, original.meets(target));
              arriving = target.held.empty() || !target.backwards() ? target : stand_in.of(target);
              for (const int owner : part.where->ranks_meeting(target.held)) {
                  const box common = intersect(part.where->held_by(owner), target.held);
                  if (owner == rank) {
                      kept = common;
                  } else {
                      receives.push_back({owner, arriving.elements(common)});
                  }
              }
              for (const int reader : wanted.ranks_meeting(part.held)) {
                  if (reader != rank) {
                      const box common = intersect(part.held, wanted.held_by(reader));
                      sends.push_back({reader, held.seen().elements(common)});
                  }
              }
              flight.reserve(receives.size() + sends.size());
          }));
    for (const prepared& each : receives) {
        flight.receive(arriving.data, each.elements, each.peer);
    }
    for (const prepared& each : sends) {
        flight.send(held.seen().data, each.elements, each.peer);
    }
    copy_part(arriving, held.seen(), kept);
    const std::string failure = failure_of(doing, [&] { flight.wait(); });
    if (arriving.data != target.data) {
        copy_part(target, arriving, target.held);
    }
    agree(world.control, failure);
    return flight.bytes_sent();
}

/// The same for boxes that only their own ranks know. `mistake`: what this rank has found wrong already; empty where
/// nothing is. Collective. @throws error, the same on every rank
template <class Place>
std::size_t fetch_part(const distributed_part& part, std::size_t element_bytes, const box& mine,
                       const std::string& mistake, Place&& place) {
    const std::shared_ptr<context_state> world = context_of(part);
    const exclusive guard(*world, "fetch");
    const communicator& control = world->control;
    const std::vector<index>& bounds = part.where->bounds();
    const distribution wanted = exchange_boxes(
        control, "fetch", mistake.empty() ? mistake : "fetch: rank " + std::to_string(control.rank()) + ": " + mistake,
        {{fingerprint_of(part, element_bytes, 0), "fetch: the ranks do not fetch from the same tensor"},
         {0, "fetch: the ranks do not fetch into the same tensor"}},
        bounds, mine, [&](std::vector<box> boxes) {
            const std::string outside = check_inside("fetch", bounds, boxes);
            if (!outside.empty()) {
                throw error(outside);
            }
            return distribution(bounds, std::move(boxes));
        });
    return fetch_boxes(*world, part, element_bytes, wanted, std::forward<Place>(place));
}

/// The same for the boxes of another distributed tensor, which all ranks know, into its memory.
template <class Lazy = void>
std::size_t fetch_like(const distributed_part& part, std::size_t element_bytes, const distributed_part& there) {
    const std::shared_ptr<context_state> world = context_of(part);
    const exclusive guard(*world, "fetch");
    std::uint64_t target = 0;
    const std::string failure = failure_of("fetch", [&] {
        if (there.where == nullptr) {
            throw error("fetch: the target is a handle on nothing");
        }
        if (context_of(there) != world) {
            throw error("fetch: the target is distributed over another context");
        }
        const std::vector<index>& bounds = part.where->bounds();
        for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
            if (there.where->bounds()[dimension] != bounds[dimension]) {
                throw error("fetch: the target has extent " + std::to_string(there.where->bounds()[dimension]) +
                            " in dimension " + std::to_string(dimension) + ", the tensor has " +
                            std::to_string(bounds[dimension]));
            }
        }
        target = fingerprint_of(there, element_bytes, 0);
    });
    agree(world->control, failure,
          {{fingerprint_of(part, element_bytes, 0), "fetch: the ranks do not fetch from the same tensor"},
           {target, "fetch: the ranks do not fetch into the same tensor"}});
    return fetch_boxes(*world, part, element_bytes, *there.where, [&] { return elements_of(there, element_bytes); });
}

}  // namespace einparallel::detail
