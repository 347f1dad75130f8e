#pragma once
// Ways to run vertices with sums pending, beside those that finish every sum.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/choices.ipp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/model.ipp>
#include <einparallel/plan/numbering.ipp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/overlap.ipp>
#include <einparallel/plan/partition.hpp>
#include <einparallel/plan/placement_model.ipp>
#include <einparallel/plan/sums.hpp>
#include <einparallel/plan/ways.ipp>
#include <einparallel/plan/wishes.ipp>
#include <einparallel/schedule/pending.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Adds ways with pending sums to lists of ways without. Whether maker and readers of a tensor agree is a matter of
/// what moving it costs, see moving_costs.
class summed_ways {
public:
    summed_ways(const einsum_graph& graph, const options& asked, const model_builder& builder, double memory_price,
                const pending_offers& offers, overlap_table& table)
        : graph_(graph),
          asked_(asked),
          builder_(builder),
          memory_price_(memory_price),
          offers_(offers),
          table_(table),
          processes_(planned_processes(asked.processes, asked.powers_of_two)) {}

    /// All of them. False where a vertex would have more than `most` ways.
    EINPARALLEL_INLINE bool add_all(std::vector<std::shared_ptr<const way_list>>& lists,
                                    const std::vector<seen_tensors>& seen, std::size_t most);

    /// Those that keep to what is there: makers that leave the sum of one of their ways pending, or of the vectors with
    /// which they move least, and readers that lie like their makers.
    EINPARALLEL_INLINE void add_like(std::vector<std::shared_ptr<const way_list>>& lists,
                                     const std::vector<seen_tensors>& seen);

    /// True where no partition vector that competes was left out.
    [[nodiscard]] bool is_complete() const { return complete_; }

private:
    static constexpr std::size_t no_variable = static_cast<std::size_t>(-1);
    /// Vectors looked at for those with which a maker moves least, and how many of them are tried.
    static constexpr std::size_t looked_at = 2048;
    static constexpr std::size_t tried = 4;

    EINPARALLEL_INLINE [[nodiscard]] const vertex& einsum_of(std::size_t variable) const;

    /// Extends the lists of the vertices that have an offer, makers before readers. Equal vertices with equal offers
    /// share theirs.
    template <class Make>
    bool add(std::vector<std::shared_ptr<const way_list>>& lists, const std::vector<seen_tensors>& seen,
             const Make& make) {
        std::size_t first = 0;  // number that no list has
        for (const std::shared_ptr<const way_list>& list : lists) {
            first = std::max(first, list->number + 1);
        }
        variable_of_.assign(graph_.vertices.size(), no_variable);
        for (std::size_t variable = 0; variable < lists.size(); ++variable) {
            variable_of_[builder_.vertex_of()[variable]] = variable;
        }
        left_.assign(lists.size(), {});
        readings_.assign(lists.size(), {});
        numbering numbers;
        std::vector<std::shared_ptr<const way_list>> extended;
        for (std::size_t variable = 0; variable < lists.size(); ++variable) {
            const std::size_t number = builder_.vertex_of()[variable];
            if (!offers_.touch(number)) {
                continue;
            }
            find_readings(variable);
            std::vector<index> key{builder_.shape_of()[variable], static_cast<index>(lists[variable]->number),
                                   offers_.leaves[number] ? 1 : 0};
            for (const pending_sums& read : readings_[variable]) {
                key.push_back(static_cast<index>(read.operands));
                key.push_back(read.summands);
                for (std::size_t operand = 0; operand < graph_.inputs[number].size(); ++operand) {
                    const bool reads = read.reads(operand);
                    key.push_back(reads ? static_cast<index>(lists[maker_of(number, operand)]->number) : -1);
                }
            }
            const auto [place, fresh] = numbers.number_of(std::move(key));
            if (fresh) {
                way_costs costs(einsum_of(variable), *builder_.ways()[variable], asked_, memory_price_);
                way_collector pending(einsum_of(variable), seen[variable], costs, table_);
                if (!make(variable, pending)) {
                    return false;
                }
                way_list longer{lists[variable]->ways, first + place};
                for (vertex_way& way : pending.take()) {
                    longer.ways.push_back(std::move(way));
                }
                extended.push_back(std::make_shared<const way_list>(std::move(longer)));
            }
            lists[variable] = extended[place];
            for (const vertex_way& way : lists[variable]->ways) {
                const int count = summands_over(einsum_of(variable).form.output, way.ranks);
                std::vector<int>& left = left_[variable];
                if (way.sums.output && std::find(left.begin(), left.end(), count) == left.end()) {
                    left.push_back(count);
                }
            }
        }
        return true;
    }

    EINPARALLEL_INLINE [[nodiscard]] std::size_t maker_of(std::size_t number, std::size_t operand) const;

    /// Sets of operands with numbers of summands in which all their makers can leave them.
    EINPARALLEL_INLINE void find_readings(std::size_t variable);

