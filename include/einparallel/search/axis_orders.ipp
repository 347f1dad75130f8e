#pragma once
// The orders of a mesh's axes: which of a vertex's cuts lie inside a node, and which ranks are neighbours.

#include <einparallel/cost/numbering.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/levels.hpp>
#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/search/pins.ipp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The mesh of a partition vector with its axes in natural order: those that a pin names in the pin's order, then the
/// labels of the output in its order, then the others. So a ring over a contracted label runs between neighbouring
/// ranks.
/// @param points by label, may be shorter: cut points, which are used where they give as many parts
EINPARALLEL_INLINE mesh natural_mesh(const vertex& einsum, std::span<const int> parts,
                                     const std::vector<std::vector<index>>& points) {
    mesh ranks;
    const auto append = [&](label_id label) {
        const auto number = std::size_t(label);
        if (label != no_label && parts[number] > 1 && ranks.parts(label) == 1) {
            const bool at_points = number < points.size() && std::ssize(points[number]) == parts[number] + 1;
            ranks.axes.push_back({label, parts[number], at_points ? points[number] : std::vector<index>{}});
        }
    };
    for (const mesh_axis& axis : pinned_axes(einsum)) {
        append(axis.label);
    }
    for_each_in(einsum.form.output, append);
    for_each_in(first_labels(parts.size()), append);
    return ranks;
}

/// Orders of a mesh's axes to try, the natural one first. Up to four axes these are all orders; for more axes, all
/// exchanges of two axes. If the vertex has a pin that the natural order obeys, only orders that obey it.
EINPARALLEL_INLINE std::vector<mesh> axis_orders(const vertex& einsum, const mesh& natural) {
    std::vector<mesh> orders{natural};
    const std::size_t count = natural.axes.size();
    const auto position = [&](const mesh_axis& axis) { return find_in(natural.axes, axis); };
    const auto less = [&](const mesh_axis& a, const mesh_axis& b) { return position(a) < position(b); };
    for (mesh next = natural; count <= 4 && std::next_permutation(next.axes.begin(), next.axes.end(), less);) {
        orders.push_back(next);
    }
    for (std::size_t first = 0; first < count && count > 4; ++first) {
        for (std::size_t second = first + 1; second < count; ++second) {
            mesh& next = orders.emplace_back(natural);
            std::swap(next.axes[first], next.axes[second]);
        }
    }
    if (einsum.constraints.pin && follows_pin(einsum, natural)) {
        std::erase_if(orders, [&](const mesh& ranks) { return !follows_pin(einsum, ranks); });
    }
    return orders;
}

/// Appends an axis, inside all others, unless it has one part. Neighbouring axes of one label are one axis.
inline void append_axis(mesh& to, const mesh_axis& axis) {
    if (axis.parts > 1 && !to.axes.empty() && to.axes.back().label == axis.label) {
        to.axes.back().parts *= axis.parts;
    } else if (axis.parts > 1) {
        to.axes.push_back(axis);
    }
}

/// Cuts of one mesh in another order: axes that are split into factors.
class split_orders {
public:
    /// @param most  no more orders than this are made
    EINPARALLEL_INLINE split_orders(const mesh& whole, std::size_t most) : left_(whole), most_(most) {}

    /// All sequences of prime factors of the axes' parts; nothing where these are more than `most`.
    EINPARALLEL_INLINE std::vector<mesh> of_primes() && {
        append_factor();
        return is_full_ ? std::vector<mesh>() : std::move(made_);
    }

    /// The axes in their own order within each level: every way to divide their parts among the levels.
    /// @param sizes  ranks of the groups of every level, innermost first
    EINPARALLEL_INLINE std::vector<mesh> by_levels(std::span<const int> sizes) && {
        divide(sizes, 0, 0, 1, std::vector<mesh>(sizes.size() + 1));
        return std::move(made_);
    }

private:
    EINPARALLEL_INLINE void keep(const mesh& one) {
        std::vector<index> key;
        for (const mesh_axis& axis : one.axes) {
            key.insert(key.end(), {axis.label, axis.parts});
        }
        if (known_.number_of(key).second) {
            is_full_ = made_.size() == most_;
            if (!is_full_) {
                made_.push_back(one);
            }
        }
    }

