#include "sim/sweep/plan.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "kernels/compressor.hpp"
#include "sim/base/error.hpp"
#include "sim/base/lists.hpp"
#include "sim/base/shell_word.hpp"
#include "sim/base/text.hpp"
#include "sim/base/toml_file.hpp"
#include "sim/forecast/preset.hpp"
#include "sim/forecast/usual_costs.hpp"
#include "sim/inputs/fusion.hpp"
#include "sim/network/collective.hpp"
#include "sim/options/request_flags.hpp"
#include "sim/options/transfer_flags.hpp"

namespace gradcast {
namespace {

namespace fs = std::filesystem;

/// The place of a value, for error messages.
struct Said {
  std::string text;  // a list
  std::function<void(const std::string& what)> refuse;
};

/// One combination's flags, to be read as `simulate` reads its own.
Flags point_flags() {
  Flags flags("sweep", "", {});
  add_request_flags(flags);
  add_transfer_flags(flags);
  flags.without_config();  // it was used when the sweep's own flags were read
  return flags;
}

/// A plan's relative paths begin where it lies, each of a list.
std::string from_folder(const std::string& list, const fs::path& folder) {
  std::vector<std::string> values = split_words(list, ',');
  for (std::string& value : values)
    if (!folder.empty() && is_path(value) && !fs::path(value).is_absolute())
      value = (folder / value).lexically_normal().string();
  return join(values, ",");
}

const std::string& first_of(const SweepPlan& plan, const std::string& flag,
                            const std::string& fallback) {
  for (const SweepAxis& axis : plan.axes)
    if (axis.flag == flag) return axis.values.front();
  return fallback;
}

std::vector<std::string> all_models(const SweepPlan& plan, DataFiles& files) {
  std::vector<std::string> models;
  const std::vector<std::string>& traces = files.names(kIterationTraces);
  for (const std::string& model : files.names(kModels)) {
    Request request;
    request.model = model;
    request.trace = first_of(plan, "trace", "");
    if (std::find(traces.begin(), traces.end(), request.trace_name()) != traces.end())
      models.push_back(model);
  }
  return models;
}

/// The compressors that need no costs (dense), and those that the costs have.
std::vector<std::string> all_compressors_of(const SweepPlan& plan, DataFiles& files) {
  std::vector<std::string> names;
  for (const Compressor* compressor : all_compressors())
    if (compressor->family == Family::Dense) names.emplace_back(compressor->name);
  Request request;
  request.costs = first_of(plan, "costs", request.costs);
  for (const std::string& name : compressors_with_costs(request, files)) names.push_back(name);
  return names;
}

std::vector<std::string> all_of(const SweepPlan& plan, const std::string& flag, DataFiles& files) {
  if (flag == "model") return all_models(plan, files);
  if (flag == "compressor") return all_compressors_of(plan, files);
  if (flag == "cluster") return files.names(kClusters);
  if (flag == "collective") {
    std::vector<std::string> names;
    for (const Collective* collective : all_collectives()) names.emplace_back(collective->name);
    return names;
  }
  throw ValueError("'all' is not a value of --" + flag +
                   "; it stands for all models, compressors, clusters or collectives");
}

class PlanReader {
 public:
  PlanReader(const Flags& flags, DataFiles& files) : flags_(flags), files_(files) {}

  SweepPlan read(const std::string& plan_file) {
    // A plan overrides environment and config file; the command line overrides the plan.
    take_flags([&](const std::string& name) { return flags_.given(name); });
    if (!plan_file.empty()) read_file(plan_file);
    take_flags([&](const std::string& name) { return flags_.typed(name); });
    if (said("model").text.empty() && said("payload").text.empty())
      throw UsageError("--model is missing: names of `gradcast list`, or all");
    // `all` depends on the other lists, so add those first.
    for (const bool all : {false, true})
      for (const std::string& name : axis_names())
        if (!said(name).text.empty() && (said(name).text == "all") == all) add_axis(name, all);
    std::sort(plan_.axes.begin(), plan_.axes.end(), [](const SweepAxis& a, const SweepAxis& b) {
      return place_of(a.flag) < place_of(b.flag);
    });
    if (plan_.points() > kMostPoints)
      throw UsageError("these lists make " + sizes() + " points; a sweep has " +
                       std::to_string(kMostPoints) + " at most: split it into several");
    plan_.inputs = files_.inputs();
    check_values();
    return std::move(plan_);
  }

