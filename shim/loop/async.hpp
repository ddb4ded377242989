#pragma once

// Coroutines for calls that last: a call is written as straight code, and waits by co_await while
// the only thread of the shim works on other calls. A coroutine runs on the loop's thread alone.

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace ocirun::shim {

namespace detail {

/// Resumes the coroutine that awaits this one.
struct ResumeCaller {
  static bool await_ready() noexcept { return false; }
  template <typename Promise>
  static std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) noexcept {
    return done.promise().caller;
  }
  static void await_resume() noexcept {}
};

template <typename T>
struct Promise {
  std::coroutine_handle<> caller;
  std::optional<T> value;

  static std::suspend_always initial_suspend() noexcept { return {}; }
  static ResumeCaller final_suspend() noexcept { return {}; }
  [[noreturn]] static void unhandled_exception() noexcept { std::terminate(); }
  template <typename From>
  void return_value(From&& from) {
    value.emplace(std::forward<From>(from));
  }
  T take() { return *std::move(value); }
};
/// The promise of a coroutine that returns nothing.
struct EmptyPromise {
  std::coroutine_handle<> caller;

  static std::suspend_always initial_suspend() noexcept { return {}; }
  static ResumeCaller final_suspend() noexcept { return {}; }
  [[noreturn]] static void unhandled_exception() noexcept { std::terminate(); }
  static void return_void() noexcept {}
  static void take() noexcept {}
};

}  // namespace detail

/// A coroutine that returns a T. It starts when it is awaited, which may be done once. Its
/// parameters must be values, or outlive it.
template <typename T = void>
class [[nodiscard]] Async {
 public:
  struct promise_type
      : std::conditional_t<std::is_void_v<T>, detail::EmptyPromise, detail::Promise<T>> {
    Async get_return_object() { return Async(Handle::from_promise(*this)); }
  };

  Async(Async&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Async(const Async&) = delete;
  Async& operator=(const Async&) = delete;
  Async& operator=(Async&&) = delete;
  ~Async() {
    if (handle_) handle_.destroy();
  }

  static bool await_ready() noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
    handle_.promise().caller = caller;
    return handle_;
  }
  T await_resume() { return handle_.promise().take(); }

 private:
  using Handle = std::coroutine_handle<promise_type>;
  explicit Async(Handle handle) : handle_(handle) {}
  Handle handle_;
};

/// The coroutine of go().
struct Unawaited {
  struct promise_type {
    static Unawaited get_return_object() noexcept { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    [[noreturn]] static void unhandled_exception() noexcept { std::terminate(); }
    static void return_void() noexcept {}
  };
};

/// Starts `work`, and goes on when `work` waits for the first time. `work` ends by itself.
inline Unawaited go(Async<> work) { co_await work; }

}  // namespace ocirun::shim
