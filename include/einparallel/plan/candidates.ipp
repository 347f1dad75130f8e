#pragma once
// Ways worth trying where all of them are too many: near the present placement, and such that neighbours agree.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/align.ipp>
#include <einparallel/plan/choices.ipp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/model.ipp>
#include <einparallel/plan/numbering.ipp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/overlap.ipp>
#include <einparallel/plan/pairwise.hpp>
#include <einparallel/plan/placement_model.ipp>
#include <einparallel/plan/traffic.hpp>
#include <einparallel/plan/ways.ipp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// How many candidates a pass keeps.
struct beam {
    std::size_t vectors;     ///< partition vectors whose axis orders and cuts are tried
    std::size_t per_vector;  ///< ways with one vector that stay
    std::size_t ways;        ///< that stay
};

/// Candidates for every vertex. A pass along the graph gives each vertex the ways that are cheapest with what its
/// producers may do, a pass back those that are cheapest with what its readers may do. Vertices in equal surroundings
/// share their list, so a loop of a thousand layers costs what a few layers cost.
class candidate_ways {
public:
    EINPARALLEL_INLINE candidate_ways(const einsum_graph& graph, const options& asked, const model_builder& builder,
                                      double memory_price, const std::vector<std::vector<tensor_reader>>& readers,
                                      moving_costs& costs, overlap_table& table);

    /// By variable; the present way of each is among them. `seen[variable]` says which of its tensors others see.
    EINPARALLEL_INLINE std::vector<std::shared_ptr<const way_list>> around(const std::vector<int>& states,
                                                                           const placed_graph& present,
                                                                           const std::vector<seen_tensors>& seen);

private:
    static constexpr std::size_t no_variable = static_cast<std::size_t>(-1);
    static constexpr beam along{12, 3, 12};
    static constexpr beam back{6, 2, 6};

    EINPARALLEL_INLINE [[nodiscard]] const vertex& einsum_of(std::size_t variable) const;

    EINPARALLEL_INLINE [[nodiscard]] bool is_marked(std::size_t variable) const;

    /// Of the tensor that operand `operand` reads.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t producer(std::size_t variable, std::size_t operand) const;

    EINPARALLEL_INLINE std::shared_ptr<const way_list> forward(std::size_t variable, int state,
                                                               const placed_einsum& present);

    EINPARALLEL_INLINE std::shared_ptr<const way_list> backward(std::size_t variable);

    /// The list for equal surroundings, made once.
    template <class Make>
    std::shared_ptr<const way_list> listed(std::size_t variable, std::vector<index> key, Make&& make) {
        const auto [number, fresh] = numbers_.number_of(std::move(key));
        if (fresh) {
            known_.push_back(nullptr);
            std::vector<vertex_way> ways = make();
            const auto [content, unlike] = contents_.number_of(content_of(builder_.shape_of()[variable], ways));
            if (unlike) {
                by_content_.push_back(std::make_shared<const way_list>(way_list{std::move(ways), content}));
            }
            known_[number] = by_content_[content];
        }
        return known_[number];
    }

    /// Lists with the same ways are one, wherever they come from: the next vertex then has equal surroundings too.
    EINPARALLEL_INLINE static std::vector<index> content_of(index shape, const std::vector<vertex_way>& ways);

    /// Cuts of a variable's output, or of what it reads, that its candidates have.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<tensor_cut> cuts_made(std::size_t variable) const;
    EINPARALLEL_INLINE [[nodiscard]] std::vector<tensor_cut> cuts_read(std::size_t variable, std::size_t operand) const;
    EINPARALLEL_INLINE [[nodiscard]] std::vector<tensor_cut> cuts_in(std::size_t variable,
                                                                     const tensor_choices& tensor) const;

    /// Adds to every vector the least that a tensor must move to or from one of the cuts of its neighbour.
    EINPARALLEL_INLINE void add_edges(const vertex& tensor, const std::vector<tensor_cut>& others,
                                      const tensor_choices& own, bool own_first, bool marked,
                                      std::vector<double>& estimate) const;

    EINPARALLEL_INLINE double least_moving(const way_list& from, const std::vector<resting_id>& to,
                                           const vertex& tensor, const std::vector<resting_id>& marked);