 private:
  static std::size_t place_of(const std::string& name) {
    return static_cast<std::size_t>(std::find(axis_names().begin(), axis_names().end(), name) -
                                    axis_names().begin());
  }

  Said& said(const std::string& name) {
    said_.resize(axis_names().size());
    return said_[place_of(name)];
  }

  static std::function<void(const std::string&)> usage(const std::string& where) {
    return [where](const std::string& what) { throw UsageError(where + what); };
  }

  template <class Taken>
  void take_flags(Taken taken) {
    for (const std::string& name : axis_names())
      if (taken(name)) said(name) = {flags_.text(name), usage("--" + name + ": ")};
  }

  void read_file(const std::string& plan_file) {
    const TextFile file = files_.read_path(plan_file);
    const TomlFile toml = load_toml(file);
    const auto at = [&](std::size_t line, const std::string& key) {
      return [path = toml.path, line, key](const std::string& what) {
        throw DataError(path, line, key + what);
      };
    };
    for (const TomlTable& table : toml.tables)
      at(table.line, "")("a plan has no tables, and [" + table.name + "] is one");
    for (const TomlEntry& entry : toml.entries) {
      const auto refuse = at(entry.line, entry.key + ": ");
      const auto& known = axis_names();
      if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
        if (flags_.has(entry.key))
          at(entry.line, "")("unknown key '" + entry.key +
                             "', which belongs on the command line: " + typed(entry));
        at(entry.line, "")("unknown key '" + entry.key + "'" + did_you_mean(entry.key, known) +
                           "; keys are flags of `gradcast sweep` without their dashes");
      }
      if (entry.values.empty()) refuse("an empty list has no points");
      if (entry.kind == TomlKind::Boolean)
        refuse("'true' and 'false' are written \"yes\" and \"no\"");
      std::vector<std::string> values;
      for (const std::string& value : entry.values)
        values.push_back(from_folder(value, fs::path(plan_file).parent_path()));
      if (const std::string list = join(values, ","); !list.empty())
        said(entry.key) = {list, refuse};
      else
        refuse("the value is empty");
    }
  }

  /// "--engine analytic": a flag that no plan holds, as it is typed.
  static std::string typed(const TomlEntry& entry) {
    const std::string value = join(entry.values, ",");
    const bool is_switch = entry.kind == TomlKind::Boolean || value.empty();
    return "--" + entry.key + (is_switch ? "" : " " + shell_word(value));
  }

  /// A cycle's own comma parts nothing, and all other fusions are words or ranges of sizes.
  static std::vector<std::string> expand_fusions(const std::string& list) {
    std::vector<std::string> values;
    for (const std::string& fusion : split_fusions(list))
      for (const std::string& value : fusion.find(',') == std::string::npos
                                          ? expand_list(fusion)
                                          : std::vector<std::string>{fusion})
        if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    return values;
  }

  std::vector<std::string> values_of(const std::string& name, bool all) {
    const std::string& list = said(name).text;
    if (all) return all_of(plan_, name, files_);
    return name == "fusion" ? expand_fusions(list) : expand_list(list);
  }

  void add_axis(const std::string& name, bool all) {
    const Said& it = said(name);
    try {
      plan_.axes.push_back({name, values_of(name, all)});
    } catch (const ValueError& error) {
      it.refuse(error.what());
    }
  }

