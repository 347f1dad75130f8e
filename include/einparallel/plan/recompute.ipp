#pragma once
// Tensors that are computed again for late readers, so that they do not lie in memory until then. In training these are
// called checkpoints of activations.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/best_order.ipp>
#include <einparallel/plan/plan.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A vertex that computes the tensor of an einsum again.
EINPARALLEL_SELDOM std::shared_ptr<vertex> vertex_again(const einsum_graph& graph, std::size_t number) {
    const vertex& of = *graph.vertices[number];
    auto copy = std::make_shared<vertex>();
    copy->name = graph.name_of(number) + (of.is_again ? "" : " again");
    copy->constraints = of.constraints;
    copy->bounds = of.bounds;
    copy->element = of.element;
    copy->form = of.form;
    copy->extents = of.extents;
    copy->work = of.work;
    copy->operands = of.operands;
    copy->is_again = true;
    return copy;
}

/// Makes a graph in which some tensors are computed twice: first for readers before a certain vertex of the plan, and
/// again for readers after it.
EINPARALLEL_INLINE class twice_computed_graph {
public:
    /// @param there position of that vertex in the plan
    /// @pre the plan is for the graph, with its vertices in some order
    twice_computed_graph(const einsum_graph& graph, const plan& found, std::size_t there)
        : graph_(graph),
          found_(found),
          there_(there),
          turn_(graph.vertices.size()),
          last_(turn_),
          again_(turn_.size()) {
        std::unordered_map<const vertex*, std::size_t> position;
        for (std::size_t turn = 0; turn < found.vertices().size(); ++turn) {
            position[found.vertices()[turn].origin.get()] = turn;
        }
        turn_ = list_of(graph.origins, [&](const auto& made_for) { return position[made_for.front().get()]; });
        for (std::size_t number = 0; number < turn_.size(); ++number) {
            for (const std::size_t input : graph.inputs[number]) {
                last_[input] = std::max(last_[input], turn_[number]);
            }
            read_there_ = turn_[number] == there ? graph.inputs[number] : read_there_;
        }
        for_each_in(graph.outputs, [&](std::size_t output) { last_[output] = found.vertices().size(); });
    }

    /// Chooses the tensors to compute again, those with the least work per byte first, until the ranks hold about
    /// `bytes` less each. False where there is no such tensor.
    bool choose(double bytes) {
        struct offer {
            double work = 0;
            std::size_t number = 0;
        };
        std::vector<offer> offers;
        for (std::size_t number = 0; number < turn_.size(); ++number) {
            if (lies_idle(number) && bytes_of(number) > 0) {
                offers.push_back({work_of(needed_for(number)) / bytes_of(number), number});
            }
        }
        std::stable_sort(offers.begin(), offers.end(), [](const offer& a, const offer& b) { return a.work < b.work; });
        auto next = offers.begin();
        for (; next != offers.end() && bytes > 0; ++next) {
            for (const std::size_t number : needed_for(next->number)) {
                again_[number] = true;
            }
            bytes -= bytes_of(next->number);
        }
        return next != offers.begin();
    }

    /// The new graph. Its einsums are in the order of the plan, and each copy stands before its first late reader.
    einsum_graph made() {
        std::vector<std::size_t> einsums;
        for (std::size_t number = 0; number < turn_.size(); ++number) {
            graph_.vertices[number]->is_input() ? add(number) : einsums.push_back(number);
        }
        std::sort(einsums.begin(), einsums.end(), [&](std::size_t a, std::size_t b) { return turn_[a] < turn_[b]; });
        std::vector<std::size_t> order;
        for (const std::size_t number : einsums) {
            if (turn_[number] > there_) {
                std::vector<std::size_t> open;  // copies that are not there yet
                const auto needs = [&](std::size_t input) {
                    if (again_[input] && copy_of_[input] == unknown && !found_in(input, open)) {
                        open.push_back(input);
                    }
                };
                for_each_in(graph_.inputs[number], needs);
                for (std::size_t next = 0; next < open.size(); ++next) {
                    const std::vector<std::size_t>& inputs = graph_.inputs[open[next]];
                    for_each_in(inputs, needs);
                }
                std::sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) { return turn_[a] < turn_[b]; });
                for_each_in(open, [&](std::size_t each) { order.push_back(add_copy(each)); });
            }
            add(number);
            order.push_back(number_of_[number]);
        }
        for (std::size_t number = 0; number < turn_.size(); ++number) {
            made_.result_of[number_of_[number]] = number_of_[graph_.result_of[number]];
        }
        made_.outputs = renumbered(graph_.outputs, number_of_);
        std::vector<std::size_t> ignored;
        return in_order(made_, order, ignored);
    }

