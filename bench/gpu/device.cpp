// Einsums on a device, timed one at a time for gpu.py, and rings of two ranks that share it; a line of JSON for each.
//
//     device                                   commands on standard input, one rank
//     mpiexec -n 2 device SIDE,SIDE,… ROUNDS   products of matrices by m/n and by k rings
//
// Commands: `environment`; `einsum TYPE SUBSCRIPTS LABEL=EXTENT …`, which fills operands in device memory, runs once
// and compares with the host's kernel; `time WHAT REPETITIONS`, seconds of one repetition: WHAT is einsum (the kernels
// of one contraction), run (plan.run with operands as ep::device_view, its result stays on the device), gemm (cuBLAS
// alone, the same fused m, n, k and batch) or copy (as many bytes as the output has, on the device).

#include "../resting.hpp"
#include "../text.hpp"

#include <einparallel/cuda/blas_handle.hpp>
#include <einparallel/cuda/device.hpp>
#include <einparallel/cuda/memory.hpp>
#include <einparallel/cuda/stream.hpp>
#include <einparallel/device/contraction.hpp>
#include <einparallel/device/device_space.hpp>
#include <einparallel/kernel/product/contract.hpp>
#include <einparallel/plan/machine_text.hpp>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace ep = einparallel;
using ep::index;
using ep::detail::device_space;
using ep::detail::memory_block;

/// "dabfe,fc->edcba" and its extents as numbers.
struct labelled {
    ep::einsum_form form;
    std::vector<index> extents;

    labelled(const std::string& subscripts, const std::map<char, index>& sizes) {
        form.operands.emplace_back();
        std::vector<ep::label_id>* into = &form.operands.back();
        for (const char letter : subscripts) {
            if (letter == ',') {
                into = &form.operands.emplace_back();
            } else if (letter == '>') {
                into = &form.output;
            } else if (letter != '-') {
                const auto known = std::ranges::find(form.names, std::string(1, letter));
                into->push_back(static_cast<ep::label_id>(known - form.names.begin()));
                if (known == form.names.end()) {
                    form.names.emplace_back(1, letter);
                    extents.push_back(sizes.at(letter));
                }
            }
        }
    }

    [[nodiscard]] std::vector<index> of(const std::vector<ep::label_id>& labels) const {
        std::vector<index> lengths;
        for (const ep::label_id label : labels) {
            lengths.push_back(extents[static_cast<std::size_t>(label)]);
        }
        return lengths;
    }
    /// ∏ of the extents of all labels of a class.
    [[nodiscard]] index fused(ep::label_class::value_type wanted) const {
        index product = 1;
        for (std::size_t label = 0; label < extents.size(); ++label) {
            product *= form.class_of(static_cast<ep::label_id>(label)) == wanted ? extents[label] : 1;
        }
        return product;
    }
};

/// A dense tensor on the host, and the same on a device.
template <class T>
struct tensor_there {
    std::vector<index> bounds, strides;
    std::vector<T> elements;
    memory_block block;

    tensor_there(const device_space& space, std::vector<index> lengths)
        : bounds(std::move(lengths)),
          strides(ep::dense_strides(ep::whole_box(bounds))),
          elements(static_cast<std::size_t>(ep::whole_box(bounds).size())),
          block(space, elements.size() * sizeof(T)) {}

    /// As ep::bind has it: of the host, or where is_on_device.
    [[nodiscard]] std::shared_ptr<ep::vertex> input(bool is_on_device) {
        std::byte* const data = is_on_device ? block.data() : reinterpret_cast<std::byte*>(elements.data());
        return ep::detail::input_in_memory(
            {nullptr, {data, ep::whole_box(bounds), strides, ep::element_type_of<T>(), is_on_device}, nullptr, {}});
    }
    void bring_in(const device_space& space) {
        const std::array<index, 1> count{static_cast<index>(elements.size())};
        constexpr std::array<index, 1> dense{1};
        const memory_block through(space.on_host(), block.bytes());
        std::ranges::copy(elements, reinterpret_cast<T*>(through.data()));
        space.finish(space.copy_in({count, block.data(), dense, through.data(), dense, sizeof(T)}, space.given()));
    }
    /// max |there − here| / max |here|, or infinity.
    [[nodiscard]] double difference(const T* there) const {
        double worst = 0;
        double largest = 0;
        for (std::size_t at = 0; at < elements.size(); ++at) {
            const double apart = std::abs(static_cast<double>(there[at]) - static_cast<double>(elements[at]));
            worst = std::isfinite(apart) ? std::max(worst, apart) : HUGE_VAL;
            largest = std::max(largest, static_cast<double>(std::abs(elements[at])));
        }
        return largest > 0 ? worst / largest : worst;
    }
};

