// Plans for readers: table, drawing, JSON.

#include "graphs.hpp"

#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/graph/text.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/row_functions.hpp>
#include <einparallel/plan/by_hand.hpp>
#include <einparallel/plan/decompose.hpp>
#include <einparallel/plan/names.hpp>
#include <einparallel/plan/plan.hpp>
#include <einparallel/plan/statistics.hpp>
#include <einparallel/schedule/arena.hpp>
#include <einparallel/schedule/program.hpp>

#include <support/json.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

namespace explain_test {

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
    CHECK(lines[0].ends_with("rank 0 holds up to " + std::to_string(shown.peak_bytes(0)) + " bytes"));
    CHECK(lines[0].rfind("plan for 8 ranks (objective bytes): " + std::to_string(shown.bytes_sent()) + " bytes sent",
                         0) == 0);
    CHECK(lines[1].rfind("vertex ", 0) == 0);
    const std::string& row = lines[4];
    CHECK(row.rfind("overlap", 0) == 0);
    for (const char* cell : {"ij,jk->ik", "sum A*B", "i:64 j:32 k:64"}) {
        CHECK(row.find(cell) != std::string::npos);
    }
    // Words begin and numbers end where their headings do.
    CHECK(row.find("ij,jk->ik") == lines[1].find("einsum"));
    CHECK(row.size() == lines[1].size());
    CHECK(row.size() <= 120);
    CHECK(lines[7] == "note: overlap falls back to the automatic choice, algorithm c has no label to cut there");
    CHECK(lines[8] == "note: tiny uses 6 of 8 ranks");
}

TEST_CASE("a plan for many runs says what is brought once, held and sent again, in its table and in JSON") {
    const node weights = named(input({64, 32}), "W");
    const node sum = named(einsum("ij,ij->ij", {weights, named(input({64, 32}), "U")}), "sum");
    const node x = named(input({6400, 32}, source_kind::placeholder), "X");
    const node out = named(einsum("bj,ij->bi", {x, sum}), "out");
    const plan shown = decompose_vertices({.processes = 4, .objective = objective::bytes, .runs = 10}, {out});
    const std::string table = table_of(shown);
    const std::vector<std::string> lines = lines_of(table);
    INFO(table);
    CHECK(shown.bytes_sent() == 3 * 64 * 32 * 8);
    CHECK(shown.bytes_sent_again() == 0);
    CHECK(lines[0].find(" in the first run, 0 bytes sent, ") != std::string::npos);
    CHECK(lines[0].find(" in each later one, rank 0 holds") != std::string::npos);
    for (std::size_t row = 2; row + 1 < lines.size(); ++row) {
        CHECK((lines[row].find(" * ") < 10) == shown.vertices()[row - 2].lasts);
    }
    CHECK(table.find("mn holds sum") != std::string::npos);
    CHECK(lines.back().starts_with("note: * is read or computed in the first of 10 runs only"));
    // The inputs are read by what is computed once alone: nothing but the blocks of the sum stays.
    CHECK(room_of(shown.program_of(0)).kept.bytes == 64 * 32 * 8);
    const json read = json::parse(shown.to_json());
    CHECK(read["options"]["runs"].number() == 10);
    CHECK(read["bytes_again"].number() == 0);
    CHECK(read["seconds_again"].number() == shown.seconds_again());
    const json& vertex = read["vertices"].items().back();
    CHECK(vertex["held"].numbers<int>() == std::vector<int>{1});
    CHECK(vertex["lasts"].boolean() == false);
    CHECK(read["vertices"][0]["lasts"].boolean() == (shown.vertices()[0].name != "X"));
    const plan once = decompose_vertices({.processes = 4, .objective = objective::bytes}, {out});
    CHECK(shown != once);
    CHECK(table_of(once).find(" * ") == std::string::npos);
    CHECK(once.bytes_sent_again() == once.bytes_sent());
}

