#include "sim/generate/simulated_laws.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/floor_bytes.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

Seconds streamed(double bytes, double share) {
  return Seconds{bytes / (share * SimulatedV100::kBytesPerSecond)};
}

MatrixShape shape_of(const SimulatedCall& call) {
  return call.columns > 0 ? MatrixShape{call.elements / call.columns, call.columns}
                          : MatrixShape{call.elements, 1};
}

LowRankSettings matrix_of(const MatrixShape& shape, double rank) {
  return {.shape = shape, .rank = static_cast<std::int64_t>(rank), .mode = Mode::Code};
}

/// Seconds that one more chunk takes, by the width of a row, if `prepare_thin` ran with several
/// numbers of chunks: a straight line's slope.
std::map<std::int64_t, Seconds> chunk_times(const std::vector<SimulatedKernel>& kernels) {
  struct Sums {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  };
  std::map<std::int64_t, Sums> by_width;
  const auto add = [&](std::int64_t rows, const SimulatedKernel& kernel) {
    const ThinChunks chunks = thin_chunks(rows, static_cast<std::int64_t>(kernel.parameter));
    const double x = static_cast<double>(chunks.one_by_one);
    const double y = static_cast<double>(kernel.cycles) / SimulatedV100::kHertz;
    Sums& sums = by_width[chunks.width];
    sums = {sums.n + 1, sums.x + x, sums.y + y, sums.xx + x * x, sums.xy + x * y};
  };
  bool of_q = false;  // a call makes Q orthonormal, and then P
  for (const SimulatedKernel& kernel : kernels) {
    if (kernel.kernel != "prepare_thin") continue;
    const MatrixShape shape{kernel.elements / kernel.columns, kernel.columns};
    const auto rank = static_cast<std::int64_t>(kernel.parameter);
    if (!low_rank_numbers(shape, rank, Mode::Code).compressed()) continue;
    of_q = !of_q;
    add(of_q ? shape.columns : shape.rows, kernel);
  }
  std::map<std::int64_t, Seconds> times;
  for (const auto& [width, sums] : by_width) {
    const double spread = sums.n * sums.xx - sums.x * sums.x;
    times[width] = Seconds{spread > 0 ? (sums.n * sums.xy - sums.x * sums.y) / spread : 0};
  }
  return times;
}

/// Bytes of the sum that a decode writes, and of a worker's payload.
double sum_bytes(const Compressor& compressor, double parameter, std::int64_t elements) {
  return decode_floor_bytes(*compressor.packing, parameter, elements, 0);
}
double payload_bytes(const Compressor& compressor, double parameter, std::int64_t elements) {
  return decode_floor_bytes(*compressor.packing, parameter, elements, 1) -
         sum_bytes(compressor, parameter, elements);
}

/// Time that a further worker's payload takes, least over the sizes that ran with several numbers
/// of workers.
Seconds latency_of(const std::vector<SimulatedCall>& calls) {
  Seconds least = Seconds::max();
  for (const SimulatedCall& a : calls)
    for (const SimulatedCall& b : calls)
      if (a.elements == b.elements && a.workers < b.workers)
        least = std::min(least, (b.time - a.time) / (b.workers - a.workers));
  return least;
}

UnpackLaw fit_unpack_law(const Compressor& compressor, const std::vector<SimulatedCall>& calls,
                         double most_share) {
  constexpr std::int64_t kLarge = 1'000'000;  // blocks enough for a GPU, several times
  UnpackLaw law{.latency = latency_of(calls), .payload_share = most_share, .sum_share = most_share};
  const auto sum_of = [&](const SimulatedCall& call) {
    return sum_bytes(compressor, call.parameter, call.elements);
  };
  const auto payload_of = [&](const SimulatedCall& call) {
    return payload_bytes(compressor, call.parameter, call.elements);
  };
  const SimulatedCall* largest = nullptr;
  double weights = 0;
  double fixed = 0;
  for (const SimulatedCall& call : calls) {
    if (call.workers > 1 && call.elements > kLarge) largest = &call;
    const Seconds rest = call.time - law.at(sum_of(call), payload_of(call), call.workers);
    if (call.elements > kLarge) continue;  // there the payloads' bytes count
    const double weight = 1 / (call.time.count() * call.time.count());
    weights += weight;
    fixed += weight * rest.count();
  }
  law.fixed = Seconds{weights > 0 ? fixed / weights : 0};
  law.large_ran = largest != nullptr;
  if (largest != nullptr) {
    const Seconds payloads = largest->time - law.at(sum_of(*largest), 0, 0);
    law.payload_share =
        std::min(most_share, largest->workers * payload_of(*largest) /
                                 (payloads.count() * SimulatedV100::kBytesPerSecond));
  }
  for (const SimulatedCall& call : calls) {
    const Seconds at = law.at(sum_of(call), payload_of(call), call.workers);
    law.worst_error = std::max(law.worst_error, std::abs(at / call.time - 1));
  }
  return law;
}

