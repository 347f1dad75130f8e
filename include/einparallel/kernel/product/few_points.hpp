#pragma once
// Σ of products over so few points that looking for the best way would take longer than plain loops.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <cstddef>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// The loops of a call on two operands with few points: at most three loops of the output, and at most two summed
/// loops.
class few_loops : private not_copied {
public:
    ~few_loops() = default;

    struct loop {
        index extent = 1;
        index moves[3] = {0, 0, 0};  ///< strides of the output and the operands
    };

    static constexpr index most_points = 32;

    explicit few_loops(const block_call& call) {
        fits = call.operands.size() == 2 && visit(call, 0, call.output) && visit(call, 1, call.operands[0]) &&
               visit(call, 2, call.operands[1]);
    }

    bool fits = false;  ///< the call has few enough points and loops
    loop outputs[3];    ///< loops of the output in the order of its dimensions; the last ones are used
    loop sums[2];

private:
    /// Adds the strides of one tensor. Returns false where there are too many loops or points, or no points.
    bool visit(const block_call& call, std::size_t slot, const strided_block& tensor) {
        for (std::size_t dimension = tensor.labels.size(); dimension-- > 0;) {
            const label_id label = tensor.labels[dimension];
            const index extent = label == no_label ? 1 : call.extents[std::size_t(label)];
            if (extent == 1) {
                continue;
            }
            std::size_t known = 0;
            while (known < count_ && label_of_[known] != label) {
                ++known;
            }
            if (known == count_) {
                points_ *= extent;
                const bool full = slot == 0 ? output_count_ == 3 : sum_count_ == 2;
                if (full || points_ > most_points || points_ == 0) {
                    return false;
                }
                loop& added = slot == 0 ? outputs[2 - output_count_++] : sums[1 - sum_count_++];
                added.extent = extent;
                label_of_[count_] = label;
                loop_of_[count_++] = &added;
            }
            loop_of_[known]->moves[slot] += tensor.strides[dimension];
        }
        return true;
    }

    label_id label_of_[5];
    loop* loop_of_[5];
    std::size_t count_ = 0;
    std::size_t output_count_ = 0;
    std::size_t sum_count_ = 0;
    index points_ = 1;
};

/// z (+)= scale · Σ x · y over few points, of two operands of T.
template <Element T>
class product_of_few_points final : public prepared_call {
public:
    product_of_few_points(const block_call& call, T scale) : loops_(call), scale_(scale) {}

    /// True where the call has no more points and loops than few_loops takes.
    [[nodiscard]] bool fits() const { return loops_.fits; }

    void run(const block_call& at) override {
        const auto& [i_loop, j_loop, k_loop] = loops_.outputs;
        const auto& [p_loop, q_loop] = loops_.sums;
        const bool add = at.mode == write_mode::combine;
        const T scale = scale_;  // for all the compiler knows, results are written over the member
        index along_x[few_loops::most_points];
        index along_y[few_loops::most_points];
        index terms = 0;
        for (index p = 0; p < p_loop.extent; ++p) {
            for (index q = 0; q < q_loop.extent; ++q) {
                along_x[terms] = p * p_loop.moves[1] + q * q_loop.moves[1];
                along_y[terms++] = p * p_loop.moves[2] + q * q_loop.moves[2];
            }
        }
        const T* const x_first = static_cast<const T*>(at.operands[0].data);
        const T* const y_first = static_cast<const T*>(at.operands[1].data);
        T* const z_first = static_cast<T*>(at.output.data);
        for (index i = 0; i < i_loop.extent; ++i) {
            for (index j = 0; j < j_loop.extent; ++j) {
                T* z = z_first + (i * i_loop.moves[0] + j * j_loop.moves[0]);
                const T* x = x_first + (i * i_loop.moves[1] + j * j_loop.moves[1]);
                const T* y = y_first + (i * i_loop.moves[2] + j * j_loop.moves[2]);
                for (index k = k_loop.extent;;) {
                    T sum = op::prod(*x, *y);  // not added to zero: an elementwise product keeps the sign of −0
                    for (index term = 1; term < terms; ++term) {
                        sum = op::sum(sum, op::prod(x[along_x[term]], y[along_y[term]]));
                    }
                    sum = scale == T(1) ? sum : op::prod(scale, sum);
                    *z = add ? op::sum(*z, sum) : sum;
                    if (--k == 0) {
                        break;  // a pointer is not moved out of its block
                    }
                    z += k_loop.moves[0];
                    x += k_loop.moves[1];
                    y += k_loop.moves[2];
                }
            }
        }
    }

private:
    few_loops loops_;
    T scale_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
