// The work of a device on the processor, in the order of the stand-in's streams, by the kernels' own functors.

#include "standin.hpp"

#include <einparallel/device/blocks.hpp>
#include <einparallel/kernel/copy.hpp>
#include <einparallel/run/device_space.hpp>

#include <memory>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

namespace {

using numbers = std::vector<index>;

numbers kept(std::span<const index> values) {
    return {values.begin(), values.end()};
}

}  // namespace

void copy_on_device(launch::stream on, std::span<const index> extents, std::size_t element_bytes, void* into,
                    std::span<const index> into_strides, const void* from, std::span<const index> from_strides) {
    standin::expect_device(into);
    standin::expect_device(from);
    standin::launch(on, [=, lengths = kept(extents), to = kept(into_strides), of = kept(from_strides)] {
        copy_box(lengths, element_bytes, into, to, from, of);
    });
}

std::size_t workspace_on_device(const kernel& /*work*/, const block_call& call) {
    return 64 * call.operands.size();
}

void contract_on_device(const device_queue& on, const kernel& work, const block_call& call) {
    struct kept_call {
        numbers extents;
        std::vector<numbers> strides;
        std::vector<std::vector<label_id>> labels;
        std::vector<operand_block> operands;
        output_block output;
    };
    const auto keep = std::make_shared<kept_call>();
    keep->extents = kept(call.extents);
    keep->strides.reserve(call.operands.size() + 1);
    keep->labels.reserve(call.operands.size() + 1);
    const auto taken = [&](auto& block) {
        standin::expect_device(block.data);
        block.strides = keep->strides.emplace_back(kept(block.strides));
        block.labels = keep->labels.emplace_back(block.labels.begin(), block.labels.end());
    };
    keep->operands.assign(call.operands.begin(), call.operands.end());
    keep->output = call.output;
    for (operand_block& each : keep->operands) {
        taken(each);
    }
    taken(keep->output);
    standin::expect_device(on.workspace);
    standin::launch(on.work, [keep, mode = call.mode, &work] {
        work.contract({keep->extents, keep->operands, keep->output, mode, nullptr});
    });
}

void combine_on_device(const device_queue& on, const kernel& work, std::span<const index> extents, void* into,
                       std::span<const index> into_strides, const void* from, std::span<const index> from_strides) {
    standin::expect_device(into);
    standin::expect_device(from);
    standin::launch(on.work, [=, lengths = kept(extents), to = kept(into_strides), of = kept(from_strides), &work] {
        work.combine(lengths, into, to, from, of);
    });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
