// Tables of the OSU Micro-Benchmarks (https://mvapich.cse.ohio-state.edu/benchmarks/): collectives,
// and latency and bandwidth between two processes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/network/log_words.hpp"
#include "sim/import/network/network_facts.hpp"

namespace gradcast {
namespace {

constexpr std::string_view kOsuMark = "# OSU ";

struct OsuTest {
  std::string_view title;       // all of it: "Allreduce Latency Test"
  std::string_view collective;  // "": between two processes
  bool of_a_rank;               // the size is a rank's part, not that of all
};
constexpr std::string_view kOsuLatency = "Latency Test";
constexpr std::string_view kOsuBandwidth = "Bandwidth Test";
constexpr std::array<OsuTest, 11> kOsuTests = {
    {{"Allreduce Latency Test", "all-reduce", false},
     {"Allgather Latency Test", "all-gather", true},
     {"Reduce_scatter Latency Test", "reduce-scatter", false},
     {"Broadcast Latency Test", "broadcast", false},
     {"All-to-All Personalized Exchange Latency Test", "all-to-all", true},
     {"All-to-All Latency Test", "all-to-all", true},  // the non-blocking one's name
     {"Reduce Latency Test", "reduce", false},
     {"Gather Latency Test", "gather", true},
     {"Scatter Latency Test", "scatter", true},
     {kOsuLatency, "", false},
     {kOsuBandwidth, "", false}}};

/// The last word of a row whose results were wrong, as `-c` checks them.
constexpr std::string_view kFailed = " Fail";

/// Column of a non-blocking collective's table: its time while nothing is computed.
constexpr std::string_view kPureCommunication = "Pure Comm.(us)";

std::string_view line_at(std::string_view text, std::size_t begin) {
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

/// The size, and the number in a column: "1024      55.48     24.05".
std::optional<std::pair<std::int64_t, double>> osu_row(std::string_view line, std::size_t column) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() <= column) return std::nullopt;
  try {
    return std::pair(parse_integer(words[0]), parse_number(words[column]));
  } catch (const ValueError&) {
    return std::nullopt;
  }
}

/// A line "# OSU MPI-CUDA Non-blocking Allreduce Latency Test v7.2".
struct OsuTitle {
  std::string whole;          // "MPI-CUDA Non-blocking Allreduce Latency Test"
  std::string library;        // "mpi", "nccl"; "" for another one
  std::string test;           // "Allreduce Latency Test"
  bool non_blocking = false;  // it overlaps with computation
};

OsuTitle osu_title_in(std::string_view line) {
  const std::vector<std::string_view> words =
      words_of(line.substr(line.find(kOsuMark) + kOsuMark.size()));
  OsuTitle title;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool version = words[i].size() > 1 && words[i][0] == 'v' && is_digit(words[i][1]);
    if (version && i > 0) break;
    title.whole += (i > 0 ? " " : "") + std::string(words[i]);
    if (i == 1 && words[i] == "Non-blocking")
      title.non_blocking = true;
    else if (i > 0)
      title.test += (title.test.empty() ? "" : " ") + std::string(words[i]);
  }
  if (words.empty()) return title;
  const std::string_view library = words[0].substr(0, words[0].find('-'));
  if (library == "MPI") title.library = "mpi";
  if (library == "NCCL" || library == "XCCL") title.library = "nccl";
  title.whole = shortened(clean_text(one_line(title.whole)), 100);
  return title;
}

/// nullptr for a test that is not read.
const OsuTest* osu_test_of(const OsuTitle& title) {
  if (title.library.empty()) return nullptr;
  const auto found = std::find_if(kOsuTests.begin(), kOsuTests.end(), [&](const OsuTest& test) {
    return title.test == test.title && (!title.non_blocking || !test.collective.empty());
  });
  return found == kOsuTests.end() ? nullptr : &*found;
}

/// The place of a column below "# Size    Overall(us)    Pure Comm.(us)": two blanks or more stand
/// between names. 0: no such column.
std::size_t osu_column(std::string_view header, std::string_view name) {
  std::size_t column = 0;
  for (std::size_t at = 0; at < header.size(); ++column) {
    std::size_t end = std::min(header.find("  ", at), header.size());
    if (header.substr(at, end - at) == name) return column;
    while (end < header.size() && header[end] == ' ') ++end;
    at = end;
  }
  return 0;
}

class OsuTable {
 public:
  OsuTable(const TextFile& file, const SaidLayout& said) : file_(file), said_(said) {
    facts_.kind = "osu";
  }

