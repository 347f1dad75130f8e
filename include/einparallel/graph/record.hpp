#pragma once
// Records vertices as they are lowered: the builder behind assignments to tensors.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/kernel/contract.hpp>
#include <einparallel/kernel/contract_in_order.hpp>
#include <einparallel/kernel/immediate.hpp>
#include <einparallel/kernel/lower.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// A tensor in an expression.
template <Element T, std::size_t Rank>
struct tensor_operand {
    using value_type = T;
    static constexpr std::size_t rank = Rank;

    std::shared_ptr<vertex> node;
};

/// The vertex that stands for a handle nothing was assigned to.
inline std::shared_ptr<vertex> unassigned_vertex(std::size_t rank, element_type element) {
    auto made = std::make_shared<vertex>();
    made->bounds.resize(rank);
    made->element = element;
    made->failure = "a tensor was used before anything was assigned to it";
    return made;
}

/// Builder that records. It never throws for what a user did wrong: a failure is kept in the vertex, so that a mistake
/// of one rank becomes the same exception on every rank at the next collective call.
class recording_builder {
public:
    using handle = std::shared_ptr<vertex>;
    using operand_type = labelled_handle<handle>;

    /// `out` is the left-hand side's order of labels: what the last vertex of the statement has.
    recording_builder(std::span<const std::string_view> names, std::span<const label_id> out)
        : names_(names), out_(out) {}

    /// The sink of the statement's last vertex, whose labels are in the order of the left-hand side.
    struct last_vertex {};

    template <class T, std::size_t Rank>
    [[nodiscard]] static handle handle_of(const tensor_operand<T, Rank>& held) {
        return held.node != nullptr ? held.node : unassigned_vertex(Rank, element_type_of<T>());
    }

    template <class Out, class Sink, class MakeKernel>
    handle emit(Sink sink, std::span<const label_id> out, std::span<const operand_type> operands,
                MakeKernel&& make_kernel) const {
        using Kernel = decltype(make_kernel(std::true_type{}));
        return marked(sink, record(labels_for(sink, out), operands,
                                   std::shared_ptr<const kernel>(new Kernel(make_kernel(std::true_type{})))));
    }

    template <class Out, class Sink, std::size_t Count>
    handle product(Sink sink, std::span<const label_id> out, std::span<const operand_type, Count> operands,
                   Out scale) const {
        const std::span<const label_id> labels = labels_for(sink, out);
        if constexpr (Count > 2) {
            return marked(sink, contract_pairwise<Out>(labels, operands, scale));
        } else {
            return marked(sink, record(labels, operands, std::make_shared<product_kernel<Out>>(scale, Count)));
        }
    }

private:
    [[nodiscard]] static std::span<const label_id> labels_for(temporary /*sink*/, std::span<const label_id> out) {
        return out;
    }
    [[nodiscard]] std::span<const label_id> labels_for(last_vertex /*sink*/, std::span<const label_id> /*out*/) const {
        return out_;
    }

    [[nodiscard]] static handle marked(temporary /*sink*/, handle made) {
        made->is_intermediate = true;
        return made;
    }
    [[nodiscard]] static handle marked(last_vertex /*sink*/, handle made) {
        made->is_intermediate = false;
        return made;
    }

    [[nodiscard]] handle record(std::span<const label_id> out, std::span<const operand_type> operands,
                                std::shared_ptr<const kernel> work) const;

    template <class Out>
    [[nodiscard]] handle contract_pairwise(std::span<const label_id> out, std::span<const operand_type> operands,
                                           Out scale) const;

    std::span<const std::string_view> names_;
    std::span<const label_id> out_;
};

/// "operand 2 ('B')".
inline std::string operand_words(std::span<const labelled_handle<std::shared_ptr<vertex>>> operands,
                                 std::size_t position) {
    const std::string& name = operands[position].handle->name;
    return "operand " + std::to_string(position + 1) + (name.empty() ? "" : " ('" + name + "')");
}

