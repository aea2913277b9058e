#include "sim/base/error.hpp"

namespace gradcast {
namespace {

std::string place(std::string file, std::size_t line) {
  if (line == 0) return file;
  file += ':';
  file += std::to_string(line);
  return file;
}

}  // namespace

DataError::DataError(const std::string& file, std::size_t line, const std::string& what)
    : Error(ExitCode::BadInput, place(file, line).append(": ").append(what)) {}

}  // namespace gradcast
