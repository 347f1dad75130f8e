#pragma once
// The application's own distribution of a tensor: every rank says what it holds, all check the same list.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/mpi/collective.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/context.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// NumPy's short name of an element type: f8, c16, i4.
inline std::string name_of_element(element_type element) {
    return element.kind + std::to_string(element.bytes);
}

/// The first mistake in a list of parts; empty where there is none. Parts must lie inside the tensor, be disjoint and
/// hold every element. Time: n log n for parts that are slabs, at worst the pairs of parts.
inline std::string check_parts(const std::vector<index>& bounds, const std::vector<box>& parts) {
    index held = 0;
    std::vector<std::size_t> order;
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
        const box& part = parts[rank];
        if (part.empty()) {
            continue;
        }
        for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
            const interval& side = part.sides[dimension];
            if (side.begin < 0 || side.end > bounds[dimension]) {
                return "distributed: the part of rank " + std::to_string(rank) + " reaches from " +
                       std::to_string(side.begin) + " to " + std::to_string(side.end) + " in dimension " +
                       std::to_string(dimension) + ", the extent is " + std::to_string(bounds[dimension]);
            }
        }
        held += part.size();
        order.push_back(rank);
    }
    const auto first = [&](std::size_t rank) { return bounds.empty() ? index{0} : parts[rank].sides[0].begin; };
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return first(a) < first(b); });
    for (std::size_t position = 0; position < order.size(); ++position) {
        const box& part = parts[order[position]];
        for (std::size_t next = position + 1; next < order.size(); ++next) {
            if (!bounds.empty() && first(order[next]) >= part.sides[0].end) {
                break;
            }
            const box& other = parts[order[next]];
            bool meet = true;
            for (std::size_t dimension = 0; dimension < bounds.size(); ++dimension) {
                meet = meet && part.sides[dimension].begin < other.sides[dimension].end &&
                       other.sides[dimension].begin < part.sides[dimension].end;
            }
            if (meet) {
                const auto [lower, higher] = std::minmax(order[position], order[next]);
                return "distributed: the parts of ranks " + std::to_string(lower) + " and " + std::to_string(higher) +
                       " overlap";
            }
        }
    }
    const index wanted = whole_box(bounds).size();
    if (held != wanted) {
        return "distributed: the parts hold " + std::to_string(held) + " of " + std::to_string(wanted) + " elements";
    }
    return {};
}

/// What all ranks hold. Collective. @throws error, the same on every rank
inline std::shared_ptr<const distribution> exchange_own_layout(context& world, const std::vector<index>& bounds,
                                                               const box& mine, element_type element) {
    const communicator& control = world.control();
    const std::size_t rank = bounds.size();
    const std::size_t numbers = 1 + 3 * rank;
    std::vector<std::int64_t> sent;
    std::vector<std::int64_t> all;
    const std::string failure = failure_of("distributed", [&] {
        all.resize(numbers * static_cast<std::size_t>(control.size()));
        sent.push_back(mine.nothing ? 1 : 0);
        for (std::size_t dimension = 0; dimension < rank; ++dimension) {
            sent.insert(sent.end(), {bounds[dimension], mine.sides[dimension].begin, mine.sides[dimension].end});
        }
    });
    fingerprint kind;
    kind.add(static_cast<std::uint64_t>(rank)).add(name_of_element(element));
    agree(control, failure,
          {{kind.value(), "distributed: the number of dimensions or the element type is not the same on all ranks"}});
    allgather(control, sent, all);

    std::shared_ptr<const distribution> made;
    agree(control, failure_of("distributed", [&] {
              std::vector<box> parts;
              for (std::size_t peer = 0; peer < static_cast<std::size_t>(control.size()); ++peer) {
                  const std::int64_t* const theirs = all.data() + peer * numbers;
                  box part;
                  part.nothing = theirs[0] != 0;
                  for (std::size_t dimension = 0; dimension < rank; ++dimension) {
                      const index first = all[1 + 3 * dimension];
                      const index extent = theirs[1 + 3 * dimension];
                      if (extent != first) {
                          throw error("distributed: dimension " + std::to_string(dimension) + ": extent " +
                                      std::to_string(first) + " on rank 0 and " + std::to_string(extent) + " on rank " +
                                      std::to_string(peer));
                      }
                      if (extent < 0) {
                          throw error("distributed: extent " + std::to_string(extent) + " of dimension " +
                                      std::to_string(dimension) + " is negative");
                      }
                      part.sides.push_back({theirs[2 + 3 * dimension], theirs[3 + 3 * dimension]});
                  }
                  parts.push_back(std::move(part));
              }
              if (!is_countable(bounds)) {
                  throw error("distributed: these extents make more than 2^59 elements");
              }
              const std::string mistake = check_parts(bounds, parts);
              if (!mistake.empty()) {
                  throw error(mistake);
              }
              made = std::make_shared<const distribution>(bounds, std::move(parts));
          }));
    return made;
}

}  // namespace einparallel::detail
