#include "sim/import/network/nccl_table.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/import/network/log_words.hpp"

namespace gradcast {
namespace {

/// NaN for "N/A".
double number_of(std::string_view word) {
  if (word == "N/A") return std::nan("");
  try {
    return parse_number(word);
  } catch (const ValueError&) {
    return std::nan("");
  }
}

}  // namespace

bool take_numbers(NcclTableRow& row, std::span<const std::string_view> words) {
  for (const std::string_view word : words) {
    if (is_date(word)) return true;
    const std::size_t length = word.starts_with("N/A") ? 3 : number_length(word);
    if (length == 0) return false;
    row.numbers.emplace_back(word.substr(0, length));
    if (length < word.size()) return false;
  }
  return true;
}

bool has_decimal_comma(std::string_view word) {
  const std::size_t comma = word.find(',');
  return comma != std::string_view::npos && comma > 0 && comma + 1 < word.size() &&
         std::all_of(word.begin(), word.end(),
                     [](char letter) { return letter == ',' || is_digit(letter); });
}

bool begins_row(const std::vector<std::string_view>& words) {
  const auto whole = [](std::string_view word) {
    constexpr std::size_t kMostDigits = 16;
    return word.size() <= kMostDigits && std::all_of(word.begin(), word.end(), is_digit);
  };
  return words.size() >= 3 && whole(words[0]) && whole(words[1]) &&
         std::isalpha(static_cast<unsigned char>(words[2][0])) != 0;
}

NcclTableColumns nccl_columns_in(std::string_view header) {
  const std::vector<std::string_view> words = words_of(header);
  const auto is_time = [](std::string_view word) { return word == "time" || word == "cputime"; };
  const auto first = std::find_if(words.begin(), words.end(), is_time);
  NcclTableColumns columns;
  columns.counts_wrong = header.find("error") == std::string_view::npos;
  if (first == words.end()) return columns;  // cut off
  columns.root = std::find(words.begin(), first, "root") != first;
  columns.cpu_time = *first == "cputime";
  columns.places.clear();
  columns.numbers = 0;
  for (auto word = first; word != words.end() && *word != "timestamp"; ++word) {
    if (is_time(*word)) columns.places.push_back(columns.numbers);
    ++columns.numbers;
  }
  return columns;
}

std::optional<NcclTimedRow> timed(const NcclTableRow& row, const NcclTableColumns& columns,
                                  int ranks, std::string& why) {
  const bool has_root = columns.root.value_or(row.numbers.size() % 4 == 1);
  const std::size_t behind = has_root ? 1 : 0;
  const auto at = [&](std::size_t i) {
    return behind + i < row.numbers.size() ? number_of(row.numbers[behind + i]) : std::nan("");
  };
  for (const std::size_t place : columns.places) {
    const double time = at(place), algorithm = at(place + 1), bus = at(place + 2);
    if (!(time > 0) || !(algorithm >= 0) || !(bus >= 0)) continue;
    // A fraction is a rounding error, whose column no line named.
    if (columns.counts_wrong && at(place + 3) >= 1) {
      why = "counts wrong results";
      return std::nullopt;
    }
    const double rate = static_cast<double>(row.bytes) / time / 1e3;
    // Bandwidths are printed in two decimals, and some versions print times in four digits. Up
    // to 2020 the algorithm bandwidth of a gather or scatter was that of the bus.
    const double slack = 0.0101 + 0.01 * rate;
    const double least = ranks > 1 ? rate * (ranks - 1) / ranks : rate;
    if (algorithm > rate + slack || algorithm < least - slack) continue;
    NcclTimedRow its{row.bytes, time * 1e-6, algorithm, bus, row.reduces, has_root};
    if (const double root = has_root ? number_of(row.numbers[0]) : -1; root >= 0 && root < 1e6)
      its.root = static_cast<std::int64_t>(root);
    return its;
  }
  why = row.commas ? "has decimal commas"
        : row.cut  ? "is cut"
                   : "has no time that fits its bandwidth";
  return std::nullopt;
}

double bus_factor(std::string_view collective, int ranks) {
  const double share = (ranks - 1.) / ranks;
  if (collective == "all-reduce") return 2 * share;
  for (const char* one : {"broadcast", "reduce", "send-receive"})
    if (collective == one) return 1;
  return share;
}

bool fits_ranks(const NcclTimedRow& row, std::string_view collective, int ranks) {
  const double factor = bus_factor(collective, ranks);
  // Half of a hundredth of either, and the hundredth part by which few digits may be off.
  const double slack = 0.0051 * (1 + factor) + 0.01 * row.bus;
  if (std::abs(row.bus - factor * row.algorithm) <= slack) return true;
  return factor < 1 && std::abs(row.bus - row.algorithm) <= slack;
}

}  // namespace gradcast
