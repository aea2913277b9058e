#include "sim/network/nccl_of_torch.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr std::string_view kWheel =
    "the wheel's own requirement of nvidia-nccl-cu11 or -cu12, PyPI";
constexpr std::string_view kLinkedIn =
    "\"NCCL version ...+cuda...\" in libtorch_cuda*.so of the wheel, PyPI";
constexpr std::string_view kRelease = "pytorch/pytorch#190386, RELEASE.md";

constexpr TorchsNccl kKnown[] = {
    {"1.7", {2, 7, 8}, kLinkedIn},       {"1.8", {2, 7, 8}, kLinkedIn},
    {"1.9", {2, 7, 8}, kLinkedIn},       {"1.10", {2, 10, 3}, kLinkedIn},
    {"1.11", {2, 10, 3}, kLinkedIn},     {"1.12", {2, 10, 3}, kLinkedIn},
    {"1.13", {2, 14, 3}, kLinkedIn},     {"2.0", {2, 14, 3}, kWheel},
    {"2.1", {2, 18, 1}, kWheel},         {"2.2", {2, 19, 3}, kWheel},
    {"2.3", {2, 20, 5}, kWheel},         {"2.4", {2, 20, 5}, kWheel},
    {"2.5", {2, 21, 5}, kWheel},         {"2.6", {2, 21, 5}, kWheel},
    {"2.7", {2, 26, 2}, kWheel},         {"2.8", {2, 27, 3}, kWheel},
    {"2.9", {2, 27, 5}, kWheel},         {"2.10", {2, 27, 5}, kRelease},
    {"2.10-cu13", {2, 28, 9}, kRelease}, {"2.11", {2, 28, 9}, kRelease},
    {"2.12", {2, 29, 3}, kRelease},      {"2.12-cu13", {2, 29, 7}, kRelease},
    {"2.13", {2, 29, 3}, kRelease},      {"2.13-cu13", {2, 29, 7}, kRelease},
};

/// "2.5" of "2.5.1", "2.12-cu13" of "2.12.0-cu13".
std::string without_patch(std::string_view torch) {
  const std::size_t end = std::min(torch.find('-'), torch.size());
  const std::size_t minor = torch.find('.');
  const std::size_t patch = minor == torch.npos ? minor : torch.find('.', minor + 1);
  if (patch >= end) return std::string(torch);
  const std::string_view number = torch.substr(patch + 1, end - patch - 1);
  const bool is_number = !number.empty() && number.find_first_not_of("0123456789") == number.npos;
  if (!is_number) return std::string(torch);
  return std::string(torch.substr(0, patch)) + std::string(torch.substr(end));
}

}  // namespace

std::span<const TorchsNccl> nccl_of_torches() { return kKnown; }

NcclVersion nccl_of_torch(std::string_view torch) {
  const std::string sought = without_patch(torch);
  std::vector<std::string> known;
  for (const TorchsNccl& each : kKnown) {
    if (each.torch == sought) return each.nccl;
    known.emplace_back(each.torch);
  }
  // PyTorch 1.6's wheel has NCCL 2.4.8 in it, whose choice nccl_rule.cpp does not know.
  const std::string oldest(kKnown[0].torch);
  if (begins_with_digit(sought) && sought.find('.') != sought.npos && natural_less(sought, oldest))
    throw ValueError("PyTorch '" + std::string(torch) + "' is older than " + oldest +
                     ", the first whose NCCL is known here (2.7): name torch-" + oldest +
                     " or later, or NCCL's own version");
  throw ValueError("which NCCL PyTorch '" + std::string(torch) + "' brings is not known (known: " +
                   join(known) + "): name NCCL's own version, like 2.27.5");
}

}  // namespace gradcast
