// Measured times of collectives on a cluster, as nccl-tests and others print them.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/cluster.hpp"

namespace gradcast {

/// Names of collectives in such a file. Forecasts use the first five. The others are kept, and no
/// forecast uses them.
inline constexpr std::array<std::string_view, 9> kCurveCollectives = {
    "all-reduce", "all-gather", "reduce-scatter", "broadcast", "send-receive",
    "all-to-all", "reduce",     "gather",         "scatter"};

/// One measured time.
struct CurvePoint {
  std::string collective;  // one of kCurveCollectives
  int nodes = 1;
  int gpus_per_node = 1;
  Bytes bytes{};        // as nccl-tests counts its column `size`
  std::string library;  // "nccl-2.22.3", "nccl" where the version is not known, "mpi" or "gloo"
  Seconds seconds{0};
  double deviation = 0;  // of several times of this case: standard deviation of their logarithms

  friend bool operator==(const CurvePoint&, const CurvePoint&) = default;
};

/// Sorted by all but the time.
using CollectiveCurve = std::vector<CurvePoint>;

/// The measured times, with the cluster as its file describes it. Forecasts hold measured over
/// described times against what a cluster with changed properties takes.
struct MeasuredCollectives {
  std::string file;
  CollectiveCurve curve;
  Cluster described;
};

/// The prefix of a library that is NCCL, before its version.
inline constexpr std::string_view kNcclPrefix = "nccl-";

/// True for two or three numbers with points between them: "2.22" or "2.22.3".
bool is_version(std::string_view text);

/// Sorts the points. Several times of one case become their median, and say how much they differ.
CollectiveCurve curve_of(std::vector<CurvePoint> points);

/// Reads collective,nodes,gpus_per_node,bytes,library,seconds and, where it is there, deviation.
/// Throws DataError.
CollectiveCurve load_collective_curve(const TextFile& file);

/// The text of such a file; `provenance` becomes its comment lines. It has the column deviation
/// where a case was measured several times.
std::string collective_curve_csv(const CollectiveCurve& curve,
                                 const std::vector<std::string>& provenance);

}  // namespace gradcast
