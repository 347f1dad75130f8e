#pragma once

#include <einparallel/kernel/contraction_order.hpp>

#include <einparallel/notation/sort_range.hpp>

#include <functional>
#include <queue>
#include <tuple>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE extent_products::extent_products(const std::vector<double>& extents)
    : by_byte_((extents.size() + 7) / 8) {
    for (std::size_t byte = 0; byte < by_byte_.size(); ++byte) {
        std::array<double, 256>& products = by_byte_[byte];
        products[0] = 1;
        for (std::size_t bits = 1; bits < products.size(); ++bits) {
            const std::size_t label = 8 * byte + static_cast<std::size_t>(std::countr_zero(bits));
            products[bits] =
                std::min(products[bits & (bits - 1)] * (label < extents.size() ? extents[label] : 1), largest);
        }
    }
}

EINPARALLEL_INLINE double extent_products::operator()(const std::uint64_t* set, std::size_t words) const {
    double size = 1;
    for (std::size_t word = 0; word < words; ++word) {
        for (std::uint64_t rest = set[word]; rest != 0;) {
            const auto byte = static_cast<std::size_t>(std::countr_zero(rest)) / 8;
            size = std::min(size * by_byte_[8 * word + byte][(rest >> (8 * byte)) & 255U], largest);
            rest &= ~(std::uint64_t{255} << (8 * byte));
        }
    }
    return size;
}

EINPARALLEL_INLINE product_network make_network(const std::vector<std::vector<label_id>>& operands,
                                                const std::vector<label_id>& output,
                                                const std::vector<index>& extents) {
    // Who has a label: operands by number, then the output as number r.
    std::vector<std::pair<std::vector<std::size_t>, double>> owners(extents.size());
    const auto note = [&](const std::vector<label_id>& labels, std::size_t owner) {
        for (const label_id label : labels) {
            if (label != no_label) {
                std::vector<std::size_t>& known = owners[static_cast<std::size_t>(label)].first;
                if (known.empty() || known.back() != owner) {
                    known.push_back(owner);
                }
            }
        }
    };
    for (std::size_t operand = 0; operand < operands.size(); ++operand) {
        note(operands[operand], operand);
    }
    note(output, operands.size());
    for (std::size_t label = 0; label < extents.size(); ++label) {
        owners[label].second = static_cast<double>(extents[label]);
    }
    std::erase_if(owners, [](const auto& label) { return label.first.size() < 2 || label.second == 1; });
    sort_range(owners);
    std::vector<std::vector<std::size_t>> kinds;
    std::vector<double> sizes;
    for (auto& [owned_by, extent] : owners) {
        if (kinds.empty() || kinds.back() != owned_by) {
            kinds.push_back(std::move(owned_by));
            sizes.push_back(extent);
        } else {
            sizes.back() *= extent;
        }
    }
    label_sets labels(kinds.size(), operands.size() + 1);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        for (const std::size_t owner : kinds[kind]) {
            labels.insert(owner, kind);
        }
    }
    extent_products size_of(sizes);
    return {operands.size(), std::move(sizes), std::move(labels), std::move(size_of)};
}

/// The sets of labels that the tensors of an order have: the operands, then the result of every step. The last of the
/// given sets is the output's.
EINPARALLEL_INLINE label_sets labels_on_the_way(const label_sets& given, std::size_t label_count,
                                                const std::vector<tensor_pair>& steps) {
    const std::size_t operands = steps.size() + 1;
    label_sets sets(label_count, operands + steps.size());
    std::vector<std::size_t> users(label_count, 0);  // tensors not yet contracted that have a label, and the output
    const auto use = [&](std::size_t label) { ++users[label]; };
    given.each(operands, use);
    for (std::size_t operand = 0; operand < operands; ++operand) {
        std::copy(given.of(operand), given.of(operand) + given.words(), sets.of(operand));
        given.each(operand, use);
    }
    for (std::size_t step = 0; step < steps.size(); ++step) {
        const std::size_t parts[] = {steps[step].left, steps[step].right};
        for (const std::size_t part : parts) {
            sets.each(part, [&](std::size_t label) { --users[label]; });
        }
        for (const std::size_t part : parts) {
            sets.each(part, [&](std::size_t label) {
                if (users[label] > 0) {
                    sets.insert(operands + step, label);
                }
            });
        }
        sets.each(operands + step, use);
    }
    return sets;
}

