#pragma once
// The planner's problem: a variable for every vertex that is placed, and a factor for every tensor that moves, over its
// maker and its readers. Objectives differ in what a state costs (domain.ipp) and in what a move costs (move_cost), in
// nothing else.

#include <einparallel/graph/source.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/constraints.ipp>
#include <einparallel/plan/cost.hpp>
#include <einparallel/plan/domain.ipp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/numbering.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/places.hpp>
#include <einparallel/plan/solve.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
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

/// A tensor that is brought from one place to its readers: what an einsum makes, and inputs that rest somewhere.
EINPARALLEL_INLINE bool is_moved(const vertex& tensor) {
    return !tensor.is_input() || lies_somewhere(tensor) || is_placeholder(tensor);
}

/// Where an input lies that lies somewhere.
EINPARALLEL_INLINE distribution resting_of_source(const vertex& input) {
    if (is_pinned_input(input)) {
        return pinned_resting(input);
    }
    if (input.origin->kind() == source_kind::root) {
        return held_by_one(input.bounds, input.origin->root());
    }
    std::vector<box> boxes;
    for (int rank = 0; rank < input.origin->holders(); ++rank) {
        boxes.push_back(input.origin->held_by(rank));
    }
    return {input.bounds, std::move(boxes)};
}

/// A reader of a tensor: its variable and the operands by which it reads it.
struct tensor_reader {
    std::size_t variable = 0;
    std::vector<std::size_t> operands;
};

/// What moving one tensor from where it is made, or lies, to all its readers costs.
struct factor {
    std::size_t tensor = 0;            ///< number of its vertex
    std::optional<std::size_t> maker;  ///< its variable
    place_id from = anywhere;          ///< where it lies, without a maker
    std::vector<tensor_reader> readers;
    std::size_t first = 0;  ///< number of the first of these readers among those of the tensor
};

/// What bringing tensors from place to place costs. The second of the planner's two callbacks: a fourth objective is a
/// case here and one in partition_search and domain.
class move_cost {
public:
    EINPARALLEL_INLINE move_cost(const options& asked, place_table& table) : asked_(asked), table_(table) {}

    /// From one place to several, each of them once; to `marked` ones, of readers without communication, nothing may
    /// move. With `at_least`, no more than that: open places may be the same as others that are cut alike.
    EINPARALLEL_INLINE double of(place_id from, std::vector<place_id>& wanted, const std::vector<place_id>& marked,
                                 std::size_t element_bytes, bool at_least);

    /// Numbers by the paper's formula, for one reading.
    EINPARALLEL_INLINE double in_numbers(place_id from, place_id to, bool marked);

private:
    EINPARALLEL_INLINE double one(place_id from, place_id to, std::size_t element_bytes, bool at_least);

    const options& asked_;
    place_table& table_;

public:
    bool cuts_only = false;  ///< whether what moves at least is counted by the cuts alone
};

EINPARALLEL_INLINE double move_cost::one(place_id from, place_id to, std::size_t element_bytes, bool at_least) {
    if (from == to || from < 0 || to < 0) {
        return 0;
    }
    if (table_.bounds(from) != table_.bounds(to)) {
        return forbidden_move;  // a tensor in summands is read in as many; one that is finished is read as it is
    }
    const traffic moving = cuts_only  ? table_.by_cuts(from, to)
                           : at_least ? table_.at_least(from, to)
                                      : table_.between(from, to);
    return asked_.objective == objective::bytes ? moving.elements * static_cast<double>(element_bytes)
                                                : redistribution_seconds(moving, element_bytes, asked_.machine);
}

