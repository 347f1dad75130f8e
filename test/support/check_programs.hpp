#pragma once
// Whether the programs of all ranks fit together: what schedules promise (schedule/program.hpp), checked as a value.

#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::testing {

using forms = std::function<const einsum_form&(std::size_t)>;

/// The first broken promise of one step of one rank; empty where there is none.
inline std::string check_step(const program& of_rank, const step& each, const forms& form_of) {
    const auto inside = [&](const detail::buffer_region& part) {
        return part.buffer >= 0 && static_cast<std::size_t>(part.buffer) < of_rank.buffers.size() &&
               part.region.rank() == of_rank.buffers[static_cast<std::size_t>(part.buffer)].region.rank() &&
               contains(of_rank.buffers[static_cast<std::size_t>(part.buffer)].region, part.region);
    };
    std::vector<detail::buffer_region> received;
    std::vector<detail::buffer_region> sent;
    for (const message& transfer : each.receives) {
        received.push_back({transfer.buffer, transfer.region});
        if (!inside(received.back()) || transfer.region.empty()) {
            return "receives nothing or outside of its buffer";
        }
    }
    for (const message& transfer : each.sends) {
        sent.push_back({transfer.buffer, transfer.region});
        if (!inside(sent.back()) || transfer.region.empty()) {
            return "sends nothing or from outside of its buffer";
        }
    }
    const auto meets = [](const std::vector<detail::buffer_region>& others, const detail::buffer_region& part) {
        return std::ranges::any_of(others, [&](const detail::buffer_region& other) {
            return other.buffer == part.buffer && !intersect(other.region, part.region).empty();
        });
    };
    for (std::size_t transfer = 0; transfer < received.size(); ++transfer) {
        if (meets({received.begin(), received.begin() + static_cast<std::ptrdiff_t>(transfer)}, received[transfer]) ||
            meets(sent, received[transfer])) {
            return "receives into a place that it sends from or receives into already";
        }
    }
    for (const action& done : each.work) {
        const auto* call = std::get_if<contraction>(&done);
        const auto [reads, writes] =
            detail::accesses_of(of_rank, done, call == nullptr ? nullptr : &form_of(call->vertex));
        for (const detail::buffer_region& read : reads) {
            if (!inside(read)) {
                return "reads outside of a buffer";
            }
            if (meets(received, read)) {
                return "reads what it receives";
            }
        }
        for (const detail::buffer_region& written : writes) {
            if (!inside(written)) {
                return "writes outside of a buffer";
            }
            if (meets(received, written) || meets(sent, written)) {
                return "writes what it receives or sends";
            }
            if (meets(reads, written)) {
                return "writes what the same action reads";
            }
        }
    }
    return {};
}

/// The first promise that the programs of all ranks break, as a sentence; empty where they keep all: phases ascend,
/// every send has a receive of the same region, bytes and order in the same phase and nobody writes to himself, regions
/// lie inside their buffers, work neither touches what its step receives nor writes what it sends.
/// `form_of(vertex)` gives the einsum of a vertex.
inline std::string check_programs(std::span<const program> of_ranks, const forms& form_of) {
    using channel = std::tuple<std::size_t, int, int>;  // phase, from, to
    using parcel = std::pair<box, std::size_t>;         // region, bytes per element
    std::map<channel, std::vector<parcel>> sent;
    std::map<channel, std::vector<parcel>> received;
    for (std::size_t position = 0; position < of_ranks.size(); ++position) {
        const program& mine = of_ranks[position];
        const int rank = static_cast<int>(position);
        std::size_t next_phase = 0;
        std::size_t next_messages = 0;
        for (const step& each : mine.steps) {
            const std::string where = "rank " + std::to_string(rank) + ", phase " + std::to_string(each.phase) + ": ";
            const bool has_messages = !each.sends.empty() || !each.receives.empty();
            if (each.phase < next_phase || (has_messages && each.phase < next_messages)) {
                return where + "phases do not ascend";
            }
            next_phase = each.phase;
            next_messages = has_messages ? each.phase + 1 : next_messages;
            const std::string broken = check_step(mine, each, form_of);
            if (!broken.empty()) {
                return where + broken;
            }
            const auto post = [&](std::map<channel, std::vector<parcel>>& box_of, const message& transfer, int from,
                                  int to) {
                box_of[{each.phase, from, to}].emplace_back(
                    transfer.region, mine.buffers[static_cast<std::size_t>(transfer.buffer)].element_bytes);
                return from != to && std::min(from, to) >= 0 &&
                       static_cast<std::size_t>(std::max(from, to)) < of_ranks.size();
            };
            for (const message& transfer : each.sends) {
                if (!post(sent, transfer, rank, transfer.peer)) {
                    return where + "sends to itself or to nobody";
                }
            }
            for (const message& transfer : each.receives) {
                if (!post(received, transfer, transfer.peer, rank)) {
                    return where + "receives from itself or from nobody";
                }
            }
        }
    }
    return sent == received ? std::string{} : "sends and receives do not match";
}

}  // namespace einparallel::testing
