// A large value that its copies share. It is seldom changed, and never under another's hands.
#pragma once
#include <memory>
#include <utility>

namespace gradcast {

/// Holds a T, which reads like a pointer to a constant one. Copies share it, in any number of
/// threads. Never empty: without a value it holds T{}.
template <class T>
class Shared {
 public:
  Shared() : value_(nothing()) {}
  Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}  // NOLINT: a T is one
  /// `value`: not nullptr.
  Shared(std::shared_ptr<const T> value) : value_(std::move(value)) {}  // NOLINT

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  operator const T&() const { return *value_; }  // NOLINT

  /// A copy of the value that belongs to this holder alone, to be changed before this is copied
  /// again. Other holders keep the old value. Each call copies.
  T& change() {
    const auto own = std::make_shared<T>(*value_);
    value_ = own;
    return *own;
  }

 private:
  static const std::shared_ptr<const T>& nothing() {
    static const std::shared_ptr<const T> kNothing = std::make_shared<const T>();
    return kNothing;
  }

  std::shared_ptr<const T> value_;
};

}  // namespace gradcast
