// Time and data have types, and text has units: "9.43Gbps", "25us", "64MiB", "312TFLOPS".
#pragma once
#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace gradcast {

/// Time, simulated or measured. `5us` and `2ms` convert by themselves; a bare double does not.
using Seconds = std::chrono::duration<double>;

/// The longest time that is accepted: 11 days. A longer one is a typing error, and doubles begin to
/// lose microseconds there.
inline constexpr double kLongestSeconds = 1e6;

/// An amount of data.
struct Bytes {
  std::int64_t count = 0;
  friend auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return {a.count * n}; }
};

/// A data rate. Always bytes; "400Gbps" is parsed as 50e9.
struct BytesPerSecond {
  double value = 0;
  friend auto operator<=>(BytesPerSecond, BytesPerSecond) = default;
};

/// Arithmetic: floating-point operations, two a multiply-accumulate.
struct FlopsPerSecond {
  double value = 0;
  friend auto operator<=>(FlopsPerSecond, FlopsPerSecond) = default;
};

constexpr Seconds operator/(Bytes amount, BytesPerSecond rate) {
  return Seconds{static_cast<double>(amount.count) / rate.value};
}

/// Parsers of a number and its unit, with at most one blank between them. All throw ValueError with
/// an example of what would be right. A number without a unit is refused (except a time of 0).
BytesPerSecond parse_rate(std::string_view text);       // > 0
FlopsPerSecond parse_flop_rate(std::string_view text);  // > 0: "989.4TFLOPS"
Seconds parse_time(std::string_view text);              // >= 0
Bytes parse_bytes(std::string_view text);               // >= 0

/// A finite number and nothing else. Throws ValueError.
double parse_number(std::string_view text);
/// A whole number and nothing else. Throws ValueError.
std::int64_t parse_integer(std::string_view text);
/// A whole number from 1 to `most`. Throws ValueError.
int parse_count_to(int most, std::string_view text);
/// A whole number from 1 to a million: nodes, images. Throws ValueError.
int parse_count(std::string_view text);
/// The share of elements that is kept, "0.01" or "1%": from kLeastDensity to 1. Throws ValueError.
double parse_density(std::string_view text);
/// "5%" as 0.05, from 0% to below 1000%; also a bare 0. Throws ValueError.
double parse_percent(std::string_view text);
/// A seed of random draws: 0 to 2147483647. Throws ValueError.
std::uint32_t parse_seed(std::string_view text);
/// "yes" or "no". Throws ValueError.
bool parse_yes_no(std::string_view text);

/// The canonical spelling of a value ("26.6us"; rates in bits per second, "9.43Gbps"). The parsers
/// above read it back.
std::string to_text(BytesPerSecond rate);
std::string to_text(FlopsPerSecond rate);
std::string to_text(Seconds time);
std::string to_text(Bytes amount);
/// 0.05 as "5%".
std::string percent_to_text(double share);

/// The nearest number with so many significant digits. A number that is not finite stays as it is.
double rounded_to(int digits, double value);

/// The shortest text that reads back as the same double.
std::string number_to_text(double value);

}  // namespace gradcast
