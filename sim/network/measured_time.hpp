// Times of collectives that were measured on a cluster, between the measured sizes and nodes and
// beyond them.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/inputs/cluster.hpp"
#include "sim/inputs/collective_curve.hpp"
#include "sim/network/collective.hpp"
#include "sim/network/library_rule.hpp"
#include "sim/network/nccl_rule.hpp"

namespace gradcast {

/// A collective by the model.
struct Modelled {
  /// Its algorithm and protocol.
  struct Way {
    const Collective* collective;
    std::string_view protocol;
    bool operator==(const Way&) const = default;
  };
  Seconds time;
  Way way;
};

/// The collective that the library chooses on this cluster. `bytes` as nccl-tests counts them.
Modelled modelled(const Cluster& cluster, std::optional<NcclVersion> nccl,
                  const LibraryRule* library, Outcome outcome, Bytes bytes);

/// Measured over modelled times. The model is the closed form on the cluster as its file describes
/// it, so that a changed bandwidth changes a forecast by as much as the model says.
///
/// Between two measured sizes the time is a straight line over bytes: a start and a rate, as an
/// algorithm has them. Beyond the sizes the ratio at the edge holds. Between two measured numbers
/// of nodes the time is interpolated, logarithm over logarithm: the model may choose another
/// algorithm there than on either side, whose ratio says nothing of it. Beyond them the nearest
/// one's ratio holds, in the mean of sizes that take the algorithm and protocol of the other nodes,
/// near this size if there are any: a ring says nothing of a tree. More nodes take no less time.
/// One node says nothing of several. All of this is for one number of GPUs a node, since another
/// one uses other links.
class MeasuredTimes {
 public:
  /// `cluster` has measured times and must outlive this.
  MeasuredTimes(const Cluster& cluster, std::optional<NcclVersion> nccl,
                const LibraryRule* library);

  /// True if such a collective on such nodes rests on measured times.
  bool has(const RankLayout& layout, Outcome outcome) const {
    return basis_of(layout, outcome).has_value();
  }

  /// 1 where nothing was measured. `payload` as CollectiveLoad counts it.
  double stretch(const RankLayout& layout, Outcome outcome, Bytes payload) const;

  /// Standard deviation of the logarithm of a time that rests on measured ones: by how much the
  /// line itself jumps from size to size near this one, or by how much several times of the sizes
  /// around it differ if that is more, and more for each doubling of the nodes and of the bytes
  /// away from those measured. nullopt where the line is too short to say, and where the cluster's
  /// links are no longer those of its file.
  std::optional<double> deviation(const RankLayout& layout, Outcome outcome, Bytes payload) const;

  /// "all-reduce as measured", "all-reduce by the model, scaled by times measured on 2 nodes", ...:
  /// the way in which times for a layout rest on measured ones. Names the library that was measured
  /// where it is not the forecast's. `payload`: 0 for many sizes.
  std::string words(const RankLayout& layout, Outcome outcome, Bytes payload) const;

 private:
  /// A time of one size, and by how much several such times differ.
  struct Point {
    double bytes, seconds, deviation;
  };
  /// Times by bytes, of one number of nodes.
  struct Line {
    std::vector<Point> points;
    std::string library;
  };
  using NodesLine = std::pair<const int, Line>;
  /// Collective, GPUs a node.
  using Kind = std::pair<std::string, int>;

  /// The measured numbers of nodes that a layout's times rest on: its own twice, the nearest one
  /// twice, or the two around it.
  struct Basis {
    const NodesLine* below;
    const NodesLine* above;
  };

  /// The basis of a layout's times. nullopt: nothing was measured for such a layout.
  std::optional<Basis> basis_of(const RankLayout& layout, Outcome outcome) const;
  /// Bytes as nccl-tests counts them.
  static double bytes_of(const RankLayout& layout, Outcome outcome, Bytes payload);
  /// Measured over modelled time on one of the measured numbers of nodes.
  struct Ratio {
    double of_time;
    Modelled::Way way;  // there
  };
  Ratio ratio_on(const NodesLine& at, int gpus, Outcome outcome, double bytes) const;
  /// The part of that ratio that holds on other nodes too, where the model goes this way: the
  /// geometric mean over sizes as far below as above, up to three doublings, and no farther than
  /// the line goes, that go it as well; without any, over the nearest ones that do; without these,
  /// over all of the first.
  double carried_ratio(const NodesLine& at, int gpus, Outcome outcome, double bytes,
                       const Modelled::Way& way) const;
  /// The model's time on the cluster as its file describes it.
  double described_time(int nodes, int gpus, Outcome outcome, double bytes) const;
  /// A line's distance from the straight lines between its neighbours, near `bytes`.
  static std::optional<double> roughness(const std::vector<Point>& line, double bytes);
  /// " by NCCL 2.18.3" for a version that is not the forecast's, of one line or of two.
  std::string by(const Basis& basis) const;
  /// "no all-reduce measured on such nodes", and by whom there is one.
  std::string words_for_none(const RankLayout& layout, Outcome outcome) const;

  const Cluster& cluster_;
  std::optional<NcclVersion> nccl_;
  const LibraryRule* library_;
  std::map<Kind, std::map<int, Line>> lines_;
  /// A library that was measured and is not the forecast's, on one or on several nodes.
  std::map<std::pair<Kind, bool>, std::string> others_;
};

/// The version of NCCL that a measured point's library names. Not given: it names none, or one that
/// is older than NCCL's rules here.
std::optional<NcclVersion> nccl_of(std::string_view library);

/// "all-reduce", ...: the name of such a collective in measured files.
std::string_view curve_name(Outcome outcome);
/// nullopt for a collective that no forecast has.
std::optional<Outcome> outcome_named(std::string_view collective);

}  // namespace gradcast
