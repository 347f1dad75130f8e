#include "immediate_room.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

namespace differential {

immediate_room::immediate_room(const test_case<immediate_room>& given, int draw)
    : number_(given.number + 100003 * draw), output_(given.outputs[0]), worked_(work_out(given, draw, true)) {}

const oracle::tensor& immediate_room::tensor(char name) const {
    const auto input = worked_.inputs.find(name);
    return input != worked_.inputs.end() ? input->second : worked_.expected.at(name);
}

void immediate_room::fill(char name, char type, void* memory) const {
    const oracle::tensor& from = worked_.inputs.at(name);
    for (long element = 0; element < from.size(); ++element) {
        write_element(memory, type, element, from.elements[static_cast<std::size_t>(element)]);
    }
}

strided_place& immediate_room::place(char name, char type) {
    auto made = std::make_unique<strided_place>();
    made->type = type;
    made->extents = tensor(name).extents;
    const std::size_t rank = made->extents.size();
    auto random = [&, drawn = std::uint64_t{0}](std::uint64_t below) mutable {
        return scattered(static_cast<std::uint64_t>(number_) + 977, static_cast<std::uint64_t>(name), ++drawn) % below;
    };

    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (random(3) > 0) {
        for (std::size_t last = rank; last > 1; --last) {
            std::swap(order[last - 1], order[random(last)]);
        }
    }
    layouts_ += std::is_sorted(order.begin(), order.end()) ? "" : "p";
    made->strides.assign(rank, 0);
    long stride = random(4) == 0 ? 2 : 1;
    layouts_ += stride > 1 ? "g" : "";
    long lowest = 0;
    long highest = 0;
    for (std::size_t position = rank; position-- > 0;) {
        const std::size_t dimension = order[position];
        const long extent = std::max(made->extents[dimension], 1L);
        const bool backwards = random(4) == 0;
        layouts_ += backwards ? "n" : "";
        made->strides[dimension] = backwards ? -stride : stride;
        (backwards ? lowest : highest) += made->strides[dimension] * (extent - 1);
        const long gap = random(3) == 0 ? static_cast<long>(random(3)) : 0;
        layouts_ += gap > 0 ? "g" : "";
        stride *= extent + gap;
    }
    constexpr long margin = 3;
    made->first = margin - lowest;
    const auto elements = static_cast<std::size_t>(highest - lowest + 1 + 2 * margin);
    made->memory.resize(elements * bytes_of(type));
    for (std::size_t element = 0; element < elements; ++element) {
        const double poison = type == 'b' ? 1 : type == 'i' ? 77777 : std::numeric_limits<double>::quiet_NaN();
        write_element(made->memory.data(), type, static_cast<long>(element), poison);
    }
    const auto given = worked_.inputs.find(name);
    if (given != worked_.inputs.end()) {
        for_each_index(made->extents, [&](const std::vector<long>& at, long number) {
            const long offset = std::inner_product(at.begin(), at.end(), made->strides.begin(), made->first);
            write_element(made->memory.data(), type, offset, given->second.elements[static_cast<std::size_t>(number)]);
        });
    }
    made->before = made->memory;
    places_.push_back(std::move(made));
    return *places_.back();
}

void immediate_room::compare(const strided_memory& made) {
    ++checks_;
    const std::string said = worked_.compare(output_, made);
    if (!said.empty()) {
        failures_ += (failures_.empty() ? "" : "; ") + std::string("check ") + std::to_string(checks_) + ": " + said;
    }
}

std::string immediate_room::verdict() const {
    std::string said = checks_ == 0 ? "nothing was checked" : failures_;
    for (const std::unique_ptr<strided_place>& each : places_) {
        // The output's elements may have changed, no other byte of any operand may.
        std::vector<std::byte> now = each->memory;
        const std::size_t bytes = bytes_of(each->type);
        const bool is_output = each == places_.back();
        if (is_output) {
            for_each_index(each->extents, [&](const std::vector<long>& at, long /*number*/) {
                const long offset = std::inner_product(at.begin(), at.end(), each->strides.begin(), each->first);
                const std::size_t first = static_cast<std::size_t>(offset) * bytes;
                std::copy_n(each->before.begin() + static_cast<std::ptrdiff_t>(first), bytes,
                            now.begin() + static_cast<std::ptrdiff_t>(first));
            });
        }
        if (now != each->before) {
            said += std::string(said.empty() ? "" : "; ") + "memory that is not the output's was written";
        }
    }
    return said;
}

}  // namespace differential
