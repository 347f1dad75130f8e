#pragma once
// Where the buffers of one rank's program lie in memory, from run to run.

#include <einparallel/graph/source.hpp>
#include <einparallel/kernel/space.hpp>
#include <einparallel/kernel/work/work.hpp>
#include <einparallel/mpi/communicator.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/run/kept_memory.ipp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/in_place.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Memory blocks for one result over several runs. Those that the application no longer holds can be reused.
using result_pool = std::vector<std::shared_ptr<memory_block>>;

/// Returns a block that nobody else holds, from the pool or a new one. An application that keeps the last result until
/// it has the next one causes two allocations in all.
EINPARALLEL_SELDOM std::shared_ptr<memory_block> take_from(result_pool& pool, const memory_space& space,
                                                           std::size_t bytes) {
    const auto is_free = [](const std::shared_ptr<memory_block>& each) { return each.use_count() == 1; };
    const auto found = find_if_in(pool, is_free);
    if (found == pool.end()) {
        return pool.emplace_back(shared_block(space, bytes));
    }
    std::shared_ptr<memory_block> taken = *found;
    std::erase_if(pool, is_free);
    return taken;
}

/// The application's memory that holds the elements of `region`, if work in this space can use it in place; otherwise
/// null. Sets its strides (source::borrow). @throws error where the address is not the kind of memory that the source
/// claims
EINPARALLEL_SELDOM const void* borrow(const memory_space& space, const source& origin, const box& region,
                                      std::vector<index>& strides) {
    const void* const found = origin.borrow(region, strides);
    if (const std::string mistake = found == nullptr ? "" : space.refuses(found, origin.is_on_device());
        !mistake.empty()) {
        refuse({"run: ", origin.description(), ": ", mistake});
    }
    if (space.is_host() || origin.is_on_device()) {
        return found;
    }
    strides.clear();
    return nullptr;
}

/// Copies the elements of a source into dense memory of a space.
EINPARALLEL_SELDOM void copy_source(const memory_space& space, const source& origin, const box& region, void* into,
                                    std::size_t element_bytes) {
    if (!origin.is_on_device()) {
        space.fill(region, into, element_bytes,
                   [&](const box& region_read, void* to) { origin.read(region_read, to); });
        return;
    }
    std::vector<index> strides;
    const void* const found = borrow(space, origin, region, strides);
    require(found != nullptr, {origin.description(), ": device memory with a negative stride is not read"});
    const std::vector<index> dense = dense_strides(region);
    space.copy({extents_of(region), into, dense, found, strides.empty() ? dense : strides, element_bytes});
}

/// The memory of a program's buffers. A buffer lies in one of three places: in memory of the application or of a
/// result, to which it is bound for a run; in memory that is kept between runs; or in scratch memory, which all
/// programs share, one after the other.
class program_memory {
public:
    EINPARALLEL_SELDOM program_memory(program of_rank, std::vector<kept_tensor> tensors)
        : program_(std::move(of_rank)),
          tensors_(std::move(tensors)),
          sources_(program_.vertices.size(), nullptr),
          alive_(lifetimes_of(program_)),
          bound_(program_.buffers.size(), nullptr),
          starts_(program_.buffers.size(), nullptr),
          has_rows_(program_.buffers.size(), false),
          is_read_(program_.buffers.size(), false),
          has_once_(any_in(program_.steps, &step::once)) {
        for (const buffer_id buffer : program_.results) {
            if (find_in(results_, buffer, &result_memory::buffer) == results_.end()) {
                results_.push_back({buffer});
            }
        }
        for (const buffer_id buffer : program_.results) {
            is_read_[std::size_t(buffer)] = true;
        }
        for (const step& each : program_.steps) {
            for (const message& sent : each.sends) {
                is_read_[std::size_t(sent.buffer)] = true;
            }
            for (const action& done : each.work) {
                if (const auto* const moved = std::get_if<local_move>(&done)) {
                    is_read_[std::size_t(moved->from)] = true;
                }
                const auto* const call = std::get_if<contraction>(&done);
                for (std::size_t operand = 0; call != nullptr && operand < call->operands.size(); ++operand) {
                    const auto position = std::size_t(call->operands[operand]);
                    const called_vertex& made = program_.vertex_of(*call);
                    const operand_read* const read = call->read_of(made.form, operand);
                    has_rows_[position] = has_rows_[position] || (read != nullptr && read->at.is_reshaped());
                    is_read_[position] = is_read_[position] || !made.work->takes_indices(operand) ||
                                         (read != nullptr && !read->at.is_plain());
                }
            }
        }
    }

