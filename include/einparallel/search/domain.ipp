#pragma once
// The states of a vertex, made as they are asked for.

#include <einparallel/cost/numbering.hpp>
#include <einparallel/cost/places.hpp>
#include <einparallel/cost/traffic.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/schedule/pending.hpp>
#include <einparallel/schedule/task.hpp>
#include <einparallel/search/options.hpp>
#include <einparallel/search/partition.ipp>
#include <einparallel/search/pins.ipp>
#include <einparallel/search/search.hpp>
#include <einparallel/search/solver/solve.hpp>
#include <einparallel/search/state.ipp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The states of vertices of one kind, made as they are asked for: partition vectors, the cheapest first, with at least
/// one state each.
class domain {
public:
    EINPARALLEL_INLINE domain(const vertex& einsum, vertex_cuts may_be, seen_tensors seen, const options& asked,
                              place_table& table)
        : einsum_(&einsum),
          may_be_(std::move(may_be)),
          seen_(std::move(seen)),
          asked_(&asked),
          table_(&table),
          usual_(einsum, may_be_.families, asked, table.on(), seen_.lasting),
          others_(einsum, may_be_.families, asked, table.on(), seen_.lasting, true) {}

    /// True where a vertex is of this kind: everything that its states and their costs depend on is equal. Its labels
    /// and extents are compared with the cuts.
    EINPARALLEL_INLINE bool is_for(const vertex& einsum, const vertex_cuts& may_be, const seen_tensors& seen) const {
        const auto all_of = [](const vertex& each) {
            return std::tuple(operand_bytes_of(each), each.element.bytes, each.work->operations_per_point(),
                              each.constraints.without_communication, each.constraints.pin.has_value(),
                              pinned_axes(each));
        };
        return seen == seen_ && may_be == may_be_ && all_of(einsum) == all_of(*einsum_);
    }

    std::vector<state> states;
    std::vector<listed_vector> vectors;
    mutable std::size_t costs_compared = 0;  ///< of orders of axes
    bool has_others = true;  ///< it also lists vectors for any number of ranks, beside those for usual numbers
    /// The effort of one state; 1 where all operands lie in blocks. Overlapping boxes are worked out for every rank.
    std::size_t weight() const { return einsum_->form.is_plain() ? 1 : std::size_t(asked_->processes); }

    /// True where there are vectors for other than usual numbers of ranks.
    bool may_have_others() const { return may_be_.has_others(); }
    /// Every state whose partition vector is not listed costs at least this; infinity where there is none.
    double unlisted_rest() const { return has_others ? std::min(usual_.rest(), others_.rest()) : usual_.rest(); }
    /// Every state that is not written down costs at least this; infinity where there is none.
    EINPARALLEL_INLINE double rest() const {
        double least = unlisted_rest();
        for (const listed_vector& each : vectors) {
            least = each.is_whole ? least : std::min(least, each.least);
        }
        return least;
    }
    /// Adds the next `count` partition vectors for usual numbers of ranks, and half as many for any number, because
    /// many of those look alike. False where it adds none.
    EINPARALLEL_INLINE bool grow(std::size_t count) {
        const std::size_t before = vectors.size();
        add_next(usual_, count);
        add_next(others_, has_others ? count / 2 : 0);
        return vectors.size() > before;
    }

    /// For some numbers of ranks, each at most half of the one before, adds the cheapest partition vector that reads no
    /// summands. So several neighbours can leave ranks idle together, which is better than one vertex alone.
    EINPARALLEL_INLINE void grow_each_number() {
        for (std::size_t family = 0; family < may_be_.families.size(); ++family) {
            int last = std::numeric_limits<int>::max();
            for (const int product : may_be_.families[family].products) {
                if (may_be_.families[family].sums.operands == 0 && product <= last / 2) {
                    std::vector<partition_family> one{may_be_.families[family]};
                    one.front().products = {product};
                    auto first = cheapest_partitions(*einsum_, one, *asked_, table_->on(), seen_.lasting).next();
                    if (first) {
                        first->family = family;
                        add_vector(*first);
                        last = product;
                    }
                }
            }
        }
    }