EINPARALLEL_INLINE double move_cost::of(place_id from, std::vector<place_id>& wanted,
                                        const std::vector<place_id>& marked, std::size_t element_bytes, bool at_least) {
    if (from < 0) {
        return 0;
    }
    if (wanted.size() > 1) {
        sort_range(wanted);
        wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    }
    double sum = 0;
    bool any_open = false;
    for (const place_id to : wanted) {
        any_open = any_open || (wanted.size() > 1 && to >= 0 && table_.is_open(to));
    }
    if (!any_open) {
        for (const place_id to : wanted) {
            sum += one(from, to, element_bytes, at_least);
        }
    } else {
        // Places that are surely different, exact ones first, then the dearest.
        std::vector<std::pair<double, place_id>> costs;
        for (const place_id to : wanted) {
            if (to >= 0) {
                costs.emplace_back(table_.is_open(to) ? -one(from, to, element_bytes, at_least)
                                                      : -std::numeric_limits<double>::infinity(),
                                   to);
            }
        }
        sort_range(costs);
        std::vector<place_id> counted;
        for (const auto& [cost, to] : costs) {
            if (std::ranges::none_of(counted,
                                     [&, place = to](place_id other) { return table_.may_be_one(place, other); })) {
                sum += table_.is_open(to) ? -cost : one(from, to, element_bytes, at_least);
                counted.push_back(to);
            }
        }
    }
    for (const place_id to : marked) {
        const double cost = one(from, to, element_bytes, at_least);
        sum += cost > 0 && cost < forbidden_move ? forbidden_move : 0;
    }
    return sum;
}

EINPARALLEL_INLINE double move_cost::in_numbers(place_id from, place_id to, bool marked) {
    if (from < 0 || to < 0 || !table_.is_open(from)) {
        return 0;
    }
    const double numbers = cost::repartition(table_.bounds(from), table_.parts(from), table_.parts(to));
    return numbers + (marked && table_.at_least(from, to).elements > 0 ? forbidden_move : 0);
}

/// A graph's variables, their domains, and the factors between them.
class factor_graph {
public:
    /// What a vertex may be, by its number; see cuts_of_graph().
    EINPARALLEL_INLINE factor_graph(const einsum_graph& graph, const options& asked,
                                    const std::vector<vertex_cuts>& may_be, place_table& table);

    [[nodiscard]] std::size_t size() const { return vertex_of_.size(); }
    /// Number of a variable's vertex.
    [[nodiscard]] std::size_t vertex_of(std::size_t variable) const { return vertex_of_[variable]; }
    /// Vertices of one kind share a domain.
    [[nodiscard]] std::size_t kind_of(std::size_t variable) const { return kind_of_[variable]; }
    [[nodiscard]] domain& states_of(std::size_t variable) { return domains_[kind_of_[variable]]; }
    [[nodiscard]] std::deque<domain>& domains() { return domains_; }
    [[nodiscard]] const std::vector<factor>& factors() const { return factors_; }
    /// The factors that a variable appears in.
    [[nodiscard]] const std::vector<std::size_t>& touching(std::size_t variable) const { return touching_[variable]; }

    /// Which of a domain's states a model is over.
    enum class which : std::uint8_t {
        exact,    ///< those that are placements
        written,  ///< with open ones; moves cost what they do at least
        all       ///< with one more for those that are not written down
    };

    /// A sum of tables for some states of every variable.
    struct model {
        cost_sum sum;
        std::vector<std::vector<int>> states;  ///< by kind: the states of the sum; -1 for the rest
        bool whole = true;                     ///< no factor was split into pairs
        std::size_t entries = 0;               ///< that were worked out
    };

    /// @param cells entries of one factor beyond which it is split into pairs of maker and reader: each reader then
    /// pays all of its move, or with `all` an n-th where n of them may want the same place
    /// @param known what some placement costs: combinations that cost more are not worked out to the end
    EINPARALLEL_INLINE model tables(which states, std::size_t cells,
                                    double known = std::numeric_limits<double>::infinity());

    /// What one factor costs for chosen states, by variable.
    EINPARALLEL_INLINE double cost(const factor& of, const std::vector<const state*>& chosen, bool at_least);

    /// Looks up exactly what the moves between chosen states cost; true where some were estimates.
    EINPARALLEL_INLINE bool settle(const std::vector<state>& chosen);

    /// The state that stands for all that are not written down.
    EINPARALLEL_INLINE state rest_of(std::size_t kind) const;

    /// Brings the places of tensors that are bound up to date with where their readers want them.
    EINPARALLEL_INLINE void update_bound();

private:
    /// How the states of one kind have a tensor: equal ones are one class.
    struct side {
        std::shared_ptr<const state_classes> classes;
        std::vector<std::vector<place_id>> places;  ///< by class
        std::vector<place_id> only;                 ///< by class: its place where it is one; anywhere elsewhere
    };

