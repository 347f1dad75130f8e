#pragma once
// The planner's problem over whole placements, exact in what the executor sends: a term for the work of every vertex
// and one for every tensor that moves, between its maker and all its readers.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/align.ipp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/numbering.ipp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/overlap.ipp>
#include <einparallel/plan/pairwise.hpp>
#include <einparallel/plan/source_cost.ipp>
#include <einparallel/plan/ways.ipp>
#include <einparallel/plan/wishes.ipp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// How large a model over whole placements may grow.
struct placement_limits {
    std::size_t cells = std::size_t{1} << 20;  ///< entries of one term
    std::size_t moves = 2'000'000;             ///< redistributions looked at in all
};

/// A reader of a tensor: the einsum's variable and the operands by which it reads it.
struct tensor_reader {
    std::size_t variable = 0;
    std::vector<std::size_t> operands;
};

/// Who reads which tensor, by number of the vertex that makes it; readers ascend.
EINPARALLEL_INLINE std::vector<std::vector<tensor_reader>> readers_of(const einsum_graph& graph,
                                                                      const std::vector<std::size_t>& vertex_of) {
    std::vector<std::vector<tensor_reader>> readers(graph.vertices.size());
    for (std::size_t variable = 0; variable < vertex_of.size(); ++variable) {
        const std::vector<std::size_t>& inputs = graph.inputs[vertex_of[variable]];
        for (std::size_t operand = 0; operand < inputs.size(); ++operand) {
            std::vector<tensor_reader>& known = readers[inputs[operand]];
            if (known.empty() || known.back().variable != variable) {
                known.push_back({variable, {}});
            }
            known.back().operands.push_back(operand);
        }
    }
    return readers;
}

/// Ways of one variable as others see them. Vertices of one shape share it.
struct way_list {
    std::vector<vertex_way> ways;
    std::size_t number = 0;  ///< equal lists have equal numbers
};

/// What bringing tensors from place to place costs, as the objective counts it.
class moving_costs {
public:
    /// @param sums whether some tensors may rest in summands
    EINPARALLEL_INLINE moving_costs(const einsum_graph& graph, const options& asked, overlap_table& table, bool sums);

    /// Where the inputs lie that lie somewhere, by number of the vertex.
    [[nodiscard]] const std::vector<std::optional<resting_id>>& fixed() const { return fixed_; }
    [[nodiscard]] bool is_fixed(std::size_t number) const { return fixed_[number].has_value(); }

    /// From one place to several, each of them once. To places in `marked` nothing may move: of readers without
    /// communication.
    EINPARALLEL_INLINE double from(resting_id place, const std::vector<resting_id>& wanted, const vertex& tensor,
                                   const std::vector<resting_id>& marked = {});

    /// The place among `wanted` in which a placeholder is bound best. It has all that the others want, and whoever
    /// takes it as an output: one that has the blocks on a diagonal only is then completed.
    EINPARALLEL_INLINE resting_id bound_at(const std::vector<resting_id>& wanted, const vertex& input,
                                           const std::vector<resting_id>& marked = {});

    /// From where an input lies, or is bound best.
    EINPARALLEL_INLINE double of_input(std::size_t number, const std::vector<resting_id>& wanted, const vertex& input,
                                       const std::vector<resting_id>& marked = {});

private:
    /// A tensor in summands is read in as many; one that is finished is read as it is.
    EINPARALLEL_INLINE [[nodiscard]] bool is_other_sum(resting_id a, resting_id b) const;

    const options& asked_;
    overlap_table& table_;
    bool sums_;
    std::vector<const vertex*> outputs_;
    std::vector<std::optional<resting_id>> fixed_;
};

EINPARALLEL_INLINE moving_costs::moving_costs(const einsum_graph& graph, const options& asked, overlap_table& table,
                                              bool sums)
    : asked_(asked), table_(table), sums_(sums), fixed_(graph.vertices.size()) {
    for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
        if (lies_somewhere(*graph.vertices[number])) {
            fixed_[number] = table.number_of(resting_of_source(*graph.vertices[number]));
        }
    }
    for (const std::size_t output : graph.outputs) {
        outputs_.push_back(graph.vertices[output].get());
    }
}

