#include "draw.hpp"

#include "element.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace differential {

namespace {

using oracle::leaf;
using oracle::place;

/// One statement of a case.
struct line {
    std::string text;
    std::vector<leaf> reads;  ///< a part that is written is one of them
    leaf left;
};

class drawing {
public:
    drawing(int number, int draw, bool left_says)
        : seed_(static_cast<std::uint64_t>(number) + 1000003U * static_cast<std::uint64_t>(draw)),
          left_says_(left_says) {}

    drawn_case made_of(std::string_view truth, std::string_view extents, bool anew) {
        made_.extents = oracle::extents_of(extents);
        if (anew) {
            draw_extents(std::count(truth.begin(), truth.end(), ';') > 0 ? 9000 : 1500);
        }
        std::string text = with_numbers(truth);
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find(';', begin), text.size());
            lines_.push_back({text.substr(begin, end - begin), {}, {}});
            begin = end + 1;
        }
        for (std::size_t each = lines_.size(); each-- > 0;) {
            line& one = lines_[each];
            one.text = with_shifts(one.text);
            one.reads = oracle::leaves_of(one.text);
            one.left = oracle::outputs_of(one.text).front();
            for (const leaf& read : one.reads) {
                raise(read, each);
            }
        }
        for (const line& each : lines_) {
            for (const leaf& read : each.reads) {
                find_extents(read);
            }
        }
        find_made_extents();
        for (std::size_t each = 0; each < lines_.size(); ++each) {
            grow(lines_[each]);
            made_.truth += (each > 0 ? ";" : "") + lines_[each].text;
        }
        find_made_extents();
        for (const line& each : lines_) {
            bound_indices(each);
        }
        return std::move(made_);
    }