template <class T, std::size_t... Rank>
const T* elements_of(const ep::results& made, std::size_t rank, std::index_sequence<Rank...> /*all*/) {
    const T* found = nullptr;
    ((rank == Rank ? static_cast<void>(found = made.at<T, Rank>(0).local().data()) : static_cast<void>(0)), ...);
    return found;
}

/// What one command has made ready: figures about it, and what is timed.
struct timed_case {
    std::string line;
    std::map<std::string, std::function<double(int)>> seconds_of;
};

class einsums {
public:
    explicit einsums(ep::context& world)
        : world_(world), space_({ep::detail::device_of_rank(0, -1)}), workspace_(space_, blas_bytes) {
        gemm_.emplace(stream_.native(), workspace_.data(), blas_bytes);
    }

    std::string environment() {
        cudaDeviceProp found{};
        int current = 0, driver = 0, runtime = 0, blas = 0;
        cudaGetDevice(&current);
        cudaGetDeviceProperties(&found, current);
        cudaDriverGetVersion(&driver);
        cudaRuntimeGetVersion(&runtime);
        cublasGetVersion_v2(gemm_->native(), &blas);
        std::ostringstream measured;
        measured << world_.calibrate(ep::on_device);
        return bench::json_object({{"device", found.name}, {"calibrated", measured.str()}},
                                  {{"compute_capability", found.major + 0.1 * found.minor},
                                   {"multiprocessors", found.multiProcessorCount},
                                   {"memory_gb", static_cast<double>(found.totalGlobalMem) / 1e9},
                                   {"driver_cuda", driver / 1000 + driver % 1000 / 10 * 0.1},
                                   {"runtime_cuda", runtime / 1000 + runtime % 1000 / 10 * 0.1},
                                   {"cublas", blas}});
    }

