#pragma once
// One step of the elimination: the minimum over one variable for all that its neighbours can do.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/elimination_table.ipp>
#include <einparallel/plan/numbering.ipp>
#include <einparallel/plan/pairwise.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Minimises over one variable.
EINPARALLEL_INLINE class one_elimination {
public:
    /// The variable has these costs and appears in the `used` tables, which see its states as `own` classes; its
    /// neighbours `scope` have `classes`, and `cells` combinations of them.
    one_elimination(std::size_t variable, const std::vector<double>& costs, const state_classes& own,
                    const std::vector<const elimination_table*>& used, const std::vector<std::size_t>& scope,
                    const std::vector<std::shared_ptr<const state_classes>>& classes, std::size_t cells)
        : own_(own.count),
          firsts_(scope.empty() ? 1 : classes.front()->count),
          alone_(own.count, std::numeric_limits<double>::infinity()),
          minimum_(cells, std::numeric_limits<double>::infinity()) {
        for (std::size_t state = 0; state < own.of_state.size(); ++state) {
            double& least = alone_[static_cast<std::size_t>(own.of_state[state])];
            least = std::min(least, costs[state]);
        }
        for (std::size_t other = 1; other < scope.size(); ++other) {
            counts_.push_back(classes[other]->count);
        }
        for (const elimination_table* table : used) {
            table_reading seen = reading_of(variable, *table, own, scope, classes);
            const bool knows_others = std::any_of(seen.others.begin() + (scope.empty() ? 0 : 1), seen.others.end(),
                                                  [](const auto& steps) { return !steps.empty(); });
            (!knows_others ? near_ : seen.knows_first() ? mixed_ : far_).push_back(std::move(seen));
        }
    }

    /// For every cell of the neighbours' classes the smallest sum over the states of the variable.
    [[nodiscard]] std::vector<double> run() && {
        if (counts_.empty()) {
            early_.resize(own_);
            minimise_near();
            return std::move(minimum_);
        }
        for (std::size_t from = 0; from < firsts_; from += chunk) {
            const std::size_t count = std::min(chunk, firsts_ - from);
            add_near(from, count);
            sort_groups(count);
            minimise(from, count);
        }
        return std::move(minimum_);
    }

private:
    static constexpr std::size_t lanes = 64;  ///< cells that are worked on at once: the loops over them are vectorised
    static constexpr std::size_t side = 8;    ///< sums that are worked on side by side in a row of any length
    static constexpr std::size_t chunk = 32;  ///< classes of the first neighbour for which one block of sums is made

    /// Where there is at most one neighbour. The one table of a link of a chain is read as it lies in memory.
    void minimise_near() {
        if (near_.size() == 1 && near_.front().first_in_order) {
            for (std::size_t group = 0; group < own_; ++group) {
                lower(minimum_.data(), near_.front().cost + near_.front().own[group], alone_[group], firsts_);
            }
            return;
        }
        for (std::size_t first = 0; first < firsts_; ++first) {
            const auto row_of = [&](const table_reading& table) {
                return table.knows_first() ? table.cost + table.others.front()[first] : table.cost;
            };
            if (near_.size() == 1 && near_.front().own_in_order) {
                minimum_[first] = least_sum(alone_.data(), row_of(near_.front()), own_);
                continue;
            }
            std::copy(alone_.begin(), alone_.end(), early_.begin());
            for (const table_reading& table : near_) {
                add_row(early_.data(), table, row_of(table));
            }
            minimum_[first] = *std::min_element(early_.begin(), early_.end());
        }
    }

    /// least[i] = min(least[i], costs[i] + more). In blocks of a constant length, which compilers vectorise.
    static void lower(double* least, const double* costs, double more, std::size_t count) {
        std::size_t done = 0;
        for (; done + side <= count; done += side) {
            for (std::size_t place = done; place < done + side; ++place) {
                const double cost = costs[place] + more;
                least[place] = cost < least[place] ? cost : least[place];
            }
        }
        for (; done < count; ++done) {
            least[done] = std::min(least[done], costs[done] + more);
        }
    }

    /// Adds what a table has for every own class.
    void add_row(double* row, const table_reading& table, const double* cost) const {
        std::size_t done = 0;
        for (; table.own_in_order && done + side <= own_; done += side) {
            for (std::size_t place = done; place < done + side; ++place) {
                row[place] += cost[place];
            }
        }
        for (; done < own_; ++done) {
            row[done] += cost[table.own[done]];
        }
    }

    /// The smallest of a[i] + b[i].
    static double least_sum(const double* a, const double* b, std::size_t count) {
        std::array<double, side> least{};
        least.fill(std::numeric_limits<double>::infinity());
        std::size_t done = 0;
        for (; done + side <= count; done += side) {
            for (std::size_t place = 0; place < side; ++place) {
                const double sum = a[done + place] + b[done + place];
                least[place] = sum < least[place] ? sum : least[place];
            }
        }
        double smallest = *std::min_element(least.begin(), least.end());
        for (; done < count; ++done) {
            smallest = std::min(smallest, a[done] + b[done]);
        }
        return smallest;
    }

    /// What is known of every own class as soon as the first neighbour's is: a row of sums for each of these.
    void add_near(std::size_t from, std::size_t count) {
        early_.resize(count * own_);
        for (std::size_t first = 0; first < count; ++first) {
            std::copy(alone_.begin(), alone_.end(), early_.begin() + static_cast<std::ptrdiff_t>(first * own_));
        }
        for (const table_reading& table : near_) {
            for (std::size_t first = 0; first < count; ++first) {
                add_row(early_.data() + first * own_, table,
                        table.cost + (table.knows_first() ? table.others.front()[from + first] : 0));
            }
        }
    }

    /// Own classes by the least that is known of them, over the chunk.
    void sort_groups(std::size_t count) {
        order_.resize(own_);
        for (std::size_t group = 0; group < own_; ++group) {
            order_[group] = {early_[group], group};
            for (std::size_t first = 1; first < count; ++first) {
                order_[group].first = std::min(order_[group].first, early_[first * own_ + group]);
            }
        }
        sort_range(order_);
    }

    /// Blocks of cells that differ in the other neighbours only, for a chunk of the first one's classes.
    void minimise(std::size_t from, std::size_t count) {
        const std::size_t inner = minimum_.size() / firsts_;
        std::vector<std::size_t> cell_classes(counts_.size(), 0);
        std::vector<std::array<std::size_t, lanes>> far(far_.size());
        std::vector<std::array<std::size_t, lanes>> mixed(mixed_.size());
        for (std::size_t begin = 0; begin < inner; begin += lanes) {
            const std::size_t width = std::min(lanes, inner - begin);
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                // Lanes beyond the last cell repeat it.
                note(far_, cell_classes, lane, far);
                note(mixed_, cell_classes, lane, mixed);
                if (lane + 1 < width) {
                    advance(cell_classes);
                }
            }
            advance(cell_classes);
            sum_far(far);
            for (std::size_t first = 0; first < count; ++first) {
                const std::array<double, lanes> least = least_of(first, from, mixed);
                std::copy(least.begin(), least.begin() + static_cast<std::ptrdiff_t>(width),
                          minimum_.begin() + static_cast<std::ptrdiff_t>((from + first) * inner + begin));
            }
        }
    }

    void advance(std::vector<std::size_t>& cell_classes) const {
        for (std::size_t other = counts_.size(); other-- > 0;) {
            if (++cell_classes[other] < counts_[other]) {
                break;
            }
            cell_classes[other] = 0;
        }
    }

    /// Where a cell's classes lead in every table.
    static void note(const std::vector<table_reading>& tables, const std::vector<std::size_t>& cell_classes,
                     std::size_t lane, std::vector<std::array<std::size_t, lanes>>& offsets) {
        for (std::size_t position = 0; position < tables.size(); ++position) {
            std::size_t offset = 0;
            for (std::size_t other = 0; other < cell_classes.size(); ++other) {
                const std::vector<std::size_t>& steps = tables[position].others[other + 1];
                offset += steps.empty() ? 0 : steps[cell_classes[other]];
            }
            offsets[position][lane] = offset;
        }
    }

    /// For every own class a row of what the far tables add in each lane, and the least of it.
    void sum_far(const std::vector<std::array<std::size_t, lanes>>& offsets) {
        late_.resize(own_);
        lowest_.assign(own_, 0);
        for (std::size_t group = 0; group < own_; ++group) {
            late_[group].fill(0);
            for (std::size_t position = 0; position < far_.size(); ++position) {
                const double* const cost = far_[position].cost + far_[position].own[group];
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    late_[group][lane] += cost[offsets[position][lane]];
                }
            }
            lowest_[group] = *std::min_element(late_[group].begin(), late_[group].end());
        }
    }

    /// The smallest sums of a block. Own classes come in the order of what is known of them: where that alone exceeds
    /// all smallest sums, so does what follows.
    [[nodiscard]] std::array<double, lanes> least_of(std::size_t first, std::size_t from,
                                                     const std::vector<std::array<std::size_t, lanes>>& offsets) {
        std::array<double, lanes> least{};
        least.fill(std::numeric_limits<double>::infinity());
        double largest = std::numeric_limits<double>::infinity();
        std::size_t passes = 0;
        for (const auto& [at_least, group] : order_) {
            if (at_least >= largest) {
                break;
            }
            const double early = early_[first * own_ + group];
            if (early + lowest_[group] >= largest) {
                continue;
            }
            const std::array<double, lanes>& late =
                mixed_.empty() ? late_[group] : with_mixed(group, from + first, offsets);
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const double cost = early + late[lane];
                least[lane] = cost < least[lane] ? cost : least[lane];
            }
            largest = ++passes % 4 == 0 ? largest_of(least) : largest;
        }
        return least;
    }

    const std::array<double, lanes>& with_mixed(std::size_t group, std::size_t first,
                                                const std::vector<std::array<std::size_t, lanes>>& offsets) {
        sum_ = late_[group];
        for (std::size_t position = 0; position < mixed_.size(); ++position) {
            const table_reading& table = mixed_[position];
            const double* const cost = table.cost + table.own[group] + table.others.front()[first];
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                sum_[lane] += cost[offsets[position][lane]];
            }
        }
        return sum_;
    }

    static double largest_of(const std::array<double, lanes>& costs) {
        std::array<double, side> most{};
        for (std::size_t lane = 0; lane < lanes; lane += side) {
            for (std::size_t place = 0; place < side; ++place) {
                most[place] = most[place] < costs[lane + place] ? costs[lane + place] : most[place];
            }
        }
        return *std::max_element(most.begin(), most.end());
    }

    std::size_t own_;
    std::size_t firsts_;               // classes of the first neighbour
    std::vector<std::size_t> counts_;  // of the others
    std::vector<double> alone_;        // by own class
    std::vector<double> minimum_;
    // Tables by what they know besides the variable: at most the first neighbour, only others, or both.
    std::vector<table_reading> near_;
    std::vector<table_reading> far_;
    std::vector<table_reading> mixed_;
    std::vector<double> early_;
    std::vector<ranked> order_;
    std::vector<std::array<double, lanes>> late_;  // by own class
    std::vector<double> lowest_;
    std::array<double, lanes> sum_{};
};

}  // namespace einparallel::EINPARALLEL_DETAIL