EINPARALLEL_INLINE double moving_costs::from(resting_id place, const std::vector<resting_id>& wanted,
                                             const vertex& tensor, const std::vector<resting_id>& marked) {
    const std::size_t bytes = tensor.element.bytes;
    double sum = 0;
    for (const resting_id to : wanted) {
        if (place != to && is_other_sum(place, to)) {
            sum += forbidden_move;
        } else if (place != to) {
            sum += asked_.objective == objective::bytes
                       ? table_.moved(place, to) * static_cast<double>(bytes)
                       : redistribution_seconds(table_.between(place, to), bytes, asked_.machine);
        }
    }
    for (const resting_id to : marked) {
        sum += place != to && !is_other_sum(place, to) && table_.moved(place, to) > 0 ? forbidden_move : 0;
    }
    return sum;
}

EINPARALLEL_INLINE resting_id moving_costs::bound_at(const std::vector<resting_id>& wanted, const vertex& input,
                                                     const std::vector<resting_id>& marked) {
    const bool completed = wanted.size() > 1 || std::find(outputs_.begin(), outputs_.end(), &input) != outputs_.end();
    resting_id best = in_place;
    double least = std::numeric_limits<double>::infinity();
    for (const resting_id each : wanted) {
        const resting_id place = completed ? table_.whole_of(each) : each;
        const double cost = from(place, wanted, input, marked);
        if (better(cost, least)) {
            least = cost;
            best = place;
        }
    }
    return best;
}

EINPARALLEL_INLINE double moving_costs::of_input(std::size_t number, const std::vector<resting_id>& wanted,
                                                 const vertex& input, const std::vector<resting_id>& marked) {
    if (wanted.empty()) {
        return 0;
    }
    return from(fixed_[number] ? *fixed_[number] : bound_at(wanted, input, marked), wanted, input, marked);
}

EINPARALLEL_INLINE bool moving_costs::is_other_sum(resting_id a, resting_id b) const {
    return sums_ && table_.resting(a).bounds() != table_.resting(b).bounds();
}

