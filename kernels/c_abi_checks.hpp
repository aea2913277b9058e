// Checks of a caller's arguments, and exceptions as a status and one line: for both C interfaces.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include "include/gradcast/compressors.h"
#include "kernels/compressor.hpp"
#include "kernels/selection.hpp"
#include "kernels/value_type.hpp"

namespace gradcast::c_abi {

inline constexpr std::int64_t kMostElements = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kMostWorkers = 1 << 20;

/// Fixed memory: saying that there is none must not need any.
inline thread_local char last_error[512] = "";

inline void keep_error(const char* text) noexcept {
  std::strncpy(last_error, text, sizeof last_error - 1);
  for (char* at = last_error; *at != '\0'; ++at)
    if (*at == '\n' || *at == '\r') *at = ' ';
}

/// A call that the caller can mend.
using BadCall = std::invalid_argument;

template <typename Work>
gradcast_status guarded(const char* function, Work work) noexcept {
  try {
    work();
    return GRADCAST_OK;
  } catch (const BadCall& error) {
    try {
      keep_error((std::string(function) + ": " + error.what()).c_str());
    } catch (...) {
      keep_error(function);
    }
    return GRADCAST_BAD_ARGUMENT;
  } catch (const std::bad_alloc&) {
    keep_error("out of memory");
    return GRADCAST_NO_MEMORY;
  } catch (const std::length_error&) {  // of a vector that no memory could hold
    keep_error("out of memory");
    return GRADCAST_NO_MEMORY;
  } catch (const std::runtime_error& error) {  // CUDA's
    keep_error(error.what());
    return GRADCAST_DEVICE_FAILED;
  } catch (const std::exception& error) {
    keep_error(error.what());
    return GRADCAST_DEFECT;
  } catch (...) {
    keep_error("unknown failure");
    return GRADCAST_DEFECT;
  }
}

inline void require_that(bool fine, const std::string& what) {
  if (!fine) throw BadCall(what);
}

template <typename T>
T* needed(T* pointer, const char* name) {
  require_that(pointer != nullptr, std::string(name) + " is null");
  return pointer;
}

inline std::size_t elements_of(std::int64_t elements) {
  require_that(elements >= 1 && elements <= kMostElements,
               std::to_string(elements) + " elements: a tensor has 1 to 2^31 - 1");
  return static_cast<std::size_t>(elements);
}

inline std::string short_text(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

inline double parameter_for(const Compressor& compressor, double parameter) {
  const Parameter& its = compressor.parameter;
  if (its.name.empty()) return 0;
  const bool fits = parameter >= its.least && parameter <= its.most &&
                    (!its.whole || parameter == std::floor(parameter));
  require_that(fits, std::string(compressor.name) + "'s " + std::string(its.name) + " is " +
                         short_text(parameter) + ", and must be " +
                         (its.whole ? "a whole number from " : "from ") + short_text(its.least) +
                         " to " + short_text(its.most));
  return parameter;
}

inline Mode mode_for(const Compressor& compressor, std::int32_t mode) {
  require_that(mode == GRADCAST_MODE_CODE || mode == GRADCAST_MODE_PAPER,
               "no mode " + std::to_string(mode));
  if (compressor.two_modes) return mode == GRADCAST_MODE_PAPER ? Mode::Paper : Mode::Code;
  require_that(mode == GRADCAST_MODE_CODE,
               std::string(compressor.name) + " has one definition: its mode is 0");
  return Mode::Only;
}

inline ValueType value_type_for(std::int32_t type) {
  require_that(type >= GRADCAST_FP32 && type <= GRADCAST_BF16,
               "no value type " + std::to_string(type));
  return static_cast<ValueType>(type);
}

}  // namespace gradcast::c_abi
