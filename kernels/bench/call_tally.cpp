#include "kernels/bench/call_tally.hpp"

#include <algorithm>

#include "kernels/bench/encode_path.hpp"

namespace gradcast {

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