    /// The best ways with the vectors of the smallest estimates.
    template <class Moving>
    std::vector<vertex_way> best_ways(std::size_t variable, const std::vector<double>& estimate, const beam& width,
                                      const Moving& moving) {
        std::vector<ranked> order;
        for (std::size_t vector = 0; vector < estimate.size(); ++vector) {
            order.emplace_back(estimate[vector], vector);
        }
        const std::size_t count = std::min(width.vectors, order.size());
        std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end());
        std::vector<std::size_t> vectors;
        for (std::size_t place = 0; place < count; ++place) {
            vectors.push_back(order[place].second);
        }
        const std::optional<std::vector<vertex_way>> all =
            ways_of(einsum_of(variable), *builder_.ways()[variable], own_costs(variable), vectors, (*seen_)[variable],
                    std::numeric_limits<std::size_t>::max(), false, table_);
        std::vector<ranked> scores;
        for (std::size_t way = 0; way < all->size(); ++way) {
            scores.emplace_back((*all)[way].cost + moving((*all)[way]), way);
        }
        sort_range(scores);
        std::vector<vertex_way> kept;
        for (const ranked& next : scores) {
            const std::size_t way = next.second;
            const auto alike = std::count_if(
                kept.begin(), kept.end(), [&](const vertex_way& other) { return other.vector == (*all)[way].vector; });
            if (static_cast<std::size_t>(alike) < width.per_vector) {
                kept.push_back((*all)[way]);
            }
            if (kept.size() == width.ways) {
                break;
            }
        }
        return kept;
    }

    /// Fills in where a way puts its tensors and what it costs.
    EINPARALLEL_INLINE void complete(std::size_t variable, vertex_way& way);

    /// Adds a way that looks unlike all others, or is cheaper than the one that looks like it.
    EINPARALLEL_INLINE static void add_unlike(vertex_way way, std::vector<vertex_way>& kept);

    EINPARALLEL_INLINE way_costs& own_costs(std::size_t variable);

    const einsum_graph& graph_;
    const options& asked_;
    const model_builder& builder_;
    double memory_price_;
    const std::vector<std::vector<tensor_reader>>& readers_;
    moving_costs& costs_;
    overlap_table& table_;
    std::vector<std::size_t> variable_of_;
    const std::vector<seen_tensors>* seen_ = nullptr;
    std::vector<std::shared_ptr<const way_list>> lists_;  // by variable
    const std::vector<resting_id> nowhere_;
    numbering numbers_;
    std::vector<std::shared_ptr<const way_list>> known_;
    numbering contents_;
    std::vector<std::shared_ptr<const way_list>> by_content_;
    std::vector<std::unique_ptr<way_costs>> own_costs_;  // by shape
};

EINPARALLEL_INLINE candidate_ways::candidate_ways(const einsum_graph& graph, const options& asked,
                                                  const model_builder& builder, double memory_price,
                                                  const std::vector<std::vector<tensor_reader>>& readers,
                                                  moving_costs& costs, overlap_table& table)
    : graph_(graph),
      asked_(asked),
      builder_(builder),
      memory_price_(memory_price),
      readers_(readers),
      costs_(costs),
      table_(table),
      variable_of_(graph.vertices.size(), no_variable) {
    for (std::size_t variable = 0; variable < builder.vertex_of().size(); ++variable) {
        variable_of_[builder.vertex_of()[variable]] = variable;
    }
}

EINPARALLEL_INLINE std::vector<std::shared_ptr<const way_list>> candidate_ways::around(
    const std::vector<int>& states, const placed_graph& present, const std::vector<seen_tensors>& seen) {
    seen_ = &seen;
    lists_.assign(states.size(), nullptr);
    for (std::size_t variable = 0; variable < states.size(); ++variable) {
        lists_[variable] = forward(variable, states[variable], present.einsums[builder_.vertex_of()[variable]]);
    }
    for (std::size_t variable = states.size(); variable-- > 0;) {
        lists_[variable] = backward(variable);
    }
    return lists_;
}

EINPARALLEL_INLINE const vertex& candidate_ways::einsum_of(std::size_t variable) const {
    return *graph_.vertices[builder_.vertex_of()[variable]];
}

EINPARALLEL_INLINE bool candidate_ways::is_marked(std::size_t variable) const {
    return einsum_of(variable).wishes.without_communication;
}

EINPARALLEL_INLINE std::size_t candidate_ways::producer(std::size_t variable, std::size_t operand) const {
    return variable_of_[graph_.inputs[builder_.vertex_of()[variable]][operand]];
}

