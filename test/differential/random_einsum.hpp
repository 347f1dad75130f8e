#pragma once
// Random einsums in numpy's language, each with its meaning in the oracle's: the two are written from the same labels,
// neither is read back from the other.

#include "random.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace differential {

/// What the generator asks for; the rest is chance.
struct einsum_wish {
    int operands = 2;
    bool classes = false;   ///< binary: labels by class, so that all six classes are frequent
    bool ellipsis = false;  ///< with broadcasting
    bool zero = false;      ///< some extent is 0
    long most_points = 2000;
};

struct random_einsum {
    std::string written;             ///< "ij, jk -> ik"
    std::string truth;               ///< "Zac=(sum:b (* Aab Bbc))"
    std::string extents;             ///< "a3 b4 c7"
    std::string notes;               ///< i implicit, s spaces, e ellipsis, b broadcast, u label outside of ASCII
    std::vector<std::size_t> ranks;  ///< of the operands
    std::size_t output_rank = 0;
    long points = 1;

    /// What makes two einsums the same.
    [[nodiscard]] std::string key() const {
        std::string text = written;
        text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
        for (const std::size_t rank : ranks) {
            text += '/' + std::to_string(rank);
        }
        return text;
    }
};

class einsum_maker {
public:
    explicit einsum_maker(random_numbers& random) : random_(random) {}

    random_einsum make(const einsum_wish& wish) {
        operands_.assign(static_cast<std::size_t>(wish.operands), {});
        ellipsis_ = 0;
        implicit_ = random_.chance(12);
        if (wish.classes) {
            by_class();
        } else {
            by_pool();
        }
        pick_names();
        if (wish.ellipsis) {
            add_ellipsis();
        }
        pick_output();
        pick_extents(wish);
        return write();
    }

private:
    static constexpr int most_labels = 16;
    static constexpr int broadcast = -1;

    struct operand {
        std::vector<int> labels;  // without the ellipsis
        std::vector<int> dots;    // labels that the ellipsis stands for, or broadcast
        std::size_t dots_at = 0;  // where it stands
        bool has_dots = false;
    };

    static char letter(int label) { return static_cast<char>('a' + label); }

    /// Labels of every class, one or two each, in a random order.
    void by_class() {
        std::vector<int>& x = operands_[0].labels;
        std::vector<int>& y = operands_[1].labels;
        count_ = 0;
        chosen_output_.clear();
        for (int kind = 0; kind < 6; ++kind) {
            const int most = kind < 4 ? random_.between(0, 3) / 2 + random_.between(0, 1) : random_.between(0, 5) / 4;
            for (int number = 0; number < most; ++number) {
                const bool in_x = kind == 0 || kind == 1 || kind == 3 || kind == 4;
                const bool in_y = kind == 0 || kind == 2 || kind == 3 || kind == 5;
                if ((in_x && x.size() == 6) || (in_y && y.size() == 6)) {
                    continue;
                }
                if (in_x) {
                    x.push_back(count_);
                }
                if (in_y) {
                    y.push_back(count_);
                }
                if (kind < 3) {
                    chosen_output_.push_back(count_);
                }
                ++count_;
            }
        }
        random_.shuffle(x);
        random_.shuffle(y);
        for (operand& each : operands_) {
            if (random_.chance(8) && !each.labels.empty() && each.labels.size() < 6) {
                each.labels.push_back(random_.one_of(each.labels));
            }
        }
        random_.shuffle(chosen_output_);
        explicit_output_ = true;
    }

    void by_pool() {
        const int pool = random_.between(1, 7);
        std::vector<int> renamed(static_cast<std::size_t>(pool), -1);
        count_ = 0;
        for (operand& each : operands_) {
            const int rank =
                operands_.size() == 1 ? random_.between(0, 6) : std::min(random_.between(0, 6), random_.between(1, 6));
            for (int dimension = 0; dimension < rank; ++dimension) {
                int& label = renamed[static_cast<std::size_t>(random_.between(0, pool - 1))];
                const bool repeats =
                    label >= 0 && std::find(each.labels.begin(), each.labels.end(), label) != each.labels.end();
                if (repeats && !random_.chance(25)) {
                    continue;
                }
                label = label < 0 ? count_++ : label;
                each.labels.push_back(label);
            }
        }
        explicit_output_ = false;
    }

    /// Distinct names, mostly a … z.
    void pick_names() {
        std::vector<std::string> names;
        const bool wide = random_.chance(15);
        for (char c = 'a'; c <= 'z'; ++c) {
            names.emplace_back(1, c);
            if (wide) {
                names.emplace_back(1, static_cast<char>(c - 'a' + 'A'));
            }
        }
        if (wide) {
            names.insert(names.end(), {"α", "β", "γ", "λ", "μ", "ν", "é", "ж", "字", "𝛼"});
        }
        random_.shuffle(names);
        names_ = names;
    }

    /// One or two further dimensions, of which an operand has all, the last, or none, some of them of extent 1.
    void add_ellipsis() {
        ellipsis_ = random_.between(1, 2);
        for (operand& each : operands_) {
            each.has_dots = random_.chance(85);
            const int room = 6 - static_cast<int>(std::min<std::size_t>(each.labels.size(), 6));
            const int dimensions = each.has_dots ? std::min(random_.between(0, ellipsis_), room) : 0;
            for (int number = ellipsis_ - dimensions; number < ellipsis_; ++number) {
                each.dots.push_back(random_.chance(25) ? broadcast : count_ + number);
            }
            each.dots_at = static_cast<std::size_t>(random_.between(0, static_cast<int>(each.labels.size())));
        }
        // The first operand has all of them, so that no dimension is broadcast everywhere.
        operand& first = operands_.front();
        first.has_dots = true;
        first.labels.resize(std::min<std::size_t>(first.labels.size(), 4));
        first.dots_at = std::min(first.dots_at, first.labels.size());
        first.dots.clear();
        for (int number = 0; number < ellipsis_; ++number) {
            first.dots.push_back(count_ + number);
        }
        count_ += ellipsis_;
    }

    void pick_output() {
        std::vector<int> occurrences(most_labels, 0);
        for (const operand& each : operands_) {
            for (const int label : each.labels) {
                ++occurrences[static_cast<std::size_t>(label)];
            }
        }
        std::vector<int> present;
        for (int label = 0; label < count_ - ellipsis_; ++label) {
            if (occurrences[static_cast<std::size_t>(label)] > 0) {
                present.push_back(label);
            }
        }
        output_.clear();
        if (implicit_) {
            for (const int label : present) {
                if (occurrences[static_cast<std::size_t>(label)] == 1) {
                    output_.push_back(label);
                }
            }
            std::sort(output_.begin(), output_.end(), [this](int a, int b) { return name(a) < name(b); });
            return;
        }
        if (explicit_output_) {
            for (const int label : chosen_output_) {
                if (std::find(present.begin(), present.end(), label) != present.end()) {
                    output_.push_back(label);
                }
            }
        } else {
            random_.shuffle(present);
            const int keep = std::min<int>(random_.between(0, static_cast<int>(present.size())), 6);
            output_.assign(present.begin(), present.begin() + keep);
        }
        output_dots_at_ = static_cast<std::size_t>(random_.between(0, static_cast<int>(output_.size())));
    }

    void pick_extents(const einsum_wish& wish) {
        extents_.clear();
        for (int label = 0; label < count_; ++label) {
            extents_.push_back(random_.between(1, 7));
        }
        const auto points = [this] {
            long product = 1;
            for (const int extent : extents_) {
                product *= extent;
            }
            return product;
        };
        while (points() > wish.most_points) {
            int& extent = extents_[static_cast<std::size_t>(random_.between(0, count_ - 1))];
            extent = std::max(1, extent - 1);
        }
        if (wish.zero && count_ > 0) {
            // With an ellipsis one of its dimensions, against which a 1 may stand.
            const int first = ellipsis_ > 0 ? count_ - ellipsis_ : 0;
            extents_[static_cast<std::size_t>(random_.between(first, count_ - 1))] = 0;
        }
        points_ = points();
    }

    [[nodiscard]] const std::string& name(int label) const { return names_[static_cast<std::size_t>(label)]; }

    random_einsum write() {
        random_einsum made;
        const bool spaced = random_.chance(15);
        const auto space = [&] { return spaced && random_.chance(40) ? " " : ""; };
        std::string product;
        std::vector<bool> seen(most_labels, false);
        for (std::size_t number = 0; number < operands_.size(); ++number) {
            const operand& each = operands_[number];
            made.written += number > 0 ? "," : "";
            product += std::string(number > 0 ? " " : "") + static_cast<char>('A' + number);
            for (std::size_t at = 0; at <= each.labels.size(); ++at) {
                if (each.has_dots && at == each.dots_at) {
                    made.written += std::string(space()) + "..." + space();
                    for (const int label : each.dots) {
                        product += label == broadcast ? '.' : letter(label);
                        made.notes += label == broadcast ? "b" : "";
                    }
                }
                if (at < each.labels.size()) {
                    made.written += space() + name(each.labels[at]) + space();
                    product += letter(each.labels[at]);
                    seen[static_cast<std::size_t>(each.labels[at])] = true;
                }
            }
            made.ranks.push_back(each.labels.size() + each.dots.size());
        }
        std::string left;
        const auto dots = [&] {
            for (int number = count_ - ellipsis_; number < count_; ++number) {
                left += letter(number);
                seen[static_cast<std::size_t>(number)] = true;
            }
        };
        if (implicit_) {
            dots();
        } else {
            made.written += std::string(space()) + "->" + space();
        }
        for (std::size_t at = 0; at <= output_.size(); ++at) {
            if (!implicit_ && ellipsis_ > 0 && at == output_dots_at_) {
                made.written += "...";
                dots();
            }
            if (at < output_.size()) {
                made.written += implicit_ ? "" : name(output_[at]) + space();
                left += letter(output_[at]);
            }
        }
        made.output_rank = left.size();
        std::string summed;
        for (int label = 0; label < count_; ++label) {
            if (seen[static_cast<std::size_t>(label)] && left.find(letter(label)) == std::string::npos) {
                summed += letter(label);
            }
            made.extents += std::string(label > 0 ? " " : "") + letter(label) +
                            std::to_string(extents_[static_cast<std::size_t>(label)]);
        }
        const std::string joined = "(* " + product + ")";
        made.truth = "Z" + left + "=" + (summed.empty() ? joined : "(sum:" + summed + " " + joined + ")");
        made.notes += std::string(implicit_ ? "i" : "") + (ellipsis_ > 0 ? "e" : "") +
                      (made.written.find(' ') != std::string::npos ? "s" : "");
        const bool wide = std::any_of(made.written.begin(), made.written.end(),
                                      [](char c) { return static_cast<unsigned char>(c) > 127; });
        made.notes += wide ? "u" : "";
        made.points = points_;
        return made;
    }

    random_numbers& random_;
    std::vector<operand> operands_;
    std::vector<int> output_;
    std::vector<int> chosen_output_;
    std::vector<int> extents_;
    std::vector<std::string> names_;
    int count_ = 0;
    int ellipsis_ = 0;
    std::size_t output_dots_at_ = 0;
    bool implicit_ = false;
    bool explicit_output_ = false;
    long points_ = 1;
};

}  // namespace differential