    /// Ranks that would have summands of the output's blocks.
    EINPARALLEL_INLINE [[nodiscard]] static int summands(const vertex& einsum, std::span<const int> parts);

    /// Partition vectors that compete where operands come in `count` summands, which stand behind the labels. As many
    /// ranks compute as without, or more; under time any number.
    EINPARALLEL_INLINE std::vector<std::vector<int>> vectors(const vertex& einsum, int count);

    /// Meshes with which a maker that leaves its sum pending does least.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<mesh> silent_meshes(std::size_t variable) const;

    /// For reading these operands in summands, meshes in which they lie as their makers leave them, and the number of
    /// summands.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<std::pair<mesh, int>> meshes_of_makers(
        std::size_t variable, std::uint64_t operands, const std::vector<std::shared_ptr<const way_list>>& lists) const;

    /// The mesh of a maker as its reader names the axes; nothing where the reader cannot have it so.
    EINPARALLEL_INLINE [[nodiscard]] static std::optional<mesh> like_maker(const vertex& reader, std::size_t operand,
                                                                           const vertex& maker, const mesh& made);

    const einsum_graph& graph_;
    const options& asked_;
    const model_builder& builder_;
    double memory_price_;
    const pending_offers& offers_;
    overlap_table& table_;
    int processes_;
    bool complete_ = true;
    std::vector<std::size_t> variable_of_;
    std::vector<std::vector<int>> left_;               // by variable: numbers of summands that it may leave
    std::vector<std::vector<pending_sums>> readings_;  // by variable
};

EINPARALLEL_INLINE bool summed_ways::add_all(std::vector<std::shared_ptr<const way_list>>& lists,
                                             const std::vector<seen_tensors>& seen, std::size_t most) {
    return add(lists, seen, [&](std::size_t variable, way_collector& pending) {
        const vertex& einsum = einsum_of(variable);
        const bool leaves = offers_.leaves[builder_.vertex_of()[variable]];
        const auto add_vectors = [&](const pending_sums& sums) {
            for (const std::vector<int>& parts : vectors(einsum, sums.summands)) {
                if (sums.output && summands(einsum, parts) == 1) {
                    continue;
                }
                if (!add_ways(pending, einsum, no_vector, parts, sums, most, true)) {
                    return false;
                }
            }
            return true;
        };
        bool all = !leaves || add_vectors({0, 1, true});
        for (const pending_sums& read : readings_[variable]) {
            all = all && add_vectors(read) && (!leaves || add_vectors({read.operands, read.summands, true}));
        }
        return all && lists[variable]->ways.size() + pending.size() <= most;
    });
}

EINPARALLEL_INLINE void summed_ways::add_like(std::vector<std::shared_ptr<const way_list>>& lists,
                                              const std::vector<seen_tensors>& seen) {
    add(lists, seen, [&](std::size_t variable, way_collector& pending) {
        const vertex& einsum = einsum_of(variable);
        const bool leaves = offers_.leaves[builder_.vertex_of()[variable]];
        const auto add_one = [&](const mesh& ranks, const pending_sums& read) {
            if (read.operands != 0) {
                pending.add_cuts(no_vector, ranks, read);
            }
            if (leaves && summands_over(einsum.form.output, ranks) > 1) {
                pending.add_cuts(no_vector, ranks, {read.operands, read.summands, true});
            }
        };
        std::vector<mesh> meshes;
        for (const vertex_way& way : lists[variable]->ways) {
            if (std::find(meshes.begin(), meshes.end(), way.ranks) == meshes.end()) {
                meshes.push_back(way.ranks);
            }
        }
        if (leaves) {
            for (mesh& ranks : silent_meshes(variable)) {
                meshes.push_back(std::move(ranks));
            }
        }
        for (const mesh& ranks : meshes) {
            add_one(ranks, {});
        }
        for (const std::uint64_t operands : offers_.reads[builder_.vertex_of()[variable]]) {
            for (const auto& [ranks, count] : meshes_of_makers(variable, operands, lists)) {
                add_one(ranks, {operands, count, false});
            }
        }
        return true;
    });
}

EINPARALLEL_INLINE const vertex& summed_ways::einsum_of(std::size_t variable) const {
    return *graph_.vertices[builder_.vertex_of()[variable]];
}

EINPARALLEL_INLINE std::size_t summed_ways::maker_of(std::size_t number, std::size_t operand) const {
    return variable_of_[graph_.inputs[number][operand]];
}

EINPARALLEL_INLINE void summed_ways::find_readings(std::size_t variable) {
    const std::size_t number = builder_.vertex_of()[variable];
    for (const std::uint64_t operands : offers_.reads[number]) {
        std::optional<std::vector<int>> counts;
        for (std::size_t operand = 0; operand < graph_.inputs[number].size(); ++operand) {
            if (((operands >> operand) & 1U) == 0) {
                continue;
            }
            const std::vector<int>& left = left_[maker_of(number, operand)];
            if (!counts) {
                counts = left;
            }
            std::erase_if(*counts, [&](int count) { return std::find(left.begin(), left.end(), count) == left.end(); });
        }
        std::sort(counts->begin(), counts->end());
        for (const int count : *counts) {
            readings_[variable].push_back({operands, count, false});
        }
    }
}

