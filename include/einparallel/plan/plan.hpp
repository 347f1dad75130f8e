#pragma once
// The TaskGraph: which rank computes which share of every vertex. It is a value, and can be computed for any number of
// ranks without MPI.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/layout/placement.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/refused.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/schedule/paging/paging.hpp>
#include <einparallel/schedule/task.hpp>
#include <einparallel/search/options.hpp>

#include <array>
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

/// A value that comparisons leave out: all values compare equal.
template <class Value>
struct not_compared : Value {
    using Value::operator=;

    template <class Other>
        requires std::is_same_v<Other, not_compared>
    friend bool operator==(const not_compared& /*one*/, const Other& /*other*/) { return true; }
};

/// One vertex of the TaskGraph.
struct planned_vertex {
    not_compared<std::shared_ptr<vertex>> origin;  ///< the vertex of the EinGraph that it stands for
    /// Other vertices of the EinGraph that it computes too, because they are equal.
    not_compared<std::vector<std::shared_ptr<vertex>>> twins;
    std::string name;                              ///< the user's name, or "v3" by position in the plan
    not_compared<vertex_constraints> constraints;  ///< pins and marks of the user
    std::vector<index> bounds;                     ///< extents of its tensor
    element_type element;                          ///< element type of its tensor
    std::vector<std::size_t> inputs;               ///< einsums: position in the plan of each operand
    task work;  ///< einsums: cuts, mesh, ring, and where operands and output rest; pending sums are labels `+` of its
                ///< einsum (schedule/pending.hpp)
    distribution resting;  ///< where its tensor rests: work.output of an einsum, or where an input is read
    einparallel::algorithm algorithm = einparallel::algorithm::automatic;  ///< einsums: the algorithm that runs
    bool fell_back = false;  ///< the algorithm that was asked for cannot be used here
    double join = 0;         ///< numbers moved by the join, in the paper's count (EinDecomp §7)
    double aggregation = 0;  ///< numbers moved by the aggregation
    double repartition = 0;  ///< numbers moved by repartition, summed over operands
    std::size_t bytes = 0;   ///< bytes that all ranks together send for it, including redistribution of its operands
    double seconds = 0;      ///< seconds by the time model, including redistribution of its operands
    bool lasts = false;      ///< its tensor is read or computed in the first run and kept for later runs (options.runs)
    std::size_t bytes_again = 0;  ///< `bytes` in each later run
    double seconds_again = 0;     ///< `seconds` in each later run
    double numbers_again = 0;     ///< numbers moved in each later run by join, aggregation and repartition
    std::array<std::size_t, most_levels> bytes_between{};  ///< by level of options.machine: `bytes` that leave a group
    std::array<std::size_t, most_levels> bytes_between_again{};  ///< `bytes_between` in each later run

    /// Numbers moved in the first run, in the paper's count.
    [[nodiscard]] double numbers() const { return join + aggregation + repartition; }
    /// True if it makes the tensor of the EinGraph's vertex `asked`.
    EINPARALLEL_INLINE [[nodiscard]] bool makes(const vertex& asked) const {
        return origin.get() == &asked || detail::any_in(twins, [&](const auto& each) { return each.get() == &asked; });
    }
    /// True for an input of the graph.
    [[nodiscard]] bool is_input() const { return inputs.empty() && work.form.operands.empty(); }
    /// Equal in everything that decides a run: vertices, cuts, places and costs. The vertices of the EinGraph are not
    /// compared.
    friend bool operator==(const planned_vertex& a, const planned_vertex& b) = default;
};

/// What the ranks of a plan move between memory and storage under a memory limit.
struct plan_paging {
    paged_tensors which = paged_tensors::none;  ///< which tensors may wait in storage
    bool files_outputs = false;                 ///< outputs are written to files, and take no memory of their own
    std::size_t bytes = 0;  ///< bytes that all ranks move both ways, without the first reading of inputs; for more than
                            ///< 64 ranks those of 64 ranks, scaled up
    double seconds = 0;     ///< seconds of the time model that arithmetic does not hide, on the rank that waits longest

