// Packs blocks of a scattered matrix into the slivers that micro-kernels read. Compiled for every instruction set:
// this header includes itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_PACK)
#define EINPARALLEL_DETAIL_VECTOR_PACK

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/box.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// The matrix that a packed block is taken from: from[across[i] + along[d]], i < count, d < depth.
struct pack_source {
    const index* across = nullptr;
    const index* along = nullptr;
    index count = 0;
    index depth = 0;
    /// Bytes from one packed sliver to the next: an odd number of cache lines, so that slivers written at once do not
    /// fall into the same set.
    index sliver = 0;
    /// across[i + period] = across[i] + 1 where both lie in one stretch of run · period indices, and count is a
    /// multiple of that: the operand is contiguous along an index outside those that C is contiguous along. 0 where it
    /// is not.
    index period = 0;
    index run = 0;
};

/// True where the offsets count up by one.
inline bool consecutive(const index* offsets, index count) {
    for (index position = 1; position < count; ++position) {
        if (offsets[position] != offsets[position - 1] + 1) {
            return false;
        }
    }
    return true;
}

/// Packing of real T with the instructions of Set.
template <class T, instruction_set Set>
struct vector_pack;

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/vector_pack.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>
#include <einparallel/notation/compiled.hpp>

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
struct vector_pack<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    static constexpr index lanes = EINPARALLEL_DETAIL_BYTES / static_cast<index>(sizeof(T));
    typedef T vector __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef T loose __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES), aligned(sizeof(T)), may_alias));

    /// Lanes of x and y (counted on) that come to lane `lane` of the one and of the other in a step of a transposition.
    template <index Step>
    static constexpr int low(index lane) {
        return static_cast<int>((lane & Step) == 0 ? lane : lanes + lane - Step);
    }
    template <index Step>
    static constexpr int high(index lane) {
        return static_cast<int>((lane & Step) == 0 ? lane + Step : lanes + lane);
    }
    /// What lies `Step` lanes to the right in x changes places with what lies there in y. The lanes are written out
    /// because nvcc expands no pack in the arguments of a builtin.
    template <index Step>
    EINPARALLEL_DETAIL_TARGET static void exchange(vector& x, vector& y) {
        const vector before = x;
#define EINPARALLEL_DETAIL_FOUR(of, from) of<Step>(from), of<Step>(from + 1), of<Step>(from + 2), of<Step>(from + 3)
        if constexpr (lanes == 2) {
            x = __builtin_shufflevector(before, y, low<Step>(0), low<Step>(1));
            y = __builtin_shufflevector(before, y, high<Step>(0), high<Step>(1));
        } else if constexpr (lanes == 4) {
            x = __builtin_shufflevector(before, y, EINPARALLEL_DETAIL_FOUR(low, 0));
            y = __builtin_shufflevector(before, y, EINPARALLEL_DETAIL_FOUR(high, 0));
        } else if constexpr (lanes == 8) {
            x = __builtin_shufflevector(before, y, EINPARALLEL_DETAIL_FOUR(low, 0), EINPARALLEL_DETAIL_FOUR(low, 4));
            y = __builtin_shufflevector(before, y, EINPARALLEL_DETAIL_FOUR(high, 0), EINPARALLEL_DETAIL_FOUR(high, 4));
        } else {
            x = __builtin_shufflevector(before, y, EINPARALLEL_DETAIL_FOUR(low, 0), EINPARALLEL_DETAIL_FOUR(low, 4),
                                        EINPARALLEL_DETAIL_FOUR(low, 8), EINPARALLEL_DETAIL_FOUR(low, 12));
            y = __builtin_shufflevector(before, y, EINPARALLEL_DETAIL_FOUR(high, 0), EINPARALLEL_DETAIL_FOUR(high, 4),
                                        EINPARALLEL_DETAIL_FOUR(high, 8), EINPARALLEL_DETAIL_FOUR(high, 12));
        }
#undef EINPARALLEL_DETAIL_FOUR
    }
    template <index Step>
    EINPARALLEL_DETAIL_TARGET static void exchange_all(vector (&block)[lanes]) {
        EINPARALLEL_DETAIL_UNROLL for (index row = 0; row < lanes; ++row) {
            if ((row & Step) == 0) {
                exchange<Step>(block[row], block[row + Step]);
            }
        }
    }
    /// Reads `lanes` rows at from + offsets[…] and makes columns of them.
    EINPARALLEL_DETAIL_TARGET static void read_turned(vector (&block)[lanes], const T* from, const index* offsets) {
        EINPARALLEL_DETAIL_UNROLL for (index row = 0; row < lanes; ++row) {
            block[row] = *reinterpret_cast<const loose*>(from + offsets[row]);
        }
        exchange_all<1>(block);
        if constexpr (lanes > 2) {
            exchange_all<2>(block);
        }
        if constexpr (lanes > 4) {
            exchange_all<4>(block);
        }
        if constexpr (lanes > 8) {
            exchange_all<8>(block);
        }
    }

    /// Packs into slivers of `Panel` indices i: element (i, d) goes to sliver i / Panel, place d · Panel + i % Panel.
    /// The last sliver is filled up with copies of the last index.
    /// @pre room for ⌈count / Panel⌉ slivers
    template <index Panel>
    EINPARALLEL_DETAIL_TARGET static void pack(T* into, const T* from, const pack_source& source) {
        if constexpr (Panel % lanes == 0) {
            if (source.period > 0 && source.period % lanes == 0 && source.run >= lanes) {
                pack_stretches<Panel>(into, from, source);
                return;
            }
        }
        for (index begin = 0; begin < source.count;) {
            index contiguous = 0;
            while (contiguous < quad && begin + (contiguous + 1) * Panel <= source.count &&
                   in_pieces<Panel>(source.across + begin + contiguous * Panel)) {
                ++contiguous;
            }
            if (contiguous > 0) {
                pack_pieces<Panel>(into, from, source, begin, contiguous);
            } else {
                contiguous = 1;
                pack_panel<Panel>(into, from, source, begin);
            }
            into += contiguous * sliver_of(source);
            begin += contiguous * Panel;
        }
    }

