#pragma once

#include <einparallel/array/pieces.hpp>

#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE index move_along(label_id label, std::span<const index_function> at, const index* strides) {
    index move = 0;
    for (std::size_t dimension = 0; dimension < at.size(); ++dimension) {
        index factor = label == no_label ? at[dimension].constant : 0;
        for (const index_term& term : at[dimension].terms) {
            factor += term.label == label ? term.coefficient : 0;
        }
        move += factor * strides[dimension];
    }
    return move;
}

/// ⌈a / b⌉. @pre b > 0
constexpr index quotient_above(index a, index b) {
    return a / b + (a % b > 0 ? 1 : 0);
}

/// Cuts a call until every part of it reads one block of each operand.
EINPARALLEL_INLINE class call_parts {
public:
    call_parts(const block_call& call, std::span<const operand_pieces* const> pieces,
               std::span<const std::size_t> operand_bytes, std::size_t output_bytes,
               const function_ref<void(const block_call&)>& work)
        : call_(call), pieces_(pieces), operand_bytes_(operand_bytes), output_bytes_(output_bytes), work_(work) {
        for (const index extent : call.extents) {
            ranges_.push_back({0, extent});
        }
    }

    void run() {
        std::vector<const operand_pieces::piece*> read(pieces_.size(), nullptr);
        for (std::size_t operand = 0; operand < pieces_.size(); ++operand) {
            if (pieces_[operand] == nullptr || any_in(ranges_, &interval::empty)) {
                continue;
            }
            box region;
            for (const index_function& each : pieces_[operand]->at) {
                region.sides.push_back(range_of(each, ranges_));
            }
            for (const operand_pieces::piece& piece : pieces_[operand]->pieces) {
                const box common = intersect(piece.region, region);
                for (std::size_t dimension = 0; !common.empty() && dimension < region.rank(); ++dimension) {
                    const interval side = region.sides[dimension];
                    const interval inside = common.sides[dimension];
                    if (side != inside) {
                        return cut(pieces_[operand]->at[dimension],
                                   side.begin < inside.begin ? inside.begin : inside.end);
                    }
                }
                read[operand] = common.empty() ? read[operand] : &piece;
            }
        }
        compute(read);
    }

private:
    /// Computes apart what reads indices below `place`, from there on, and on both sides.
    void cut(const index_function& at, index place) {
        label_id along = no_label;
        index factor = 0;
        for (const index_term& term : at.terms) {
            if (along == no_label || range(term.label).size() > range(along).size()) {
                along = term.label;
                factor = term.coefficient;
            }
        }
        const interval whole = range(along);
        range(along) = {0, 1};
        const interval others = range_of(at, ranges_);
        const index rising = std::abs(factor);
        // The first one that is not wholly on the near side, and the first one that is wholly on the far side.
        index near = factor > 0 ? quotient_above(place - others.end + 1, rising)
                                : quotient_above(others.begin - place + 1, rising);
        index far =
            factor > 0 ? quotient_above(place - others.begin, rising) : quotient_above(others.end - place, rising);
        near = std::clamp(near, whole.begin, whole.end);
        far = std::clamp(far, near, whole.end);
        if (near == whole.begin && far == whole.end) {
            near = far = whole.begin + (whole.size() + 1) / 2;
        }
        for (const interval part : {interval{whole.begin, near}, interval{near, far}, interval{far, whole.end}}) {
            range(along) = part;
            if (!part.empty()) {
                run();
            }
        }
        range(along) = whole;
    }

    void compute(const std::vector<const operand_pieces::piece*>& read) {
        small_vector<index, 16> extents;
        small_vector<index, 16> first;
        write_mode mode = call_.mode;
        for (std::size_t label = 0; label < ranges_.size(); ++label) {
            extents.push_back(ranges_[label].size());
            first.push_back(ranges_[label].begin);
            mode = ranges_[label].begin > 0 && !found_in(label_id(label), call_.output.labels) ? write_mode::combine
                                                                                               : mode;
        }
        const auto place_of = [&](const void* data, const auto& block, std::size_t bytes) {
            index offset = 0;
            for (std::size_t dimension = 0; dimension < block.labels.size(); ++dimension) {
                const label_id label = block.labels[dimension];
                offset += label == no_label ? 0 : range(label).begin * block.strides[dimension];
            }
            return static_cast<const std::byte*>(data) + offset * index(bytes);
        };
        std::vector<operand_block> operands(call_.operands.begin(), call_.operands.end());
        std::vector<std::vector<index>> strides(operands.size());
        for (std::size_t operand = 0; operand < operands.size(); ++operand) {
            operand_block& block = operands[operand];
            if (const operand_pieces* const from = pieces_[operand]; from != nullptr) {
                const operand_pieces::piece* const piece = read[operand];
                strides[operand].assign(block.labels.size(), 0);
                block = {from->elsewhere, block.labels, strides[operand]};
                if (piece != nullptr) {
                    std::vector<index_function> at = from->at;
                    for (std::size_t dimension = 0; dimension < at.size(); ++dimension) {
                        at[dimension].constant -= piece->region.sides[dimension].begin;
                    }
                    for (std::size_t dimension = 0; dimension < block.labels.size(); ++dimension) {
                        strides[operand][dimension] = move_along(block.labels[dimension], at, piece->strides.data());
                    }
                    block.data = static_cast<const std::byte*>(piece->data) +
                                 move_along(no_label, at, piece->strides.data()) * index(operand_bytes_[operand]);
                }
            }
            block.data = place_of(block.data, block, operand_bytes_[operand]);
        }
        const void* const output = place_of(call_.output.data, call_.output, output_bytes_);
        work_({{extents.data(), extents.size()},
               operands,
               {const_cast<void*>(output), call_.output.labels, call_.output.strides},
               mode,
               call_.hook,
               {first.data(), first.size()}});
    }

    interval& range(label_id label) { return ranges_[std::size_t(label)]; }

    const block_call& call_;
    std::span<const operand_pieces* const> pieces_;
    std::span<const std::size_t> operand_bytes_;
    std::size_t output_bytes_;
    const function_ref<void(const block_call&)>& work_;
    std::vector<interval> ranges_;  // by label
};

EINPARALLEL_INLINE void in_parts(const block_call& call, std::span<const operand_pieces* const> pieces,
                                 std::span<const std::size_t> operand_bytes, std::size_t output_bytes,
                                 function_ref<void(const block_call&)> work) {
    if (all_in(pieces, [](const operand_pieces* each) { return each == nullptr; })) {
        work(call);
    } else {
        call_parts(call, pieces, operand_bytes, output_bytes, work).run();
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