TEST_CASE("JSON holds the plan and survives any name") {
    const std::string name = "a \"b\"\\c\n\t\x01 d \xc3\xa9";
    const node ab = named(einsum("ij,jk->ik", {input({64, 32}), input({32, 64})}), name);
    const plan shown = decompose_vertices({.processes = 4, .objective = objective::paper}, {ab});
    const json read = json::parse(shown.to_json());
    CHECK(read["version"].number() == 2);
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
    CHECK(vertex["formula"].text().starts_with("sum "));
    CHECK(op_program::parse(vertex["program"].text()) == ab->work->program());
    const vertex_statistics statistics = statistics_of(shown).vertices[2];
    CHECK(vertex["bytes"].number() == static_cast<double>(shown.vertices()[2].bytes));
    CHECK(vertex["bytes_gathered"].number() == static_cast<double>(statistics.gathered_bytes));
    CHECK(vertex["bytes_aggregated"].number() == static_cast<double>(statistics.aggregated_bytes));
    CHECK(vertex["bytes_repartitioned"].number() == static_cast<double>(statistics.repartitioned_bytes));
    CHECK(vertex["bytes_held"].number() == static_cast<double>(statistics.held_bytes));
    CHECK(vertex["least_bytes_per_rank"].number() == *statistics.least_bytes);
    CHECK(read["peak_bytes"].number() == static_cast<double>(shown.peak_bytes(0)));
    CHECK(vertex["fell_back"].boolean() == false);
    CHECK(vertex["algorithm"].text() == detail::name_for(shown.vertices()[2].algorithm));
}

TEST_CASE("version 2 of the JSON has these members in this order") {
    const node ab = named(einsum("ij,jk->ik", {input({4, 4}), input({4, 4})}), "Z");
    const std::string text = decompose_vertices({.processes = 4}, {ab}).to_json();
    const std::string input = "name kind bounds element kind bytes source pinned lasts ";
    const std::string members =
        "version processes options processes objective memory_limit algorithm method powers_of_two "
        "effort check_inputs machine seconds_per_message seconds_per_byte seconds_per_flop exposed "
        "operations_per_touch levels node_of_rank seconds_per_stored_byte seconds_per_host_byte order runs level "
        "paging cost bytes peak_bytes seconds bytes_again "
        "seconds_again "
        "outputs vertices " +
        input + input +
        "name kind bounds element kind bytes einsum formula program labels extents parts mesh inputs "
        "operand_cuts output_cut summands_read summands_left algorithm fell_back travelling bytes "
        "bytes_gathered bytes_aggregated bytes_repartitioned bytes_held least_bytes_per_rank join "
        "aggregation repartition seconds pinned without_communication held bytes_again seconds_again "
        "lasts";
    std::vector<std::string> found;
    for (std::size_t colon = text.find("\":"); colon != std::string::npos; colon = text.find("\":", colon + 1)) {
        const std::size_t begin = text.rfind('"', colon - 1) + 1;
        found.push_back(text.substr(begin, colon - begin));
    }
    // The mesh's members come once per axis.
    found.erase(std::ranges::find(found, "mesh") + 1, std::ranges::find(found, "inputs"));
    CHECK(detail::joined(found, " ", std::identity()) == members);
}

namespace {

/// Every member of an earlier text is there with the same value, but for those named.
void check_as_before(const json& before, const json& now, const std::vector<std::string>& others) {
    for (const auto& [name, value] : before.members()) {
        CAPTURE(name);
        if (std::ranges::find(others, name) != others.end()) {
            continue;
        }
        REQUIRE(now.has(name));
        if (name == "vertices") {
            REQUIRE(now[name].items().size() == value.items().size());
            for (std::size_t number = 0; number < value.items().size(); ++number) {
                check_as_before(value[number], now[name][number], others);
            }
        } else if (name == "options" || name == "machine") {
            check_as_before(value, now[name], others);
        } else {
            CHECK(now[name].is_like(value));
        }
    }
}

}  // namespace

TEST_CASE("a text of version 1 reads as before but for what has gone, and for what a rank holds") {
    EINPARALLEL_LABELS(i, j, k, l);
    const auto A = placeholder<double>({8, 6}).named("A");
    const auto B = placeholder<double>({6, 4}).named("B");
    const auto C = placeholder<double>({4, 10}).named("C");
    tensor<double, 2> Z, W;
    Z(i, k) = A(i, j) * B(j, k);
    W(i, l) = max(abs(Z(i, k) - C(k, l)));
    Z.named("Z");
    W.named("W");
    const plan shown = plan_with({.processes = 8, .objective = objective::bytes},
                                 hand_cuts().cut(Z, {{"i", 4}, {"k", 2}}).cut(W, {{"k", 2}, {"l", 2}}), W);
    check_as_before(json::read(std::string(EINPARALLEL_TEST_DIR) + "/cases/plan_version_1.json"),
                    json::parse(shown.to_json()),
                    {"version", "ranks_per_node", "bytes_read", "bytes_held", "peak_bytes"});
}

