#pragma once

#include <einparallel/device/device_space.hpp>

#include <einparallel/cuda/check.hpp>
#include <einparallel/cuda/device.hpp>
#include <einparallel/device/blocks.hpp>
#include <einparallel/device/contraction.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/tiles.hpp>

#include <cublas_v2.h>
#include <complex>

#include <functional>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Gives products to cuBLAS, in full precision. Products of half-precision numbers are summed in float.
EINPARALLEL_INLINE void multiply_on_device(cublasContext* handle, const blas_call& call) {
    const blas_product& of = call.product;
    const cublasOperation_t a_as = of.a.transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t b_as = of.b.transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
    const auto with = [&](auto scale, auto one, auto function, const char* name) {
        using number = decltype(scale);
        const number beta = call.add ? one : number{};
        check_cublas(function(handle, a_as, b_as, of.m, of.n, of.k, &scale, static_cast<const number*>(call.a),
                              of.a.leading, of.a.step, static_cast<const number*>(call.b), of.b.leading, of.b.step,
                              &beta, static_cast<number*>(call.c), of.c.leading, of.c.step, of.batch),
                     name);
    };
    const double real = call.scale.real();
    const double imaginary = call.scale.imag();
    if (call.operand != call.element) {
        const cudaDataType_t half = call.operand == element_type_of<float16>() ? CUDA_R_16F : CUDA_R_16BF;
        const float scale = float(real), beta = call.add ? 1 : 0;
        check_cublas(
            cublasGemmStridedBatchedEx_64(handle, a_as, b_as, of.m, of.n, of.k, &scale, call.a, half, of.a.leading,
                                          of.a.step, call.b, half, of.b.leading, of.b.step, &beta, call.c, CUDA_R_32F,
                                          of.c.leading, of.c.step, of.batch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
            "cublasGemmStridedBatchedEx");
    } else if (call.element == element_type_of<float>()) {
        with(float(real), 1.0F, cublasSgemmStridedBatched_64, "cublasSgemmStridedBatched");
    } else if (call.element == element_type_of<double>()) {
        with(real, 1.0, cublasDgemmStridedBatched_64, "cublasDgemmStridedBatched");
    } else if (call.element == element_type_of<std::complex<float>>()) {
        with(cuComplex{float(real), float(imaginary)}, cuComplex{1, 0}, cublasCgemmStridedBatched_64,
             "cublasCgemmStridedBatched");
    } else {
        with(cuDoubleComplex{real, imaginary}, cuDoubleComplex{1, 0}, cublasZgemmStridedBatched_64,
             "cublasZgemmStridedBatched");
    }
}

EINPARALLEL_VIRTUAL void* pinned_space::allocate(std::size_t bytes) const {
    const device_guard here(device_);
    return allocate_pinned(bytes);
}

EINPARALLEL_VIRTUAL device_space::device_space(const device_settings& settings)
    : settings_(settings), host_(*this, settings.device) {
    const device_guard here(settings_.device);
    lanes_.emplace(settings_);
    blas_workspace_ = memory_block(*this, blas_handle::workspace_bytes);
    lanes_->blas.emplace(stream_of(working), blas_workspace_.data());
    for (memory_block& each : read_through_) {
        each = memory_block(host_, settings_.slab);
    }
    divided_ = memory_block(host_, flag_bytes);
}

EINPARALLEL_VIRTUAL device_space::~device_space() {
    // CUDA's destroying functions want no current device.
    lanes_->blas.reset();
    blas_workspace_ = {};
    workspace_ = {};
}

EINPARALLEL_VIRTUAL void device_space::watch() const {
    const device_guard here(settings_.device);
    watch_.emplace();
    watch_->origin.record(stream_of(working));
    watch_->origin.wait();
}

EINPARALLEL_VIRTUAL std::vector<trace_span> device_space::watched() const {
    std::vector<trace_span> spans;
    for (const watched_work& each : watch_->all) {
        spans.push_back(each.span);
        spans.back().begin = each.begin.seconds_since(watch_->origin);
        spans.back().end = each.end.seconds_since(watch_->origin);
    }
    watch_.reset();
    return spans;
}

/// A read is timed on the host, because the host reads sources. For a source on the device, the copy is noted.
EINPARALLEL_VIRTUAL bool device_space::times(activity what, std::size_t vertex) const {
    if (watch_.has_value()) {
        watch_->next.what = what == activity::read ? activity::copy : what;
        watch_->next.vertex = std::int64_t(vertex);
    }
    return what != activity::read;
}

template <class F>
void device_space::give(lane_number on, F&& work, std::optional<activity> what, std::size_t bytes) const {
    if (!watch_.has_value()) {
        std::forward<F>(work)();
        return;
    }
    watched_work& noted = watch_->all.emplace_back(watched_work{.span = watch_->next});
    noted.span.what = what.value_or(noted.span.what);
    noted.span.bytes = std::int64_t(bytes);
    noted.begin.record(stream_of(on));
    std::forward<F>(work)();
    noted.end.record(stream_of(on));
}

EINPARALLEL_VIRTUAL void device_space::begin(CUstream_st* application) const {
    watch_.reset();  // of a run that failed
    if (application == nullptr) {
        return;
    }
    const device_guard here(settings_.device);
    expect(!is_captured(application),
           "the device's stream is being captured into a graph: end the capture, for a run waits for messages");
    lanes_->begun.record(application);
    device_lane& lane = lanes_->by_number[working];
    lane.on.wait_for(lanes_->begun);
    lane.done[no_work].record(lane.on.native());  // work that waits for no_work then waits for this
}

EINPARALLEL_VIRTUAL void* device_space::allocate(std::size_t bytes) const {
    const device_guard here(settings_.device);
    try {
        return lanes_->pool.allocate(bytes);
    } catch (const too_little_device_memory& missing) {
        throw too_little_memory(missing.what());
    }
}

/// A call on a device space whose way to compute is decided.
class device_space::decided_call final : public prepared_call {
public:
    decided_call(const device_space& on, const kernel& work, const block_call& call)
        : on_(on), work_(work), decided_(decide_on_device(work, call)) {
        workspace = decided_.workspace;
    }

    void run(const block_call& at) override {
        if (decided_.is_in_place != is_in_place(at)) {
            decided_ = decide_on_device(work_, at);
        }
        const device_guard here(on_.settings_.device);
        const bool divides = work_.program().divides_integers();
        auto* const divided = divides ? reinterpret_cast<std::uint32_t*>(on_.divided_.data()) : nullptr;
        if (divides) {
            *divided = 0;
        }
        on_.give(working, [&] {
            contract_on_device(
                on_.stream_of(working), work_, decided_, at, on_.workspace_.data(), divided,
                [&](const blas_call& products) { multiply_on_device(on_.lanes_->blas->native(), products); });
        });
        if (divides) {
            on_.finish(on_.given());
            check_divisors(*divided == 0);
        }
        report(at.hook, progress_hook::interval);  // here, because the kernels run on after the call
    }

private:
    const device_space& on_;
    const kernel& work_;
    device_decision decided_;
};

EINPARALLEL_VIRTUAL std::unique_ptr<prepared_call> device_space::decide(const kernel& work,
                                                                        const block_call& call) const {
    return std::make_unique<decided_call>(*this, work, call);
}

EINPARALLEL_VIRTUAL void device_space::contract(const kernel& work, const block_call& call) const {
    decided_call(*this, work, call).run(call);
}

EINPARALLEL_VIRTUAL void device_space::softmax(element_type element, const block_call& call, label_id along) const {
    const device_guard here(settings_.device);
    give(working, [&] { softmax_on_device(stream_of(working), element, call, along); });
}

EINPARALLEL_VIRTUAL void device_space::combine(const kernel& work, const box_pair& boxes) const {
    const device_guard here(settings_.device);
    const std::pair sum(work.program().aggregates_by(), work.program().type());
    if (sum != combined_by_.first) {  // a ring combines by one ⊕ again and again
        const op_program program(sum.first, std::array{sum.second});
        combined_by_ = {sum, program.is_opaque() ? nullptr : launch::device_program_of(program)};
    }
    const auto launch = [&](const launch::strided_join& each) {
        combined_by_.second == nullptr ? work.on_device()->combine(stream_of(working), each, work.keeps().front().get())
                                       : launch::join(stream_of(working), each, *combined_by_.second);
    };
    give(working, [&] { for_each_join(boxes, true, launch); });
}

EINPARALLEL_INLINE void device_space::copy_unwatched(lane_number on, const box_pair& boxes) const {
    index dense = 1;
    bool is_dense = true;  // on both sides: the device's copy engines do it
    for (std::size_t dimension = boxes.extents.size(); dimension-- > 0;) {
        is_dense = is_dense && (boxes.extents[dimension] == 1 ||
                                (boxes.into_strides[dimension] == dense && boxes.from_strides[dimension] == dense));
        dense *= boxes.extents[dimension];
    }
    is_dense ? copy_bytes(stream_of(on), boxes.into, boxes.from, std::size_t(dense) * boxes.element_bytes)
             : copy_on_device(stream_of(on), boxes);
}

EINPARALLEL_INLINE void device_space::copy_on(lane_number on, const box_pair& boxes,
                                              std::optional<activity> what) const {
    const std::size_t bytes = std::size_t(product_in(boxes.extents, index{1}, std::identity())) * boxes.element_bytes;
    give(
        on, [&] { copy_unwatched(on, boxes); }, what, bytes);
}

EINPARALLEL_VIRTUAL void device_space::copy_page(const box_pair& boxes) const {
    const device_guard here(settings_.device);
    copy_unwatched(paging, boxes);
    event_of(mark(paging)).wait();
}

EINPARALLEL_VIRTUAL void device_space::copy(const box_pair& boxes) const {
    const device_guard here(settings_.device);
    copy_on(working, boxes);
}

EINPARALLEL_VIRTUAL void device_space::fill(const box& region, void* into, std::size_t element_bytes,
                                            read_function read) const {
    const device_guard here(settings_.device);
    // One slab is copied while the next is read.
    auto* at = static_cast<std::byte*>(into);
    std::size_t side = 0;
    for_each_slab(region, element_bytes, settings_.slab, [&](const box& slab) {
        const auto bytes = std::size_t(slab.size()) * element_bytes;
        std::byte* const through = read_through_[side].data();
        finish(read_done_[side]);
        read(slab, through);
        give(
            working, [&] { copy_bytes(stream_of(working), at, through, bytes); }, activity::copy_in, bytes);
        read_done_[side] = given();
        at += bytes;
        side = 1 - side;
    });
}

EINPARALLEL_VIRTUAL std::string device_space::refuses(const void* address, bool is_on_device) const {
    const device_guard here(settings_.device);
    const memory_owner found = owner_of_memory(address);
    if (is_on_device && found.kind == memory_kind::host) {
        return "a host pointer where a device pointer is expected (ep::device_view)";
    }
    if (!is_on_device && found.kind == memory_kind::device) {
        return "a device pointer where a host pointer is expected: ep::device_view refers to device memory";
    }
    if (is_on_device && found.kind == memory_kind::device && found.device != settings_.device) {
        return "memory of device " + std::to_string(found.device) + ", and the run is on device " +
               std::to_string(settings_.device);
    }
    return {};
}

EINPARALLEL_INLINE work_token device_space::mark(lane_number of) const {
    device_lane& marked = lanes_->by_number[of];
    ++marked.count;
    marked.done[marked.count % device_lane::events].record(marked.on.native());
    return marked.count * lanes_->by_number.size() + of;
}

EINPARALLEL_INLINE const event& device_space::event_of(work_token work) const {
    const device_lane& marked = lanes_->by_number[work % lanes_->by_number.size()];
    return marked.done[work / lanes_->by_number.size() % device_lane::events];
}

EINPARALLEL_VIRTUAL work_token device_space::given() const {
    const device_guard here(settings_.device);
    return mark(working);
}

EINPARALLEL_VIRTUAL work_token device_space::copy_out(const box_pair& boxes, work_token after) const {
    const device_guard here(settings_.device);
    lanes_->by_number[leaving].on.wait_for(event_of(after));
    copy_on(leaving, boxes, activity::copy_out);
    return mark(leaving);
}

EINPARALLEL_VIRTUAL work_token device_space::copy_in(const box_pair& boxes, work_token after) const {
    const device_guard here(settings_.device);
    lanes_->by_number[arriving].on.wait_for(event_of(after));
    copy_on(arriving, boxes, activity::copy_in);
    const work_token done = mark(arriving);
    lanes_->by_number[working].on.wait_for(event_of(done));
    return done;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
