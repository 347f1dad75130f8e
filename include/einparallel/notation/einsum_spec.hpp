#pragma once
// The compile-time specification of an einsum written as a string: labels, classes, ranks.

#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/numpy_subscripts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace einparallel {

namespace detail {

/// Rank of operand `operand` of a subscript string without an ellipsis.
constexpr std::size_t spelled_rank(subscripts spelled, std::size_t operand) {
    return spelled_labels(input_subscript(spelled.view(), operand));
}

template <subscripts Text, class Operands>
struct spec_table;
template <subscripts Text, std::size_t... Operand>
struct spec_table<Text, std::index_sequence<Operand...>> {
    static_assert(sizeof(check_subscripts<Text, spelled_rank(Text, Operand)...>) > 0);
    static constexpr const auto& value = subscript_table_of<Text, spelled_rank(Text, Operand)...>;
};

}  // namespace detail

/// What `einsum<Text>` means, where Text has no ellipsis (whose rank only the operands tell).
template <subscripts Text>
struct einsum_spec {
    /// Number of operands.
    static constexpr std::size_t operands = detail::input_count(Text.view());

private:
    static constexpr const auto& table = detail::spec_table<Text, std::make_index_sequence<operands>>::value;

    static constexpr label_id find(const label_name& name) {
        const std::size_t label = table.find(name);
        return label < table.label_count ? label_id(label) : no_label;
    }

public:
    /// Number of distinct labels: the D of the paper.
    static constexpr std::size_t labels = table.label_count;
    /// Number of dimensions of the output.
    static constexpr std::size_t output_rank = table.output_rank;

    /// Which of c, m, n, k, x_only, y_only a label is.
    template <label_name Name>
    static constexpr einparallel::label_class label_class() {
        constexpr label_id wanted = find(Name);
        static_assert(wanted != no_label, "einsum_spec::label_class: this label appears in no operand");
        return classify(
            operands, [](std::size_t operand) { return in_operand(operand, wanted); }, in_output(wanted));
    }

    /// Number of a label, in order of first appearance over operands; no_label where it appears in no operand.
    template <label_name Name>
    static constexpr label_id id = find(Name);

    /// True where the operand has the label.
    static constexpr bool in_operand(std::size_t operand, label_id label) {
        const auto* const end = table.dimensions.data() + table.first[operand + 1];
        return std::find(table.dimensions.data() + table.first[operand], end, label) != end;
    }
    /// True where the output has the label.
    static constexpr bool in_output(label_id label) {
        const auto* const end = table.output.data() + table.output_rank;
        return std::find(table.output.data(), end, label) != end;
    }

    /// The same as run-time numbers.
    [[nodiscard]] static einsum_form form() {
        einsum_form made;
        for (std::size_t label = 0; label < table.label_count; ++label) {
            made.names.emplace_back(table.names[label].view());
        }
        for (std::size_t operand = 0; operand < operands; ++operand) {
            made.operands.emplace_back(table.dimensions.data() + table.first[operand],
                                       table.dimensions.data() + table.first[operand + 1]);
        }
        made.output.assign(table.output.data(), table.output.data() + table.output_rank);
        return made;
    }
};

}  // namespace einparallel
