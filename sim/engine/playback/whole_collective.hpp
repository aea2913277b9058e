// Transports that wait for all ranks before a collective begins, and end it for all at once.
#pragma once
#include <map>
#include <vector>

#include "sim/engine/playback/job.hpp"

namespace gradcast {

class WholeCollectives : public Transport {
 public:
  void enter(Job& job, std::size_t step, std::size_t rank_class) final;

 protected:
  /// All ranks are there. To call finish(job, step), then or later.
  virtual void carry_out(Job& job, std::size_t step) = 0;

  void finish(Job& job, std::size_t step);

  /// By how much ranks are ahead of the last when a collective begins: those of one that waited for
  /// the stream went on, each by itself, from the one before.
  std::vector<double> lead_of(const Job& job, std::size_t step, Seconds now) const;
  /// What is to be known of a collective that ends, for the next.
  void set_lead(const Job& job, Seconds end, std::vector<double> lead_seconds);

 private:
  struct Ended {
    Seconds at{-1};
    std::vector<double> lead_seconds;
  };

  std::map<const Job*, Ended> ended_;
  std::map<std::pair<const Job*, std::size_t>, std::size_t> present_;  // classes
};

}  // namespace gradcast
