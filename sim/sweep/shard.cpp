#include "sim/sweep/shard.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "sim/answers/document.hpp"
#include "sim/answers/json_reader.hpp"
#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/random.hpp"
#include "sim/base/text.hpp"
#include "sim/base/text_file.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

namespace fs = std::filesystem;

std::int64_t number_in(const std::string& name, const std::string& value) {
  constexpr std::int64_t kMost = 1'000'000'000;  // above any batch system's; its sums fit
  try {
    if (const std::int64_t number = parse_integer(value); number >= 0 && number <= kMost)
      return number;
  } catch (const ValueError&) {  // as for a number that no task has
  }
  throw ValueError("$" + name + " is '" + value + "', but should be a task's number");
}

/// The variables by which a batch system tells a task of an array its number.
struct ArraySystem {
  const char* task;
  const char* first;  // least number of the array; "" where it begins with 1
  const char* last;
  const char* step;
};

constexpr ArraySystem kSystems[] = {
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX",
     "SLURM_ARRAY_TASK_STEP"},
    {"SGE_TASK_ID", "SGE_TASK_FIRST", "SGE_TASK_LAST", "SGE_TASK_STEPSIZE"},
    {"PBS_ARRAY_INDEX", "", "", ""},
    {"PBS_ARRAYID", "", "", ""}};

Shard checked(const Shard& shard, const std::string& text) {
  if (shard.of >= 1 && shard.of <= kMostShards && shard.number >= 1 && shard.number <= shard.of)
    return shard;
  throw ValueError("'" + text + "' is not a shard: write 3/7 for the third of seven, up to " +
                   std::to_string(kMostShards));
}

Shard shard_of_array(const std::string& text, std::optional<int> of,
                     const std::function<std::string(const std::string&)>& variable) {
  for (const ArraySystem& system : kSystems) {
    const std::string task = variable(system.task);
    if (task.empty() || task == "undefined") continue;  // SGE's word for a job that is no array
    const auto number = [&](const char* name, std::int64_t fallback) {
      const std::string value = *name == '\0' ? "" : variable(name);
      return value.empty() ? fallback : number_in(name, value);
    };
    const std::int64_t first = number(system.first, 1);
    const std::int64_t step = std::max<std::int64_t>(1, number(system.step, 1));
    const std::int64_t last = number(system.last, of ? first + (*of - 1) * step : 0);
    if (last == 0)
      throw ValueError(std::string("$") + system.task +
                       " does not say how many tasks there are; write auto/7 for seven");
    const std::int64_t shards = of ? *of : (last - first) / step + 1;
    // A part of the array that is sent once more: --array=3 of what was 1-7, or of 0-6?
    if (of && *system.last != '\0' && !variable(system.last).empty() &&
        (last - first) / step + 1 != *of)
      throw ValueError(
          "the tasks of the job array are not " + std::to_string(*of) + " (" +
          std::to_string(first) + " to " + std::to_string(last) +
          "), so they do not say which shards are theirs; write 3/7 for the third of seven");
    const std::string count = variable("SLURM_ARRAY_TASK_COUNT");
    if (!of && !count.empty() && number_in("SLURM_ARRAY_TASK_COUNT", count) != shards)
      throw ValueError(
          "the job array has gaps, so its tasks do not say how many shards there are; write auto/7 "
          "for seven");
    // Clamping keeps a number out of range, so that `checked` refuses it.
    const auto as_int = [](std::int64_t count) {
      return static_cast<int>(std::clamp<std::int64_t>(count, 0, kMostShards + 1));
    };
    const std::int64_t its = (number_in(system.task, task) - first) / step + 1;
    return checked({as_int(its), as_int(shards)}, "$" + std::string(system.task) + "=" + task);
  }
  throw ValueError("'" + text +
                   "' needs a job array of Slurm, SGE or PBS, and none of their variables is set; "
                   "write 3/7 for the third of seven");
}

Json as_json(const KeptPlan& kept, const std::string& made_by) {
  const SweepPlan& plan = kept.plan;
  Json axes = Json::object();
  for (const SweepAxis& axis : plan.axes) axes[axis.flag] = axis.values;
  Json inputs = Json::array();
  for (const InputFile& input : plan.inputs)
    inputs.push_back({{"path", input.typed}, {"sha256", input.sha256}});
  return {{"schema", {{"name", "gradcast/sweep-plan"}, {"version", 1}}},
          {"made_by", made_by},
          {"argv", plan.arguments},
          {"inputs", inputs},
          {"engine", plan.engine},
          {"software", plan.software},
          {"against", to_text(plan.against)},
          {"shards", kept.shards},
          {"axes", axes}};
}

/// Throws DataError for what no sweep writes into its folder, but a hand may.
void require_plan(const SweepPlan& plan, const std::string& path) {
  const std::vector<std::string>& known = axis_names();
  for (const SweepAxis& axis : plan.axes) {
    if (std::find(known.begin(), known.end(), axis.flag) == known.end())
      throw DataError(path, 0,
                      "unknown flag '" + axis.flag + "' in 'axes'" +
                          did_you_mean(axis.flag, known) +
                          "; they are flags of `gradcast simulate` without their dashes");
    if (axis.values.empty())
      throw DataError(path, 0, "'" + axis.flag + "' in 'axes' has no values, so there is no point");
  }
  if (plan.points() > kMostPoints)
    throw DataError(
        path, 0,
        "these axes make too many points; a sweep has " + std::to_string(kMostPoints) + " at most");
}

}  // namespace