    /// Adds vectors of every family that have the cuts of a mesh over some labels. The ranks that are left go to any
    /// one label. False where it adds none.
    EINPARALLEL_INLINE bool follow(const mesh& like) {
        const std::size_t before = vectors.size();
        for (std::size_t number = 0; number < may_be_.families.size() && asked_->objective != objective::paper;
             ++number) {
            for (std::vector<int>& parts : parts_like(may_be_.families[number], like)) {
                add_vector({-1, 0, std::move(parts), number});
            }
        }
        return vectors.size() > before;
    }

    /// Appends placements with the partition vector of a state. True where these are all of them, and not more than
    /// `few`. @param like  meshes of neighbours, whose orders of axes compete where not all do
    EINPARALLEL_INLINE bool placements_of(const state& of, std::size_t few, const std::vector<mesh>& like,
                                          std::vector<state>& into) {
        if (of.feed.slices > 0 || asked_->objective == objective::paper) {
            into.push_back(of);
            return true;
        }
        const summed_einsum summed = with_sums(einsum_->form, einsum_->extents, of.sums, of.ranks);
        std::vector<mesh> orders = axis_orders(*einsum_, of.ranks, summed.extents.size(), table_->on().groups());
        std::vector<task_cuts> cuts = resting_cuts(summed, of, seen_.rests, true);
        const bool all = of.ranks.axes.size() <= 4 && orders.size() * cuts.size() <= few;
        if (!all) {
            cuts = resting_cuts(summed, of, seen_.rests, false);
            keep_cheapest(orders, of, like);
        }
        for (const task_cuts& cut : cuts) {
            state made = of;
            made.cuts = cut;
            made.cost = asked_->objective == objective::time && !has_levels() ? cost_of(made) : made.cost;
            for (const mesh& ranks : orders) {
                made.ranks = ranks;
                made.cost = has_levels() ? cost_of(made) : made.cost;
                put(made, summed);
                into.push_back(made);
            }
        }
        return all;
    }

    /// The task of a vertex of this kind in a state.
    EINPARALLEL_INLINE task work_of(const state& made, const options& asked) const {
        return task_of(*einsum_, made, may_be_.wanted, asked, table_->on(), seen_.lasting);
    }

    /// A state that another search has found, perhaps for ranks that are all alike, with what it costs here.
    EINPARALLEL_INLINE state priced(state found) {
        found.cost = has_levels() ? cost_of(found) : found.cost + may_be_.price_of(work_of(found, *asked_));
        if (has_levels() && found.feed.slices == 0) {
            put(found, with_sums(einsum_->form, einsum_->extents, found.sums, found.ranks));
        }
        return found;
    }

    /// Adds a state. False where a state that looks the same to all neighbours is known and as cheap.
    EINPARALLEL_INLINE bool add(state made) {
        std::vector<index> signature(made.operands.begin(), made.operands.end());
        signature.insert(signature.end(), {made.output, index(made.sums.operands), made.sums.summands});
        const auto [number, fresh] = signatures_.number_of(signature);
        states.resize(signatures_.size());
        const bool is_cheaper = fresh || better(made.cost, states[number].cost);
        if (is_cheaper) {
            states[number] = std::move(made);
        }
        return is_cheaper;
    }

private:
    /// True where the order of axes decides what a vertex costs.
    bool has_levels() const { return !table_->on().is_flat() && asked_->objective != objective::paper; }

    EINPARALLEL_INLINE void keep_cheapest(std::vector<mesh>& orders, const state& of, const std::vector<mesh>& like,
                                          std::size_t few = 8) const {
        if (has_levels() && orders.size() > few) {
            costs_compared += orders.size();
            state tried = of;
            orders = cheapest_orders(std::move(orders), of.ranks, like, few, [&](const mesh& ranks) {
                tried.ranks = ranks;
                return cost_of(tried);
            });
        }
    }

