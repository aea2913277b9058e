#include "sim/base/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/limits.hpp"

namespace gradcast {
namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

struct Prefix {
  std::string_view name;
  double factor;
};

constexpr Prefix kPrefixes[] = {{"", 1},
                                {"k", 1e3},
                                {"M", 1e6},
                                {"G", 1e9},
                                {"T", 1e12},
                                {"Ki", 1024.0},
                                {"Mi", 1024.0 * 1024},
                                {"Gi", 1024.0 * 1024 * 1024},
                                {"Ti", 1024.0 * 1024 * 1024 * 1024}};

struct Quantity {
  double number;
  std::string_view unit;
};

/// Splits "9.43 Gbps" into 9.43 and "Gbps".
Quantity split(std::string_view text, std::string_view kind, std::string_view example) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto refuse = [&](std::string_view why) -> ValueError {
    return ValueError(quoted(text) + " " + std::string(why) + "; write " + std::string(kind) +
                      " like '" + std::string(example) + "'");
  };
  if (error != std::errc{} || !std::isfinite(number)) throw refuse("is not a number with a unit");
  if (number < 0) throw refuse("is negative");
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit.empty() && number != 0) throw refuse("has no unit");
  return {number, unit};
}

/// The factor of `unit` when it is a prefix followed by one of `bases`; 0 when it is neither.
double factor_of(std::string_view unit, std::span<const Prefix> bases) {
  for (const Prefix& base : bases)
    for (const Prefix& prefix : kPrefixes)
      if (unit.size() == prefix.name.size() + base.name.size() && unit.starts_with(prefix.name) &&
          unit.ends_with(base.name))
        return prefix.factor * base.factor;
  return 0;
}

[[noreturn]] void refuse_unit(std::string_view text, std::string_view unit, std::string_view kind,
                              std::string_view example) {
  throw ValueError(quoted(text) + ": " + quoted(unit) + " is not a unit of " + std::string(kind) +
                   "; write it like '" + std::string(example) + "'");
}

/// Twelve digits: a number that a person wrote comes out as it was, without the last bits of a
/// double.
std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.12g", value);
  return text.data();
}

std::string with_prefix(double value, std::string_view unit) {
  static constexpr Prefix kDecimal[] = {{"G", 1e9}, {"M", 1e6}, {"k", 1e3}};
  for (const Prefix& prefix : kDecimal)
    if (value >= prefix.factor)
      return short_number(value / prefix.factor) + std::string(prefix.name) + std::string(unit);
  return short_number(value) + std::string(unit);
}

}  // namespace

BytesPerSecond parse_rate(std::string_view text) {
  constexpr std::string_view kExample = "9.43Gbps";
  static constexpr Prefix kBases[] = {
      {"bps", 1.0 / 8}, {"b/s", 1.0 / 8}, {"bit/s", 1.0 / 8}, {"Bps", 1}, {"B/s", 1}};
  const auto [number, unit] = split(text, "a bandwidth", kExample);
  if (number == 0)
    throw ValueError(quoted(text) + " is not a bandwidth above zero, like '9.43Gbps'");
  const double factor = factor_of(unit, kBases);
  if (factor == 0) refuse_unit(text, unit, "bandwidth", kExample);
  const double rate = number * factor;
  if (rate < 1 || rate > 1e15)
    throw ValueError(quoted(text) + " is not a bandwidth from 1 byte a second to 1000 TB a second");
  return {rate};
}

FlopsPerSecond parse_flop_rate(std::string_view text) {
  constexpr std::string_view kExample = "312TFLOPS";
  static constexpr Prefix kBases[] = {
      {"FLOPS", 1}, {"FLOP/s", 1}, {"PFLOPS", 1e15}, {"PFLOP/s", 1e15}};
  const auto [number, unit] = split(text, "a peak", kExample);
  const double factor = factor_of(unit, kBases);
  if (factor == 0) refuse_unit(text, unit, "arithmetic", kExample);
  const double rate = number * factor;
  if (rate < 1e6 || rate > 1e18)
    throw ValueError(quoted(text) + " is not a peak from 1 MFLOPS to 1000 PFLOPS");
  return {rate};
}

Seconds parse_time(std::string_view text) {
  constexpr std::string_view kExample = "25us";
  // Micro has two characters beside the "u": the sign, and the Greek letter.
  static constexpr Prefix kUnits[] = {{"s", 1},     {"ms", 1e-3},      {"us", 1e-6},
                                      {"ns", 1e-9}, {"\u00b5s", 1e-6}, {"\u03bcs", 1e-6}};
  const auto [number, unit] = split(text, "a time", kExample);
  if (number == 0 && unit.empty()) return Seconds{0};
  for (const Prefix& known : kUnits) {
    if (unit != known.name) continue;
    const double seconds = number * known.factor;
    if (seconds > kLongestSeconds)
      throw ValueError(quoted(text) + " is longer than " + number_to_text(kLongestSeconds) + " s");
    return Seconds{seconds};
  }
  refuse_unit(text, unit, "time", kExample);
}

