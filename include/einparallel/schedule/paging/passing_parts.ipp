#pragma once
// Which tensors pass through memory in the parts in which steps use them. Chains that run in strips use a part of each
// large tensor at a time; none of these tensors needs to be whole in memory, even where each of them would fit.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/program.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The regions of buffers that the step's only action reads and writes, and that may be moved on their own; none where
/// the step has messages.
EINPARALLEL_INLINE std::vector<buffer_region> movable_regions(const program& of_rank, const step& each) {
    std::vector<buffer_region> found;
    if (each.work.size() != 1 || !each.receives.empty() || !each.sends.empty()) {
        return found;
    }
    const auto* const call = std::get_if<contraction>(&each.work.front());
    const einsum_form* const form = call == nullptr ? nullptr : &of_rank.vertex_of(*call).form;
    const accesses touched = accesses_of(of_rank, each.work.front(), form);
    const auto add = [&](const buffer_region& used) {
        const buffer_region inside{used.buffer, intersect(used.region, of_rank[used.buffer].region)};
        const auto same = find_if_in(found, [&](const buffer_region& other) { return other.buffer == used.buffer; });
        if (same == found.end()) {
            found.push_back(inside);
        } else if (same->region != inside.region) {
            same->region = of_rank[used.buffer].region;  // several parts of it at once
        }
    };
    for (std::size_t number = 0; number < touched.reads.size(); ++number) {
        add(touched.reads[number]);
        const operand_read* const read = call == nullptr ? nullptr : call->read_of(*form, number);
        if (read != nullptr && read->at.is_reshaped()) {  // rows of it are read as one dimension
            found.back().region = of_rank[found.back().buffer].region;
        }
    }
    for_each_in(touched.writes, add);
    return found;
}

/// Decides which tensors pass through memory in parts: where calls of one vertex use a tensor part by part, and the
/// steps from one such call to the next one need more memory than there is. It takes the smallest tensors that are
/// enough.
EINPARALLEL_INLINE class passing_parts {
public:
    /// @param room       bytes of memory
    /// @param root_of    the buffer in whose memory a buffer lies; no_buffer for one that takes no memory of this
    /// @param may_page   the buffer's elements may be in storage
    passing_parts(const program& of_rank, const std::vector<step>& steps, double room,
                  function_ref<buffer_id(buffer_id)> root_of, function_ref<bool(buffer_id)> may_page)
        : of_rank_(of_rank), steps_(steps), room_(room), root_of_(root_of), uses_(of_rank.buffers.size()) {
        for (std::size_t at = 0; at < steps.size(); ++at) {
            for (const buffer_region& used : movable_regions(of_rank, steps[at])) {
                if (2 * used.region.size() <= of_rank[used.buffer].region.size() && may_page(used.buffer)) {
                    const auto* const call = std::get_if<contraction>(&steps[at].work.front());
                    uses_[std::size_t(used.buffer)].push_back({at, call == nullptr ? steps[at].vertex : call->vertex});
                }
            }
        }
    }

    /// By step: the buffers of which the step's part is to be moved on its own.
    std::vector<std::vector<buffer_id>> by_step() {
        constexpr std::size_t closely = 32;  // steps
        std::vector<std::pair<std::size_t, std::size_t>> spans;
        for (const std::vector<use>& all : uses_) {
            for (std::size_t first = 0; first < all.size(); ++first) {
                std::size_t last = first + 1;
                while (last < all.size() && all[last].vertex != all[first].vertex) {
                    ++last;
                }
                if (last < all.size() && all[last].at <= all[first].at + closely) {
                    spans.emplace_back(all[first].at, all[last].at);
                }
            }
        }
        sort_unique(spans);
        for_each_in(spans, [&](const auto& span) { make_fit(span.first, span.second); });
        std::vector<std::vector<buffer_id>> made(steps_.size());
        for (std::size_t number = 0; number < uses_.size(); ++number) {
            for (const use& each : uses_[number]) {
                if (each.passes) {
                    made[each.at].push_back(buffer_id(number));
                }
            }
        }
        return made;
    }

private:
    struct use {
        std::size_t at = 0;
        std::size_t vertex = 0;
        bool passes = false;
    };

    /// Calls f(use) for each use of a part of a buffer in some steps.
    void for_each_use(buffer_id buffer, std::size_t first, std::size_t last, const auto& f) {
        std::vector<use>& all = uses_[std::size_t(buffer)];
        auto next =
            std::lower_bound(all.begin(), all.end(), first, [](const use& a, std::size_t at) { return a.at < at; });
        for (; next != all.end() && next->at <= last; ++next) {
            f(*next);
        }
    }

    /// Lets tensors pass until the steps have room.
    void make_fit(std::size_t first, std::size_t last) {
        named_.clear();
        parts_.clear();
        for (std::size_t at = first; at <= last; ++at) {
            for_each_access(steps_[at], [&](buffer_id buffer, bool /*is_written*/) {
                bool passes = false;
                bool is_part = false;
                for_each_use(buffer, at, at, [&](const use& each) {
                    is_part = true;
                    passes = each.passes;
                });
                const buffer_id root = passes ? no_buffer : root_of_(buffer);
                if (root != no_buffer && !found_in(root, named_)) {
                    named_.push_back(root);
                }
                if (is_part && root != no_buffer && !found_in(buffer, parts_)) {
                    parts_.push_back(buffer);
                }
            });
        }
        double beyond =
            sum_in(named_, -room_, [&](buffer_id number) { return double(aligned(of_rank_[number].bytes())); });
        sort_range(parts_, [&](buffer_id a, buffer_id b) {
            return std::pair(of_rank_[a].bytes(), a) < std::pair(of_rank_[b].bytes(), b);
        });
        while (beyond > 0 && !parts_.empty()) {
            auto chosen =
                find_if_in(parts_, [&](buffer_id each) { return double(of_rank_[each].bytes()) >= 2 * beyond; });
            chosen -= chosen == parts_.end() ? 1 : 0;
            for_each_use(*chosen, first, last, [](use& each) { each.passes = true; });
            beyond -= double(of_rank_[*chosen].bytes());
            parts_.erase(chosen);
        }
    }

    const program& of_rank_;
    const std::vector<step>& steps_;
    double room_;
    function_ref<buffer_id(buffer_id)> root_of_;
    std::vector<std::vector<use>> uses_;  ///< of parts, by buffer
    std::vector<buffer_id> named_{};      ///< in make_fit(): what the steps name
    std::vector<buffer_id> parts_{};      ///< in make_fit(): of what they use parts, the smallest first
};

}  // namespace einparallel::EINPARALLEL_DETAIL
