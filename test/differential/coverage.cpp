#include "coverage.hpp"

#include "element.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace differential {

std::string class_of(bool in_x, bool in_y, bool in_z) {
    if (in_x && in_y) {
        return in_z ? "c" : "k";
    }
    return in_x ? (in_z ? "m" : "x_only") : (in_z ? "n" : "y_only");
}

void coverage::count_case(std::string_view truth, std::string_view extents, std::string_view types,
                          std::string_view notes) {
    const std::vector<oracle::leaf> lines = oracle::outputs_of(truth);
    const std::vector<oracle::leaf> leaves = oracle::leaves_of(truth);
    const bool is_indexed =
        truth.find('[') != std::string_view::npos || truth.find("one_hot") != std::string_view::npos;
    const bool is_einsum = !is_indexed && (truth.find("=(* ") != std::string_view::npos ||
                                           (truth.find("=(sum:") != std::string_view::npos &&
                                            truth.find("(* ") != std::string_view::npos &&
                                            std::count(truth.begin(), truth.end(), '(') == 2));
    count("kind", "at indices", is_indexed ? 1 : 0);
    count("kind", lines.size() > 1 ? "several statements" : is_einsum ? "einsum" : "statement");

    std::string all;
    for (const auto& [tensor, type] : types_of(types)) {
        all += all.find(type) == std::string::npos ? std::string(1, type) : "";
    }
    static const std::map<char, std::string> names = {
        {'d', "double"}, {'f', "float"}, {'z', "complex<double>"}, {'c', "complex<float>"},
        {'i', "int"},    {'b', "bool"},  {'h', "float16"},         {'g', "bfloat16"}};
    count("type", all.size() == 1 ? names.at(all[0]) : "mixed");

    for (const auto& [label, extent] : oracle::extents_of(extents)) {
        if (extent == 0) {
            count("feature", "extent 0");
            break;
        }
    }
    static const std::map<char, std::string> features = {{'i', "implicit output"},
                                                         {'s', "spaces"},
                                                         {'e', "ellipsis"},
                                                         {'b', "broadcast"},
                                                         {'u', "label outside of ASCII"}};
    for (const auto& [note, feature] : features) {
        if (notes.find(note) != std::string_view::npos) {
            count("feature", feature);
        }
    }
    if (is_indexed) {
        count("index", "one-hot operand", truth.find("one_hot") != std::string_view::npos ? 1 : 0);
        for (const oracle::leaf& each : leaves) {
            count_indices(each, "");
        }
        for (const oracle::leaf& each : lines) {
            count_indices(each, " on the left");
        }
    }
    if (!is_einsum || lines.size() > 1) {
        for (const char* word : {"sum", "prod", "max", "min", "softmax"}) {
            count("⊕ in statements", word, truth.find(std::string("(") + word + ":") != std::string_view::npos ? 1 : 0);
        }
        for (const char* word : {"+",      "-",   "*",   "/",   "abs",  "larger", "smaller", "pow",  "skew", "mix",
                                 "affine", "neg", "exp", "log", "sqrt", "tanh",   "sigmoid", "relu", "silu", "gelu"}) {
            count("⊗ and maps", word, truth.find(std::string("(") + word + " ") != std::string_view::npos ? 1 : 0);
        }
        return;
    }

    count("operands", std::to_string(leaves.size()));
    const std::string& left = lines.front().labels;
    count("rank of output", std::to_string(left.size()));
    bool repeats = false;
    for (const oracle::leaf& leaf : leaves) {
        count("rank of operand", std::to_string(leaf.labels.size()));
        const std::set<char> distinct(leaf.labels.begin(), leaf.labels.end());
        repeats = repeats || distinct.size() < leaf.labels.size();
    }
    count("feature", "label twice in one operand", repeats ? 1 : 0);

    std::set<char> labels;
    for (const oracle::leaf& leaf : leaves) {
        labels.insert(leaf.labels.begin(), leaf.labels.end());
    }
    bool one_sided = false;
    for (const char label : labels) {
        if (label == '.') {
            continue;
        }
        const auto holders = std::count_if(leaves.begin(), leaves.end(), [&](const oracle::leaf& leaf) {
            return leaf.labels.find(label) != std::string::npos;
        });
        const bool kept = left.find(label) != std::string::npos;
        one_sided = one_sided || (holders == 1 && !kept);
        if (leaves.size() == 2) {
            count("label class", class_of(leaves[0].labels.find(label) != std::string::npos,
                                          leaves[1].labels.find(label) != std::string::npos, kept));
        }
    }
    count("feature", "one-sided sum", one_sided ? 1 : 0);
}

void coverage::count_indices(const oracle::leaf& operand, const std::string& where) {
    for (const oracle::place& each : operand.at) {
        const auto is_data = [](const auto& term) { return term.of.name != '\0'; };
        const std::string what = each.terms.empty()                                                 ? "fixed"
                                 : std::any_of(each.terms.begin(), each.terms.end(), is_data)       ? "data"
                                 : each.terms.size() > 1                                            ? "of two labels"
                                 : each.is_label                                                    ? "label"
                                 : each.terms.front().factor == 1 || each.terms.front().factor == 0 ? "shifted"
                                 : each.terms.front().factor < 0                                    ? "backwards"
                                                                                                    : "with steps";
        count("index", what + where);
        count("index", "padded", each.before + each.after > 0 ? 1 : 0);
    }
}

void coverage::require_indices() {
    const std::vector<std::string> kinds = {"label", "fixed", "data", "of two labels", "shifted", "backwards"};
    require("index", kinds);
    for (const std::string& kind : kinds) {
        require("index", {kind + " on the left"});
    }
    require("index", {"with steps", "padded", "one-hot operand"});
}

long coverage::at(const std::string& group, const std::string& what) const {
    const auto found = counts_.find(group);
    return found == counts_.end() || found->second.count(what) == 0 ? 0 : found->second.at(what);
}

std::string coverage::table() const {
    std::size_t width = 0;
    for (const auto& [group, counts] : counts_) {
        width = std::max(width, group.size());
    }
    std::ostringstream text;
    for (const auto& [group, counts] : counts_) {
        text << "  " << group << std::string(width - group.size() + 2, ' ');
        bool first = true;
        for (const auto& [what, times] : counts) {
            text << (first ? "" : ", ") << what << ": " << times;
            first = false;
        }
        text << "\n";
    }
    return text.str();
}

std::string coverage::missing() const {
    std::string text;
    for (const auto& [group, what] : required_) {
        if (at(group, what) == 0) {
            text += (text.empty() ? "" : ", ") + group + ": " + what;
        }
    }
    return text;
}

}  // namespace differential
