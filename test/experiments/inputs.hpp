#pragma once
// Numbers for small instances of the experiments' graphs: pure functions of an input's name and the index, which the
// graph and the reference loops call alike.

#include <einparallel/notation/box.hpp>

#include <cstdint>
#include <string>

namespace experiments {

namespace ep = einparallel;

/// A number in [-1, 1) for every index, other ones for every name.
class numbers {
public:
    explicit numbers(const std::string& name) {
        for (const char letter : name) {
            seed_ = mixed(seed_ ^ static_cast<unsigned char>(letter));
        }
    }

    template <class... Indices>
    double operator()(Indices... at) const {
        std::uint64_t state = seed_;
        ((state = mixed(state ^ static_cast<std::uint64_t>(at))), ...);
        return 2.0 * static_cast<double>(state >> 11) / 9007199254740992.0 - 1.0;  // the upper 53 bits
    }

private:
    /// A step of the generator SplitMix64.
    static std::uint64_t mixed(std::uint64_t state) {
        state += 0x9e3779b97f4a7c15U;
        state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
        state = (state ^ (state >> 27)) * 0x94d049bb133111ebU;
        return state ^ (state >> 31);
    }

    std::uint64_t seed_ = 0;
};

/// The class of a data point: Y is 1 there and 0 elsewhere.
inline ep::index class_of(ep::index point, ep::index classes) {
    return (5 * point + 1) % classes;
}

/// The last token of a prompt: prompts of several lengths.
inline ep::index last_token(ep::index prompt, ep::index sequence) {
    return sequence - 1 - prompt % 2;
}

}  // namespace experiments