    EINPARALLEL_INLINE [[nodiscard]] std::vector<index> key_of(std::size_t number, const vertex_cuts& may_be,
                                                               const seen_tensors& seen) const;
    EINPARALLEL_INLINE std::size_t kind(std::vector<index> key, numbering& kinds);
    EINPARALLEL_INLINE [[nodiscard]] side side_of(std::size_t kind, const std::vector<int>& states,
                                                  const std::vector<std::size_t>& operands) const;
    EINPARALLEL_INLINE double cost_between(const factor& of, place_id from,
                                           const std::vector<const std::vector<place_id>*>& wanted, bool at_least);

    /// A kind of tensors that are bound at the run, and who reads them.
    struct bound_kind {
        std::size_t kind = 0;
        std::vector<tensor_reader> readers;
        bool is_output = false;
    };

    static constexpr std::size_t no_variable = static_cast<std::size_t>(-1);

    const einsum_graph& graph_;
    const options& asked_;
    place_table& table_;
    move_cost moves_;
    std::vector<std::size_t> vertex_of_;
    std::vector<std::size_t> kind_of_;
    std::deque<domain> domains_;
    std::vector<factor> factors_;
    std::vector<std::vector<std::size_t>> touching_;
    std::vector<bound_kind> bound_;
    bool has_marks_ = false;
    std::vector<place_id> wanted_;  // scratch
    std::vector<place_id> marked_;
};

EINPARALLEL_INLINE factor_graph::factor_graph(const einsum_graph& graph, const options& asked,
                                              const std::vector<vertex_cuts>& may_be, place_table& table)
    : graph_(graph), asked_(asked), table_(table), moves_(asked, table), has_marks_(has_marks(graph)) {
    const std::size_t count = graph.vertices.size();
    std::vector<place_id> lies(count, anywhere);
    std::vector<std::size_t> readings(count, 0);
    for (std::size_t number = 0; number < count; ++number) {
        if (lies_somewhere(*graph.vertices[number])) {
            lies[number] = table.exact(resting_of_source(*graph.vertices[number]));
        }
        for (const std::size_t input : graph.inputs[number]) {
            ++readings[input];
        }
    }
    numbering kinds;
    std::vector<std::size_t> variable_of(count, no_variable);
    std::vector<std::vector<tensor_reader>> readers(count);
    for (std::size_t number = 0; number < count; ++number) {
        const vertex& einsum = *graph.vertices[number];
        if (einsum.is_input()) {
            continue;
        }
        const std::size_t variable = variable_of[number] = vertex_of_.size();
        seen_tensors seen;
        for (std::size_t operand = 0; operand < graph.inputs[number].size(); ++operand) {
            const std::size_t input = graph.inputs[number][operand];
            const vertex& read = *graph.vertices[input];
            seen.operands.push_back(is_moved(read) &&
                                    (readings[input] > 1 || !is_placeholder(read) || lies[input] >= 0));
            seen.rests.push_back(is_moved(read));
            seen.from.push_back(lies[input]);
            std::vector<tensor_reader>& known = readers[input];
            if (known.empty() || known.back().variable != variable) {
                known.push_back({variable, {}});
            }
            known.back().operands.push_back(operand);
        }
        seen.output = readings[number] > 0;
        seen.pieces = asked.objective != objective::paper || has_marks_;
        vertex_of_.push_back(number);
        kind_of_.push_back(kind(key_of(number, may_be[number], seen), kinds));
        if (kind_of_.back() == domains_.size()) {
            domains_.emplace_back(einsum, may_be[number], std::move(seen), asked, table);
        }
    }
    for (std::size_t number = 0; number < count; ++number) {
        const vertex& tensor = *graph.vertices[number];
        if (readers[number].empty() || !is_moved(tensor) ||
            (tensor.is_input() && asked.objective == objective::paper)) {
            continue;
        }
        factor made{number, std::nullopt, lies[number], std::move(readers[number])};
        if (tensor.is_input() && made.from == anywhere) {
            if (readings[number] == 1) {
                continue;  // bound where its one reader wants it
            }
            const bool is_output = std::ranges::find(graph.outputs, number) != graph.outputs.end();
            std::vector<index> key{-1, is_output ? 1 : 0};
            for (const tensor_reader& reader : made.readers) {
                key.push_back(static_cast<index>(kind_of_[reader.variable]));
                key.insert(key.end(), reader.operands.begin(), reader.operands.end());
                key.push_back(-1);
            }
            made.maker = vertex_of_.size();
            vertex_of_.push_back(number);
            kind_of_.push_back(kind(std::move(key), kinds));
            if (kind_of_.back() == domains_.size()) {
                domains_.emplace_back();
                bound_.push_back({kind_of_.back(), made.readers, is_output});
            }
        } else if (!tensor.is_input()) {
            made.maker = variable_of[number];
        }
        factors_.push_back(std::move(made));
    }
    touching_.resize(size());
    for (std::size_t number = 0; number < factors_.size(); ++number) {
        for (const tensor_reader& reader : factors_[number].readers) {
            touching_[reader.variable].push_back(number);
        }
        if (factors_[number].maker) {
            touching_[*factors_[number].maker].push_back(number);
        }
    }
}