    friend bool operator==(const plan_paging&, const plan_paging&) = default;
};

/// How the operands and the output of a vertex lie along each axis of its mesh, outermost axis first, while it is
/// computed. At rest nothing is replicated: a block with which several ranks compute rests in pieces. A Partial output
/// is summed up into pieces before the vertex ends. If its sum is left pending instead, it rests as it is, and it is a
/// Partial operand of its readers. Empty for inputs, and for vertices that one rank computes.
EINPARALLEL_INLINE [[nodiscard]] std::vector<axis_placements> placements_of(const planned_vertex& each);

/// The plan for a graph on a number of ranks. Vertices are in topological order; inputs are in the order of their first
/// use.
class plan {
public:
    plan() = default;

    /// The number of ranks that the plan is for.
    [[nodiscard]] int processes() const { return processes_; }
    /// The options that the plan was made for.
    [[nodiscard]] const options& asked() const { return options_; }
    /// Inputs and einsums, in topological order.
    [[nodiscard]] const std::vector<planned_vertex>& vertices() const { return vertices_; }
    /// The position in vertices() of each output, in the order in which decompose() was given the outputs.
    [[nodiscard]] const std::vector<std::size_t>& outputs() const { return outputs_; }

    /// The paper's upper bound of the numbers moved: join + aggregation + repartition over all vertices, in the first
    /// run.
    [[nodiscard]] double cost() const { return detail::sum_in(vertices_, 0.0, &planned_vertex::numbers); }
    /// Bytes of elements that `rank` hands to MPI for other ranks in the first run. This includes reading sources and
    /// redistribution, but neither the ranks' agreement nor gathering results.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t bytes_sent(int rank) const;
    /// Bytes that all ranks send in the first run; their programs are not written for it.
    [[nodiscard]] std::size_t bytes_sent() const {
        return detail::sum_in(vertices_, std::size_t{0}, &planned_vertex::bytes);
    }
    /// Bytes of elements that `rank` hands to MPI in each later run, which finds the tensors that were kept. If
    /// options.runs is 1, nothing is kept, and every run is a first run.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t bytes_sent_again(int rank) const;
    /// Bytes that all ranks send in each later run.
    [[nodiscard]] std::size_t bytes_sent_again() const {
        return detail::sum_in(vertices_, std::size_t{0}, &planned_vertex::bytes_again);
    }
    /// Bytes that ranks send in the first run to ranks in other groups of a level of options.machine: with nodes as
    /// level 0, bytes_between(0) are the bytes between nodes. 0 for levels that the machine does not have, and for its
    /// outermost one.
    [[nodiscard]] std::size_t bytes_between(std::size_t level) const {
        return detail::sum_in(vertices_, std::size_t{0}, [&](const planned_vertex& each) {
            return level < most_levels ? each.bytes_between[level] : 0;
        });
    }
    /// The most bytes that a run holds at one time on `rank`: tensors and buffers, and what is kept for later runs.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t peak_bytes(int rank) const;
    /// Bytes of elements that `rank` moves between memory and storage in each run, both ways: tensors that wait in
    /// storage (options.paging), and inputs that are read in slabs or again. 0 for plans without pages, which read
    /// inputs once.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t bytes_paged(int rank) const;
    /// What waits in storage, and what it costs.
    [[nodiscard]] const plan_paging& paging() const { return paging_; }
    /// Seconds of the first run by the time model.
    [[nodiscard]] double seconds() const {
        return detail::sum_in(vertices_, paging_.seconds, &planned_vertex::seconds);
    }
    /// Seconds of each later run by the time model.
    [[nodiscard]] double seconds_again() const {
        return detail::sum_in(vertices_, paging_.seconds, &planned_vertex::seconds_again);
    }

