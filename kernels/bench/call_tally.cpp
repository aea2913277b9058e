#include "kernels/bench/call_tally.hpp"

#include <algorithm>

#include "kernels/selection.hpp"

namespace gradcast {

std::string encode_path(std::uint32_t status) {
  if ((status & kGeneric) != 0) return "radix select";
  if ((status & kFullReread) != 0) return "u re-read";
  return (status & kTilesReread) != 0 ? "tiles re-read" : "fast";
}

int looks_of(Rule rule) {
  if (rule == Rule::Gaussian || rule == Rule::Trimmed || rule == Rule::Dgc) return 3;
  return rule == Rule::Rtopk ? 6 : 2;
}

double encode_bytes(double elements, double sampled, double selected, std::uint32_t status,
                    const EncoderWork& work, int looks) {
  constexpr double kSector = 32;    // what a lone element costs
  constexpr double kCandidate = 8;  // value and index
  constexpr double kTileCount = 4;  // candidates held, elements sent
  const double looks_at_tiles = looks;
  const double looks_at_u = (status & kFullReread) != 0 ? 2 : 0;  // to tally, and to send
  const double searches = (status & kGeneric) != 0 ? 3 : 0;
  const auto tiles = static_cast<double>(work.tiles);
  const double reread = static_cast<double>(work.tiles_reread * work.tile_elements);
  return 12 * elements + 8 * sampled + tiles * kTileCount * (looks_at_tiles + 3) +
         static_cast<double>(work.candidates) * kCandidate * (1 + looks_at_tiles) +
         4 * reread * looks_at_tiles + selected * (kCandidate + kSector) +
         4 * elements * (looks_at_u + searches);
}

void CallTally::add(std::int64_t selected, std::uint32_t status, const EncoderWork& work) {
  const auto count = static_cast<double>(selected);
  calls_ += 1;
  selected_ += count;
  bytes_ +=
      encode_bytes(elements_, static_cast<double>(sampled_), count, status, work, looks_of(rule_));
  sampled_ = work.samples_next;
  const std::string name = encode_path(status);
  auto found = std::find_if(paths_.begin(), paths_.end(),
                            [&](const Path& path) { return path.name == name; });
  if (found == paths_.end()) found = paths_.insert(paths_.end(), {name, 0});
  ++found->calls;
}

std::string CallTally::path() const {
  if (paths_.size() == 1) return paths_[0].name;
  std::vector<Path> paths = paths_;
  std::stable_sort(paths.begin(), paths.end(),
                   [](const Path& a, const Path& b) { return a.calls > b.calls; });
  std::string text;
  for (const Path& path : paths)
    text += (text.empty() ? "" : ", ") + path.name + " " + std::to_string(path.calls);
  return text;
}

}  // namespace gradcast