  NetworkFacts read() {
    const std::string_view text = file_.content;
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
      const std::string plain = without_colours(line_at(text, begin));
      const std::string_view line = without_prefix(plain);
      ++line_;
      if (line.find(kOsuMark) != std::string_view::npos)
        begin_table(osu_title_in(line));
      else if (const std::size_t at = line.find("# Size"); at != std::string_view::npos)
        take_header(line.substr(at + 2));
      else if (const auto row = osu_row(line, column_); row && test_ != nullptr)
        line.ends_with(kFailed) ? drop_failed(row->first) : take(row->first, row->second);
      if (text.find('\n', begin) == std::string_view::npos) break;
    }
    if (rows_ == 0 && !refused_.empty())
      throw DataError(file_.path.string(), refused_line_, refused_);
    if (rows_ == 0)
      throw DataError(file_.path.string(), 0,
                      "has no table of OSU's collectives, latency or bandwidth: no row like '1024 "
                      "55.48' below a line like '# OSU MPI Allreduce Latency Test v7.2'");
    facts_.notes.used.push_back(noted_name(file_) + ": " + std::to_string(rows_) + " sizes");
    if (!facts_.nic_latency) facts_.nic_latency = latency_of_nothing_;
    return std::move(facts_);
  }

 private:
  void begin_table(OsuTitle title) {
    title_ = std::move(title);
    title_line_ = line_;
    column_ = 1;
    test_ = osu_test_of(title_);
    if (test_ != nullptr) return;
    if (title_.test == "Bi-Directional Bandwidth Test")
      return refuse("which adds up both directions of a link: run osu_bw");
    refuse(
        "which is not read; these are: osu_latency, osu_bw, and osu_ allreduce, allgather, "
        "reduce_scatter, bcast, alltoall, reduce, gather, scatter");
  }

  void take_header(std::string_view header) {
    while (header.ends_with('\r') || header.ends_with(' ')) header.remove_suffix(1);
    if (!title_.non_blocking || test_ == nullptr) return;
    column_ = osu_column(header, kPureCommunication);
    if (column_ > 0) return;
    test_ = nullptr;
    refuse("whose table has no column " + in_quotes(std::string(kPureCommunication)));
  }

  void refuse(const std::string& why) {
    const std::string what = "is OSU's " + in_quotes(title_.whole) + ", " + why;
    if (refused_.empty()) {
      refused_ = what;
      refused_line_ = title_line_;
    }
    note_dropped("line " + std::to_string(title_line_) + " " + what);
  }

  /// The row's last column is Validation, and it says Fail.
  void drop_failed(std::int64_t bytes) {
    const std::string row = "the row of " + std::to_string(bytes) + " bytes failed its validation";
    if (refused_.empty()) {
      refused_ = "is OSU's " + in_quotes(title_.whole) + ": " + row;
      refused_line_ = line_;
    }
    note_dropped(row);
  }

  void note_dropped(const std::string& what) {
    constexpr std::size_t kMostNotes = 20;
    if (facts_.notes.dropped.size() < kMostNotes)
      facts_.notes.dropped.push_back(noted_name(file_) + ": " + what);
  }

  void take(std::int64_t bytes, double value) {
    constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
    if (bytes < 0 || bytes > kMostBytes || !(value > 0) || value > 1e12) return;
    if (bytes == 0 && !test_->collective.empty()) return;  // of the call alone
    if (++rows_ > kMostOsuRows)
      throw DataError(file_.path.string(), line_,
                      "more than " + std::to_string(kMostOsuRows) + " rows");
    if (test_->title == kOsuLatency) {
      const Seconds latency{value * 1e-6};
      auto& least = bytes > 0 ? facts_.nic_latency : latency_of_nothing_;
      least = std::min(latency, least.value_or(latency));
    } else if (test_->title == kOsuBandwidth) {
      const BytesPerSecond rate{value * 1e6};
      facts_.nic_bandwidth = std::max(rate, facts_.nic_bandwidth.value_or(rate));
    } else if (bytes > 0) {
      take_collective(bytes, value);
    }
    if (test_->collective.empty()) facts_.nodes = std::max(facts_.nodes, 2);
  }

  void take_collective(std::int64_t bytes, double microseconds) {
    if (!said_.nodes)
      throw UsageError(noted_name(file_) +
                       " does not say which ranks took part: --nodes N, and --gpus-per-node G for "
                       "ranks a node (default: 1)");
    const SaidRanks ranks(said_);
    facts_.nodes = ranks.nodes;
    facts_.gpus_per_node = ranks.gpus;
    facts_.layout_is_said = true;
    facts_.points.push_back({std::string(test_->collective), ranks.nodes, ranks.gpus,
                             Bytes{bytes * (test_->of_a_rank ? ranks.all() : 1)}, title_.library,
                             Seconds{microseconds * 1e-6}});
  }

  static constexpr int kMostOsuRows = 10'000;

  const TextFile& file_;
  const SaidLayout& said_;
  NetworkFacts facts_;
  const OsuTest* test_ = nullptr;
  OsuTitle title_;
  std::size_t title_line_ = 0;
  std::size_t column_ = 1;  // of the time or rate
  std::string refused_;     // the first table that is not read, and why
  std::size_t refused_line_ = 0;
  /// A message of 0 bytes leaves the GPU's memory alone, so that it is faster than any other.
  std::optional<Seconds> latency_of_nothing_{};
  std::size_t line_ = 0;
  int rows_ = 0;
};

}  // namespace

bool is_osu(std::string_view begin) {
  return begin.find(kOsuMark) != std::string_view::npos &&
         begin.find(" Test") != std::string_view::npos;
}

NetworkFacts read_osu(const TextFile& file, const SaidLayout& said) {
  return OsuTable(file, said).read();
}

}  // namespace gradcast