    const program& of_rank() const { return program_; }
    program& of_rank() { return program_; }
    /// The sources that the next run reads, by vertex; null for einsums. They stay alive until the run is over.
    std::vector<const source*>& sources() { return sources_; }
    /// The first byte of each buffer, after settle().
    const std::vector<std::byte*>& starts() const { return starts_; }

    /// True where earlier runs have left the results of the steps marked `once`.
    bool is_kept() const { return is_kept_; }
    /// Sets whether later runs may use the kept buffers that this run fills.
    void keep(bool stays = true) { is_kept_ = stays; }
    /// Frees the memory of all kept buffers, filled or not.
    void forget() {
        is_kept_ = false;
        kept_ = {};
    }

    kept_memory& kept() { return kept_; }

    /// Makes the next run write result `position` to the application's memory at `data`.
    void aim(std::size_t position, const void* data, const std::vector<index>& strides) {
        at(position).is_aimed = true;
        bind(at(position).buffer, data, strides);
    }
    bool is_aimed(std::size_t position) { return at(position).is_aimed; }
    /// Makes later runs write result `position` to memory of the library. Revokes aim() and offer().
    void withdraw(std::size_t position) {
        result_memory& of = at(position);
        of.is_aimed = false;
        of.given.reset();
        of.block.reset();
    }
    /// Lets the next run write a result over the elements of input `vertex`, which lie at `data`. These must be the
    /// elements of an earlier result that has no other handle. True where some result will be written there.
    EINPARALLEL_SELDOM bool offer(std::size_t vertex, const std::byte* data) {
        for (result_memory& of : results_) {
            const auto given = find_if_in(of.pool, [&](const auto& each) { return each->data() == data; });
            constexpr long alone = 2;  // the pool, and the input
            if (of.is_aimed || of.given != nullptr || given == of.pool.end() || given->use_count() != alone) {
                continue;
            }
            auto known = find_in(of.may_replace, vertex, [](const auto& each) { return each.first; });
            if (known == of.may_replace.end()) {
                known = of.may_replace.insert(known, {vertex, may_replace(program_, alive_, vertex, of.buffer)});
            }
            of.given = known->second ? *given : nullptr;
            return known->second;
        }
        return false;
    }
    /// True where result `position` may be written to the application's memory. No other result may share its buffer.
    /// If the memory is strided, no source may fill the buffer, because sources write densely, and nothing may read it
    /// through several dimensions at once.
    EINPARALLEL_SELDOM bool may_lie_elsewhere(std::size_t position, bool is_strided) const {
        const buffer_id buffer = program_.results[position];
        const bool is_dense = alive_[std::size_t(buffer)].input || has_rows_[std::size_t(buffer)];
        return count_in(program_.results, buffer) == 1 && (!is_strided || !is_dense);
    }
    /// The memory of result `position` since the last assign().
    const std::shared_ptr<memory_block>& result(std::size_t position) {
        const result_memory& each = at(position);
        return each.on_host != nullptr ? each.on_host : each.block;
    }
    /// Copies those results to the host that are wanted there.
    EINPARALLEL_SELDOM void copy_results_out(const memory_space& space) const {
        constexpr std::array<index, 1> dense{1};
        for (const result_memory& each : results_) {
            if (each.on_host != nullptr && each.block->bytes() > 0) {
                const std::array<index, 1> all{index(each.block->bytes())};
                space.copy({all, each.on_host->data(), dense, each.block->data(), dense, 1});
            }
        }
    }

    /// Binds a buffer to the memory at `start` until the next call; null unbinds it, so that it lies in memory of the
    /// program.
    EINPARALLEL_SELDOM void bind(buffer_id number, const void* start, const std::vector<index>& strides) {
        const auto position = std::size_t(number);
        has_other_strides_ = has_other_strides_ || strides != program_[number].strides;
        program_[number].strides = strides;
        is_planned_ = is_planned_ && (start == nullptr) == (bound_[position] == nullptr);
        bound_[position] = static_cast<std::byte*>(const_cast<void*>(start));  // the memory of an input is only read
    }

    /// True where the elements of an input are used in the application's memory.
    bool is_borrowed(buffer_id number) const {
        return bound_[std::size_t(number)] != nullptr && !program_.is_result(number);
    }

