// The best merging of sparse gradients: a dynamic programme over how far backward has come.
// Position p is where it has reached p tensors, and a bucket is a step from a position to a later
// one.
//
// Two partitions of the same first tensors may each be better: one may leave the compute stream
// sooner and the other the network. So each position keeps all partitions that no other beats in
// every respect, without those that, by lower bounds, end later than a partition already found.
// Their number depends on the costs. At most some hundreds a position were seen with 600 tensors
// whose costs grow with size; costs without any order could leave exponentially many.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "sim/plan/merging.hpp"

namespace gradcast {
namespace {

constexpr double kSameEnd = 1e-9;  // relative

/// One partition of the tensors up to a position, by all that matters to what follows.
struct Way {
  Seconds computed{0};      // when backward and encodes are done
  Seconds network_free{0};  // when collectives are done
  Seconds decoded{0};       // when decodes were done, had they the compute stream to themselves
  Seconds worked{0};        // when decodes were done, had they nothing to wait for
  std::size_t buckets = 0;
  std::size_t last = 0;  // bucket, in OmgsPlanner::trail_
};

/// The position at which a bucket of a way begins, and the mark of the bucket before it. Marks lead
/// back along a way.
struct Mark {
  std::size_t from = 0;      // position
  std::size_t previous = 0;  // mark
};

/// The least that the tensors from a position on can add, each alone the least over all their
/// partitions: lower bounds, as no one partition need have the least of all.
struct Rest {
  Seconds encoded;             // until the next encode is done
  Seconds communicate;         // of the next bucket
  Seconds decoding;            // in all
  Seconds work;                // backward, encodes and decodes in all
  Seconds after_network_free;  // from then to the last decode's end
  Seconds after_computed;      // from then to the last decode's end
};

class OmgsPlanner {
 public:
  OmgsPlanner(const Model& model, const IterationTrace& trace,
              const std::function<BucketCost(const Bucket&)>& cost)
      : model_(model) {
    ready_.push_back(Seconds{0});
    Seconds now{0};
    for (std::size_t i = model.tensors.size(); i-- > 0;) {
      now += trace.tensors[i].backward;
      if (model.tensors[i].frozen) continue;
      order_.push_back(i);
      ready_.push_back(now);
    }
    tensors_ = order_.size();
    ask(cost);
    bound();
  }

  std::vector<Bucket> best() {
    Way layer_wise;
    for (std::size_t p = 0; p < tensors_; ++p) layer_wise = extended(layer_wise, p, p + 1);
    best_end_ = std::min(earliest_end(layer_wise, tensors_),
                         earliest_end(extended({}, 0, tensors_), tensors_));
    // Narrow searches are quick, and the ends they find let the full one leave out most.
    for (const std::size_t width : {std::size_t{1}, std::size_t{16}, kAll}) find_end(width);
    return buckets_of(fewest_buckets());
  }

 private:
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  static constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

  /// Tensor p of backward order.
  std::size_t tensor(std::size_t p) const { return order_[p]; }

  const BucketCost& cost(std::size_t from, std::size_t to) const {
    return costs_[from][to - from - 1];
  }

  void ask(const std::function<BucketCost(const Bucket&)>& cost) {
    costs_.resize(tensors_);
    for (std::size_t from = 0; from < tensors_; ++from) {
      Bucket bucket;
      for (std::size_t to = from + 1; to <= tensors_; ++to) {
        bucket.add(model_, tensor(to - 1));
        costs_[from].push_back(cost(bucket));
        const BucketCost& answer = costs_[from].back();
        for (const Seconds time : {answer.encode, answer.communicate, answer.decode})
          if (!std::isfinite(time.count()) || time < Seconds{0})
            throw std::logic_error("a bucket's cost is no time");
      }
    }
  }

  void bound() {
    rest_.resize(tensors_ + 1);
    rest_[tensors_] = {{-kNever, -kNever, Seconds{0}, Seconds{0}, -kNever, -kNever}};
    for (std::size_t from = tensors_; from-- > 0;) {
      rest_[from].resize(tensors_ - from);
      Rest least{kNever, kNever, kNever, kNever, kNever, kNever};
      for (std::size_t to = tensors_; to > from; --to) {
        const auto& [encode, communicate, decode] = cost(from, to);
        const Rest& rest = rest_[to].front();
        const Seconds encoded = ready_[to] - ready_[from] + encode;
        const Seconds decoding = decode + rest.decoding;
        const Seconds after_network_free =
            communicate + std::max(decoding, rest.after_network_free);
        least.encoded = std::min(least.encoded, encoded);
        least.communicate = std::min(least.communicate, communicate);
        least.decoding = std::min(least.decoding, decoding);
        least.work = std::min(least.work, encoded + decode + rest.work);
        least.after_network_free = std::min(least.after_network_free, after_network_free);
        least.after_computed = std::min(
            least.after_computed, encoded + std::max(after_network_free, rest.after_computed));
        rest_[from][to - from - 1] = least;
      }
    }
  }

  Way extended(const Way& way, std::size_t from, std::size_t to) const {
    const auto& [encode, communicate, decode] = cost(from, to);
    Way next;
    next.computed = way.computed + (ready_[to] - ready_[from]) + encode;
    next.network_free = std::max(way.network_free, next.computed) + communicate;
    next.decoded = std::max(way.decoded, next.network_free) + decode;
    next.worked = way.worked + (ready_[to] - ready_[from]) + encode + decode;
    next.buckets = way.buckets + 1;
    // An earlier time that no later bucket can use is not an advantage over other ways.
    const Rest& rest = rest_[to].front();
    next.network_free = std::max(next.network_free, next.computed + rest.encoded);
    next.decoded = std::max(next.decoded, next.network_free + rest.communicate);
    return next;
  }