/// One greedy run after the other over the same network.
EINPARALLEL_INLINE class greedy_search {
public:
    explicit greedy_search(const product_network& net)
        : net_(net), has_(net.extents.size(), 0), joined_(has_.words()), result_(has_.words()) {}

    /// False where it takes more operations than `most`: then it has stopped.
    bool run(const greedy_taste& taste, double most) {
        start(taste);
        for (std::size_t operand = 0; operand < net_.operands; ++operand) {
            propose_neighbours(operand, true);
        }
        while (!queue_.empty()) {
            const candidate next = queue_.top();
            queue_.pop();
            if (alive_[next.left] && alive_[next.right]) {
                const std::size_t made = contract(next.left, next.right);
                if (found_.cost.operations > most) {
                    return false;
                }
                propose_neighbours(made, false);
            }
        }
        using sized = std::pair<double, std::size_t>;
        std::priority_queue<sized, std::vector<sized>, std::greater<>> apart;
        for (std::size_t tensor = 0; tensor < alive_.size(); ++tensor) {
            if (alive_[tensor]) {
                apart.emplace(size_[tensor], tensor);
            }
        }
        while (apart.size() > 1) {
            const std::size_t left = apart.top().second;
            apart.pop();
            const std::size_t right = apart.top().second;
            apart.pop();
            const std::size_t made = contract(std::min(left, right), std::max(left, right));
            apart.emplace(size_[made], made);
        }
        return found_.cost.operations <= most;
    }

    [[nodiscard]] const found_order& found() const { return found_; }
    /// Pairs that have been weighed since the beginning, over all runs: what the search has taken, by no clock.
    [[nodiscard]] std::size_t proposals() const { return proposals_; }

private:
    struct candidate {
        double score;  // smallest first
        std::size_t left;
        std::size_t right;
        bool operator<(const candidate& other) const {
            return std::tie(score, left, right) > std::tie(other.score, other.left, other.right);
        }
    };

    void start(const greedy_taste& taste) {
        taste_ = taste;
        const std::size_t tensors = 2 * net_.operands - 1;
        has_ = label_sets(net_.extents.size(), tensors);
        users_.assign(net_.extents.size(), 0);
        having_.assign(net_.extents.size(), {});
        net_.labels.each(net_.operands, [&](std::size_t label) { ++users_[label]; });
        alive_.assign(tensors, false);
        seen_.assign(tensors, static_cast<std::size_t>(-1));
        size_.assign(tensors, 0);
        queue_ = {};
        found_ = {};
        for (std::size_t operand = 0; operand < net_.operands; ++operand) {
            std::copy(net_.labels.of(operand), net_.labels.of(operand) + has_.words(), has_.of(operand));
            enter(operand);
        }
    }

    void enter(std::size_t tensor) {
        has_.each(tensor, [&](std::size_t label) {
            ++users_[label];
            having_[label].push_back(tensor);
        });
        alive_[tensor] = true;
        size_[tensor] = net_.size_of(has_.of(tensor), has_.words());
    }

    /// Labels of two tensors, and of their product: what both have and nobody else needs goes.
    void join(std::size_t left, std::size_t right) {
        for (std::size_t word = 0; word < has_.words(); ++word) {
            joined_[word] = has_.of(left)[word] | has_.of(right)[word];
            result_[word] = joined_[word];
            for (std::uint64_t rest = has_.of(left)[word] & has_.of(right)[word]; rest != 0; rest &= rest - 1) {
                if (users_[word * 64 + static_cast<std::size_t>(std::countr_zero(rest))] == 2) {
                    result_[word] &= ~(rest & (~rest + 1));
                }
            }
        }
    }

    void propose(std::size_t left, std::size_t right) {
        ++proposals_;
        join(left, right);
        double made = net_.size_of(result_.data(), result_.size());
        if (taste_.noise > 0) {
            made *= static_cast<double>(16 + next_random(taste_.seed) % (taste_.noise + 1)) / 16;
        }
        queue_.push({made - taste_.weight * (size_[left] + size_[right]), left, right});
    }

    void propose_neighbours(std::size_t tensor, bool only_earlier) {
        has_.each(tensor, [&](std::size_t label) {
            std::vector<std::size_t>& others = having_[label];
            std::erase_if(others, [&](std::size_t other) { return !alive_[other]; });
            for (const std::size_t other : others) {
                if (other != tensor && seen_[other] != tensor && (!only_earlier || other < tensor)) {
                    seen_[other] = tensor;
                    propose(other, tensor);
                }
            }
        });
    }

    std::size_t contract(std::size_t left, std::size_t right) {
        const std::size_t made = net_.operands + found_.steps.size();
        join(left, right);
        std::copy(result_.begin(), result_.end(), has_.of(made));
        for (const std::size_t gone : {left, right}) {
            alive_[gone] = false;
            has_.each(gone, [&](std::size_t label) { --users_[label]; });
        }
        enter(made);
        found_.cost.operations += net_.size_of(joined_.data(), joined_.size());
        found_.cost.elements += size_[made];
        found_.steps.push_back({left, right});
        return made;
    }

    const product_network& net_;
    greedy_taste taste_;
    label_sets has_;
    std::vector<std::size_t> users_;  // by label: tensors not yet contracted that have it, and the output
    std::vector<std::vector<std::size_t>> having_;
    std::vector<bool> alive_;
    std::vector<std::size_t> seen_;
    std::vector<double> size_;
    std::vector<std::uint64_t> joined_;
    std::vector<std::uint64_t> result_;
    std::priority_queue<candidate> queue_;
    found_order found_;
    std::size_t proposals_ = 0;
};

