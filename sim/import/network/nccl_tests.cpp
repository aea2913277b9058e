// Logs of nccl-tests: https://github.com/NVIDIA/nccl-tests, src/common.cu prints them. People add
// much: names of ranks before each line, NCCL's own lines between rows and inside them, headings.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/network/log_words.hpp"
#include "sim/import/network/network_facts.hpp"

namespace gradcast {
namespace {

struct TestName {
  std::string_view test;
  std::string_view collective;  // "": no forecast has it
};
constexpr std::array<TestName, 10> kTests = {{{"all_reduce", "all-reduce"},
                                              {"all_gather", "all-gather"},
                                              {"reduce_scatter", "reduce-scatter"},
                                              {"broadcast", "broadcast"},
                                              {"sendrecv", "send-receive"},
                                              {"alltoall", "all-to-all"},
                                              {"gather", "gather"},
                                              {"scatter", "scatter"},
                                              {"reduce", "reduce"},
                                              {"hypercube", ""}}};

/// nullptr: no test's name stands in the text, as in "build/all_reduce_perf -b 8".
const TestName* test_named_in(std::string_view line) {
  const std::size_t end = line.find("_perf");
  if (end == std::string_view::npos) return nullptr;
  const std::string_view before = line.substr(0, end);
  const auto found = std::find_if(kTests.begin(), kTests.end(), [&](const TestName& name) {
    return before.ends_with(name.test);
  });
  return found == kTests.end() ? nullptr : &*found;
}

/// NaN for "N/A".
double number_of(std::string_view word) {
  if (word == "N/A") return std::nan("");
  try {
    return parse_number(word);
  } catch (const ValueError&) {
    return std::nan("");
  }
}

/// A row of a table, perhaps cut off: other processes print between the parts of it.
struct TableRow {
  std::int64_t bytes = 0;
  bool reduces = false;  // column redop names an operation
  bool cut = false;
  std::vector<std::string> numbers{};  // from column root on, or from time on where that is missing
};

/// Adds the numbers at the beginning of `words` to the row. False if something else follows them:
/// the row was cut there, perhaps inside a word, as in "-1node7:12:34 [0] NCCL INFO".
bool take_numbers(TableRow& row, std::span<const std::string_view> words) {
  for (const std::string_view word : words) {
    const std::size_t length = word.starts_with("N/A") ? 3 : number_length(word);
    if (length == 0) return false;
    row.numbers.emplace_back(word.substr(0, length));
    if (length < word.size()) return false;
  }
  return true;
}

/// Whether words begin like a row: two whole numbers and a type.
bool begins_row(const std::vector<std::string_view>& words) {
  const auto whole = [](std::string_view word) {
    constexpr std::size_t kMostDigits = 16;
    return word.size() <= kMostDigits && std::all_of(word.begin(), word.end(), is_digit);
  };
  return words.size() >= 3 && whole(words[0]) && whole(words[1]) &&
         std::isalpha(static_cast<unsigned char>(words[2][0])) != 0;
}

class NcclTestsLog {
 public:
  explicit NcclTestsLog(const TextFile& file) : file_(file) { facts_.kind = "nccl-tests"; }

  NetworkFacts read() {
    test_ = test_named_in(file_.path.filename().string());
    const std::string_view text = file_.content;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      ++line_;
      take(text.substr(begin, end - begin));
      begin = end + 1;
    }
    end_table();
    if (!any_row_)
      throw DataError(file_.path.string(), 0,
                      "has no table of nccl-tests: no row like '1048576 262144 float sum -1 203.2 "
                      "5.16 9.68 0'");
    if (facts_.points.empty())
      throw DataError(file_.path.string(), 0,
                      "gives no measured time: " + join(facts_.notes.dropped, "; "));
    return std::move(facts_);
  }

