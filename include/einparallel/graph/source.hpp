#pragma once
// Where the elements of an input come from, as an abstract value: files, ranks and devices are known to the rooms
// above.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace einparallel {

/// Who can read the elements of an input.
enum class source_kind : std::uint8_t {
    everywhere,  ///< every rank reads what it needs (a function, a file, an array that all ranks have): no
                 ///< message
    root,        ///< one rank has all elements and sends every other rank what it needs
    resting,     ///< ranks hold parts of the tensor (`held_by`) and send them to ranks that need them
    placeholder  ///< no rank, until a value is bound for a run
};

namespace EINPARALLEL_DETAIL {
struct local_tensor;  // data/local_tensor.hpp
}

/// The data of an input vertex.
class source : private detail::not_copied {
public:
    virtual ~source() = default;

    [[nodiscard]] virtual source_kind kind() const = 0;

    /// Copies the elements of `region` to `destination`, dense and row-major. Called on ranks that may read: all of
    /// them for `everywhere`, the root for `root`, and for `resting` with a region inside what this rank holds. May
    /// throw.
    virtual void read(const box& region, void* destination) const = 0;

    /// True where read() reads a file and calls no code of the application. Other threads may then call it.
    [[nodiscard]] virtual bool is_in_file() const { return false; }
    /// True where the first index is the fastest in the file.
    [[nodiscard]] virtual bool is_turned() const { return false; }
    /// Like read(), for elements that are not wanted again soon: the system need not hold them in its cache.
    virtual void stream(const box& region, void* destination) const { read(region, destination); }

    /// The address of the elements of `region` where they already lie in memory; null where they have to be copied.
    /// They are used in place and never written. Sets `strides`, in elements, none of them negative; empty: the
    /// elements are dense and row-major.
    [[nodiscard]] virtual const void* borrow(const box& /*region*/, std::vector<index>& /*strides*/) const {
        return nullptr;
    }

    /// The local tensor of a source in memory: its elements and where they lie. Null for other sources.
    [[nodiscard]] virtual const detail::local_tensor* local() const { return nullptr; }

    /// True where the elements lie in a device's memory. borrow() then returns their address there, and read() does not
    /// work.
    [[nodiscard]] virtual bool is_on_device() const { return false; }

    /// True where every run reads the same elements. It is false for placeholders, and for memory that the application
    /// may write to.
    [[nodiscard]] virtual bool lasts() const { return kind() != source_kind::placeholder; }

    /// True where the elements were in memory of the application that no longer exists.
    [[nodiscard]] virtual bool is_gone() const { return false; }

    /// True where the element at index i is i. Kernels that take such an operand without memory get none.
    [[nodiscard]] virtual bool counts() const { return false; }

    /// Where all elements are one number, its text, which is the same on all ranks; otherwise empty.
    [[nodiscard]] virtual std::string number() const { return {}; }

    /// A checksum of all elements, for a tensor of which every rank must have an equal copy; 0 for other sources.
    [[nodiscard]] virtual std::uint64_t checksum() const { return 0; }

    /// The rank that has the elements. @pre kind() == root
    [[nodiscard]] virtual int root() const { return 0; }

    /// Number of ranks that the tensor rests on, and what each of them holds. @pre kind() == resting
    [[nodiscard]] virtual int holders() const { return 0; }
    [[nodiscard]] virtual box held_by(int /*rank*/) const { return {}; }

    /// True where the elements in this rank's memory are those of held_by(rank). `rank` is this rank. @pre kind() ==
    /// resting
    [[nodiscard]] virtual bool rests_here(int /*rank*/) const { return true; }

    /// The source in tables and errors: "generate", "from_root(0)", "w.npy".
    [[nodiscard]] virtual std::string description() const = 0;
};

}  // namespace einparallel