EINPARALLEL_INLINE std::shared_ptr<const way_list> candidate_ways::forward(std::size_t variable, int state,
                                                                           const placed_einsum& present) {
    std::vector<index> key{0, builder_.shape_of()[variable], state, static_cast<index>(present.cuts.output)};
    key.insert(key.end(), present.cuts.operands.begin(), present.cuts.operands.end());
    for (const mesh_axis& axis : present.ranks.axes) {
        key.push_back(axis.label);
    }
    key.push_back((*seen_)[variable].output ? -1 : -2);
    for (std::size_t operand = 0; operand < (*seen_)[variable].operands.size(); ++operand) {
        const std::size_t input = graph_.inputs[builder_.vertex_of()[variable]][operand];
        const std::size_t made_by = producer(variable, operand);
        key.push_back(made_by != no_variable                 ? static_cast<index>(lists_[made_by]->number)
                      : costs_.is_fixed(input)               ? -3 - *costs_.fixed()[input]
                      : (*seen_)[variable].operands[operand] ? -1
                                                             : -2);
    }
    return listed(variable, std::move(key), [&] {
        const vertex& einsum = einsum_of(variable);
        const choices& known = *builder_.ways()[variable];
        std::vector<double> estimate(*known.cost);
        for (std::size_t operand = 0; operand < einsum.operands.size(); ++operand) {
            if (producer(variable, operand) != no_variable) {
                add_edges(*einsum.operands[operand], cuts_made(producer(variable, operand)), known.operands[operand],
                          false, is_marked(variable), estimate);
            }
        }
        const auto moving = [&](const vertex_way& way) {
            double sum = 0;
            for (std::size_t operand = 0; operand < way.operands.size(); ++operand) {
                const std::size_t input = graph_.inputs[builder_.vertex_of()[variable]][operand];
                const std::size_t made_by = producer(variable, operand);
                const std::vector<resting_id> wanted{way.operands[operand]};
                const std::vector<resting_id>& marked = is_marked(variable) ? wanted : nowhere_;
                if (made_by != no_variable) {
                    sum += least_moving(*lists_[made_by], wanted, *einsum.operands[operand], marked);
                } else if (costs_.is_fixed(input)) {
                    sum += costs_.from(*costs_.fixed()[input], wanted, *einsum.operands[operand], marked);
                }
            }
            return sum;
        };
        std::vector<vertex_way> kept = best_ways(variable, estimate, along, moving);
        vertex_way now{static_cast<std::size_t>(state), present.ranks, present.cuts, {}, in_place, 0, {}};
        complete(variable, now);
        add_unlike(std::move(now), kept);
        return kept;
    });
}

EINPARALLEL_INLINE std::shared_ptr<const way_list> candidate_ways::backward(std::size_t variable) {
    const std::vector<tensor_reader>& readers = readers_[builder_.vertex_of()[variable]];
    std::vector<index> key{1, static_cast<index>(lists_[variable]->number)};
    for (const tensor_reader& reader : readers) {
        key.push_back(static_cast<index>(lists_[reader.variable]->number));
        key.insert(key.end(), reader.operands.begin(), reader.operands.end());
        key.push_back(-1);
    }
    return listed(variable, std::move(key), [&] {
        std::vector<vertex_way> all = lists_[variable]->ways;
        if (readers.empty()) {
            return all;
        }
        const vertex& einsum = einsum_of(variable);
        const choices& known = *builder_.ways()[variable];
        std::vector<double> estimate(*known.cost);
        for (const tensor_reader& reader : readers) {
            add_edges(einsum, cuts_read(reader.variable, reader.operands.front()), known.output, true,
                      is_marked(reader.variable), estimate);
        }
        const auto moving = [&](const vertex_way& way) {
            double sum = 0;
            for (const tensor_reader& reader : readers) {
                double least = std::numeric_limits<double>::infinity();
                for (const vertex_way& other : lists_[reader.variable]->ways) {
                    const std::vector<resting_id> wanted{other.operands[reader.operands.front()]};
                    least = std::min(
                        least, costs_.from(way.output, wanted, einsum, is_marked(reader.variable) ? wanted : nowhere_));
                }
                sum += least;
            }
            return sum;
        };
        for (vertex_way& way : best_ways(variable, estimate, back, moving)) {
            add_unlike(std::move(way), all);
        }
        return all;
    });
}

