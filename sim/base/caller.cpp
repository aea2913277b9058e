#include "sim/base/caller.hpp"

#include <utility>

namespace gradcast {
namespace {

thread_local Caller* current = nullptr;

}  // namespace

Caller* caller() { return current; }

WorksForCaller::WorksForCaller(Caller& caller) : before_(std::exchange(current, &caller)) {}

WorksForCaller::~WorksForCaller() { current = before_; }

}  // namespace gradcast
