#pragma once
// Vertices made by hand for the planner's tests: no handles, no data, a kernel that is never called.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/error.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace test {

namespace ep = einparallel;

/// Every partition vector with this product, by trying all, in ascending lexicographic order.
inline std::vector<std::vector<int>> vectors_by_trying(const std::vector<ep::index>& extents, int product) {
    std::vector<std::vector<int>> found;
    std::vector<int> row(extents.size(), 1);
    for (bool more = true; more;) {
        if (std::accumulate(row.begin(), row.end(), 1, std::multiplies<>()) == product) {
            found.push_back(row);
        }
        std::size_t label = row.size();
        while (label > 0 && ++row[label - 1] > std::clamp<ep::index>(extents[label - 1], 1, product)) {
            row[--label] = 1;
        }
        more = label > 0;
    }
    return found;
}

/// What the planner knows of ⊗: nothing, that it is a product, or a sum of its operands. ⊕ is +.
enum class paper_join { opaque, product, terms };

/// A kernel with properties and no work.
class paper_kernel : public ep::kernel {
public:
    paper_kernel(bool contraction, double operations, paper_join join = paper_join::opaque, std::size_t operands = 2)
        : kernel(work_of(contraction), program_of(contraction, join, operands), {}, operations,
                 [](const ep::block_call&, const ep::kernel&) { throw ep::error("a planner's kernel was run"); }),
          join_(join) {}
    [[nodiscard]] paper_join join() const { return join_; }

private:
    static ep::detail::vertex_work work_of(bool contraction) {
        if (contraction) {
            return ep::detail::product_work{2};
        }
        return ep::detail::join_work{};
    }

    /// x*y…, x + y…, or what only looks so, of a ⊕ with a state: no two kernels are equal.
    static ep::op_program program_of(bool contraction, paper_join join, std::size_t operands) {
        const ep::element_type type{'f', 8};
        ep::op_program made(ep::reduction::sum, std::vector<ep::element_type>(operands, type), true);
        if (join == paper_join::opaque) {
            const std::array<ep::op_register, 2> pair{0, 1};
            made.call({.name = contraction ? "*" : "f"}, type, {}, std::span(pair).first(contraction ? 2 : 1));
            return made;
        }
        const ep::op_code code = join == paper_join::terms ? ep::op_code::add : ep::op_code::multiply;
        ep::op_register result = 0;
        for (ep::op_register operand = 1; operand < operands; ++operand) {
            result = made.call({code}, type, {}, std::array{result, operand});
        }
        return made;
    }

    paper_join join_;
};

class paper_source final : public ep::source {
public:
    explicit paper_source(ep::source_kind kind, int root = 0, std::vector<ep::box> boxes = {})
        : kind_(kind), root_(root), boxes_(std::move(boxes)) {}
    [[nodiscard]] ep::source_kind kind() const override { return kind_; }
    void read(const ep::box&, void*) const override { throw ep::error("a planner's source was read"); }
    [[nodiscard]] bool is_in_file() const override { return kind_ == ep::source_kind::everywhere; }
    [[nodiscard]] int root() const override { return root_; }
    [[nodiscard]] int holders() const override { return static_cast<int>(boxes_.size()); }
    [[nodiscard]] ep::box held_by(int rank) const override { return boxes_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] std::string description() const override { return "paper"; }

private:
    ep::source_kind kind_;
    int root_;
    std::vector<ep::box> boxes_;
};

using node = std::shared_ptr<ep::vertex>;

inline node input(std::vector<ep::index> bounds, ep::source_kind kind = ep::source_kind::everywhere, int root = 0) {
    node made = std::make_shared<ep::vertex>();
    made->bounds = std::move(bounds);
    made->element = {'f', 8};
    made->origin = std::make_shared<paper_source>(kind, root);
    return made;
}

inline node resting_input(std::vector<ep::index> bounds, std::vector<ep::box> boxes) {
    node made = input(std::move(bounds));
    made->origin = std::make_shared<paper_source>(ep::source_kind::resting, 0, std::move(boxes));
    return made;
}

/// An einsum of one-letter labels, `ij,jk->ik`, over vertices that exist.
inline node einsum(const std::string& text, std::vector<node> operands, paper_join join = paper_join::opaque) {
    node made = std::make_shared<ep::vertex>();
    std::size_t operand = 0;
    made->form.operands.emplace_back();
    std::vector<ep::label_id>* into = &made->form.operands.back();
    for (std::size_t place = 0; place < text.size(); ++place) {
        const char letter = text[place];
        if (letter == '-') {
            into = &made->form.output;
            ++place;
            continue;
        }
        if (letter == ',') {
            ++operand;
            into = &made->form.operands.emplace_back();
            continue;
        }
        const std::string name(1, letter);
        const auto known = std::ranges::find(made->form.names, name);
        const auto label = static_cast<ep::label_id>(known - made->form.names.begin());
        if (known == made->form.names.end()) {
            made->form.names.push_back(name);
            made->extents.push_back(operands[operand]->bounds[into->size()]);
        }
        into->push_back(label);
        if (into == &made->form.output) {
            made->bounds.push_back(made->extents[static_cast<std::size_t>(label)]);
        }
    }
    made->element = {'f', 8};
    const bool contraction = operands.size() == 2 && made->form.output.size() < made->form.names.size();
    made->work = std::make_shared<paper_kernel>(contraction && join != paper_join::terms, contraction ? 2 : 1, join,
                                                operands.size());
    made->operands = std::move(operands);
    return made;
}

/// An m × k matrix times a k × n one, both read by every rank.
inline node product(ep::index m, ep::index k, ep::index n) {
    return einsum("ij,jk->ik", {input({m, k}), input({k, n})});
}

/// (A × B) + (C × (D × E)), square or skewed as in EinDecomp §9.2.
inline node matrix_chain(ep::index s, bool skewed) {
    const ep::index small = skewed ? s / 10 : s;
    const ep::index large = skewed ? s * 10 : s;
    const node ab = einsum("ij,jk->ik", {input({s, small}), input({small, s})});
    const node de = einsum("ij,jk->ik", {input({small, large}), input({large, s})});
    const node cde = einsum("ij,jk->ik", {input({s, small}), de});
    return einsum("ij,ij->ij", {ab, cde});
}

}  // namespace test
