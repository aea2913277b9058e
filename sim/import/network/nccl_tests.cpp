// Logs of nccl-tests: https://github.com/NVIDIA/nccl-tests, src/common.cu prints them. People add
// much: names of ranks before each line, NCCL's own lines between rows and inside them, headings.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/network/log_words.hpp"
#include "sim/import/network/nccl_lines.hpp"
#include "sim/import/network/nccl_table.hpp"
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

/// The lines '# Rank 0 Group 0 Pid 17 on HOST device 0 [0x07] NVIDIA A100-SXM4-40GB' of a test.
class NcclRanks {
 public:
  /// Layout of a collective's ranks. NCCL_TESTS_SPLIT divides a job's ranks into groups, each with
  /// a collective of its own at the same time.
  struct Layout {
    int nodes = 0;
    int gpus = 0;  // a node, of one group
    int groups = 0;
    int all_nodes = 0, all_gpus = 0;  // a node, of all groups
    bool is_said = false;             // by flags, not by the file
    std::string unusable{};           // why there is no such layout

    int ranks() const { return nodes * gpus; }
  };

  void clear() {
    groups_.clear();
    count_ = 0;
  }

  /// The number of ranks with this one.
  int add(const std::string& group, const std::string& host) {
    ++groups_[group][host];
    return ++count_;
  }

  Layout layout() const {
    Layout found;
    const auto unusable = [&](const std::string& why) {
      found.unusable = why;
      return found;
    };
    if (groups_.empty())
      return unusable(
          "because no lines '# Rank 0 ... on HOST device 0' say its ranks: say them by --nodes N "
          "and --gpus-per-node G");
    found.groups = static_cast<int>(groups_.size());
    std::map<std::string, int> all;
    for (const auto& [group, hosts] : groups_) {
      const int nodes = static_cast<int>(hosts.size()), gpus = hosts.begin()->second;
      for (const auto& [host, count] : hosts) {
        if (count != gpus) return unusable("because its nodes have unequal numbers of ranks");
        found.all_gpus = std::max(found.all_gpus, all[host] += count);
      }
      if (found.nodes > 0 && (found.nodes != nodes || found.gpus != gpus))
        return unusable("because its groups of ranks (NCCL_TESTS_SPLIT) lie on nodes in " +
                        std::string("different ways"));
      found.nodes = nodes;
      found.gpus = gpus;
    }
    found.all_nodes = static_cast<int>(all.size());
    if (found.ranks() < 2) return unusable("of one rank");
    return found;
  }

 private:
  std::map<std::string, std::map<std::string, int>> groups_;  // ranks of each host
  int count_ = 0;
};

/// The layout that somebody says. People show tables without the list of ranks, or cut that.
std::optional<NcclRanks::Layout> layout_of(const SaidLayout& said) {
  if (!said.nodes && !said.gpus_per_node) return std::nullopt;
  const SaidRanks ranks(said);
  NcclRanks::Layout layout;
  layout.nodes = layout.all_nodes = ranks.nodes;
  layout.gpus = layout.all_gpus = ranks.gpus;
  layout.groups = 1;
  layout.is_said = true;
  return layout;
}

