#pragma once
// The search over whole placements: exact where the ways of all vertices can be written down.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/align.ipp>
#include <einparallel/plan/branch.ipp>
#include <einparallel/plan/build.ipp>
#include <einparallel/plan/candidates.ipp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/eliminate.hpp>
#include <einparallel/plan/model.ipp>
#include <einparallel/plan/numbering.ipp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/overlap.ipp>
#include <einparallel/plan/pairwise.hpp>
#include <einparallel/plan/placement_model.ipp>
#include <einparallel/plan/summed_ways.ipp>
#include <einparallel/plan/sums.hpp>
#include <einparallel/plan/ways.ipp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Ways of one vertex beyond which not all of them are tried.
inline constexpr std::size_t way_limit = 2048;
/// Einsums up to which branch and bound is tried, and ways that it may look at.
inline constexpr std::size_t branching_limit = 16;
inline constexpr std::size_t looks_limit = 1'000'000;

/// Everything about every vertex.
struct placement_choice {
    std::vector<int> states;                 ///< by variable: positions of the partition vectors
    std::vector<vertex_decision> decisions;  ///< by number of the vertex
    placed_graph placed;
};

/// Searches placements for a graph under bytes or time.
EINPARALLEL_INLINE class placement_search {
public:
    placement_search(const einsum_graph& graph, const options& asked, const model_builder& builder, double memory_price,
                     const pending_offers& offers, overlap_table& table)
        : graph_(graph),
          asked_(asked),
          builder_(builder),
          memory_price_(memory_price),
          table_(table),
          costs_(graph, asked, table, offers.any),
          readers_(readers_of(graph, builder.vertex_of())),
          candidates_(graph, asked, builder, memory_price, readers_, costs_, table),
          summed_ways_(graph, asked, builder, memory_price, offers, table) {}

    /// The best of all placements, one of which is known to cost `known`; nothing where there are too many. Nothing
    /// costs less than the cheapest ways of all vertices, so a way that exceeds its vertex's cheapest by more than
    /// `known` exceeds their sum is in no best placement.
    /// @param sums whether sums may be left pending
    std::optional<placement_choice> best_of_all(double known, bool sums) {
        std::vector<std::shared_ptr<const way_list>> ways;
        for (std::size_t variable = 0; variable < builder_.vertex_of().size(); ++variable) {
            std::shared_ptr<const way_list> list = all_ways(variable);
            if (list == nullptr) {
                return std::nullopt;
            }
            ways.push_back(std::move(list));
        }
        if (sums && !summed_ways_.add_all(ways, seen_by_others(), way_limit)) {
            return std::nullopt;
        }
        double slack = known * (1 + 1e-9);
        for (const std::shared_ptr<const way_list>& list : ways) {
            slack -= cheapest(*list);
        }
        std::vector<std::shared_ptr<const way_list>> kept;
        for (std::shared_ptr<const way_list>& list : ways) {
            kept.resize(std::max(kept.size(), list->number + 1));
            std::shared_ptr<const way_list>& fewer = kept[list->number];
            if (fewer == nullptr) {
                fewer = within(*list, cheapest(*list) + slack);
            }
            list = fewer;
        }
        std::optional<std::vector<int>> states = best_among(ways);
        if (!states && ways.size() <= branching_limit) {
            branch_and_bound branching(graph_, builder_.vertex_of(), readers_, ways, costs_);
            states = branching.run(known, looks_limit);
        }
        return states ? std::optional(choice_of(ways, *states)) : std::nullopt;
    }

    /// The best placement near a present one without pending sums, never worse than it; nothing where even those are
    /// too many.
    /// @param sums whether sums may be left pending
    std::optional<placement_choice> improve(const std::vector<int>& states, const placed_graph& present, bool sums) {
        const std::vector<seen_tensors> seen = seen_by_others();
        std::vector<std::shared_ptr<const way_list>> ways = candidates_.around(states, present, seen);
        if (sums) {
            summed_ways_.add_like(ways, seen);
        }
        const std::optional<std::vector<int>> found = best_among(ways);
        return found ? std::optional(choice_of(ways, *found)) : std::nullopt;
    }

    /// True where no partition vector that competes with sums pending was left out.
    [[nodiscard]] bool is_complete() const { return summed_ways_.is_complete(); }

private:
    /// One of these ways per variable with the smallest sum; nothing where tables would grow past their limits.
    std::optional<std::vector<int>> best_among(const std::vector<std::shared_ptr<const way_list>>& ways) {
        placement_model model(graph_, builder_.vertex_of(), ways, costs_);
        const std::optional<pairwise_model> sum = model.build({});
        return sum ? minimise_exactly(*sum, {.cells = std::size_t{1} << 21, .visits = std::size_t{1} << 28})
                   : std::nullopt;
    }

    [[nodiscard]] static double cheapest(const way_list& list) {
        double least = std::numeric_limits<double>::infinity();
        for (const vertex_way& way : list.ways) {
            least = std::min(least, way.cost);
        }
        return least;
    }

    [[nodiscard]] static std::shared_ptr<const way_list> within(const way_list& list, double most) {
        way_list fewer{{}, list.number};
        for (const vertex_way& way : list.ways) {
            if (way.cost <= most) {
                fewer.ways.push_back(way);
            }
        }
        return std::make_shared<const way_list>(std::move(fewer));
    }

    [[nodiscard]] std::vector<seen_tensors> seen_by_others() const {
        std::vector<seen_tensors> seen;
        for (std::size_t variable = 0; variable < builder_.vertex_of().size(); ++variable) {
            seen.push_back(seen_by_others(variable));
        }
        return seen;
    }

    [[nodiscard]] seen_tensors seen_by_others(std::size_t variable) const {
        const std::size_t number = builder_.vertex_of()[variable];
        seen_tensors seen;
        for (const std::shared_ptr<vertex>& operand : graph_.vertices[number]->operands) {
            seen.operands.push_back(is_moved(*operand));
        }
        seen.output = !readers_[number].empty();
        return seen;
    }

    /// Shared by vertices of one shape; nullptr where there are too many.
    std::shared_ptr<const way_list> all_ways(std::size_t variable) {
        const choices& known = *builder_.ways()[variable];
        const seen_tensors seen = seen_by_others(variable);
        std::vector<index> key{static_cast<index>(builder_.shape_of()[variable]), seen.output ? 1 : 0};
        key.insert(key.end(), seen.operands.begin(), seen.operands.end());
        const auto [number, fresh] = list_numbers_.number_of(std::move(key));
        if (fresh) {
            lists_.push_back(nullptr);
            const vertex& einsum = *graph_.vertices[builder_.vertex_of()[variable]];
            std::vector<std::size_t> vectors(known.size());
            std::iota(vectors.begin(), vectors.end(), std::size_t{0});
            way_costs costs(einsum, known, asked_, memory_price_);
            if (auto ways = ways_of(einsum, known, costs, vectors, seen, way_limit, true, table_)) {
                lists_.back() = std::make_shared<const way_list>(way_list{*std::move(ways), number});
            }
        }
        return lists_[number];
    }

    [[nodiscard]] placement_choice choice_of(const std::vector<std::shared_ptr<const way_list>>& ways,
                                             const std::vector<int>& states) {
        placement_choice made;
        made.decisions.resize(graph_.vertices.size());
        made.placed.einsums.resize(graph_.vertices.size());
        made.placed.resting = costs_.fixed();
        for (std::size_t variable = 0; variable < states.size(); ++variable) {
            const std::size_t number = builder_.vertex_of()[variable];
            const vertex& einsum = *graph_.vertices[number];
            const choices& known = *builder_.ways()[variable];
            const vertex_way& way = ways[variable]->ways[static_cast<std::size_t>(states[variable])];
            std::vector<int> parts;
            for (std::size_t label = 0; label < einsum.extents.size(); ++label) {
                parts.push_back(way.ranks.parts(static_cast<label_id>(label)));
            }
            made.states.push_back(static_cast<int>(way.vector));
            made.decisions[number] = {std::move(parts), known.wanted, known.fell_back};
            vertex_way seen = way;
            put_tensors(seen, einsum, with_sums(einsum.form, einsum.extents, way.sums, way.ranks), all_seen(einsum),
                        table_);
            made.placed.einsums[number] = {way.ranks, way.cuts, std::move(seen.operands), seen.output, way.sums};
            made.placed.resting[number] = seen.output;
        }
        bind_placeholders(made.placed);
        return made;
    }

    [[nodiscard]] static seen_tensors all_seen(const vertex& einsum) {
        return {std::vector<bool>(einsum.operands.size(), true), true};
    }

    /// A placeholder is bound where one of its readers wants it: the one from which bringing it to the others costs
    /// least.
    void bind_placeholders(placed_graph& placed) {
        for (std::size_t number = 0; number < graph_.vertices.size(); ++number) {
            const vertex& input = *graph_.vertices[number];
            if (!is_placeholder(input) || costs_.is_fixed(number)) {
                continue;
            }
            std::vector<resting_id> wanted;
            std::vector<resting_id> marked;
            for (const tensor_reader& reader : readers_[number]) {
                for (const std::size_t operand : reader.operands) {
                    const resting_id place = placed.einsums[builder_.vertex_of()[reader.variable]].operands[operand];
                    if (std::find(wanted.begin(), wanted.end(), place) == wanted.end()) {
                        wanted.push_back(place);
                    }
                    if (graph_.vertices[builder_.vertex_of()[reader.variable]]->wishes.without_communication) {
                        marked.push_back(place);
                    }
                }
            }
            if (!wanted.empty()) {
                placed.resting[number] = costs_.bound_at(wanted, input, marked);
            }
        }
    }

    const einsum_graph& graph_;
    const options& asked_;
    const model_builder& builder_;
    double memory_price_;
    overlap_table& table_;
    moving_costs costs_;
    std::vector<std::vector<tensor_reader>> readers_;
    candidate_ways candidates_;
    summed_ways summed_ways_;
    numbering list_numbers_;
    std::vector<std::shared_ptr<const way_list>> lists_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
