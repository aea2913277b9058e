#include "sim/inputs/fitted_with.hpp"

#include "sim/base/csv.hpp"
#include "sim/base/error.hpp"

namespace gradcast {
namespace {

std::string key_of(const std::string& costs) { return "fitted with " + costs; }

}  // namespace

std::string fitted_with_line(const std::string& costs, const std::string& sha256) {
  return key_of(costs) + ": SHA-256 " + sha256;
}

std::vector<std::string> fitted_collective_lines(const std::string& collective,
                                                 const std::string& nccl) {
  std::vector<std::string> lines{"collective: " + collective};
  if (!nccl.empty()) lines.push_back("nccl: " + nccl);
  return lines;
}

FittedCollective fitted_collective(const TextFile& cluster) {
  return {comment_value(cluster, "collective"), comment_value(cluster, "nccl")};
}

void require_same_fit(const TextFile& cluster, const TextFile& costs, const std::string& sha256) {
  const std::string key = key_of(costs.path.filename().string());
  const std::string said = comment_value(cluster, key);
  if (said.empty() || sha256.empty() || said == "SHA-256 " + sha256) return;
  throw DataError(cluster.path.string(), 0,
                  "was fitted with another content of " + costs.path.string() +
                      " (`gradcast fit --save` was cut off between the two, or one was changed): "
                      "save the fit again, or remove the comment line '# " +
                      key + ": ...'");
}

}  // namespace gradcast