    /// Binds inputs and results, and gives every other buffer a place in kept memory or an offset in scratch memory,
    /// which settle() supplies later. `stay`: results are not wanted on the host. `others`: tensors that other programs
    /// keep. Plans memory again only if different buffers are bound than before. True where the strides of buffers have
    /// changed since the last call. Local; may throw.
    EINPARALLEL_SELDOM bool assign(const memory_space& space, bool stay, const std::vector<kept_tensor>& others) {
        std::vector<index> strides;
        for (std::size_t number = 0; number < alive_.size(); ++number) {
            const lifetime& life = alive_[number];
            const box& region = program_.buffers[number].region;
            // An input may stay in the application's memory if nothing but its read from the source writes the buffer.
            if (life.input && life.writers == 1 && !region.empty()) {
                strides.clear();
                const bool counts = program_.buffers[number].counts && !is_read_[number] && space.is_host();
                const void* found = counts ? &program_  // any address serves
                                           : borrow(space, *sources_[*life.input], region, strides);
                if (has_rows_[number] && !strides.empty() && strides != dense_strides(region)) {
                    found = nullptr;
                    strides.clear();
                }
                bind(buffer_id(number), found, strides);
            }
        }
        bind_results(space, stay);
        if (!is_planned_) {
            program_room planned = room_of(program_, [&](buffer_id number) { return is_borrowed(number); });
            is_kept_ = is_kept_ && planned.kept == room_.kept;
            room_ = std::move(planned);
            is_planned_ = true;
        }
        if (!is_kept_) {
            forget();
            if (has_once_) {
                kept_.lay_out(space, program_, room_.kept, tensors_, others);
            }
        }
        return std::exchange(has_other_strides_, false);
    }

    /// Bytes of scratch memory that the program needs since the last assign().
    std::size_t scratch_bytes() const { return room_.arena.bytes; }
    /// True where the next run holds exactly `bytes` bytes: results, kept and scratch memory. An input that is used in
    /// place, or a result in the application's memory, counts as if it lay in the program's memory.
    EINPARALLEL_SELDOM bool holds(std::size_t bytes) const {
        const std::size_t results = sum_in(results_, std::size_t{0}, [&](const result_memory& each) {
            return each.is_aimed ? program_[each.buffer].bytes() : each.block->bytes();
        });
        bool borrows = false;
        for (std::size_t number = 0; number < bound_.size(); ++number) {
            borrows = borrows || is_borrowed(buffer_id(number));
        }
        return results == room_.results &&
               (borrows ? room_of(program_).peak() : results + room_.kept.bytes + room_.arena.bytes) == bytes;
    }

    /// Sets where the scratch memory is. Others may use it before and after this program runs, but not during the run.
    EINPARALLEL_SELDOM void settle(std::byte* scratch) {
        for (std::size_t position = 0; position < starts_.size(); ++position) {
            const auto number = buffer_id(position);
            starts_[position] = bound_[position] != nullptr ? bound_[position]
                                : room_.kept.holds(number)  ? kept_.start(position)
                                : scratch != nullptr && room_.arena.holds(number)
                                    ? scratch + room_.arena.offsets[position]
                                    : nullptr;
        }
    }

private:
    /// The memory of one result buffer. Results with the same buffer share it.
    struct result_memory {
        buffer_id buffer = no_buffer;
        bool is_aimed = false;  ///< bound to the application's memory
        std::shared_ptr<memory_block> block{};
        std::shared_ptr<memory_block> on_host{};  ///< copy on the host, if it is wanted there
        result_pool pool{};
        std::shared_ptr<memory_block> given{};                    ///< memory of an input that the result will replace
        std::vector<std::pair<std::size_t, bool>> may_replace{};  ///< answers of may_replace() so far, by input vertex
        result_pool host_pool{};
    };

    result_memory& at(std::size_t position) {
        return *find_in(results_, program_.results[position], &result_memory::buffer);
    }

    EINPARALLEL_SELDOM void bind_results(const memory_space& space, bool stay) {
        for (result_memory& each : results_) {
            each.block.reset();
            each.on_host.reset();
            if (each.is_aimed) {
                continue;
            }
            const std::size_t bytes = program_[each.buffer].bytes();
            each.block =
                each.given != nullptr ? std::exchange(each.given, nullptr) : take_from(each.pool, space, bytes);
            each.on_host = stay || space.is_host() ? nullptr : take_from(each.host_pool, space.on_host(), bytes);
            bind(each.buffer, each.block->data(), {});
        }
    }

    program program_;
    std::vector<kept_tensor> tensors_;    ///< by vertex
    std::vector<const source*> sources_;  ///< by vertex
    std::vector<lifetime> alive_;
    std::vector<std::byte*> bound_;   ///< by buffer: the memory that it is bound to, or null
    std::vector<std::byte*> starts_;  ///< by buffer
    std::vector<bool> has_rows_;      ///< by buffer: a call reads several of its dimensions as one
    std::vector<bool> is_read_;       ///< by buffer: its elements are read, where they are indices
    std::vector<result_memory> results_;
    program_room room_;  ///< planned memory, without inputs in the application's memory
    kept_memory kept_;
    bool has_once_;  ///< some steps are marked `once`
    bool is_kept_ = false;
    bool is_planned_ = false;
    bool has_other_strides_ = false;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
