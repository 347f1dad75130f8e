#pragma once

#include <einparallel/plan/machine_text.hpp>

#include <einparallel/graph/text.hpp>
#include <einparallel/io/json_reader.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/json_writer.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A rate as text: how many units per second, when one takes `seconds_each`.
EINPARALLEL_SELDOM std::string rate_text(double seconds_each, const char* unit) {
    return (seconds_each > 0 ? counted(std::min(1 / seconds_each, 1e21)) : "unlimited ") + unit + "/s";
}

EINPARALLEL_SELDOM std::string machine_text(const machine& shown) {
    const std::size_t levels = count_of(shown.levels);
    std::string written = levels > 0 ? ""
                                     : duration_text(shown.seconds_per_message) + " per message, " +
                                           rate_text(shown.seconds_per_byte, "B") + ", ";
    for (std::size_t number = 0; number < levels; ++number) {
        const machine_level& each = shown.levels[number];
        std::string ranks = each.ranks > 0 ? std::to_string(each.ranks) : "all";
        if (each.is_uneven()) {
            ranks.clear();
            for (const group_run& run : each.uneven) {
                ranks += run.count > 0 ? sentence({ranks.empty() ? "" : ", ", run.count, " x ", run.ranks}) : "";
            }
        }
        const std::string at_once = number > 0 ? ", " + three_digits(each.transfers) + " at once out of a group" : "";
        written += sentence({ranks, " ranks: ", duration_text(each.seconds_per_message), " per message, ",
                             rate_text(each.seconds_per_byte, "B"), at_once, "; "});
    }
    written += shown.node_of_rank.empty() ? "" : "ranks in the order of node_of_rank; ";
    return written + rate_text(shown.seconds_per_flop, "flop") + ", " + three_digits(shown.operations_per_touch) +
           " flop in the time of a copied element, " + three_digits(100 * shown.exposed) +
           "% of the shorter of arithmetic and transfer exposed" +
           (shown.seconds_per_stored_byte == machine().seconds_per_stored_byte
                ? ""
                : ", " + rate_text(shown.seconds_per_stored_byte, "B") + " to and from storage");
}

/// By level: where its groups end, as numbers of ranks; of groups without list up to `ranks` ranks.
EINPARALLEL_SELDOM std::vector<std::int64_t> ends_of_groups(const machine_level& level, int ranks) {
    std::vector<std::int64_t> ends;
    std::int64_t end = 0;
    for (const group_run& run : level.uneven) {
        for (int group = 0; group < run.count; ++group) {
            ends.push_back(end += run.ranks);
        }
    }
    const std::int64_t each = level.ranks > 0 ? level.ranks : ranks;
    while (!level.is_uneven() && end < ranks) {
        ends.push_back(end = std::min<std::int64_t>(end + each, ranks));
    }
    return ends;
}

