// What a later run of a plan costs beyond its kernels and messages, and where that goes.
//
//     mpiexec -n 2 replay [--rounds <n>] [--only <part of a case's name>]
//
// Microseconds of a run, the slowest rank's, medians of the rounds' best bursts of some 2 ms, which take turns (on a
// machine that others use, the mean says what they do): of the whole run, of its kernel calls and messages
// alone (the kernels on dense blocks of the same shapes, plain MPI_Irecv and MPI_Isend of as many bytes), and of the
// run less those. Then the first run of a plan, which prepares it. Then, of runs with a trace, rank 0's parts: binding
// (the sources found, memory placed), agreement, kernels, copies and reads, waiting for messages, what is between those
// (steps), and the result, in which is the exchange of the trace. Then what deciding how to contract takes, were it
// done once for each call, and how often a later run does it, where the library counts that.

#include "resting.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace {

namespace ep = einparallel;
using ep::index;
EINPARALLEL_LABELS(i, j, k);

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

/// The steps of a rank's program on memory of its own, without the library's executor.
class plain_steps {
public:
    explicit plain_steps(const ep::plan& plan, int rank) {
        const ep::program program = plan.program_of(rank);
        for (const ep::step& each : program.steps) {
            steps_.emplace_back();
            const auto bytes = [&](const ep::message& of) {
                return static_cast<std::size_t>(of.region.size()) * program[of.buffer].element_bytes;
            };
            for (const ep::message& of : each.receives) {
                steps_.back().messages.push_back({of.peer, false, std::vector<std::byte>(bytes(of))});
            }
            for (const ep::message& of : each.sends) {
                steps_.back().messages.push_back({of.peer, true, std::vector<std::byte>(bytes(of))});
            }
            for (const ep::action& done : each.work) {
                if (const auto* const call = std::get_if<ep::contraction>(&done)) {
                    add(plan.vertices()[call->vertex], *call);
                }
            }
        }
    }

    void run() {
        for (one& each : steps_) {
            requests_.clear();
            for (message& of : each.messages) {
                MPI_Request& request = requests_.emplace_back();
                const int count = static_cast<int>(of.elements.size());
                of.is_sent ? MPI_Isend(of.elements.data(), count, MPI_BYTE, of.peer, 0, MPI_COMM_WORLD, &request)
                           : MPI_Irecv(of.elements.data(), count, MPI_BYTE, of.peer, 0, MPI_COMM_WORLD, &request);
            }
            for (const std::unique_ptr<kernel_call>& call : each.calls) {
                call->work->contract(call->described);
            }
            MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        }
    }

    /// How products are computed, once for each call.
    void decide() const {
        for (const one& each : steps_) {
            for (const std::unique_ptr<kernel_call>& call : each.calls) {
                if (call->work->is_contraction()) {
                    ways_ += static_cast<int>(ep::decide(call->described, call->work->element()).way);
                }
            }
        }
    }

    [[nodiscard]] std::string text() const {
        std::size_t calls = 0;
        std::size_t messages = 0;
        for (const one& each : steps_) {
            calls += each.calls.size();
            messages += each.messages.size();
        }
        return std::to_string(steps_.size()) + " steps, " + std::to_string(calls) + " calls, " +
               std::to_string(messages) + " messages";
    }

private:
    struct message {
        int peer;
        bool is_sent;
        std::vector<std::byte> elements;
    };
    struct kernel_call {
        const ep::kernel* work = nullptr;
        ep::einsum_form form;
        std::vector<index> extents;
        std::vector<std::vector<index>> strides;
        std::vector<std::vector<double>> memory;
        std::vector<ep::strided_block> operands;
        ep::block_call described;
    };
    struct one {
        std::vector<message> messages;
        std::vector<std::unique_ptr<kernel_call>> calls;
    };