/// An order as the tree that it is: the operands are leaves, every contraction has its two tensors below it.
EINPARALLEL_INLINE class order_refinement {
public:
    order_refinement(const product_network& net, const std::vector<tensor_pair>& steps)
        : net_(net),
          below_(net.operands),
          labels_(labels_on_the_way(net.labels, net.extents.size(), steps)),
          search_(net) {
        below_.insert(below_.end(), steps.begin(), steps.end());
    }

    std::vector<tensor_pair> refine(double operations) {
        bool changed = true;
        for (std::size_t sweep = 0; sweep < 4 && changed; ++sweep) {
            changed = false;
            for (const std::size_t node : contractions()) {
                if (weighed_ > operations) {
                    break;
                }
                changed = refine_at(node) || changed;
            }
        }
        std::vector<std::size_t> number(below_.size(), 0);
        for (std::size_t operand = 0; operand < net_.operands; ++operand) {
            number[operand] = operand;
        }
        std::vector<tensor_pair> steps;
        for (const std::size_t node : contractions()) {
            number[node] = net_.operands + steps.size();
            steps.push_back({number[below_[node].left], number[below_[node].right]});
        }
        return steps;
    }

private:
    static constexpr std::size_t part_size = 8;

    /// All contractions, each after those that it reads.
    [[nodiscard]] std::vector<std::size_t> contractions() const {
        return bottom_up(
            below_.size() - 1, [&](std::size_t node) { return below_[node]; },
            [&](std::size_t part) { return part < net_.operands; });
    }

    [[nodiscard]] order_cost cost_at(std::size_t node) const {
        std::vector<std::uint64_t> joined(labels_.words());
        for (std::size_t word = 0; word < joined.size(); ++word) {
            joined[word] = labels_.of(below_[node].left)[word] | labels_.of(below_[node].right)[word];
        }
        return {net_.size_of(joined.data(), joined.size()), net_.size_of(labels_.of(node), joined.size())};
    }

    /// Takes the contraction and the most expensive ones below it, and contracts what they read in the cheapest order.
    bool refine_at(std::size_t node) {
        std::vector<std::size_t> inner{node};
        std::vector<std::size_t> read{below_[node].left, below_[node].right};
        order_cost before = cost_at(node);
        while (read.size() < part_size) {
            std::size_t largest = read.size();
            order_cost most{-1, -1};
            for (std::size_t position = 0; position < read.size(); ++position) {
                if (read[position] >= net_.operands && most < cost_at(read[position])) {
                    most = cost_at(read[position]);
                    largest = position;
                }
            }
            if (largest == read.size()) {
                break;
            }
            const std::size_t opened = read[largest];
            before.operations += most.operations;
            before.elements += most.elements;
            inner.push_back(opened);
            read[largest] = below_[opened].left;
            read.push_back(below_[opened].right);
        }
        if (read.size() < 3) {
            return false;
        }
        std::vector<const std::uint64_t*> tensors;
        double splits = 1;
        for (const std::size_t part : read) {
            tensors.push_back(labels_.of(part));
            splits *= 3;
        }
        weighed_ += splits / 2;
        if (!search_.solve(tensors, labels_.of(node), before.operations) || !(search_.cost() < before)) {
            return false;
        }
        std::vector<std::size_t> at(std::size_t{1} << read.size(), 0);
        for (std::size_t part = 0; part < read.size(); ++part) {
            at[std::size_t{1} << part] = read[part];
        }
        search_.each_split([&](std::size_t subset, std::size_t left, std::size_t right) {
            at[subset] = inner.back();  // the last one is `node` itself
            inner.pop_back();
            below_[at[subset]] = {at[left], at[right]};
            std::copy(search_.kept(subset), search_.kept(subset) + labels_.words(), labels_.of(at[subset]));
        });
        return true;
    }

    const product_network& net_;
    std::vector<tensor_pair> below_;  // by number; nothing below operands
    label_sets labels_;               // that every tensor of the tree keeps
    exact_order<> search_;
    double weighed_ = 0;
};

EINPARALLEL_INLINE found_order greedy_contractions(const product_network& net, const greedy_taste& taste) {
    greedy_search search(net);
    search.run(taste, std::numeric_limits<double>::infinity());
    return search.found();
}