private:
    /// Processors fetch ahead along one stretch of memory, not across many: rows this far ahead are asked for.
    static constexpr index ahead = 8;
    static constexpr index line = 64 / static_cast<index>(sizeof(T));
    static constexpr index quad = 4;  ///< panels that are packed at once

    static index sliver_of(const pack_source& source) {
        return source.sliver / static_cast<index>(sizeof(T));
    }
    static constexpr index smaller(index a, index b) {
        return a < b ? a : b;
    }

    /// Whether a panel lies in vectors of neighbours (or all of it side by side).
    template <index Panel>
    static bool in_pieces(const index* across) {
        constexpr index piece = smaller(Panel, lanes);
        if constexpr (Panel % piece != 0) {
            return consecutive(across, Panel);
        } else {
            for (index start = 0; start < Panel; start += piece) {
                if (!consecutive(across + start, piece)) {
                    return false;
                }
            }
            return true;
        }
    }

    /// Copies `Count` neighbours.
    template <index Count>
    EINPARALLEL_DETAIL_TARGET static void copy(T* into, const T* from) {
        if constexpr (Count == lanes) {
            *reinterpret_cast<loose*>(into) = *reinterpret_cast<const loose*>(from);
        } else {
            __builtin_memcpy(into, from, Count * sizeof(T));
        }
    }

    /// Up to `quad` panels at once, a step after the other, so that what is read lies side by side for longer.
    template <index Panel>
    EINPARALLEL_DETAIL_TARGET static void pack_pieces(T* into, const T* from, const pack_source& source, index begin,
                                                      index panels) {
        constexpr index piece = Panel % smaller(Panel, lanes) == 0 ? smaller(Panel, lanes) : Panel;
        constexpr index pieces = Panel / piece;
        index offsets[quad * pieces];
        bool whole = panels == quad;  // and all of them side by side
        for (index each = 0; each < panels * pieces; ++each) {
            offsets[each] = source.across[begin + each * piece];
            whole = whole && offsets[each] == offsets[0] + each * piece;
        }
        from += whole ? offsets[0] : 0;
        const index size = sliver_of(source);
        const index* const along = source.along;
        const index last = source.depth - 1;
        for (index step = 0; step <= last; ++step) {
            const T* const row = from + along[step];
            const T* const soon = from + along[smaller(step + ahead, last)];
            T* place = into + step * Panel;
            if (whole) {
                EINPARALLEL_DETAIL_UNROLL for (index panel = 0; panel < quad; ++panel) {
                    __builtin_prefetch(soon + panel * Panel);
                    EINPARALLEL_DETAIL_UNROLL for (index start = 0; start < Panel; start += piece) {
                        copy<piece>(place + start, row + panel * Panel + start);
                    }
                    place += size;
                }
                continue;
            }
            for (index panel = 0; panel < panels; ++panel) {
                const index* const across = offsets + panel * pieces;
                __builtin_prefetch(soon + across[0]);
                EINPARALLEL_DETAIL_UNROLL for (index each = 0; each < pieces; ++each) {
                    copy<piece>(place + each * piece, row + across[each]);
                }
                place += size;
            }
        }
    }

    /// One panel that is contiguous along the depth, or not at all. Whole vectors are stored, from the first step to
    /// the last, so that what is too much of one is overwritten by the next.
    template <index Panel>
    EINPARALLEL_DETAIL_TARGET static void pack_panel(T* into, const T* from, const pack_source& source, index begin) {
        constexpr index groups = (Panel + lanes - 1) / lanes;
        index offsets[groups * lanes];
        for (index lane = 0; lane < groups * lanes; ++lane) {
            offsets[lane] = source.across[begin + smaller(smaller(lane, Panel - 1), source.count - begin - 1)];
        }
        index soon[Panel];  // the next panel's
        for (index lane = 0; lane < Panel; ++lane) {
            soon[lane] = source.across[smaller(begin + Panel + lane, source.count - 1)];
        }
        index step = 0;
        while (step < source.depth) {
            if (step + lanes <= source.depth && consecutive(source.along + step, lanes)) {
                for (index lane = 0; lane < Panel; ++lane) {
                    __builtin_prefetch(from + source.along[step] + soon[lane]);
                }
                vector block[groups][lanes];
                EINPARALLEL_DETAIL_UNROLL for (index group = 0; group < groups; ++group) {
                    read_turned(block[group], from + source.along[step], offsets + group * lanes);
                }
                EINPARALLEL_DETAIL_UNROLL for (index each = 0; each < lanes; ++each) {
                    EINPARALLEL_DETAIL_UNROLL for (index group = 0; group < groups; ++group) {
                        *reinterpret_cast<loose*>(into + (step + each) * Panel + group * lanes) = block[group][each];
                    }
                }
                step += lanes;
            } else {
                const T* const row = from + source.along[step];
                for (index lane = 0; lane < Panel; ++lane) {
                    into[step * Panel + lane] = row[offsets[lane]];
                }
                ++step;
            }
        }
    }

    /// Reads along the index outside, line by line, and writes `lanes` panels at a time.
    template <index Panel>
    EINPARALLEL_DETAIL_TARGET static void pack_stretches(T* into, const T* from, const pack_source& source) {
        const index stretch = source.period * source.run;
        const index panel_size = sliver_of(source);
        for (index begin = 0; begin < source.count; begin += stretch) {
            for (index inner = 0; inner < source.period; inner += lanes) {
                const index* const offsets = source.across + begin + inner;
                for (index step = 0; step < source.depth; ++step) {
                    const T* const row = from + source.along[step];
                    const bool next = step + 2 >= source.depth;  // and then the next rows
                    const index* const later =
                        source.across + smaller(begin + inner + (next ? lanes : 0), source.count - lanes);
                    const T* const soon = from + source.along[next ? (step + 2) % source.depth : step + 2];
                    for (index outer = 0; outer < source.run; outer += line) {
                        for (index lane = 0; lane < lanes; ++lane) {
                            __builtin_prefetch(soon + later[lane] + outer);
                        }
                    }
                    index outer = 0;
                    for (; outer + lanes <= source.run; outer += lanes) {
                        vector block[lanes];
                        read_turned(block, row + outer, offsets);
                        EINPARALLEL_DETAIL_UNROLL for (index each = 0; each < lanes; ++each) {
                            const index place = begin + (outer + each) * source.period + inner;
                            *reinterpret_cast<loose*>(into + place / Panel * panel_size + step * Panel +
                                                      place % Panel) = block[each];
                        }
                    }
                    for (; outer < source.run; ++outer) {
                        const index place = begin + outer * source.period + inner;
                        T* const at = into + place / Panel * panel_size + step * Panel + place % Panel;
                        for (index lane = 0; lane < lanes; ++lane) {
                            at[lane] = row[offsets[lane] + outer];
                        }
                    }
                }
            }
        }
        if (const index last = source.count % Panel; last > 0) {
            T* const panel = into + source.count / Panel * panel_size;
            for (index step = 0; step < source.depth; ++step) {
                for (index lane = last; lane < Panel; ++lane) {
                    panel[step * Panel + lane] = panel[step * Panel + last - 1];
                }
            }
        }
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