EINPARALLEL_INLINE int summed_ways::summands(const vertex& einsum, std::span<const int> parts) {
    int count = 1;
    for (std::size_t label = 0; label < parts.size(); ++label) {
        count *= einsum.form.in_output(static_cast<label_id>(label)) ? 1 : parts[label];
    }
    return count;
}

EINPARALLEL_INLINE std::vector<std::vector<int>> summed_ways::vectors(const vertex& einsum, int count) {
    const free_cuts left = cuts_left(einsum, processes_);
    options free = asked_;
    free.processes = left.processes / count;
    if (free.processes < 1) {
        return {};
    }
    const bool every = asked_.objective == objective::time;
    competitors competing = competing_vectors(left.extents, free, every);
    complete_ = complete_ && competing.complete;
    const int least = every ? 1 : largest_product(left.extents, left.processes, asked_.powers_of_two);
    std::erase_if(competing.vectors, [&](const std::vector<int>& vector) {
        int ranks = count;
        for (const int parts : vector) {
            ranks *= parts;
        }
        return ranks < least;
    });
    for (std::vector<int>& vector : competing.vectors) {
        for (std::size_t label = 0; label < vector.size(); ++label) {
            vector[label] *= left.fixed[label];
        }
        if (count > 1) {
            vector.push_back(count);
        }
    }
    return std::move(competing.vectors);
}

EINPARALLEL_INLINE std::vector<mesh> summed_ways::silent_meshes(std::size_t variable) const {
    const vertex& einsum = einsum_of(variable);
    const choices& known = *builder_.ways()[variable];
    way_costs costs(einsum, known, asked_, memory_price_);
    std::vector<ranked> order;
    std::vector<mesh> meshes;
    for (std::size_t vector = 0; vector < std::min(known.size(), looked_at); ++vector) {
        if (summands(einsum, known[vector]) == 1) {
            continue;
        }
        meshes.push_back(natural_mesh(einsum, known[vector]));
        const summed_einsum summed = with_sums(einsum.form, einsum.extents, {0, 1, true}, meshes.back());
        order.emplace_back(costs.of(summed, meshes.back(), choose_cuts(summed.form, summed.extents, meshes.back())),
                           meshes.size() - 1);
    }
    sort_range(order);
    std::vector<mesh> best;
    for (std::size_t place = 0; place < std::min(order.size(), tried); ++place) {
        best.push_back(meshes[order[place].second]);
    }
    return best;
}

EINPARALLEL_INLINE std::vector<std::pair<mesh, int>> summed_ways::meshes_of_makers(
    std::size_t variable, std::uint64_t operands, const std::vector<std::shared_ptr<const way_list>>& lists) const {
    const std::size_t number = builder_.vertex_of()[variable];
    const vertex& reader = einsum_of(variable);
    std::vector<std::pair<mesh, int>> found;
    for (std::size_t operand = 0; operand < graph_.inputs[number].size(); ++operand) {
        if (((operands >> operand) & 1U) == 0) {
            continue;
        }
        const std::size_t maker = maker_of(number, operand);
        for (const vertex_way& way : lists[maker]->ways) {
            if (!way.sums.output) {
                continue;
            }
            const std::optional<mesh> ranks = like_maker(reader, operand, einsum_of(maker), way.ranks);
            const std::pair<mesh, int> made{ranks ? *ranks : mesh{},
                                            summands_over(einsum_of(maker).form.output, way.ranks)};
            const bool offered = std::any_of(
                readings_[variable].begin(), readings_[variable].end(),
                [&](const pending_sums& read) { return read.operands == operands && read.summands == made.second; });
            if (ranks && offered && std::find(found.begin(), found.end(), made) == found.end()) {
                found.push_back(made);
            }
        }
    }
    return found;
}

EINPARALLEL_INLINE std::optional<mesh> summed_ways::like_maker(const vertex& reader, std::size_t operand,
                                                               const vertex& maker, const mesh& made) {
    const label_id carried = carried_label(reader.extents.size());
    const std::vector<label_id>& output = maker.form.output;
    mesh ranks;
    for (const mesh_axis& axis : made.axes) {
        const auto dimension = std::find(output.begin(), output.end(), axis.label);
        const label_id label =
            dimension == output.end()
                ? carried
                : reader.form.operands[operand][static_cast<std::size_t>(dimension - output.begin())];
        const auto known = std::find_if(ranks.axes.begin(), ranks.axes.end(),
                                        [&](const mesh_axis& other) { return other.label == label; });
        if (label == no_label || (known != ranks.axes.end() && label != carried)) {
            return std::nullopt;
        }
        if (known != ranks.axes.end()) {
            known->parts *= axis.parts;
        } else {
            ranks.axes.push_back({label, axis.parts});
        }
    }
    return follows_pin(reader, ranks) ? std::optional(ranks) : std::nullopt;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
