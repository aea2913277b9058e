// Tables of the OSU Micro-Benchmarks (https://mvapich.cse.ohio-state.edu/benchmarks/): collectives,
// and latency and bandwidth between two processes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/network/log_words.hpp"
#include "sim/import/network/network_facts.hpp"

namespace gradcast {
namespace {

struct OsuTest {
  std::string_view title;       // "# OSU MPI-CUDA Allreduce Latency Test v7.2"
  std::string_view collective;  // "": between two processes
  bool of_a_rank;               // the size is a rank's part, not that of all
};
constexpr std::array<OsuTest, 10> kOsuTests = {
    {{"Allreduce Latency", "all-reduce", false},
     {"Allgather Latency", "all-gather", true},
     {"Reduce_scatter Latency", "reduce-scatter", false},
     {"Broadcast Latency", "broadcast", false},
     {"All-to-All Personalized Exchange Latency", "all-to-all", true},
     {"Reduce Latency", "reduce", false},
     {"Gather Latency", "gather", true},
     {"Scatter Latency", "scatter", true},
     {"Latency Test", "", false},
     {"Bandwidth Test", "", false}}};

std::string_view line_at(std::string_view text, std::size_t begin) {
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

/// "1024      55.48     24.05": the first two numbers.
std::optional<std::pair<std::int64_t, double>> osu_row(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() < 2) return std::nullopt;
  try {
    return std::pair(parse_integer(words[0]), parse_number(words[1]));
  } catch (const ValueError&) {
    return std::nullopt;
  }
}

const OsuTest* osu_test_of(std::string_view line) {
  const auto found = std::find_if(kOsuTests.begin(), kOsuTests.end(), [&](const OsuTest& test) {
    return line.find(test.title) != std::string_view::npos;
  });
  return found == kOsuTests.end() ? nullptr : &*found;
}

class OsuTable {
 public:
  OsuTable(const TextFile& file, const SaidLayout& said) : file_(file), said_(said) {
    facts_.kind = "osu";
  }

  NetworkFacts read() {
    const std::string_view text = file_.content;
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
      const std::string_view line = line_at(text, begin);
      ++line_;
      if (line.find("# OSU ") != std::string_view::npos) {
        test_ = osu_test_of(line);
        library_ = line.find("NCCL") != std::string_view::npos ||
                           line.find("XCCL") != std::string_view::npos
                       ? "nccl"
                       : "mpi";
      } else if (const auto row = osu_row(line); row && test_ != nullptr) {
        take(row->first, row->second);
      }
      if (text.find('\n', begin) == std::string_view::npos) break;
    }
    if (rows_ == 0)
      throw DataError(file_.path.string(), 0,
                      "has no table of OSU's collectives, latency or bandwidth: no row like '1024 "
                      "55.48' below a line like '# OSU MPI Allreduce Latency Test v7.2'");
    facts_.notes.used.push_back(noted_name(file_) + ": " + std::to_string(rows_) + " sizes");
    return std::move(facts_);
  }

 private:
  void take(std::int64_t bytes, double value) {
    constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
    if (bytes < 0 || bytes > kMostBytes || !(value > 0) || value > 1e12) return;
    if (++rows_ > kMostOsuRows)
      throw DataError(file_.path.string(), line_,
                      "more than " + std::to_string(kMostOsuRows) + " rows");
    if (test_->title == "Latency Test") {
      const Seconds latency{value * 1e-6};
      facts_.nic_latency = std::min(latency, facts_.nic_latency.value_or(latency));
    } else if (test_->title == "Bandwidth Test") {
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
    const int nodes = *said_.nodes;
    const int gpus = said_.gpus_per_node.value_or(1);
    const std::int64_t ranks = std::int64_t{nodes} * gpus;
    if (ranks < 2 || ranks > kMostRanks)
      throw UsageError("a collective of " + std::to_string(ranks) +
                       " ranks: --nodes and --gpus-per-node say 2 to " +
                       std::to_string(kMostRanks));
    facts_.nodes = nodes;
    facts_.gpus_per_node = gpus;
    facts_.points.push_back({std::string(test_->collective), nodes, gpus,
                             Bytes{bytes * (test_->of_a_rank ? ranks : 1)}, library_,
                             Seconds{microseconds * 1e-6}});
  }

  static constexpr int kMostOsuRows = 10'000;

  const TextFile& file_;
  const SaidLayout& said_;
  NetworkFacts facts_;
  const OsuTest* test_ = nullptr;
  std::string library_;
  std::size_t line_ = 0;
  int rows_ = 0;
};

}  // namespace

bool is_osu(std::string_view begin) {
  return begin.find("# OSU ") != std::string_view::npos &&
         begin.find(" Test") != std::string_view::npos;
}

NetworkFacts read_osu(const TextFile& file, const SaidLayout& said) {
  return OsuTable(file, said).read();
}

}  // namespace gradcast
