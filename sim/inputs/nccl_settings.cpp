#include "sim/inputs/nccl_settings.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include "sim/base/error.hpp"
#include "sim/base/lists.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr std::string_view kAlgorithms[] = {"ring",          "tree",         "nvls", "nvlstree",
                                            "collnetdirect", "collnetchain", "pat"};
constexpr std::string_view kProtocols[] = {"ll", "ll128", "simple"};

bool holds(const std::vector<std::string>& all, std::string_view word) {
  return std::ranges::find(all, word) != all.end();
}

/// The words that a list allows, in the order of `known`.
std::vector<std::string> allowed(std::string_view name, std::string_view value,
                                 std::span<const std::string_view> known) {
  const std::vector<std::string> all(known.begin(), known.end());
  const bool excludes = value.starts_with('^');
  std::vector<std::string> named;
  for (const std::string& word : split_words(value.substr(excludes ? 1 : 0), ',')) {
    named.push_back(in_lower_case(word));
    if (!holds(all, named.back()))
      throw ValueError("'" + word + "' of " + std::string(name) + " is not one of " + join(all) +
                       did_you_mean(named.back(), all));
  }
  std::vector<std::string> left;
  for (const std::string& word : all)
    if (holds(named, word) != excludes) left.push_back(word);
  if (left.empty())
    throw ValueError(std::string(name) + "=" + std::string(value) + " leaves NCCL nothing");
  return left;
}

std::int64_t number_of(std::string_view name, std::string_view value) {
  try {
    return parse_integer(value);
  } catch (const ValueError& error) {
    throw ValueError(std::string(name) + "=" + std::string(value) + ": " + error.what());
  }
}

/// A whole number, bytes without a unit, as NCCL reads it.
std::int64_t in_range(std::string_view name, std::string_view value, std::int64_t least) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  const std::int64_t number = number_of(name, value);
  if (number >= least && number <= kMost) return number;
  throw ValueError(std::string(name) + "=" + std::string(value) + " is not from " +
                   std::to_string(least) + " to " + std::to_string(kMost));
}

/// NCCL's old number 0 is LOC (ncclGetLevel in src/graph/paths.cc).
PeerToPeer level_of(std::string_view value) {
  const std::string word = in_lower_case(value);
  if (word == "loc" || word == "0") return PeerToPeer::OverNothing;
  if (word == "nvl") return PeerToPeer::OverNvlink;
  throw ValueError("NCCL_P2P_LEVEL=" + std::string(value) +
                   " is neither LOC nor NVL: other levels change no forecast");
}

/// NCCL has 64 channels at most (src/include/device.h: MAXCHANNELS).
int least_channels(std::string_view name, std::string_view value) {
  constexpr std::int64_t kMost = 64;
  return static_cast<int>(std::min(kMost, in_range(name, value, 0)));
}

struct Variable {
  std::string_view name;
  void (*set)(NcclSettings&, std::string_view value);
};

constexpr Variable kVariables[] = {
    {"NCCL_ALGO",
     [](NcclSettings& s, std::string_view value) {
       s.algorithms = allowed("NCCL_ALGO", value, kAlgorithms);
     }},
    {"NCCL_PROTO",
     [](NcclSettings& s, std::string_view value) {
       s.protocols = allowed("NCCL_PROTO", value, kProtocols);
     }},
    {"NCCL_NVLS_ENABLE",
     [](NcclSettings& s, std::string_view value) {
       s.nvls = number_of("NCCL_NVLS_ENABLE", value) != 0;
     }},
    {"NCCL_COLLNET_ENABLE",
     [](NcclSettings& s, std::string_view value) {
       s.collnet = number_of("NCCL_COLLNET_ENABLE", value) != 0;
     }},
    {"NCCL_COLLNET_NODE_THRESHOLD",
     [](NcclSettings& s, std::string_view value) {
       s.collnet_nodes = static_cast<int>(in_range("NCCL_COLLNET_NODE_THRESHOLD", value, 0));
     }},
    {"NCCL_BUFFSIZE",
     [](NcclSettings& s, std::string_view value) {
       s.buffer = {in_range("NCCL_BUFFSIZE", value, 64 << 10)};
     }},
    {"NCCL_DYNAMIC_CHUNK_SIZE",
     [](NcclSettings& s, std::string_view value) {
       s.least_chunk = {in_range("NCCL_DYNAMIC_CHUNK_SIZE", value, 0)};
     }},
    {"NCCL_NVLS_CHUNKSIZE",
     [](NcclSettings& s, std::string_view value) {
       s.nvls_chunk = {in_range("NCCL_NVLS_CHUNKSIZE", value, 16 << 10)};
     }},
    {"NCCL_NVLSTREE_MAX_CHUNKSIZE",
     [](NcclSettings& s, std::string_view value) {
       s.nvls_tree_chunk = {in_range("NCCL_NVLSTREE_MAX_CHUNKSIZE", value, 16 << 10)};
     }},
    {"NCCL_MIN_NCHANNELS",
     [](NcclSettings& s, std::string_view value) {
       s.least_channels = least_channels("NCCL_MIN_NCHANNELS", value);
     }},
    {"NCCL_MIN_CTAS",
     [](NcclSettings& s, std::string_view value) {
       s.least_channels = least_channels("NCCL_MIN_CTAS", value);
     }},
    {"NCCL_SOCKET_NTHREADS",
     [](NcclSettings& s, std::string_view value) {
       s.socket_threads = static_cast<int>(in_range("NCCL_SOCKET_NTHREADS", value, 0));
     }},
    {"NCCL_P2P_DISABLE",
     [](NcclSettings& s, std::string_view value) {
       s.p2p_disabled = number_of("NCCL_P2P_DISABLE", value) == 1;
     }},
    {"NCCL_P2P_LEVEL",
     [](NcclSettings& s, std::string_view value) { s.p2p_level = level_of(value); }},
};

void set(NcclSettings& settings, std::string_view word) {
  const std::size_t at = word.find('=');
  const std::string name(word.substr(0, at));
  std::vector<std::string> known;
  for (const Variable& variable : kVariables) {
    known.emplace_back(variable.name);
    if (variable.name == name && at != std::string_view::npos)
      return variable.set(settings, word.substr(at + 1));
  }
  if (holds(known, name)) throw ValueError("'" + name + "' has no value; write " + name + "=VALUE");
  if (name == "NCCL_IB_DISABLE" || name == "NCCL_NET")
    throw ValueError("'" + name + "' is no setting here: --network-kind says how NCCL sends, " +
                     "and tcp stands for its sockets");
  throw ValueError("'" + name + "' is not modelled" + did_you_mean(name, known) +
                   " (known: " + join(known) +
                   "); what it leaves of links is for --intra-bandwidth and --nic-bandwidth");
}

}  // namespace

NcclSettings parse_nccl_settings(std::string_view text) {
  NcclSettings settings;
  if (text == "none") return settings;
  settings.text = text;
  for (const std::string& word : split_words(text, ' '))
    if (!word.empty()) set(settings, word);
  return settings;
}

bool is_nccl_setting(std::string_view name) {
  return std::ranges::find(kVariables, name, &Variable::name) != std::end(kVariables);
}

}  // namespace gradcast