    /// Runs an einsum, compares, and makes ready to time it.
    template <class T>
    timed_case prepare(const labelled& of) {
        const auto operands = std::make_shared<std::vector<tensor_there<T>>>();
        std::mt19937 random(7);
        for (const std::vector<ep::label_id>& labels : of.form.operands) {
            operands->emplace_back(space_, of.of(labels));
            for (T& each : operands->back().elements) {
                each = static_cast<T>(random()) / T(2147483648.0) - T(1);
            }
            operands->back().bring_in(space_);
        }
        const auto output = std::make_shared<tensor_there<T>>(space_, of.of(of.form.output));
        const std::shared_ptr<const ep::kernel> work = ep::detail::make_product_kernel<T>(T(1), operands->size());

        const auto with_call = [=](bool is_on_device, const auto& use) {
            std::vector<ep::strided_block> blocks;
            for (std::size_t operand = 0; operand < operands->size(); ++operand) {
                tensor_there<T>& each = (*operands)[operand];
                blocks.push_back({is_on_device ? static_cast<void*>(each.block.data()) : each.elements.data(),
                                  ep::element_type_of<T>(), of.form.operands[operand], each.strides});
            }
            void* const into = is_on_device ? static_cast<void*>(output->block.data()) : output->elements.data();
            use({of.extents,
                 blocks,
                 {into, ep::element_type_of<T>(), of.form.output, output->strides},
                 ep::write_mode::overwrite});
        };
        with_call(false, [&](const ep::block_call& call) { work->contract(call); });
        ep::detail::device_contraction way;
        with_call(true, [&](const ep::block_call& call) {
            if (operands->size() == 2) {
                way = ep::detail::decide_on_device(call, ep::element_type_of<T>());
            }
            space_.prepare(space_.decide(*work, call)->workspace);
            space_.contract(*work, call);
        });

        // The same as a plan, its operands adopted where they are.
        const auto node = std::make_shared<ep::vertex>();
        std::vector<ep::binding> bound;
        for (tensor_there<T>& each : *operands) {
            node->operands.push_back(ep::detail::input_vertex(each.bounds, ep::element_type_of<T>(), nullptr));
            bound.push_back({node->operands.back(), each.input(true)});
        }
        node->bounds = output->bounds;
        node->element = ep::element_type_of<T>();
        node->form = of.form;
        node->extents = of.extents;
        node->work = work;
        const ep::plan plan = ep::decompose(world_, ep::tensor<T, 0>(node));
        const auto run = [=, this](const ep::device_run& how) {
            return ep::detail::carry_out_on_device(plan, world_, how, bound);
        };
        const ep::results made = run(ep::on_device);
        const memory_block out(space_.on_host(), output->block.bytes());
        const std::array<index, 1> count{static_cast<index>(output->elements.size())}, dense{1};
        space_.finish(
            space_.copy_out({count, out.data(), dense, output->block.data(), dense, sizeof(T)}, space_.given()));
        const double difference =
            std::max(output->difference(reinterpret_cast<const T*>(out.data())),
                     output->difference(elements_of<T>(made, output->bounds.size(), std::make_index_sequence<7>())));

        const index m = of.fused(ep::label_class::m), n = of.fused(ep::label_class::n);
        const index k = of.fused(ep::label_class::k), batch = of.fused(ep::label_class::c);
        const double points = static_cast<double>(m * n) * static_cast<double>(k * batch);
        double bytes = 0;
        for (const tensor_there<T>& each : *operands) {
            bytes += static_cast<double>(each.block.bytes());
        }
        // A product as it lies: one call of cuBLAS.
        const bool is_gemm =
            way.way == ep::detail::device_way::products && way.calls() == 1 && way.transposed_bytes == 0;
        timed_case ready;
        ready.line = bench::json_object({{"way", operands->size() == 2 ? way.text() : "a copy"}},
                                        {{"m", static_cast<double>(m)},
                                         {"n", static_cast<double>(n)},
                                         {"k", static_cast<double>(k)},
                                         {"batch", static_cast<double>(batch)},
                                         {"flop", operands->size() == 1 ? 0.0 : 2 * points},
                                         {"bytes", bytes + static_cast<double>(output->block.bytes())},
                                         {"is_gemm", is_gemm ? 1.0 : 0.0},
                                         {"difference", difference}});
        ready.seconds_of["einsum"] =
            timed([=, this] { with_call(true, [&](const ep::block_call& call) { space_.contract(*work, call); }); },
                  [this] { space_.finish(space_.given()); });
        ready.seconds_of["run"] = timed([=] { static_cast<void>(run({.results_stay = true})); }, [] {});
        if (operands->size() == 2) {
            // Row-major C = A · B is column-major Cᵀ = Bᵀ · Aᵀ.
            ready.seconds_of["gemm"] = timed_here([=, this] {
                const T one = 1, none = 0;
                const auto product = [&](auto function) {
                    function(gemm_->native(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one,
                             reinterpret_cast<const T*>((*operands)[1].block.data()), n, k * n,
                             reinterpret_cast<const T*>((*operands)[0].block.data()), k, m * k, &none,
                             reinterpret_cast<T*>(output->block.data()), n, m * n, batch);
                };
                if constexpr (sizeof(T) == sizeof(float)) {
                    product(cublasSgemmStridedBatched_64);
                } else {
                    product(cublasDgemmStridedBatched_64);
                }
            });
        }
        const auto copied = std::make_shared<memory_block>(space_, output->block.bytes());
        ready.seconds_of["copy"] = timed_here([=, this] {
            ep::detail::copy_bytes(stream_.native(), copied->data(), output->block.data(), copied->bytes());
        });
        return ready;
    }

private:
    static constexpr std::size_t blas_bytes = ep::detail::blas_handle::workspace_bytes;

    /// Seconds of one of so many repetitions, begun and done.
    static std::function<double(int)> timed(std::function<void()> once, std::function<void()> finish) {
        return [=](int repetitions) {
            finish();
            const auto begin = std::chrono::steady_clock::now();
            for (int repetition = 0; repetition < repetitions; ++repetition) {
                once();
            }
            finish();
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / repetitions;
        };
    }
    std::function<double(int)> timed_here(std::function<void()> once) {
        return timed(std::move(once), [this] {
            done_.record(stream_.native());
            done_.wait();
        });
    }

    ep::context& world_;
    device_space space_;
    ep::detail::stream stream_;
    ep::detail::event done_;
    memory_block workspace_;
    std::optional<ep::detail::blas_handle> gemm_;
};

/// What a command answers.
std::string answer(einsums& all, timed_case& ready, std::istringstream words) {
    std::string what, type, subscripts;
    words >> what;
    if (what == "environment") {
        return all.environment();
    }
    if (what == "einsum") {
        words >> type >> subscripts;
        std::map<char, index> sizes;
        for (std::string size; words >> size;) {
            sizes[size.front()] = bench::whole_number(size.substr(2), 1);
        }
        ready = {};  // its memory goes before
        const labelled of(subscripts, sizes);
        ready = type == "float32" ? all.prepare<float>(of) : all.prepare<double>(of);
        return ready.line;
    }
    int repetitions = 1;
    words >> what >> repetitions;
    return bench::formatted("%.9g", ready.seconds_of.at(what)(repetitions));
}

void serve(ep::context& world) {
    einsums all(world);
    timed_case ready;
    for (std::string line; std::getline(std::cin, line);) {
        std::string answered;
        try {
            answered = answer(all, ready, std::istringstream(line));
        } catch (const std::exception& failure) {
            answered = bench::json_object({}, {}, failure.what());
        }
        std::cout << answered << std::endl;
    }
}

/// A product of square matrices by a ring: seconds, what the trace says of transfers, and whether the host agrees.
void ring(ep::context& world, const device_space& space, index side, ep::algorithm algorithm, int rounds) {
    const ep::tensor<double, 2> first = ep::placeholder<double>({side, side}),
                                second = ep::placeholder<double>({side, side});
    const ep::tensor<double, 2> product = ep::einsum<"ij,jk->ik">(first, second);
    const ep::plan plan = ep::decompose(world, {.objective = ep::objective::bytes, .algorithm = algorithm}, product);
    const auto element = [](index number) { return static_cast<double>(number % 1021) / 1024 - 0.5; };
    const bench::resting_input<double, 2> left(world, plan, first, world.rank(), element);
    const bench::resting_input<double, 2> right(world, plan, second, world.rank(), element);
    std::vector<tensor_there<double>> there;
    std::vector<ep::distributed<double, 2>> parts;
    for (const bench::resting_input<double, 2>* each : {&left, &right}) {
        const std::array<index, 2> extents{each->elements.extent(0), each->elements.extent(1)};
        tensor_there<double>& made = there.emplace_back(space, std::vector<index>(extents.begin(), extents.end()));
        made.elements.assign(each->elements.data(), each->elements.data() + each->elements.size());
        made.bring_in(space);
        const auto& held = each->part.held();
        parts.push_back(
            ep::device_view<double, 2>(reinterpret_cast<double*>(made.block.data()), {extents[0], extents[1]})
                .distributed_over(world, {side, side}, {held.sides[0].begin, held.sides[1].begin}));
    }
    ep::trace seen;
    bench::samples taken;
    std::vector<std::pair<double, std::string>> summaries;
    double difference = 0;
    for (int round = 0; round <= rounds; ++round) {
        const ep::results made = plan.run(world, ep::device_run{.results_stay = round > 0}, seen,
                                          ep::bind(first, parts[0]), ep::bind(second, parts[1]));
        double end = 0;
        for (const ep::trace_span& each : seen.spans()) {
            end = std::max(end, each.end);
        }
        if (round > 0) {
            taken.seconds.push_back(end);
            summaries.emplace_back(end, seen.summary());
            continue;
        }
        const ep::distributed<double, 2> here =
            plan.run(world, ep::bind(first, left.part), ep::bind(second, right.part));
        const ep::distributed<double, 2> got = made.at<double, 2>(0);
        double largest = 0;
        for (index at = 0; at < here.local().size(); ++at) {
            const double apart = std::abs(got.local().data()[at] - here.local().data()[at]);
            difference = std::isfinite(apart) ? std::max(difference, apart) : HUGE_VAL;
            largest = std::max(largest, std::abs(here.local().data()[at]));
        }
        difference /= largest;
        MPI_Allreduce(MPI_IN_PLACE, &difference, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    if (world.rank() == 0) {
        std::ranges::sort(summaries);
        const std::string& shown = summaries[summaries.size() / 2].second;
        std::cout << bench::json_object({{"ring", algorithm == ep::algorithm::k ? "k" : "m/n"},
                                         {"summary", shown.substr(0, shown.find('\n'))}},
                                        {{"side", static_cast<double>(side)},
                                         {"seconds", taken.median()},
                                         {"bytes", static_cast<double>(plan.bytes_sent())},
                                         {"difference", difference}})
                  << std::endl;
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 0;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    try {
        ep::context world(MPI_COMM_WORLD);
        if (argc < 3) {
            serve(world);
        } else {
            const device_space space({ep::detail::device_of_rank(rank, -1)});
            for (const std::string& side : bench::separated(argv[1])) {
                for (const ep::algorithm algorithm : {ep::algorithm::mn, ep::algorithm::k}) {
                    ring(world, space, bench::whole_number(side, 1), algorithm, bench::whole_number(argv[2], 1));
                }
            }
        }
    } catch (const ep::error& failure) {
        std::cout << bench::json_object({}, {}, failure.what()) << std::endl;
        status = std::string(failure.what()).find("device here") == std::string::npos &&
                         std::string(failure.what()).find("the driver of the device") == std::string::npos
                     ? 1
                     : 0;
    }
    MPI_Finalize();
    return status;
}