Bytes parse_bytes(std::string_view text) {
  constexpr std::string_view kExample = "64MiB";
  static constexpr Prefix kBases[] = {{"B", 1}};
  const auto [number, unit] = split(text, "a size", kExample);
  const double factor = factor_of(unit, kBases);
  if (factor == 0) refuse_unit(text, unit, "size", kExample);
  const double bytes = number * factor;
  if (bytes > 9e18) throw ValueError(quoted(text) + " is more than this program can count");
  return {std::llround(bytes)};
}

double parse_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number))
    throw ValueError(quoted(text) + " is not a finite number, like '0.001'");
  return number;
}

std::int64_t parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    throw ValueError(quoted(text) + " is not a whole number, like '16'");
  return number;
}

int parse_count_to(int most, std::string_view text) {
  const std::int64_t count = parse_integer(text);
  if (count >= 1 && count <= most) return static_cast<int>(count);
  throw ValueError(quoted(text) + " is not a count from 1 to " + std::to_string(most));
}

int parse_count(std::string_view text) { return parse_count_to(1'000'000, text); }

double parse_density(std::string_view text) {
  const bool percent = text.ends_with('%');
  const double density =
      percent ? parse_number(text.substr(0, text.size() - 1)) / 100 : parse_number(text);
  if (density > 0 && density < kLeastDensity)
    throw ValueError(quoted(text) + " is below the least density, " +
                     number_to_text(kLeastDensity));
  if (density > 0 && density <= 1) return density;
  throw ValueError(quoted(text) + " is not a density above 0 and up to 1, like '0.001' or '0.1%'");
}

double parse_percent(std::string_view text) {
  if (text == "0") return 0;
  const auto [number, unit] = split(text, "a share", "5%");
  if (unit != "%") refuse_unit(text, unit, "shares", "5%");
  if (number < 1000) return number / 100;
  throw ValueError(quoted(text) + " is not a share from 0% to below 1000%, like '5%'");
}

std::uint32_t parse_seed(std::string_view text) {
  const std::int64_t seed = parse_integer(text);
  if (seed >= 0 && seed <= INT32_MAX) return static_cast<std::uint32_t>(seed);
  throw ValueError(quoted(text) + " is not a number from 0 to 2147483647, like '1'");
}

bool parse_yes_no(std::string_view text) {
  if (text == "yes" || text == "no") return text == "yes";
  throw ValueError(quoted(text) + " is not 'yes' or 'no'");
}

std::string to_text(BytesPerSecond rate) { return with_prefix(rate.value * 8, "bps"); }

std::string to_text(FlopsPerSecond rate) {
  return rate.value >= 1e12 ? short_number(rate.value / 1e12) + "TFLOPS"
                            : with_prefix(rate.value, "FLOPS");
}

std::string to_text(Seconds time) {
  const double seconds = time.count();
  if (seconds == 0 || seconds >= 1) return short_number(seconds) + "s";
  if (seconds >= 1e-3) return short_number(seconds * 1e3) + "ms";
  if (seconds >= 1e-6) return short_number(seconds * 1e6) + "us";
  return short_number(seconds * 1e9) + "ns";
}

std::string to_text(Bytes amount) {
  constexpr std::pair<std::string_view, std::int64_t> kBinary[] = {
      {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}};
  for (const auto& [unit, bytes] : kBinary)
    if (amount.count >= bytes && amount.count % bytes == 0)
      return std::to_string(amount.count / bytes) + std::string(unit);
  return std::to_string(amount.count) + "B";
}

std::string percent_to_text(double share) { return short_number(share * 100) + "%"; }

double rounded_to(int digits, double value) {
  if (!std::isfinite(value)) return value;
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::scientific, digits - 1);
  std::from_chars(text.data(), end.ptr, value);
  return value;
}

std::string number_to_text(double value) {
  // 0.0001 rather than 1e-04, but 5.11664e-06 rather than thirteen characters.
  constexpr std::size_t kReadable = 12;
  std::array<char, 32> text{};
  const auto plain =
      std::to_chars(text.data(), text.data() + kReadable, value, std::chars_format::fixed);
  if (plain.ec == std::errc{}) return {text.data(), plain.ptr};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

}  // namespace gradcast