private:
    static constexpr std::size_t unknown = std::size_t(-1);
    static double to_double(index extent) { return double(extent); }

    /// True where the tensor is made before the vertex at `there_` and read after it, but not read by it.
    [[nodiscard]] bool lies_idle(std::size_t number) const {
        const bool is_output = last_[number] == found_.vertices().size();
        return is_einsum(number) && turn_[number] < there_ && last_[number] > there_ && !is_output &&
               !found_in(number, read_there_);
    }
    [[nodiscard]] bool is_einsum(std::size_t number) const {
        return !graph_.vertices[number]->is_input() && !found_.vertices()[turn_[number]].lasts;
    }

    /// About how many bytes of the tensor each rank has.
    [[nodiscard]] double bytes_of(std::size_t number) const {
        const vertex& each = *graph_.vertices[number];
        return product_in(each.bounds, double(each.element.bytes) / found_.processes(), to_double);
    }

    /// The tensor, and the tensors that it is computed from and that are no longer in memory.
    [[nodiscard]] std::vector<std::size_t> needed_for(std::size_t number) const {
        std::vector<std::size_t> all{number};
        for (std::size_t next = 0; next < all.size(); ++next) {
            for (const std::size_t input : graph_.inputs[all[next]]) {
                if (is_einsum(input) && last_[input] <= there_ && !again_[input] && !found_in(input, all)) {
                    all.push_back(input);
                }
            }
        }
        return all;
    }
    [[nodiscard]] double work_of(const std::vector<std::size_t>& numbers) const {
        return sum_in(numbers, 0.0, [&](std::size_t number) {
            const vertex& each = *graph_.vertices[number];
            constexpr double reading = 8;  // operations that reading an element counts as, beside its arithmetic
            return product_in(each.extents, each.work->operations_per_point() + reading, to_double);
        });
    }

    /// The number under which later readers have the tensor.
    std::size_t read_late(std::size_t number) { return again_[number] ? copy_of_[number] : number_of_[number]; }

    void add(std::size_t number) {
        const bool is_late = turn_[number] > there_;
        number_of_[number] =
            made_.add(graph_.vertices[number], graph_.origins[number],
                      list_of(graph_.inputs[number],
                              [&](std::size_t input) { return is_late ? read_late(input) : number_of_[input]; }),
                      graph_.step_of[number]);
    }

    std::size_t add_copy(std::size_t number) {
        const std::shared_ptr<vertex> copy = vertex_again(graph_, number);
        copy_of_[number] = made_.add(
            copy, {copy}, list_of(graph_.inputs[number], [&](std::size_t input) { return read_late(input); }));
        return copy_of_[number];
    }

    const einsum_graph& graph_;
    const plan& found_;
    std::size_t there_;
    std::vector<std::size_t> turn_;        ///< position in the plan, by number of the vertex
    std::vector<std::size_t> last_;        ///< position of its last reader; after all vertices for outputs
    std::vector<std::size_t> read_there_;  ///< operands of the vertex at there_
    std::vector<bool> again_;
    einsum_graph made_;
    std::vector<std::size_t> number_of_ = std::vector<std::size_t>(turn_.size(), unknown);
    std::vector<std::size_t> copy_of_ = std::vector<std::size_t>(turn_.size(), unknown);
};

/// A plan that keeps to the limit, in which some tensors are computed again; if none is found, the smallest plan found.
/// @param found a plan that does not keep to the limit
EINPARALLEL_SELDOM limited_plan computed_again(einsum_graph graph, limited_plan found,
                                               function_ref<limited_plan(const einsum_graph&)> plan_of) {
    // In the new plan most may be held at another vertex. So more bytes than the excess are tried, and fewer.
    constexpr std::array<double, 7> shares{1, .5, .25, 2, .125, 4, 8};
    int level = 8;
    for (std::size_t next = 0; next < shares.size() && found.excess > 0; ++next) {
        twice_computed_graph twice(graph, found.made, found.heaviest());
        if (!twice.choose(shares[next] * double(found.excess))) {
            continue;
        }
        einsum_graph other = twice.made();
        limited_plan made = plan_of(other);
        const bool is_elsewhere = made.excess == found.excess && level > 0;  // as much is held, elsewhere
        if (made.excess < found.excess || is_elsewhere) {
            level -= is_elsewhere ? 1 : 0;
            graph = std::move(other);
            found = std::move(made);
            next = std::size_t(-1);
        }
    }
    return found;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
