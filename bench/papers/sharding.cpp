// The examples of "Computing sharding with einsum": placements along one axis of 4 ranks, and what is sent, one JSON
// object per line for papers.py. The gradients are the text's own einsums.

#include "../text.hpp"

#include <einparallel/graph/einsum.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/plan.hpp>

#include <array>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace ep = einparallel;

constexpr int ranks = 4;
constexpr ep::index sequence = 128, batch = 4, in = 256, out = 512;

std::string text_of(const ep::placement& shown, const std::vector<std::string>& names) {
    return shown.kind == ep::placement_kind::shard     ? "Shard(" + names[static_cast<std::size_t>(shown.label)] + ")"
           : shown.kind == ep::placement_kind::partial ? "Partial"
                                                       : "Replicate";
}

/// One einsum cut along one label.
template <ep::subscripts Text, class X, class Y>
void show(const std::string& example, const std::string& label, const X& x, const Y& y) {
    const auto z = ep::einsum<Text>(x, y).named("Z");
    const ep::plan plan = ep::plan_with({.processes = ranks}, ep::hand_cuts().cut(z, {{label, ranks}}), z);
    const ep::planned_vertex& made = plan.vertices().back();
    const std::vector<std::string>& names = made.work.form.names;
    const ep::axis_placements along = ep::placements_of(made).front();
    std::string sent;
    for (std::size_t operand = 0; operand < along.operands.size(); ++operand) {
        if (along.operands[operand].kind == ep::placement_kind::replicate) {
            sent += (operand == 0 ? "all-gather of the first operand" : "all-gather of the second operand");
        }
    }
    if (along.output.kind == ep::placement_kind::partial) {
        sent += "reduce-scatter of the output";
    }
    std::cout << bench::json_object({{"example", example},
                                     {"einsum", std::string(Text.view())},
                                     {"first", text_of(along.operands[0], names)},
                                     {"second", text_of(along.operands[1], names)},
                                     {"output", text_of(along.output, names)},
                                     {"sent", sent.empty() ? "nothing" : sent},
                                     {"ring", made.work.travelling == ep::nothing_travels ? "no" : "yes"}},
                                    {{"ranks", ranks}, {"bytes", static_cast<double>(plan.bytes_sent())}})
              << '\n';
}

}  // namespace

int main() {
    const auto x = ep::placeholder<float>({sequence, batch, in}).named("input");
    const auto w = ep::placeholder<float>({in, out}).named("weight");
    const auto g = ep::placeholder<float>({sequence, batch, out}).named("grad_output");
    const auto scale = ep::placeholder<float>({in}).named("weight");
    show<"sbi,io->sbo">("ColumnParallelLinear, forward", "o", x, w);
    show<"sbo,io->sbi">("ColumnParallelLinear, grad_input", "o", g, w);
    show<"sbi,sbo->io">("ColumnParallelLinear, grad_weight", "o", x, g);
    show<"sbi,io->sbo">("RowParallelLinear, forward", "i", x, w);
    show<"sbh,h->sbh">("scaling factor, forward", "s", x, scale);
    show<"sbh,h->sbh">("scaling factor, grad_input", "s", x, scale);
    show<"sbh,sbh->h">("scaling factor, grad_weight", "s", x, x);
}
