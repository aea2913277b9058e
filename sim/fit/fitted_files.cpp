#include "sim/fit/fitted_files.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "sim/base/csv.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/fitted_with.hpp"
#include "sim/network/collective.hpp"

namespace gradcast {
namespace {

/// The digits to write; more than any interval is sure of.
constexpr int kDigitsKept = 4;

constexpr double kMostShare = 9;  // largest deviation: a file takes less than 1000%

constexpr std::string_view kSuffix = "-fitted";
constexpr std::array kFittedColumns = {"property", "value", "source", "deviation"};

/// A file's name without folder and ending; the 1 of cost-v100-pytorch-1.1 is no ending.
std::string stem(const std::string& name) {
  const std::filesystem::path file = std::filesystem::path(name).filename();
  return (file.extension() == ".csv" ? file.stem() : file).string();
}

/// "12 runs of measured-x (alexnet, vgg-16)"
std::string evidence(const Fit& fit, const std::string& fitted_on) {
  std::set<std::string> models;
  for (const FitRow* row : fit.rows)
    if (row->scenario.payload.count == 0) models.insert(row->run.model);
  return std::to_string(fit.runs) + " runs of " + fitted_on +
         (models.empty() ? "" : " (" + join({models.begin(), models.end()}) + ")");
}

std::string interval_of(const Fit& fit, std::size_t i) {
  const FittedParameter& fitted = fit.parameters[i];
  const ScenarioQuantity& quantity = *fit.structure->parameters[i].quantity;
  if (!fitted.fixed.empty()) return "not estimated (" + fitted.fixed + ")";
  if (fitted.at_bound) return "fitted: at the bound of what is physical, and known no better";
  return "fitted, 95 % interval " + quantity.range(fitted.low, fitted.high, kDigitsKept);
}

/// Whether a parameter was estimated, or adds to one that was: that one's value goes with the start
/// of this.
bool counts(const Fit& fit, std::size_t i) {
  for (std::size_t j = 0; j < fit.parameters.size(); ++j)
    if (fit.parameters[j].fixed.empty() &&
        fit.structure->parameters[j].quantity == fit.structure->parameters[i].quantity)
      return true;
  return false;
}

/// A fit without the parameters that were not estimated: the files' values for these are as good as
/// before. `structure` becomes the one that the result points to.
Fit estimated_part(const Fit& fit, FitStructure& structure) {
  structure = *fit.structure;
  structure.parameters.clear();
  Fit part = fit;
  part.structure = &structure;
  part.parameters.clear();
  std::vector<Eigen::Index> kept;
  for (std::size_t i = 0; i < fit.parameters.size(); ++i) {
    if (!counts(fit, i)) continue;
    structure.parameters.push_back(fit.structure->parameters[i]);
    part.parameters.push_back(fit.parameters[i]);
    kept.push_back(static_cast<Eigen::Index>(i));
  }
  part.values = fit.values(kept);
  part.covariance = fit.covariance(kept, kept);
  return part;
}

/// A line for each parameter that was not estimated.
std::vector<std::string> left_as_they_were(const Fit& fit) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < fit.parameters.size(); ++i)
    if (!counts(fit, i))
      lines.push_back("Left as it was: " + fit.structure->parameters[i].name() +
                      ", not estimated (" + fit.parameters[i].fixed + ").");
  return lines;
}

/// A number of a quantity as its file has it: a rate, not the time of a byte.
double as_written(const ScenarioQuantity& quantity, double number) {
  if (quantity.name == "nic_share") return 1 / (1 + number);
  if (quantity.name == "host_bandwidth") return 1 / std::sqrt(number);
  return quantity.inverse ? 1 / number : number;
}

/// Deviation of a parameter at its bound: the root of the mean square distance from the bound, if
/// all values between the bounds are as likely. The runs want a value that is not physical, and say
/// nothing of how far inside the true one lies.
double deviation_at_bound(const FitParameter& parameter) {
  const ScenarioQuantity& quantity = *parameter.quantity;
  return std::abs(as_written(quantity, parameter.most) - as_written(quantity, parameter.least)) /
         std::sqrt(3.0);
}

