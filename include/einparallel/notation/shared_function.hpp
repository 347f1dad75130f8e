#pragma once
// A callable that is kept, its type erased. The standard's own would cost a unit that includes the planner 0.15 s.

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace einparallel::detail {

template <class Signature>
class shared_function;

/// Copies share the callable; empty where there is none.
template <class R, class... Arguments>
class shared_function<R(Arguments...)> {
public:
    shared_function() = default;
    shared_function(std::nullptr_t) {}
    template <class F>
        requires(!std::is_base_of_v<shared_function, F> && std::is_invocable_r_v<R, F&, Arguments...>)
    shared_function(F callable)  // implicit by design: a lambda as an argument
        : callable_(std::make_shared<F>(std::move(callable))), call_([](void* object, Arguments... arguments) -> R {
              return (*static_cast<F*>(object))(std::forward<Arguments>(arguments)...);
          }) {}

    explicit operator bool() const { return callable_ != nullptr; }
    R operator()(Arguments... arguments) const { return call_(callable_.get(), std::forward<Arguments>(arguments)...); }

private:
    std::shared_ptr<void> callable_;
    R (*call_)(void*, Arguments...) = nullptr;
};

}  // namespace einparallel::detail
