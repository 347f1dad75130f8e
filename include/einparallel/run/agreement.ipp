#pragma once

#include <einparallel/run/agreement.hpp>

#include <einparallel/cuda/error.hpp>

#include <algorithm>
#include <exception>
#include <new>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE fingerprint& fingerprint::add(std::uint64_t number) {
    for (unsigned byte = 0; byte < 8; ++byte) {
        mix(static_cast<unsigned char>(number >> (8 * byte)));
    }
    return *this;
}

EINPARALLEL_INLINE fingerprint& fingerprint::add(std::string_view text) {
    for (const char letter : text) {
        mix(static_cast<unsigned char>(letter));
    }
    return add(static_cast<std::uint64_t>(text.size()));
}

EINPARALLEL_INLINE fingerprint& fingerprint::add(const box& region) {
    add(region.empty() ? 1 : 0);
    for (std::size_t dimension = 0; !region.empty() && dimension < region.rank(); ++dimension) {
        add(region.sides[dimension].begin);
        add(region.sides[dimension].end);
    }
    return *this;
}

EINPARALLEL_INLINE fingerprint& fingerprint::add(const distribution& where) {
    for (const index bound : where.bounds()) {
        add(bound);
    }
    for (int rank = 0; rank < where.holders(); ++rank) {
        add(where.held_by(rank));
    }
    return add(where.holders());
}

EINPARALLEL_INLINE std::string failure_of(std::string_view doing, function_ref<void()> f) {
    const auto because = [&](const char* words) { return std::string(doing) + ": " + words; };
    try {
        f();
        return {};
    } catch (const cuda_error& call) {  // which does not know what it was called for
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

EINPARALLEL_INLINE void least_of_all(const communicator& control, std::string_view call, agreement_numbers& least) {
    const auto letters = [&](std::size_t first) {  // eight of them, as a number
        std::uint64_t name = 0;
        for (std::size_t letter = first; letter < first + 8; ++letter) {
            name = name << 8U | (letter < call.size() ? static_cast<unsigned char>(call[letter]) : 0U);
        }
        return name;
    };
    least[11] = letters(0);
    least[12] = ~letters(0);
    allreduce_minimum(control, least);
    if (const std::array<std::uint64_t, 2> ends{least[11], ~least[12]}; ends[0] != ends[1]) {
        std::array<std::string, 2> names;
        // The ranks that make that call say its name, the others what is more; less than 2^63, for MPICH 4.0 takes the
        // minimum of unsigned numbers as if they had a sign.
        constexpr std::uint64_t more = ~std::uint64_t{0} >> 1U;
        std::array<std::uint64_t, 8> words{};
        for (std::size_t word = 0; word < words.size(); ++word) {
            words[word] = letters(0) == ends[word / 4] ? letters(8 * (word % 4)) : more;
        }
        allreduce_minimum(control, words);
        for (unsigned letter = 0; letter < 64; ++letter) {
            names[letter / 32] += static_cast<char>(words[letter / 8] >> (56 - 8 * (letter % 8)) & 0xffU);
        }
        for (std::string& name : names) {
            name = name.front() == 0 ? "another" : name.substr(0, name.find(char{0}));
        }
        throw error("the ranks of a context are in different collective calls, " + names[0] + " and " + names[1] +
                    ": all of them make the same calls in the same order");
    }
}

EINPARALLEL_INLINE std::uint64_t agree(const communicator& control, std::string_view failure,
                                       std::initializer_list<common> numbers, std::uint64_t ready) {
    // The smallest value and the smallest complement, which is the largest value, of each number: they meet where all
    // are the same.
    agreement_numbers least{};
    const std::size_t count = std::min<std::size_t>(numbers.size(), 4);
    const auto size = static_cast<std::uint64_t>(control.size());
    least[0] = failure.empty() ? size : static_cast<std::uint64_t>(control.rank());
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
        broadcast(control, text.data(), text.size(), static_cast<int>(least[0]));
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