std::string percent(double share) { return number_to_text(std::round(share * 1000) / 10) + " %"; }
std::string microseconds(Seconds time) {
  return number_to_text(std::round(time.count() * 1e7) / 10) + " us";
}
std::string off_by(double error) { return ", off by " + percent(error); }
/// A law in words. With two points or fewer a line goes through all, so that no error shows.
std::string told(const BytesLaw& law) {
  return microseconds(law.fixed) + ", bytes at " + percent(law.share) +
         (law.points > 2
              ? off_by(law.worst_error)
              : ", from " + std::to_string(law.points) + " size" + (law.points > 1 ? "s" : ""));
}

}  // namespace

Seconds BytesLaw::at(double bytes, Seconds known) const {
  return fixed + known + streamed(bytes, share);
}

BytesLaw fit_bytes_law(const std::vector<TimedBytes>& points, double most_share) {
  // Weighted by 1 / time^2: sums of a straight line's normal equations.
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (const TimedBytes& point : points) {
    const double all = point.time.count();
    const double y = (point.time - point.known).count();
    const double x = point.bytes;
    const double weight = 1 / (all * all);
    w += weight;
    wx += weight * x;
    wy += weight * y;
    wxx += weight * x * x;
    wxy += weight * x * y;
  }
  const double least = 1 / (most_share * SimulatedV100::kBytesPerSecond);
  const double fitted = points.size() > 1 ? (w * wxy - wx * wy) / (w * wxx - wx * wx) : least;
  const double slope = std::max(fitted, least);
  BytesLaw law;
  law.fixed = Seconds{std::max(0.0, (wy - slope * wx) / w)};
  law.share = 1 / (slope * SimulatedV100::kBytesPerSecond);
  law.points = points.size();
  for (const TimedBytes& point : points) {
    const double error = law.at(point.bytes, point.known) / point.time - 1;
    law.worst_error = std::max(law.worst_error, std::abs(error));
  }
  return law;
}

SparseLines sparse_lines(const std::vector<SimulatedCall>& calls) {
  SparseLines lines;
  for (const SimulatedCall& call : calls)
    if (find_compressor(call.compressor)->family == Family::Sparsifier)
      lines[{call.compressor, call.density}].push_back(call);
  for (auto& [key, line] : lines) std::ranges::sort(line, {}, &SimulatedCall::elements);
  return lines;
}

std::vector<SimulatedCall> large_tensors(std::vector<SimulatedCall> line) {
  std::erase_if(line, [](const SimulatedCall& call) { return call.elements <= kWholeTensor; });
  return line;
}

BytesLaw fit_sparse_law(const std::vector<SimulatedCall>& points, double most_share) {
  std::vector<TimedBytes> timed;
  for (const SimulatedCall& point : points)
    timed.push_back({kEncodeBytes * static_cast<double>(point.elements), point.time});
  return fit_bytes_law(timed, most_share);
}

Seconds UnpackLaw::at(double sum_bytes, double payload_bytes, int workers) const {
  return SimulatedV100::kLaunch + fixed + streamed(sum_bytes, sum_share) +
         workers * std::max(latency, streamed(payload_bytes, payload_share));
}

/// Laws are of large tensors, which they are for, if such ran.
BytesLaw fit_large(std::vector<TimedBytes> points, double most_share) {
  constexpr double kLargeBytes = 1e6;
  const auto small = [](const TimedBytes& point) { return point.bytes < kLargeBytes; };
  if (!std::ranges::all_of(points, small)) std::erase_if(points, small);
  return fit_bytes_law(points, most_share);
}

WholeTimes::WholeTimes(const std::vector<SimulatedKernel>& kernels, double most_share,
                       const TextFile& file)
    : calls_(simulated_calls(kernels)), chunk_times_(chunk_times(kernels)) {
  std::map<Key, std::vector<TimedBytes>> encodes, restores;
  std::map<Key, std::vector<SimulatedCall>> unpacks;
  for (const SimulatedCall& call : calls_) {
    const Compressor& compressor = *find_compressor(call.compressor);
    if (compressor.family == Family::Sparsifier) continue;
    const Key key = key_of(compressor, call.parameter, shape_of(call));
    if (call.encodes()) {
      encodes[key].push_back(encoded(compressor, call.parameter, call.elements, shape_of(call)));
      encodes[key].back().time = call.time;
    } else if (compressor.low_rank != nullptr) {
      restores[key].push_back({decode_floor_bytes(matrix_of(shape_of(call), call.parameter)),
                               call.time, SimulatedV100::kLaunch});
    } else {
      unpacks[key].push_back(call);
    }
  }
  for (const auto& [key, points] : encodes) encode_[key] = fit_large(points, most_share);
  for (const auto& [key, points] : restores) restore_[key] = fit_large(points, most_share);
  double least_share = most_share;
  for (const auto& [key, points] : unpacks) {
    unpack_[key] = fit_unpack_law(*find_compressor(key.first), points, most_share);
    if (unpack_[key].large_ran) least_share = std::min(least_share, unpack_[key].payload_share);
  }
  for (auto& [key, law] : unpack_)
    if (!law.large_ran) law.payload_share = least_share;
  for (const Compressor* compressor : all_packers())
    if (const Key key{compressor->name, compressor->parameter.usual};
        !encode_.contains(key) || !unpack_.contains(key))
      throw DataError(file.path.string(), 0,
                      "has no encode or no decode of " + std::string(compressor->name));
}

