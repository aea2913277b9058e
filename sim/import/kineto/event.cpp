#include "sim/import/kineto/event.hpp"

#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace gradcast::kineto {
namespace {

/// Nobody's tensor has more elements; products of hostile shapes stop here.
constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

constexpr std::array<std::pair<std::string_view, Category>, 14> kCategories = {{
    {"cpu_op", Category::Operator},
    {"Operator", Category::Operator},
    {"kernel", Category::Kernel},
    {"Kernel", Category::Kernel},
    {"cuda_runtime", Category::Runtime},
    {"cuda_driver", Category::Runtime},
    {"Runtime", Category::Runtime},
    {"hip_runtime", Category::Runtime},
    {"user_annotation", Category::Annotation},
    {"gpu_memcpy", Category::Memcpy},
    {"Memcpy", Category::Memcpy},
    {"gpu_memset", Category::Memset},
    {"Memset", Category::Memset},
    {"privateuse1_runtime", Category::Runtime},
}};

/// The numbers of the n-th list; empty where there is none.
std::vector<std::int64_t> numbers_of(std::string_view dims, int list) {
  std::vector<std::int64_t> numbers;
  int depth = 0;
  int at_list = -1;
  const char* at = dims.data();
  const char* const end = at + dims.size();
  while (at < end) {
    if (*at == '[') {
      if (++depth == 2) ++at_list;
    } else if (*at == ']') {
      if (--depth == 1 && at_list == list) return numbers;
    } else if (*at >= '0' && *at <= '9') {
      std::int64_t number = 0;
      const auto [rest, wrong] = std::from_chars(at, end, number);
      if (wrong != std::errc{}) return {};
      // Deeper lists are tensors of a list of tensors: their sizes are no sizes of one tensor.
      if (depth == 2 && at_list == list) numbers.push_back(number);
      at = rest;
      continue;
    }
    ++at;
  }
  return {};
}

constexpr std::int64_t kElementsOfThread = 4;

}  // namespace

Category category_of(std::string_view text) {
  for (const auto& [name, category] : kCategories)
    if (name == text) return category;
  return Category::Other;
}

std::int64_t elements_of_dims(std::string_view dims, int list) {
  const std::vector<std::int64_t> numbers = numbers_of(dims, list);
  if (numbers.empty()) return -1;
  std::int64_t product = 1;
  for (const std::int64_t number : numbers) {
    if (number <= 0 || product > kMostElements / number) return -1;
    product *= number;
  }
  return product;
}

std::int64_t first_of_dims(std::string_view dims, int list) {
  const std::vector<std::int64_t> numbers = numbers_of(dims, list);
  return numbers.empty() ? -1 : numbers.front();
}

std::int64_t elementwise_elements(std::string_view kernel, std::int64_t blocks,
                                  std::int64_t threads) {
  if (blocks <= 0 || threads <= 0 || threads > 1024) return -1;
  // Others than these divide their work in ways of their own.
  const bool known = kernel.find("vectorized_elementwise_kernel") != std::string_view::npos ||
                     kernel.find("unrolled_elementwise_kernel") != std::string_view::npos;
  // 64 threads until PyTorch 1.8, 128 since.
  if (!known || (threads != 64 && threads != 128)) return -1;
  return blocks * threads * kElementsOfThread;
}

}  // namespace gradcast::kineto