EINPARALLEL_SELDOM void check_levels(const machine& asked, int processes, const char* who) {
    const std::size_t levels = count_of(asked.levels);
    for (std::size_t number = levels; number < asked.levels.size(); ++number) {
        require(!asked.levels[number].is_given(), {who, " has nothing on level ", levels, " and has a level ", number});
    }
    for (std::size_t number = 0; number < levels; ++number) {
        const machine_level& each = asked.levels[number];
        const auto is_time = [](double seconds) { return std::isfinite(seconds) && seconds >= 0; };
        require(is_time(each.seconds_per_message) && is_time(each.seconds_per_byte) && is_time(each.transfers) &&
                    each.transfers > 0,
                {who, ": level ", number, " must have finite seconds that are not negative, and transfers above 0"});
        const bool is_outermost = number + 1 == levels;
        require(each.is_uneven() || each.ranks > 0 || (is_outermost && each.ranks == 0),
                {who, ": level ", number, " has groups of ", each.ranks, " ranks; levels stand innermost first"});
        std::int64_t listed = 0;
        for (auto next = each.uneven.begin(); next != each.uneven.end(); ++next) {
            const group_run& run = *next;
            require(run == group_run{} || next == each.uneven.begin() || !(*(next - 1) == group_run{}),
                    {who, ": level ", number, " lists groups behind an empty place of its list"});
            require(run == group_run{} || (run.count > 0 && run.ranks > 0 && run.count <= processes),
                    {who, ": level ", number, " lists ", run.count, " groups of ", run.ranks, " ranks"});
            listed += std::int64_t{run.count} * run.ranks;
        }
        require(!each.is_uneven() || listed == processes,
                {who, ": the groups of level ", number, " have ", listed, " ranks, the plan is for ", processes});
        require(each.is_uneven() || is_outermost || each.ranks >= processes || processes % each.ranks == 0,
                {who, ": groups of ", each.ranks, " ranks on level ", number, " do not make up ", processes,
                 " ranks; machine_level::uneven lists groups that differ"});
        require(!is_outermost || each.is_uneven() || each.ranks == 0 || each.ranks >= processes,
                {who, ": level ", number, ", the last one that is given, has groups of ", each.ranks,
                 " ranks, the plan is for ", processes, "; a level for all ranks has to follow"});
        require(!is_outermost || !each.is_uneven() || each.uneven.front() == group_run{1, processes},
                {who, ": level ", number, ", the outermost, must have all ranks in one group"});
    }
    std::vector<std::int64_t> inside;
    for (std::size_t number = 0; number < levels; ++number) {
        std::vector<std::int64_t> ends = ends_of_groups(asked.levels[number], processes);
        for (const std::int64_t end : ends) {
            require(number == 0 || std::binary_search(inside.begin(), inside.end(), end),
                    {who, ": a group of level ", number, " ends at rank ", end, ", within a group of level ",
                     int(number) - 1});
        }
        inside = std::move(ends);
    }
    if (asked.node_of_rank.empty()) {
        return;
    }
    require(levels > 0, {who, " has node_of_rank and no levels"});
    require(asked.node_of_rank.size() == std::size_t(processes),
            {who, ": node_of_rank has ", asked.node_of_rank.size(), " ranks, the plan is for ", processes});
    std::vector<int> nodes(asked.node_of_rank.begin(), asked.node_of_rank.end());
    std::stable_sort(nodes.begin(), nodes.end());
    require(nodes.front() >= 0, {who, ": node_of_rank has the node ", nodes.front()});
    std::vector<std::int64_t> ends;
    for (std::size_t rank = 1; rank <= nodes.size(); ++rank) {
        if (rank == nodes.size() || nodes[rank] != nodes[rank - 1]) {
            ends.push_back(std::int64_t(rank));
        }
    }
    const bool fits = any_in(asked.levels, [&](const machine_level& each) {
        return each.is_given() && ends_of_groups(each, processes) == ends;
    });
    require(fits, {who, ": node_of_rank has ", ends.size(), " nodes, the first of ", ends.front(),
                   " ranks; no level has such groups, in the order of the nodes' numbers"});
}

/// Reads a machine from JSON.
EINPARALLEL_SELDOM machine read_machine(std::string_view text) {
    json_reader json("machine_from_json: the text", "value", text);
    const auto whole = [&] {
        const std::uint64_t number = json.whole_number();
        json.check(number <= std::uint64_t(std::numeric_limits<int>::max()), {"has a value above 2^31 - 1"});
        return int(number);
    };
    // Sets the field of this name. A list keeps its capacity.
    const auto read_fields = [&](auto& made, const auto& self, const char* what) -> void {
        json.object([&](const std::string& name) {
            bool is_known = false;
            for_each_field(made, [&](std::string_view field, auto& value) {
                using kind = std::remove_cvref_t<decltype(value)>;
                if (is_known || field != name) {
                    return;
                }
                is_known = true;
                if constexpr (std::is_same_v<kind, double>) {
                    value = json.decimal();
                    json.check(std::isfinite(value) && value >= 0, {"has a negative number for '", name, "'"});
                } else if constexpr (std::is_same_v<kind, int>) {
                    value = whole();
                } else if constexpr (std::is_same_v<kind, numbers_of_ranks>) {
                    std::vector<int> numbers;
                    json.array([&] { numbers.push_back(whole()); });
                    value = numbers;
                } else {
                    std::size_t count = 0;
                    json.array([&] {
                        json.check(count < value.size(), {"has more than ", value.size(), " '", name, "'"});
                        self(value[count++], self, "level");
                    });
                }
            });
            json.check(is_known, {"has a member '", name, "', which no ", what, " has"});
        });
    };
    machine made;
    read_fields(made, read_fields, "machine");
    json.end();
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_SELDOM std::string to_json(const machine& saved) {
    return std::move(detail::json_writer().value(saved)).text();
}

EINPARALLEL_SELDOM machine machine_from_json(std::string_view text) {
    return detail::read_machine(text);
}

}  // namespace einparallel