  /// A lower bound: no continuation of the way ends before this time.
  static Seconds earliest_end(const Way& way, const Rest& rest) {
    return std::max({way.worked + rest.work, way.decoded + rest.decoding,
                     way.network_free + rest.after_network_free,
                     way.computed + rest.after_computed});
  }

  /// For a way to the last position, this is when it ends: its last decode waits for its
  /// collectives or for the compute stream.
  Seconds earliest_end(const Way& way, std::size_t position) const {
    return earliest_end(way, rest_[position].front());
  }

  /// True if every continuation of `way` is at least as good after `other`.
  static bool covers(const Way& other, const Way& way, Seconds slack) {
    return other.computed <= way.computed + slack &&
           other.network_free <= way.network_free + slack && other.decoded <= way.decoded + slack &&
           other.worked <= way.worked + slack;
  }

  void start() {
    tie_ = kSameEnd / 2 * best_end_;
    trail_.clear();
    ways_.assign(tensors_ + 1, {});
    ways_[0] = {Way{}};
  }

  /// Keeps the ways one bucket on that may end by `latest` and that no other covers.
  void go_on(const Way& way, std::size_t from, Seconds latest) {
    // Without slack, ways that differ in rounding only would all be kept. A way may be covered once
    // at each of its positions: that is half a tie at the most.
    const Seconds slack = tie_ / (2.0 * static_cast<double>(tensors_));
    for (std::size_t to = from + 1; to <= tensors_; ++to) {
      if (earliest_end(way, rest_[from][to - from - 1]) > latest) break;  // nor by a larger bucket
      Way next = extended(way, from, to);
      if (earliest_end(next, to) > latest) continue;
      std::vector<Way>& others = ways_[to];
      const auto cover = std::find_if(others.begin(), others.end(),
                                      [&](const Way& other) { return covers(other, next, slack); });
      if (cover != others.end()) {
        std::iter_swap(cover, others.begin());  // what covers one way soon covers another
        continue;
      }
      std::erase_if(others, [&](const Way& other) { return covers(next, other, Seconds{0}); });
      next.last = trail_.size();
      trail_.push_back({from, way.last});
      others.push_back(next);
    }
  }

  /// Lowers best_end_ to what going on from the `width` most promising ways at each position finds;
  /// with all of them, to within a tie of the first end there is.
  void find_end(std::size_t width) {
    start();
    for (std::size_t from = 0; from < tensors_; ++from) {
      std::vector<Way>& here = ways_[from];
      if (here.size() > width) {
        std::nth_element(here.begin(), here.begin() + static_cast<std::ptrdiff_t>(width),
                         here.end(), [&](const Way& one, const Way& other) {
                           return earliest_end(one, from) < earliest_end(other, from);
                         });
        here.resize(width);
      }
      for (const Way& way : here) go_on(way, from, best_end_ - tie_ / 2);
    }
    for (const Way& way : ways_[tensors_])
      best_end_ = std::min(best_end_, earliest_end(way, tensors_));
  }

  /// The way with the fewest buckets that ends within a tie of best_end_. Each round adds one
  /// bucket, so the first way to arrive has the fewest.
  Way fewest_buckets() {
    start();
    for (std::size_t buckets = 0; buckets < tensors_; ++buckets) {
      // A copy, as ways of this round may cover some of the last before those have gone on.
      const std::vector<std::vector<Way>> last_round = ways_;
      for (std::size_t from = 0; from < tensors_; ++from)
        for (const Way& way : last_round[from])
          if (way.buckets == buckets) go_on(way, from, best_end_ + tie_);
      if (!ways_[tensors_].empty()) return ways_[tensors_].front();
    }
    throw std::logic_error("no partition ends when the best one does");
  }

  std::vector<Bucket> buckets_of(const Way& way) const {
    std::vector<Bucket> buckets(way.buckets);
    std::size_t mark = way.last;
    std::size_t to = tensors_;
    for (std::size_t i = buckets.size(); i-- > 0;) {
      const auto [from, previous] = trail_[mark];
      for (std::size_t p = from; p < to; ++p) buckets[i].add(model_, tensor(p));
      to = from;
      mark = previous;
    }
    return buckets;
  }

  const Model& model_;
  std::vector<std::size_t> order_;  // tensors with gradients, in backward order
  std::size_t tensors_ = 0;
  std::vector<Seconds> ready_;                  // when backward is at a position, without encodes
  std::vector<std::vector<BucketCost>> costs_;  // from a position, to each later one
  std::vector<std::vector<Rest>> rest_;  // from a position, the next bucket up to a later or beyond
  std::vector<std::vector<Way>> ways_;   // to a position, none covered by another
  std::vector<Mark> trail_;              // the last buckets of all ways kept
  Seconds best_end_{0};                  // that any search has found
  Seconds tie_{0};                       // ends as close as this are the same
};

}  // namespace

std::vector<Bucket> merge_omgs(const Model& model, const IterationTrace& trace,
                               const std::function<BucketCost(const Bucket&)>& cost) {
  require_same_tensors(model, trace);
  if (model.tensors.empty()) return {};
  return OmgsPlanner(model, trace, cost).best();
}

}  // namespace gradcast
