#pragma once

#include <einparallel/schedule/paging/tiles.hpp>

#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Chooses the tiles of one call.
EINPARALLEL_INLINE class tile_search {
public:
    tile_search(const program& of_rank, const contraction& call, function_ref<tiled_tensor(buffer_id)> known)
        : call_(call) {
        const called_vertex& made = of_rank.vertex_of(call);
        const accesses touched = accesses_of(of_rank, action(call), &made.form);
        for (std::size_t operand = 0; operand <= call.operands.size(); ++operand) {
            const bool is_output = operand == call.operands.size();
            const buffer_id number = is_output ? call.output : call.operands[operand];
            const buffer& holder = of_rank[number];
            tensor each{.known = known(number), .buffer = number};
            each.is_output = is_output;
            each.is_read = !is_output || call.mode == write_mode::combine;
            each.element = double(holder.element_bytes);
            const operand_read* const read = is_output ? nullptr : call.read_of(made.form, operand);
            const bool is_viewed = read != nullptr && !read->at.is_plain();
            const std::vector<label_id>& labels = is_output ? made.form.output : call.labels_of(made.form, operand);
            const box& region = is_output ? touched.writes.front().region : touched.reads[operand].region;
            if (is_viewed && read->at.is_reshaped()) {
                each.known.may_page = false;  // rows of it are read as one dimension
            }
            for (std::size_t side = 0; side < region.rank(); ++side) {
                dimension& added = each.dimensions.emplace_back();
                added.most = double(intersect(region.sides[side], holder.region.sides[side]).size());
                added.in_file = double(holder.region.sides[side].size());
                if (is_viewed && !read->at.is_reshaped()) {
                    for (const index_term& term : read->at.functions[side].terms) {
                        added.terms.emplace_back(term.label, std::abs(double(term.coefficient)));
                    }
                } else if (!is_viewed && labels[side] != no_label) {
                    added.terms.emplace_back(labels[side], 1.0);
                }
            }
            tensors_.push_back(std::move(each));
        }
        for (std::size_t number = 0; number < call.ranges.size(); ++number) {
            const auto label = label_id(number);
            if (call.ranges[number].size() > 1 && made.work->may_cut(made.form, label) &&
                label != made.form.running.sums && label != made.form.running.terms && label != call.rows.along) {
                labels_.push_back(label);
            }
        }
        sort_range(labels_,
                   [&](label_id a, label_id b) { return std::pair(-length(a), a) < std::pair(-length(b), b); });
    }

    /// All that the tiles depend on, beside the memory.
    std::vector<double> signature() const {
        std::vector<double> made;
        const auto add = [&](auto... values) { made.insert(made.end(), {double(values)...}); };
        for_each_in(labels_, [&](label_id label) { add(label, length(label)); });
        for (const tensor& each : tensors_) {
            const auto first = find_if_in(tensors_, [&](const tensor& other) { return other.buffer == each.buffer; });
            add(-1, first - tensors_.begin(), each.element, each.is_read, each.known.may_page, each.known.is_turned,
                each.known.held, each.known.whole, each.known.beside);
            for (const dimension& side : each.dimensions) {
                add(-2, side.most, side.in_file);
                for_each_in(side.terms, [&](const auto& term) { add(term.first, term.second); });
            }
        }
        return made;
    }

    tiling best(double bytes) {
        const best_tilings found = within(bytes);
        std::size_t chosen = 0;
        constexpr double nearly = 1.02;
        while (chosen + 1 < shares.size() && !found[chosen + 1].loops.empty() &&
               found[chosen + 1].cost <= nearly * found[chosen].cost) {
            ++chosen;
        }
        return found[chosen].loops.empty() ? found[chosen] : coarser(bytes * shares[chosen], found[chosen]);
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr std::size_t most_loops = 4;
    static constexpr std::array<double, 4> shares{1, .5, .25, .125};  ///< of the memory, which tiles may take
    static constexpr double step_cost = 32 << 10;                     ///< bytes that a step takes as long as
    static constexpr double few_tiles = 4096;                         ///< as many may always be
    static constexpr double bytes_for_tile = 16 << 10;  ///< of memory, for which there may be one tile more
    static constexpr double run_cost = 4 << 10;         ///< bytes that a run in a file costs beside its own
    static constexpr double most_between = 32 << 10;    ///< bytes between runs that are read and dropped

    struct dimension {
        std::vector<std::pair<label_id, double>> terms{};
        double most = 1;     ///< elements that the call touches
        double in_file = 1;  ///< elements of the tensor
    };
    struct tensor {
        tiled_tensor known{};
        buffer_id buffer = no_buffer;
        std::vector<dimension> dimensions{};
        double element = 0;
        bool is_output = false;
        bool is_read = true;
        bool is_cut = false;    ///< with the parts that are evaluated: tiles of it pass through memory
        double tile_bytes = 0;  ///< of one tile, or of all of it
        double tile_cost = 0;
    };

    index length(label_id label) const { return call_.ranges[std::size_t(label)].size(); }

    static bool has(const tensor& of, label_id label) {
        return any_in(of.dimensions, [&](const dimension& each) {
            return any_in(each.terms, [&](const auto& term) { return term.first == label; });
        });
    }

    /// Bytes of a tile, and what moving it costs. What lies between short runs is read, too (io/box_reader).
    std::pair<double, double> tile_of(const tensor& of) const {
        double elements = 1;
        double run = 1;
        double apart = 1;  // from the begin of a run to that of the next one
        bool is_whole = true;
        for (std::size_t number = 0; number < of.dimensions.size(); ++number) {
            const dimension& each = of.dimensions[of.known.is_turned ? number : of.dimensions.size() - 1 - number];
            double size = 1;
            for (const auto& [label, factor] : each.terms) {
                size += factor * (std::ceil(double(length(label)) / parts_[std::size_t(label)]) - 1);
            }
            size = std::min(size, each.most);
            elements *= size;
            run *= is_whole ? size : 1;
            apart *= is_whole ? each.in_file : 1;
            is_whole = is_whole && size == each.in_file;
        }
        const double bytes = elements * of.element;
        const double run_bytes = std::max(1.0, run * of.element);
        const double apart_bytes = apart * of.element;
        return {bytes, bytes * (apart_bytes <= most_between ? std::max(1.0, apart_bytes / run_bytes)
                                                            : 1 + run_cost / run_bytes)};
    }

    /// The best tilings for parts of the memory.
    using best_tilings = std::array<tiling, shares.size()>;

    /// Evaluates the parts in parts_: the best order of loops, for the tensors that are paged.
    void evaluate(double bytes, unsigned paged, best_tilings& best) {
        std::array<label_id, most_loops + 8> loops{};
        std::size_t count = 0;
        double tiles_of_all = 1;
        for (const label_id label : labels_) {
            if (parts_[std::size_t(label)] > 1 && count < loops.size()) {
                loops[count++] = label;
                tiles_of_all *= parts_[std::size_t(label)];
            }
        }
        // What a program says of each tile takes memory, too.
        if (count == 0 || tiles_of_all > std::max(few_tiles, bytes / bytes_for_tile)) {
            return;
        }
        double least = 0;
        double beside = 0;
        for (std::size_t number = 0; number < tensors_.size(); ++number) {
            tensor& each = tensors_[number];
            each.is_cut = false;  // it, or another operand that is the same tensor
            bool is_new = true;
            for (std::size_t other = 0; other < tensors_.size(); ++other) {
                const bool is_same = tensors_[other].buffer == each.buffer;
                is_new = is_new && !(is_same && other < number);
                for (std::size_t at = 0; at < count && is_same; ++at) {
                    each.is_cut = each.is_cut || has(tensors_[other], loops[at]);
                }
            }
            each.is_cut = each.is_cut && (paged >> number & 1U) != 0;
            const auto [bytes_of_tile, cost_of_tile] =
                each.is_cut ? tile_of(each) : std::pair(each.known.held, each.known.whole);
            each.tile_bytes = is_new || each.is_cut ? bytes_of_tile : 0;
            each.tile_cost = is_new || each.is_cut ? cost_of_tile : 0;
            least += each.tile_bytes;
            beside += each.is_cut ? each.known.beside : 0;
        }
        if (least > bytes) {
            return;
        }
        std::sort(loops.begin(), loops.begin() + std::ptrdiff_t(count));
        const bool permutes = count <= most_loops;
        do {
            double memory = 0;
            double cost = beside + step_cost * tiles_of_all;
            for (const tensor& each : tensors_) {
                double visits = 1;
                double tiles_of_it = 1;
                double turns = 1;
                for (std::size_t at = 0; each.is_cut && at < count; ++at) {
                    turns *= parts_[std::size_t(loops[at])];
                    if (has(each, loops[at])) {
                        visits = turns;
                        tiles_of_it *= parts_[std::size_t(loops[at])];
                    }
                }
                memory += each.tile_bytes * (visits > 1 ? 2 : 1);
                cost += each.tile_cost *
                        (each.is_output && each.is_cut ? 2 * visits - (each.is_read ? 0 : tiles_of_it) : visits);
            }
            for (std::size_t share = 0; share < shares.size(); ++share) {
                const bool is_double = memory <= bytes * shares[share];
                constexpr double single_cost = 1.5;  // nothing is hidden without a second tile
                const double of_share = least > bytes * shares[share] ? infinity
                                        : is_double                   ? cost
                                                                      : single_cost * cost;
                if (of_share < best[share].cost) {
                    best[share] = {{}, {}, of_share, is_double ? memory : least};
                    for (std::size_t at = 0; at < count; ++at) {
                        best[share].loops.push_back({loops[at], parts_[std::size_t(loops[at])]});
                    }
                    best[share].is_paged = list_of(tensors_, &tensor::is_cut);
                }
            }
        } while (permutes && std::next_permutation(loops.begin(), loops.begin() + std::ptrdiff_t(count)));
    }

    /// Sets of tensors that may be paged, as bits.
    std::vector<unsigned> sets() const {
        unsigned all = 0;
        for (std::size_t number = 0; number < std::min<std::size_t>(tensors_.size(), 31); ++number) {
            all |= tensors_[number].known.may_page ? 1U << number : 0;
        }
        std::vector<unsigned> made;
        constexpr std::size_t few = 4;
        for (unsigned set = all; set != 0 && (tensors_.size() <= few || set == all); set = (set - 1) & all) {
            bool is_one = true;  // operands that are one tensor are paged together
            for (std::size_t a = 0; a < tensors_.size() && a < 31; ++a) {
                for (std::size_t b = 0; b < a; ++b) {
                    is_one = is_one && (tensors_[a].buffer != tensors_[b].buffer || (set >> a & 1U) == (set >> b & 1U));
                }
            }
            if (is_one) {
                made.push_back(set);
            }
        }
        return made;
    }

    best_tilings within(double bytes) {
        best_tilings best;
        for_each_in(best, [](tiling& each) { each.cost = infinity; });
        const std::vector<unsigned> paged = sets();
        const auto evaluate_all = [&] { for_each_in(paged, [&](unsigned set) { evaluate(bytes, set, best); }); };
        parts_.assign(call_.ranges.size(), 1);
        const std::size_t loops = std::min(labels_.size(), most_loops);
        const int finer = loops < most_loops ? 2 : 4;
        const auto enumerate = [&](auto&& self, std::size_t at) -> void {
            if (at == loops) {
                evaluate_all();
                return;
            }
            int& parts = parts_[std::size_t(labels_[at])];
            const auto most = int(std::min<index>(length(labels_[at]), 1 << 24));
            for (self(self, at + 1); parts < most; self(self, at + 1)) {
                parts = int(std::min(index(parts) * finer, index(most)));
            }
            parts = 1;
        };
        enumerate(enumerate, 0);
        for (std::size_t at = loops; at < labels_.size() && best.front().loops.empty(); ++at) {
            for (std::size_t cut = 0; cut <= at; ++cut) {
                parts_[std::size_t(labels_[cut])] = int(length(labels_[cut]));
            }
            evaluate_all();
        }
        return best;
    }

    /// The same with tiles as large as they may be.
    tiling coarser(double bytes, tiling best) {
        unsigned set = 0;
        for (std::size_t number = 0; number < best.is_paged.size(); ++number) {
            set |= best.is_paged[number] ? 1U << number : 0;
        }
        const tiling found = best;
        for (const tiling::loop& each : found.loops) {
            parts_.assign(call_.ranges.size(), 1);
            for (const tiling::loop& set_to : best.loops) {
                parts_[std::size_t(set_to.label)] = set_to.parts;
            }
            int least = each.parts / 4;
            int most = each.parts;
            while (most - least > 1) {
                const int middle = least + (most - least) / 2;
                parts_[std::size_t(each.label)] = middle;
                best_tilings tried;
                tried.front().cost = best.cost * (1 + 1e-9);
                evaluate(bytes, set, tried);
                if (tried.front().loops.size() == found.loops.size()) {
                    best = tried.front();
                    most = middle;
                } else {
                    least = middle;
                }
            }
        }
        return best;
    }

    const contraction& call_;
    std::vector<tensor> tensors_{};
    std::vector<label_id> labels_{};  ///< that may be cut, the longest first
    std::vector<int> parts_{};        ///< by label
};

EINPARALLEL_INLINE const tiling& best_tiling(const program& of_rank, const contraction& call, double bytes,
                                             function_ref<tiled_tensor(buffer_id)> known, known_tilings& before) {
    tile_search search(of_rank, call, known);
    const auto [found, is_new] = before.try_emplace(search.signature());
    if (is_new) {
        found->second = search.best(bytes);
    }
    return found->second;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