class NcclTestsLog {
 public:
  NcclTestsLog(const TextFile& file, const SaidLayout& said)
      : file_(file), said_(said), nccl_(noted_name(file)) {
    facts_.kind = "nccl-tests";
  }

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
    if (facts_.points.empty() && decimal_commas_)
      throw DataError(file_.path.string(), 0,
                      "has numbers with decimal commas: nccl-tests writes points, as in '203.2'");
    if (facts_.points.empty())
      throw DataError(file_.path.string(), 0,
                      "gives no measured time: " + (facts_.notes.dropped.empty()
                                                        ? "its rows have 0 bytes"
                                                        : join(facts_.notes.dropped, "; ")));
    nccl_.add_to(facts_);
    return std::move(facts_);
  }

 private:
  void take(std::string_view whole) {
    const std::string uncoloured = without_colours(whole);
    const std::string plain = without_inner_tags(without_prefix(uncoloured));
    std::string_view line = plain;
    if (line.find("NCCL INFO") != std::string_view::npos ||
        line.find("NCCL version") != std::string_view::npos) {
      nccl_.take(line);
      const std::vector<std::string_view> words = words_of(line);
      if (!begins_row(words) && !goes_on(words)) return;
    }
    if (line.find("nThread") != std::string_view::npos &&
        line.find("nGpus") != std::string_view::npos)
      return begin_test();
    if (line.find("nccl-library=") != std::string_view::npos) nccl_.take_library(line);
    if (line.find("busbw") != std::string_view::npos) columns_ = nccl_columns_in(line);
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
    ranks_.clear();
    columns_ = {};
  }

  /// Rank 0 Group 0 Pid 17 on HOST device 0 [0x07] NVIDIA A100-SXM4-40GB
  void take_rank(const std::vector<std::string_view>& words) {
    const auto on = std::find(words.begin(), words.end(), "on");
    if (words.end() - on < 4 || on[2] != "device") return;
    if (!rows_.empty()) begin_test();
    // A second rank 0: each process runs alone, in a build without MPI.
    if (words[1] == "0") ranks_.clear();
    const std::string group = words[2] == "Group" ? clean_text(words[3]) : "0";
    if (ranks_.add(group, clean_text(on[1])) > kMostRanks)
      throw failure("more than " + std::to_string(kMostRanks) + " ranks");
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
      NcclTableRow row;
      row.bytes = parse_integer(words[0]);
      std::size_t next = 3;
      if (next < words.size() && std::isalpha(static_cast<unsigned char>(words[next][0])) != 0 &&
          words[next] != "N/A") {
        row.reduces = words[next] != "none";
        ++next;
      }
      row.cut = !take_numbers(row, std::span(words).subspan(next));
      row.commas = std::any_of(words.begin() + next, words.end(), has_decimal_comma);
      decimal_commas_ = decimal_commas_ || row.commas;
      row.cut = row.cut || row.numbers.size() < 4;
      row_ = std::move(row);
      if (!row_->cut) end_row();
      return;
    }
    if (!goes_on(words)) return;
    NcclTableRow longer = *row_;
    const bool clean = take_numbers(longer, words);
    if (longer.numbers.size() > columns_.numbers + 1 ||
        (!clean && longer.numbers.size() == row_->numbers.size()))
      return;
    row_ = std::move(longer);
    if (row_->numbers.size() >= columns_.numbers) end_row();
  }

  void end_row() {
    if (!row_) return;
    if (rows_.size() >= kMostRows)
      throw failure("more than " + std::to_string(kMostRows) + " rows");
    any_row_ = true;
    rows_.push_back(std::move(*row_));
    row_.reset();
  }

  std::string name() const { return noted_name(file_); }

  void drop(std::int64_t bytes, const std::string& why) {
    note_dropped(name() + ": the row of " + std::to_string(bytes) + " bytes " + why);
  }

  void leave_out(std::size_t rows, const std::string& why) {
    note_dropped(name() + ": a table of " + std::to_string(rows) + " rows, " + why);
  }

  void note_dropped(const std::string& note) {
    constexpr std::size_t kMostNotes = 20;
    if (facts_.notes.dropped.size() < kMostNotes) facts_.notes.dropped.push_back(note);
  }

  /// The collective by its name, or where no line has that, by bus over algorithm bandwidth, which
  /// is 2 (n - 1) / n of an all-reduce, (n - 1) / n of a reduce-scatter. "" with `why`: unknown.
  std::string collective_of(const std::vector<NcclTimedRow>& rows, int ranks,
                            std::string& why) const {
    if (test_ != nullptr) {
      why = "of " + std::string(test_->test);
      return std::string(test_->collective);
    }
    constexpr const char* kNameIt = ": put a line like 'all_gather_perf' before it";
    why = std::string("because nothing says which test it is of") + kNameIt;
    const NcclTimedRow& largest = rows.back();
    const double share = (ranks - 1.) / ranks;
    // Two decimals tell collectives apart from there on.
    constexpr double kToldApart = 0.3;
    const auto near = [&](double factor) {
      return largest.algorithm >= kToldApart &&
             std::abs(largest.bus / largest.algorithm / factor - 1) < 0.03;
    };
    // A reduce has a root, and the factor 1.
    if (!largest.reduces || largest.root >= 0) return "";
    if (near(2 * share) && ranks == 2 && !largest.has_root) {
      why = std::string("which an all-reduce and a reduce of two ranks have alike") + kNameIt;
      return "";
    }
    if (near(2 * share)) return "all-reduce";
    if (near(share)) return "reduce-scatter";
    return "";
  }

  /// The file's list, or what is said where it has none that can be. Bandwidths tell whether that
  /// is right, but for a broadcast and the like, whose two are one.
  NcclRanks::Layout layout_of_table() const {
    NcclRanks::Layout listed = ranks_.layout();
    if (listed.unusable.empty() || listed.groups > 1) return listed;
    return layout_of(said_).value_or(listed);
  }

  void end_table() {
    end_row();
    const NcclRanks::Layout layout = layout_of_table();
    std::vector<NcclTimedRow> rows;
    if (columns_.cpu_time && !rows_.empty())
      leave_out(rows_.size(),
                "because its column is cputime, the time in which the CPU's call returned: run "
                "without -C 1");
    else
      for (const NcclTableRow& row : rows_) {
        std::string why;
        if (row.bytes <= 0) continue;
        if (const auto its = timed(row, columns_, layout.ranks(), why))
          rows.push_back(*its);
        else
          drop(row.bytes, why);
      }
    if (!rows_.empty()) columns_ = {};
    rows_.clear();
    if (rows.empty()) return;
    add_points(rows, layout);
    test_ = test_named_in(file_.path.filename().string());
  }

  void add_points(std::vector<NcclTimedRow>& rows, const NcclRanks::Layout& layout) {
    if (!layout.unusable.empty()) return leave_out(rows.size(), layout.unusable);
    std::string why;
    const std::string collective = collective_of(rows, layout.ranks(), why);
    if (collective.empty()) return leave_out(rows.size(), why);
    const std::string of_ranks =
        "those of " + collective + " among " + std::to_string(layout.ranks()) + " ranks";
    const auto fits = [&](const NcclTimedRow& row) {
      return fits_ranks(row, collective, layout.ranks());
    };
    const auto misfits = std::count_if(rows.begin(), rows.end(), std::not_fn(fits));
    if (2 * misfits > static_cast<std::ptrdiff_t>(rows.size()))
      return leave_out(rows.size(), "because its bandwidths are not " + of_ranks);
    for (const NcclTimedRow& row : rows)
      if (!fits(row)) drop(row.bytes, "has bandwidths that are not " + of_ranks);
    std::erase_if(rows, [&](const NcclTimedRow& row) { return !fits(row); });
    for (const NcclTimedRow& row : rows)
      facts_.points.push_back({collective, layout.nodes, layout.gpus, Bytes{row.bytes},
                               nccl_.library(), Seconds{row.seconds}});
    facts_.layout_is_said = facts_.layout_is_said || layout.is_said;
    facts_.nodes = std::max(facts_.nodes, layout.all_nodes);
    facts_.gpus_per_node = std::max(facts_.gpus_per_node, layout.all_gpus);
    facts_.notes.used.push_back(
        name() + ": " + collective + " on " + std::to_string(layout.nodes) + " x " +
        std::to_string(layout.gpus) + " GPUs" + (layout.is_said ? ", as flags say" : "") + ", " +
        std::to_string(rows.size()) + " sizes" +
        (layout.groups > 1 ? "; " + std::to_string(layout.groups) +
                                 " such groups of ranks ran at once, and shared the network"
                           : ""));
  }

  DataError failure(const std::string& what) const { return {file_.path.string(), line_, what}; }

  static constexpr std::size_t kMostRows = 100'000;

  const TextFile& file_;
  const SaidLayout& said_;
  std::size_t line_ = 0;
  NetworkFacts facts_;
  NcclLines nccl_;
  const TestName* test_ = nullptr;
  NcclRanks ranks_;
  NcclTableColumns columns_;
  bool any_row_ = false;
  bool decimal_commas_ = false;
  std::vector<NcclTableRow> rows_;
  std::optional<NcclTableRow> row_;  // whose rest has not come
};

