// The costs of compressors, as measured, published or derived. The cost table is the interface
// between kernels/ and the simulator: the simulator never calls a compressor to learn its cost.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/selection.hpp"
#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/number_type.hpp"

namespace gradcast {

/// Uncertainty of derived times. At 90 %, the true time lies between `low` and `high` times the
/// stated one. Both are 1 if nothing is stated.
struct CostFactors {
  double low = 1;
  double high = 1;

  bool said() const { return low < 1 || high > 1; }
  friend bool operator==(const CostFactors&, const CostFactors&) = default;
};

/// Elements of one call, at most: what a table may have.
inline constexpr std::int64_t kMostCostElements = std::int64_t{1} << 33;

/// Factors of several times together, which are all off alike: the mean, weighted by those times.
class TogetherFactors {
 public:
  void add(const CostFactors& factors, Seconds time) {
    if (time_ == Seconds{0}) first_ = factors;
    time_ += time;
    low_ += time * (factors.low - first_.low);
    high_ += time * (factors.high - first_.high);
  }
  /// Exactly those of all, where they are the same.
  CostFactors factors() const {
    if (time_ == Seconds{0}) return first_;
    return {first_.low + low_ / time_, first_.high + high_ / time_};
  }

 private:
  CostFactors first_;
  Seconds time_{0}, low_{0}, high_{0};
};

/// The costs of a compressor at one point.
struct CostRow {
  std::string compressor;
  std::string mode;            // "paper" or "code" where the two differ, else ""
  std::string implementation;  // "gradcast-cuda", "gradcast-cpu", "torch", "cub"
  int tensors = 1;             // handled in the one call
  std::int64_t elements = 0;   // of all those tensors together
  double density = 0;          // wanted share of elements: k = elements x density
  int workers = 1;             // whose sets decode adds up
  std::string distribution;    // of the input: "normal", ...
  double selected = 0;         // elements really selected (mean)
  Seconds encode{0}, encode_p95{0}, decode{0}, decode_p95{0};
  std::int64_t samples = 0;  // 0 where nothing was timed
  std::string evidence;      // "measured", "simulated", "published" or "derived"
  /// Type of the gradients that encode reads. 16-bit types have fewer bytes.
  NumberType input_type = NumberType::Fp32;
  /// The compressor's number (levels, rank, ...); 0 where the costs are of any.
  double parameter = 0;
  /// 90 % interval of what the true times are thought to be, as factors of those above.
  CostFactors factors{};
};

/// A choice of rows of a table.
struct CostChoice {
  std::string compressor;
  std::string
      mode{};  // "": the only mode there is, or "code", what really ran, where there are more
  std::string implementation{};  // "": the project's own, where the table has it
  /// Distribution of the input. If the table has only the rows of one recorded vector, those
  /// answer.
  std::string distribution = "normal";
  /// Type of the gradients. If the table has no rows of it, fp32's rows answer, and the answer says
  /// so.
  NumberType input_type = NumberType::Fp32;
  /// The compressor's number. If the table has no rows of it, the nearest number's rows answer, and
  /// the answer says so.
  double parameter = 0;
};

/// A choice of rows and a point.
struct CostQuery {
  std::string compressor;
  std::string mode{};
  std::int64_t elements = 0;
  double density = 0;
  int workers = 1;
  std::string distribution = "normal";
  std::string implementation{};
};

struct CostEstimate {
  Seconds encode{0};
  Seconds decode{0};
  std::int64_t selected = 0;  // elements that travel
  int calls = 0;              // that encode them
  std::string mode;
  std::string implementation;
  std::string evidence;       // of the one or two densities it is made from
  std::string outside;        // "" within the table's range, else which range was left
  std::string far_outside{};  // why an answer should be refused; "" where it need not be
  bool interpolated = false;  // false: the table has this very point
  CostFactors factors{};      // how far the times may be off
};

/// The implementation of rows that are of this project's kernels.
inline constexpr std::string_view kCudaImplementation = "gradcast-cuda";
/// The implementation of rows that `calibrate --device cpu` wrote.
inline constexpr std::string_view kCpuImplementation = "gradcast-cpu";
/// The implementation of rows that are of a framework's operators, called one after another.
inline constexpr std::string_view kOperators = "torch";

struct CostTable {
  std::string name;  // the file's path, for messages
  std::vector<CostRow> rows;
  std::string device{};          // "" where the file does not say
  bool guessed_for_cpu = false;  // a GPU's times, made a CPU's: see cost_transfer.hpp

  /// One answer. CompressorCosts gives many answers from one search of the rows. Throws as
  /// CompressorCosts does.
  CostEstimate estimate(const CostQuery& query) const;
};

/// Work of a compressor on one bucket.
struct CodecWork {
  std::int64_t elements = 0;
  int calls = 1;
  int tensors = 1;
  int ranks = 1;  // whose sets a call of decode adds up
};

/// The time of a compressor's calls that a fit found in addition to the table, or instead of it. By
/// default there is none.
struct CodecCorrection {
  double encode_factor = 1;
  double decode_factor = 1;
  // Corrections of encoding.
  Seconds per_call{0};     // what no byte explains (waits of the host, Python)
  Seconds per_tensor{0};   // what a framework does for each tensor beside that
  Seconds per_element{0};  // what another path than the table's takes (the CPU's)
  // Corrections of decoding.
  Seconds decode_per_call{0};
  Seconds decode_per_tensor{0};
  Seconds decode_per_rank{0};  // of each call, for each rank whose set it adds up

  friend bool operator==(const CodecCorrection&, const CodecCorrection&) = default;
};

/// The table's time for encoding and for decoding, with the correction.
Seconds corrected_encode(Seconds encode, const CodecWork& work, const CodecCorrection& correction);
Seconds corrected_decode(Seconds decode, const CodecWork& work, const CodecCorrection& correction);

/// "paper", "code", or "" where a compressor has no two modes. Throws ValueError.
std::string parse_mode(std::string_view text);

/// Reads `traces/cost-<device>.csv`. Throws DataError.
CostTable load_cost_table(const TextFile& file);

/// Columns that a table has though none of its rows needs them.
struct CostColumns {
  bool input_type = false;
  bool parameter = false;
};

/// The text of such a file; `provenance` becomes its comment lines.
std::string cost_table_csv(const CostTable& table, const std::vector<std::string>& provenance,
                           const CostColumns& always = {});

}  // namespace gradcast
