#pragma once
// The ranks that a program computes with.

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

/// vertex `number` of `count` begins, counted from 1 over all that are computed; `name` is its name in tables.
using vertex_function = std::function<void(std::size_t number, std::size_t count, const std::string& name)>;

class memory_space;  // kernel/space.hpp

namespace EINPARALLEL_DETAIL {

struct plan_cache;  // run/plan_cache.ipp

/// What a context owns. Results refer to it weakly, so that the communicators go with the context, at the same point of
/// the program on every rank.
struct context_state {
    EINPARALLEL_INLINE explicit context_state(MPI_Comm ranks);

    communicator payload;                                     ///< elements
    communicator control;                                     ///< agreements
    std::uint64_t plans = 0;                                  ///< made on it
    std::atomic<bool> busy = false;                           ///< a collective call is under way on this rank
    std::function<void()> progress;                           ///< the application's, or empty
    vertex_function vertices;                                 ///< the application's, or empty
    std::vector<std::shared_ptr<const memory_space>> spaces;  ///< of devices, made for it; outlive the caches
    int node_rank = -1;                               ///< number among the ranks of its node, where that is known
    std::vector<std::shared_ptr<plan_cache>> caches;  ///< by memory space; go before the communicators
};

/// A call of the library that calls MPI, on a thread that may: MPI's main one below MPI_THREAD_SERIALIZED, one thread
/// at a time there, any at MPI_THREAD_MULTIPLE.
class mpi_use : private not_copied {
public:
    /// `doing` begins the sentence of what is thrown where the thread may not, before MPI is called. Local.
    EINPARALLEL_INLINE explicit mpi_use(const char* doing);
    ~mpi_use() {
        if (held_ != nullptr) {
            *held_ = nullptr;
        }
    }

private:
    std::atomic<const void*>* held_ = nullptr;  ///< of the outermost of the calls inside each other that have MPI alone
};

/// Holds a context for one collective call. A source or functor that calls another one, while the ranks are busy with
/// the run that called it, is refused before anything is sent.
class exclusive : private not_copied {
public:
    /// `doing` begins the sentence of what is thrown where the context is taken.
    EINPARALLEL_INLINE exclusive(context_state& world, const char* doing);
    ~exclusive() { world_.busy = false; }

private:
    mpi_use use_;
    context_state& world_;
};

}  // namespace EINPARALLEL_DETAIL

/// A communicator of the application's, as the library uses it: through two duplicates, one for elements and one for
/// control traffic, so that messages of the application's on the same communicator never meet the library's. Works at
/// MPI_THREAD_SINGLE; calls on other threads than MPI's main one need MPI_THREAD_SERIALIZED, calls of several threads
/// at the same time, each on a context that no other one uses meanwhile, MPI_THREAD_MULTIPLE. Move-only. Keeps what
/// plans need to run again: programs, datatypes, memory.
///
///     ep::context world{MPI_COMM_WORLD};
class context {
public:
    /// Collective over `ranks`. MPI must be initialised; initialising and finalising it stays the application's.
    /// Where OpenMP is linked and was not told how many threads to use, the ranks of a node share its processors.
    /// @throws error, mpi_error
    EINPARALLEL_INLINE explicit context(MPI_Comm ranks);

    /// Of no ranks: refused.
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

    /// Sets a function for progress of the application's own. Later runs call it on this rank from inside their
    /// contractions, every 200 microseconds at most, on the thread that called run. It must not make a collective call
    /// of the library. If it throws, this counts as a failure of this rank, as with a functor. An empty function
    /// removes it. Local.
    /// @throws error while this context runs a plan
    EINPARALLEL_INLINE void on_progress(std::function<void()> function) {
        const detail::exclusive guard(*state(), "on_progress");
        state_->progress = std::move(function);
    }

    /// Sets a function that later runs call on this rank when they begin a vertex, to bring operands or to compute. It
    /// is not called for a vertex in which this rank has no work. The rules of on_progress hold.
    EINPARALLEL_INLINE void on_vertex(vertex_function function) {
        const detail::exclusive guard(*state(), "on_vertex");
        state_->vertices = std::move(function);
    }

    /// The duplicate that elements travel on.
    [[nodiscard]] const communicator& payload() const { return state()->payload; }
    /// The duplicate that ranks agree on.
    [[nodiscard]] const communicator& control() const { return state()->control; }

    /// Lets go of prepared programs and of the memory kept between runs; the next run prepares again. Local. Results
    /// that the application holds stay.
    /// @throws error while this context runs a plan
    EINPARALLEL_INLINE void release_memory();

    /// The constants of the time model as measured on these ranks, for options.machine: see run/calibrate.hpp.
    /// Collective. On the host or, after ep::on_device, on the ranks' devices; then the seconds to spend at most,
    /// about: 0.2 where nothing is said, the same on every rank.
    ///
    ///     ep::machine measured = world.calibrate();       // calibrate(0.5), calibrate(ep::on_device)
    ///     ep::plan plan = ep::decompose(world, {.machine = measured}, Z);
    template <class Way = detail::way, class... How>
    [[nodiscard]] auto calibrate(const How&... how) const {
        return measured_machine(*this, how...);
    }

    /// For the library's own use.
    EINPARALLEL_INLINE [[nodiscard]] const std::shared_ptr<detail::context_state>& state() const;

private:
    std::shared_ptr<detail::context_state> state_;
};

}  // namespace einparallel