    void add(const ep::planned_vertex& of, const ep::contraction& call) {
        auto made = std::make_unique<kernel_call>();
        made->work = of.origin->work.get();
        made->form = of.work.form;
        for (const ep::interval& range : call.ranges) {
            made->extents.push_back(range.size());
        }
        const auto block = [&](const std::vector<ep::label_id>& labels, ep::element_type type) {
            index size = 1;
            std::vector<index>& steps = made->strides.emplace_back(labels.size());
            for (std::size_t dimension = labels.size(); dimension-- > 0;) {
                steps[dimension] = size;
                size *= labels[dimension] < 0 ? 1 : made->extents[static_cast<std::size_t>(labels[dimension])];
            }
            made->memory.emplace_back(static_cast<std::size_t>(size) * type.bytes / sizeof(double) + 1, 1.0);
            return ep::strided_block(made->memory.back().data(), type, labels, steps);
        };
        made->strides.reserve(made->form.operands.size() + 1);
        for (std::size_t operand = 0; operand < made->form.operands.size(); ++operand) {
            made->operands.push_back(block(made->form.operands[operand], made->work->operand_type(operand)));
        }
        const ep::strided_block output = block(made->form.output, made->work->element());
        made->described = {made->extents, made->operands, output, call.mode};
        steps_.back().calls.push_back(std::move(made));
    }

    std::vector<one> steps_;
    std::vector<MPI_Request> requests_;
    mutable int ways_ = 0;
};

/// Rank 0's seconds of one run, by what they were spent on.
struct breakdown {
    static constexpr const char* names[] = {"binding", "agreement", "kernels", "copies", "waiting", "steps", "result"};
    double parts[7] = {};

    breakdown() = default;
    breakdown(double begin, double end, const ep::trace& seen) {
        const double zero = MPI_Wtime() - seen.now();
        double first = 0;
        double last = 0;
        for (const ep::trace_span& span : seen.spans()) {
            if (span.rank != 0) {
                continue;
            }
            const double seconds = span.end - span.begin;
            first = std::min(first, span.begin);
            last = std::max(last, span.end);
            switch (span.what) {
                case ep::activity::agree:
                    parts[1] += seconds;
                    break;
                case ep::activity::contract:
                    parts[2] += seconds;
                    break;
                case ep::activity::combine:
                case ep::activity::copy:
                case ep::activity::read:
                    parts[3] += seconds;
                    break;
                case ep::activity::wait:
                    parts[4] += seconds;
                    break;
                default:
                    break;
            }
        }
        parts[0] = zero + first - begin;
        parts[5] = last - first - parts[1] - parts[2] - parts[3] - parts[4];
        parts[6] = end - zero - last;
    }
};

struct example {
    std::string name;
    ep::plan plan;
    std::function<void(ep::trace*)> run;
    std::shared_ptr<void> keeps{};
};

using matrix = ep::tensor<double, 2>;

example bound(ep::context& world, std::string name, ep::plan plan, std::vector<matrix> inputs) {
    const int rank = world.state()->payload.rank();
    auto rests = std::make_shared<std::vector<std::shared_ptr<bench::resting_input<double, 2>>>>();
    std::vector<ep::binding> values;
    for (const matrix& input : inputs) {
        rests->push_back(std::make_shared<bench::resting_input<double, 2>>(
            world, plan, input, rank, [](index number) { return static_cast<double>(number % 3) / 64; }));
        values.push_back(ep::bind(input, rests->back()->part));
    }
    const auto run = [&world, plan, values, inputs](ep::trace* seen) {
        static_cast<void>(seen == nullptr ? ep::detail::carry_out(plan, world, values)
                                          : ep::detail::carry_out(plan, world, values, ep::detail::the_host, seen));
    };
    return {std::move(name), plan, run, rests};
}

example product(ep::context& world, ep::extent side) {
    const matrix A = ep::placeholder<double>({side, side});
    const matrix B = ep::placeholder<double>({side, side});
    matrix C;
    C(i, k) = A(i, j) * B(j, k);
    ep::options asked;
    asked.algorithm = ep::algorithm::mn;
    const std::string sides = std::to_string(static_cast<index>(side));
    return bound(world, sides + " x " + sides + ", mn", ep::decompose(world, asked, C), {A, B});
}

