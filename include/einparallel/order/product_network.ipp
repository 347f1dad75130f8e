#pragma once

#include <einparallel/order/product_network.hpp>

#include <einparallel/notation/sort_range.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

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

EINPARALLEL_INLINE std::vector<tensor_pair> in_order(std::vector<tensor_pair> steps) {
    const std::size_t operands = steps.size() + 1;
    const auto bottom_up = [&] {
        std::vector<std::size_t> listed(steps.empty() ? 0 : 1, steps.size() - 1);
        for (std::size_t position = 0; position < listed.size(); ++position) {
            for (const std::size_t part : {steps[listed[position]].left, steps[listed[position]].right}) {
                if (part >= operands) {
                    listed.push_back(part - operands);
                }
            }
        }
        std::ranges::reverse(listed);
        return listed;
    };
    std::vector<std::size_t> number(2 * operands - 1);  // at first of the lowest operand
    std::iota(number.begin(), number.end(), std::size_t{0});
    for (const std::size_t step : bottom_up()) {
        auto& [left, right] = steps[step];
        if (number[right] < number[left]) {
            std::swap(left, right);
        }
        number[operands + step] = number[left];
    }
    std::vector<tensor_pair> ordered;
    for (const std::size_t step : bottom_up()) {
        number[operands + step] = operands + ordered.size();
        ordered.push_back({number[steps[step].left], number[steps[step].right]});
    }
    return ordered;
}

/// A network whose tensors are contracted pair by pair.
EINPARALLEL_INLINE class shrinking_network {
public:
    const product_network& net;
    label_sets labels;                             ///< by tensor: the operands, then the results
    std::vector<std::vector<std::size_t>> having;  ///< by label: tensors that have it or had it
    std::vector<bool> alive;                       ///< by tensor: there, and not yet contracted
    std::vector<std::uint64_t> joined;             ///< see join
    std::vector<std::uint64_t> result;
    found_order found;

    explicit shrinking_network(const product_network& whole)
        : net(whole),
          labels(net.extents.size(), 2 * net.operands - 1),
          having(net.extents.size()),
          alive(2 * net.operands - 1, false),
          joined(labels.words()),
          result(labels.words()),
          users_(net.extents.size(), 0) {
        net.labels.each(net.operands, [&](std::size_t label) { ++users_[label]; });
        for (std::size_t operand = 0; operand < net.operands; ++operand) {
            std::copy(net.labels.of(operand), net.labels.of(operand) + labels.words(), labels.of(operand));
            enter(operand);
        }
    }

    /// Finds the labels of two tensors, `joined`, and of their product, `result`: what both have and nobody else needs
    /// goes.
    void join(std::size_t left, std::size_t right) {
        for (std::size_t word = 0; word < labels.words(); ++word) {
            joined[word] = labels.of(left)[word] | labels.of(right)[word];
            result[word] = joined[word];
            for (std::uint64_t rest = labels.of(left)[word] & labels.of(right)[word]; rest != 0; rest &= rest - 1) {
                if (users_[word * 64 + static_cast<std::size_t>(std::countr_zero(rest))] == 2) {
                    result[word] &= ~(rest & (~rest + 1));
                }
            }
        }
    }

    std::size_t contract(std::size_t left, std::size_t right) {
        const std::size_t made = net.operands + found.steps.size();
        join(left, right);
        std::copy(result.begin(), result.end(), labels.of(made));
        for (const std::size_t gone : {left, right}) {
            alive[gone] = false;
            labels.each(gone, [&](std::size_t label) { --users_[label]; });
        }
        enter(made);
        found.operations += net.size_of(joined.data(), joined.size());
        found.steps.push_back({left, right});
        return made;
    }

private:
    void enter(std::size_t tensor) {
        labels.each(tensor, [&](std::size_t label) {
            ++users_[label];
            having[label].push_back(tensor);
        });
        alive[tensor] = true;
    }

    std::vector<std::size_t> users_;  // by label: tensors not yet contracted that have it, and the output
};

}  // namespace einparallel::EINPARALLEL_DETAIL