/// Builds the model for given ways of every vertex.
EINPARALLEL_INLINE class placement_model {
public:
    /// `ways[variable]` belong to vertex `vertex_of[variable]`.
    placement_model(const einsum_graph& graph, const std::vector<std::size_t>& vertex_of,
                    const std::vector<std::shared_ptr<const way_list>>& ways, moving_costs& costs)
        : graph_(graph), vertex_of_(vertex_of), ways_(ways), costs_(costs) {}

    /// Nothing where it would grow past the limits.
    std::optional<pairwise_model> build(placement_limits limits) {
        limits_ = limits;
        pairwise_model model;
        std::vector<std::shared_ptr<const std::vector<double>>> by_number;
        for (const std::shared_ptr<const way_list>& list : ways_) {
            by_number.resize(std::max(by_number.size(), list->number + 1));
            std::shared_ptr<const std::vector<double>>& cost = by_number[list->number];
            if (cost == nullptr) {
                std::vector<double> costs;
                for (const vertex_way& way : list->ways) {
                    costs.push_back(way.cost);
                }
                cost = std::make_shared<const std::vector<double>>(std::move(costs));
            }
            model.variables.push_back(cost);
        }
        std::vector<std::size_t> variable_of(graph_.vertices.size(), no_variable);
        for (std::size_t variable = 0; variable < vertex_of_.size(); ++variable) {
            variable_of[vertex_of_[variable]] = variable;
        }
        const std::vector<std::vector<tensor_reader>> readers = readers_of(graph_, vertex_of_);
        for (std::size_t number = 0; number < graph_.vertices.size(); ++number) {
            if (!readers[number].empty() && is_moved(*graph_.vertices[number]) &&
                !add(number, variable_of[number], readers[number], model)) {
                return std::nullopt;
            }
        }
        return model;
    }

private:
    static constexpr std::size_t no_variable = static_cast<std::size_t>(-1);

    /// Classes of a variable's ways that put a tensor alike, and where each class puts it.
    struct sides {
        std::shared_ptr<const state_classes> classes;
        std::vector<std::vector<resting_id>> places;  ///< by class, ascending, each once
    };

    /// By the operands through which a variable reads a tensor; none of them: where its output is made.
    const sides& sides_of(std::size_t variable, const std::vector<std::size_t>& operands) {
        std::vector<index> key{static_cast<index>(ways_[variable]->number)};
        key.insert(key.end(), operands.begin(), operands.end());
        const auto [number, fresh] = side_numbers_.number_of(std::move(key));
        if (fresh) {
            sides made;
            auto classes = std::make_shared<state_classes>();
            numbering numbers;
            for (const vertex_way& way : ways_[variable]->ways) {
                std::vector<resting_id> places;
                for (const std::size_t operand : operands) {
                    places.push_back(way.operands[operand]);
                }
                if (operands.empty()) {
                    places.push_back(way.output);
                }
                sort_range(places);
                places.erase(std::unique(places.begin(), places.end()), places.end());
                const auto [position, unlike] = numbers.number_of(std::vector<index>(places.begin(), places.end()));
                classes->of_state.push_back(static_cast<int>(position));
                if (unlike) {
                    made.places.push_back(std::move(places));
                }
            }
            classes->count = made.places.size();
            made.classes = std::move(classes);
            sides_.push_back(std::move(made));
        }
        return sides_[number];
    }

    /// The term of one tensor; false where it is too large.
    bool add(std::size_t number, std::size_t maker, const std::vector<tensor_reader>& readers, pairwise_model& model) {
        const vertex& tensor = *graph_.vertices[number];
        if (maker == no_variable && !costs_.is_fixed(number) && readers.size() == 1 &&
            readers.front().operands.size() == 1) {
            return true;  // bound where its one reader wants it
        }
        wide_term term;
        std::vector<index> key{maker == no_variable ? (costs_.is_fixed(number) ? -2 - *costs_.fixed()[number] : -1)
                                                    : static_cast<index>(ways_[maker]->number)};
        key.push_back(static_cast<index>(tensor.element.bytes));
        if (maker != no_variable) {
            term.scope.push_back(maker);
            term.classes.push_back(sides_of(maker, {}).classes);
        }
        for (const tensor_reader& reader : readers) {
            term.scope.push_back(reader.variable);
            term.classes.push_back(sides_of(reader.variable, reader.operands).classes);
            key.push_back(static_cast<index>(ways_[reader.variable]->number));
            key.insert(key.end(), reader.operands.begin(), reader.operands.end());
            key.push_back(-1);
        }
        std::size_t cells = 1;
        for (const std::shared_ptr<const state_classes>& classes : term.classes) {
            if (classes->count > limits_.cells / cells) {
                return false;
            }
            cells *= classes->count;
        }
        const auto [known, fresh] = term_numbers_.number_of(std::move(key));
        if (fresh) {
            if (cells * readers.size() > limits_.moves) {
                return false;
            }
            limits_.moves -= cells * readers.size();
            terms_.push_back(
                std::make_shared<const std::vector<double>>(costs_of(number, maker, readers, term, cells)));
        }
        term.cost = terms_[known];
        model.wide.push_back(std::move(term));
        return true;
    }

    std::vector<double> costs_of(std::size_t number, std::size_t maker, const std::vector<tensor_reader>& readers,
                                 const wide_term& term, std::size_t cells) {
        const vertex& tensor = *graph_.vertices[number];
        std::vector<const sides*> seen;
        for (const tensor_reader& reader : readers) {
            seen.push_back(&sides_of(reader.variable, reader.operands));
        }
        const sides* const made = maker == no_variable ? nullptr : &sides_of(maker, {});
        std::vector<double> costs;
        costs.reserve(cells);
        std::vector<std::size_t> turn(term.scope.size(), 0);
        const std::size_t first_reader = made == nullptr ? 0 : 1;
        std::vector<resting_id> wanted;
        std::vector<resting_id> marked;
        while (costs.size() < cells) {
            wanted.clear();
            marked.clear();
            for (std::size_t reader = 0; reader < seen.size(); ++reader) {
                const std::vector<resting_id>& places = seen[reader]->places[turn[first_reader + reader]];
                wanted.insert(wanted.end(), places.begin(), places.end());
                if (graph_.vertices[vertex_of_[readers[reader].variable]]->wishes.without_communication) {
                    marked.insert(marked.end(), places.begin(), places.end());
                }
            }
            sort_range(wanted);
            wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
            costs.push_back(made != nullptr ? costs_.from(made->places[turn.front()].front(), wanted, tensor, marked)
                                            : costs_.of_input(number, wanted, tensor, marked));
            for (std::size_t place = turn.size(); place-- > 0;) {
                if (++turn[place] < term.classes[place]->count) {
                    break;
                }
                turn[place] = 0;
            }
        }
        return costs;
    }

    const einsum_graph& graph_;
    const std::vector<std::size_t>& vertex_of_;
    const std::vector<std::shared_ptr<const way_list>>& ways_;
    moving_costs& costs_;
    placement_limits limits_;
    numbering side_numbers_;
    std::deque<sides> sides_;  // grows while references into it are held
    numbering term_numbers_;
    std::vector<std::shared_ptr<const std::vector<double>>> terms_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
