#pragma once
// A vector of plain numbers, which lives on the stack up to a usual size: tensor ranks are small, but have no limit.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// A sequence of trivially copyable values. Up to `Inline` of them need no heap memory. Memory of elements is not
/// initialised before they are added.
template <class T, std::size_t Inline>
    requires std::is_trivially_copyable_v<T>
class small_vector {
public:
    small_vector() = default;
    explicit small_vector(std::size_t count, const T& value = T{}) { resize(count, value); }
    small_vector(const small_vector& other) { *this = other; }
    small_vector& operator=(const small_vector& other) {
        if (this != &other) {
            size_ = 0;
            reserve(other.size_);
            for (const T& each : other) {
                data_[size_++] = each;
            }
        }
        return *this;
    }
    ~small_vector() { release(); }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] T* data() { return data_; }
    [[nodiscard]] const T* data() const { return data_; }
    [[nodiscard]] T* begin() { return data_; }
    [[nodiscard]] const T* begin() const { return data_; }
    [[nodiscard]] T* end() { return data_ + size_; }
    [[nodiscard]] const T* end() const { return data_ + size_; }
    [[nodiscard]] T& operator[](std::size_t position) { return data_[position]; }
    [[nodiscard]] const T& operator[](std::size_t position) const { return data_[position]; }
    [[nodiscard]] T& back() { return data_[size_ - 1]; }
    [[nodiscard]] const T& back() const { return data_[size_ - 1]; }

    void clear() { size_ = 0; }
    void reserve(std::size_t wanted) {
        if (wanted > capacity_) {
            const std::size_t larger = wanted < 2 * capacity_ ? 2 * capacity_ : wanted;
            T* const moved = new T[larger];
            for (std::size_t position = 0; position < size_; ++position) {
                moved[position] = data_[position];
            }
            release();
            data_ = moved;
            capacity_ = larger;
        }
    }
    void push_back(const T& value) {
        const T copy = value;  // `value` may be one of ours
        reserve(size_ + 1);
        data_[size_++] = copy;
    }
    /// New elements, if any, are copies of `value`.
    void resize(std::size_t count, const T& value = T{}) {
        reserve(count);
        for (; size_ < count; ++size_) {
            data_[size_] = value;
        }
        size_ = count;
    }

private:
    /// Frees the heap memory, if there is any.
    void release() {
        if (capacity_ > Inline) {
            delete[] data_;
        }
    }

    std::size_t size_ = 0;
    std::size_t capacity_ = Inline;
    alignas(T) std::byte inline_[Inline * sizeof(T)];  // bytes, lest elements that nobody uses are initialised
    T* data_ = reinterpret_cast<T*>(inline_);
};

}  // namespace einparallel::EINPARALLEL_DETAIL
