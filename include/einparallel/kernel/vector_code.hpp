// What is written once and compiled for every instruction set: the innermost block of a matrix product, and the packing
// of its operands. No #pragma once: the last lines of this header include it again for each set, since nothing else
// gives one body several targets (the target attribute takes no template argument, and g++ splits wide vectors in a
// function of narrow target before it inlines it into one of wide target).

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_VECTOR_CODE)
#define EINPARALLEL_DETAIL_VECTOR_CODE

#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace einparallel::detail {

/// The matrix that a packed block is taken from: from[across[i] + along[d]], i < count, d < depth.
struct pack_source {
    const index* across = nullptr;
    const index* along = nullptr;
    index count = 0;
    index depth = 0;
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

/// Micro-kernel and packing for real T with the instructions of Set.
template <class T, instruction_set Set>
struct vector_code;

}  // namespace einparallel::detail

#if defined(__GNUC__)

// The accumulators must stay in registers, which takes complete unrolling: asked for by name, because -O2 alone may
// not.
#if defined(__clang__)
#define EINPARALLEL_DETAIL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define EINPARALLEL_DETAIL_UNROLL _Pragma("GCC unroll 32")
#endif
#if defined(__CUDACC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675  // nvcc passes GCC's pragma on to the host compiler, and warns of it
#endif

#define EINPARALLEL_DETAIL_SET baseline
#define EINPARALLEL_DETAIL_TARGET
#define EINPARALLEL_DETAIL_BYTES 16
#define EINPARALLEL_DETAIL_ROWS 4
#include <einparallel/kernel/vector_code.hpp>
#if EINPARALLEL_DETAIL_X86
#define EINPARALLEL_DETAIL_SET avx2
#define EINPARALLEL_DETAIL_TARGET __attribute__((target("avx2,fma")))
#define EINPARALLEL_DETAIL_BYTES 32
#define EINPARALLEL_DETAIL_ROWS 6
#include <einparallel/kernel/vector_code.hpp>
#define EINPARALLEL_DETAIL_SET avx512
#define EINPARALLEL_DETAIL_TARGET __attribute__((target("avx2,fma,avx512f")))
#define EINPARALLEL_DETAIL_BYTES 64
#define EINPARALLEL_DETAIL_ROWS 12
#include <einparallel/kernel/vector_code.hpp>
#endif

#undef EINPARALLEL_DETAIL_UNROLL
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif

#endif
#endif

#else

namespace einparallel::detail {

template <class T>
struct vector_code<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    static constexpr index lanes = EINPARALLEL_DETAIL_BYTES / static_cast<index>(sizeof(T));
    static constexpr index rows = EINPARALLEL_DETAIL_ROWS;
    static constexpr index vectors = 2;
    static constexpr index columns = vectors * lanes;

