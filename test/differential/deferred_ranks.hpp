#pragma once
// The room of the deferred cases on the ranks of a context: inputs of every kind in turn, then one plan after another
// for what the case records.

#include "deferred_room.hpp"
#include "element.hpp"
#include "test_case.hpp"

#include <einparallel/data/distributed.hpp>
#include <einparallel/data/results.hpp>
#include <einparallel/data/sources.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/run/context.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace differential {

/// Plans and runs one vertex, sparing bytes. With the planner and the executor, which the room need not compile.
[[nodiscard]] ep::results evaluated(ep::context& world, const std::shared_ptr<ep::vertex>& made);

class deferred_ranks final : public deferred_room {
public:
    /// "" or what is wrong with a result.
    using comparison = std::function<std::string(const ep::results&)>;
    /// Tries the plans for these outputs that the test wants to have tried.
    using trial =
        std::function<void(deferred_ranks&, const std::vector<std::shared_ptr<ep::vertex>>&, const comparison&)>;

    deferred_ranks(const test_case<deferred_room>& given, int draw, ep::context& world, trial tries);

    [[nodiscard]] ep::index n(std::size_t parameter) const override { return worked_.numbers.at(parameter); }
    [[nodiscard]] const worked_case& worked() const { return worked_; }

    [[nodiscard]] const std::vector<ep::binding>& bindings() const { return bindings_; }
    [[nodiscard]] ep::context& world() { return world_; }
    [[nodiscard]] int number() const { return number_; }
    /// The origins of the inputs, as digits.
    [[nodiscard]] const std::string& kinds() const { return kinds_; }

protected:
    std::shared_ptr<ep::vertex> make_input(char name, char type, std::size_t rank) override;
    void run_outputs(const std::vector<output>& outputs) override;

private:
    template <class T, std::size_t Rank>
    ep::tensor<T, Rank> typed_input(char name);
    template <class T, std::size_t Rank>
    ep::tensor<T, Rank> generated(char name, const std::array<ep::extent, Rank>& extents) const;
    template <class T, std::size_t Rank>
    ep::distributed<T, Rank> own(char name, const std::array<ep::extent, Rank>& extents);
    template <class T, std::size_t Rank>
    [[nodiscard]] std::string compared(char name, const ep::distributed<T, Rank>& made) const;
    void fill(char name, char type, void* memory) const;

    int number_;
    std::string outputs_;
    worked_case worked_;
    ep::context& world_;
    trial tries_;
    std::vector<ep::binding> bindings_;
    std::vector<std::shared_ptr<void>> keep_;
    std::string kinds_;
};

}  // namespace differential
