// Plans for readers: table, drawing, JSON.

#include "graphs.hpp"

#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/explain.hpp>

#include <support/json.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace einparallel;
using einparallel::testing::json;
using test::einsum;
using test::input;
using test::node;

std::string table_of(const plan& shown) {
    std::ostringstream stream;
    stream << std::hex << std::setprecision(2) << shown;
    return stream.str();
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

node named(node made, const std::string& name) {
    made->name = name;
    return made;
}

}  // namespace

TEST_CASE("the table has a row per vertex, in columns, and a note for what is out of the ordinary") {
    const node a = named(input({64, 32}), "A");
    const node ab = named(einsum("ij,jk->ik", {a, named(input({32, 64}), "B")}), "overlap");
    const node column = named(einsum("ij->i", {named(input({3, 2}), "small")}), "tiny");
    const plan shown =
        decompose_vertices({.processes = 8, .objective = objective::bytes, .algorithm = algorithm::c}, {ab, column});
    const std::string table = table_of(shown);
    const std::vector<std::string> lines = lines_of(table);
    INFO(table);
    REQUIRE(lines.size() == 1 + 1 + 5 + 2);
    CHECK(lines[0].rfind("plan for 8 ranks (objective bytes): " + std::to_string(shown.bytes_sent()) + " bytes sent",
                         0) == 0);
    CHECK(lines[1].rfind("vertex ", 0) == 0);
    const std::string& row = lines[4];
    CHECK(row.rfind("overlap", 0) == 0);
    for (const char* cell : {"A B", "ij,jk->ik", "sum(x*y)", "i:64 j:32 k:64"}) {
        CHECK(row.find(cell) != std::string::npos);
    }
    // Words begin and numbers end where their headings do.
    CHECK(row.find("ij,jk->ik") == lines[1].find("einsum"));
    CHECK(row.size() == lines[1].size());
    CHECK(lines[7] == "note: overlap falls back to the automatic choice, algorithm c has no label to cut there");
    CHECK(lines[8] == "note: tiny uses 6 of 8 ranks");
}

TEST_CASE("JSON holds the plan and survives any name") {
    const std::string name = "a \"b\"\\c\n\t\x01 d";
    const node ab = named(einsum("ij,jk->ik", {input({64, 32}), input({32, 64})}), name);
    const plan shown = decompose_vertices({.processes = 4, .objective = objective::paper}, {ab});
    const json read = json::parse(shown.to_json());
    CHECK(read["version"].number() == 1);
    CHECK(read["processes"].number() == 4);
    CHECK(read["options"]["objective"].text() == "paper");
    CHECK(read["cost"].number() == shown.cost());
    CHECK(read["bytes"].number() == static_cast<double>(shown.bytes_sent()));
    CHECK(read["seconds"].number() == shown.seconds());
    CHECK(read["outputs"].numbers<std::size_t>() == shown.outputs());
    REQUIRE(read["vertices"].items().size() == 3);
    CHECK(read["vertices"][0]["kind"].text() == "input");
    CHECK(read["vertices"][0]["bounds"].numbers<index>() == std::vector<index>{64, 32});
    const json& vertex = read["vertices"][2];
    CHECK(vertex["name"].text() == name);
    CHECK(vertex["kind"].text() == "einsum");
    CHECK(vertex["einsum"].text() == "ij,jk->ik");
    CHECK(vertex["inputs"].numbers<int>() == std::vector<int>{0, 1});
    const std::vector<int> parts = vertex["parts"].numbers<int>();
    REQUIRE(parts.size() == 3);
    for (std::size_t label = 0; label < 3; ++label) {
        CHECK(parts[label] == shown.partition(*ab)[label].second);
    }
    CHECK(vertex["mesh"].items().size() == shown.vertices()[2].work.ranks.axes.size());
    CHECK(vertex["join"].number() == shown.vertices()[2].join);
    CHECK(vertex["fell_back"].boolean() == false);
    CHECK(vertex["algorithm"].text() == detail::word_for(shown.vertices()[2].algorithm));
}

TEST_CASE("the drawing has every vertex and edge, quotes escaped") {
    const node ab = named(einsum("ij,jk->ik", {input({64, 32}), input({32, 64})}), "the \"AB\"");
    const node transposed = einsum("ij->ji", {ab});
    const plan shown = decompose_vertices({.processes = 4}, {transposed});
    const std::string drawing = shown.to_dot();
    INFO(drawing);
    CHECK(drawing.rfind("digraph plan {\n", 0) == 0);
    CHECK(drawing.find("the \\\"AB\\\"\\nij,jk->ik") != std::string::npos);
    for (const char* edge : {"v0 -> v2", "v1 -> v2", "v2 -> v3"}) {
        CHECK(drawing.find(edge) != std::string::npos);
    }
    CHECK(drawing.find("peripheries=2") != std::string::npos);
    CHECK(std::ranges::count(drawing, '{') == std::ranges::count(drawing, '}'));
    CHECK(std::ranges::count(drawing, '"') % 2 == 0);
}
