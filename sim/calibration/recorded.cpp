#include "sim/calibration/recorded.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "sim/base/error.hpp"
#include "sim/base/npy.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

std::int64_t size_of(const RecordedFile& file) {
  return static_cast<std::int64_t>(file.input->u.size());
}

}  // namespace

bool is_recorded(const std::string& word) { return word.ends_with(".npy"); }

RecordedFile read_recorded(const std::string& path) {
  RecordedInput input{one_line(std::filesystem::path(path).filename().string()), read_npy(path)};
  const auto odd = std::find_if(input.u.begin(), input.u.end(),
                                [](float element) { return !std::isfinite(element); });
  if (odd != input.u.end())
    throw DataError(path, 0,
                    "element " + std::to_string(odd - input.u.begin()) +
                        " (from 0) is not finite: record u where the training has not diverged");
  return {std::make_shared<const RecordedInput>(std::move(input)),
          {path, sha256_of_file(path), path}};
}

void require_names_differ(const std::vector<RecordedFile>& files) {
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (files[i].input->name == files[j].input->name)
        throw UsageError("--distributions: " + files[j].file.typed + " and " + files[i].file.typed +
                         " would have the same name in the cost table; rename one of them");
}

void require_long_enough(const std::vector<RecordedFile>& files,
                         const std::vector<TensorSet>& sets) {
  std::int64_t most = 0;
  for (const TensorSet& set : sets)
    most = std::max(most, std::accumulate(set.begin(), set.end(), std::int64_t{0}));
  for (const RecordedFile& file : files)
    if (size_of(file) < most)
      throw UsageError("--distributions: " + file.file.typed + " has " +
                       std::to_string(size_of(file)) + " elements, and the models need " +
                       std::to_string(most) +
                       "; leave --models out to time it as it is, or record u of that model");
}

std::vector<TensorSet> own_sizes(const std::vector<RecordedFile>& files) {
  std::vector<TensorSet> sets;
  for (const RecordedFile& file : files) sets.push_back({size_of(file)});
  return merged_sets(sets, {});
}

std::string described(const RecordedFile& file) {
  return "u of " + std::to_string(size_of(file)) + " elements, recorded in a training" +
         (file.file.sha256.empty() ? "" : ", sha256 " + file.file.sha256);
}

}  // namespace gradcast