 private:
  void take(std::string_view whole) {
    std::string_view line = without_prefix(whole);
    if (line.find("NCCL INFO") != std::string_view::npos ||
        line.find("NCCL version") != std::string_view::npos) {
      take_of_nccl(line);
      const std::vector<std::string_view> words = words_of(line);
      if (!begins_row(words) && !goes_on(words)) return;
    }
    if (line.find("nThread") != std::string_view::npos &&
        line.find("nGpus") != std::string_view::npos)
      return begin_test();
    if (line.find("nccl-library=") != std::string_view::npos) take_library(line);
    if (line.find("busbw") != std::string_view::npos)
      counts_wrong_ = line.find("error") == std::string_view::npos;
    if (const TestName* named = test_named_in(line);
        named != nullptr && line.find("concluded") == std::string_view::npos) {
      if (!rows_.empty()) end_table();
      test_ = named;
      return;
    }
    while (line.starts_with('#')) line.remove_prefix(1);
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() > 6 && words[0] == "Rank") return take_rank(words);
    take_row(words);
  }

  void begin_test() {
    end_table();
    hosts_.clear();
    ranks_ = 0;
  }

  /// Rank 0 Group 0 Pid 17 on HOST device 0 [0x07] NVIDIA A100-SXM4-40GB
  void take_rank(const std::vector<std::string_view>& words) {
    const auto on = std::find(words.begin(), words.end(), "on");
    if (words.end() - on < 4 || on[2] != "device") return;
    if (!rows_.empty()) begin_test();
    if (words[1] == "0") {  // a second one: each process runs alone, in a build without MPI
      hosts_.clear();
      ranks_ = 0;
    }
    if (++ranks_ > kMostRanks) throw failure("more than " + std::to_string(kMostRanks) + " ranks");
    ++hosts_[clean_text(on[1])];
    std::string device;
    for (auto word = on + 4; word != words.end(); ++word)
      if (!word->starts_with('[')) device += (device.empty() ? "" : " ") + std::string(*word);
    if (!device.empty()) facts_.device = shortened(clean_text(one_line(device)), 80);
  }

  /// Whether words may be the rest of the row that was cut.
  bool goes_on(const std::vector<std::string_view>& words) const {
    return row_ && !words.empty() && number_length(words[0]) == words[0].size();
  }

  void take_row(const std::vector<std::string_view>& words) {
    if (begins_row(words)) {
      end_row();
      TableRow row;
      row.bytes = parse_integer(words[0]);
      std::size_t next = 3;
      if (next < words.size() && std::isalpha(static_cast<unsigned char>(words[next][0])) != 0 &&
          words[next] != "N/A") {
        row.reduces = words[next] != "none";
        ++next;
      }
      row.cut = !take_numbers(row, std::span(words).subspan(next));
      row.cut = row.cut || row.numbers.size() < 4;
      row_ = std::move(row);
      if (!row_->cut) end_row();
      return;
    }
    if (!goes_on(words)) return;
    TableRow longer = *row_;
    const bool clean = take_numbers(longer, words);
    if (longer.numbers.size() > kMostNumbers ||
        (!clean && longer.numbers.size() == row_->numbers.size()))
      return;
    row_ = std::move(longer);
    if (row_->numbers.size() >= kMostNumbers - 1) end_row();
  }

  void end_row() {
    if (!row_) return;
    if (rows_.size() >= kMostRows)
      throw failure("more than " + std::to_string(kMostRows) + " rows");
    any_row_ = true;
    rows_.push_back(std::move(*row_));
    row_.reset();
  }

  /// GB/s from which on two decimals tell collectives apart.
  static constexpr double kToldApart = 0.3;

  struct Timed {
    std::int64_t bytes;
    double seconds;
    double bus_over_algorithm;
    bool reduces;
  };

