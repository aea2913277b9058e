// A software stack: what a framework and its communication library cost beside the hardware, each
// figure with how sure it is, where it comes from, and the conditions under which it was seen.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/fusion.hpp"
#include "sim/plan/joint_terms.hpp"
#include "sim/plan/run_kind.hpp"
#include "sim/plan/scenario_quantity.hpp"
#include "sim/plan/situation.hpp"

namespace gradcast {

/// The source of a term that no run of its stack shows.
inline constexpr std::string_view kNoRunOfIt = "no run of it: what other stacks say";

struct StackTerm {
  const ScenarioQuantity* quantity = nullptr;
  std::string compressor;  // of which it is a cost; "": of all, or of none
  double value = 0;        // in the quantity's number
  /// Standard deviation of the value's logarithm. For a small one that is its share of the value.
  double deviation = 0;
  double presence = 1;  // share of stacks that have the term at all: below 1 of a population
  std::string source;
  std::vector<SeenBox> seen;
  double deviation_below = 0;  // that below the value, where it differs; 0: as above it
  bool of_family = false;      // no row says it: what other compressors of the family take
  /// The implementation that the term comes on top of, as a cost table names it; "": anybody's.
  std::string implementation{};

  /// "encode_per_call of dgc by torch"
  std::string name() const;
};

/// A compressor's name; "": a term of all, or of none. Throws ValueError.
std::string parse_term_compressor(const std::string& name);

/// An implementation beside which a stack's term may be; "": anybody's. Throws ValueError.
std::string parse_term_implementation(const std::string& name);

/// Never: its code sends nothing before backward is done.
enum class UsualOverlap { Yes, No, Never };

/// "yes", "no" or "never". Throws ValueError.
UsualOverlap parse_usual_overlap(std::string_view text);
std::string to_text(UsualOverlap overlap);

/// True if ZeRO-1 and ZeRO-2 all-reduce gradients: "all-reduce", "reduce-scatter", or "" for the
/// latter. Throws ValueError.
bool parse_shards_all_reduced(std::string_view text);

/// True if ZeRO-1 broadcasts updated parameters: "broadcast", "all-gather", or "" for the latter.
/// Throws ValueError.
bool parse_owners_broadcast(std::string_view text);

/// Collectives that one communicator runs at the same time, 1 to 64; "" for 1. Throws ValueError.
int parse_network_streams(std::string_view text);

/// True if rank 0 broadcasts the model's buffers before forward: "broadcast", or "" for no. Throws
/// ValueError.
bool parse_buffers_broadcast(std::string_view text);

/// "zero1 fsdp": the shardings that a software has, as `--sharding` names them. "none": it has
/// none. "": nobody says. Throws ValueError.
std::vector<std::string> parse_shardings(std::string_view text);

/// The schedule that a stack runs where nobody chooses another.
struct UsualSchedule {
  Fusion fusion;
  UsualOverlap overlap = UsualOverlap::No;
  std::string collective{};  // as `--collective` names it; "": the compressor's ring
  /// Gradients that ZeRO-1 or ZeRO-2 shards are all-reduced, not reduce-scattered.
  bool shards_all_reduced = false;
  /// ZeRO-1: the owner of each parameter broadcasts it.
  bool owners_broadcast = false;
  bool buffers_broadcast = false;  // before forward, from rank 0
  int network_streams = 1;         // collectives of a communicator that run at the same time
  std::string source{};
  std::optional<ShardingChoice> sharding{};  // not given: none, or as somebody says
  std::vector<std::string> shardings{};      // that its software has; empty: nobody says

  /// True without sharding, and where nobody says which the software has.
  bool has(const ShardingChoice& choice) const;
};

/// Library that carries a job's collectives. The cost of one transport says nothing of another's.
enum class Transport { Nccl, Mpi, Gloo };
inline constexpr std::size_t kTransports = 3;

/// The transport of a stack, by its name: MPI and Gloo have theirs in it, all others send by NCCL.
/// Names of libraries tell it likewise.
Transport transport_of(std::string_view stack);
/// "NCCL", "MPI through the host", "Gloo".
std::string_view words_of(Transport transport);
/// The stack that stands for all that were measured of a transport, where no stack is named:
/// "population" for NCCL, "population-mpi", "population-gloo".
std::string population_of(Transport transport);

/// True for a stack that was estimated without a group (kWithout). The stack forecasts the runs of
/// that group and serves nothing else, so that no list has it.
inline bool is_for_judging(const std::string& stack) {
  return stack.find(kWithout) != std::string::npos;
}

/// A term's deviation is at most this, in logarithms:
/// a figure that is off by a factor of 20 says nothing.
inline constexpr double kMostTermDeviation = 3;
/// Size, as nccl-tests counts it, from which bandwidth decides a collective's time, not latency.
inline constexpr Bytes kSmallCollective{1 << 20};

struct Stack {
  std::string name;
  std::vector<StackTerm> terms;
  /// Standard deviations of logarithms of measured times over forecasts. `discrepancy`: of
  /// communication and software, the same in all runs of a cluster, for what physics itself gets
  /// wrong there. `scatter`: of each run's beside that, of which the run has its `scatter_share`.
  double discrepancy = 0;
  double scatter = 0;
  /// The same two for a collective alone below kSmallCollective; 0: as for larger ones.
  double small_discrepancy = 0;
  double small_scatter = 0;
  /// A factor on communication and software of the one cluster that the stack was learned on, in
  /// place of a discrepancy that nobody knows. `discrepancy` then says how sure the factor is.
  std::optional<double> factor{};
  std::vector<std::string> learned_on{};  // names of the cluster's files; empty: it says none
  double discrepancy_below = 0;           // of lower factors; 0: as of higher ones
  /// The deviations of a learned stack on other clusters: those of the stack that it began with. 0:
  /// it says none.
  double discrepancy_elsewhere = 0;
  double scatter_elsewhere = 0;
  /// Links that nobody measured and that its runs would have shown, as `shown_as` names them. All
  /// others are as uncertain as before. Not given: its file says none, and all count as shown.
  std::optional<std::vector<std::string>> shown_links{};
  /// Kinds of the runs that it was learned from, and how long they took beside that. Each stands
  /// once.
  std::vector<KindFactor> kinds{};
  std::vector<TermCorrelation> correlations{};
  /// The sources of the measured runs from which it was estimated: it must not be held against
  /// them.
  std::vector<std::string> sources;
  /// The sources that were left out when it was estimated: it is for forecasting them.
  std::vector<std::string> without;
  bool pipelines = false;                   // hides collectives under encoding even without overlap
  std::optional<UsualSchedule> schedule{};  // none where it is not known
};

/// Reads `platforms/stack-<name>.csv`: property,value,deviation,source, and optionally compressor,
/// seen ("calls=1 ranks=16"), presence, implementation, deviation_below and between. Throws
/// DataError.
Stack load_stack(const TextFile& file);

/// The stack with costs of a compressor that a file describes: those of its family, where it has no
/// rows of its own. load_stack adds them for all others.
Stack with_terms_of(Stack stack, const Compressor& compressor);

/// The text of such a file; `provenance` becomes its comment lines.
std::string stack_csv(const Stack& stack, const std::vector<std::string>& provenance);

}  // namespace gradcast
