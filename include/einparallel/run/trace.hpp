#pragma once
// What the ranks did in one run: spans of arithmetic, transfer and waiting, for viewers and as a summary.

#include <einparallel/kernel/space.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace einparallel {

/// The spans of one run. A run records them if it is given a trace object, which must be given on all ranks or on none.
/// Afterwards every rank has the spans of all ranks.
///
///     ep::trace seen;
///     auto z = plan.run(world, seen);
///     std::cout << seen;                                              // hidden and exposed communication, imbalance
///     if (world.rank() == 0) std::ofstream("run.json") << seen.to_json();      // ui.perfetto.dev, chrome://tracing
class trace {
public:
    /// The spans in order of ranks. Where the run threw, only the spans of this rank.
    [[nodiscard]] const std::vector<trace_span>& spans() const { return spans_; }

    /// The spans in Chrome's trace format: a process per rank with the lanes arithmetic, transfer and waiting; for runs
    /// on devices also copies out and copies in, for plans that page also storage.
    EINPARALLEL_INLINE [[nodiscard]] std::string to_json() const;

    /// The duration of the run, and means over the ranks: arithmetic, and the ratio of the largest arithmetic of a rank
    /// to the mean (imbalance); reading of inputs; transfers, and the fraction of them that no rank waited for
    /// (hidden); the same of moves to and from storage, if there are any; waiting for both (exposed); agreement after
    /// the run and before it; and the rest, if it is more than 3 %. Then, for each vertex, means of arithmetic,
    /// transfers and waiting, and the bytes that the plan predicted and the run counted. At the end, where ranks lie
    /// otherwise on nodes than on the machine of the plan: that they do, so that plan::bytes_between is not what this
    /// run sent between nodes.
    EINPARALLEL_INLINE [[nodiscard]] std::string summary() const;

    // For the executor.

    /// Prepares for a run of plan `of`, with memory for `spans` spans.
    EINPARALLEL_INLINE void prepare(const plan& of, int rank, std::size_t spans);
    /// Sets the time to zero. `again`: this is a later run of a plan that keeps tensors (options.runs). `ready`: the
    /// time by MPI_Wtime when this rank began to wait for the others.
    void start(bool again, double ready) {
        detail::for_each_in(vertices_, [&](vertex_line& each) { each.bytes = again ? each.bytes_again : each.bytes; });
        start_ = MPI_Wtime();
        add({ready - start_, 0, 0, activity::agree});
    }
    /// Drops the spans of the last run.
    void forget() { spans_.clear(); }
    /// Seconds since start().
    [[nodiscard]] double now() const { return MPI_Wtime() - start_; }
    /// Adds a span of this rank, unless the memory for spans is full.
    void add(const trace_span& span) noexcept {
        if (spans_.size() < spans_.capacity()) {
            spans_.push_back(span);
            spans_.back().rank = rank_;
        }
    }
    /// Notes whether ranks lie on nodes as on the machine of the plan.
    void lies(bool as_planned) { lies_as_planned_ = as_planned; }
    /// Adds the spans of a device's work, whose times count from `zero`. Then adds spans of waiting for those parts of
    /// transfers in which the device did not contract, combine or copy.
    EINPARALLEL_INLINE void add_watched(const std::vector<trace_span>& work, double zero);
    /// Gives the spans of all ranks to all ranks. Collective.
    EINPARALLEL_INLINE void share(const communicator& ranks);

private:
    struct vertex_line {
        std::string name;
        std::size_t bytes = 0;
        std::size_t bytes_again = 0;
        bool is_input = false;
    };

    std::vector<vertex_line> vertices_;
    std::vector<trace_span> spans_;
    double start_ = 0;
    int rank_ = 0;
    bool lies_as_planned_ = true;
};

/// Writes the summary.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream, const trace& shown) {
    return stream << shown.summary();
}

namespace EINPARALLEL_DETAIL {

/// Adds a span to a trace, unless `seen` is null. The span lasts from the construction to end() or the destruction.
class timed_span : private not_copied {
public:
    timed_span(trace* seen, activity what, std::size_t vertex, std::size_t bytes = 0, std::size_t received = 0)
        : seen_(seen) {
        if (seen_ != nullptr) {
            span_ = {seen_->now(), 0, 0, what, std::int64_t(vertex), std::int64_t(bytes), std::int64_t(received)};
        }
    }
    ~timed_span() { end(); }

    void end() noexcept {
        if (trace* const seen = std::exchange(seen_, nullptr); seen != nullptr) {
            span_.end = seen->now();
            seen->add(span_);
        }
    }

private:
    trace* seen_;
    trace_span span_;
};

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
