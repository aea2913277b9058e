// What the calls of a timing answered.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/encoder.hpp"

namespace gradcast {

/// Sums over calls whose inputs differ, so that how many they select and how they find it differ.
class CallTally {
 public:
  /// `elements`: of all tensors of a call.
  CallTally(double elements, Rule rule) : elements_(elements), rule_(rule) {}

  /// What a call selected, how, and what its encoder says of it.
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
