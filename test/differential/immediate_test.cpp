// Immediate einsums and statements against scalar loops (oracle.hpp), a thousand and more of each kind that the
// notation has. The cases are written at build time by generate.cpp.

#include "coverage.hpp"
#include "immediate_room.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "immediate_list.hpp"

using namespace differential;

namespace {

/// doctest shows a pointer to characters as an address.
std::string describe(const test_case<immediate_room>& one, int draw, const std::string& truth) {
    return "case " + std::to_string(one.number) + ", draw " + std::to_string(draw) + ", " + one.written + " with " +
           one.extents + ", elements " + one.types + ", that is " + truth;
}

}  // namespace

TEST_CASE("immediate einsums and statements agree with scalar loops") {
    coverage seen;
    seen.require("kind", {"einsum", "statement"});
    seen.require("operands", {"1", "2", "3", "4", "5", "6"});
    seen.require("rank of operand", {"0", "1", "2", "3", "4", "5", "6"});
    seen.require("rank of output", {"0", "1", "2", "3", "4", "5"});
    seen.require("type", {"double", "float", "complex<double>", "complex<float>", "int", "bool", "float16", "bfloat16",
                          "mixed"});
    seen.require("label class", {"c", "m", "n", "k", "x_only", "y_only"});
    seen.require("feature", {"implicit output", "spaces", "ellipsis", "broadcast", "label outside of ASCII",
                             "label twice in one operand", "one-sided sum", "extent 0"});
    seen.require("layout", {"negative stride", "permuted strides", "gaps"});
    seen.require("⊕ in statements", {"sum", "prod", "max", "min", "softmax"});
    seen.require_indices();

    for (const test_part<immediate_room>& part : immediate_parts()) {
        for (int number = 0; number < part.count; ++number) {
            const test_case<immediate_room>& one = part.first[number];
            for (int draw = 0; draw < one.draws; ++draw) {
                std::string verdict;
                std::string refused;
                std::string truth = one.truth;
                try {
                    immediate_room room(one, draw);
                    truth = room.worked().truth;
                    seen.count_case(truth, one.extents, one.types, one.notes);
                    const char output = one.outputs[0];
                    // A half that is added to twice would be rounded twice: immediate statements refuse that.
                    refused = room.worked().is_half(output) && room.worked().expected.at(output).is_written_twice
                                  ? "several indices on the left name one element"
                                  : "";
                    one.run(room);
                    verdict = refused.empty() ? room.verdict() : "was not refused";
                    const auto has = [&](char layout) {
                        return room.layouts().find(layout) != std::string::npos ? 1 : 0;
                    };
                    seen.count("layout", "negative stride", has('n'));
                    seen.count("layout", "permuted strides", has('p'));
                    seen.count("layout", "gaps", has('g'));
                } catch (const std::exception& error) {
                    const bool as_expected =
                        !refused.empty() && std::string(error.what()).find(refused) != std::string::npos;
                    seen.count("refused", refused);
                    verdict = as_expected ? "" : std::string("threw: ") + error.what();
                }
                CHECK_MESSAGE(verdict.empty(), describe(one, draw, truth), ": ", verdict);
            }
        }
    }
    CHECK_MESSAGE(seen.missing().empty(), "not covered: ", seen.missing());
    CHECK(seen.at("kind", "einsum") >= 1000 / written_every);
    CHECK(seen.at("kind", "statement") >= 150 / written_every);
    CHECK(seen.at("kind", "at indices") >= 1800 / written_every);
    std::printf("immediate, compared with scalar loops:\n%s", seen.table().c_str());
}
