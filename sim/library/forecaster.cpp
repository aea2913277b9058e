// The C++ interface of include/gradcast/gradcast.hpp, over the commands.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include "gradcast/gradcast.hpp"
#include "sim/answers/document.hpp"
#include "sim/answers/version.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/library/call.hpp"

namespace gradcast {

std::string version() { return program_version(); }

InputError::InputError(const std::string& line, int code) : std::runtime_error(line), code_(code) {}
InputError::~InputError() = default;

Stopped::Stopped(const std::string& line) : std::runtime_error(line) {}
Stopped::~Stopped() = default;

SettingValue::SettingValue(const char* text) : text_(text) {}
SettingValue::SettingValue(std::string text) : text_(std::move(text)) {}
SettingValue::SettingValue(bool yes) : text_(yes ? "yes" : "no") {}
SettingValue::SettingValue(double number) : text_(number_to_text(number)) {}

namespace {

/// Keeps what a command says.
class Listening : public Caller {
 public:
  explicit Listening(const Listener& listener) : listener_(listener) {}

  void answer(std::string_view text) override { printed.text += text; }
  void note(const std::string& line) override { printed.warnings.push_back(line); }
  void progress(std::size_t done, std::size_t all, const std::string& what) override {
    if (listener_.progress) listener_.progress(done, all, what);
  }
  bool stopped() override { return listener_.stopped && listener_.stopped(); }

  Printed printed;

 private:
  const Listener& listener_;
};

/// Rethrows an error of the program as one of the library.
[[noreturn]] void rethrow(const Error& error) {
  switch (error.code()) {
    case ExitCode::Usage:
    case ExitCode::BadInput:
    case ExitCode::Missing:
      throw InputError(error.what(), static_cast<int>(error.code()));
    case ExitCode::Interrupted:
      throw Stopped(error.what());
    default:
      throw std::runtime_error(error.what());
  }
}

/// Calls `work`; its errors become those of the library.
template <class Work>
auto translated(Work work) {
  try {
    return work();
  } catch (const std::exception& thrown) {
    const std::optional<Error> error = as_error(thrown);
    if (error) rethrow(*error);
    throw std::runtime_error("internal error: " + one_line(thrown.what()));
  }
}

Cell cell_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return std::monostate{};
  return value.dump();
}

/// Rows of one command may differ in columns: those that a row lacks are empty.
Table table_of(Printed printed) {
  const Json document = Json::parse(printed.text);
  Table table;
  const Json& results = document.at("results");
  for (const Json& row : results)
    for (const auto& [name, value] : row.items())
      if (std::find(table.columns.begin(), table.columns.end(), name) == table.columns.end())
        table.columns.push_back(name);
  for (const Json& row : results) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const std::string& name : table.columns)
      cells.push_back(row.contains(name) ? cell_of(row.at(name)) : Cell{});
  }
  table.warnings = std::move(printed.warnings);
  table.json = std::move(printed.text);
  return table;
}

std::optional<double> number(const Json& row, const char* name) {
  return row.contains(name) && row.at(name).is_number() ? std::optional(row.at(name).get<double>())
                                                        : std::nullopt;
}

std::string text(const Json& row, const char* name) {
  return row.contains(name) && row.at(name).is_string() ? row.at(name).get<std::string>() : "";
}

std::optional<Bounds> bounds(const Json& row, const char* low, const char* high) {
  const std::optional<double> from = number(row, low);
  const std::optional<double> to = number(row, high);
  return from && to ? std::optional(Bounds{*from, *to}) : std::nullopt;
}

Settings as_json(Settings settings) {
  for (const auto& [name, value] : settings)
    if (name == "format" || name == "output")
      throw InputError("--" + name + ": only run() takes it; the answer is what this call returns",
                       2);
  settings.emplace_back("format", "json");
  return settings;
}

}  // namespace

struct Forecaster::Inside {
  DataFiles files;
};

Forecaster::Forecaster(const std::string& data_folder)
    : inside_(translated(
          [&] { return std::make_unique<Inside>(Inside{library_files(data_folder)}); })) {}
Forecaster::~Forecaster() = default;
Forecaster::Forecaster(Forecaster&&) noexcept = default;
Forecaster& Forecaster::operator=(Forecaster&&) noexcept = default;

void Forecaster::add(const TextInput& input) const {
  translated([&] {
    DataFiles files = inside_->files.beside();
    files.provide(input.name, input.text);
  });
}

Printed Forecaster::run(const std::string& command, const Settings& settings,
                        const std::vector<std::string>& words, const Listener& listener) const {
  Call call{command, {}, words};
  for (const auto& [name, value] : settings) call.settings.emplace_back(name, value.text());
  Listening listening(listener);
  listening.printed.code = translated([&] {
    try {
      return run_call(call, inside_->files, listening);
    } catch (const Error& error) {
      if (error.code() != ExitCode::BeyondMaxError) throw;
      listening.note(error.what());  // the answer is there
      return static_cast<int>(error.code());
    }
  });
  return std::move(listening.printed);
}

Forecast Forecaster::forecast(const Settings& settings) const {
  Printed printed = run("simulate", as_json(settings));
  const Json row = Json::parse(printed.text).at("results").at(0);
  Forecast forecast;
  const std::optional<double> seconds = number(row, "iteration_seconds");
  if (!seconds) throw InputError("this run never ends: " + text(row, "lost"), 2);
  forecast.seconds = *seconds;
  forecast.interval = bounds(row, "interval_low_seconds", "interval_high_seconds");
  for (const char* part : {"forward", "backward", "encode", "exposed_communication", "decode",
                           "update", "overhead", "wait"})
    forecast.parts.emplace_back(part, row.at(std::string(part) + "_seconds").get<double>());
  forecast.communication = row.at("communication_seconds").get<double>();
  forecast.samples_per_second = number(row, "samples_per_second");
  forecast.scaling_efficiency = number(row, "scaling_efficiency");
  forecast.speedup_over_dense = number(row, "speedup_over_dense");
  forecast.speedup_interval = bounds(row, "speedup_low", "speedup_high");
  forecast.verdict = text(row, "verdict");
  forecast.measure = text(row, "measure");
  forecast.evidence = text(row, "evidence");
  forecast.assumptions = text(row, "assumed");
  forecast.warnings = std::move(printed.warnings);
  forecast.json = std::move(printed.text);
  return forecast;
}

Table Forecaster::sweep(const Settings& settings, const Listener& listener) const {
  return table_of(run("sweep", as_json(settings), {}, listener));
}

Table Forecaster::breakeven(const Settings& settings, const Listener& listener) const {
  return table_of(run("breakeven", as_json(settings), {}, listener));
}

Table Forecaster::compare(const Settings& settings, const Listener& listener) const {
  return table_of(run("compare", as_json(settings), {}, listener));
}

Table Forecaster::fit(const Settings& settings, const Listener& listener) const {
  return table_of(run("fit", as_json(settings), {}, listener));
}

Table Forecaster::decide(const Settings& settings, const Listener& listener) const {
  return table_of(run("decide", as_json(settings), {}, listener));
}

}  // namespace gradcast