/// Whether a line is a whole row: "1048576 262144 float sum -1 203.2 5.16 9.68 0". Tables are shown
/// without their heads, too.
bool is_row(std::string_view line) {
  constexpr std::array<std::string_view, 7> kOperations = {"sum", "prod", "max",   "min",
                                                           "avg", "none", "mulsum"};
  constexpr std::size_t kLeastNumbers = 4;
  const std::string uncoloured = without_colours(line);
  const std::vector<std::string_view> words = words_of(without_prefix(uncoloured));
  if (!begins_row(words) || words.size() < 4 + kLeastNumbers) return false;
  NcclTableRow row;
  take_numbers(row, std::span(words).subspan(4));
  return row.numbers.size() >= kLeastNumbers &&
         std::find(kOperations.begin(), kOperations.end(), words[3]) != kOperations.end();
}

bool has_row(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (is_row(text.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

bool is_nccl_tests(std::string_view begin) {
  const auto has = [&](std::string_view words) {
    return begin.find(words) != std::string_view::npos;
  };
  return (has("nThread") && has("minBytes")) || (has("algbw") && has("busbw")) ||
         has("Collective test starting") || has_row(begin);
}

NetworkFacts read_nccl_tests(const TextFile& file, const SaidLayout& said) {
  return NcclTestsLog(file, said).read();
}

}  // namespace gradcast
