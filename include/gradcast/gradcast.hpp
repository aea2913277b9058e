// gradcast as a C++ library: ask a question, get a forecast.
//
//     const gradcast::Forecaster forecaster;
//     const gradcast::Forecast answer = forecaster.forecast(
//         {{"model", "resnet-50"}, {"cluster", "dgx-a100"}, {"nodes", 16}, {"compressor",
//         "powersgd"}});
//     std::cout << answer.seconds << " s, 90 % in " << answer.interval->low << " to "
//               << answer.interval->high << "\n";
//
// Settings are the flags of the command line, by the names that `gradcast simulate --help`
// explains. A call answers what the command line answers, to the last bit. It reads no config file
// and no variable of the environment, installs no signal handler, and starts no process (unless the
// setting `engine` is simgrid, whose runs are processes).
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#define GRADCAST_API __attribute__((visibility("default")))

namespace gradcast {

/// "0.1.0": of the library that is linked.
GRADCAST_API std::string version();

/// A question or a file that cannot be answered as it stands. what() is one line: what was found,
/// where, and what would be right. Any other exception is a defect of gradcast or of the machine.
class GRADCAST_API InputError : public std::runtime_error {
 public:
  InputError(const std::string& line, int code);
  ~InputError() override;
  /// The program's exit code: 2 for a setting, 3 for a file, 5 for what build or machine lacks.
  int code() const { return code_; }

 private:
  int code_;
};

/// The call was stopped by Listener::stopped.
class GRADCAST_API Stopped : public std::runtime_error {
 public:
  explicit Stopped(const std::string& line);
  ~Stopped() override;
};

/// The value of a setting: a text with its unit ("25Gbps", "100MiB"), a number, yes or no, or a
/// list of these where `sweep` or another command takes lists. "nodes" 16 is "16".
class GRADCAST_API SettingValue {
 public:
  SettingValue(const char* text);
  SettingValue(std::string text);
  SettingValue(bool yes);
  SettingValue(double number);
  template <
      class Integer,
      std::enable_if_t<std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>, int> = 0>
  SettingValue(Integer number) : SettingValue(std::to_string(number)) {}
  template <class Item>
  SettingValue(const std::vector<Item>& items) {
    for (const Item& item : items) text_ += (text_.empty() ? "" : ",") + SettingValue(item).text();
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// A name of `--help` without its dashes ("nic-bandwidth", also "nic_bandwidth"), and a value.
using Settings = std::vector<std::pair<std::string, SettingValue>>;

/// A file that is not on the disk: wherever a setting names a path, the name stands for the text.
/// One name has one text as long as the Forecaster lives. Names end in ".csv".
struct TextInput {
  std::string name;
  std::string text;
};

/// 90 %, in the unit of what it belongs to.
struct Bounds {
  double low = 0;
  double high = 0;
};

/// One iteration of one training, as the rank that finishes last sees it. All times in seconds.
struct Forecast {
  double seconds = 0;
  std::optional<Bounds> interval;  // of the seconds; none where nothing is known of the software
  /// forward, backward, encode, exposed_communication, decode, update, overhead, wait. They add up
  /// to the seconds.
  std::vector<std::pair<std::string, double>> parts;
  double communication = 0;                  // exposed or hidden
  std::optional<double> samples_per_second;  // of all ranks; none of a collective alone
  std::optional<double> scaling_efficiency;  // 1: as one GPU alone, times their number
  std::optional<double> speedup_over_dense;  // by the same schedule
  std::optional<Bounds> speedup_interval;
  std::string verdict;  // "surely pays", "surely does not pay", "cannot be told"; "" of dense
  std::string measure;  // what to measure so that it can be told
  std::string
      evidence;  // of the compressor's costs: "measured", "simulated", "derived"; "" of dense
  std::string assumptions;            // in words
  std::vector<std::string> warnings;  // as the command line notes them
  std::string json;                   // the whole answer (schema gradcast/simulate)
};

/// A cell: nothing, yes or no, a number, or a text.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// The rows of an answer. Columns and their units stand in the answer's schema
/// (share/gradcast/schema). In a sweep, names without a prefix are the forecast, as forecast() has
/// it, and physics_... leaves the costs of software out.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> warnings;
  std::string json;  // the whole answer, with summary and inputs
};

/// Functions that are called while a call works. They run in the thread of the call, and must not
/// throw.
struct Listener {
  std::function<void(std::size_t done, std::size_t all, const std::string& what)> progress;
  std::function<bool()> stopped;  // asked some 20 times a second
};

/// The output of a command.
struct Printed {
  int code = 0;  // its exit code; a code of an error is an exception instead
  std::string text;
  std::vector<std::string> warnings;
};

/// Answers questions from a folder with models/, traces/ and platforms/. Each file is read and
/// parsed once. Threads may share one.
class GRADCAST_API Forecaster {
 public:
  /// "": the folder that was installed with the library. Throws InputError if it holds no data.
  explicit Forecaster(const std::string& data_folder = "");
  ~Forecaster();
  Forecaster(Forecaster&&) noexcept;
  Forecaster& operator=(Forecaster&&) noexcept;

  /// Makes a text an input of the later calls. Throws InputError for a name with another text.
  void add(const TextInput& input) const;

  /// The forecast of `gradcast simulate`. Throws InputError, also where the run would never end.
  Forecast forecast(const Settings& settings) const;

  // The answers of the commands of these names: a row per point, pair or answer. Throw InputError,
  // Stopped.
  Table sweep(const Settings& settings, const Listener& listener = {}) const;
  Table breakeven(const Settings& settings, const Listener& listener = {}) const;
  Table compare(const Settings& settings, const Listener& listener = {}) const;
  Table fit(const Settings& settings, const Listener& listener = {}) const;
  Table decide(const Settings& settings, const Listener& listener = {}) const;

  /// Any command: its settings, and its words without a flag. Throws InputError, Stopped.
  Printed run(const std::string& command, const Settings& settings,
              const std::vector<std::string>& words = {}, const Listener& listener = {}) const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace gradcast