EINPARALLEL_INLINE std::size_t factor_graph::kind(std::vector<index> key, numbering& kinds) {
    return kinds.number_of(key).first;
}

/// What vertices of one kind have in common: all that their states and costs depend on.
EINPARALLEL_INLINE std::vector<index> factor_graph::key_of(std::size_t number, const vertex_cuts& may_be,
                                                           const seen_tensors& seen) const {
    const vertex& einsum = *graph_.vertices[number];
    constexpr index end = -2;  // of a list
    std::vector<index> key{-2, seen.output ? 1 : 0};
    for (std::size_t operand = 0; operand < einsum.form.operands.size(); ++operand) {
        const std::vector<label_id>& labels = einsum.form.operands[operand];
        key.insert(key.end(), labels.begin(), labels.end());
        key.insert(key.end(), {end, static_cast<index>(einsum.operands[operand]->element.bytes),
                               (seen.operands[operand] ? 1 : 0) + (seen.rests[operand] ? 2 : 0),
                               einsum.wishes.without_communication ? seen.from[operand] : anywhere});
    }
    key.push_back(end);
    key.insert(key.end(), einsum.form.output.begin(), einsum.form.output.end());
    key.insert(key.end(), {end, static_cast<index>(einsum.element.bytes)});
    key.insert(key.end(), einsum.extents.begin(), einsum.extents.end());
    key.insert(key.end(), {static_cast<index>(may_be.wanted), may_be.fell_back ? 1 : 0,
                           std::bit_cast<index>(einsum.work->operations_per_point()),
                           einsum.wishes.without_communication ? 1 : 0, einsum.wishes.pin ? 1 : 0});
    for (const mesh_axis& axis : pinned_axes(einsum)) {
        key.insert(key.end(), {axis.label, axis.parts});
    }
    for (const partition_family& family : may_be.families) {
        key.insert(key.end(),
                   {end, static_cast<index>(family.sums.operands), family.sums.summands, family.sums.output ? 1 : 0});
        key.insert(key.end(), family.fixed.begin(), family.fixed.end());
        key.insert(key.end(), family.free.begin(), family.free.end());
    }
    return key;
}

EINPARALLEL_INLINE state factor_graph::rest_of(std::size_t kind) const {
    state rest;
    rest.open = true;
    rest.cost = domains_[kind].rest();
    return rest;
}

EINPARALLEL_INLINE void factor_graph::update_bound() {
    constexpr std::size_t most = 512;
    for (const auto& [kind, readers, is_output] : bound_) {
        domain& places = domains_[kind];
        std::vector<place_id> wanted;
        std::vector<place_id> unknown;
        bool all = true;
        for (std::size_t number = 0; number < readers.size(); ++number) {
            const tensor_reader& reader = readers[number];
            const domain& of = states_of(reader.variable);
            if (of.rest() < std::numeric_limits<double>::infinity()) {
                unknown.push_back(wherever(number));
            }
            for (const state& each : of.states) {
                for (const std::size_t operand : each.cost < std::numeric_limits<double>::infinity()
                                                     ? reader.operands
                                                     : std::vector<std::size_t>{}) {
                    const place_id where = each.operands[operand];
                    if (!each.open || !table_.is_diagonal(where)) {
                        wanted.push_back(each.open ? where : table_.whole_of(where));
                        if (!each.open && !is_output) {
                            wanted.push_back(where);
                        }
                    } else {
                        all = false;  // where it would be completed is not known
                    }
                }
            }
        }
        sort_range(wanted);
        wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
        std::stable_partition(wanted.begin(), wanted.end(), [&](place_id place) { return !table_.is_open(place); });
        if (wanted.size() > most) {
            wanted.resize(most);
            all = false;
        }
        places.unlisted = all ? std::numeric_limits<double>::infinity() : 0;
        wanted.insert(wanted.end(), unknown.begin(), unknown.end());
        places.states.assign(wanted.size(), {});
        for (std::size_t place = 0; place < wanted.size(); ++place) {
            places.states[place].output = wanted[place];
            places.states[place].open = wanted[place] < 0 || table_.is_open(wanted[place]);
        }
    }
}

