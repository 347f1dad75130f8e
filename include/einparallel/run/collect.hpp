#pragma once
// Brings the parts of a distributed tensor together, on one rank or on all.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/mpi/transfer.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/run/own_elements.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// One rank's part of a tensor, with its type erased.
struct distributed_part {
    std::shared_ptr<void> keep;  ///< owns the elements; null where the application does
    std::byte* data = nullptr;   ///< the first element of `held`
    box held;                    ///< what this rank holds
    std::vector<index> strides;  ///< of the elements of `held`, in elements
    std::shared_ptr<const distribution> where;
    std::weak_ptr<context_state> world;
};

inline const distributed_part& checked(const distributed_part& part) {
    if (part.where == nullptr) {
        throw error("distributed: this handle holds nothing");
    }
    return part;
}

/// The context of a part. The same on every rank, so what it throws needs no agreement.
inline std::shared_ptr<context_state> context_of(const distributed_part& part) {
    std::shared_ptr<context_state> world = part.world.lock();
    if (world == nullptr || !mpi_is_running()) {
        throw error("distributed: the context of this tensor is gone");
    }
    return world;
}

/// The elements of a part, in memory.
inline strided_box elements_of(const distributed_part& part, std::size_t element_bytes) {
    return {part.data, part.held, part.strides, element_bytes};
}

/// A fingerprint of what a collective call on a part must agree about.
inline std::uint64_t fingerprint_of(const distributed_part& part, std::size_t element_bytes, int root) {
    fingerprint made;
    made.add(static_cast<std::uint64_t>(element_bytes)).add(root);
    for (const index bound : part.where->bounds()) {
        made.add(bound);
    }
    for (int rank = 0; rank < part.where->holders(); ++rank) {
        made.add(part.where->held_by(rank));
    }
    return made.value();
}

/// Collects the tensor on `root`, in a dense array that allocate() makes there. Collective.
template <class Allocate>
void gather_part(const distributed_part& part, std::size_t element_bytes, int root, Allocate&& allocate) {
    const std::shared_ptr<context_state> world = context_of(part);
    const exclusive guard(*world, "gather");
    const int rank = world->payload.rank();
    transfers flight(world->payload);
    std::byte* whole = nullptr;
    elements_to_send mine;
    box_type sent;
    box_type mine_in_whole;
    std::vector<std::pair<int, box_type>> others;
    const std::string failure = failure_of("gather: rank " + std::to_string(rank), [&] {
        if (root < 0 || root >= world->payload.size()) {
            throw error("gather: there is no rank " + std::to_string(root) + " in a context of " +
                        std::to_string(world->payload.size()));
        }
        mine = elements_to_send(elements_of(part, element_bytes));
        sent = mine.seen().elements(part.held);
        if (rank == root) {
            whole = std::forward<Allocate>(allocate)();
            const box everything = whole_box(part.where->bounds());
            mine_in_whole = type_of_box(everything, part.held, element_bytes);
            for (int peer = 0; peer < part.where->holders(); ++peer) {
                box_type theirs = type_of_box(everything, part.where->held_by(peer), element_bytes);
                if (peer != rank && theirs.bytes > 0) {
                    others.emplace_back(peer, std::move(theirs));
                }
            }
        }
        flight.reserve(others.size() + 2);
    });
    agree(world->control, failure,
          {{fingerprint_of(part, element_bytes, root),
            "gather: the ranks do not gather the same tensor to the same root"}});
    for (const auto& [peer, elements] : others) {
        flight.receive(whole, elements, peer);
    }
    if (rank == root && sent.bytes > 0) {
        flight.receive(whole, mine_in_whole, rank);
    }
    if (sent.bytes > 0) {
        flight.send(mine.seen().data, sent, root);
    }
    agree(world->control, failure_of("gather: rank " + std::to_string(rank), [&] { flight.wait(); }));
}

/// Collects the tensor on every rank, in dense arrays that allocate() makes. Collective. In step t a rank sends on what
/// it received in step t-1, first its own part.
template <class Allocate>
void allgather_part(const distributed_part& part, std::size_t element_bytes, Allocate&& allocate) {
    const std::shared_ptr<context_state> world = context_of(part);
    const exclusive guard(*world, "allgather");
    const int rank = world->payload.rank();
    const int size = world->payload.size();
    transfers flight(world->payload);
    std::byte* whole = nullptr;
    elements_to_send mine;
    box_type sent;
    std::vector<box_type> parts;
    const std::string failure = failure_of("allgather: rank " + std::to_string(rank), [&] {
        mine = elements_to_send(elements_of(part, element_bytes));
        sent = mine.seen().elements(part.held);
        whole = std::forward<Allocate>(allocate)();
        const box everything = whole_box(part.where->bounds());
        for (int peer = 0; peer < size; ++peer) {
            parts.push_back(type_of_box(everything, part.where->held_by(peer), element_bytes));
        }
        flight.reserve(2);
    });
    agree(world->control, failure,
          {{fingerprint_of(part, element_bytes, 0), "allgather: the ranks do not gather the same tensor"}});
    std::string lost;
    const auto complete = [&] {
        const std::string now = failure_of("allgather: rank " + std::to_string(rank), [&] { flight.wait(); });
        lost = lost.empty() ? now : lost;
    };
    const auto at = [&](int position) -> const box_type& {
        return parts[static_cast<std::size_t>((position % size + size) % size)];
    };
    if (sent.bytes > 0) {
        flight.receive(whole, at(rank), rank);
        flight.send(mine.seen().data, sent, rank);
        complete();
    }
    for (int step = 0; step + 1 < size; ++step) {
        if (at(rank - step - 1).bytes > 0) {
            flight.receive(whole, at(rank - step - 1), (rank + size - 1) % size);
        }
        if (at(rank - step).bytes > 0) {
            flight.send(whole, at(rank - step), (rank + 1) % size);
        }
        complete();
    }
    agree(world->control, lost);
}

}  // namespace einparallel::detail
