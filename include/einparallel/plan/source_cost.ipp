#pragma once
// What it costs to bring an input from where it lies to where a vertex wants it.

#include <einparallel/graph/source.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/align.ipp>
#include <einparallel/plan/axis_orders.ipp>
#include <einparallel/plan/choices.ipp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/overlap.ipp>
#include <einparallel/plan/wishes.ipp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Inputs that lie somewhere already: on one rank, in somebody's own distribution, or where a pin binds them. All
/// others are read by every rank as it needs them, at no cost.
EINPARALLEL_INLINE bool lies_somewhere(const vertex& input) {
    return input.is_input() && input.origin != nullptr &&
           (input.origin->kind() == source_kind::root || input.origin->kind() == source_kind::resting ||
            is_pinned_input(input));
}

/// Inputs that are bound at the run, where one of their readers or a pin wants them.
EINPARALLEL_INLINE bool is_placeholder(const vertex& input) {
    return input.is_input() && input.origin != nullptr && input.origin->kind() == source_kind::placeholder;
}

/// A tensor that is brought from one place to its readers: what an einsum makes, and inputs that rest somewhere. All
/// other inputs every rank reads as it likes.
EINPARALLEL_INLINE bool is_moved(const vertex& tensor) {
    return !tensor.is_input() || lies_somewhere(tensor) || is_placeholder(tensor);
}

/// Bytes of a whole tensor.
EINPARALLEL_INLINE double tensor_bytes(const vertex& tensor) {
    double bytes = static_cast<double>(tensor.element.bytes);
    for (const index bound : tensor.bounds) {
        bytes *= static_cast<double>(bound);
    }
    return bytes;
}

/// By way to cut `reader`, the bytes or seconds (as the objective asks) for bringing operand `operand` from where it
/// lies. From a root every rank but the root gets its piece; from a distribution, what the best order of the mesh axes
/// leaves to move (the natural order where trying all would take too long).
EINPARALLEL_INLINE std::vector<double> source_costs(const vertex& reader, std::size_t operand, const choices& ways,
                                                    const options& asked) {
    constexpr std::size_t affordable = std::size_t{1} << 18;  // boxes looked at
    const vertex& input = *reader.operands[operand];
    const std::vector<label_id>& labels = reader.form.operands[operand];
    const double all_bytes = tensor_bytes(input);
    const bool at_root = input.origin->kind() == source_kind::root;
    overlap_table table;
    const distribution lies = resting_of_source(input);
    const resting_id origin = table.number_of(lies);
    const bool silent = reader.wishes.without_communication;
    std::vector<double> costs;
    for (std::size_t way = 0; way < ways.size(); ++way) {
        const mesh natural = natural_mesh(reader, ways[way]);
        const int ranks = natural.size();
        double bytes = 0;
        double messages = 0;
        double busy = 1;
        if (at_root) {
            const bool takes_part = input.origin->root() < ranks;
            bytes = all_bytes * (takes_part ? 1 - 1.0 / ranks : 1.0);
            messages = takes_part ? ranks - 1 : ranks;
        } else {
            const bool all = silent || ways.size() * static_cast<std::size_t>(ranks) * 24 <= affordable;
            double least = std::numeric_limits<double>::infinity();
            for (const mesh& order : all ? axis_orders(reader, natural, {}) : std::vector<mesh>{natural}) {
                const std::size_t cut = choose_cuts(reader.form, reader.extents, order).operands[operand];
                least = std::min(least, table.moved(origin, table.number_of(input.bounds, order, labels, cut)));
            }
            bytes = least * static_cast<double>(input.element.bytes);
            const int holders = std::max(lies.holders(), 1);
            busy = std::min(ranks, holders);
            messages = bytes > 0 ? std::max(ranks, holders) / std::min(ranks, holders) : 0;
        }
        costs.push_back(asked.objective == objective::bytes ? bytes
                                                            : messages * asked.machine.seconds_per_message +
                                                                  bytes / busy * asked.machine.seconds_per_byte);
    }
    return costs;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