/// Bytes of an encode, and what is known of its time besides.
TimedBytes WholeTimes::encoded(const Compressor& compressor, double parameter,
                               std::int64_t elements, const MatrixShape& shape) const {
  if (compressor.low_rank == nullptr)
    return {encode_floor_bytes(compressor, parameter, elements), Seconds{0},
            pack_launches(*compressor.packing, elements) * SimulatedV100::kLaunch};
  const LowRankSettings matrix = matrix_of(shape, parameter);
  Seconds known = low_rank_launches(matrix) * SimulatedV100::kLaunch;
  if (low_rank_numbers(shape, matrix.rank, matrix.mode).compressed())
    for (const std::int64_t rows : {shape.rows, shape.columns}) {
      const ThinChunks chunks = thin_chunks(rows, rank_of(shape, matrix.rank));
      const auto time = chunk_times_.find(chunks.width);
      if (time != chunk_times_.end())
        known += static_cast<double>(chunks.one_by_one) * time->second;
    }
  return {encode_floor_bytes(matrix), Seconds{0}, known};
}

WholeTimes::Key WholeTimes::key_of(const Compressor& compressor, double parameter,
                                   const MatrixShape& shape) {
  const bool whole =
      compressor.low_rank != nullptr &&
      !low_rank_numbers(shape, static_cast<std::int64_t>(parameter), Mode::Code).compressed();
  return {std::string(compressor.name), whole ? 0 : parameter};
}

const SimulatedCall* WholeTimes::ran(const Compressor& compressor, double parameter,
                                     std::int64_t elements, int workers) const {
  const std::int64_t columns = compressor.low_rank != nullptr ? near_square(elements).columns : 0;
  const auto found = std::ranges::find_if(calls_, [&](const SimulatedCall& call) {
    return call.compressor == compressor.name && call.parameter == parameter &&
           call.elements == elements && call.columns == columns && call.workers == workers;
  });
  return found == calls_.end() ? nullptr : &*found;
}

bool WholeTimes::encode_ran(const Compressor& compressor, double parameter,
                            std::int64_t elements) const {
  return ran(compressor, parameter, elements, 0) != nullptr;
}

const BytesLaw& WholeTimes::encode_law(const Compressor& compressor, double parameter,
                                       std::int64_t elements) const {
  return encode_.at(key_of(compressor, parameter, near_square(elements)));
}

Seconds WholeTimes::encode(const Compressor& compressor, double parameter,
                           std::int64_t elements) const {
  if (const SimulatedCall* call = ran(compressor, parameter, elements, 0)) return call->time;
  const TimedBytes it = encoded(compressor, parameter, elements, near_square(elements));
  return encode_law(compressor, parameter, elements).at(it.bytes, it.known);
}

Seconds WholeTimes::decode(const Compressor& compressor, double parameter, std::int64_t elements,
                           int workers) const {
  const bool matrix = compressor.low_rank != nullptr;  // its decode is of a mean
  if (const SimulatedCall* call = ran(compressor, parameter, elements, matrix ? 1 : workers))
    return call->time;
  const Key key = key_of(compressor, parameter, near_square(elements));
  if (matrix)
    return restore_.at(key).at(decode_floor_bytes(matrix_of(near_square(elements), parameter)),
                               SimulatedV100::kLaunch);
  return unpack_.at(key).at(sum_bytes(compressor, parameter, elements),
                            payload_bytes(compressor, parameter, elements), workers);
}

std::vector<std::string> WholeTimes::words() const {
  std::vector<std::string> lines;
  for (const auto& [key, law] : encode_) {
    std::string line = "  " + key.first;
    if (const auto restored = restore_.find(key); restored != restore_.end()) {
      line += key.second > 0 ? ", rank " + number_to_text(key.second) : ", not compressed";
      line += ": encode " + told(law) + "; decode " + told(restored->second);
    } else {
      const UnpackLaw& unpacked = unpack_.at(key);
      line += ": encode " + told(law) + "; decode " + microseconds(unpacked.fixed) +
              ", and of each worker " + microseconds(unpacked.latency) + " or its bytes at " +
              percent(unpacked.payload_share) + off_by(unpacked.worst_error);
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace gradcast