TEST_CASE("tables say what statements compute, in the names of their operands, and whose steps they are") {
    EINPARALLEL_LABELS(i, j, k);
    const auto A = placeholder<double>({8, 6}).named("A");
    const auto B = placeholder<double>({6, 8}).named("B");
    const auto half = placeholder<double>({8, 8}).named("one half");
    tensor<double, 2> scores, distance, mixed, free;
    scores(i, k) = softmax(k, sum(j, A(i, j) * B(j, k)) / 2.0);
    distance(i, k) = max(abs(A(i, j) - B(j, k)));
    mixed(i, k) = -(scores(i, k) - distance(i, k)) * 0.5 / (half(i, k) - (scores(k, i) - 1.0)) + A(i, j) * B(j, k);
    free(i, k) = min(j, A(i, j) + B(j, k));
    scores.named("S");
    distance.named("D");
    const plan shown = decompose({.processes = 4}, mixed, free, distance);
    std::vector<std::string> rows;
    for (const planned_vertex& each : shown.vertices()) {
        if (!each.is_input()) {
            rows.push_back(each.name + " = " + detail::formula_text(shown, each));
        }
    }
    const std::string last = "v" + std::to_string(shown.outputs()[0]);
    const std::vector<std::string> expected{
        "S.1 = sum A*B",
        "S.2 = S.1/2",
        "S.3 = max S.2",
        "S.4 = exp(S.2 - S.3)",
        "S.5 = sum S.4",
        "S = S.4/S.5",
        "D = max |A - B|",
        last + " = -(S - D)*0.5/('one half' - (S - 1)) + S.1",  // A*B once
        "v" + std::to_string(shown.outputs()[1]) + " = min(A + B)",
    };
    REQUIRE(rows.size() == expected.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
        CHECK(rows[row] == expected[row]);
    }
    // A statement's name is asked for when it is planned, and the middle of a product of many has one too.
    tensor<double, 2> product;
    product(i, j) = A(i, j) * B(j, k) * half(k, k);
    product.named("P");
    const plan of_product = decompose({.processes = 2}, product);
    CHECK(std::ranges::any_of(of_product.vertices(), [](const planned_vertex& each) { return each.name == "P.1"; }));
}

TEST_CASE("cells are cut between letters, and columns count letters") {
    CHECK(detail::cell("short", 5) == "short");
    CHECK(detail::cell("longer", 5) == "l..er");
    CHECK(detail::cell("\u03b1\u03b2\u03b3\u03b4\u03b5", 5) == "\u03b1\u03b2\u03b3\u03b4\u03b5");
    CHECK(detail::cell("\u03b1\u03b2\u03b3\u03b4\u03b5\u03b6", 5) == "\u03b1..\u03b5\u03b6");
    CHECK(detail::aligned({{"\u03b1\u03b2", "1"}, {"abc", "12"}}, "lr") == "\u03b1\u03b2    1\nabc  12\n");
}

