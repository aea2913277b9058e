// Only this file includes simdjson.
#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "sim/base/block_reader.hpp"
#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/import/kineto/event_cutter.hpp"
#include "sim/import/kineto/event_reader.hpp"

namespace gradcast::kineto {
namespace {

namespace od = simdjson::ondemand;

static_assert(EventCutter::kPadding >= simdjson::SIMDJSON_PADDING);

/// The longest trace, after unpacking: what a disk holds, so that /dev/zero ends.
constexpr std::size_t kLongestTrace = std::size_t{1} << 38;

/// Microseconds. Dates since 1970 are about 2e15; no sum of two of these overflows nanoseconds.
constexpr std::int64_t kLatestDate = 4'000'000'000'000'000;

/// Nanoseconds of a slice that is looked at. No step takes so long, and the sum of as many as are
/// kept is still a number.
constexpr Nanoseconds kLongestSlice = 1'000'000'000'000;

/// "123.456", with or without quotes, as nanoseconds. A double has too few digits for the
/// nanoseconds of a date. False for what is no such number.
bool parse_microseconds(std::string_view text, Nanoseconds& time) {
  const bool quoted = text.starts_with('"');
  if (quoted) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' ||
                           text.back() == '\t' || (quoted && text.back() == '"')))
    text.remove_suffix(1);
  const bool negative = text.starts_with('-');
  const char* at = text.data() + (negative ? 1 : 0);
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  const auto [rest, wrong] = std::from_chars(at, end, whole);
  if (wrong != std::errc{} || whole < 0) return false;
  std::int64_t fraction = 0;
  at = rest;
  if (at < end && *at == '.') {
    ++at;
    int digits = 0;
    for (; at < end && *at >= '0' && *at <= '9'; ++at, ++digits) {
      if (digits < 3) fraction = fraction * 10 + (*at - '0');
      if (digits == 3 && *at >= '5') ++fraction;
    }
    for (; digits < 3; ++digits) fraction *= 10;
  }
  if (at != end) {  // an exponent
    double number = NAN;
    const auto [last, bad] = std::from_chars(text.data(), end, number);
    if (bad != std::errc{} || last != end || !(std::fabs(number) <= double{kLatestDate}))
      return false;
    time = std::llround(number * 1000);
    return true;
  }
  if (whole > kLatestDate) return false;
  time = whole * 1000 + fraction;
  if (negative) time = -time;
  return true;
}