/// Products and joins in turns.
example chain(ep::context& world, int vertices) {
    const ep::extent side = 16;
    const matrix A = ep::placeholder<double>({side, side});
    const matrix B = ep::placeholder<double>({side, side});
    matrix last = A;
    for (int number = 0; number < vertices; number += 2) {
        matrix product;
        matrix joined;
        product(i, k) = last(i, j) * B(j, k);
        joined(i, k) = abs(product(i, k) - last(i, k));
        last = joined;
    }
    return bound(world, std::to_string(vertices) + " vertices", ep::decompose(world, ep::options{}, last), {A, B});
}

void measure(const std::function<example()>& make, std::size_t rounds) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<double> firsts;
    for (std::size_t round = 0; round < 4 * rounds; ++round) {
        const example other = make();
        firsts.push_back(bench::seconds_of([&] { other.run(nullptr); }));
    }
    const double first = median(firsts);
    const example made = make();
    made.run(nullptr);
    plain_steps plain(made.plan, rank);
    plain.run();
    const std::function<void()> ways[] = {[&] { made.run(nullptr); }, [&] { plain.run(); }, [&] { plain.decide(); }};
    std::vector<double> seconds[3];
    std::vector<double> rest;
    std::vector<double> parts[7];
    int repetitions[3];
    for (std::size_t way = 0; way < 3; ++way) {
        static_cast<void>(bench::seconds_of(ways[way], 3));
        repetitions[way] = std::clamp(static_cast<int>(0.002 / bench::seconds_of(ways[way], 10)), 3, 2000);
    }
    constexpr int bursts = 40;
    for (std::size_t round = 0; round < rounds; ++round) {
        double least[3] = {1, 1, 1};
        for (int burst = 0; burst < bursts; ++burst) {
            for (std::size_t way = 0; way < 3; ++way) {
                least[way] = std::min(least[way], bench::seconds_of(ways[way], repetitions[way]));
            }
        }
        for (std::size_t way = 0; way < 3; ++way) {
            seconds[way].push_back(least[way]);
        }
        rest.push_back(least[0] - least[1]);
        ep::trace seen;
        std::vector<double> runs[7];
        for (int run = 0; run < std::min(repetitions[0], 200); ++run) {
            const double begin = MPI_Wtime();
            made.run(&seen);
            const breakdown found(begin, MPI_Wtime(), seen);
            for (std::size_t part = 0; part < 7; ++part) {
                runs[part].push_back(found.parts[part]);
            }
        }
        for (std::size_t part = 0; part < 7; ++part) {
            parts[part].push_back(median(runs[part]));
        }
    }
    if (rank != 0) {
        return;
    }
    constexpr double micro = 1e6;
    std::printf("%s (%s)\n", made.name.c_str(), plain.text().c_str());
    std::printf("    run %.2f, kernels and messages alone %.2f, less those %.2f us; the first run %.0f us\n",
                median(seconds[0]) * micro, median(seconds[1]) * micro, median(rest) * micro, first * micro);
    std::printf("    traced:");
    for (std::size_t part = 0; part < 7; ++part) {
        std::printf(" %s %.2f%s", breakdown::names[part], median(parts[part]) * micro, part < 6 ? "," : " us\n");
    }
    std::printf("    a decision for each product: %.2f us\n", median(seconds[2]) * micro);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    std::size_t rounds = 7;
    std::string only;
    for (int number = 1; number + 1 < argc; number += 2) {
        const std::string_view word = argv[number];
        if (word == "--rounds") {
            rounds = static_cast<std::size_t>(std::max(std::atoi(argv[number + 1]), 1));
        } else if (word == "--only") {
            only = argv[number + 1];
        }
    }
    {
        ep::context world(MPI_COMM_WORLD);
        const std::pair<const char*, std::function<example()>> all[] = {
            {"32", [&] { return product(world, 32); }},
            {"256", [&] { return product(world, 256); }},
            {"200", [&] { return chain(world, 200); }},
        };
        for (const auto& [name, make] : all) {
            if (std::string_view(name).find(only) != std::string_view::npos) {
                measure(make, rounds);
            }
        }
    }
    MPI_Finalize();
    return 0;
}