    /// The cost of all runs (options.runs) together under the plan's objective: the sum of cost(), bytes_sent() or
    /// seconds() over the runs; with options.level, of bytes_between(level).
    EINPARALLEL_INLINE [[nodiscard]] double objective_cost() const;
    /// A lower bound of objective_cost() for all plans, plans by hand included: numbers moved under `paper`, bytes
    /// under `bytes`, seconds under `time`. It is the plan's own cost where the search was exact. Under `time` it holds
    /// for plans that leave any number of ranks idle. Under `paper` and `bytes` one rank alone would move nothing;
    /// there it holds for plans that cut every vertex over at least nine tenths of the ranks over which its extents can
    /// be cut. It holds only for plans with the same restrictions of cuts (options.algorithm, powers_of_two) and the
    /// same order of contractions. Empty for plans made by hand, and for plans that keep nothing for later runs because
    /// of options.memory_limit.
    [[nodiscard]] std::optional<double> lower_bound() const { return making_.lower_bound; }

    /// (label, parts) for every label of the vertex that makes `made`.
    template <class T, std::size_t Rank>
    [[nodiscard]] std::vector<std::pair<std::string, int>> partition(const tensor<T, Rank>& made) const {
        return partition(*made.node());
    }
    /// (label, parts) for every label of a vertex; empty for an input. @throws error for a vertex that the plan does
    /// not have
    EINPARALLEL_INLINE [[nodiscard]] std::vector<std::pair<std::string, int>> partition(const vertex& made) const;

    /// The program of `rank`: everything that it does. It is computed from the vertices. The same call on every rank
    /// gives programs that match.
    EINPARALLEL_INLINE [[nodiscard]] program program_of(int rank) const;

    /// The graph as text for Graphviz: `dot -Tsvg`. An edge is dashed where a tensor changes ranks.
    EINPARALLEL_INLINE [[nodiscard]] std::string to_dot() const;
    /// The whole plan as JSON; plan/json.ipp lists the members.
    EINPARALLEL_INLINE [[nodiscard]] std::string to_json() const;
    friend bool operator==(const plan& a, const plan& b) = default;

    /// Frees the tensors that runs of this plan, and of plans equal to it, keep in a context (options.runs). The next
    /// run makes them again. Collective. When the last copy of a plan is gone, the context's next run frees its
    /// tensors; the end of the context frees them too.
    template <class Context, class Way = detail::way>
    void release(Context& world) const {
        release_kept(*this, world);
    }

    /// A pointer that all copies of a plan share, and no other plan.
    [[nodiscard]] const std::shared_ptr<const void>& identity() const { return making_.identity; }

    /// The number of this plan among those made on a context; 0 for a plan that was made without one.
    [[nodiscard]] std::uint64_t number() const { return making_.number; }
    /// For the library's own use.
    void set_number(std::uint64_t number) { making_.number = number; }

    /// Runs the plan on a context: see data/execute.hpp.
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
    plan_paging paging_;
    /// Fields that do not change what a run does.
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

/// Writes a table with one row per vertex. Its columns: the einsum; what it computes; extents; the partition vector d
/// (in mesh order, outermost axis first; 1 where one rank does everything); the algorithm, with what goes round its
/// ring and whether the sum is left pending (a label + in the einsum then stands for the summands); the bytes that all
/// ranks send to pass its operands round (in), to aggregate its output, and to bring operands from where they rest
/// (moved); the most bytes that rank 0 holds meanwhile (held); seconds by the time model; and for contractions the
/// bytes sent, divided by the least possible (/bound). Under the paper's objective there is also its cost in numbers.
/// Where three or more equal layers follow each other, the first is shown with their number (× 78). Where the plan is
/// for many runs, the columns are those of the first run, and * marks tensors that are read or computed there for
/// all runs. Lines for everything out of the ordinary follow.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream, const plan& shown) {
    return stream << detail::table_text(shown);
}

}  // namespace einparallel