  /// The time out of place; where that is missing, the one in place.
  std::optional<Timed> timed(const TableRow& row) {
    const std::size_t root = row.numbers.size() % 4 == 1 ? 1 : 0;
    const auto at = [&](std::size_t i) {
      return root + i < row.numbers.size() ? number_of(row.numbers[root + i]) : std::nan("");
    };
    for (const std::size_t place : {0U, 4U}) {
      const double time = at(place), algorithm = at(place + 1), bus = at(place + 2);
      if (!(time > 0) || !(algorithm >= 0) || !(bus >= 0)) continue;
      if (counts_wrong_ && at(place + 3) > 0) {
        drop(row, "counts wrong results");
        return std::nullopt;
      }
      const double rate = static_cast<double>(row.bytes) / time / 1e3;
      // Bandwidths are printed in two decimals, and some versions print times in four digits. Up
      // to 2020 the algorithm bandwidth of a gather or scatter was that of the bus.
      const double slack = 0.0101 + 0.01 * rate;
      const double least = ranks_ > 1 ? rate * (ranks_ - 1) / ranks_ : rate;
      if (algorithm > rate + slack || algorithm < least - slack) continue;
      return Timed{row.bytes, time * 1e-6, algorithm >= kToldApart ? bus / algorithm : 0,
                   row.reduces};
    }
    drop(row, row.cut ? "is cut" : "has no time that fits its bandwidth");
    return std::nullopt;
  }

  void drop(const TableRow& row, const std::string& why) {
    if (facts_.notes.dropped.size() < kMostNotes)
      facts_.notes.dropped.push_back(name() + ": the row of " + std::to_string(row.bytes) +
                                     " bytes " + why);
  }

  std::string name() const { return noted_name(file_); }

  /// By its name, or where no line has that, by bus over algorithm bandwidth: 2 (n - 1) / n of an
  /// all-reduce, (n - 1) / n of a reduce-scatter.
  std::string collective_of(const std::vector<Timed>& rows) const {
    if (test_ != nullptr) return std::string(test_->collective);
    const Timed& largest = rows.back();
    const double share = (ranks_ - 1.) / ranks_;
    const auto near = [&](double factor) {
      return std::abs(largest.bus_over_algorithm / factor - 1) < 0.03;
    };
    if (largest.reduces && near(2 * share)) return "all-reduce";
    if (largest.reduces && near(share)) return "reduce-scatter";
    return "";
  }

  void end_table() {
    end_row();
    std::vector<Timed> rows;
    for (const TableRow& row : rows_)
      if (row.bytes > 0)
        if (const auto its = timed(row)) rows.push_back(*its);
    rows_.clear();
    if (rows.empty()) return;
    add_points(rows);
    test_ = test_named_in(file_.path.filename().string());
  }

  void add_points(const std::vector<Timed>& rows) {
    const auto leave_out = [&](const std::string& why) {
      if (facts_.notes.dropped.size() < kMostNotes)
        facts_.notes.dropped.push_back(name() + ": a table of " + std::to_string(rows.size()) +
                                       " rows, " + why);
    };
    if (hosts_.empty())
      return leave_out("because no lines '# Rank 0 ... on HOST device 0' say its ranks");
    const int gpus = hosts_.begin()->second;
    for (const auto& [host, count] : hosts_)
      if (count != gpus) return leave_out("because its nodes have unequal numbers of ranks");
    if (ranks_ < 2) return leave_out("of one rank");
    const std::string collective = collective_of(rows);
    if (collective.empty())
      return leave_out(test_ != nullptr ? "of " + std::string(test_->test)
                                        : "because nothing says which test it is of: put a line "
                                          "like 'all_gather_perf' before it");
    const int nodes = static_cast<int>(hosts_.size());
    for (const Timed& row : rows)
      facts_.points.push_back(
          {collective, nodes, gpus, Bytes{row.bytes}, library(), Seconds{row.seconds}});
    facts_.nodes = std::max(facts_.nodes, nodes);
    facts_.gpus_per_node = std::max(facts_.gpus_per_node, gpus);
    facts_.notes.used.push_back(name() + ": " + collective + " on " + std::to_string(nodes) +
                                " x " + std::to_string(gpus) + " GPUs, " +
                                std::to_string(rows.size()) + " sizes");
  }

  std::string library() const {
    return version_.empty() ? "nccl" : std::string(kNcclPrefix) + version_;
  }