EINPARALLEL_INLINE double factor_graph::cost_between(const factor& of, place_id from,
                                                     const std::vector<const std::vector<place_id>*>& wanted,
                                                     bool at_least) {
    double sum = 0;
    wanted_.clear();
    marked_.clear();
    if (of.maker && from >= 0 && graph_.vertices[of.tensor]->is_input() && table_.is_diagonal(from)) {
        for (const std::vector<place_id>* places : wanted) {
            if (std::ranges::any_of(*places, [&](place_id to) { return to >= 0 && to != from; })) {
                return forbidden_move;  // it has not all that is wanted
            }
        }
    }
    for (std::size_t reader = 0; reader < wanted.size() && from < anywhere; ++reader) {
        if (from == wherever(of.first + reader) &&
            std::ranges::find(*wanted[reader], anywhere) == wanted[reader]->end()) {
            return forbidden_move;  // this reader wants it elsewhere
        }
    }
    for (std::size_t reader = 0; reader < wanted.size(); ++reader) {
        const bool marked =
            has_marks_ && graph_.vertices[vertex_of_[of.readers[reader].variable]]->wishes.without_communication;
        if (asked_.objective == objective::paper) {
            for (const place_id to : *wanted[reader]) {
                sum += moves_.in_numbers(from, to, marked);
            }
            continue;
        }
        wanted_.insert(wanted_.end(), wanted[reader]->begin(), wanted[reader]->end());
        if (marked) {
            marked_.insert(marked_.end(), wanted[reader]->begin(), wanted[reader]->end());
        }
    }
    return asked_.objective == objective::paper
               ? sum
               : moves_.of(from, wanted_, marked_, graph_.vertices[of.tensor]->element.bytes, at_least);
}

EINPARALLEL_INLINE double factor_graph::cost(const factor& of, const std::vector<const state*>& chosen, bool at_least) {
    std::vector<std::vector<place_id>> places(of.readers.size());
    std::vector<const std::vector<place_id>*> wanted;
    for (std::size_t reader = 0; reader < places.size(); ++reader) {
        const state& reading = *chosen[of.readers[reader].variable];
        for (const std::size_t operand : of.readers[reader].operands) {
            places[reader].push_back(reading.operands.empty() ? anywhere : reading.operands[operand]);
        }
        wanted.push_back(&places[reader]);
    }
    return cost_between(of, of.maker ? chosen[*of.maker]->output : of.from, wanted, at_least);
}

EINPARALLEL_INLINE bool factor_graph::settle(const std::vector<state>& chosen) {
    bool changed = false;
    for (const factor& each : factors_) {
        const place_id from = each.maker ? chosen[*each.maker].output : each.from;
        for (const tensor_reader& reader : each.readers) {
            for (const std::size_t operand : reader.operands) {
                changed = table_.settle(from, chosen[reader.variable].operands[operand]) || changed;
            }
        }
    }
    return changed;
}

EINPARALLEL_INLINE factor_graph::side factor_graph::side_of(std::size_t kind, const std::vector<int>& states,
                                                            const std::vector<std::size_t>& operands) const {
    side made;
    auto classes = std::make_shared<state_classes>();
    numbering numbers;
    std::vector<place_id> places;
    for (const int number : states) {
        const state* const each = number < 0 ? nullptr : &domains_[kind].states[static_cast<std::size_t>(number)];
        places.assign(std::max<std::size_t>(operands.size(), 1), anywhere);
        for (std::size_t place = 0; place < operands.size() && each != nullptr; ++place) {
            places[place] = each->operands[operands[place]];
        }
        if (operands.empty() && each != nullptr) {
            places.front() = each->output;
        }
        const auto [position, unlike] = numbers.number_of(std::vector<index>(places.begin(), places.end()));
        classes->of_state.push_back(static_cast<int>(position));
        if (unlike) {
            made.places.push_back(places);
            made.only.push_back(places.size() == 1 ? places.front() : anywhere);
        }
    }
    classes->count = made.places.size();
    made.classes = std::move(classes);
    return made;
}