/// A whole number, or -1 for what is none: a wrong one in args is as good as a missing one.
std::int64_t whole_number(od::value value) {
  std::int64_t number = -1;
  if (value.get_int64().get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return -1;
  const auto [rest, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  return wrong == std::errc{} && rest == text.data() + text.size() ? number : -1;
}

std::string_view text_of(od::value value) {
  std::string_view text;
  return value.get_string().get(text) == simdjson::SUCCESS ? text : std::string_view{};
}

/// The product of [2, 1, 1]; -1 where it is no such list.
std::int64_t product_of(od::value value) {
  od::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return -1;
  std::int64_t product = 1;
  for (auto item : list) {
    std::int64_t number = 0;
    if (item.get_int64().get(number) != simdjson::SUCCESS) return -1;
    if (number <= 0 || number > std::numeric_limits<std::int32_t>::max() ||
        product > (std::int64_t{1} << 40) / number)
      return -1;
    product *= number;
  }
  return product;
}

/// A number or a text, as it stands.
std::string_view id_of(od::value value) {
  od::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return {};
  if (type == od::json_type::string) return text_of(value);
  std::string_view token = value.raw_json_token();
  while (!token.empty() && (token.back() <= ' ')) token.remove_suffix(1);
  return token;
}

/// A name of a field, as it stands: nobody escapes those that are looked for.
std::string_view name_of(od::raw_json_string key) {
  const char* const begin = key.raw();
  const char* end = begin;
  while (*end != '"') end += *end == '\\' ? 2 : 1;
  return {begin, static_cast<std::size_t>(end - begin)};
}

void take_argument(std::string_view name, od::value value, Event& event) {
  switch (name.size()) {
    case 4:
      if (name == "grid") event.blocks = product_of(value);
      break;
    case 5:
      if (name == "block") event.threads = product_of(value);
      if (name == "bytes") event.bytes = whole_number(value);
      if (name == "dtype") event.element_type = text_of(value);
      break;
    case 6:
      if (name == "device") event.device = whole_number(value);
      break;
    case 10:
      if (name == "Group size") event.group_size = whole_number(value);
      if (name == "Input Dims" || name == "Input dims") {
        od::array list;
        if (value.get_array().get(list) == simdjson::SUCCESS)
          if (list.raw_json().get(event.dims) != simdjson::SUCCESS) event.dims = {};
      }
      break;
    case 11:
      if (name == "correlation") event.correlation = whole_number(value);
      break;
    case 13:
      if (name == "In msg nelems") event.elements_in = whole_number(value);
      break;
    case 15:
      if (name == "Sequence number") event.sequence = whole_number(value);
      if (name == "Collective name") event.collective = text_of(value);
      break;
    case 25:
      if (name == "Process Group Description") event.group = text_of(value);
      break;
    default:
      break;
  }
}

class EventParser {
 public:
  EventParser(std::string file, const std::function<void(const Event&)>& take)
      : file_(std::move(file)), take_(take) {}

  void take_run(std::string_view run) {
    od::document document;
    require(parser_.iterate(run, run.size() + EventCutter::kPadding).get(document));
    od::array events;
    require(document.get_array().get(events));
    for (auto item : events) {
      ++number_;
      od::value value;
      require(item.get(value));
      od::object event;
      const auto error = value.get_object().get(event);
      if (error == simdjson::INCORRECT_TYPE) throw failure("is no object {...}");
      require(error);
      take_event(event);
    }
  }

  std::int64_t events() const { return number_; }

 private:
  DataError failure(const std::string& what) const {
    return {file_, 0, "event " + std::to_string(number_) + ": " + what};
  }

  void require(simdjson::error_code error) const {
    if (error != simdjson::SUCCESS)
      throw DataError(file_, 0,
                      "is no valid JSON at or after event " + std::to_string(number_) + ": " +
                          simdjson::error_message(error));
  }

  DataError time_failure(const char* key, std::string_view found, std::string_view name) const {
    const std::string whose =
        "\"" + std::string(key) + "\" of '" + shortened(clean_text(name), 60) + "'";
    if (found.empty()) return failure(whose + " is missing; it is a number of microseconds");
    return failure(whose + " is " + shortened(clean_text(found), 40) + ", not microseconds");
  }

  void take_event(od::object fields) {
    Event event;
    std::string_view start, duration;
    bool is_slice = false;
    for (auto field : fields) {
      od::raw_json_string key;
      require(field.key().get(key));
      od::value value;
      require(field.value().get(value));
      const std::string_view name = name_of(key);
      if (name == "ph") {
        is_slice = text_of(value) == "X";
        if (!is_slice) return;
      } else if (name == "cat") {
        event.category = category_of(text_of(value));
      } else if (name == "name") {
        event.name = text_of(value);
      } else if (name == "ts") {
        start = value.raw_json_token();
      } else if (name == "dur") {
        duration = value.raw_json_token();
      } else if (name == "pid") {
        event.process = id_of(value);
      } else if (name == "tid") {
        event.thread = id_of(value);
      } else if (name == "args") {
        od::object args;
        if (value.get_object().get(args) != simdjson::SUCCESS) continue;
        for (auto argument : args) {
          od::raw_json_string argument_key;
          require(argument.key().get(argument_key));
          od::value argument_value;
          require(argument.value().get(argument_value));
          take_argument(name_of(argument_key), argument_value, event);
        }
      }
    }
    if (!is_slice) return;
    if (!parse_microseconds(start, event.start)) throw time_failure("ts", start, event.name);
    if (!parse_microseconds(duration, event.duration))
      throw time_failure("dur", duration, event.name);
    if (event.duration < 0)
      throw failure("\"dur\" of '" + shortened(clean_text(event.name), 60) +
                    "' is negative; a duration is 0 or more microseconds");
    if (event.category != Category::Other && event.duration > kLongestSlice)
      throw failure("'" + shortened(clean_text(event.name), 60) +
                    "' takes more than 1000 s, as no part of a step does");
    take_(event);
  }

  std::string file_;
  const std::function<void(const Event&)>& take_;
  od::parser parser_;
  std::int64_t number_ = 0;  // of the event, from 1
};

/// A value of the head that is not as expected counts as missing: the head only names things.
Head parse_head(const std::string& file, const std::string& text) {
  Head head;
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (const auto error = parser.parse(text).get(document); error != simdjson::SUCCESS)
    throw DataError(file, 0,
                    std::string("is no valid JSON around its list of events: ") +
                        simdjson::error_message(error));
  std::int64_t number = 0;
  if (document["baseTimeNanoseconds"].get_int64().get(number) == simdjson::SUCCESS && number >= 0 &&
      number <= kLatestDate * 1000)
    head.base = number;
  if (document["distributedInfo"]["rank"].get_int64().get(number) == simdjson::SUCCESS &&
      number >= 0 && number < 1'000'000)
    head.rank = static_cast<int>(number);
  if (document["distributedInfo"]["world_size"].get_int64().get(number) == simdjson::SUCCESS &&
      number >= 1 && number <= 1'000'000)
    head.world_size = static_cast<int>(number);
  simdjson::dom::array devices;
  if (document["deviceProperties"].get_array().get(devices) == simdjson::SUCCESS)
    for (const simdjson::dom::element device : devices) {
      std::string_view name;
      if (device["id"].get_int64().get(number) == simdjson::SUCCESS &&
          device["name"].get_string().get(name) == simdjson::SUCCESS)
        head.devices.emplace_back(number, shortened(clean_text(name), 60));
    }
  return head;
}

}  // namespace

bool event_reader_built() { return true; }

Head read_events(const std::filesystem::path& path, const std::function<void(const Event&)>& take) {
  BlockReader file(path, kLongestTrace);
  EventCutter cutter(path.string(), [&] { return file.next(); });
  EventParser parser(path.string(), take);
  for (std::string_view run = cutter.next(); !run.empty(); run = cutter.next())
    parser.take_run(run);
  if (!cutter.found_events())
    throw DataError(
        path.string(), 0,
        "has no list of events: a profiler trace is {\"traceEvents\": [...]} or a list");
  return parse_head(path.string(), cutter.head());
}

}  // namespace gradcast::kineto
