#pragma once

#include <einparallel/notation/search_range.hpp>
#include <einparallel/run/trace.hpp>

#include <einparallel/graph/text.hpp>
#include <einparallel/notation/sort_range.hpp>
#include <einparallel/plan/json_writer.hpp>
#include <einparallel/plan/names.hpp>
#include <einparallel/run/agreement.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

inline constexpr std::size_t activities = std::size_t(activity::wait_storage) + 1;

}  // namespace EINPARALLEL_DETAIL

EINPARALLEL_SELDOM void trace::prepare(const plan& of, int rank, std::size_t spans) {
    rank_ = rank;
    lies_as_planned_ = true;
    spans_.reserve(spans);
    vertices_ = detail::list_of(of.vertices(), [&](const planned_vertex& each) {
        return vertex_line{detail::full_name(of, each), each.bytes, each.bytes_again, each.is_input()};
    });
}

EINPARALLEL_SELDOM void trace::share(const communicator& ranks) {
    static_assert(std::is_trivially_copyable_v<trace_span> && sizeof(trace_span) % sizeof(std::int64_t) == 0);
    const auto words = [](std::vector<trace_span>& spans) {
        return std::span(reinterpret_cast<std::int64_t*>(spans.data()),
                         spans.size() * sizeof(trace_span) / sizeof(std::int64_t));
    };
    std::uint64_t fewest = ~spans_.size();  // the complement of the most
    allreduce_minimum(ranks, {&fewest, 1});
    std::vector<trace_span> all;
    detail::agree(ranks, detail::failure_of("trace", [&] {
                      spans_.resize(~fewest, {.rank = -1});
                      all.resize(spans_.size() * std::size_t(ranks.size()));
                  }));
    allgather(ranks, words(spans_), words(all));
    std::erase_if(all, [](const trace_span& each) { return each.rank < 0; });
    spans_ = std::move(all);
}

EINPARALLEL_SELDOM void trace::add_watched(const std::vector<trace_span>& watched, double zero) {
    spans_.reserve(spans_.size() + watched.size());
    for (trace_span each : watched) {
        each.begin += zero;
        each.end += zero;
        add(each);
    }
    std::vector<trace_span> work;  // one after the other, as transfers are
    std::copy_if(spans_.begin(), spans_.end(), std::back_inserter(work),
                 [](const trace_span& each) { return each.what < activity::read; });
    detail::sort_range(work, [](const trace_span& a, const trace_span& b) { return a.begin < b.begin; });
    std::vector<trace_span> waits;
    auto first = work.begin();
    for (const trace_span& moved : spans_) {
        if (moved.what != activity::transfer) {
            continue;
        }
        double from = moved.begin;  // nothing before is exposed, or it is noted
        const auto expose_until = [&](double end) {
            if (from < end) {
                waits.push_back({from, end, rank_, activity::wait, moved.vertex, 0});
            }
        };
        first = std::find_if(first, work.end(), [&](const trace_span& each) { return each.end > moved.begin; });
        for (auto each = first; each != work.end() && each->begin < moved.end; ++each) {
            expose_until(each->begin);
            from = std::max(from, each->end);
        }
        expose_until(moved.end);
    }
    spans_.reserve(spans_.size() + waits.size() + 1);  // agree is still to come
    spans_.insert(spans_.end(), waits.begin(), waits.end());
}

EINPARALLEL_SELDOM std::string trace::to_json() const {
    constexpr std::array<const char*, 6> lanes{"arithmetic", "transfer",  "waiting",
                                               "copies out", "copies in", "storage"};
    constexpr std::array<std::size_t, detail::activities> lane_of{0, 0, 0, 0, 1, 2, 2, 3, 4, 5, 5, 2};
    constexpr std::array<const char*, detail::activities> suffixes{
        "", " combine",  " copy",    " read", " transfer", " wait",
        "", " copy out", " copy in", " load", " evict",    " wait for storage"};
    std::array<bool, lanes.size()> is_used{true, true, true};
    for (const trace_span& each : spans_) {
        is_used[lane_of[std::size_t(each.what)]] = true;
    }
    is_used[3] = is_used[4] = is_used[3] || is_used[4];  // a device has both
    detail::json_writer json;
    json.open('{').key("traceEvents").open('[');
    const auto open_event = [&](const char* phase, std::string_view name, std::int64_t rank, std::size_t lane) {
        json.open('{').member("ph", phase).member("name", name).member("pid", rank).member("tid", lane);
    };
    const auto call_it = [&](const char* what, std::int64_t rank, std::size_t lane, const std::string& name) {
        open_event("M", what, rank, lane);
        json.key("args").open('{').member("name", name).close('}').close('}');
    };
    std::int64_t named = -1;
    double zero = spans_.empty() ? 0 : spans_.front().begin;
    detail::for_each_in(spans_, [&](const trace_span& each) { zero = std::min(zero, each.begin); });
    for (const trace_span& each : spans_) {
        for (; named < each.rank; ++named) {
            call_it("process_name", named + 1, 0, "rank " + std::to_string(named + 1));
            for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
                if (is_used[lane]) {
                    call_it("thread_name", named + 1, lane, lanes[lane]);
                }
            }
        }
        const auto kind = std::size_t(each.what);
        const std::string& vertex = vertices_[std::size_t(each.vertex)].name;
        open_event("X", each.what == activity::agree ? "agree" : vertex + suffixes[kind], each.rank, lane_of[kind]);
        json.member("ts", 1e6 * (each.begin - zero)).member("dur", 1e6 * (each.end - each.begin));
        if (each.what == activity::transfer) {
            json.key("args").open('{').member("bytes", each.bytes).member("received", each.received).close('}');
        } else if (each.what > activity::agree && each.what != activity::wait_storage) {
            json.key("args").open('{').member("bytes", each.bytes).close('}');
        }
        json.close('}');
    }
    json.close(']');
    if (!lies_as_planned_) {
        json.key("otherData").open('{').member("ranks", "otherwise on nodes than planned").close('}');
    }
    return std::move(json.close('}')).text();
}