EINPARALLEL_INLINE std::vector<tensor_pair> refined_contractions(const product_network& net,
                                                                 const std::vector<tensor_pair>& steps,
                                                                 double operations) {
    return order_refinement(net, steps).refine(operations);
}

/// Bounds of the search beyond the exact one: greedy runs, and pairs weighed in all of them.
inline constexpr std::size_t greedy_runs_limit = 64;
inline constexpr std::size_t greedy_proposals_limit = 200'000;

/// The cheapest order of a small network.
EINPARALLEL_INLINE std::vector<tensor_pair> exact_steps(const product_network& net) {
    greedy_search greedy(net);
    greedy.run({}, std::numeric_limits<double>::infinity());
    std::vector<const std::uint64_t*> operands;
    for (std::size_t operand = 0; operand < net.operands; ++operand) {
        operands.push_back(net.labels.of(operand));
    }
    exact_order search(net);
    // Beyond 2^53 operations sums are rounded, and the greedy order may come out as if nothing were as cheap.
    return search.solve(operands, net.output(), greedy.found().cost.operations) ? search.steps() : greedy.found().steps;
}

/// The best of many greedy orders, with its parts put into their own best order. Never worse than the plain greedy one.
/// No more pairs are weighed than the product takes operations: searching must not take longer than contracting.
EINPARALLEL_INLINE std::vector<tensor_pair> approximate_steps(const product_network& net) {
    greedy_search greedy(net);
    greedy.run({}, std::numeric_limits<double>::infinity());
    found_order best = greedy.found();
    constexpr double weights[] = {1, 0.5, 0, 2};
    constexpr unsigned noises[] = {4, 16, 48};
    for (std::size_t run = 0; run < greedy_runs_limit && greedy.proposals() < greedy_proposals_limit &&
                              static_cast<double>(greedy.proposals()) < best.cost.operations;
         ++run) {
        const greedy_taste taste{weights[run % 4], run < 4 ? 0 : noises[run / 4 % 3], run};
        if (greedy.run(taste, best.cost.operations) && greedy.found().cost < best.cost) {
            best = greedy.found();
        }
    }
    return refined_contractions(net, best.steps, best.cost.operations);
}

EINPARALLEL_INLINE std::vector<pairwise_contraction> with_labels(const std::vector<tensor_pair>& steps,
                                                                 const std::vector<std::vector<label_id>>& operands,
                                                                 const std::vector<label_id>& output,
                                                                 std::size_t label_count) {
    label_sets given(label_count, operands.size() + 1);
    for (std::size_t tensor = 0; tensor <= operands.size(); ++tensor) {
        for (const label_id label : tensor < operands.size() ? operands[tensor] : output) {
            if (label != no_label) {
                given.insert(tensor, static_cast<std::size_t>(label));
            }
        }
    }
    const label_sets sets = labels_on_the_way(given, label_count, steps);
    std::vector<std::vector<label_id>> labels = operands;
    std::vector<pairwise_contraction> labelled;
    for (const tensor_pair& step : steps) {
        std::vector<label_id> joined;
        for (const std::size_t part : {step.left, step.right}) {
            for (const label_id label : labels[part]) {
                if (label != no_label && sets.contains(labels.size(), static_cast<std::size_t>(label)) &&
                    std::ranges::find(joined, label) == joined.end()) {
                    joined.push_back(label);
                }
            }
        }
        labelled.push_back({step.left, step.right, joined});
        labels.push_back(std::move(joined));
    }
    labelled.back().labels = output;
    return labelled;
}

EINPARALLEL_INLINE std::vector<pairwise_contraction> order_of_operands(
    std::span<const index> extents, std::span<const label_id> out,
    const std::vector<std::span<const label_id>>& operands) {
    const auto is_like_output = [&](std::span<const label_id> labels) {
        return labels.size() == out.size() && std::is_permutation(out.begin(), out.end(), labels.begin());
    };
    if (std::ranges::all_of(operands, is_like_output)) {
        return {};
    }
    std::vector<std::vector<label_id>> present;
    for (const std::span<const label_id> labels : operands) {
        present.emplace_back(labels.begin(), labels.end());
        std::erase(present.back(), no_label);
    }
    return contraction_order(present, {out.begin(), out.end()}, {extents.begin(), extents.end()});
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE std::vector<pairwise_contraction> contraction_order(
    const std::vector<std::vector<label_id>>& operands, const std::vector<label_id>& output,
    const std::vector<index>& extents) {
    if (operands.size() < 2) {
        return {};
    }
    std::vector<detail::tensor_pair> steps{{0, 1}};
    if (operands.size() > 2) {
        const detail::product_network net = detail::make_network(operands, output, extents);
        steps = operands.size() <= exact_order_limit ? detail::exact_steps(net) : detail::approximate_steps(net);
    }
    return detail::with_labels(steps, operands, output, extents.size());
}

}  // namespace einparallel