double rounded(double value) { return rounded_to(kDigitsKept, value); }

class Writer {
 public:
  Writer(const Fit& fit, const std::string& fitted_on, DataFiles& files)
      : fit_(estimated_part(fit, estimated_)),
        left_(left_as_they_were(fit)),
        fitted_on_(fitted_on),
        files_(files) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// `costs`: the tables of the same fit.
  FittedFile cluster(const std::string& name, const std::vector<FittedFile>& costs) const {
    if (name.ends_with(".xml"))
      throw ValueError("'" + name +
                       "' is a platform of SimGrid's; only .csv clusters can be saved");
    const TextFile file = files_.read(kClusters, name, folder());
    std::vector<std::size_t> fitted;  // parameters
    for (std::size_t i = 0; i < size(); ++i)
      if (of(i) == ScenarioQuantity::Of::Cluster && concerns_cluster(i, name)) fitted.push_back(i);
    require_whole_cluster(name, fitted);

    std::vector<std::string> with;
    for (const FittedFile& each : costs)
      if (const std::string hash = sha256_hex(each.content); !hash.empty())
        with.push_back(
            fitted_with_line(std::filesystem::path(each.path).filename().string(), hash));
    for (std::string& line : collective_lines(name)) with.push_back(std::move(line));
    std::string text = csv_comments(comments(comment_lines(file), "The cluster of " + name, with));
    text += csv_line({kFittedColumns.begin(), kFittedColumns.end()});
    // The unexplained error of an earlier fit is no longer true.
    std::set<std::string> written{"forecast_deviation", "forecast_deviation_share"};
    for (const std::size_t i : fitted) {
      const ScenarioQuantity& quantity = *parameter(i).quantity;
      const double value = fit_.values[static_cast<Eigen::Index>(i)];
      written.emplace(quantity.name);
      text += csv_line({std::string(quantity.name), quantity.text(value, kDigitsKept),
                        interval_of(fit_, i) + "; start and bounds: " + parameter(i).source,
                        deviation(i)});
    }
    const bool relative = fit_.structure->errors == FitErrors::Relative;
    const std::string left = relative ? "forecast_deviation_share" : "forecast_deviation";
    text += csv_line({left,
                      relative ? percent_to_text(rounded(fit_.deviation))
                               : to_text(Seconds{rounded(fit_.deviation)}),
                      "what the fit left unexplained", ""});
    return {"platforms/" + stem(name) + std::string(kSuffix) + ".csv",
            text + kept_lines(file, written)};
  }

