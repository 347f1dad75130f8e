#pragma once
// The TaskGraph: who computes which share of every vertex. A value, computable for any number of ranks without MPI.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/layout/placement.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/refused.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/task.hpp>
#include <einparallel/search/options.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel {

struct program;
template <class T, std::size_t Rank>
class tensor;

/// A value that comparisons leave out: all compare equal.
template <class Value>
struct not_compared : Value {
    using Value::operator=;

    template <class Other>
        requires std::is_same_v<Other, not_compared>
    friend bool operator==(const not_compared& /*one*/, const Other& /*other*/) { return true; }
};

/// One vertex of the TaskGraph.
struct planned_vertex {
    not_compared<std::shared_ptr<vertex>> origin;  ///< the vertex of the EinGraph
    /// Others that it is computed for, which are equal.
    not_compared<std::vector<std::shared_ptr<vertex>>> twins;
    std::string name;                              ///< the user's name, or "v3" by position in the plan
    not_compared<vertex_constraints> constraints;  ///< what the user had fixed
    std::vector<index> bounds;                     ///< extents of its tensor
    element_type element;                          ///< of its tensor
    std::vector<std::size_t> inputs;               ///< einsums: position in the plan of each operand
    task work;             ///< einsums: cuts, mesh, resting distributions of operands and output, ring; pending sums
                           ///< are labels `+` of its einsum (schedule/pending.hpp)
    distribution resting;  ///< where its tensor rests: an einsum's work.output, or where an input is read
    einparallel::algorithm algorithm = einparallel::algorithm::automatic;  ///< einsums: as run
    bool fell_back = false;                                                ///< the forced algorithm cannot apply here
    double join = 0;                                                       ///< paper units, EinDecomp §7
    double aggregation = 0;                                                ///< paper units
    double repartition = 0;                                                ///< paper units, sum over operands
    std::size_t bytes = 0;        ///< that all ranks together send for it, redistribution of its operands included
    double seconds = 0;           ///< time model, repartitioning of its operands included
    bool lasts = false;           ///< brought or computed in the first run, and kept for the others (options.runs)
    std::size_t bytes_again = 0;  ///< of each later run, as bytes
    double seconds_again = 0;     ///< of each later run
    double numbers_again = 0;     ///< paper units, of each later run: join, aggregation and repartition

    /// Paper units, of the first run.
    [[nodiscard]] double numbers() const { return join + aggregation + repartition; }
    /// True where it makes the tensor that this vertex of the EinGraph stands for.
    EINPARALLEL_INLINE [[nodiscard]] bool makes(const vertex& asked) const {
        return origin.get() == &asked || detail::any_in(twins, [&](const auto& each) { return each.get() == &asked; });
    }
    /// True for an input of the graph.
    [[nodiscard]] bool is_input() const { return inputs.empty() && work.form.operands.empty(); }
    /// Equal in all that makes a run: vertices, cuts, places and costs. The EinGraph behind them does not count.
    friend bool operator==(const planned_vertex& a, const planned_vertex& b) = default;
};

/// Along every axis of a vertex's mesh, outermost first, how its operands and its output lie while it is computed. At
/// rest nothing is replicated: a block that several ranks compute with is stored in pieces, and what is Partial is
/// summed up into pieces before the vertex ends, unless its sum is left pending; then it rests as it is, and its
/// readers have it Partial. Empty for inputs, and for vertices that one rank computes.
EINPARALLEL_INLINE [[nodiscard]] std::vector<axis_placements> placements_of(const planned_vertex& each);

/// The plan for a graph on a number of ranks. Vertices stand in topological order, inputs first use first.
class plan {
public:
    plan() = default;

    /// Ranks that the plan is for.
    [[nodiscard]] int processes() const { return processes_; }
    /// What the plan was asked for.
    [[nodiscard]] const options& asked() const { return options_; }
    /// Inputs and einsums, in topological order.
    [[nodiscard]] const std::vector<planned_vertex>& vertices() const { return vertices_; }
    /// Position in vertices() of each output, in the order in which decompose() was given them.
    [[nodiscard]] const std::vector<std::size_t>& outputs() const { return outputs_; }

    /// Numbers moved, the paper's upper bound: join + aggregation + repartition over all vertices.
    [[nodiscard]] double cost() const { return detail::sum_in(vertices_, 0.0, &planned_vertex::numbers); }
    /// Element bytes that `rank` hands to MPI for other ranks in the first run; sources and redistribution included,
    /// agreement traffic and gather excluded.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t bytes_sent(int rank) const;
    /// The same over all ranks, without going through their programs.
    [[nodiscard]] std::size_t bytes_sent() const {
        return detail::sum_in(vertices_, std::size_t{0}, &planned_vertex::bytes);
    }
    /// Element bytes that `rank` hands to MPI in each later run, which finds the tensors that were kept. Without
    /// options.runs every run is a first one.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t bytes_sent_again(int rank) const;
    /// The same over all ranks.
    [[nodiscard]] std::size_t bytes_sent_again() const {
        return detail::sum_in(vertices_, std::size_t{0}, &planned_vertex::bytes_again);
    }
    /// Bytes that a run holds at once on `rank`: tensors and buffers, and what is kept for later runs.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t peak_bytes(int rank) const;
    /// Time model, of the first run.
    [[nodiscard]] double seconds() const { return detail::sum_in(vertices_, 0.0, &planned_vertex::seconds); }
    /// Time model, of each later run.
    [[nodiscard]] double seconds_again() const {
        return detail::sum_in(vertices_, 0.0, &planned_vertex::seconds_again);
    }

