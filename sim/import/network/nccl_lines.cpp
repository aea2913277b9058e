#include "sim/import/network/nccl_lines.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/network/log_words.hpp"
#include "sim/inputs/collective_curve.hpp"

namespace gradcast {
namespace {

constexpr std::string_view kSet = " set by environment to ";
/// Amazon's plugin sets variables: NET/OFI Setting NCCL_NVLS_CHUNKSIZE to 512KiB.
constexpr std::string_view kPluginSets = "NET/OFI Setting ";
/// NET/OFI Internode latency set at 75.0 us.
constexpr std::string_view kLatencyIs = "NET/OFI Internode latency set at ";
/// aws-ofi-nccl's "NET/OFI Selected Provider is efa (found 4 nics)". The number is that of one
/// process, and not of the node.
constexpr std::string_view kProviderIs = "rovider is ";

/// The rest of a line that has these words.
std::optional<std::string_view> rest_after(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  return line.substr(at + words.size());
}

/// "[0]mlx5_0:1/IB" or "[0]mlx5_0:1/IB/SHARP" is a NIC of kind "IB".
bool is_nic_of(std::string_view word, std::string_view kind) {
  if (!word.starts_with('[')) return false;
  const std::size_t at = word.find("/" + std::string(kind));
  if (at == std::string_view::npos) return false;
  const std::size_t end = at + 1 + kind.size();
  return end == word.size() || word[end] == '/';
}

/// The plugin's "simple", in quotation marks, and 512KiB, as the variables would have them.
std::string plain_value(std::string_view word) {
  if (word.size() >= 2 && word.starts_with('"') && word.ends_with('"'))
    return std::string(word.substr(1, word.size() - 2));
  if (!word.ends_with("iB")) return std::string(word);
  try {
    return std::to_string(parse_bytes(word).count);
  } catch (const ValueError&) {
    return std::string(word);
  }
}

}  // namespace

void NcclLines::take(std::string_view line) {
  if (const std::string_view version = nccl_version_in(line); !version.empty()) version_ = version;
  const auto has = [&](std::string_view words) {
    return line.find(words) != std::string_view::npos;
  };
  if (has("Using network Socket")) kind_ = NetworkKind::Tcp;
  if (has("Using network IB")) infiniband_verbs_ = true;
  if (has("Using network GPUDirectTCPX") || has("Using network FasTrak"))
    kind_ = NetworkKind::GpudirectTcp;
  if (has("Using network Libfabric") || has("Using network AWS Libfabric")) libfabric_ = true;
  if (has("NET/OFI")) {
    if (const auto provider = rest_after(line, kProviderIs)) {
      if (provider->starts_with("efa")) provider_ = NetworkKind::Efa;
      if (provider->starts_with("cxi")) provider_ = NetworkKind::Slingshot;
      if (provider->starts_with("tcp")) provider_ = NetworkKind::Tcp;
    }
    if (const auto latency = rest_after(line, kLatencyIs)) take_plugin_latency(*latency);
    if (const auto setting = rest_after(line, kPluginSets)) {
      const std::vector<std::string_view> words = words_of(*setting);
      if (words.size() >= 3 && words[1] == "to") take_setting(words[0], plain_value(words[2]));
    }
  }
  if (has("NVLS multicast support is "))
    nvlink_sharp_ = has("is not available") ? YesNo::No : YesNo::Yes;
  if (has("NET/IB : Using [")) take_nics(line);
  if (const auto value = rest_after(line, kSet)) {
    const std::vector<std::string_view> before = words_of(line.substr(0, line.find(kSet)));
    const std::vector<std::string_view> after = words_of(*value);
    if (!before.empty() && !after.empty()) take_setting(before.back(), std::string(after.front()));
  }
}

/// "75.0 us".
void NcclLines::take_plugin_latency(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 2 || !words[1].starts_with("us")) return;
  try {
    plugin_latency_ = parse_time(std::string(words[0]) + "us");
  } catch (const ValueError&) {
    return;  // a line that was cut says nothing
  }
}

/// "NCCL_ALGO set by environment to Ring." Other variables change nothing here.
void NcclLines::take_setting(std::string_view variable, std::string value) {
  if (!is_nccl_setting(variable)) return;
  const std::string name(variable);
  if (value.ends_with('.')) value.pop_back();
  const std::string& text = settings_.text;
  if ((" " + text).find(" " + name + "=") != std::string::npos) return;  // every rank says it
  try {
    settings_ =
        parse_nccl_settings(text.empty() ? name + "=" + value : text + " " + name + "=" + value);
  } catch (const ValueError& error) {
    constexpr std::size_t kMostNotes = 20;
    if (notes_.dropped.size() < kMostNotes) notes_.dropped.push_back(name_ + ": " + error.what());
  }
}

/// NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_2:1/IB: NCCL lists the node's NICs of either kind.
/// Collectives cross those of the kind that most have; the others are for storage and management.
void NcclLines::take_nics(std::string_view line) {
  int infiniband = 0, roce = 0;
  for (const std::string_view word : words_of(line)) {
    infiniband += is_nic_of(word, "IB") ? 1 : 0;
    roce += is_nic_of(word, "RoCE") ? 1 : 0;
  }
  if (infiniband + roce == 0) return;
  nics_ = std::max(infiniband, roce);
  nics_kind_ = infiniband >= roce ? NetworkKind::InfiniBand : NetworkKind::Roce;
}

void NcclLines::take_library(std::string_view line) {
  const std::string_view rest = line.substr(line.find("nccl-library=") + 13);
  const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
  if (digits.size() != 5) return;
  const std::int64_t code = parse_integer(digits);
  version_ = std::to_string(code / 10'000) + "." + std::to_string(code / 100 % 100) + "." +
             std::to_string(code % 100);
}

std::string NcclLines::library() const {
  return version_.empty() ? "nccl" : std::string(kNcclPrefix) + version_;
}

void NcclLines::add_to(NetworkFacts& facts) const {
  facts.network_kind = kind_;
  if (infiniband_verbs_)
    facts.network_kind = nics_kind_ == NetworkKind::Unknown ? NetworkKind::InfiniBand : nics_kind_;
  if (libfabric_ || provider_ != NetworkKind::Unknown) {
    facts.network_kind = provider_;
    if (provider_ == NetworkKind::Unknown)
      facts.notes.unknown.push_back(
          name_ +
          ": which network libfabric used: no line 'NET/OFI Selected provider is efa' (or cxi) "
          "says it; write network_kind into the cluster's file");
  }
  facts.nics_per_node = nics_;
  facts.nvlink_sharp = nvlink_sharp_;
  facts.nccl_settings = settings_;
  facts.nccl_plugin_latency = plugin_latency_;
  facts.notes.dropped.insert(facts.notes.dropped.end(), notes_.dropped.begin(),
                             notes_.dropped.end());
}

}  // namespace gradcast
