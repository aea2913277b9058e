// A call that is made later, once.
#pragma once
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace gradcast {

/// Holds a closure of a few plain values in itself, as nearly all closures of an engine are:
/// std::function would allocate memory for each message. Larger closures are allocated. It can be
/// moved but not copied.
class Action {
 public:
  Action() = default;

  template <class Closure>
  requires(!std::is_same_v<std::remove_cvref_t<Closure>, Action> &&
           std::is_invocable_v<std::remove_cvref_t<Closure>&>)
      Action(Closure&& closure) {  // NOLINT: as std::function does
    using Held = std::remove_cvref_t<Closure>;
    if constexpr (fits<Held>) {
      ::new (static_cast<void*>(memory_)) Held(std::forward<Closure>(closure));
      kind_ = &kInside<Held>;
    } else {
      auto* held = new Held(std::forward<Closure>(closure));
      std::memcpy(memory_, &held, sizeof held);
      kind_ = &kAllocated<Held>;
    }
  }

  // The memory holds plain values or a pointer, so that it can be moved as bytes.
  Action(Action&& other) noexcept : kind_(std::exchange(other.kind_, nullptr)) {
    std::memcpy(memory_, other.memory_, sizeof memory_);
  }
  Action& operator=(Action&& other) noexcept {
    if (this == &other) return *this;
    release();
    kind_ = std::exchange(other.kind_, nullptr);
    std::memcpy(memory_, other.memory_, sizeof memory_);
    return *this;
  }
  ~Action() { release(); }

  void operator()() { kind_->call(memory_); }

 private:
  struct Kind {
    void (*call)(std::byte* memory);
    void (*release)(std::byte* memory);  // nullptr: there is nothing to do
  };

  static constexpr std::size_t kRoom = 32;

  template <class Held>
  static constexpr bool fits =
      sizeof(Held) <= kRoom &&
      alignof(Held) <= alignof(void*) && std::is_trivially_copyable_v<Held>;

  template <class Held>
  static constexpr Kind kInside{
      [](std::byte* memory) { (*std::launder(reinterpret_cast<Held*>(memory)))(); }, nullptr};

  template <class Held>
  static Held* allocated(const std::byte* memory) {
    Held* held = nullptr;
    std::memcpy(&held, memory, sizeof held);
    return held;
  }

  template <class Held>
  static constexpr Kind kAllocated{[](std::byte* memory) { (*allocated<Held>(memory))(); },
                                   [](std::byte* memory) { delete allocated<Held>(memory); }};

  void release() noexcept {
    if (kind_ != nullptr && kind_->release != nullptr) kind_->release(memory_);
    kind_ = nullptr;
  }

  const Kind* kind_ = nullptr;
  alignas(void*) std::byte memory_[kRoom];
};

}  // namespace gradcast