EINPARALLEL_SELDOM std::string trace::summary() const {
    struct sums {
        std::array<double, detail::activities> seconds{};  // by activity
        double bytes = 0;

        double of(activity what) const { return seconds[std::size_t(what)]; }
        double storage() const { return of(activity::load) + of(activity::evict); }
        double wait() const { return of(activity::wait) + of(activity::wait_storage); }
        double arithmetic() const { return of(activity::contract) + of(activity::combine) + of(activity::copy); }
    };
    std::vector<sums> ranks;
    std::vector<sums> vertices(vertices_.size());
    sums all;
    double end = 0;
    double before = 0;
    for (const trace_span& each : spans_) {
        if (each.begin < 0) {
            before -= each.begin;
            continue;
        }
        ranks.resize(std::max(ranks.size(), std::size_t(each.rank) + 1));
        for (sums* const sum : {&ranks[std::size_t(each.rank)], &vertices[std::size_t(each.vertex)], &all}) {
            sum->seconds[std::size_t(each.what)] += each.end - each.begin;
            sum->bytes += each.what == activity::transfer ? double(each.bytes) : 0;
        }
        end = std::max(end, each.end);
    }
    if (ranks.empty()) {
        return "no run\n";
    }
    const double size = double(ranks.size());
    const auto mean = [&](double sum) { return detail::duration_text(sum / size); };
    const double arithmetic = all.arithmetic();
    const double transfer = all.of(activity::transfer);
    double most = 0;
    detail::for_each_in(ranks, [&](const sums& each) { most = std::max(most, each.arithmetic()); });
    const auto hidden = [](double wait, double moved) {
        return detail::three_digits(moved > 0 ? 100 * std::max(0.0, 1 - wait / moved) : 100) + "% hidden; ";
    };
    std::string text = "run of " + detail::duration_text(end) + " on " + std::to_string(ranks.size()) +
                       " ranks: arithmetic " + mean(arithmetic) + ", imbalance " +
                       detail::three_digits(arithmetic > 0 ? most * size / arithmetic : 1) + "; ";
    if (all.of(activity::read) > 0) {
        text += "reading " + mean(all.of(activity::read)) + "; ";
    }
    text += "transfers " + mean(transfer) + ", " + hidden(all.of(activity::wait), transfer);
    if (detail::any_in(spans_, [](const trace_span& each) {
            return each.what == activity::load || each.what == activity::evict;
        })) {
        text += "storage " + mean(all.storage()) + ", " + hidden(all.of(activity::wait_storage), all.storage());
    }
    text += "exposed " + mean(all.wait()) + "; agreement " + mean(all.of(activity::agree)) + ", and " + mean(before) +
            " before";
    const double rest = end - (arithmetic + all.of(activity::read) + all.wait() + all.of(activity::agree)) / size;
    text += (rest > 0.03 * end ? "; rest " + detail::duration_text(rest) : "") + "\n";
    detail::text_rows rows{{"vertex", "arithmetic", "transfers", "exposed", "bytes planned", "counted"}};
    for (std::size_t number = 0; number < vertices.size(); ++number) {
        const sums& each = vertices[number];
        const bool is_input = vertices_[number].is_input;
        if (!is_input || each.bytes > 0) {
            rows.push_back({vertices_[number].name, mean(each.arithmetic()), mean(each.of(activity::transfer)),
                            mean(each.wait()), is_input ? "-" : detail::counted(double(vertices_[number].bytes)),
                            detail::counted(each.bytes)});
        }
    }
    text += detail::aligned(rows, "lrrrrr");
    return lies_as_planned_ ? text
                            : text +
                                  "the plan was made for ranks that lie otherwise on nodes: bytes_between() is for "
                                  "the machine of the plan, not for this run\n";
}

}  // namespace einparallel
