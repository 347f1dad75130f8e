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
class tile_search {
public:
    EINPARALLEL_INLINE tile_search(const program& of_rank, const contraction& call,
                                   function_ref<tiled_tensor(buffer_id)> known)
        : call_(call) {
        const called_vertex& made = of_rank.vertex_of(call);
        const accesses touched =
            accesses_of(of_rank, std::variant<read_source, contraction, local_move>(call), &made.form);
        std::vector<bool> is_fixed(call.ranges.size(), false);
        for (std::size_t operand = 0; operand <= call.operands.size(); ++operand) {
            const bool is_output = operand == call.operands.size();
            const buffer_id number = is_output ? call.output : call.operands[operand];
            const buffer& holder = of_rank[number];
            tensor each{.known = known(number), .buffer = number};
            each.is_output = is_output;
            each.is_read = !is_output || call.mode == write_mode::combine;
            each.element = double(holder.element_bytes);
            each.all = double(holder.bytes());
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

    EINPARALLEL_INLINE tiling best(double bytes) {
        tiling chosen;
        for (const double share : {1.0, .5, .25, .125}) {
            const tiling found = within(bytes * share);
            constexpr double nearly = 1.02;
            if (!found.loops.empty() && (chosen.loops.empty() || found.cost <= nearly * chosen.cost)) {
                chosen = found;
            } else {
                break;
            }
        }
        return chosen;
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr std::size_t most_loops = 4;
    static constexpr double run_cost = 4 << 10;  ///< bytes that a run in a file costs beside its own
    static constexpr double most_for_runs = 16;  ///< nor do runs cost more than this: what lies between them is read

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
        double all = 0;  ///< bytes of the buffer
        bool is_output = false;
        bool is_read = true;
    };

    index length(label_id label) const { return call_.ranges[std::size_t(label)].size(); }

    static bool has(const tensor& of, label_id label) {
        return any_in(of.dimensions, [&](const dimension& each) {
            return any_in(each.terms, [&](const auto& term) { return term.first == label; });
        });
    }

    /// Bytes of a tile, and what moving it costs.
    EINPARALLEL_INLINE std::pair<double, double> tile_of(const tensor& of) const {
        double elements = 1;
        double run = 1;
        bool is_whole = true;
        for (std::size_t side = of.dimensions.size(); side-- > 0;) {
            const dimension& each = of.dimensions[side];
            double size = 1;
            for (const auto& [label, factor] : each.terms) {
                size += factor * (std::ceil(double(length(label)) / parts_[std::size_t(label)]) - 1);
            }
            size = std::min(size, each.most);
            elements *= size;
            run *= is_whole ? size : 1;
            is_whole = is_whole && size == each.in_file;
        }
        const double bytes = elements * of.element;
        return {bytes, bytes * (1 + std::min(most_for_runs, run_cost / std::max(1.0, run * of.element)))};
    }

    /// Evaluates the parts in parts_: the best order of loops, for the tensors that are paged.
    EINPARALLEL_INLINE void evaluate(double bytes, unsigned paged, tiling& best) const {
        std::array<label_id, most_loops + 8> loops{};
        std::size_t count = 0;
        for (const label_id label : labels_) {
            if (parts_[std::size_t(label)] > 1 && count < loops.size()) {
                loops[count++] = label;
            }
        }
        struct tile {
            double bytes, cost;
            bool is_cut;
        };
        std::vector<tile> tiles;
        double least = 0;
        double beside = 0;
        std::vector<buffer_id> counted;
        for (std::size_t number = 0; number < tensors_.size(); ++number) {
            const tensor& each = tensors_[number];
            bool is_cut = false;  // it, or another operand that is the same tensor
            for (const tensor& other : tensors_) {
                for (std::size_t at = 0; at < count && other.buffer == each.buffer; ++at) {
                    is_cut = is_cut || has(other, loops[at]);
                }
            }
            is_cut = is_cut && (paged >> number & 1U) != 0;
            const auto [tile_bytes, tile_cost] = is_cut ? tile_of(each) : std::pair(each.all, each.known.whole);
            const bool is_new = is_cut || !found_in(each.buffer, counted);
            counted.push_back(each.buffer);
            tiles.push_back({is_new ? tile_bytes : 0, is_new ? tile_cost : 0, is_cut});
            least += tiles.back().bytes;
            beside += is_cut ? each.known.beside : 0;
        }
        if (least > bytes || count == 0) {
            return;
        }
        std::sort(loops.begin(), loops.begin() + std::ptrdiff_t(count));
        const bool permutes = count <= most_loops;
        do {
            double memory = 0;
            double cost = beside;
            for (std::size_t number = 0; number < tensors_.size(); ++number) {
                const tensor& each = tensors_[number];
                double visits = 1;
                double tiles_of_it = 1;
                double turns = 1;
                for (std::size_t at = 0; tiles[number].is_cut && at < count; ++at) {
                    turns *= parts_[std::size_t(loops[at])];
                    if (has(each, loops[at])) {
                        visits = turns;
                        tiles_of_it *= parts_[std::size_t(loops[at])];
                    }
                }
                memory += tiles[number].bytes * (visits > 1 ? 2 : 1);
                if (each.is_output && tiles[number].is_cut) {
                    cost += tiles[number].cost * (2 * visits - (each.is_read ? 0 : tiles_of_it));
                } else {
                    cost += tiles[number].cost * visits;
                }
            }
            const bool is_double = memory <= bytes;
            constexpr double single_cost = 1.5;  // nothing is hidden without a second tile
            cost *= is_double ? 1 : single_cost;
            if (cost < best.cost) {
                best = {{}, {}, cost, is_double ? memory : least};
                for (std::size_t at = 0; at < count; ++at) {
                    best.loops.push_back({loops[at], parts_[std::size_t(loops[at])]});
                }
                best.is_paged = list_of(tiles, &tile::is_cut);
            }
        } while (permutes && std::next_permutation(loops.begin(), loops.begin() + std::ptrdiff_t(count)));
    }

    /// Sets of tensors that may be paged, as bits.
    EINPARALLEL_INLINE std::vector<unsigned> sets() const {
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

    EINPARALLEL_INLINE tiling within(double bytes) {
        tiling best;
        best.cost = infinity;
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
        for (std::size_t at = loops; at < labels_.size() && best.loops.empty(); ++at) {
            for (std::size_t cut = 0; cut <= at; ++cut) {
                parts_[std::size_t(labels_[cut])] = int(length(labels_[cut]));
            }
            evaluate_all();
        }
        if (!best.loops.empty()) {
            coarsen(bytes, best);
        }
        return best;
    }

    /// Makes tiles as large as they may be.
    EINPARALLEL_INLINE void coarsen(double bytes, tiling& best) {
        unsigned set = 0;
        for (std::size_t number = 0; number < best.is_paged.size(); ++number) {
            set |= best.is_paged[number] ? 1U << number : 0;
        }
        const tiling found = best;
        for (const tiling::loop& each : found.loops) {
            for (const tiling::loop& set_to : best.loops) {
                parts_[std::size_t(set_to.label)] = set_to.parts;
            }
            int least = each.parts / 4;
            int most = each.parts;
            while (most - least > 1) {
                const int middle = least + (most - least) / 2;
                parts_[std::size_t(each.label)] = middle;
                tiling tried = best;
                tried.cost = best.cost * (1 + 1e-9);
                evaluate(bytes, set, tried);
                if (tried.cost <= best.cost && tried.loops.size() == found.loops.size()) {
                    best = tried;
                    most = middle;
                } else {
                    least = middle;
                }
            }
        }
    }

    const contraction& call_;
    std::vector<tensor> tensors_{};
    std::vector<label_id> labels_{};  ///< that may be cut, the longest first
    std::vector<int> parts_{};        ///< by label
};

EINPARALLEL_INLINE tiling best_tiling(const program& of_rank, const contraction& call, double bytes,
                                      function_ref<tiled_tensor(buffer_id)> known) {
    return tile_search(of_rank, call, known).best(bytes);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