EINPARALLEL_INLINE std::vector<index> candidate_ways::content_of(index shape, const std::vector<vertex_way>& ways) {
    std::vector<index> key{shape};
    for (const vertex_way& way : ways) {
        key.push_back(static_cast<index>(way.vector));
        key.push_back(way.output);
        key.insert(key.end(), way.operands.begin(), way.operands.end());
        key.push_back(static_cast<index>(way.cuts.output));
        key.insert(key.end(), way.cuts.operands.begin(), way.cuts.operands.end());
        for (const mesh_axis& axis : way.ranks.axes) {
            key.push_back(axis.label);
        }
        key.push_back(-2);
    }
    return key;
}

EINPARALLEL_INLINE std::vector<tensor_cut> candidate_ways::cuts_made(std::size_t variable) const {
    return cuts_in(variable, builder_.ways()[variable]->output);
}

EINPARALLEL_INLINE std::vector<tensor_cut> candidate_ways::cuts_read(std::size_t variable, std::size_t operand) const {
    return cuts_in(variable, builder_.ways()[variable]->operands[operand]);
}

EINPARALLEL_INLINE std::vector<tensor_cut> candidate_ways::cuts_in(std::size_t variable,
                                                                   const tensor_choices& tensor) const {
    std::vector<int> classes;
    for (const vertex_way& way : lists_[variable]->ways) {
        classes.push_back(tensor.classes->of_state[way.vector]);
    }
    sort_range(classes);
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    std::vector<tensor_cut> cuts;
    for (const int one : classes) {
        cuts.push_back(tensor.cut(static_cast<std::size_t>(one)));
    }
    return cuts;
}

EINPARALLEL_INLINE void candidate_ways::add_edges(const vertex& tensor, const std::vector<tensor_cut>& others,
                                                  const tensor_choices& own, bool own_first, bool marked,
                                                  std::vector<double>& estimate) const {
    std::vector<double> least(own.parts.size(), std::numeric_limits<double>::infinity());
    for (std::size_t one = 0; one < own.parts.size(); ++one) {
        for (const tensor_cut& other : others) {
            const tensor_cut& before = own_first ? own.cut(one) : other;
            const tensor_cut& after = own_first ? other : own.cut(one);
            const bool forbidden =
                marked && tensor_bytes(tensor) * smallest_moved_share(tensor.bounds, before, after) > 0;
            least[one] =
                std::min(least[one], forbidden ? forbidden_move : moving_estimate(tensor, before, after, asked_));
        }
    }
    for (std::size_t vector = 0; vector < estimate.size(); ++vector) {
        estimate[vector] += least[static_cast<std::size_t>(own.classes->of_state[vector])];
    }
}

EINPARALLEL_INLINE double candidate_ways::least_moving(const way_list& from, const std::vector<resting_id>& to,
                                                       const vertex& tensor, const std::vector<resting_id>& marked) {
    double least = std::numeric_limits<double>::infinity();
    for (const vertex_way& way : from.ways) {
        least = std::min(least, costs_.from(way.output, to, tensor, marked));
    }
    return least;
}

EINPARALLEL_INLINE void candidate_ways::complete(std::size_t variable, vertex_way& way) {
    put_tensors(way, einsum_of(variable), {}, (*seen_)[variable], table_);
    way.cost = own_costs(variable).of(way.vector, way.ranks, way.cuts);
}

EINPARALLEL_INLINE void candidate_ways::add_unlike(vertex_way way, std::vector<vertex_way>& kept) {
    for (vertex_way& other : kept) {
        if (other.output == way.output && other.operands == way.operands) {
            if (better(way.cost, other.cost)) {
                other = std::move(way);
            }
            return;
        }
    }
    kept.push_back(std::move(way));
}

EINPARALLEL_INLINE way_costs& candidate_ways::own_costs(std::size_t variable) {
    const auto shape = static_cast<std::size_t>(builder_.shape_of()[variable]);
    if (own_costs_.size() <= shape) {
        own_costs_.resize(shape + 1);
    }
    if (own_costs_[shape] == nullptr) {
        own_costs_[shape] =
            std::make_unique<way_costs>(einsum_of(variable), *builder_.ways()[variable], asked_, memory_price_);
    }
    return *own_costs_[shape];
}

}  // namespace einparallel::EINPARALLEL_DETAIL
