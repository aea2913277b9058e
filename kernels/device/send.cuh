// Writes the answer: values, indices, and what stays of them in the residual. Before that it makes
// rTop-k's draw.
#pragma once
#include "kernels/device/search.cuh"
#include "kernels/device/tally.cuh"

namespace gradcast::GRADCAST_DEVICE {

template <Rule kRule, Mode kMode>
class Sending {
  using Traits = RuleTraits<kRule, kMode>;
  using Visitor = TileVisitor<Traits::kRandomKeys>;

 public:
  __device__ Sending(Share<kRule, kMode>& share, Tally<kRule, kMode>& tally)
      : share_(share), tally_(tally), batch_(share.batch()), shared_(share.shared()) {}

  /// Draws the k elements with the largest random keys among those that would be sent.
  __device__ void draw() {
    share_.for_each_part([&](const Part& part) {
      if (threadIdx.x == 0)
        share_.notes_of(part).radix = {0, static_cast<std::uint32_t>(share_.segment_of(part).k), 0};
      block_barrier();
    });
    search(
        share_, batch_.rule_bins,
        [&](const Part& part) { return share_.is_ruled(share_.segment_of(part)); },
        [&](const Part& part, const auto& f) {
          const std::uint64_t seed = share_.segment_of(part).seed + *batch_.round;
          const Cut cut = share_.notes_of(part).cut;
          const auto body = [&](const Visit& v) {
            f(random_key(seed, v.index), v.valid && is_above(cut, v.key, v.index));
          };
          share_.visit_part(part, share_.notes_of(part).rereads, body);
        });
  }

  /// `listed` entries of the shared list belong to the part's segment.
  __device__ void send(const Part& part, int listed) {
    const Segment& segment = share_.segment_of(part);
    const Notes& notes = share_.notes_of(part);
    const Cut cut = notes.cut;
    const std::uint32_t before =
        share_.before(part, batch_.block_totals, tally_.listed_before(part, listed));
    const std::uint32_t sent =
        tally_.for_each_run(part, before, listed, [&](std::int64_t tile, int count) {
          Placing placing{shared_.offset};
          const auto body = [&](const Visit& v) {
            bool taken = v.valid && is_above(cut, v.key, v.index);
            if (Traits::kDrawsFromTop) taken = taken && is_drawn(share_, part, v);
            const std::uint32_t at = placing.place(v, taken);
            if (taken && at < segment.capacity)
              segment.residual[v.index] = send_value(segment, at, float_of(v.bits), v.index);
          };
          Visitor(batch_, segment, notes.rereads).visit(tile, count, body);
        });
    if (part.end_group == segment.first_group + segment.groups && threadIdx.x == 0) {
      const bool fits = sent <= segment.capacity;
      *segment.count = fits ? sent : segment.capacity;
      *segment.status = read_now(&share_.findings_of(part).path) | (fits ? 0u : kTruncated);
    }
  }

 private:
  Share<kRule, kMode>& share_;
  Tally<kRule, kMode>& tally_;
  const Batch& batch_;
  FinishShared& shared_;
};

}  // namespace gradcast::GRADCAST_DEVICE
