#pragma once
// Branch and bound over whole placements: for small graphs in which so many vertices read one tensor that the tables of
// the elimination would not fit.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/einsum_graph.hpp>
#include <einparallel/plan/overlap.ipp>
#include <einparallel/plan/pairwise.hpp>
#include <einparallel/plan/placement_model.ipp>
#include <einparallel/plan/ways.ipp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Tries the ways of one vertex after the other, cheapest first, and turns back where what is decided and the cheapest
/// ways of the rest exceed the best known.
EINPARALLEL_INLINE class branch_and_bound {
public:
    branch_and_bound(const einsum_graph& graph, const std::vector<std::size_t>& vertex_of,
                     const std::vector<std::vector<tensor_reader>>& readers,
                     const std::vector<std::shared_ptr<const way_list>>& ways, moving_costs& costs)
        : graph_(graph), vertex_of_(vertex_of), readers_(readers), ways_(ways), costs_(costs) {
        rest_.assign(ways.size() + 1, 0);
        for (std::size_t variable = ways.size(); variable-- > 0;) {
            const std::vector<vertex_way>& all = ways[variable]->ways;
            std::vector<std::size_t>& order = orders_.emplace_back(all.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return all[a].cost < all[b].cost; });
            rest_[variable] = rest_[variable + 1] + all[order.front()].cost;
        }
        std::reverse(orders_.begin(), orders_.end());
    }

    /// One way per variable with the smallest sum; nothing where more than `most` ways would have to be looked at.
    std::optional<std::vector<int>> run(double known, std::size_t most) {
        best_ = known * (1 + 1e-9);
        left_ = most;
        chosen_.assign(ways_.size(), undecided);
        maker_of_.assign(graph_.vertices.size(), undecided);
        for (std::size_t variable = 0; variable < vertex_of_.size(); ++variable) {
            maker_of_[vertex_of_[variable]] = static_cast<int>(variable);
        }
        descend(0, 0);
        return left_ > 0 && !states_.empty() ? std::optional(states_) : std::nullopt;
    }

private:
    static constexpr int undecided = -1;

    [[nodiscard]] const vertex_way& way(std::size_t variable) const {
        return ways_[variable]->ways[static_cast<std::size_t>(chosen_[variable])];
    }

    /// What bringing a tensor to those of its readers that are decided costs at least.
    double moving(std::size_t number) {
        const vertex& tensor = *graph_.vertices[number];
        if (!is_moved(tensor)) {
            return 0;
        }
        wanted_.clear();
        marked_.clear();
        bool all = true;
        for (const tensor_reader& reader : readers_[number]) {
            if (chosen_[reader.variable] == undecided) {
                all = false;
                continue;
            }
            for (const std::size_t operand : reader.operands) {
                wanted_.push_back(way(reader.variable).operands[operand]);
                if (graph_.vertices[vertex_of_[reader.variable]]->wishes.without_communication) {
                    marked_.push_back(wanted_.back());
                }
            }
        }
        sort_range(wanted_);
        wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
        if (!tensor.is_input()) {
            return costs_.from(way(static_cast<std::size_t>(maker_of_[number])).output, wanted_, tensor, marked_);
        }
        return costs_.is_fixed(number) || all ? costs_.of_input(number, wanted_, tensor, marked_) : 0;
    }

    void descend(std::size_t variable, double cost) {
        if (variable == ways_.size()) {
            if (better(cost, best_)) {
                best_ = cost;
                states_ = chosen_;
            }
            return;
        }
        std::vector<std::size_t> read = graph_.inputs[vertex_of_[variable]];
        sort_range(read);
        read.erase(std::unique(read.begin(), read.end()), read.end());
        const auto moving_all = [&] {
            double sum = 0;
            for (const std::size_t input : read) {
                sum += moving(input);
            }
            return sum;
        };
        const double before = moving_all();
        for (const std::size_t next : orders_[variable]) {
            const double alone = cost + ways_[variable]->ways[next].cost + rest_[variable + 1];
            if (left_ == 0 || !better(alone, best_)) {
                break;
            }
            --left_;
            chosen_[variable] = static_cast<int>(next);
            const double more = moving_all() - before;
            if (better(alone + more, best_)) {
                descend(variable + 1, cost + ways_[variable]->ways[next].cost + more);
            }
        }
        chosen_[variable] = undecided;
    }

    const einsum_graph& graph_;
    const std::vector<std::size_t>& vertex_of_;
    const std::vector<std::vector<tensor_reader>>& readers_;
    const std::vector<std::shared_ptr<const way_list>>& ways_;
    moving_costs& costs_;
    std::vector<std::vector<std::size_t>> orders_;
    std::vector<double> rest_;
    std::vector<int> chosen_;
    std::vector<int> maker_of_;
    std::vector<int> states_;
    std::vector<resting_id> wanted_;
    std::vector<resting_id> marked_;
    double best_ = 0;
    std::size_t left_ = 0;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
