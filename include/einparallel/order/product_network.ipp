#pragma once

#include <einparallel/order/product_network.hpp>

#include <einparallel/notation/sort_range.hpp>

#include <numeric>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

inline constexpr double largest_size = 1e300;

EINPARALLEL_INLINE double product_network::size_of(const std::uint64_t* set) const {
    double size = 1;
    for (std::size_t word = 0; word < labels.words(); ++word) {
        for (std::uint64_t rest = set[word]; rest != 0;) {
            const auto byte = std::size_t(std::countr_zero(rest)) / 8;
            size = std::min(size * products[8 * word + byte][(rest >> (8 * byte)) & 255U], largest_size);
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
    for (std::size_t owner = 0; owner <= operands.size(); ++owner) {
        for (const label_id label : owner < operands.size() ? operands[owner] : output) {
            if (label != no_label) {
                std::vector<std::size_t>& known = owners[std::size_t(label)].first;
                if (known.empty() || known.back() != owner) {
                    known.push_back(owner);
                }
            }
        }
    }
    for (std::size_t label = 0; label < extents.size(); ++label) {
        owners[label].second = double(extents[label]);
    }
    std::erase_if(owners, [](const auto& label) { return label.first.size() < 2 || label.second == 1; });
    sort_range(owners);
    product_network net{operands.size(), {}, {owners.size(), operands.size() + 1}, {}};
    for (std::size_t label = 0; label < owners.size(); ++label) {
        const auto& [owned_by, extent] = owners[label];
        if (label > 0 && owned_by == owners[label - 1].first) {
            net.extents.back() *= extent;
            continue;
        }
        for (const std::size_t owner : owned_by) {
            net.labels.insert(owner, net.extents.size());
        }
        net.extents.push_back(extent);
    }
    net.products.resize((net.extents.size() + 7) / 8);
    for (std::size_t byte = 0; byte < net.products.size(); ++byte) {
        std::array<double, 256>& products = net.products[byte];
        products[0] = 1;
        for (std::size_t bits = 1; bits < products.size(); ++bits) {
            const std::size_t label = 8 * byte + std::size_t(std::countr_zero(bits));
            const double extent = label < net.extents.size() ? net.extents[label] : 1;
            products[bits] = std::min(products[bits & (bits - 1)] * extent, largest_size);
        }
    }
    return net;
}

EINPARALLEL_INLINE std::vector<tensor_pair> in_order(std::vector<tensor_pair> steps, bool depth_first) {
    const std::size_t operands = steps.size() + 1;
    const auto bottom_up = [&] {
        std::vector<std::size_t> listed(steps.empty() ? 0 : 1, steps.size() - 1);
        for (std::size_t position = 0; position < listed.size(); ++position) {
            for (const std::size_t read : {steps[listed[position]].left, steps[listed[position]].right}) {
                if (read >= operands) {
                    listed.insert(depth_first ? listed.begin() + std::ptrdiff_t(position) + 1 : listed.end(),
                                  read - operands);
                }
            }
        }
        std::reverse(listed.begin(), listed.end());
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

}  // namespace einparallel::EINPARALLEL_DETAIL
