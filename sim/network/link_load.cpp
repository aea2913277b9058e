#include "sim/network/link_load.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace gradcast {
namespace {

/// The mean rate of a link in each of `windows` equal windows from 0 to `end`.
std::vector<double> window_means(const LinkLoad& link, Seconds end, std::size_t windows) {
  const double width = end.count() / static_cast<double>(windows);
  std::vector<double> means(windows, 0);
  for (std::size_t i = 0; i < link.changes.size(); ++i) {
    const double rate = link.changes[i].rate.value;
    const double from = link.changes[i].at.count();
    const double to = std::min(
        end.count(), i + 1 < link.changes.size() ? link.changes[i + 1].at.count() : end.count());
    if (rate == 0 || to <= from) continue;
    for (auto window = std::min(windows - 1, static_cast<std::size_t>(from / width));
         window < windows && static_cast<double>(window) * width < to; ++window) {
      const double its_start = static_cast<double>(window) * width;
      // Rounding must not cut the last window short.
      const double its_end = window + 1 == windows ? end.count() : its_start + width;
      const double common = std::min(to, its_end) - std::max(from, its_start);
      if (common > 0) means[window] += rate * common / width;
    }
  }
  return means;
}

LinkLoad from_means(std::string name, const std::vector<double>& means, Seconds end) {
  LinkLoad load{std::move(name)};
  double last = 0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double rate = rounded_to(6, means[i]);  // what was added up differs in its last digits
    if (rate == last) continue;
    load.changes.push_back(
        {end * (static_cast<double>(i) / static_cast<double>(means.size())), {rate}});
    last = rate;
  }
  if (last != 0) load.changes.push_back({end, {0}});
  return load;
}

/// "node3.nic0.up" is of kind "node.nic.up".
std::string kind_of(std::string name) {
  std::erase_if(name, [](char letter) { return letter >= '0' && letter <= '9'; });
  return name;
}

std::vector<LinkLoad> in_windows(const std::vector<LinkLoad>& links, Seconds end,
                                 std::size_t windows) {
  std::vector<LinkLoad> thinned;
  thinned.reserve(links.size());
  for (const LinkLoad& link : links)
    thinned.push_back(from_means(link.name, window_means(link, end, windows), end));
  return thinned;
}

std::vector<LinkLoad> by_kind(const std::vector<LinkLoad>& links, Seconds end, std::size_t most) {
  std::map<std::string, std::vector<double>> sums;
  for (const LinkLoad& link : links) sums.try_emplace("all " + kind_of(link.name));
  const std::size_t windows = std::clamp<std::size_t>(most / sums.size(), 1, 2000);
  for (const LinkLoad& link : links) {
    std::vector<double>& sum = sums["all " + kind_of(link.name)];
    sum.resize(windows);
    const std::vector<double> means = window_means(link, end, windows);
    std::transform(sum.begin(), sum.end(), means.begin(), sum.begin(), std::plus<>());
  }
  std::vector<LinkLoad> summed;
  summed.reserve(sums.size());
  for (const auto& [name, means] : sums) summed.push_back(from_means(name, means, end));
  return summed;
}

std::size_t changes_of(const std::vector<LinkLoad>& links) {
  std::size_t changes = 0;
  for (const LinkLoad& link : links) changes += link.changes.size();
  return changes;
}

bool carries_nothing(const LinkLoad& link) {
  return std::all_of(link.changes.begin(), link.changes.end(),
                     [](const LoadChange& change) { return change.rate.value == 0; });
}

}  // namespace

BoundedLoads bounded(std::vector<LinkLoad> links, Seconds end, std::size_t most) {
  for (LinkLoad& link : links) {
    double last = 0;
    const auto late = std::find_if(link.changes.begin(), link.changes.end(),
                                   [&](const LoadChange& change) { return change.at >= end; });
    link.changes.erase(late, link.changes.end());
    if (!link.changes.empty()) last = link.changes.back().rate.value;
    if (last != 0) link.changes.push_back({end, {0}});
  }
  std::erase_if(links, carries_nothing);
  const std::size_t changes = changes_of(links);
  if (changes <= most) return {std::move(links), ""};
  const std::string had = "links changed their load " + std::to_string(changes) +
                          " times: the timeline has its mean in ";
  if (links.size() > kMostLinksApart)
    return {by_kind(links, end, most), had + "windows of time, and links of a kind added up"};
  const std::size_t windows = std::max<std::size_t>(1, most / links.size());
  return {in_windows(links, end, windows), had + std::to_string(windows) + " windows of time"};
}

LoadRecorder::LoadRecorder(const std::vector<std::string>& names, std::size_t memory)
    : last_(names.size(), 0), memory_(memory) {
  for (const std::string& name : names) links_.push_back({name});
}

void LoadRecorder::note(std::size_t link, Seconds at, BytesPerSecond rate) {
  if (rate.value == last_[link]) return;
  last_[link] = rate.value;
  links_[link].changes.push_back({at, rate});
  if (++changes_ <= memory_) return;
  // Windows end now with a load of 0, which goes on as it is.
  links_ = in_windows(links_, at, std::max<std::size_t>(16, memory_ / 4 / links_.size()));
  for (std::size_t i = 0; i < links_.size(); ++i) {
    std::vector<LoadChange>& changes = links_[i].changes;
    if (!changes.empty() && changes.back().at == at) changes.pop_back();
    changes.push_back({at, {last_[i]}});
  }
  changes_ = changes_of(links_);
}

BoundedLoads LoadRecorder::take(Seconds end) { return bounded(std::move(links_), end); }

}  // namespace gradcast
