#include "standin.hpp"

#include <einparallel/notation/element_type.hpp>

#include <cublas_v2.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <utility>

namespace {

struct operation {
    std::function<void()> work;
    CUevent_st* event = nullptr;  ///< recorded, or waited for
    std::uint64_t time = 0;       ///< which record of it
    bool waits = false;
};

struct allocation {
    std::size_t bytes = 0;
    cudaMemoryType type = cudaMemoryTypeDevice;
    int device = 0;
};

}  // namespace

struct CUstream_st {
    std::deque<operation> queue;
    bool is_captured = false;
};

struct CUevent_st {
    std::vector<CUstream_st*> recorded_in;  ///< by record
    std::uint64_t done = 0;                 ///< records that are
    std::uint64_t time = 0;                 ///< pieces of work that were done before
};

struct cublasContext {
    cudaStream_t stream = nullptr;
    void* workspace = nullptr;
};

namespace {

struct failing_call {
    std::string function;
    int number = 0;
    cudaError_t code = cudaSuccess;
    bool sticks = false;
};

struct state {
    standin::machine is;
    std::mt19937 random;
    std::vector<std::unique_ptr<CUstream_st>> streams;
    std::vector<std::unique_ptr<CUstream_st>> destroyed;  ///< their work goes on
    std::vector<std::unique_ptr<CUstream_st>> ended;      ///< events refer to them
    std::vector<std::unique_ptr<CUevent_st>> destroyed_events;
    std::vector<void*> freed;  ///< what work that is under way may still touch
    std::map<const std::byte*, allocation> memory;
    std::size_t allocated = 0;
    std::size_t pinned = 0;
    std::size_t crossed = 0;
    std::size_t allocations = 0;
    std::size_t switches = 0;
    std::size_t timed = 0;
    std::size_t handles = 0;
    std::uint64_t time = 0;
    cudaError_t last = cudaSuccess;
    cudaError_t stuck = cudaSuccess;
    cudaError_t noted = cudaSuccess;
    std::vector<failing_call> failing;
    std::map<std::uint64_t, std::string> places;  ///< names
    std::uint64_t dropped = 0;
};

thread_local int current_device = 0;

state& now() {
    static state kept;
    return kept;
}

/// The thread of pages calls, too. Work that runs within a call may make calls.
std::recursive_mutex& calls() {
    static std::recursive_mutex one;
    return one;
}

standin::order order_now() {
    return static_cast<standin::order>(now().is.seed % 3);
}

std::size_t choose(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(now().random);
}

/// The next operation of a stream, where it does not wait for another's.
bool run_one(CUstream_st& of) {
    if (of.queue.empty() || (of.queue.front().waits && of.queue.front().event->done < of.queue.front().time)) {
        return false;
    }
    const operation next = std::move(of.queue.front());
    of.queue.pop_front();
    if (next.work) {
        next.work();
        ++now().time;
    }
    if (next.event != nullptr && !next.waits) {
        next.event->time = now().time;
        next.event->done = std::max(next.event->done, next.time);
    }
    return true;
}

/// Some work runs, as the order says.
void stir() {
    std::vector<std::unique_ptr<CUstream_st>>& streams = now().streams;
    if (streams.empty() || order_now() == standin::order::latest) {
        return;
    }
    if (order_now() == standin::order::random) {
        for (std::size_t times = choose(4); times > 0; --times) {
            run_one(*streams[choose(streams.size())]);
        }
        return;
    }
    CUstream_st& preferred = *streams[now().is.seed / 3 % streams.size()];
    while (run_one(preferred)) {
    }
}

/// Runs a stream until `is_done`, and of others what it waits for.
void run_until(CUstream_st& of, const std::function<bool()>& is_done) {
    while (!is_done()) {
        if (order_now() == standin::order::random) {
            run_one(*now().streams[choose(now().streams.size())]);
        }
        if (is_done() || run_one(of)) {
            continue;
        }
        if (of.queue.empty()) {
            std::fputs("stand-in: somebody waits for work that nobody has given\n", stderr);
            std::abort();
        }
        CUevent_st& other = *of.queue.front().event;
        const std::uint64_t time = of.queue.front().time;
        run_until(*other.recorded_in[time - 1], [&] { return other.done >= time; });
    }
}

void run_all() {
    for (const auto* const streams : {&now().streams, &now().destroyed}) {
        for (const std::unique_ptr<CUstream_st>& each : *streams) {
            run_until(*each, [&] { return each->queue.empty(); });
        }
    }
    std::move(now().destroyed.begin(), now().destroyed.end(), std::back_inserter(now().ended));
    now().destroyed.clear();
    now().destroyed_events.clear();
    for (void* const each : std::exchange(now().freed, {})) {
        std::free(each);
    }
}

/// What a call returns before it does anything.
cudaError_t begin(const char* function) {
    state& all = now();
    stir();
    if (all.stuck != cudaSuccess) {
        return all.last = all.stuck;
    }
    if (all.noted != cudaSuccess) {
        return all.last = std::exchange(all.noted, cudaSuccess);
    }
    for (auto each = all.failing.begin(); each != all.failing.end(); ++each) {
        if (each->function == function && --each->number == 0) {
            const failing_call failed = *each;
            all.failing.erase(each);
            all.stuck = failed.sticks ? failed.code : cudaSuccess;
            return all.last = failed.code;
        }
    }
    return cudaSuccess;
}

cublasStatus_t begin_blas(const char* function) {
    return begin(function) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

std::string plain_name(const char* symbol) {
    int status = 0;
    char* const plain = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    std::string name = plain == nullptr ? symbol : plain;
    std::free(plain);
    name.erase(std::min(name.find('('), name.size()));
    return name.substr(name.rfind(':') == std::string::npos ? 0 : name.rfind(':') + 1);
}

/// A place that a call comes from.
struct caller {
    std::uint64_t offset = 0;  ///< in the file that was loaded
    std::string name;          ///< empty for a lambda, and for what is hidden
    /// Who brings in and out depends on when messages arrive; who copies to the host is the test.
    bool is_last = false;
};

/// Looked up once: the search goes through all symbols of the file.
const caller& caller_at(void* frame) {
    static std::map<void*, caller> known;
    const auto [found, is_new] = known.try_emplace(frame);
    if (is_new) {
        Dl_info of{};
        dladdr(frame, &of);
        const std::string symbol = of.dli_sname == nullptr ? "" : of.dli_sname;
        constexpr std::array last{"9carry_out", "7copy_in", "8copy_out", "7on_host"};
        found->second = {static_cast<std::uint64_t>(static_cast<const std::byte*>(frame) -
                                                    static_cast<const std::byte*>(of.dli_fbase)),
                         plain_name(symbol.c_str()), std::any_of(last.begin(), last.end(), [&](const char* each) {
                             return symbol.find(each) != std::string::npos;
                         })};
    }
    return found->second;
}

/// True where the caller's place is the one that does nothing.
[[gnu::noinline]] bool is_dropped() {
    std::array<void*, 16> frames{};
    const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
    std::string name;
    std::uint64_t number = 0xcbf29ce484222325U;
    for (std::size_t frame = 2; frame < static_cast<std::size_t>(depth); ++frame) {
        const caller& from = caller_at(frames[frame]);
        number = (number ^ from.offset) * 0x100000001b3U;
        name += (name.empty() || from.name.empty() ? "" : " < ") + from.name;
        if (from.is_last) {
            break;
        }
    }
    now().places[number] = name;
    return number == now().dropped;
}

const std::pair<const std::byte* const, allocation>* find(const void* address) {
    const auto* const byte = static_cast<const std::byte*>(address);
    const auto above = now().memory.upper_bound(byte);
    if (above == now().memory.begin()) {
        return nullptr;
    }
    const auto& below = *std::prev(above);
    return byte < below.first + below.second.bytes ? &below : nullptr;
}

bool is_known(const void* address, std::size_t bytes) {
    const auto* const found = find(address);
    return found != nullptr && static_cast<const std::byte*>(address) + bytes <= found->first + found->second.bytes;
}

/// Bytes that are no numbers, so that whoever reads what nobody wrote is found out. What is larger than any test's
/// tensors is cuBLAS' workspace, of which only the beginning is filled: filling all of it took most of the time.
void spoil(void* memory, std::size_t bytes) {
    std::memset(memory, 0xff, std::min(bytes, std::size_t{4} << 20));
}

cudaError_t allocate(void** into, std::size_t bytes, cudaMemoryType type) {
    constexpr std::size_t line = 256;
    auto* const made = static_cast<std::byte*>(std::aligned_alloc(line, (bytes + line - 1) / line * line));
    spoil(made, bytes);
    now().memory[made] = {bytes, type, current_device};
    (type == cudaMemoryTypeDevice ? now().allocated : now().pinned) += bytes;
    *into = made;
    return cudaSuccess;
}

cudaError_t deallocate(void* memory) {
    if (memory == nullptr) {
        return cudaSuccess;
    }
    const auto found = now().memory.find(static_cast<const std::byte*>(memory));
    if (found == now().memory.end()) {
        return now().last = cudaErrorInvalidValue;
    }
    (found->second.type == cudaMemoryTypeDevice ? now().allocated : now().pinned) -= found->second.bytes;
    spoil(memory, found->second.bytes);
    now().freed.push_back(memory);
    now().memory.erase(found);
    return cudaSuccess;
}

}  // namespace

namespace standin {

void finish_all() {
    const std::lock_guard one(calls());
    run_all();
}

void restart(const machine& is) {
    const std::lock_guard one(calls());
    run_all();
    state& all = now();
    all.is = is;
    all.random.seed(is.seed);
    current_device = 0;
    all.last = all.stuck = all.noted = cudaSuccess;
    all.failing.clear();
    all.allocations = all.switches = all.crossed = all.timed = 0;
    drop_nothing();
}

cudaError_t launch(cudaStream_t on, std::function<void()> work) {
    const std::lock_guard one(calls());
    const cudaError_t code = begin("launch");
    if (code == cudaSuccess) {
        on->queue.push_back({std::move(work)});
        stir();
    }
    return code;
}

void expect_device(const void* address) {
    const std::lock_guard one(calls());
    if (find(address) == nullptr) {
        now().noted = cudaErrorIllegalAddress;
    }
}

void fail(const std::string& function, int number, cudaError_t code, bool sticks) {
    const std::lock_guard one(calls());
    now().failing.push_back({function, number, code, sticks});
}

bool has_failed() {
    const std::lock_guard one(calls());
    return now().failing.empty();
}

void capture(cudaStream_t of, bool is) {
    const std::lock_guard one(calls());
    of->is_captured = is;
}

std::vector<std::uint64_t> sites() {
    const std::lock_guard one(calls());
    std::vector<std::uint64_t> all;
    for (const auto& [number, of] : now().places) {
        all.push_back(number);
    }
    return all;
}

void forget_sites() {
    const std::lock_guard one(calls());
    now().places.clear();
}

std::string name_of_site(std::uint64_t site) {
    const std::lock_guard one(calls());
    return now().places[site];
}

void drop(std::uint64_t site) {
    const std::lock_guard one(calls());
    now().dropped = site;
}

void drop_nothing() {
    const std::lock_guard one(calls());
    now().dropped = 0;
}

std::size_t allocated() {
    const std::lock_guard one(calls());
    return now().allocated;
}

std::size_t pinned() {
    const std::lock_guard one(calls());
    return now().pinned;
}

std::size_t handles() {
    const std::lock_guard one(calls());
    return now().handles;
}

std::size_t crossed() {
    const std::lock_guard one(calls());
    return now().crossed;
}

std::size_t allocations() {
    const std::lock_guard one(calls());
    return now().allocations;
}

std::size_t timed_events() {
    const std::lock_guard one(calls());
    return now().timed;
}

std::size_t switches() {
    const std::lock_guard one(calls());
    return now().switches;
}

}  // namespace standin

extern "C" {

// Units that nvcc compiles register their kernels.
void** __cudaRegisterFatBinary(void* /*binary*/) {
    const std::lock_guard one(calls());
    static void* none = nullptr;
    return &none;
}
void __cudaRegisterFatBinaryEnd(void** /*binary*/) {}
void __cudaUnregisterFatBinary(void** /*binary*/) {}

cudaError_t cudaGetDeviceCount(int* count) {
    const std::lock_guard one(calls());
    *count = now().is.code == cudaSuccess ? now().is.devices : 0;
    return now().is.code;
}

cudaError_t cudaDriverGetVersion(int* version) {
    const std::lock_guard one(calls());
    *version = 12040;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    const std::lock_guard one(calls());
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* found, int /*device*/) {
    const std::lock_guard one(calls());
    *found = {};
    std::strcpy(found->name, "stand-in");
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
    const std::lock_guard one(calls());
    *device = current_device;
    return begin("cudaGetDevice");
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int /*device*/) {
    const std::lock_guard one(calls());
    *value = attribute == cudaDevAttrComputeCapabilityMajor ? 7 : 5;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    const std::lock_guard one(calls());
    if (device < 0 || device >= now().is.devices) {
        return now().last = cudaErrorInvalidDevice;
    }
    const cudaError_t code = begin("cudaSetDevice");
    current_device = code == cudaSuccess ? device : current_device;
    ++now().switches;
    return code;
}

cudaError_t cudaGetLastError(void) {
    const std::lock_guard one(calls());
    return std::exchange(now().last, now().stuck);
}

const char* cudaGetErrorString(cudaError_t code) {
    const std::lock_guard one(calls());
    switch (code) {
        case cudaSuccess:
            return "no error";
        case cudaErrorMemoryAllocation:
            return "out of memory";
        case cudaErrorIllegalAddress:
            return "an illegal memory access was encountered";
        case cudaErrorNotReady:
            return "device not ready";
        default:
            return "some other error";
    }
}

cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* all) {
    const std::lock_guard one(calls());
    *left = now().is.bytes - now().allocated;
    *all = now().is.bytes;
    return begin("cudaMemGetInfo");
}

cudaError_t cudaMalloc(void** into, std::size_t bytes) {
    const std::lock_guard one(calls());
    if (const cudaError_t code = begin("cudaMalloc"); code != cudaSuccess) {
        return code;
    }
    if (now().allocated + bytes > now().is.bytes) {
        return now().last = cudaErrorMemoryAllocation;
    }
    ++now().allocations;
    return allocate(into, bytes, cudaMemoryTypeDevice);
}

cudaError_t cudaFree(void* memory) {
    const std::lock_guard one(calls());
    return deallocate(memory);
}

cudaError_t cudaHostAlloc(void** into, std::size_t bytes, unsigned /*flags*/) {
    const std::lock_guard one(calls());
    const cudaError_t code = begin("cudaHostAlloc");
    return code != cudaSuccess ? code : allocate(into, bytes, cudaMemoryTypeHost);
}

cudaError_t cudaFreeHost(void* memory) {
    const std::lock_guard one(calls());
    return deallocate(memory);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* found, const void* address) {
    const std::lock_guard one(calls());
    const auto* const known = find(address);
    *found = {};
    found->type = known == nullptr ? cudaMemoryTypeUnregistered : known->second.type;
    found->device = known == nullptr ? -1 : known->second.device;
    return begin("cudaPointerGetAttributes");
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* made, unsigned /*flags*/) {
    const std::lock_guard one(calls());
    const cudaError_t code = begin("cudaStreamCreateWithFlags");
    if (code == cudaSuccess) {
        *made = now().streams.emplace_back(std::make_unique<CUstream_st>()).get();
        ++now().handles;
    }
    return code;
}

cudaError_t cudaStreamDestroy(cudaStream_t of) {
    const std::lock_guard one(calls());
    std::vector<std::unique_ptr<CUstream_st>>& streams = now().streams;
    const auto found = std::find_if(streams.begin(), streams.end(), [&](const auto& each) { return each.get() == of; });
    now().destroyed.push_back(std::move(*found));
    --now().handles;
    streams.erase(found);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t of) {
    const std::lock_guard one(calls());
    const cudaError_t code = begin("cudaStreamSynchronize");
    if (!is_dropped()) {
        run_until(*of, [&] { return of->queue.empty(); });
    }
    return code;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t on, cudaEvent_t event, unsigned /*flags*/) {
    const std::lock_guard one(calls());
    const cudaError_t code = begin("cudaStreamWaitEvent");
    if (code == cudaSuccess && !is_dropped() && !event->recorded_in.empty()) {
        on->queue.push_back({nullptr, event, event->recorded_in.size(), true});
    }
    return code;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t of, cudaStreamCaptureStatus* status) {
    const std::lock_guard one(calls());
    *status = of->is_captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return begin("cudaStreamIsCapturing");
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    const std::lock_guard one(calls());
    const cudaError_t code = begin("cudaEventElapsedTime");
    if (from->done < from->recorded_in.size() || to->done < to->recorded_in.size()) {
        return now().last = cudaErrorNotReady;
    }
    if (from->recorded_in.empty() || to->recorded_in.empty()) {
        return now().last = cudaErrorInvalidResourceHandle;
    }
    *milliseconds = 1e-3F * static_cast<float>(to->time - from->time);
    return code;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* made, unsigned flags) {
    const std::lock_guard one(calls());
    const cudaError_t code = begin("cudaEventCreateWithFlags");
    now().timed += flags == cudaEventDisableTiming ? 0 : 1;
    if (code == cudaSuccess) {
        *made = new CUevent_st;
        ++now().handles;
    }
    return code;
}

cudaError_t cudaEventDestroy(cudaEvent_t of) {
    const std::lock_guard one(calls());
    now().destroyed_events.emplace_back(of);
    --now().handles;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t on) {
    const std::lock_guard one(calls());
    const cudaError_t code = begin("cudaEventRecord");
    if (code == cudaSuccess && !is_dropped()) {
        event->recorded_in.push_back(on);
        on->queue.push_back({nullptr, event, event->recorded_in.size(), false});
    }
    return code;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    const std::lock_guard one(calls());
    const cudaError_t code = begin("cudaEventQuery");
    if (code != cudaSuccess || is_dropped() || event->done >= event->recorded_in.size()) {
        return code;
    }
    return now().last = cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    const std::lock_guard one(calls());
    const cudaError_t code = begin("cudaEventSynchronize");
    if (code == cudaSuccess && !is_dropped() && !event->recorded_in.empty()) {
        const std::uint64_t time = event->recorded_in.size();
        run_until(*event->recorded_in.back(), [&] { return event->done >= time; });
    }
    return code;
}

cudaError_t cudaMemcpyAsync(void* into, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/, cudaStream_t on) {
    const std::lock_guard one(calls());
    if (const cudaError_t code = begin("cudaMemcpyAsync"); code != cudaSuccess) {
        return code;
    }
    if (!is_known(into, bytes) || !is_known(from, bytes)) {
        return now().last = cudaErrorInvalidValue;
    }
    now().crossed += find(into)->second.type != find(from)->second.type ? bytes : 0;
    on->queue.push_back({[=] {
        if (!is_known(into, bytes) || !is_known(from, bytes)) {
            if (now().dropped != 0) {
                return;  // its wait is left out: what comes of that is wrong
            }
            std::fputs("stand-in: memory was freed before its copy\n", stderr);
            std::abort();
        }
        std::memcpy(into, from, bytes);
    }});
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t on, cudaHostFn_t function, void* data) {
    const std::lock_guard one(calls());
    if (const cudaError_t code = begin("cudaLaunchHostFunc"); code != cudaSuccess) {
        return code;
    }
    on->queue.push_back({[=] { function(data); }});
    return cudaSuccess;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t* made) {
    const std::lock_guard one(calls());
    const cublasStatus_t status = begin_blas("cublasCreate");
    if (status == CUBLAS_STATUS_SUCCESS) {
        *made = new cublasContext;
        ++now().handles;
    }
    return status;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t /*of*/, int* version) {
    const std::lock_guard one(calls());
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t of) {
    const std::lock_guard one(calls());
    now().handles -= of == nullptr ? 0 : 1;
    delete of;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t of, cudaStream_t on) {
    const std::lock_guard one(calls());
    of->stream = on;
    of->workspace = nullptr;
    return begin_blas("cublasSetStream");
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t of, void* workspace, std::size_t bytes) {
    const std::lock_guard one(calls());
    of->workspace = workspace;
    return is_known(workspace, bytes) ? begin_blas("cublasSetWorkspace") : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t /*of*/, cublasPointerMode_t mode) {
    const std::lock_guard one(calls());
    return mode == CUBLAS_POINTER_MODE_HOST ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t /*of*/, cublasMath_t /*mode*/) {
    const std::lock_guard one(calls());
    return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusString(cublasStatus_t code) {
    const std::lock_guard one(calls());
    return code == CUBLAS_STATUS_EXECUTION_FAILED ? "CUBLAS_STATUS_EXECUTION_FAILED" : "another status of cuBLAS";
}

}  // extern "C"

namespace {

template <class T>
T conjugated(T value) {
    return value;
}
template <class R>
std::complex<R> conjugated(std::complex<R> value) {
    return std::conj(value);
}

/// Products of A and B, of type In, summed as T.
template <class T, class In = T, class Cuda, class CudaIn>
cublasStatus_t multiply(cublasHandle_t handle, cublasOperation_t how_a, cublasOperation_t how_b, std::int64_t m,
                        std::int64_t n, std::int64_t k, const Cuda* alpha, const CudaIn* a, std::int64_t lda,
                        std::int64_t step_a, const CudaIn* b, std::int64_t ldb, std::int64_t step_b, const Cuda* beta,
                        Cuda* c, std::int64_t ldc, std::int64_t step_c, std::int64_t batch) {
    const std::lock_guard one(calls());
    if (handle->workspace == nullptr || lda < (how_a == CUBLAS_OP_N ? m : k) || ldb < (how_b == CUBLAS_OP_N ? k : n) ||
        ldc < m || m < 0 || n < 0 || k < 0 || batch < 0) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (const cublasStatus_t status = begin_blas("gemm"); status != CUBLAS_STATUS_SUCCESS) {
        return status;
    }
    standin::expect_device(a);
    standin::expect_device(b);
    standin::expect_device(c);
    const T scale = *reinterpret_cast<const T*>(alpha);
    const T keep = *reinterpret_cast<const T*>(beta);
    const cudaError_t code = standin::launch(
        handle->stream,
        [=, x = reinterpret_cast<const In*>(a), y = reinterpret_cast<const In*>(b), z = reinterpret_cast<T*>(c)] {
            for (std::int64_t part = 0; part < batch; ++part) {
                for (std::int64_t column = 0; column < n; ++column) {
                    for (std::int64_t row = 0; row < m; ++row) {
                        T sum{};
                        for (std::int64_t at = 0; at < k; ++at) {
                            const auto left =
                                T(x[part * step_a + (how_a == CUBLAS_OP_N ? row + at * lda : at + row * lda)]);
                            const auto right =
                                T(y[part * step_b + (how_b == CUBLAS_OP_N ? at + column * ldb : column + at * ldb)]);
                            sum += (how_a == CUBLAS_OP_C ? conjugated(left) : left) *
                                   (how_b == CUBLAS_OP_C ? conjugated(right) : right);
                        }
                        T& into = z[part * step_c + row + column * ldc];
                        into = keep == T{} ? scale * sum : scale * sum + keep * into;
                    }
                }
            }
        });
    return code == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

#define EINPARALLEL_STANDIN_GEMM(letter, T, Cuda)                                                                      \
    extern "C" cublasStatus_t cublas##letter##gemmStridedBatched_64(                                                   \
        cublasHandle_t handle, cublasOperation_t how_a, cublasOperation_t how_b, int64_t m, int64_t n, int64_t k,      \
        const Cuda* alpha, const Cuda* a, int64_t lda, long long step_a, const Cuda* b, int64_t ldb, long long step_b, \
        const Cuda* beta, Cuda* c, int64_t ldc, long long step_c, int64_t batch) {                                     \
        return multiply<T>(handle, how_a, how_b, m, n, k, alpha, a, lda, step_a, b, ldb, step_b, beta, c, ldc, step_c, \
                           batch);                                                                                     \
    }
EINPARALLEL_STANDIN_GEMM(S, float, float)
EINPARALLEL_STANDIN_GEMM(D, double, double)
EINPARALLEL_STANDIN_GEMM(C, std::complex<float>, cuComplex)
EINPARALLEL_STANDIN_GEMM(Z, std::complex<double>, cuDoubleComplex)

/// Of two halves of one type, summed in float: what is asked for nowhere else is refused.
extern "C" cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t how_a, cublasOperation_t how_b, int64_t m, int64_t n, int64_t k,
    const void* alpha, const void* a, cudaDataType type_a, int64_t lda, long long step_a, const void* b,
    cudaDataType type_b, int64_t ldb, long long step_b, const void* beta, void* c, cudaDataType type_c, int64_t ldc,
    long long step_c, int64_t batch, cublasComputeType_t in, cublasGemmAlgo_t /*algorithm*/) {
    if (type_a != type_b || type_c != CUDA_R_32F || in != CUBLAS_COMPUTE_32F ||
        (type_a != CUDA_R_16F && type_a != CUDA_R_16BF)) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    const auto as = [&]<class Half>(Half /*type*/) {
        return multiply<float, Half>(handle, how_a, how_b, m, n, k, static_cast<const float*>(alpha),
                                     static_cast<const Half*>(a), lda, step_a, static_cast<const Half*>(b), ldb, step_b,
                                     static_cast<const float*>(beta), static_cast<float*>(c), ldc, step_c, batch);
    };
    return type_a == CUDA_R_16F ? as(einparallel::float16()) : as(einparallel::bfloat16());
}
