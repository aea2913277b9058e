#include "sim/inputs/collective_curve.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "sim/base/csv.hpp"
#include "sim/base/error.hpp"
#include "sim/base/limits.hpp"
#include "sim/base/text.hpp"
#include "sim/inputs/cluster_faults.hpp"

namespace gradcast {
namespace {

constexpr std::array kCurveColumns = {"collective", "nodes",   "gpus_per_node", "bytes",
                                      "library",    "seconds", "deviation"};
constexpr std::size_t kRequiredOfCurve = kCurveColumns.size() - 1;
/// A factor of 20,000 between times of one case.
constexpr double kMostDeviation = 10;
/// Nobody's logs have so many: 30 sizes of nine collectives on ten numbers of nodes are 2,700.
constexpr std::size_t kMostMeasuredTimes = 100'000;

auto case_of(const CurvePoint& point) {
  return std::tie(point.collective, point.gpus_per_node, point.library, point.nodes,
                  point.bytes.count);
}

std::string parse_curve_collective(std::string_view text) {
  std::vector<std::string> known;
  for (const std::string_view name : kCurveCollectives) {
    if (name == text) return std::string(text);
    known.emplace_back(name);
  }
  throw ValueError("'" + std::string(text) + "' is not one of " + join(known) +
                   did_you_mean(text, known));
}

std::string parse_curve_library(std::string_view text) {
  if (text == "nccl" || text == "mpi" || text == "gloo") return std::string(text);
  if (text.starts_with(kNcclPrefix) && is_version(text.substr(kNcclPrefix.size())))
    return std::string(text);
  throw ValueError("'" + std::string(text) +
                   "' is not nccl, nccl-VERSION (like nccl-2.18.3), mpi "
                   "or gloo");
}

/// Standard deviation of the logarithms of times of one case.
double deviation_of(std::span<const CurvePoint> points) {
  double sum = 0, squares = 0;
  for (const CurvePoint& point : points) sum += std::log(point.seconds.count());
  const double mean = sum / static_cast<double>(points.size());
  for (const CurvePoint& point : points)
    squares += std::pow(std::log(point.seconds.count()) - mean, 2);
  return std::min(kMostDeviation,
                  rounded_to(3, std::sqrt(squares / static_cast<double>(points.size()))));
}

}  // namespace

bool is_version(std::string_view text) {
  constexpr std::size_t kLongest = 12;
  const auto dots = std::count(text.begin(), text.end(), '.');
  return dots >= 1 && dots <= 2 && text.size() <= kLongest && text.front() != '.' &&
         text.back() != '.' && text.find("..") == std::string_view::npos &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

CollectiveCurve curve_of(std::vector<CurvePoint> points) {
  std::sort(points.begin(), points.end(), [](const CurvePoint& a, const CurvePoint& b) {
    return std::tuple_cat(case_of(a), std::tie(a.seconds)) <
           std::tuple_cat(case_of(b), std::tie(b.seconds));
  });
  CollectiveCurve curve;
  for (auto first = points.begin(); first != points.end();) {
    const auto last = std::find_if(first, points.end(), [&](const CurvePoint& point) {
      return case_of(point) != case_of(*first);
    });
    const auto count = last - first;
    curve.push_back(first[count / 2]);
    curve.back().seconds = (first[(count - 1) / 2].seconds + first[count / 2].seconds) / 2;
    if (count > 1) curve.back().deviation = deviation_of({first, last});
    first = last;
  }
  return curve;
}

CollectiveCurve load_collective_curve(const TextFile& file) {
  CsvReader rows(file, kCurveColumns, kRequiredOfCurve);
  std::vector<CurvePoint> points;
  while (rows.next()) {
    CurvePoint point;
    point.collective = rows.value("collective", parse_curve_collective);
    point.nodes = rows.value("nodes", parse_count);
    point.gpus_per_node = rows.value("gpus_per_node", parse_count);
    try {
      Cluster shape;
      shape.nodes = point.nodes;
      shape.gpus_per_node = point.gpus_per_node;
      require_possible(shape);
      if (shape.ranks() < 2) throw ValueError("one GPU has nobody to exchange with");
    } catch (const ValueError& error) {
      throw rows.failure(error.what());
    }
    point.bytes = Bytes{rows.integer("bytes", 1, std::int64_t{1} << 50)};
    point.library = rows.value("library", parse_curve_library);
    point.seconds = Seconds{rows.number("seconds", kShortestMeasuredSeconds, kLongestSeconds)};
    if (!rows.text("deviation").empty())
      point.deviation = rows.number("deviation", 0, kMostDeviation);
    points.push_back(std::move(point));
    if (points.size() > kMostMeasuredTimes)
      throw rows.failure("more than " + std::to_string(kMostMeasuredTimes) + " measured times");
  }
  if (points.empty()) throw DataError(file.path.string(), 0, "has no measured time");
  const std::size_t read = points.size();
  CollectiveCurve curve = curve_of(std::move(points));
  if (curve.size() < read)
    throw DataError(file.path.string(), 0,
                    "has a case (collective, nodes, gpus_per_node, bytes, library) twice");
  return curve;
}

std::string collective_curve_csv(const CollectiveCurve& curve,
                                 const std::vector<std::string>& provenance) {
  const bool repeated = std::any_of(curve.begin(), curve.end(),
                                    [](const CurvePoint& point) { return point.deviation > 0; });
  const auto columns = static_cast<std::ptrdiff_t>(kRequiredOfCurve + (repeated ? 1 : 0));
  std::string text =
      csv_comments(provenance) + csv_line({kCurveColumns.begin(), kCurveColumns.begin() + columns});
  for (const CurvePoint& point : curve) {
    std::vector<std::string> fields = {point.collective,
                                       std::to_string(point.nodes),
                                       std::to_string(point.gpus_per_node),
                                       std::to_string(point.bytes.count),
                                       point.library,
                                       number_to_text(rounded_to(6, point.seconds.count()))};
    if (repeated)
      fields.push_back(point.deviation > 0 ? number_to_text(rounded_to(3, point.deviation)) : "");
    text += csv_line(fields);
  }
  return text;
}

}  // namespace gradcast