  /// Checks each value once, together with the first values of all other flags, so that a typing
  /// error is named before anything runs.
  void check_values() {
    SweepSettings first = plan_.point(0);
    for (std::size_t i = 0; i < plan_.axes.size(); ++i)
      for (const std::string& value : plan_.axes[i].values) {
        SweepSettings settings = first;
        settings[i].second = value;
        try {
          static_cast<void>(request_of(settings, files_));
          require_collective(plan_.axes[i].flag, value);
        } catch (const Error& error) {  // a flag's complaint is none of UsageError's own
          if (error.code() != ExitCode::Usage) throw;
          refuse(named_in(error.what(), settings, plan_.axes[i].flag), error.what());
        }
      }
  }

  /// A collective that serves no compressor of the plan is a problem of its points. A typing error
  /// is not.
  static void require_collective(const std::string& flag, const std::string& name) {
    if (flag != "collective") return;
    const std::vector<std::string> known = collective_names();
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    throw UsageError("unknown collective '" + name + "'" + did_you_mean(name, known) +
                     " (known: " + join(known) + ")");
  }

  /// The flag whose value the error quotes: the one that was tried, else one of the others, which
  /// may be wrong too; else the one that was tried.
  static std::string named_in(const std::string& what, const SweepSettings& settings,
                              const std::string& tried) {
    const std::string wrong = what.substr(0, what.find("did you mean"));
    std::string found = tried;
    for (const auto& [flag, value] : settings) {
      const bool quoted = wrong.find("'" + value + "'") != std::string::npos ||
                          wrong.find("-" + value + "'") != std::string::npos;  // 'stack-nope'
      if (!quoted) continue;
      if (flag == tried) return tried;
      if (found == tried) found = flag;
    }
    return found;
  }

  /// The error names its flag. An error that names none is about the value that was just tried.
  void refuse(const std::string& tried, const std::string& what) {
    for (const std::string& name : axis_names())
      if (const std::string begin = "--" + name + ": "; what.starts_with(begin))
        said(name).refuse(what.substr(begin.size()));
    said(tried).refuse(what);
  }

  std::string sizes() const {
    std::vector<std::string> factors;
    for (const SweepAxis& axis : plan_.axes)
      if (axis.values.size() > 1) factors.push_back(std::to_string(axis.values.size()));
    return join(factors, " x ");
  }

  const Flags& flags_;
  DataFiles& files_;
  std::vector<Said> said_;  // by place
  SweepPlan plan_;
};

}  // namespace

const std::vector<std::string>& axis_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = point_flags().own_names();
    std::stable_partition(names.begin(), names.end(), [](const std::string& name) {
      return name != "compressor" && name != "density";
    });
    return names;
  }();
  return kNames;
}

std::int64_t SweepPlan::points() const {
  std::int64_t product = 1;
  for (const SweepAxis& axis : axes) {
    product *= static_cast<std::int64_t>(axis.values.size());
    if (product > kMostPoints) return kMostPoints + 1;  // before it overflows
  }
  return product;
}

SweepSettings SweepPlan::point(std::int64_t number) const {
  SweepSettings settings(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto values = static_cast<std::int64_t>(axes[i].values.size());
    settings[i] = {axes[i].flag, axes[i].values[static_cast<std::size_t>(number % values)]};
    number /= values;
  }
  return settings;
}

void add_sweep_axes(Flags& flags) {
  add_request_flags(flags);
  add_transfer_flags(flags);
}

SweepPlan read_sweep_plan(const Flags& flags, const std::string& plan_file, DataFiles& files) {
  return PlanReader(flags, files).read(plan_file);
}

Request request_of(const SweepSettings& settings, DataFiles& files) {
  std::vector<std::string> words{"sweep"};
  for (const auto& [flag, value] : settings) words.push_back("--" + flag + "=" + value);
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  Flags flags = point_flags();
  flags.parse(static_cast<int>(argv.size()), argv.data());
  Request request = read_request(flags);
  read_transfer(flags, files).apply(request);
  try {
    return with_defaults(request, files);
  } catch (const ValueError& error) {  // an unknown stack
    throw UsageError(error.what());
  }
}

}  // namespace gradcast