/// One vertex: label ids made dense in order of first appearance, extents merged, a disagreement kept as its failure.
inline std::shared_ptr<vertex> recording_builder::record(std::span<const label_id> out,
                                                         std::span<const operand_type> operands,
                                                         std::shared_ptr<const kernel> work) const {
    auto made = std::make_shared<vertex>();
    std::vector<label_id> dense(names_.size(), no_label);
    const auto number = [&](label_id label) {
        label_id& known = dense[static_cast<std::size_t>(label)];
        if (known == no_label) {
            known = static_cast<label_id>(made->form.names.size());
            made->form.names.emplace_back(names_[static_cast<std::size_t>(label)]);
            made->extents.push_back(-1);
        }
        return known;
    };
    std::vector<std::size_t> first(names_.size(), 0);  // by dense label: the operand that its extent is from
    const auto fail = [&](const std::string& what) {
        if (made->failure.empty()) {
            made->failure = "einsum " + einsum_text(names_, out, operands) + ": " + what;
        }
    };
    for (std::size_t position = 0; position < operands.size(); ++position) {
        const operand_type& read = operands[position];
        std::vector<label_id> labels;
        for (std::size_t dimension = 0; dimension < read.labels.size(); ++dimension) {
            const label_id label = read.labels[dimension] == no_label ? no_label : number(read.labels[dimension]);
            labels.push_back(label);
            if (label == no_label || !read.handle->failure.empty()) {
                continue;  // the extents of a vertex that failed mean nothing, and its own failure is what the user
                           // must hear
            }
            index& known = made->extents[static_cast<std::size_t>(label)];
            const index extent = read.handle->bounds[dimension];
            if (known >= 0 && known != extent) {
                fail("label " + made->form.names[static_cast<std::size_t>(label)] + " has extent " +
                     std::to_string(known) + " in " + operand_words(operands, first[static_cast<std::size_t>(label)]) +
                     " and " + std::to_string(extent) + " in " + operand_words(operands, position));
            }
            if (known < 0) {
                first[static_cast<std::size_t>(label)] = position;
            }
            known = known < 0 ? extent : known;
        }
        made->form.operands.push_back(std::move(labels));
        made->operands.push_back(read.handle);
    }
    for (index& extent : made->extents) {
        extent = extent < 0 ? 0 : extent;
    }
    for (const label_id label : out) {
        made->form.output.push_back(number(label));
        made->bounds.push_back(made->extents[static_cast<std::size_t>(made->form.output.back())]);
    }
    made->element = work->output_type();
    made->work = std::move(work);
    return made;
}

/// Extents by label id of the statement, as far as the operands' vertices know them.
inline std::vector<index> known_extents(std::size_t labels,
                                        std::span<const labelled_handle<std::shared_ptr<vertex>>> operands) {
    std::vector<index> extents(labels, 1);
    for (const auto& read : operands) {
        for (std::size_t dimension = 0; dimension < read.labels.size(); ++dimension) {
            if (read.labels[dimension] != no_label) {
                extents[static_cast<std::size_t>(read.labels[dimension])] = read.handle->bounds[dimension];
            }
        }
    }
    return extents;
}

template <class Out>
std::shared_ptr<vertex> recording_builder::contract_pairwise(std::span<const label_id> out,
                                                             std::span<const operand_type> operands, Out scale) const {
    return contract_in_order<handle>(
        known_extents(names_.size(), operands), out, operands,
        [&](auto is_last, std::span<const label_id> labels, std::span<const operand_type> pair) {
            const std::span<const label_id> made = decltype(is_last)::value ? out : labels;
            return marked(temporary{}, record(made, pair,
                                              std::make_shared<product_kernel<Out>>(
                                                  decltype(is_last)::value ? scale : Out(1), pair.size())));
        });
}

}  // namespace einparallel::detail