Shard parse_shard(const std::string& text,
                  const std::function<std::string(const std::string&)>& variable) {
  const std::vector<std::string> words = split_words(text, '/');
  const auto whole = [&](const std::string& word) {
    try {
      return parse_count_to(kMostShards, word);
    } catch (const ValueError&) {
      return 0;
    }
  };
  if (words[0] == "auto" && words.size() <= 2) {
    if (words.size() == 1) return shard_of_array(text, std::nullopt, variable);
    return shard_of_array(text, checked({1, whole(words[1])}, text).of, variable);
  }
  return words.size() == 2 ? checked({whole(words[0]), whole(words[1])}, text)
                           : checked({0, 0}, text);
}

std::vector<std::size_t> shuffled(std::size_t tasks) {
  constexpr std::uint64_t kSeed = 1;
  std::vector<std::pair<double, std::size_t>> drawn;
  for (std::size_t i = 0; i < tasks; ++i)
    drawn.emplace_back(uniform({kSeed, 0, Draw::Shuffle, i}), i);
  std::sort(drawn.begin(), drawn.end());
  std::vector<std::size_t> order;
  for (const auto& [place, task] : drawn) order.push_back(task);
  return order;
}

std::vector<std::size_t> tasks_of_shard(const Shard& shard, std::size_t tasks) {
  const std::vector<std::size_t> order = shuffled(tasks);
  std::vector<std::size_t> part;
  for (std::size_t i = static_cast<std::size_t>(shard.number - 1); i < order.size();
       i += static_cast<std::size_t>(shard.of))
    part.push_back(order[i]);
  return part;
}

fs::path plan_file(const fs::path& folder) { return folder / "plan.json"; }

fs::path shard_file(const fs::path& folder, const Shard& shard) {
  return folder /
         ("shard-" + std::to_string(shard.number) + "-of-" + std::to_string(shard.of) + ".jsonl");
}

void keep_plan(const fs::path& folder, const KeptPlan& kept, const std::string& made_by) {
  make_folder(folder);
  const std::string text = to_text(as_json(kept, made_by));
  if (!kept_file_at(plan_file(folder))) {
    write_text_file(plan_file(folder), text);
    return;
  }
  kept_plan(folder, made_by);  // says so where it is of another version
  if (read_text_file(plan_file(folder)).content != text)
    throw DataError(plan_file(folder).string(), 0,
                    "this folder holds the shards of another sweep; name another folder");
}

KeptPlan kept_plan(const fs::path& folder, const std::string& made_by) {
  if (!kept_file_at(plan_file(folder)))
    throw DataError(plan_file(folder).string(), 0,
                    "there is no such file, so this is not a folder of a sweep's shards");
  const TextFile file = read_text_file(plan_file(folder));
  const std::string path = file.path.string();
  try {
    const Json json = parse_json(file.content, path);
    const std::string wrote = json.at("made_by");
    if (wrote != made_by)
      throw DataError(path, 0,
                      "these shards are of gradcast " + wrote + ", and this is " + made_by +
                          ": use that one, or make the shards again");
    if (json.at("schema").at("name") != "gradcast/sweep-plan")
      throw DataError(path, 0, "this is no plan of a sweep's shards");
    KeptPlan kept;
    kept.plan.arguments = json.at("argv");
    for (const Json& input : json.at("inputs"))
      kept.plan.inputs.push_back({input.at("path"), input.at("sha256")});
    kept.plan.engine = json.at("engine");
    kept.plan.software = json.at("software");
    kept.plan.against = parse_against(json.at("against").get<std::string>());
    // As a double: any number fits, and one that is no count is refused below.
    const double shards = json.at("shards");
    for (const auto& [flag, values] : json.at("axes").items())
      kept.plan.axes.push_back({flag, values});
    if (!(shards >= 1 && shards <= kMostShards && shards == std::floor(shards)))
      throw DataError(path, 0,
                      "'shards' is " + number_to_text(shards) +
                          ", but should be a whole number from 1 to " +
                          std::to_string(kMostShards));
    kept.shards = static_cast<int>(shards);
    require_plan(kept.plan, path);
    return kept;
  } catch (const nlohmann::json::exception&) {
    throw DataError(path, 0, "this is no plan of a sweep's shards");
  }
}

Evaluations read_shards(const fs::path& folder, int shards) {
  std::set<std::string> there;  // listed once: there may be many shards
  for (const fs::path& entry : entries_of(folder)) there.insert(entry.filename().string());
  Evaluations all;
  for (int number = 1; number <= shards; ++number) {
    const fs::path file = shard_file(folder, {number, shards});
    const auto its = there.lower_bound(file.filename().string());  // or a part: it begins so
    if (its != there.end() && its->starts_with(file.filename().string()))
      all.merge(Evaluations(Store(file).done()));
  }
  return all;
}

std::string missing_shards(int shards, const SweepTasks& tasks, const Evaluations& done) {
  const std::vector<std::size_t> order = shuffled(tasks.tasks.size());
  const auto step = static_cast<std::size_t>(shards);
  std::vector<std::string> words;
  std::size_t more = 0;
  for (std::size_t first = 0; first < std::min(step, order.size()); ++first) {
    std::size_t all = 0;
    std::size_t missing = 0;
    for (std::size_t i = first; i < order.size(); i += step) {
      ++all;
      missing += done.contains(tasks.tasks[order[i]].key) ? 0 : 1;
    }
    if (missing == 0) continue;
    if (words.size() < kMostShardsNamed)
      words.push_back("shard " + std::to_string(first + 1) + "/" + std::to_string(shards) +
                      " lacks " + std::to_string(missing) + " of " + std::to_string(all) +
                      " forecasts");
    else
      ++more;
  }
  return join(words, "; ") + (more > 0 ? "; and " + std::to_string(more) + " more" : "");
}

}  // namespace gradcast
