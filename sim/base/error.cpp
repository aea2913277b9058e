#include "sim/base/error.hpp"

#include <new>

#include "sim/base/text.hpp"

namespace gradcast {
namespace {

std::string place(std::string file, std::size_t line) {
  if (line == 0) return file;
  file += ':';
  file += std::to_string(line);
  return file;
}

}  // namespace

Error::Error(ExitCode code, const std::string& what)
    : std::runtime_error(one_line(what)), code_(code) {}

std::optional<Error> as_error(const std::exception& exception) {
  if (const auto* error = dynamic_cast<const Error*>(&exception)) return *error;
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr)
    return Error(ExitCode::Failure,
                 "out of memory: this machine, or the limit that `ulimit -v` shows, gives no more");
  return std::nullopt;
}

DataError::DataError(const std::string& file, std::size_t line, const std::string& what)
    : Error(ExitCode::BadInput, place(file, line).append(": ").append(what)) {}

}  // namespace gradcast