  FittedFile costs(const std::string& name) const {
    const TextFile file = files_.read(kCostTables, name, folder());
    CostTable table = load_cost_table(file);
    std::set<std::string> corrected;
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < size(); ++i)
      if (of(i) == ScenarioQuantity::Of::Costs)
        lines.push_back(
            "  " + parameter(i).name() + " " +
            parameter(i).quantity->text(fit_.values[static_cast<Eigen::Index>(i)], kDigitsKept) +
            ": " + interval_of(fit_, i));
    for (CostRow& row : table.rows)
      for (const FitRow* run : fit_.rows) {
        if (run->run.compressor != row.compressor || run->request.costs != name) continue;
        const CodecCorrection correction =
            with_parameters(*run, *fit_.structure, fit_.values).codec;
        require_one_correction(*run, name, correction);
        if (correction == CodecCorrection{}) break;
        // Percentiles stay as far above as they were; where there were none, there are none.
        const Seconds encode_spread = std::max(Seconds{0}, row.encode_p95 - row.encode);
        const Seconds decode_spread = std::max(Seconds{0}, row.decode_p95 - row.decode);
        const CodecWork work{row.elements, 1, row.tensors, row.workers};
        row.encode = corrected_encode(row.encode, work, correction);
        row.encode_p95 = row.encode + encode_spread;
        row.decode = corrected_decode(row.decode, work, correction);
        row.decode_p95 = row.decode + decode_spread;
        row.evidence = "derived";
        corrected.insert(row.compressor);
        break;
      }
    if (!table.device.empty()) lines.push_back("device: " + table.device);
    lines.insert(lines.begin(),
                 "Corrected, for " + join({corrected.begin(), corrected.end()}) +
                     " (encode = factor x table + per call + elements x per element):");
    const std::vector<std::string> all =
        comments(comment_lines(file), "The cost table " + stem(name), lines);
    return {"traces/" + stem(name) + std::string(kSuffix) + ".csv", cost_table_csv(table, all)};
  }

  bool changes(const std::string& cluster) const {
    for (std::size_t i = 0; i < size(); ++i)
      if (of(i) == ScenarioQuantity::Of::Cluster && concerns_cluster(i, cluster)) return true;
    return false;
  }

  bool corrects(const std::string& costs) const {
    return std::any_of(fit_.rows.begin(), fit_.rows.end(), [&](const FitRow* row) {
      return row->scenario.compresses() && row->request.costs == costs &&
             with_parameters(*row, *fit_.structure, fit_.values).codec != CodecCorrection{};
    });
  }

 private:
  std::size_t size() const { return fit_.structure->parameters.size(); }
  const FitParameter& parameter(std::size_t i) const { return fit_.structure->parameters[i]; }
  ScenarioQuantity::Of of(std::size_t i) const { return parameter(i).quantity->of; }

  /// The folder from which the runs' paths are read; all runs are of one measured file.
  const std::string& folder() const { return fit_.rows.front()->run.folder; }

  bool concerns_cluster(std::size_t i, const std::string& cluster) const {
    return std::any_of(fit_.rows.begin(), fit_.rows.end(), [&](const FitRow* row) {
      return row->run.cluster == cluster && parameter(i).scope.holds(row->run);
    });
  }

  /// The library whose rule all runs on the cluster have; none where they name collectives.
  std::vector<std::string> collective_lines(const std::string& cluster) const {
    const Request* first = nullptr;
    for (const FitRow* row : fit_.rows) {
      if (row->run.cluster != cluster) continue;
      if (first == nullptr) first = &row->request;
      if (row->request.collective != first->collective || row->request.nccl != first->nccl)
        return {};
    }
    if (first == nullptr || first->collective.empty() || find_collective(first->collective))
      return {};
    return fitted_collective_lines(first->collective, first->nccl);
  }

  void require_whole_cluster(const std::string& cluster,
                             const std::vector<std::size_t>& fitted) const {
    for (const std::size_t i : fitted)
      for (const FitRow* row : fit_.rows)
        if (row->run.cluster == cluster && !parameter(i).scope.holds(row->run))
          throw ValueError("'" + parameter(i).name() + "' does not apply to all runs on " +
                           cluster +
                           ", and a cluster file cannot say that; take another --structure");
    for (std::size_t a = 0; a < fitted.size(); ++a)
      for (std::size_t b = a + 1; b < fitted.size(); ++b)
        if (parameter(fitted[a]).quantity == parameter(fitted[b]).quantity)
          throw ValueError("'" + parameter(fitted[a]).name() + "' and '" +
                           parameter(fitted[b]).name() + "' are the same property of " + cluster);
  }

  void require_one_correction(const FitRow& like, const std::string& costs,
                              const CodecCorrection& correction) const {
    for (const FitRow* row : fit_.rows)
      if (row->run.compressor == like.run.compressor && row->request.costs == costs &&
          with_parameters(*row, *fit_.structure, fit_.values).codec != correction)
        throw ValueError("costs of " + like.run.compressor + " are corrected in two ways (lines " +
                         std::to_string(like.run.line) + " and " + std::to_string(row->run.line) +
                         "), and a cost table cannot say that");
  }

  /// Standard deviation over value. If the value is 0, the deviation itself.
  std::string deviation(std::size_t i) const {
    const auto at = static_cast<Eigen::Index>(i);
    const double value = as_written(*parameter(i).quantity, fit_.values[at]);
    if (!std::isfinite(value)) return "";  // a rate without limit
    const double estimated = std::sqrt(fit_.covariance(at, at));
    if (fit_.parameters[i].at_bound && value <= 0)
      return parameter(i).quantity->text(deviation_at_bound(parameter(i)), kDigitsKept);
    if (value <= 0) return "";
    const double share = fit_.parameters[i].at_bound ? deviation_at_bound(parameter(i)) / value
                                                     : estimated / fit_.values[at];
    return share > 0 ? percent_to_text(std::min(kMostShare, rounded(share))) : "";
  }

  std::vector<std::string> comments(const std::vector<std::string>& of_file,
                                    const std::string& what,
                                    const std::vector<std::string>& more = {}) const {
    std::vector<std::string> lines{
        what + ", fitted by `gradcast fit --measured " + fitted_on_ + "`",
        "on " + evidence(fit_, fitted_on_) + "; structure " + fit_.structure->name + ".",
        "Do not hold it against these runs: `gradcast fit --leave-one-out model` does that "
        "fairly."};
    lines.insert(lines.end(), left_.begin(), left_.end());
    lines.insert(lines.end(), more.begin(), more.end());
    lines.push_back("What it was made from says:");
    for (const std::string& line : of_file) lines.push_back("  " + line);
    return lines;
  }

  /// The file's own rows, except those that were written again. Its columns may have another order,
  /// and it may be a fitted file itself.
  static std::string kept_lines(const TextFile& file, const std::set<std::string>& written) {
    CsvReader rows(file, kFittedColumns, kFittedColumns.size() - 1);
    std::string kept;
    while (rows.next())
      if (!written.contains(rows.text("property")))
        kept += csv_line({rows.text("property"), rows.text("value"), rows.text("source"),
                          rows.text("deviation")});
    return kept;
  }

  FitStructure estimated_;
  Fit fit_;  // without the parameters that were not estimated
  std::vector<std::string> left_;
  const std::string& fitted_on_;
  DataFiles& files_;
};

