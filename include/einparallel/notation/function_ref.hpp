#pragma once
// A type-erased reference to a callable, for parameters of functions that are not templates.

#include <einparallel/notation/compiled.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

template <class Signature>
class function_ref;

/// A reference to a callable of any type.
/// @pre the callable outlives the reference
template <class R, class... Arguments>
class function_ref<R(Arguments...)> {
public:
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref>)
    function_ref(F&& callable)  // implicit by design: a lambda as an argument
        : callable_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
          call_([](void* object, Arguments... arguments) -> R {
              return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Arguments>(arguments)...);
          }) {}

    R operator()(Arguments... arguments) const { return call_(callable_, std::forward<Arguments>(arguments)...); }

private:
    void* callable_;
    R (*call_)(void*, Arguments...);
};

}  // namespace einparallel::EINPARALLEL_DETAIL