    EINPARALLEL_INLINE void add_next(cheapest_partitions& from, std::size_t count) {
        for (const std::size_t end = vectors.size() + count; vectors.size() < end;) {
            const std::optional<partition_candidate> next = from.next();
            if (!next) {
                return;
            }
            add_vector(*next);
        }
    }

    /// True where an input has to move from its place in `seen_.from`, whatever the order of the axes.
    EINPARALLEL_INLINE bool moves_input(const state& made) const {
        bool any = false;
        for (std::size_t operand = 0; operand < seen_.from.size(); ++operand) {
            bool all = seen_.from[operand] != anywhere;
            for (const mesh& ranks : all ? axis_orders(*einsum_, made.ranks) : std::vector<mesh>{}) {
                const place_id to = operand_place(einsum_->form, einsum_->extents, operand, ranks,
                                                  made.cuts.operands[operand], *table_);
                all = all && table_->between(seen_.from[operand], to).elements > 0;
            }
            any = any || all;
        }
        return any;
    }

    /// Adds a partition vector and its natural state, unless the vector is known.
    EINPARALLEL_INLINE void add_vector(const partition_candidate& next) {
        std::vector<index> key(next.parts.begin(), next.parts.end());
        key.push_back(index(next.family));
        if (!vectors_met_.number_of(key).second) {
            return;
        }
        state made;
        made.ranks = natural_mesh(*einsum_, next.parts, may_be_.families[next.family].points);
        made.sums = may_be_.families[next.family].sums;
        if (made.sums.output && sharers(einsum_->form.output, made.ranks) == 1) {
            return;  // finished as it is
        }
        const summed_einsum summed = with_sums(einsum_->form, einsum_->extents, made.sums, made.ranks);
        made.cuts = choose_cuts(summed.form, summed.extents, made.ranks);
        made.cuts.output = made.sums.output ? 0 : made.cuts.output;
        add_fed(made, summed, next.least);
        if (may_be_.wanted == algorithm::master_worker) {
            return;
        }
        const bool is_paper = asked_->objective == objective::paper;
        made.cost = is_paper ? next.least : cost_of(made);
        if (is_paper && einsum_->constraints.without_communication && moves_input(made)) {
            made.cost += forbidden_move;
        }
        put(made, summed);
        listed_vector& listed =
            vectors.emplace_back(listed_vector{made, has_levels() ? usual_.least_of(next) : made.cost, is_paper});
        state other = made;
        for (task_cuts& cuts : asked_->objective == objective::time && !has_levels()
                                   ? resting_cuts(summed, made, seen_.rests, true)
                                   : std::vector<task_cuts>{}) {
            other.cuts = std::move(cuts);
            listed.least = std::min(listed.least, cost_of(other));
        }
        // Only the first vectors get states: tables over more take the effort of everything else. Pending sums need a
        // state of the maker and of its reader at once, which no look at one vertex finds.
        constexpr std::size_t most = 64;
        if (vectors.size() <= most || is_paper || !made.sums.none()) {
            std::vector<mesh> orders =
                has_levels() ? axis_orders(*einsum_, made.ranks, summed.extents.size(), table_->on().groups())
                             : std::vector<mesh>();
            keep_cheapest(orders, made, {}, 1);
            add(made);
            for (mesh& ranks : orders) {
                made.ranks = std::move(ranks);
                made.cost = cost_of(made);
                put(made, summed);
                add(made);
            }
        }
    }