    /// What the objective that the plan was made for says of all runs (options.runs) together: the sum of cost(),
    /// bytes_sent() or seconds() of each.
    EINPARALLEL_INLINE [[nodiscard]] double objective_cost() const;
    /// What no plan can cost less than, in the unit of the objective: numbers moved under `paper`, bytes under `bytes`,
    /// seconds under `time`; whether the search looked at it or not, plans by hand among them. The plan's own cost
    /// where the search was exact. Under time any number of ranks may be idle in a vertex. Under paper and bytes, where
    /// one rank alone would move nothing, it speaks of plans whose vertices are cut over nine tenths of the ranks that
    /// their extents can be cut over, or more. Options that restrict cuts (algorithm, powers_of_two) restrict
    /// what it speaks of. Products are those of the plan, in its order. Nothing of plans made by hand.
    [[nodiscard]] std::optional<double> lower_bound() const { return making_.lower_bound; }

    /// (label, parts) for every label of the vertex that makes `made`.
    template <class T, std::size_t Rank>
    [[nodiscard]] std::vector<std::pair<std::string, int>> partition(const tensor<T, Rank>& made) const {
        return partition(*made.node());
    }
    /// The same for a vertex; empty for an input. @throws error for a vertex that the plan does not have
    EINPARALLEL_INLINE [[nodiscard]] std::vector<std::pair<std::string, int>> partition(const vertex& made) const;

    /// All that `rank` does, computed from the vertices. The same call on every rank gives matching programs.
    EINPARALLEL_INLINE [[nodiscard]] program program_of(int rank) const;

    /// The graph for Graphviz: `dot -Tsvg`. An edge is dashed where a tensor changes ranks.
    EINPARALLEL_INLINE [[nodiscard]] std::string to_dot() const;
    /// All of the plan for programs; the members are listed in plan/json.ipp.
    EINPARALLEL_INLINE [[nodiscard]] std::string to_json() const;
    friend bool operator==(const plan& a, const plan& b) = default;

    /// Frees what the runs of this plan, and of plans equal to it, keep in a context (options.runs); the next run
    /// makes it again. Collective. What a plan keeps goes with its last copy at the context's next run, and with the
    /// context.
    template <class Context, class Way = detail::way>
    void release(Context& world) const {
        release_kept(*this, world);
    }

    /// Shared by the copies of a plan.
    [[nodiscard]] const std::shared_ptr<const void>& identity() const { return making_.identity; }

    /// The number of this plan among those made on a context; 0 for a plan that was made without one.
    [[nodiscard]] std::uint64_t number() const { return making_.number; }
    /// For the library's own use.
    void set_number(std::uint64_t number) { making_.number = number; }

    /// Carries the plan out on a context: see data/execute.hpp.
    template <class... Arguments, class Way = detail::way>
    auto run(Arguments&&... arguments) const {
        constexpr bool fits = requires {
            execute(*this, std::forward<Arguments>(arguments)...);
        };
        static_assert(
            fits || (detail::is_refused<Arguments> || ...),
            "plan.run: a context comes first, then an ep::trace or ep::on_device where wanted, then what ep::bind "
            "and ep::into return, if anything");
        if constexpr (fits) {
            return execute(*this, std::forward<Arguments>(arguments)...);
        } else {
            return detail::refused();
        }
    }

private:
    friend struct plan_builder;

    int processes_ = 1;
    options options_;
    std::vector<planned_vertex> vertices_;
    std::vector<std::size_t> outputs_;
    /// What says nothing of a run.
    struct making {
        std::optional<double> lower_bound;
        std::shared_ptr<const void> identity;
        std::uint64_t number = 0;
    };
    not_compared<making> making_;
};

namespace EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::string table_text(const plan& shown);

}  // namespace EINPARALLEL_DETAIL

/// A table with one row per vertex: its einsum, what it computes, extents, the partition vector d (mesh order,
/// outermost axis first; 1 where one rank does it all), the algorithm, what goes round its ring, and whether the sum is
/// left pending (a label + in the einsum then stands for the summands); bytes that all
/// ranks send to hand its operands round (in), to aggregate its output, and to bring operands from where they rest
/// (moved); bytes that rank 0 holds at most meanwhile; the time model's seconds; and for contractions how many times
/// the least possible they communicate (/bound). Under the paper's objective also its cost in numbers. Of three and
/// more equal layers, one after the other, the first is shown with their number (× 78). Where the plan is for many
/// runs the columns are the first one's, and * marks what it brings or computes for all of them. Then a line for
/// everything out of the ordinary.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream, const plan& shown) {
    return stream << detail::table_text(shown);
}

}  // namespace einparallel
