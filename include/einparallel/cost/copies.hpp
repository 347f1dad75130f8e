#pragma once
// The one ledger of copies: what is brought to which place, and gathered there, once for all who want the same.

#include <einparallel/layout/distribution.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// No copy: what is made or read where it is.
inline constexpr std::size_t no_copy = std::size_t(-1);

/// A tensor at a place, or its whole blocks gathered from pieces that lie there.
template <class Place>
struct tensor_copy {
    std::size_t tensor = 0;
    Place at{};
    std::size_t from = no_copy;  ///< the copy that it is brought or gathered from
    std::size_t first = 0;       ///< when it comes: twice a vertex's turn, one more of what that makes
    std::size_t last = 0;        ///< when it is used last: as above, one more while a vertex works on it
    bool is_gathered = false;
    bool is_joined = false;  ///< on some rank: what a halo was brought to
    int readings = 0;
    std::size_t next = no_copy;  ///< of the tensor
};

/// Two places are one: by number, or the same boxes, and of gathered blocks the same blocks.
template <class Place>
bool is_one_place(const Place& a, const Place& b, bool is_gathered) {
    if constexpr (std::is_pointer_v<Place>) {
        return is_gathered ? have_same_blocks(*a, *b) : *a == *b;
    }
    return a == b;
}

/// Of a tensor that is moved the first copy is where it is made or lies, and all others are brought from there.
template <class Place>
struct copy_ledger {
    std::vector<tensor_copy<Place>> copies;  ///< in the order in which they come to be
    std::vector<std::size_t> first;          ///< by tensor: its first copy

    /// A tensor is made, or lies, at a place.
    std::size_t make(std::size_t tensor, Place at, std::size_t time) {
        return first[tensor] != no_copy ? first[tensor] : serve({tensor, at, no_copy, time, time});
    }

    /// The copy that serves a reader of the tensor at a place.
    /// @param rests  where it is brought from, unless it is made; nothing where every rank reads what it wants
    std::size_t bring(std::size_t tensor, Place at, const std::optional<Place>& rests, std::size_t time,
                      bool is_joined = false) {
        const std::size_t from = rests ? make(tensor, *rests, time) : no_copy;
        return serve({tensor, at, from, time, time + 1, false, is_joined && rests, 1}, is_joined);
    }

    /// The whole blocks of the pieces that a copy has.
    std::size_t gather(std::size_t pieces, Place at, std::size_t time) {
        return serve({copies[pieces].tensor, at, pieces, time, time + 1, true, false, 1});
    }

private:
    /// The copy of the tensor that is as good; a new one where none is.
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
