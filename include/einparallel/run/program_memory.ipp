#pragma once
// Where the buffers of one rank's program lie, from run to run.

#include <einparallel/graph/source.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The memory of one result, from run to run: blocks that the application may have let go of.
using result_pool = std::vector<std::shared_ptr<memory_block>>;

/// A block that nobody else holds. Steady use (the last result kept until the next has been made) allocates twice.
EINPARALLEL_INLINE std::shared_ptr<memory_block> take_from(result_pool& pool, const memory_space& space,
                                                           std::size_t bytes) {
    const auto is_free = [](const std::shared_ptr<memory_block>& each) { return each.use_count() == 1; };
    const auto found = std::ranges::find_if(pool, is_free);
    if (found == pool.end()) {
        return pool.emplace_back(shared_block(space, bytes));
    }
    std::shared_ptr<memory_block> taken = *found;
    std::erase_if(pool, is_free);
    return taken;
}

/// The application's own memory with these elements, where a space's work can use it in place, and its strides
/// (source::borrow); else null. @throws error for an address of memory of another kind than the source says
EINPARALLEL_INLINE const void* borrow(const memory_space& space, const source& origin, const box& region,
                                      std::vector<index>& strides) {
    const void* const found = origin.borrow(region, strides);
    if (const std::string mistake = found == nullptr ? "" : space.refuses(found, origin.is_on_device());
        !mistake.empty()) {
        throw error("run: " + origin.description() + ": " + mistake);
    }
    if (space.is_host() || origin.is_on_device()) {
        return found;
    }
    strides.clear();
    return nullptr;
}

/// Brings the elements of a source into a space's memory, dense.
EINPARALLEL_INLINE void bring(const memory_space& space, const source& origin, const box& region, void* into,
                              std::size_t element_bytes) {
    if (!origin.is_on_device()) {
        space.fill(region, into, element_bytes, [&](const box& part, void* to) { origin.read(part, to); });
        return;
    }
    std::vector<index> strides;
    const void* const found = borrow(space, origin, region, strides);
    if (found == nullptr) {
        throw error(origin.description() + ": device memory with a negative stride is not read");
    }
    const std::vector<index> dense = dense_strides(region);
    space.copy({extents_of(region), into, dense, found, strides.empty() ? dense : strides, element_bytes});
}

/// The application's memory for a result.
struct result_target {
    std::byte* data = nullptr;
    std::vector<index> strides{};  ///< in elements; none: dense and row-major
};

/// A program's buffers in memory: the application's, results, kept over runs, or scratch.
class program_memory {
public:
    program_memory(const program_memory&) = delete;
    program_memory& operator=(const program_memory&) = delete;

    /// For the next run, by vertex: null for einsums; alive until the run is over.
    [[nodiscard]] std::span<const source*> sources() { return sources_; }
    /// For the next run, of result `position`: memory of the application's that takes its place, or none.
    [[nodiscard]] result_target& target(std::size_t position) { return results_[position].target; }

    /// True where the runs before have left what the steps marked once write.
    [[nodiscard]] bool is_kept() const { return is_kept_; }
    /// Says whether what this run has brought stays for later ones.
    void keep(bool stays = true) { is_kept_ = stays; }
    /// Frees what is kept, or was to be.
    EINPARALLEL_INLINE void forget() {
        is_kept_ = false;
        kept_memory_ = {};
    }

    /// Bytes of scratch memory that the last lay_out() asks for.
    [[nodiscard]] std::size_t scratch_bytes() const { return places_.bytes; }

    /// Says where the scratch memory is. Others may use it before and after this program runs, not meanwhile.
    EINPARALLEL_INLINE void settle(std::byte* scratch) {
        for (std::size_t place = 0; place < starts_.size(); ++place) {
            const auto number = static_cast<buffer_id>(place);
            if (borrowed_[place] != nullptr) {
                // Never written: nothing but their read fills them.
                starts_[place] = static_cast<std::byte*>(const_cast<void*>(borrowed_[place]));
            } else if (kept_places_.holds(number)) {
                starts_[place] = kept_memory_.data() + kept_places_.offsets[place];
            } else {
                const bool has_place = scratch != nullptr && places_.holds(number);
                starts_[place] = has_place ? scratch + places_.offsets[place] : nullptr;
            }
        }
        for (const result_memory& each : results_) {
            starts_[static_cast<std::size_t>(each.place)] =
                each.target.data != nullptr ? each.target.data : each.block->data();
        }
    }

    /// True where result `position` may be written to the application's memory: its buffer is its own, and, for strided
    /// memory, not filled by a source, which writes densely.
    EINPARALLEL_INLINE [[nodiscard]] bool may_lie_elsewhere(std::size_t position, bool is_strided) const {
        const buffer_id place = results_[position].place;
        return std::ranges::count(program_.results, place) == 1 &&
               (!is_strided || !alive_[static_cast<std::size_t>(place)].input);
    }

    /// Says whether results are to lie where the host reads them, from the next lay_out() on.
    void want_results_on_host(bool wanted) { results_come_out_ = wanted; }

    /// The memory of result `position` of the last lay_out().
    [[nodiscard]] const std::shared_ptr<memory_block>& result(std::size_t position) const {
        const result_memory& each = results_[position];
        return each.on_host != nullptr ? each.on_host : each.block;
    }

    /// Lets go of the results: the application holds those it wants.
    EINPARALLEL_INLINE void release() {
        for (result_memory& each : results_) {
            each.block.reset();
            each.on_host.reset();
        }
    }

protected:
    /// A result: the first of those that share a buffer has its memory.
    struct result_memory {
        buffer_id place = no_buffer;
        std::size_t first = 0;  ///< of those results
        result_target target{};
        std::shared_ptr<memory_block> block{};
        std::shared_ptr<memory_block> on_host{};  ///< the same, where it is wanted on the host
        result_pool pool{};
        result_pool host_pool{};
    };

    EINPARALLEL_INLINE program_memory(program of_rank, std::size_t vertices)
        : program_(std::move(of_rank)),
          alive_(lifetimes_of(program_)),
          borrowed_(program_.buffers.size(), nullptr),
          starts_(program_.buffers.size(), nullptr),
          sources_(vertices, nullptr) {
        for (const buffer_id place : program_.results) {
            const auto first = std::ranges::find(program_.results, place) - program_.results.begin();
            results_.push_back({place, static_cast<std::size_t>(first)});
        }
    }
    ~program_memory() = default;

    /// Gives every buffer its place: in the application's memory, in a result or in scratch memory, which settle() then
    /// supplies. `places`: of the first buffers, in the application's memory. Local; may throw. Plans anew only where
    /// other buffers lie in the application's memory than before.
    EINPARALLEL_INLINE void place_buffers(const memory_space& space, std::span<std::byte* const> places) {
        const auto has_strides = [&](buffer_id number, std::vector<index>& strides) {
            if (strides != program_[number].strides) {
                std::swap(strides, program_[number].strides);
                has_other_strides_ = true;
            }
        };
        for (result_memory& each : results_) {
            has_strides(each.place, each.target.strides);
        }
        for (std::size_t place = 0; place < alive_.size(); ++place) {
            const auto number = static_cast<buffer_id>(place);
            const lifetime& life = alive_[place];
            // Elements of an input that nothing but their read writes may stay in the application's memory.
            if (!life.input || life.writers != 1 || program_[number].region.empty()) {
                continue;
            }
            strides_.clear();
            const void* const found = borrow(space, *sources_[*life.input], program_[number].region, strides_);
            is_planned_ = is_planned_ && (found == nullptr) == (borrowed_[place] == nullptr);
            borrowed_[place] = found;
            has_strides(number, strides_);
        }
        std::ranges::copy(places, borrowed_.begin());
        if (!is_planned_) {
            arena_plan kept = plan_kept(program_, [&](buffer_id number) { return is_borrowed(number); });
            is_kept_ = is_kept_ && kept == kept_places_;
            kept_places_ = std::move(kept);
            places_ = plan_arena(program_, [&](buffer_id number) { return lies_elsewhere(number); });
            is_planned_ = true;
        }
        if (!is_kept_) {
            forget();
            kept_memory_ = memory_block(space, kept_places_.bytes);
        }
        take_results(space);
    }

    [[nodiscard]] bool is_borrowed(buffer_id number) const {
        return borrowed_[static_cast<std::size_t>(number)] != nullptr;
    }

    /// Not in the scratch memory.
    [[nodiscard]] bool lies_elsewhere(buffer_id number) const {
        return is_borrowed(number) || program_.is_result(number) || alive_[static_cast<std::size_t>(number)].kept;
    }

    program program_;
    std::vector<lifetime> alive_;
    std::vector<const void*> borrowed_;   ///< by buffer: the application's memory, or null
    std::vector<std::byte*> starts_;      ///< by buffer
    std::vector<const source*> sources_;  ///< by vertex
    std::vector<result_memory> results_;
    bool has_other_strides_ = false;  ///< than the steps were prepared for

private:
    EINPARALLEL_INLINE void take_results(const memory_space& space) {
        const bool comes_out = results_come_out_ && !space.is_host();
        for (std::size_t position = 0; position < results_.size(); ++position) {
            result_memory& each = results_[position];
            each.block.reset();
            each.on_host.reset();
            if (each.first < position) {
                each.block = results_[each.first].block;
                each.on_host = results_[each.first].on_host;
            } else if (each.target.data == nullptr) {
                const std::size_t bytes = program_[each.place].bytes();
                each.block = take_from(each.pool, space, bytes);
                each.on_host = comes_out ? take_from(each.host_pool, space.on_host(), bytes) : nullptr;
            }
        }
    }

    arena_plan kept_places_;  ///< of what is kept over runs, but for inputs in the application's memory
    memory_block kept_memory_;
    bool is_kept_ = false;
    arena_plan places_;
    bool is_planned_ = false;
    bool results_come_out_ = false;
    std::vector<index> strides_;  ///< while buffers are placed
};

}  // namespace einparallel::EINPARALLEL_DETAIL
