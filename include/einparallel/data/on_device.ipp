#pragma once

#include <einparallel/data/on_device.hpp>

#include <einparallel/cuda/device.hpp>
#include <einparallel/data/execute.hpp>
#include <einparallel/device/contraction.hpp>
#include <einparallel/device/device_space.hpp>
#include <einparallel/kernel/work/work.hpp>
#include <einparallel/mpi/interface.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/plan/names.hpp>
#include <einparallel/run/agreement.hpp>
#include <einparallel/run/calibrate.hpp>
#include <einparallel/run/extra_memory.hpp>

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <memory>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where MPI reports that it reads device memory. Nothing is tried: an MPI that cannot do so would end the
/// program.
EINPARALLEL_SELDOM bool mpi_reads_device_memory() {
#if defined(OPEN_MPI) && defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() != 0;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
    int is_supported = 0;
    return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &is_supported) == MPI_SUCCESS && is_supported != 0;
#else
    return false;
#endif
}

EINPARALLEL_SELDOM bool goes_straight(const device_run& how) {
    return how.messages == device_messages::direct ||
           (how.messages == device_messages::automatic && mpi_reads_device_memory());
}

/// The context's memory space with these settings. The first call makes it.
EINPARALLEL_SELDOM const device_space& device_space_of(context_state& world, const device_settings& settings) {
    for (const std::shared_ptr<const memory_space>& each : world.spaces) {
        const auto& known = static_cast<const device_space&>(*each);  // all of a context's spaces are device spaces
        if (known.settings() == settings) {
            return known;
        }
    }
    const auto made = std::make_shared<const device_space>(settings);
    world.spaces.push_back(made);
    return *made;
}

/// The memory space of this rank's device, ready for work. `check` throws where the device is not sufficient. If it
/// throws on one rank, all ranks throw the same error, which begins with `call`.
EINPARALLEL_SELDOM const device_space& agreed_device_space(
    context_state& state, const device_run& how, const std::string& call,
    function_ref<void(const device_space&)> check = [](const device_space&) {}) {
    const exclusive guard(state, call.c_str());
    if (state.node_rank < 0) {
        state.node_rank = communicator::of_node(state.control).rank();
    }
    const bool is_direct = goes_straight(how);
    const device_space* space = nullptr;
    const std::string failure = failure_of("rank " + std::to_string(state.control.rank()) + ": the device", [&] {
        const int device = device_of_rank(state.node_rank, how.device);
        expect((how.allocate == nullptr) == (how.release == nullptr),
               "give device_run.allocate and device_run.release together");
        space = &device_space_of(
            state, {.device = device, .is_direct = is_direct, .allocate = how.allocate, .release = how.release});
        check(*space);
        space->begin(how.stream);
    });
    agree(state.control, failure.empty() ? failure : call + ": " + failure,
          {{is_direct ? 1U : 0U, call + ": messages leave the device straight on some ranks only: device_run.messages"},
           {how.results_stay ? 1U : 0U,
            call + ": results stay on the device on some ranks only: device_run.results_stay"}});
    return *space;
}

/// @throws error, the same on all ranks, where a vertex has no kernel on devices; it begins with `call`
EINPARALLEL_SELDOM void refuse_functors(const plan& asked, const std::string& call) {
    for (const planned_vertex& each : asked.vertices()) {
        const kernel* const work = each.origin->work.get();
        const std::string why = work == nullptr ? "" : refused_on_device(*work);
        require(why.empty(), {call, ": vertex '", full_name(asked, each), "' ", why});
    }
}

EINPARALLEL_SELDOM results carry_out_on_device(const plan& asked, context& world, const device_run& how,
                                               std::span<const binding> bound, trace* seen) {
    context_state& state = *world.state();
    refuse_functors(asked, "run");
    const std::size_t limit = asked.asked().memory_limit;
    const int rank = state.control.rank();
    const auto check = [&](const device_space& space) {
        if (limit == 0 || rank >= asked.processes() || is_prepared(state, space, asked)) {
            return;
        }
        const device_need need = need_on_device(asked, rank, how);
        require((asked.asked().paging ? need.tensors : need.on_device()) <= limit,
                {"rank ", rank, " needs ", need.on_device(), " bytes of device memory, ", need.tensors,
                 " of them for tensors and ", need.products, " for cuBLAS; options.memory_limit is ", limit});
    };
    return carry_out(asked, world, bound, agreed_device_space(state, how, "run", check), seen, how.results_stay,
                     how.host_limit);
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_SELDOM device_need need_on_device(const plan& of, int rank, const device_run& how) {
    detail::refuse_functors(of, "need_on_device");
    const detail::device_settings settings{.is_direct = detail::goes_straight(how)};
    const detail::memory_need found = detail::need_of(
        of, rank, settings.is_direct ? 0 : settings.slab,
        [](const kernel& work, const block_call& call) { return detail::decide_on_device(work, call).workspace; });
    const bool pages = of.paging().which != paged_tensors::none;
    return {of.peak_bytes(rank), found.workspace, detail::blas_handle::workspace_bytes,
            detail::device_space::flag_bytes + 2 * settings.slab + found.out + 2 * found.in +
                std::min(found.waiting, how.host_limit) + (pages ? detail::bytes_to_files : 0) +
                (how.results_stay ? 0 : found.results),
            found.vertex};
}

EINPARALLEL_SELDOM machine measured_machine(const context& world, const device_run& how, double seconds) {
    return detail::machine_of_space(world, detail::agreed_device_space(*world.state(), how, "calibrate"), seconds);
}

}  // namespace einparallel