template <class Name>
std::vector<std::string> each_once(const Fit& fit, Name name) {
  std::vector<std::string> names;
  for (const FitRow* row : fit.rows)
    if (std::find(names.begin(), names.end(), name(*row)) == names.end())
      names.push_back(name(*row));
  return names;
}

}  // namespace

void add_times_beside(std::vector<FittedFile>& made, const TextFile& cluster, DataFiles& files) {
  const std::string name = load_cluster(cluster).measured_collectives;
  if (name.empty() || !is_path(name) || std::filesystem::path(name).is_absolute()) return;
  const std::filesystem::path to = (std::filesystem::path("platforms") / name).lexically_normal();
  if (to.begin()->string() == "..")
    throw ValueError("measured_collectives of " + cluster.path.string() + ", '" + name +
                     "', lies too far from it to be copied: write its path from the root on");
  const TextFile& times = files.read(kCollectiveCurves, name, cluster.path.parent_path().string());
  const bool there = std::any_of(made.begin(), made.end(), [&](const FittedFile& other) {
    return other.path == to.string() && other.content == times.content;
  });
  if (!there) made.push_back({to.string(), times.content});
}

std::vector<FittedFile> fitted_files(const Fit& fit, const std::string& fitted_on,
                                     DataFiles& files) {
  const Writer writer(fit, fitted_on, files);
  std::vector<FittedFile> costs;
  for (const std::string& name :
       each_once(fit, [](const FitRow& row) { return row.request.costs; }))
    if (writer.corrects(name)) costs.push_back(writer.costs(name));
  std::vector<FittedFile> made;
  for (const std::string& name : each_once(fit, [](const FitRow& row) { return row.run.cluster; }))
    if (writer.changes(name)) {
      made.push_back(writer.cluster(name, costs));
      if (is_path(name))
        add_times_beside(made, files.read(kClusters, name, fit.rows.front()->run.folder), files);
    }
  made.insert(made.end(), costs.begin(), costs.end());
  for (std::size_t i = 0; i < made.size(); ++i)
    for (std::size_t j = i + 1; j < made.size(); ++j)
      if (made[i].path == made[j].path)
        throw ValueError("two files of the fit would be saved as " + made[i].path);
  return made;
}

}  // namespace gradcast
