#include "sim/calibration/torch_message.hpp"

#include <cmath>

#include "sim/answers/document.hpp"
#include "sim/base/error.hpp"

namespace gradcast {
namespace {

double positive(const Json& value) {
  const double number = value.get<double>();
  if (!std::isfinite(number) || number < 0) throw ValueError("a number that is no time");
  return number;
}

std::int64_t samples_of(const Json& value) {
  // 1e80 would become any number.
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0)
    throw ValueError("a number of samples that is none");
  return value.get<std::int64_t>();
}

/// [median, p95, samples]
BenchTiming timing_of(const Json& value) {
  return {positive(value.at(0)), positive(value.at(1)), samples_of(value.at(2)), 0};
}

BenchResult result_of(const Json& answer, std::size_t workers) {
  BenchResult result;
  result.encode = timing_of(answer.at("encode"));
  for (const Json& decode : answer.at("decode")) result.decode.push_back(timing_of(decode));
  if (result.decode.size() != workers)
    throw ValueError("another number of decode times than workers");
  result.selected = positive(answer.at("selected"));
  result.recall = positive(answer.at("recall"));
  result.path = answer.value("variant", "");
  return result;
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Of an error of Python's: what it prints may go on for many lines.
std::string first_line_of(const Json& object, const char* key) {
  const std::string text = text_of(object, key);
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string read_torch_hello(const std::string& line) {
  std::string error;
  std::string version;
  try {
    const Json hello = Json::parse(line);
    error = first_line_of(hello, "error");
    version = first_line_of(hello, "torch");
    if (const std::string cuda = first_line_of(hello, "cuda"); !cuda.empty())
      version += ", CUDA " + cuda;
    if (const std::string on = first_line_of(hello, "device"); !on.empty()) version += ", " + on;
  } catch (const Json::exception&) {
    throw ValueError("its first line is not what it should be");
  }
  if (!error.empty()) throw ValueError(error);
  if (version.empty()) throw ValueError("its first line names no torch");
  return version;
}

BenchResult read_torch_answer(const std::string& line, std::size_t workers) {
  const std::string no_answer = "its answer is not what it should be: ";
  std::string refused;
  try {
    const Json answer = Json::parse(line);
    refused = first_line_of(answer, "error");
    if (refused.empty()) return result_of(answer, workers);
  } catch (const Json::exception& error) {
    const std::string what = error.what();
    throw ValueError(no_answer + what.substr(0, what.find('\n')));
  } catch (const ValueError& error) {
    throw ValueError(no_answer + error.what());
  }
  throw TorchRefused(refused);
}

}  // namespace gradcast