  static constexpr std::string_view kSet = " set by environment to ";

  void take_of_nccl(std::string_view line) {
    if (const std::string_view version = nccl_version_in(line); !version.empty())
      version_ = version;
    const auto has = [&](std::string_view words) {
      return line.find(words) != std::string_view::npos;
    };
    if (has("Using network Socket")) facts_.network_kind = NetworkKind::Tcp;
    if (has("Using network IB"))
      facts_.network_kind = roce_ ? NetworkKind::Roce : NetworkKind::InfiniBand;
    if (has("Using network GPUDirectTCPX") || has("Using network FasTrak"))
      facts_.network_kind = NetworkKind::GpudirectTcp;
    if (has("NVLS multicast support is "))
      facts_.nvlink_sharp = has("is not available") ? YesNo::No : YesNo::Yes;
    if (has("NET/IB : Using [")) take_nics(line);
    if (has(kSet)) take_setting(line);
  }

  /// "NCCL_ALGO set by environment to Ring." Other variables change nothing here.
  void take_setting(std::string_view line) {
    const std::size_t at = line.find(kSet);
    const std::vector<std::string_view> before = words_of(line.substr(0, at));
    const std::vector<std::string_view> after = words_of(line.substr(at + kSet.size()));
    if (before.empty() || after.empty() || !is_nccl_setting(before.back())) return;
    const std::string name(before.back());
    std::string value(after.front());
    if (value.ends_with('.')) value.pop_back();
    std::string& text = facts_.nccl_settings.text;
    if ((" " + text).find(" " + name + "=") != std::string::npos) return;  // every rank says it
    try {
      facts_.nccl_settings =
          parse_nccl_settings(text.empty() ? name + "=" + value : text + " " + name + "=" + value);
    } catch (const ValueError& error) {
      facts_.notes.dropped.push_back(this->name() + ": " + error.what());
    }
  }

  /// NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_2:1/IB: the InfiniBand ones, where there are any.
  void take_nics(std::string_view line) {
    int infiniband = 0, roce = 0;
    for (const std::string_view word : words_of(line)) {
      infiniband += word.starts_with('[') && word.ends_with("/IB") ? 1 : 0;
      roce += word.starts_with('[') && word.ends_with("/RoCE") ? 1 : 0;
    }
    facts_.nics_per_node = infiniband > 0 ? infiniband : roce;
    roce_ = infiniband == 0 && roce > 0;
  }

  /// "nccl-library=22902" is 2.29.2.
  void take_library(std::string_view line) {
    const std::string_view rest = line.substr(line.find("nccl-library=") + 13);
    const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
    if (digits.size() != 5) return;
    const std::int64_t code = parse_integer(digits);
    version_ = std::to_string(code / 10'000) + "." + std::to_string(code / 100 % 100) + "." +
               std::to_string(code % 100);
  }

  DataError failure(const std::string& what) const { return {file_.path.string(), line_, what}; }

  static constexpr std::size_t kMostNumbers = 9;  // root, and four of each place
  static constexpr std::size_t kMostRows = 100'000;
  static constexpr std::size_t kMostNotes = 20;

  const TextFile& file_;
  std::size_t line_ = 0;
  NetworkFacts facts_;
  const TestName* test_ = nullptr;
  std::string version_;
  std::map<std::string, int> hosts_;  // and their ranks
  int ranks_ = 0;
  bool counts_wrong_ = true;  // else the last column of a place is a rounding error
  bool roce_ = false;
  bool any_row_ = false;
  std::vector<TableRow> rows_;
  std::optional<TableRow> row_;  // whose rest has not come
};

}  // namespace

bool is_nccl_tests(std::string_view begin) {
  const auto has = [&](std::string_view words) {
    return begin.find(words) != std::string_view::npos;
  };
  return (has("nThread") && has("minBytes")) || (has("algbw") && has("busbw")) ||
         has("Collective test starting");
}

NetworkFacts read_nccl_tests(const TextFile& file) { return NcclTestsLog(file).read(); }

}  // namespace gradcast