    /// The next prime factor of an axis's parts above `last`; all parts where it has cut points, for it is not split
    /// then.
    static int next_factor(const mesh_axis& axis, int last) {
        int left = axis.parts;
        for (int factor = 2; axis.points.empty() && left > 1; ++factor) {
            const bool divides = left % factor == 0;
            while (left % factor == 0) {
                left /= factor;
            }
            if (divides && factor > last) {
                return factor;
            }
        }
        return axis.points.empty() || last > 1 ? 0 : axis.parts;
    }
    EINPARALLEL_INLINE void append_factor() {
        bool is_whole = true;
        for (std::size_t number = 0; number < left_.axes.size() && !is_full_; ++number) {
            if (left_.axes[number].parts == 1) {
                continue;
            }
            is_whole = false;
            const mesh before = now_;
            mesh_axis next = left_.axes[number];
            for (int factor = next_factor(next, 1); factor > 0 && !is_full_;
                 factor = next_factor(left_.axes[number], factor)) {
                next.parts = factor;
                left_.axes[number].parts /= factor;
                append_axis(now_, next);
                append_factor();
                left_.axes[number].parts *= factor;
                now_ = before;
            }
        }
        if (is_whole && !is_full_) {
            keep(now_);
        }
    }

    /// Gives the axis `number`, and those behind it, parts of the groups of `level`, of which `taken` parts are given.
    EINPARALLEL_INLINE void divide(std::span<const int> sizes, std::size_t level, std::size_t number, int taken,
                                   std::vector<mesh> sections) {
        if (is_full_) {
            return;
        }
        const bool is_outermost = level == sizes.size();
        const int wanted = is_outermost ? 0 : sizes[level] / (level == 0 ? 1 : sizes[level - 1]);
        if (is_outermost || (number == left_.axes.size() && taken == wanted)) {
            if (is_outermost) {
                sections[level] = left_;
                mesh one;
                for (std::size_t section = sections.size(); section-- > 0;) {
                    for_each_in(sections[section].axes, [&](const mesh_axis& axis) { append_axis(one, axis); });
                }
                keep(one);
            } else {
                divide(sizes, level + 1, 0, 1, std::move(sections));
            }
            return;
        }
        if (number == left_.axes.size()) {
            return;
        }
        const mesh_axis whole = left_.axes[number];
        for (int parts = 1; parts <= whole.parts && taken * parts <= wanted; ++parts) {
            const bool may_split = whole.points.empty() || parts == 1 || parts == whole.parts;
            if (whole.parts % parts == 0 && wanted % (taken * parts) == 0 && may_split) {
                std::vector<mesh> next = sections;
                next[level].axes.push_back(whole);
                next[level].axes.back().parts = parts;
                left_.axes[number].parts = whole.parts / parts;
                divide(sizes, level, number + 1, taken * parts, std::move(next));
                left_.axes[number].parts = whole.parts;
            }
        }
    }

    mesh left_;
    mesh now_;
    std::size_t most_;
    bool is_full_ = false;
    numbering known_;
    std::vector<mesh> made_;
};