    typedef T vector __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES)));
    typedef T loose __attribute__((vector_size(EINPARALLEL_DETAIL_BYTES), aligned(sizeof(T)), may_alias));

    /// C(Rows × columns) (+)= A · B, A packed depth-major in slivers of `rows`, B in slivers of `columns`. Row i of C
    /// starts at c + row_offsets[i], and its vector v at vector_offsets[v] from there; C is read only where `add`.
    template <int Rows>
    EINPARALLEL_DETAIL_TARGET static void tile(index depth, const T* a, const T* b, T* c, const index* row_offsets,
                                               const index* vector_offsets, bool add) {
        vector sums[Rows][vectors];
        EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
            EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < vectors; ++part) {
                sums[row][part] = vector{};
            }
        }
        for (index step = 0; step < depth; ++step) {
            vector right[vectors];
            EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < vectors; ++part) {
                right[part] = *reinterpret_cast<const loose*>(b + part * lanes);
            }
            EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
                EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < vectors; ++part) {
                    sums[row][part] += a[row] * right[part];
                }
            }
            a += rows;
            b += columns;
        }
        EINPARALLEL_DETAIL_UNROLL for (int row = 0; row < Rows; ++row) {
            EINPARALLEL_DETAIL_UNROLL for (int part = 0; part < vectors; ++part) {
                auto* into = reinterpret_cast<loose*>(c + row_offsets[row] + vector_offsets[part]);
                *into = add ? *into + sums[row][part] : sums[row][part];
            }
        }
    }

    /// The same for any number of rows up to `rows`; it may compute more, and writes those of row_offsets that it
    /// computed: computed(high).
    static void run(index depth, index high, const T* a, const T* b, T* c, const index* row_offsets,
                    const index* vector_offsets, bool add) {
        constexpr int whole = EINPARALLEL_DETAIL_ROWS;
        if (high > 2 * whole / 3) {
            tile<whole>(depth, a, b, c, row_offsets, vector_offsets, add);
        } else if (high > whole / 3) {
            tile<2 * whole / 3>(depth, a, b, c, row_offsets, vector_offsets, add);
        } else {
            tile<(whole + 2) / 3>(depth, a, b, c, row_offsets, vector_offsets, add);
        }
    }
    static constexpr index computed(index high) {
        return high > 2 * rows / 3 ? rows : high > rows / 3 ? 2 * rows / 3 : (rows + 2) / 3;
    }

    /// One step of a transposition: what lies `Step` lanes to the right in x changes places with what lies there in y.
    template <index Step, index... Lane>
    EINPARALLEL_DETAIL_TARGET static void exchange(vector& x, vector& y, std::integer_sequence<index, Lane...>) {
        const vector low = __builtin_shufflevector(x, y, ((Lane & Step) == 0 ? Lane : lanes + Lane - Step)...);
        const vector high = __builtin_shufflevector(x, y, ((Lane & Step) == 0 ? Lane + Step : lanes + Lane)...);
        x = low;
        y = high;
    }
    template <index Step>
    EINPARALLEL_DETAIL_TARGET static void exchange_all(vector (&block)[lanes]) {
        EINPARALLEL_DETAIL_UNROLL for (index row = 0; row < lanes; ++row) {
            if ((row & Step) == 0) {
                exchange<Step>(block[row], block[row + Step], std::make_integer_sequence<index, lanes>{});
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
    /// @pre room for ⌈count / Panel⌉ · Panel · depth elements and one vector more
    template <index Panel>
    EINPARALLEL_DETAIL_TARGET static void pack(T* into, const T* from, const pack_source& source) {
        if constexpr (Panel % lanes == 0) {
            if (source.period > 0 && source.period % lanes == 0 && source.run >= lanes) {
                pack_stretches<Panel>(into, from, source);
                return;
            }
        }
        constexpr index quad = 4;
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
            into += contiguous * Panel * source.depth;
            begin += contiguous * Panel;
        }
    }

private:
    static constexpr index smaller(index a, index b) { return a < b ? a : b; }

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

    /// `panels` panels at once, a step after the other, so that what is read lies side by side for longer.
    template <index Panel>
    EINPARALLEL_DETAIL_TARGET static void pack_pieces(T* into, const T* from, const pack_source& source, index begin,
                                                      index panels) {
        constexpr index piece = Panel % smaller(Panel, lanes) == 0 ? smaller(Panel, lanes) : Panel;
        for (index step = 0; step < source.depth; ++step) {
            const T* const row = from + source.along[step];
            for (index panel = 0; panel < panels; ++panel) {
                T* const place = into + (panel * source.depth + step) * Panel;
                const index* const across = source.across + begin + panel * Panel;
                EINPARALLEL_DETAIL_UNROLL for (index start = 0; start < Panel; start += piece) {
                    __builtin_memcpy(place + start, row + across[start], piece * sizeof(T));
                }
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
        index step = 0;
        while (step < source.depth) {
            if (step + lanes <= source.depth && consecutive(source.along + step, lanes)) {
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
        const index panel_size = Panel * source.depth;
        for (index begin = 0; begin < source.count; begin += stretch) {
            for (index inner = 0; inner < source.period; inner += lanes) {
                const index* const offsets = source.across + begin + inner;
                for (index step = 0; step < source.depth; ++step) {
                    const T* const row = from + source.along[step];
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

}  // namespace einparallel::detail

#undef EINPARALLEL_DETAIL_SET
#undef EINPARALLEL_DETAIL_TARGET
#undef EINPARALLEL_DETAIL_BYTES
#undef EINPARALLEL_DETAIL_ROWS

#endif
