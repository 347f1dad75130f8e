#pragma once
// The one ledger of copies: which tensor is brought to which place, and gathered there, once for all its readers.

#include <einparallel/layout/distribution.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Stands for no copy: the tensor is made at its place, or read there by each rank.
inline constexpr std::size_t no_copy = std::size_t(-1);

/// A tensor at a place, or its whole blocks gathered from pieces that lie there.
template <class Place>
struct tensor_copy {
    std::size_t tensor = 0;
    Place at{};
    std::size_t from = no_copy;  ///< the copy that it is brought or gathered from
    std::size_t first = 0;       ///< time when it is made: 2t for turn t; 2t + 1 for the result of that turn
    std::size_t last = 0;        ///< time of its last use: 2t + 1 where the vertex of turn t reads it
    bool is_gathered = false;
    bool is_joined = false;  ///< brought as a halo, beside elements that ranks have already
    int readings = 0;
    std::size_t next = no_copy;  ///< next copy of the tensor
};

/// True where two places are the same: equal numbers, or distributions that put the same boxes on every rank. For
/// gathered blocks, the distributions must also give every rank the same block.
template <class Place>
bool is_one_place(const Place& a, const Place& b, bool is_gathered) {
    if constexpr (std::is_pointer_v<Place>) {
        return is_gathered ? have_same_blocks(*a, *b) : *a == *b;
    }
    return a == b;
}

/// The copies of all tensors. The first copy of a tensor that is moved is where it is made or lies. All others are
/// brought from there, or gathered from a copy in pieces.
template <class Place>
struct copy_ledger {
    std::vector<tensor_copy<Place>> copies;  ///< in the order in which they were added
    std::vector<std::size_t> first;          ///< by tensor: its first copy

    /// Adds the copy of a tensor at the place where it is made or lies, unless the tensor has a copy. Returns the
    /// number of its first copy.
    std::size_t make(std::size_t tensor, Place at, std::size_t time) {
        return first[tensor] != no_copy ? first[tensor] : serve({tensor, at, no_copy, time, time});
    }

    /// The number of the copy that a reader of the tensor uses; the reader needs it at place `at`.
    /// @param rests  where the tensor lies before any copy; nothing where every rank reads the elements that it needs
    std::size_t bring(std::size_t tensor, Place at, const std::optional<Place>& rests, std::size_t time,
                      bool is_joined = false) {
        const std::size_t from = rests ? make(tensor, *rests, time) : no_copy;
        return serve({tensor, at, from, time, time + 1, false, is_joined && rests, 1}, is_joined);
    }

    /// The number of the copy with the whole blocks, which are gathered from the copy `pieces`.
    std::size_t gather(std::size_t pieces, Place at, std::size_t time) {
        return serve({copies[pieces].tensor, at, pieces, time, time + 1, true, false, 1});
    }

private:
    /// The number of a copy that serves as well as `wanted`; adds `wanted` where there is none.
    std::size_t serve(const tensor_copy<Place>& wanted, bool is_joined = false) {
        std::size_t* here = &first[wanted.tensor];
        for (; *here != no_copy; here = &copies[*here].next) {
            tensor_copy<Place>& known = copies[*here];
            if (known.is_gathered == wanted.is_gathered && (is_joined || !known.is_joined) &&
                is_one_place(known.at, wanted.at, wanted.is_gathered)) {
                known.last = wanted.last;
                known.readings += wanted.readings;
                return *here;
            }
        }
        if (wanted.from != no_copy) {
            copies[wanted.from].last = std::max(copies[wanted.from].last, wanted.first);
        }
        *here = copies.size();
        copies.push_back(wanted);
        return copies.size() - 1;
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL
