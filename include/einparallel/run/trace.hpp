#pragma once
// What the ranks did in one run: spans of arithmetic, transfer and waiting, for viewers and in sums.

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

/// The spans of one run, asked for by handing an object to the run; on every rank, or on none. Afterwards every rank
/// has those of all ranks.
///
///     ep::trace seen;
///     auto z = plan.run(world, seen);
///     std::cout << seen;                                              // hidden and exposed communication, imbalance
///     if (world.rank() == 0) std::ofstream("run.json") << seen.to_json();      // ui.perfetto.dev, chrome://tracing
class trace {
public:
    /// By rank. Where the run threw, those of this rank alone.
    [[nodiscard]] const std::vector<trace_span>& spans() const { return spans_; }

    /// Chrome's trace format: a process per rank with the lanes arithmetic, transfer and waiting; of runs on devices
    /// also copies out and copies in.
    EINPARALLEL_INLINE [[nodiscard]] std::string to_json() const;

    /// Seconds of the run and means over the ranks: arithmetic, and the rank with most in units of it (imbalance);
    /// reading of inputs; transfers, and the share of them that no rank waited for (hidden); waiting for messages
    /// (exposed); agreement, after the run and before it; the rest, where it is more than 3 %. Then, by vertex,
    /// arithmetic, a mean too, and the bytes that the plan foretold and the run counted.
    EINPARALLEL_INLINE [[nodiscard]] std::string summary() const;

    // For the executor.

    /// Begins anew, with room for so many spans.
    EINPARALLEL_INLINE void prepare(const plan& of, int rank, std::size_t spans);
    /// Sets the time to zero, in a later run of a plan that keeps something (options.runs) or in the first; `ready`, by
    /// MPI_Wtime: when this rank began to wait for the others.
    void start(bool again, double ready) {
        detail::for_each_in(vertices_, [&](vertex_line& each) { each.bytes = again ? each.bytes_again : each.bytes; });
        start_ = MPI_Wtime();
        add({ready - start_, 0, 0, activity::agree});
    }
    /// Lets go of the last run's spans.
    void forget() { spans_.clear(); }
    /// Seconds since start().
    [[nodiscard]] double now() const { return MPI_Wtime() - start_; }
    /// Keeps a span of this rank while there is room.
    void add(const trace_span& span) noexcept {
        if (spans_.size() < spans_.capacity()) {
            spans_.push_back(span);
            spans_.back().rank = rank_;
        }
    }
    /// Adds the work of a device, which begins at `zero`, and notes as waiting what of transfers passed while nothing
    /// was contracted, combined or copied there.
    EINPARALLEL_INLINE void add_watched(const std::vector<trace_span>& work, double zero);
    /// Gives the spans of all ranks to all. Collective.
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
};

/// The summary.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream, const trace& shown) {
    return stream << shown.summary();
}

namespace EINPARALLEL_DETAIL {

/// Adds a span to a trace, if there is one: from here to end(), or to the end of the scope.
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