/// Writes the tables of a factor graph for some of its states.
EINPARALLEL_INLINE factor_graph::model factor_graph::tables(which states, std::size_t cells, double known) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const bool at_least = states != which::exact;
    model made;
    std::vector<std::shared_ptr<const std::vector<double>>> own;
    for (const domain& each : domains_) {
        std::vector<int>& kept = made.states.emplace_back();
        std::vector<double> costs;
        for (std::size_t number = 0; number < each.states.size(); ++number) {
            const state& one = each.states[number];
            if (one.cost < infinity && (at_least || !one.open)) {
                kept.push_back(static_cast<int>(number));
                costs.push_back(one.cost);
            }
        }
        if (states == which::all && each.rest() < infinity) {
            kept.push_back(-1);
            costs.push_back(each.rest());
        }
        own.push_back(std::make_shared<const std::vector<double>>(std::move(costs)));
    }
    // Beside the cheapest states of all others a move may cost so much.
    double slack = known;
    std::vector<double> cheapest;
    for (const auto& costs : own) {
        cheapest.push_back(costs->empty() ? 0 : *std::min_element(costs->begin(), costs->end()));
    }
    for (const std::size_t kind : kind_of_) {
        made.sum.variables.push_back(own[kind]);
        slack -= cheapest[kind];
    }
    numbering side_numbers;
    std::deque<side> sides;
    const auto side_at = [&](std::size_t variable, const std::vector<std::size_t>& operands) -> const side& {
        std::vector<index> key{static_cast<index>(kind_of_[variable])};
        key.insert(key.end(), operands.begin(), operands.end());
        const auto [number, fresh] = side_numbers.number_of(key);
        if (fresh) {
            sides.push_back(side_of(kind_of_[variable], made.states[kind_of_[variable]], operands));
        }
        return sides[number];
    };
    numbering table_numbers;
    std::vector<std::shared_ptr<const std::vector<double>>> by_number;
    // The table of a factor; or of one of its readings, whose costs are divided by `shares` of the reader's classes.
    const auto add = [&](const factor& of, const std::vector<index>& shares) {
        struct part {
            std::size_t variable;
            const side* seen;
            std::size_t reader;  // no_variable: the maker
        };
        std::vector<part> parts;
        std::vector<index> key{of.from, static_cast<index>(graph_.vertices[of.tensor]->element.bytes),
                               of.maker && graph_.vertices[of.tensor]->is_input() ? static_cast<index>(of.first) : -1};
        key.insert(key.end(), shares.begin(), shares.end());
        key.push_back(-1);
        if (of.maker) {
            parts.push_back({*of.maker, &side_at(*of.maker, {}), no_variable});
            key.push_back(static_cast<index>(kind_of_[*of.maker]));
        }
        for (std::size_t reader = 0; reader < of.readers.size(); ++reader) {
            const auto& [variable, operands] = of.readers[reader];
            parts.push_back({variable, &side_at(variable, operands), reader});
            key.push_back(-1 - static_cast<index>(kind_of_[variable]));
            key.insert(key.end(), operands.begin(), operands.end());
        }
        std::ranges::sort(parts, {}, &part::variable);
        cost_table table;
        std::size_t count = 1;
        for (const part& each : parts) {
            table.scope.push_back(each.variable);
            table.classes.push_back(each.seen->classes);
            count *= each.seen->classes->count;
            key.push_back(each.reader == no_variable ? -1 : 0);
        }
        const auto [number, fresh] = table_numbers.number_of(key);
        if (fresh) {
            std::vector<double> costs;
            costs.reserve(count);
            std::vector<std::size_t> turn(parts.size(), 0);
            std::vector<const std::vector<place_id>*> wanted(of.readers.size());
            const auto costs_of = [&](const factor& each, place_id from,
                                      const std::vector<const std::vector<place_id>*>& to) {
                if (!at_least && asked_.objective != objective::paper && slack < infinity) {
                    moves_.cuts_only = true;
                    const double least = cost_between(each, from, to, true);
                    moves_.cuts_only = false;
                    if (least > slack) {
                        return least;
                    }
                    ++made.entries;
                }
                return cost_between(each, from, to, at_least);
            };
            // Of several readers that want different places, the sum of what each of them alone costs.
            const std::vector<place_id> here{of.from};
            const std::vector<std::vector<place_id>> lies{here};
            const std::vector<std::vector<place_id>>* made_at = &lies;
            std::size_t maker = no_variable;
            for (std::size_t place = 0; place < parts.size(); ++place) {
                maker = parts[place].reader == no_variable ? place : maker;
            }
            made_at = maker == no_variable ? made_at : &parts[maker].seen->places;
            std::vector<std::vector<double>> alone(of.readers.size());
            for (const part& each : of.readers.size() > 1 ? parts : std::vector<part>{}) {
                if (each.reader == no_variable) {
                    continue;
                }
                const factor one{of.tensor, of.maker, of.from, {of.readers[each.reader]}, each.reader};
                for (const std::vector<place_id>& from : *made_at) {
                    for (const std::vector<place_id>& to : each.seen->places) {
                        alone[each.reader].push_back(costs_of(one, from.front(), {&to}));
                    }
                }
            }
            while (costs.size() < count) {
                const std::size_t made_as = maker == no_variable ? 0 : turn[maker];
                const place_id from = (*made_at)[made_as].front();
                double sum = 0;
                bool apart = of.readers.size() > 1;
                for (std::size_t place = 0; place < parts.size(); ++place) {
                    const std::size_t reader = parts[place].reader;
                    if (reader == no_variable) {
                        continue;
                    }
                    const side& seen = *parts[place].seen;
                    wanted[reader] = &seen.places[turn[place]];
                    if (!apart) {
                        continue;
                    }
                    sum += alone[reader][made_as * seen.places.size() + turn[place]];
                    for (std::size_t other = 0; other < place && apart; ++other) {
                        const side& beside = *parts[other].seen;
                        apart = parts[other].reader == no_variable ||
                                !table_.may_be_one(seen.only[turn[place]], beside.only[turn[other]]);
                    }
                }
                double share = 1;
                for (std::size_t place = 0; place < parts.size() && !shares.empty(); ++place) {
                    share = parts[place].reader == no_variable ? share : static_cast<double>(shares[turn[place]]);
                }
                costs.push_back((apart ? sum : costs_of(of, from, wanted)) / share);
                for (std::size_t place = turn.size(); place-- > 0;) {
                    if (++turn[place] < table.classes[place]->count) {
                        break;
                    }
                    turn[place] = 0;
                }
            }
            made.entries += count;
            by_number.push_back(std::make_shared<const std::vector<double>>(std::move(costs)));
        }
        table.cost = by_number[number];
        made.sum.tables.push_back(std::move(table));
    };
    for (const factor& each : factors_) {
        double count = each.maker ? static_cast<double>(side_at(*each.maker, {}).classes->count) : 1;
        for (const tensor_reader& reader : each.readers) {
            count *= static_cast<double>(side_at(reader.variable, reader.operands).classes->count);
        }
        const bool by_reader = asked_.objective == objective::paper || count > static_cast<double>(cells);
        if (!by_reader || each.readers.size() == 1) {
            add(each, {});
            continue;
        }
        made.whole = made.whole && asked_.objective == objective::paper;
        for (std::size_t number = 0; number < each.readers.size(); ++number) {
            const tensor_reader& reader = each.readers[number];
            std::vector<index> shares;
            if (states == which::all && asked_.objective != objective::paper) {
                for (const place_id mine : side_at(reader.variable, reader.operands).only) {
                    shares.push_back(std::ranges::count_if(each.readers, [&](const tensor_reader& other) {
                        return std::ranges::any_of(side_at(other.variable, other.operands).only,
                                                   [&](place_id theirs) { return table_.may_be_one(mine, theirs); });
                    }));
                }
            }
            add({each.tensor, each.maker, each.from, {reader}, number}, shares);
        }
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
