#pragma once
// Names of vertices in errors and tables, and their formulas.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/graph/source.hpp>
#include <einparallel/graph/text.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The name of an enumeration's value, by its position in `names`; the first name for values beyond the list.
std::string name_at(auto value, std::initializer_list<const char*> names) {
    const auto position = std::size_t(value);
    return names.begin()[position < names.size() ? position : 0];
}

/// The kind of a source in words, as in "on one rank".
EINPARALLEL_INLINE std::string name_for(source_kind named);

/// The name as formulas show it: in quotes, unless it is one word or stands in parentheses.
EINPARALLEL_INLINE std::string name_in_formula(const std::string& name);

/// The formula of an einsum. `inputs` are the numbers of its operands' vertices; name_of(number) returns the name of
/// one.
std::string formula_text(const vertex& einsum, const std::vector<std::size_t>& inputs, auto&& name_of) {
    const std::vector<std::string> read = list_of(einsum.form.listed_reads(), [&](const operand_read& each) {
        return name_in_formula(name_of(inputs[each.operand]));
    });
    return einsum.work->program().formula(read, einsum.form.output.size() < einsum.form.names.size());
}

/// The name of a vertex. The formula follows where the vertex is an einsum that the user has not named.
std::string full_name(const vertex& of, const std::string& name, auto&& formula) {
    return of.is_input() || !of.name.empty() ? name : name + " = " + cell(formula(), 32);
}

/// The same for vertex `number` of a graph: the user's name, or a name and a formula, `v24.6 = sum A*B`.
EINPARALLEL_INLINE std::string full_name(const einsum_graph& graph, std::size_t number);

}  // namespace einparallel::EINPARALLEL_DETAIL
