// Chains of arithmetic, ((x0 ∘ x1) ∘ x2) ∘ …, over rows: values stay in registers from link to link. Compiled for every
// instruction set: this header includes itself once for each, through for_instruction_sets.hpp.

#if !defined(EINPARALLEL_DETAIL_SET)
#if !defined(EINPARALLEL_DETAIL_OP_CHAIN)
#define EINPARALLEL_DETAIL_OP_CHAIN

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// How a chain's next value is made of its value and its next source x, or its next two sources x and y: x, value ∘ x,
/// x ∘ value (…_from), value ∘ (x · y) (…_product), (x · y) ∘ value. No product is fused with a sum.
enum class op_link : std::uint8_t {
    first,
    add,
    subtract,
    multiply,
    divide,
    subtract_from,
    divide_from,
    add_product,
    subtract_product,
    subtract_from_product,
    first_with_number  ///< from here on the same links, where x is a number
};
constexpr op_link with_number(op_link link, bool is_number) {
    return op_link(int(link) + (is_number ? int(op_link::first_with_number) : 0));
}
constexpr op_link without_number(op_link link) {
    return op_link(int(link) % int(op_link::first_with_number));
}

/// The functor of a chain: a link for every source. In a product, the link of the second source is not read.
struct op_links {
    const op_link* first;
    std::size_t count;
};

/// Chains over rows of elements of T, float or double, with the instructions of Set.
template <class T, instruction_set Set>
struct op_chain;

}  // namespace einparallel::EINPARALLEL_DETAIL

#define EINPARALLEL_DETAIL_BODY <einparallel/kernel/simd/op_chain.hpp>
#include <einparallel/kernel/simd/for_instruction_sets.hpp>

#endif
#else

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
struct op_chain<T, instruction_set::EINPARALLEL_DETAIL_SET> {
    /// A row_function. Short rows are in the first-level cache, where the widest vectors pay. Longer rows come from
    /// beyond it. They are not aligned, so that a vector of 64 bytes always lies in two cache lines: vectors of 32
    /// bytes read them.
    EINPARALLEL_DETAIL_UNFUSED static void run(const void* functor, void* into, const void* const* from, index count) {
        const op_links links = *static_cast<const op_links*>(functor);
        T* const out = static_cast<T*>(into);
        if (EINPARALLEL_DETAIL_BYTES > 32 && count > 1024) {
            blocks < EINPARALLEL_DETAIL_BYTES<32 ? EINPARALLEL_DETAIL_BYTES : 32>(links, out, from, count);
        } else {
            blocks<EINPARALLEL_DETAIL_BYTES>(links, out, from, count);
        }
    }

private:
    // Few enough vectors for the registers, and enough to hide the cost of choosing a link.
    static constexpr index block = 8 * EINPARALLEL_DETAIL_BYTES / index(sizeof(T));

    template <int Bytes>
    [[gnu::always_inline]] EINPARALLEL_DETAIL_UNFUSED static void blocks(op_links links, T* out,
                                                                         const void* const* from, index count) {
        typedef T vector __attribute__((vector_size(Bytes)));
        constexpr index lanes = Bytes / index(sizeof(T));
        index at = 0;
        for (; at + block <= count; at += block) {
            points<vector, block / lanes>(links, out, from, at);
        }
        // Computes the last whole block again, rather than a few points at a time, unless results overwrite sources.
        bool repeats = at < count && count > block;
        for (std::size_t each = 0; each < links.count && repeats; ++each) {
            repeats = from[each] != out;
        }
        if (repeats) {
            points<vector, block / lanes>(links, out, from, count - block);
            return;
        }
        for (; at + lanes <= count; at += lanes) {
            points<vector, 1>(links, out, from, at);
        }
        for (; at < count; ++at) {
            points<T, 1>(links, out, from, at);
        }
    }

    template <class Value, int Count>
    [[gnu::always_inline]] EINPARALLEL_DETAIL_UNFUSED static void points(op_links links, T* out,
                                                                         const void* const* from, index at) {
        Value values[Count];
        std::size_t each = 0;
        links.first[0] == op_link::first ? go_on<op_link::first>(values, links, from, at, each)
                                         : go_on<op_link::first_with_number>(values, links, from, at, each);
        while (each < links.count) {
#define EINPARALLEL_DETAIL_LINK(link)                                  \
    case int(link):                                                    \
        go_on<link>(values, links, from, at, each);                    \
        break;                                                         \
    case int(with_number(link, true)):                                 \
        go_on<with_number(link, true)>(values, links, from, at, each); \
        break;
            switch (int(links.first[each])) {
                EINPARALLEL_DETAIL_LINK(op_link::add)
                EINPARALLEL_DETAIL_LINK(op_link::subtract)
                EINPARALLEL_DETAIL_LINK(op_link::multiply)
                EINPARALLEL_DETAIL_LINK(op_link::divide)
                EINPARALLEL_DETAIL_LINK(op_link::subtract_from)
                EINPARALLEL_DETAIL_LINK(op_link::divide_from)
                EINPARALLEL_DETAIL_LINK(op_link::add_product)
                EINPARALLEL_DETAIL_LINK(op_link::subtract_product)
                EINPARALLEL_DETAIL_LINK(op_link::subtract_from_product)
                default:
                    return;
            }
#undef EINPARALLEL_DETAIL_LINK
        }
        EINPARALLEL_DETAIL_UNROLL for (int which = 0; which < Count; ++which) {
            __builtin_memcpy(out + at + which * index(sizeof(Value) / sizeof(T)), &values[which], sizeof(Value));
        }
    }

    /// Computes this link and equal links that follow it: a branch costs less than a jump through a table.
    template <op_link Link, class Value, int Count>
    [[gnu::always_inline]] EINPARALLEL_DETAIL_UNFUSED static void go_on(Value (&values)[Count], op_links links,
                                                                        const void* const* from, index at,
                                                                        std::size_t& each) {
        constexpr op_link link = without_number(Link);
        constexpr bool is_product = link >= op_link::add_product;
        do {
            constexpr index width = sizeof(Value) / sizeof(T);
            const T* x = static_cast<const T*>(from[each]) + (Link == link ? at : 0);
            const T* y = static_cast<const T*>(from[each + (is_product ? 1 : 0)]) + at;
            // Makes the compiler use one register for all values: otherwise it takes one for each of them, over all
            // links.
            __asm__("" : "+r"(x), "+r"(y));
            const Value number = *x - Value{};  // x − 0 is x, where 0 + x is not: −0
            EINPARALLEL_DETAIL_UNROLL for (int which = 0; which < Count; ++which) {
                Value there = number;
                if constexpr (Link == link) {
                    __builtin_memcpy(&there, x + which * width, sizeof(Value));
                }
                if constexpr (is_product) {
                    Value second;
                    __builtin_memcpy(&second, y + which * width, sizeof(Value));
                    there = there * second;
                }
                Value& value = values[which];
                if constexpr (link == op_link::add || link == op_link::add_product) {
                    value = value + there;
                } else if constexpr (link == op_link::subtract || link == op_link::subtract_product) {
                    value = value - there;
                } else if constexpr (link == op_link::subtract_from || link == op_link::subtract_from_product) {
                    value = there - value;
                } else if constexpr (link == op_link::multiply) {
                    value = value * there;
                } else if constexpr (link == op_link::divide) {
                    value = value / there;
                } else if constexpr (link == op_link::divide_from) {
                    value = there / value;
                } else {
                    value = there;
                }
            }
            each += is_product ? 2 : 1;
        } while (each < links.count && links.first[each] == Link);
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL

#endif