/// Orders of a mesh's axes to try on a machine with levels. An axis may have some of its parts inside a group, and the
/// others between groups: it is then split into several axes. All orders of the prime factors of the parts, where these
/// are at most `most`; otherwise the usual orders, and every way to divide the parts of these among the levels.
EINPARALLEL_INLINE std::vector<mesh> axis_orders(const vertex& einsum, const mesh& natural, const rank_groups& groups,
                                                 std::size_t most) {
    std::vector<mesh> orders = axis_orders(einsum, natural);
    const bool is_pinned = einsum.constraints.pin && follows_pin(einsum, natural);
    if (groups.levels() == 0 || is_pinned) {
        return orders;
    }
    std::vector<mesh> split = split_orders(natural, most).of_primes();
    if (!split.empty()) {
        return split;
    }
    std::vector<int> sizes;
    for (std::size_t level = 0; level < groups.levels() && groups.size(level) > 0; ++level) {
        if (natural.size() % groups.size(level) == 0 && groups.size(level) % (sizes.empty() ? 1 : sizes.back()) == 0) {
            sizes.push_back(groups.size(level));
        }
    }
    for (std::size_t number = 0, usual = orders.size(); number < usual && orders.size() < most; ++number) {
        const std::vector<mesh> divided = split_orders(orders[number], most).by_levels(sizes);
        for (const mesh& each : divided) {
            if (!found_in(each, orders)) {
                orders.push_back(each);
            }
        }
    }
    return orders;
}

/// The cuts of a mesh with their axes in the order of another one; nothing where the other one cuts a label into more
/// parts. Axes of the other one that have no label here (no_label) are taken by labels of which parts are left.
EINPARALLEL_INLINE std::optional<mesh> in_order_of(const mesh& cuts, const mesh& other) {
    mesh left;  // one axis for each label
    for (const mesh_axis& axis : cuts.axes) {
        if (!any_in(left.axes, [&](const mesh_axis& known) { return known.label == axis.label; })) {
            left.axes.push_back({axis.label, cuts.parts(axis.label), axis.points});
        }
    }
    mesh made;
    const auto take = [&](label_id label, int parts) {
        const auto from = find_if_in(left.axes, [&](const mesh_axis& each) {
            return (each.label == label || (label == no_label && each.parts > 1)) && each.parts % parts == 0 &&
                   (each.points.empty() || each.parts == parts);
        });
        if (from == left.axes.end()) {
            return false;
        }
        append_axis(made, {from->label, parts, from->points});
        from->parts /= parts;
        return true;
    };
    for (const mesh_axis& axis : other.axes) {
        if (!take(axis.label, axis.parts)) {
            return std::nullopt;
        }
    }
    return any_in(left.axes, [](const mesh_axis& each) { return each.parts > 1; }) ? std::nullopt : std::optional(made);
}

/// The same for the cuts of a mesh whose axes may be split already. @param labels  number of labels
EINPARALLEL_INLINE std::vector<mesh> axis_orders(const vertex& einsum, const mesh& split, std::size_t labels,
                                                 const rank_groups& groups) {
    constexpr std::size_t most = 120;
    if (groups.levels() == 0) {
        return axis_orders(einsum, split);
    }
    std::vector<int> parts(labels, 1);
    std::vector<std::vector<index>> points(labels);
    for (const mesh_axis& axis : split.axes) {
        parts[std::size_t(axis.label)] *= axis.parts;
        points[std::size_t(axis.label)] = axis.points;
    }
    return axis_orders(einsum, natural_mesh(einsum, parts, points), groups, most);
}

/// A few of the orders, those that cost least; then the vertex's own order, and its cuts in the orders of neighbours.
inline std::vector<mesh> cheapest_orders(std::vector<mesh> orders, const mesh& own, const std::vector<mesh>& like,
                                         std::size_t few, const auto& cost_of) {
    std::vector<costed> costs;
    for (const mesh& ranks : orders) {
        costs.emplace_back(cost_of(ranks), costs.size());
    }
    sort_range(costs);
    costs.resize(std::min(few, costs.size()));
    std::vector<mesh> made = list_of(costs, [&](const costed& each) { return orders[each.second]; });
    made.push_back(own);
    for (const mesh& other : like) {
        const std::optional<mesh> same = in_order_of(own, other);
        if (same && !found_in(*same, made)) {
            made.push_back(*same);
        }
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
