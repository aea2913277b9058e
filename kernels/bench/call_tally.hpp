// Counts over the timed calls: elements selected, the path that each call took (from its status,
// kernels/selection.hpp), and the bytes that it moved.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/encoder.hpp"

namespace gradcast {

/// "fast" if the candidates were enough; else how far it had to look again.
std::string encode_path(std::uint32_t status);

/// The bytes that an encode moves through memory: the stream, the sample (`sampled` elements), the
/// notes and candidates of tiles, and second reads of u. They are counted from what the kernels do
/// (kernels/device), not measured on the device. `looks`: how often the last kernel goes over the
/// tiles, each time over u itself where a tile has more candidates than slots.
double encode_bytes(double elements, double sampled, double selected, std::uint32_t status,
                    const EncoderWork& work, int looks);

/// Passes of a rule's last kernel over the tiles. Every rule tallies and sends: two passes. Rules
/// that decide by thresholds count before that. rTop-k draws in three levels and tallies again.
int looks_of(Rule rule);

/// Sums over calls whose inputs differ, so that how many they select and how they find it differ.
class CallTally {
 public:
  /// `elements`: of all tensors of a call.
  CallTally(double elements, Rule rule) : elements_(elements), rule_(rule) {}

  /// Adds a call: the elements that it selected, its status, and the work of its encoder.
  void add(std::int64_t selected, std::uint32_t status, const EncoderWork& work);

  /// Means of the calls.
  double selected() const { return selected_ / calls_; }
  double bytes() const { return bytes_ / calls_; }
  /// "fast" if all calls took that path; else each with its number of calls, the most frequent
  /// first: "fast 19, u re-read 1".
  std::string path() const;

 private:
  struct Path {
    std::string name;
    int calls = 0;
  };

  double elements_;
  Rule rule_;
  std::int64_t sampled_ = 0;  // by the next call
  double calls_ = 0;
  double selected_ = 0;
  double bytes_ = 0;
  std::vector<Path> paths_;
};

}  // namespace gradcast
