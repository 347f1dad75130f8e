#pragma once
// The order of the vertices of a plan that pages, and which of them are computed again: whatever makes the fewest bytes
// wait in storage.

#include <einparallel/cost/memory.hpp>
#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/recompute.ipp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/paging/residency.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Searches among sequences of einsums: every einsum stands in one at least once, behind those that it reads. One that
/// stands there again is computed again, for readers behind it. A tensor of the graph is one item of memory here, as
/// large as the largest piece of it that a rank has.
EINPARALLEL_INLINE class paging_order {
public:
    using sequence = std::vector<std::size_t>;

    /// @param whole  a plan for the graph
    paging_order(const einsum_graph& graph, const plan& whole, std::size_t limit)
        : graph_(graph), counts_bytes_(whole.asked().objective != objective::time), limit_(double(limit)) {
        const machine& on = whole.asked().machine;
        per_byte_ = counts_bytes_ ? 1 : on.seconds_per_stored_byte;
        for (std::size_t number = 0; number < graph.vertices.size(); ++number) {
            const planned_vertex& each = whole.vertices()[number];
            const double element = double(each.element.bytes);
            bytes_.push_back(double(aligned(std::size_t(largest_piece(each.resting) * element))));
            double beside = each.is_input() ? 0 : task_memory(each.work) - largest_piece(each.work.output) * element;
            for (std::size_t operand = 0; operand < each.work.operands.size(); ++operand) {
                beside -= largest_piece(each.work.operands[operand]) * double(each.work.operand_bytes[operand]);
            }
            beside_.push_back(std::max(0.0, beside));
            seconds_.push_back(each.seconds);
            is_result_.push_back(found_in(number, graph.outputs));
            limit_ -= is_result_.back() ? bytes_.back() : 0;
            if (!each.is_input()) {
                given_.push_back(number);
            }
        }
    }

    /// The order of the graph.
    const sequence& given() const { return given_; }

    /// The best sequence found; the order of the graph where none is better.
    sequence best() {
        const std::size_t count = given_.size();
        budget_ = std::clamp<std::size_t>(40'000'000 / ((count + 1) * (count + 20)), 100, 40'000);
        sequence found = given_;
        loss least = cost_of(found);
        if (least.first == 0 && least.second == 0) {
            return found;
        }
        const loss before = least;
        improve(found, least);
        constexpr std::size_t few = 14;
        constexpr int starts = 24;
        for (int start = 0; start < starts && count <= few; ++start) {
            sequence other = shuffled(start % 2 == 1);
            loss cost = cost_of(other);
            improve(other, cost);
            if (cost < least) {
                least = cost;
                found = std::move(other);
            }
        }
        return least < before ? found : given_;
    }

    /// The graph whose einsums stand in this sequence. `old` gets the number that each vertex has in the graph before.
    einsum_graph graph_of(const sequence& wanted, std::vector<std::size_t>& old) const {
        constexpr std::size_t unknown = std::size_t(-1);
        einsum_graph made;
        std::vector<std::size_t> first(graph_.vertices.size(), unknown);
        std::vector<std::size_t> latest(graph_.vertices.size(), unknown);
        const auto add_input = [&](std::size_t number) {
            if (graph_.vertices[number]->is_input() && first[number] == unknown) {
                first[number] = latest[number] =
                    made.add(graph_.vertices[number], graph_.origins[number], {}, graph_.step_of[number]);
                old.push_back(number);
            }
        };
        for (const std::size_t number : wanted) {
            for_each_in(graph_.inputs[number], add_input);
            old.push_back(number);
            std::vector<std::size_t> reads = renumbered(graph_.inputs[number], latest);
            if (first[number] == unknown) {
                latest[number] = first[number] =
                    made.add(graph_.vertices[number], graph_.origins[number], std::move(reads), graph_.step_of[number]);
            } else {
                const std::shared_ptr<vertex> copy = vertex_again(graph_, number);
                latest[number] = made.add(copy, {copy}, std::move(reads));
            }
        }
        for_each_in(graph_.outputs, add_input);
        for (std::size_t number = 0; number < first.size(); ++number) {
            made.result_of[first[number]] = first[graph_.result_of[number]];
        }
        made.outputs = renumbered(graph_.outputs, first);
        return made;
    }

private:
    using loss = std::pair<double, double>;  // bytes beyond the limit, and cost

    loss cost_of(const sequence& order) {
        problem_.limit = limit_;
        problem_.taken.assign(order.size(), 0);
        problem_.gaps.clear();
        constexpr std::size_t none = std::size_t(-1);
        used_.assign(graph_.vertices.size(), none);
        value_.assign(graph_.vertices.size(), none);
        std::size_t values = 0;
        double seconds = 0;
        double again = 0;
        const auto use = [&](std::size_t number, std::size_t now) {
            if (is_result_[number] || bytes_[number] == 0) {
                return;
            }
            if (used_[number] != now) {
                problem_.taken[now] += bytes_[number];
            }
            if (used_[number] != none && used_[number] + 1 < now) {
                const bool is_input = graph_.vertices[number]->is_input();
                problem_.gaps.push_back({used_[number] + 1, now - 1, bytes_[number], bytes_[number] * per_byte_,
                                         is_input ? 0 : bytes_[number] * per_byte_, value_[number]});
            }
            used_[number] = now;
        };
        is_made_.assign(graph_.vertices.size(), false);
        for (std::size_t now = 0; now < order.size(); ++now) {
            const std::size_t number = order[now];
            problem_.taken[now] += beside_[number];
            for (const std::size_t input : graph_.inputs[number]) {
                value_[input] = value_[input] == none ? values++ : value_[input];
                use(input, now);
            }
            again += is_made_[number] ? seconds_[number] : 0;
            seconds += seconds_[number];
            is_made_[number] = true;
            used_[number] = none;
            value_[number] = values++;
            use(number, now);
            // What runs in tiles leaves no room for others.
            problem_.taken[now] = std::min(problem_.taken[now], limit_);
        }
        std::stable_sort(problem_.gaps.begin(), problem_.gaps.end(),
                         [](const residency_gap& a, const residency_gap& b) { return a.first < b.first; });
        const residency found = best_residency(problem_, order.size() > 12);
        constexpr double little = 1e-6;
        return {found.excess, found.cost + (counts_bytes_ ? little * again / std::max(seconds, 1e-300) : again)};
    }

    bool is_valid(const sequence& order) {
        is_made_.assign(graph_.vertices.size(), false);
        return all_in(order, [&](std::size_t number) {
            is_made_[number] = true;
            return all_in(graph_.inputs[number],
                          [&](std::size_t input) { return graph_.vertices[input]->is_input() || is_made_[input]; });
        });
    }

    /// Accepts a sequence where it is better.
    bool accept(sequence& found, loss& least, sequence&& tried) {
        if (spent_ >= budget_ || !is_valid(tried)) {
            return false;
        }
        ++spent_;
        const loss cost = cost_of(tried);
        if (!(cost < least)) {
            return false;
        }
        least = cost;
        found = std::move(tried);
        return true;
    }

    /// Moves einsums to other places, computes some again and others no longer again, as long as that is better.
    void improve(sequence& found, loss& least) {
        spent_ = 0;
        constexpr std::size_t reach = 24;
        for (bool better = true; better && spent_ < budget_;) {
            better = false;
            for (std::size_t from = 0; from < found.size(); ++from) {
                const std::size_t first = from - std::min(from, reach);
                const std::size_t last = std::min(found.size() - 1, from + reach);
                for (std::size_t to = first; to <= last && from < found.size(); ++to) {
                    if (to != from) {
                        sequence tried = found;
                        const std::size_t moved = tried[from];
                        tried.erase(tried.begin() + std::ptrdiff_t(from));
                        tried.insert(tried.begin() + std::ptrdiff_t(to), moved);
                        better = accept(found, least, std::move(tried)) || better;
                    }
                }
                if (count_in(found, found[from]) > 1) {
                    sequence tried = found;
                    tried.erase(tried.begin() + std::ptrdiff_t(from));
                    better = accept(found, least, std::move(tried)) || better;
                    if (from >= found.size()) {
                        break;
                    }
                }
                for (const std::size_t input : graph_.inputs[found[from]]) {
                    if (!graph_.vertices[input]->is_input() && !is_result_[input] && from > 0 &&
                        found[from - 1] != input) {
                        sequence tried = found;
                        tried.insert(tried.begin() + std::ptrdiff_t(from), input);
                        better = accept(found, least, std::move(tried)) || better;
                    }
                }
            }
        }
    }

    /// A valid order, drawn; with `again` some einsums are computed again for their readers.
    sequence shuffled(bool again) {
        sequence left = given_;
        sequence made;
        std::vector<bool> is_there(graph_.vertices.size(), false);
        while (!left.empty()) {
            const sequence ready = those_in(left, [&](std::size_t number) {
                return all_in(graph_.inputs[number],
                              [&](std::size_t input) { return graph_.vertices[input]->is_input() || is_there[input]; });
            });
            const std::size_t next = ready[drawn(random_, ready.size())];
            add_with_some(made, next, again);
            is_there[next] = true;
            std::erase(left, next);
        }
        return made;
    }

    /// Adds an einsum to a sequence; with `again` some of those that it reads are computed again before it.
    void add_with_some(sequence& made, std::size_t number, bool again) {
        for (const std::size_t input : graph_.inputs[number]) {
            constexpr std::size_t one_in = 3;
            if (again && !graph_.vertices[input]->is_input() && !is_result_[input] && made.back() != input &&
                made.size() < 2 * given_.size() && drawn(random_, one_in) == 0) {
                add_with_some(made, input, again);
            }
        }
        made.push_back(number);
    }

    const einsum_graph& graph_;
    bool counts_bytes_;
    double limit_;
    double per_byte_ = 1;
    std::vector<double> bytes_;    ///< by vertex: of the largest piece of its tensor
    std::vector<double> beside_;   ///< by vertex: bytes that its work needs beside its tensors
    std::vector<double> seconds_;  ///< by vertex
    std::vector<bool> is_result_;
    sequence given_;  ///< the einsums in the order of the graph
    residency_problem problem_;
    std::vector<std::size_t> used_;   ///< by vertex, in cost_of(): its last use
    std::vector<std::size_t> value_;  ///< by vertex: the number of its value
    std::vector<bool> is_made_;
    std::size_t budget_ = 0;
    std::size_t spent_ = 0;
    std::uint64_t random_ = 1;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
