#pragma once
// Whether the programs of all ranks fit together: what schedules promise (schedule/program.hpp), checked as a value.

#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel {

namespace detail {

/// A part of a buffer that an action reads or writes.
struct touched_box {
    buffer_id place = no_buffer;
    box region;
};

inline bool overlap(const touched_box& a, const touched_box& b) {
    return a.place == b.place && !intersect(a.region, b.region).empty();
}

/// The box that ranges by label cut out of a tensor with these labels.
inline box region_of(const std::vector<label_id>& labels, const std::vector<interval>& ranges) {
    box region;
    region.sides.reserve(labels.size());
    for (const label_id label : labels) {
        region.sides.push_back(label == no_label ? interval{0, 1} : ranges[static_cast<std::size_t>(label)]);
    }
    return region;
}

/// What an action reads and writes. `form_of(vertex)` gives the einsum of a vertex.
template <class FormOf>
std::pair<std::vector<touched_box>, std::vector<touched_box>> accesses(const program& of_rank, const action& done,
                                                                       FormOf& form_of) {
    std::vector<touched_box> reads;
    std::vector<touched_box> writes;
    if (const auto* source = std::get_if<read_source>(&done)) {
        writes.push_back({source->into, of_rank.buffers[static_cast<std::size_t>(source->into)].region});
    } else if (const auto* call = std::get_if<contraction>(&done)) {
        const einsum_form& form = form_of(call->vertex);
        for (std::size_t operand = 0; operand < call->operands.size(); ++operand) {
            reads.push_back({call->operands[operand], region_of(form.operands[operand], call->ranges)});
        }
        writes.push_back({call->output, region_of(form.output, call->ranges)});
    } else if (const auto* sum = std::get_if<combination>(&done)) {
        reads.push_back({sum->from, sum->region});
        writes.push_back({sum->into, sum->region});
    } else if (const auto* moved = std::get_if<local_copy>(&done)) {
        reads.push_back({moved->from, moved->region});
        writes.push_back({moved->into, moved->region});
    }
    return {std::move(reads), std::move(writes)};
}

/// The first broken promise of one step of one rank; empty where there is none.
template <class FormOf>
std::string check_step(const program& of_rank, const step& each, FormOf& form_of) {
    const auto inside = [&](const touched_box& part) {
        return part.place >= 0 && static_cast<std::size_t>(part.place) < of_rank.buffers.size() &&
               part.region.rank() == of_rank.buffers[static_cast<std::size_t>(part.place)].region.rank() &&
               contains(of_rank.buffers[static_cast<std::size_t>(part.place)].region, part.region);
    };
    std::vector<touched_box> received;
    std::vector<touched_box> sent;
    for (const message& transfer : each.receives) {
        received.push_back({transfer.place, transfer.region});
        if (!inside(received.back()) || transfer.region.empty()) {
            return "receives nothing or outside of its buffer";
        }
    }
    for (const message& transfer : each.sends) {
        sent.push_back({transfer.place, transfer.region});
        if (!inside(sent.back()) || transfer.region.empty()) {
            return "sends nothing or from outside of its buffer";
        }
    }
    const auto meets = [](const std::vector<touched_box>& others, const touched_box& part) {
        return std::ranges::any_of(others, [&](const touched_box& other) { return overlap(other, part); });
    };
    for (std::size_t transfer = 0; transfer < received.size(); ++transfer) {
        if (meets({received.begin(), received.begin() + static_cast<std::ptrdiff_t>(transfer)}, received[transfer]) ||
            meets(sent, received[transfer])) {
            return "receives into a place that it sends from or receives into already";
        }
    }
    for (const action& done : each.work) {
        const auto [reads, writes] = accesses(of_rank, done, form_of);
        for (const touched_box& read : reads) {
            if (!inside(read)) {
                return "reads outside of a buffer";
            }
            if (meets(received, read)) {
                return "reads what it receives";
            }
        }
        for (const touched_box& written : writes) {
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

}  // namespace detail

/// The first promise that the programs of all ranks break, as a sentence; empty where they keep all: phases ascend,
/// every send has a receive of the same region, bytes and order in the same phase and nobody writes to himself, regions
/// lie inside their buffers, work neither touches what its step receives nor writes what it sends.
/// `form_of(vertex)` gives the einsum (const einsum_form&) of a vertex.
template <class FormOf>
[[nodiscard]] std::string check_programs(std::span<const program> of_ranks, FormOf form_of) {
    using channel = std::tuple<std::size_t, int, int>;  // phase, from, to
    using parcel = std::pair<box, std::size_t>;         // region, bytes per element
    std::map<channel, std::vector<parcel>> sent;
    std::map<channel, std::vector<parcel>> received;
    for (std::size_t position = 0; position < of_ranks.size(); ++position) {
        const program& mine = of_ranks[position];
        const int rank = static_cast<int>(position);
        std::size_t next_phase = 0;
        for (const step& each : mine.steps) {
            const std::string where = "rank " + std::to_string(rank) + ", phase " + std::to_string(each.phase) + ": ";
            if (each.phase < next_phase) {
                return where + "phases do not ascend";
            }
            next_phase = each.phase + 1;
            const std::string broken = detail::check_step(mine, each, form_of);
            if (!broken.empty()) {
                return where + broken;
            }
            const auto post = [&](std::map<channel, std::vector<parcel>>& box_of, const message& transfer, int from,
                                  int to) {
                box_of[{each.phase, from, to}].emplace_back(
                    transfer.region, mine.buffers[static_cast<std::size_t>(transfer.place)].element_bytes);
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

}  // namespace einparallel