    /// Adds the master–worker states over one axis along a label of the output, if the user asks for them, or if an
    /// operand lies on one rank under `time`. That rank is then the master.
    EINPARALLEL_INLINE void add_fed(const state& like, const summed_einsum& summed, double least) {
        const bool asked_for = may_be_.wanted == algorithm::master_worker;
        const bool competes = may_be_.wanted == algorithm::automatic && asked_->objective == objective::time &&
                              asked_->algorithm == algorithm::automatic && einsum_->is_free_contraction();
        if ((!asked_for && !competes) || like.ranks.axes.size() != 1 || like.sums.operands != 0 || like.sums.output ||
            !like.ranks.axes.front().points.empty() || !einsum_->form.in_output(like.ranks.axes.front().label)) {
            return;
        }
        const std::vector<int> masters = masters_among(seen_.from, like.ranks.size(), asked_for, *table_);
        const task unfed = make_task(summed, operand_bytes_of(*einsum_), einsum_->element.bytes, like.ranks, like.cuts);
        for (const int master : masters) {
            const task work = best_fed(unfed, master, einsum_->work->operations_per_point(), table_->on());
            state made = like;
            made.feed = work.feed;
            made.cost = asked_->objective == objective::paper ? least : cost_of(made);
            const int holder = asked_->objective == objective::paper ? 0 : master;  // the paper knows no ranks
            for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
                const std::vector<index>& bounds = work.operands[operand].bounds();
                made.operands.push_back(seen_.operands[operand] ? table_->on_rank(bounds, holder) : anywhere);
            }
            made.output = seen_.output ? table_->on_rank(work.output.bounds(), holder) : anywhere;
            add(std::move(made));
        }
    }

    /// Sets the places of the operands and of the output that others see.
    EINPARALLEL_INLINE void put(state& made, const summed_einsum& summed) {
        const auto place = [&](const std::vector<label_id>& labels, const mesh& ranks, std::size_t cut) {
            const std::vector<index> bounds = bounds_of(labels, summed.extents);
            if (asked_->objective != objective::paper) {
                return table_->exact(bounds, ranks, labels, cut);
            }
            mesh known = ranks;
            if (!seen_.sees_places) {
                std::erase_if(known.axes, [&](const mesh_axis& axis) { return !found_in(axis.label, labels); });
            }
            return table_->cut_like({bounds, known, labels, 0});
        };
        made.operands.clear();
        for (std::size_t operand = 0; operand < summed.form.operands.size(); ++operand) {
            place_id& at = made.operands.emplace_back(
                !seen_.operands[operand] ? anywhere
                : summed.form.is_viewed(operand) && asked_->objective == objective::paper
                    ? anywhere  // the paper knows of no boxes that overlap
                : summed.form.is_viewed(operand)
                    ? operand_place(summed.form, summed.extents, operand, made.ranks, 0, *table_)
                    : place(summed.form.operands[operand], made.ranks, made.cuts.operands[operand]));
            const std::vector<label_id>& labels = summed.form.operands[operand];
            if (seen_.shares[operand] && seen_.lasting.may_hold(operand) && sharers(labels, made.ranks) > 1) {
                const distribution blocks(bounds_of(labels, summed.extents), made.ranks, labels,
                                          made.cuts.operands[operand]);
                const double covered = covered_elements(labels, summed.extents, made.ranks);
                at = table_->gathered(at, blocks, gathered_beyond(blocks, covered, table_->on(), asked_->level));
            }
        }
        if (made.sums.output) {
            made.output = place(summed.form.output, axes_of_summands(made.ranks, summed.form.output), 0);
        } else if (seen_.output) {
            made.output = place(summed.form.output, made.ranks, made.cuts.output);
        }
    }

    EINPARALLEL_INLINE double cost_of(const state& made) const {
        const task work = work_of(made, *asked_);
        return may_be_.price_of(work) +
               (asked_->objective == objective::bytes
                    ? bytes_between(work, table_->on(), asked_->level, seen_.lasting, looked_through)
                    : task_seconds(work, einsum_->work->operations_per_point(), table_->on(), seen_.lasting));
    }

    const vertex* einsum_ = nullptr;
    vertex_cuts may_be_;
    seen_tensors seen_;
    const options* asked_ = nullptr;
    place_table* table_ = nullptr;
    cheapest_partitions usual_;   // for numbers of ranks that families list
    cheapest_partitions others_;  // for every number, in families where every number competes
    numbering vectors_met_;
    numbering signatures_;  // of states, in their order
};

}  // namespace einparallel::EINPARALLEL_DETAIL
