// Base of transports in which a collective begins when all ranks have come, and ends for all at
// once.
#pragma once
#include <map>
#include <vector>

#include "sim/engine/playback/job.hpp"

namespace gradcast {

class WholeCollectives : public MessageTransport {
 public:
  void enter(Job& job, std::size_t step, std::size_t rank_class) final;

 protected:
  /// Called when all ranks have come. Must call finish(job, step), at once or later.
  virtual void carry_out(Job& job, std::size_t step) = 0;

  void finish(Job& job, std::size_t step);

  /// Seconds by which each rank is ahead of the last one when a collective begins. If the
  /// collective waited for the stream, each rank came to it by itself from the collective before,
  /// of the same communicator.
  std::vector<double> lead_of(const Job& job, std::size_t step, Seconds now) const;
  /// Keeps what the next collective of the same communicator needs to know about one that ends.
  void set_lead(const Job& job, std::size_t step, Seconds end, std::vector<double> lead_seconds);

 private:
  struct Ended {
    Seconds at{-1};
    std::vector<double> lead_seconds;
  };

  std::map<std::pair<const Job*, int>, Ended> ended_;  // the last one, by communicator
  std::map<std::pair<const Job*, std::size_t>, std::size_t> present_;  // classes
};

}  // namespace gradcast
