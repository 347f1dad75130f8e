#pragma once

#include <einparallel/data/collect.hpp>

#include <einparallel/data/own_layout.ipp>
#include <einparallel/data/transfer.ipp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/agreement.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A fingerprint of a local tensor and `root`, which must be the same on all ranks in a collective call.
EINPARALLEL_SELDOM std::uint64_t fingerprint_of(const local_tensor& local, int root) {
    return fingerprint().add(local.elements.element.bytes).add(root).add(*local.where).value();
}

EINPARALLEL_SELDOM void gather_tensor(const local_tensor& local, std::optional<int> root,
                                      function_ref<std::byte*()> allocate) {
    const std::shared_ptr<context_state> world = context_of(local);
    const char* const call = root ? "gather" : "allgather";
    const exclusive guard(*world, call);
    const int rank = world->payload.rank();
    const int size = world->payload.size();
    const auto to = [&] {
        const std::vector<index>& bounds = local.where->bounds();
        require(!root || (*root >= 0 && *root < size),
                {"gather: there is no rank ", root.value_or(0), " in a context of ", size});
        const std::vector<box> whole(std::size_t(size), whole_box(bounds));
        const auto wanted =
            std::make_shared<const distribution>(root ? held_by_one(bounds, *root) : distribution(bounds, whole));
        std::byte* const memory = !root || *root == rank ? allocate() : nullptr;
        return local_tensor{nullptr, dense_block(*wanted, rank, local.elements.element, memory), wanted, {}};
    };
    transfer_now(*world, call,
                 {{fingerprint_of(local, root.value_or(-1)),
                   root ? "gather: the ranks do not gather the same tensor to the same root"
                        : "allgather: the ranks do not gather the same tensor"}},
                 local, to);
}

EINPARALLEL_SELDOM std::size_t fetch_tensor(const local_tensor& local, const box& mine, const std::string& mistake,
                                            function_ref<strided_box()> target) {
    const std::shared_ptr<context_state> world = context_of(local);
    const exclusive guard(*world, "fetch");
    const communicator& control = world->control;
    const std::vector<index>& bounds = local.where->bounds();
    std::vector<box> boxes =
        exchange_boxes(control, "fetch", mistake,
                       {{fingerprint_of(local, 0), "fetch: the ranks do not fetch from the same tensor"},
                        {0, "fetch: the ranks do not fetch into the same tensor"}},
                       bounds, mine);
    const auto wanted = std::make_shared<const distribution>(bounds, std::move(boxes));
    return transfer_now(*world, "fetch", {}, local, [&] { return local_tensor{nullptr, target(), wanted, {}}; });
}

EINPARALLEL_SELDOM void fetch_like(const local_tensor& local, const local_tensor& there) {
    const std::shared_ptr<context_state> world = context_of(local);
    const exclusive guard(*world, "fetch");
    const std::string failure = failure_of("fetch", [&] {
        expect(there.where != nullptr, "fetch: the target is an empty handle");
        expect(context_of(there) == world, "fetch: the target is distributed over another context");
        const std::vector<index>& bounds = local.where->bounds();
        const auto [had, given] =
            std::mismatch(bounds.begin(), bounds.end(), there.where->bounds().begin(), there.where->bounds().end());
        if (had != bounds.end()) {
            refuse({"fetch: the target has extent ", *given, " in dimension ", had - bounds.begin(),
                    ", the tensor has ", *had});
        }
    });
    agree(world->control, failure,
          {{fingerprint_of(local, 0), "fetch: the ranks do not fetch from the same tensor"},
           {failure.empty() ? fingerprint_of(there, 0) : 0, "fetch: the ranks do not fetch into the same tensor"}});
    transfer_now(*world, "fetch", {}, local, [&] { return there; });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