private:
    long between(long low, long high) {
        return low + static_cast<long>(scattered(seed_, 77, ++drawn_) % static_cast<std::uint64_t>(high - low + 1));
    }
    template <std::size_t Count>
    long one_of(const long (&some)[Count]) {
        return some[between(0, static_cast<long>(Count) - 1)];
    }

    void draw_extents(long most_points) {
        const long most = between(0, 2) == 0 ? 12 : 7;
        for (auto& [label, extent] : made_.extents) {
            extent = between(1, most);
        }
        const auto points = [&] {
            long product = 1;
            for (const auto& [label, extent] : made_.extents) {
                product *= extent;
            }
            return product;
        };
        while (points() > most_points) {
            auto largest = made_.extents.begin();
            for (auto each = largest; each != made_.extents.end(); ++each) {
                largest = each->second > largest->second ? each : largest;
            }
            largest->second -= 1;
        }
    }

    void note(std::size_t parameter, long value) {
        made_.numbers.resize(std::max(made_.numbers.size(), parameter + 1));
        made_.numbers[parameter] = value;
    }
    /// Calls use(letter of a parameter's kind) for the numbers that replace them.
    template <class Use>
    std::string replaced(std::string_view text, std::string_view kinds, const Use& use) {
        std::string made;
        for (std::size_t at = 0; at < text.size(); ++at) {
            if (text[at] != '$' || kinds.find(text[at + 1]) == std::string_view::npos) {
                made += text[at];
                continue;
            }
            const char kind = text[at + 1];
            std::size_t end = at + 2;
            while (end < text.size() && text[end] >= '0' && text[end] <= '9') {
                ++end;
            }
            const auto parameter = static_cast<std::size_t>(std::atoi(std::string(text.substr(at + 2, end)).c_str()));
            // A tensor that stands in a statement twice has its parameters twice.
            const auto known = known_.find(parameter);
            const long value = known != known_.end() ? known->second : use(kind, made);
            known_[parameter] = value;
            note(parameter, value);
            made += std::to_string(value);
            at = end - 1;
        }
        return made;
    }
    std::string with_numbers(std::string_view text) {
        return replaced(text, "cnup", [this](char kind, const std::string& /*before*/) {
            return kind == 'c'   ? one_of({1, 1, 2, -1, 0, 3, -2})
                   : kind == 'n' ? one_of({1, 2, -1, 3, -2, 1, -3, 2})
                   : kind == 'u' ? one_of({1, -1, 1})
                                 : between(0, 3);
        });
    }
    std::string with_shifts(std::string_view text) {
        return replaced(text, "s", [this](char /*kind*/, const std::string& before) {
            const std::string index = before.substr(before.find_last_of("[,") + 1) + "0";
            return between(0, 2) - oracle::reach(oracle::place_in(index), made_.extents).first;
        });
    }

    static const leaf* data_in(const place& of) {
        for (const auto& [factor, term] : of.terms) {
            if (term.name != '\0') {
                return &term;
            }
        }
        return nullptr;
    }
    static long factor_of(const place& of) { return of.terms.front().factor; }

    std::vector<long> extents_by(const std::string& labels) const {
        std::vector<long> all;
        for (const char label : labels) {
            all.push_back(label == '.' ? 1 : made_.extents.at(label));
        }
        return all;
    }
    /// How many elements along a dimension a read needs.
    long needed(const place& of) {
        if (const leaf* const data = data_in(of)) {
            long count = 1;
            for (const long extent : extents_by(data->labels)) {
                count *= is_distinct(data->name) ? extent : 1;
            }
            return of.constant + factor_of(of) * (count - 1) + 1 - of.before - of.after;
        }
        return oracle::reach(of, made_.extents).second + 1 - of.before - of.after;
    }
    /// Where elements are replaced, each is named once.
    bool is_distinct(char name) const {
        return std::any_of(lines_.begin(), lines_.end(), [&](const line& each) {
            const std::string left = each.text.substr(0, each.text.find('='));
            const std::string right = each.text.substr(left.size() + 1);
            const bool replaces = right.rfind("(+ " + left, 0) != 0 && right.rfind("(- " + left, 0) != 0;
            return replaces && std::any_of(each.left.at.begin(), each.left.at.end(), [&](const place& at) {
                       const leaf* const data = data_in(at);
                       return data != nullptr && data->name == name;
                   });
        });
    }

    /// What an earlier line makes is as large as a later one reads.
    void raise(const leaf& read, std::size_t line) {
        for (std::size_t each = 0; each < line && !read.at.empty(); ++each) {
            const std::string& text = lines_[each].text;
            const leaf made = oracle::leaf_in(text.substr(0, text.find_first_of("=[")));
            const bool is_whole = text.find('[') > text.find('=');
            for (std::size_t dimension = 0; made.name == read.name && is_whole && dimension < read.at.size();
                 ++dimension) {
                if (!read.at[dimension].is_label) {
                    long& extent = made_.extents.at(made.labels[dimension]);
                    const long least = needed(read.at[dimension]);
                    extent = extent < least ? least + between(0, 2) : extent;
                }
            }
        }
    }

    void find_extents(const leaf& read) {
        std::vector<long>& extents = made_.tensors[read.name];
        if (read.at.empty()) {
            const std::vector<long> own = extents_by(read.labels);
            extents.resize(own.size());
            std::transform(own.begin(), own.end(), extents.begin(), extents.begin(),
                           [](long a, long b) { return std::max(a, b); });
            return;
        }
        extents.resize(read.at.size());
        for (std::size_t dimension = 0; dimension < read.at.size(); ++dimension) {
            const place& each = read.at[dimension];
            const long more = each.is_label ? 0 : data_in(each) != nullptr ? between(0, 6) : between(0, 2);
            const long least =
                each.is_label ? made_.extents.at(each.terms.front().of.labels[0]) : std::max(needed(each), 1L) + more;
            extents[dimension] = std::max(extents[dimension], least);
        }
    }

    void find_made_extents() {
        for (const line& each : lines_) {
            if (each.left.at.empty() && made_.tensors.count(each.left.name) > 0) {
                made_.tensors[each.left.name] = extents_by(each.left.labels);
            }
        }
    }

    static bool is_function_of(const place& of, char label) {
        return !of.is_label && std::any_of(of.terms.begin(), of.terms.end(), [&](const auto& term) {
            return term.of.name == '\0' && term.of.labels[0] == label && term.factor != 0;
        });
    }
    static bool is_alone(const place& of, char label) { return of.is_label && of.terms.front().of.labels[0] == label; }

    void grow(const line& of) {
        std::vector<leaf> reads = of.reads;
        if (of.left.at.empty() && left_says_) {
            reads.push_back(of.left);
        } else if (of.left.at.empty() && !reads.empty() && reads.front().name == of.left.name &&
                   of.text.find('=') + 4 == of.text.find(of.left.name, 1)) {
            reads.erase(reads.begin());  // what is added to
        }
        std::string labels;
        for (const leaf& each : reads) {
            labels += each.labels;
        }
        std::vector<char> unsaid;
        for (const auto& [label, extent] : made_.extents) {
            const auto says = [&, sought = label](const leaf& each) {
                const std::vector<place> places = oracle::places_of(each);
                const bool is_said =
                    std::any_of(places.begin(), places.end(), [&](const place& at) { return is_alone(at, sought); });
                return is_said && std::none_of(reads.begin(), reads.end(), [&](const leaf& other) {
                           return other.name == each.name &&
                                  std::any_of(other.at.begin(), other.at.end(),
                                              [&](const place& at) { return is_function_of(at, sought); });
                       });
            };
            if (labels.find(label) != std::string::npos && std::none_of(reads.begin(), reads.end(), says)) {
                unsaid.push_back(label);
            }
        }
        if (unsaid.size() > 1) {
            throw std::logic_error("draw: several labels have no extents");
        }
        for (const char label : unsaid) {
            long& extent = made_.extents.at(label);
            while (extent < 64 && fits(reads, label, extent + 1)) {
                ++extent;
            }
        }
    }
    bool fits(const std::vector<leaf>& reads, char label, long extent) const {
        std::map<char, long> extents = made_.extents;
        extents.at(label) = extent;
        for (const leaf& read : reads) {
            const std::vector<place> places = oracle::places_of(read);
            for (std::size_t dimension = 0; dimension < places.size(); ++dimension) {
                const place& each = places[dimension];
                if (is_function_of(each, label) || is_alone(each, label)) {
                    const auto [lowest, highest] = oracle::reach(each, extents);
                    if (lowest < 0 || highest >= made_.tensors.at(read.name)[dimension] + each.before + each.after) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    void bound_indices(const line& of) {
        const auto bound = [this](char name, long most) {
            const auto known = made_.largest.find(name);
            made_.largest[name] = known == made_.largest.end() ? most : std::min(known->second, most);
        };
        for (const leaf& read : of.reads) {
            for (std::size_t dimension = 0; dimension < read.at.size(); ++dimension) {
                const place& each = read.at[dimension];
                if (const leaf* const data = data_in(each)) {
                    const long all = made_.tensors.at(read.name)[dimension] + each.before + each.after;
                    bound(data->name, (all - 1 - each.constant) / factor_of(each));
                    if (is_distinct(data->name)) {
                        made_.distinct.push_back(data->name);
                    }
                }
            }
        }
        for (std::size_t at = of.text.find("(one_hot:"); at != std::string::npos;
             at = of.text.find("(one_hot:", at + 1)) {
            bound(of.text[at + 11], made_.extents.at(of.text[at + 9]) - 1);
        }
    }

    std::uint64_t seed_;
    bool left_says_;
    std::uint64_t drawn_ = 0;
    drawn_case made_;
    std::vector<line> lines_;
    std::map<std::size_t, long> known_;
};

}  // namespace

drawn_case draw_case(std::string_view truth, std::string_view extents, int number, int draw, bool left_says) {
    return drawing(number, draw, left_says).made_of(truth, extents, draw > 0);
}

}  // namespace differential
