#pragma once
// The ranks with which a program computes.

#include <einparallel/mpi/communicator.hpp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/refused.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace einparallel {

/// A function that is called when a vertex begins: the vertex is `number` of `count`, counted from 1 over all computed
/// vertices, and `name` is its name in tables.
using vertex_function = std::function<void(std::size_t number, std::size_t count, const std::string& name)>;

class memory_space;  // kernel/space.hpp

namespace EINPARALLEL_DETAIL {

struct plan_cache;  // run/plan_cache.ipp

/// The state that a context owns. Results hold only weak pointers to it, so the communicators are freed together with
/// the context, at the same point of the program on every rank.
struct context_state {
    EINPARALLEL_INLINE explicit context_state(MPI_Comm ranks);

    communicator payload;                                     ///< for elements
    communicator control;                                     ///< for agreements
    std::uint64_t plans = 0;                                  ///< number of plans made on the context
    std::atomic<bool> busy = false;                           ///< a collective call is in progress on this rank
    std::function<void()> progress;                           ///< set by on_progress, or empty
    vertex_function vertices;                                 ///< set by on_vertex, or empty
    std::vector<std::shared_ptr<const memory_space>> spaces;  ///< the context's device spaces; outlive the caches
    std::vector<int> nodes;                                   ///< by rank: its node; empty: not known yet
    int node_rank = -1;                                       ///< number among the ranks of its node; -1: not known yet
    std::vector<std::shared_ptr<plan_cache>> caches;          ///< one per memory space; freed before the communicators
};

/// Guards a call of the library that calls MPI; refuses it on a thread that must not call MPI. Below
/// MPI_THREAD_SERIALIZED only MPI's main thread may; at that level one thread at a time; at MPI_THREAD_MULTIPLE any.
class mpi_use : private not_copied {
public:
    /// `doing`: the first words of the error sentence. Local.
    /// @throws error where this thread must not call MPI, before any communication
    EINPARALLEL_INLINE explicit mpi_use(const char* doing);
    ~mpi_use() {
        if (held_ != nullptr) {
            *held_ = nullptr;
        }
    }

private:
    std::atomic<const void*>* held_ = nullptr;  ///< the lock, where this is the outermost call that holds it
};

/// Holds a context for one collective call. If a source or functor makes another collective call during a run, that
/// call is refused before anything is sent.
class exclusive : private not_copied {
public:
    /// `doing`: the first words of the error sentence. @throws error where the context is in a collective call
    EINPARALLEL_INLINE exclusive(context_state& world, const char* doing);
    ~exclusive() { world_.busy = false; }

private:
    mpi_use use_;
    context_state& world_;
};

}  // namespace EINPARALLEL_DETAIL

/// The ranks of a communicator of the application. The library uses two duplicates of it, one for elements and one for
/// control messages, so its messages never mix with those of the application. MPI_THREAD_SINGLE is enough for calls on
/// MPI's main thread. Calls on other threads need MPI_THREAD_SERIALIZED. Calls on several threads at the same time need
/// MPI_THREAD_MULTIPLE and a separate context for each thread. Move-only. A context keeps what plans need to run again:
/// programs, datatypes and memory.
///
///     ep::context world{MPI_COMM_WORLD};
class context {
public:
    /// Collective over `ranks`. MPI must be initialised; the application initialises and finalises it. Where OpenMP is
    /// linked and OMP_NUM_THREADS is not set, the ranks of a node share its processors.
    /// @throws error, mpi_error
    EINPARALLEL_INLINE explicit context(MPI_Comm ranks);

    /// Refused at compile time: a context needs ranks.
    template <class Ranks = void>
    context() {
        static_assert(detail::fits<Ranks>, "ep::context: its ranks are missing: ep::context world{MPI_COMM_WORLD}");
    }
    context(context&&) noexcept = default;
    context& operator=(context&&) noexcept = default;

    /// Number of this rank.
    [[nodiscard]] int rank() const { return payload().rank(); }
    /// Number of ranks.
    [[nodiscard]] int size() const { return payload().size(); }

    /// Sets a progress function of the application. Later runs call it on this rank from inside their contractions, at
    /// most every 200 microseconds, on the thread that called run. It must not make a collective call of the library.
    /// If it throws, this counts as a failure of this rank, as with a functor. An empty function removes it. Local.
    /// @throws error while this context runs a plan
    EINPARALLEL_INLINE void on_progress(std::function<void()> function) {
        const detail::exclusive guard(*state(), "on_progress");
        state_->progress = std::move(function);
    }

    /// Sets a function that later runs call on this rank when they begin a vertex, that is, begin to bring its operands
    /// or to compute it. It is not called for a vertex in which this rank has no work. The rules of on_progress apply.
    EINPARALLEL_INLINE void on_vertex(vertex_function function) {
        const detail::exclusive guard(*state(), "on_vertex");
        state_->vertices = std::move(function);
    }

    /// The duplicate on which elements are sent.
    [[nodiscard]] const communicator& payload() const { return state()->payload; }
    /// The duplicate for agreements between ranks.
    [[nodiscard]] const communicator& control() const { return state()->control; }

    /// Frees prepared programs and the memory kept between runs; the next run prepares again. Results that the
    /// application holds stay valid. Local.
    /// @throws error while this context runs a plan
    EINPARALLEL_INLINE void release_memory();

    /// Measures the constants of the time model on these ranks, for options.machine: see run/calibrate.hpp. Measures on
    /// the host or, with ep::on_device as first argument, on the ranks' devices; with a folder as first argument also
    /// storage there. The next argument is about the number of seconds to spend, equal on all ranks; the default is
    /// 0.2. Collective.
    ///
    ///     ep::machine measured = world.calibrate();  // calibrate(0.5), calibrate("/local/disk"),
    ///     calibrate(ep::on_device) ep::plan plan = ep::decompose(world, {.machine = measured}, Z);
    template <class Way = detail::way, class... How>
    [[nodiscard]] auto calibrate(const How&... how) const {
        return measured_machine(*this, how...);
    }

    /// The shared state, for the library's own use.
    EINPARALLEL_INLINE [[nodiscard]] const std::shared_ptr<detail::context_state>& state() const;

private:
    std::shared_ptr<detail::context_state> state_;
};

}  // namespace einparallel