TEST_CASE("numbers for readers: three digits and a unit") {
    CHECK(detail::counted(0) == "0");
    CHECK(detail::counted(99'999) == "99999");
    CHECK(detail::counted(100'000) == "100k");
    CHECK(detail::counted(999'499) == "999k");
    CHECK(detail::counted(999'600) == "1.00M");
    CHECK(detail::counted(12'345'678) == "12.3M");
    CHECK(detail::counted(1.5e21) == "1500E");
    CHECK(detail::duration_text(0) == "0s");
    CHECK(detail::duration_text(4e-9) == "4.00ns");
    CHECK(detail::duration_text(2e-6) == "2.00us");
    CHECK(detail::duration_text(0.0123) == "12.3ms");
    CHECK(detail::duration_text(123.4) == "123s");
}

TEST_CASE("JSON is UTF-8 whatever the bytes of a name are") {
    const node ab =
        named(einsum("ij,jk->ik", {input({64, 32}), input({32, 64})}), "\xe9t\xc3\xa9 \xed\xa0\x80\xff\xc3");
    const std::string json = decompose_vertices({.processes = 4}, {ab}).to_json();
    CHECK(json.find("\"\\ufffdt\xc3\xa9 \\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"") != std::string::npos);
}

TEST_CASE("the drawing has every vertex and edge, quotes escaped") {
    const node ab = named(einsum("ij,jk->ik", {input({64, 32}), input({32, 64})}), "the \"AB\"");
    const node transposed = einsum("ij->ji", {ab});
    const plan shown = decompose_vertices({.processes = 4}, {transposed});
    const std::string drawing = shown.to_dot();
    INFO(drawing);
    CHECK(drawing.rfind("digraph plan {\n", 0) == 0);
    CHECK(drawing.find("the \\\"AB\\\" = sum v0*v1\\nij,jk->ik\\ncut ") != std::string::npos);
    for (const char* edge : {"v0 -> v2", "v1 -> v2", "v2 -> v3"}) {
        CHECK(drawing.find(edge) != std::string::npos);
    }
    CHECK(drawing.find("peripheries=2") != std::string::npos);
    CHECK(std::ranges::count(drawing, '{') == std::ranges::count(drawing, '}'));
    CHECK(std::ranges::count(drawing, '"') % 2 == 0);
}

namespace {

/// Layers of two einsums with a weight each, the second of which also reads what came in.
plan layers(int count, int odd_one) {
    node made = named(input({64, 64}), "X");
    for (int layer = 1; layer <= count; ++layer) {
        const index inner = layer == odd_one ? 32 : 64;
        const node up = named(einsum("ij,jk->ik", {made, named(input({64, inner}), "U")}), "Y" + std::to_string(layer));
        const node down = einsum("ik,kj->ij", {up, named(input({inner, 64}), "D")});
        made = named(einsum("ij,ij->ij", {down, made}), "Z" + std::to_string(layer));
    }
    return decompose_vertices({.processes = 2, .objective = objective::bytes}, {made});
}

}  // namespace

TEST_CASE("equal layers are shown once, with their number") {
    const std::string table = table_of(layers(5, 0));
    const std::string folded = table.substr(table.find('\n') + 1);
    CHECK(
        folded ==
        R"(vertex  einsum     computes  extents         d    algorithm     in  aggregated  moved   held  seconds  /bound
X       input      paper     64 64
U       input      paper     64 64
Y1      ij,jk->ik  sum X*U   i:64 j:64 k:64  i:2  mn ring U  32768           0      0  81920   8.06us    1.28
D       input      paper     64 64
v4      ik,kj->ij  sum Y1*D  i:64 k:64 j:64  i:2  mn ring D  32768           0      0  98304   8.06us    1.28
Z1      ij,ij->ij  f(v4)     i:64 j:64       i:2  c              0           0      0  49152   41.0ns       -
× 4     5 rows     to Z4
U       input      paper     64 64
Y5      ij,jk->ik  sum Z4*U  i:64 j:64 k:64  i:2  mn ring U  32768           0      0  81920   8.06us    1.28
D       input      paper     64 64
v24     ik,kj->ij  sum Y5*D  i:64 k:64 j:64  i:2  mn ring D  32768           0      0  98304   8.06us    1.28
Z5      ij,ij->ij  f(v24)    i:64 j:64       i:2  c              0           0      0  49152   41.0ns       -
)");
    const std::string drawing = layers(5, 0).to_dot();
    INFO(drawing);
    CHECK(drawing.find("    subgraph cluster_v1 {\n    label=\"× 4\";\n    v1 [") != std::string::npos);
    CHECK(drawing.find("    v5 -> v2;\n    v5 -> v5;\n") != std::string::npos);  // from the layer before
    CHECK(drawing.find("v6 ") == std::string::npos);
    CHECK(std::ranges::count(drawing, '{') == std::ranges::count(drawing, '}'));
}

TEST_CASE("layers that differ are shown, and eighty equal ones are as few lines as five") {
    const auto rows = [](int count, int odd_one) { return lines_of(table_of(layers(count, odd_one))).size(); };
    CHECK(rows(80, 0) == rows(5, 0));
    CHECK(layers(80, 0).to_dot().size() < 1.1 * static_cast<double>(layers(5, 0).to_dot().size()));
    CHECK(rows(80, 40) == rows(5, 0) + 6);  // another run of five rows, which begins with the odd one's last
    CHECK(rows(2, 0) == 2 + 1 + 2 * 5);
}

}  // namespace explain_test
