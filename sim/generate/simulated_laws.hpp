// Laws of the times on the simulated GPU, for sizes that did not run there: a fixed part, what is
// known of the launches, and bytes (kernels/floor_bytes.hpp) at a share of the bandwidth.
#pragma once
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/generate/simulated_kernels.hpp"

namespace gradcast {

struct BytesLaw {
  Seconds fixed{0};
  double share = 0;        // of the bandwidth
  double worst_error = 0;  // relative, at the points it was fitted to
  std::size_t points = 0;

  /// `known`: what is known besides, as in TimedBytes.
  Seconds at(double bytes, Seconds known = Seconds{0}) const;
};

/// A time that a law is fitted to.
struct TimedBytes {
  double bytes = 0;
  Seconds time{0};
  Seconds known{0};  // part of it: the delay of the launches, and work that depends on no bytes
};

/// Least squares of the relative error. The share is at most `most_share`: memory does not limit
/// tensors that fit into the cache.
BytesLaw fit_bytes_law(const std::vector<TimedBytes>& points, double most_share);

/// Encodes of each sparsifier and density, by rising size. Their launches are in the law's fixed
/// part.
using SparseLines = std::map<std::pair<std::string, double>, std::vector<SimulatedCall>>;
SparseLines sparse_lines(const std::vector<SimulatedCall>& calls);

/// The calls that three kernels encode, not one block: a law is of them.
std::vector<SimulatedCall> large_tensors(std::vector<SimulatedCall> line);
BytesLaw fit_sparse_law(const std::vector<SimulatedCall>& points, double most_share);

/// PowerSGD's ranks that ran with matrices small and large.
inline constexpr double kSimulatedRanks[] = {1, 2, 4, 8, 32};

/// Decoding of casts and quantisers. Each worker's payload is read after the one before it, and
/// takes a read's latency at least.
struct UnpackLaw {
  Seconds fixed{0};
  Seconds latency{0};  // of one worker's payload
  /// Share of the bandwidth, for payloads of large tensors. If none ran, the least share of others.
  double payload_share = 0;
  double sum_share = 0;  // for the sum, which is written once
  double worst_error = 0;
  bool large_ran = false;

  Seconds at(double sum_bytes, double payload_bytes, int workers) const;
};

/// Times of the compressors that send something of every element. PowerSGD's are of a near-square
/// matrix.
class WholeTimes {
 public:
  /// Throws DataError if a compressor did not run.
  WholeTimes(const std::vector<SimulatedKernel>& kernels, double most_share, const TextFile& file);

  /// The time that ran, else the law's.
  Seconds encode(const Compressor& compressor, double parameter, std::int64_t elements) const;
  Seconds decode(const Compressor& compressor, double parameter, std::int64_t elements,
                 int workers) const;
  bool encode_ran(const Compressor& compressor, double parameter, std::int64_t elements) const;

  /// Law of the encode of such a tensor.
  const BytesLaw& encode_law(const Compressor& compressor, double parameter,
                             std::int64_t elements) const;
  /// Sentences on all laws, and how far they are off.
  std::vector<std::string> words() const;

 private:
  /// The rank, 0 where a matrix is not compressed; the parameter of a cast or quantiser.
  using Key = std::pair<std::string, double>;
  static Key key_of(const Compressor& compressor, double parameter, const MatrixShape& shape);
  const SimulatedCall* ran(const Compressor& compressor, double parameter, std::int64_t elements,
                           int workers) const;
  TimedBytes encoded(const Compressor& compressor, double parameter, std::int64_t elements,
                     const MatrixShape& shape) const;

  std::vector<SimulatedCall> calls_;
  std::map<std::int64_t, Seconds> chunk_times_;  // of thin matrices, by the width of their chunks
  std::map<Key, BytesLaw> encode_, restore_;
  std::map<Key, UnpackLaw> unpack_;
};

}  // namespace gradcast
