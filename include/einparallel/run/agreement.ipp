#pragma once

#include <einparallel/run/agreement.hpp>

#include <einparallel/cuda/error.hpp>
#include <einparallel/notation/error.hpp>

#include <algorithm>
#include <exception>
#include <new>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM fingerprint& fingerprint::add_word(std::uint64_t number) {
    for (unsigned byte = 0; byte < 8; ++byte) {
        mix(static_cast<unsigned char>(number >> (8 * byte)));
    }
    return *this;
}

EINPARALLEL_SELDOM fingerprint& fingerprint::add(std::string_view text) {
    for_each_in(text, [&](char letter) { mix(static_cast<unsigned char>(letter)); });
    return add(text.size());
}

EINPARALLEL_SELDOM fingerprint& fingerprint::add(const box& region) {
    add(region.empty());
    for (std::size_t dimension = 0; !region.empty() && dimension < region.rank(); ++dimension) {
        add(region.sides[dimension].begin);
        add(region.sides[dimension].end);
    }
    return *this;
}

EINPARALLEL_SELDOM fingerprint& fingerprint::add(const distribution& where) {
    add(where.bounds());
    for (int rank = 0; rank < where.holders(); ++rank) {
        for (const box& held : where.boxes_of(rank)) {
            held.empty() ? *this : add(rank).add(held);
        }
    }
    return *this;
}

EINPARALLEL_SELDOM std::string failure_of(std::string_view doing, function_ref<void()> f) {
    const auto because = [&](const char* words) { return std::string(doing) + ": " + words; };
    try {
        f();
        return {};
    } catch (const cuda_error& call) {  // its sentence does not say which call of the library made it
        return because(call.what());
    } catch (const error& known) {
        const std::string sentence = known.what();  // an empty one would read as success
        return sentence.empty() ? because("an error without a text was thrown") : sentence;
    } catch (const std::bad_alloc&) {
        return because("out of memory");
    } catch (const std::exception& other) {
        return because(other.what());
    } catch (...) {
        return because("an exception that is no std::exception was thrown");
    }
}

EINPARALLEL_SELDOM void least_of_all(const communicator& control, std::string_view call, agreement_numbers& least) {
    std::array<std::int64_t, 4> name{};
    call.copy(reinterpret_cast<char*>(name.data()), sizeof name - 1);  // null where there is no name
    least[11] = std::uint64_t(name[0]);
    least[12] = ~least[11];
    allreduce_minimum(control, least);
    if (least[11] != ~least[12]) {
        std::vector<std::int64_t> all(name.size() * std::size_t(control.size()));
        allgather(control, name, all);
        std::string first_name;
        std::string last_name;
        for (std::size_t first = 0; first < all.size(); first += name.size()) {
            const std::string known = reinterpret_cast<const char*>(all.data() + first);
            const std::string each = known.empty() ? "another" : known;
            first_name = first == 0 ? each : std::min(first_name, each);
            last_name = std::max(last_name, each);
        }
        refuse({"the ranks of a context are in different collective calls, ", first_name, " and ", last_name,
                ": all ranks must make the same calls in the same order"});
    }
}

EINPARALLEL_SELDOM std::uint64_t agree(const communicator& control, std::string_view failure,
                                       std::initializer_list<common> numbers, std::uint64_t ready) {
    // The smallest value of each number, and the smallest complement, which is that of the largest value: they belong
    // to the same value where all ranks have it.
    agreement_numbers least{};
    const std::size_t count = std::min<std::size_t>(numbers.size(), 4);
    const auto size = std::uint64_t(control.size());
    least[0] = failure.empty() ? size : std::uint64_t(control.rank());
    least[1] = ready;
    least[2] = failure.empty() ? 0 : 1;
    for (std::size_t number = 0; number < count; ++number) {
        least[3 + 2 * number] = numbers.begin()[number].value;
        least[4 + 2 * number] = ~numbers.begin()[number].value;
    }
    const std::string_view first = count == 0 ? std::string_view() : numbers.begin()->sentence;
    least_of_all(control, first.substr(0, first.find(':')), least);
    if (least[0] < size) {
        std::array<char, longest_sentence> text{};
        std::copy_n(failure.begin(), std::min(failure.size(), text.size() - 1), text.begin());
        broadcast(control, text.data(), text.size(), int(least[0]));
        std::string sentence = text.data();
        const std::string rank = "rank " + std::to_string(least[0]);
        if (least[2] == 0 && sentence.find(rank) == std::string::npos) {
            sentence += " (on " + rank + ")";
        }
        throw error(sentence);
    }
    for (std::size_t number = 0; number < count; ++number) {
        if (least[3 + 2 * number] != ~least[4 + 2 * number]) {
            throw error(std::string(numbers.begin()[number].sentence));
        }
    }
    return least[1];
}

}  // namespace einparallel::EINPARALLEL_DETAIL
