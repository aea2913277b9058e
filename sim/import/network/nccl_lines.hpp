// NCCL's own lines in a log (NCCL_DEBUG=INFO): its version, its network, its NICs and settings.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sim/import/network/network_facts.hpp"
#include "sim/inputs/cluster.hpp"

namespace gradcast {

class NcclLines {
 public:
  /// `name`: of the file, for notes.
  explicit NcclLines(std::string name) : name_(std::move(name)) {}

  /// A line with "NCCL INFO" or "NCCL version". Others change nothing.
  void take(std::string_view line);
  /// nccl-tests' line with "nccl-library=22902", which is 2.29.2.
  void take_library(std::string_view line);

  /// "nccl-2.22.3"; "nccl" where no line names a version.
  std::string library() const;

  /// Adds kind of network, NICs, NVLink SHARP and settings, with notes.
  void add_to(NetworkFacts& facts) const;

 private:
  void take_setting(std::string_view variable, std::string value);
  void take_plugin_latency(std::string_view text);
  void take_nics(std::string_view line);

  std::string name_;
  std::string version_;
  NetworkKind kind_ = NetworkKind::Unknown;       // by "Using network ..."
  NetworkKind nics_kind_ = NetworkKind::Unknown;  // of most NICs
  NetworkKind provider_ = NetworkKind::Unknown;   // of libfabric
  bool infiniband_verbs_ = false;                 // "Using network IB": InfiniBand or RoCE
  bool libfabric_ = false;
  int nics_ = 0;
  std::optional<YesNo> nvlink_sharp_;
  NcclSettings settings_;
  std::optional<Seconds> plugin_latency_;
  ImportNotes notes_;
};

}  // namespace gradcast
