#include "sim/import/kineto/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "sim/base/csv.hpp"
#include "sim/base/statistics.hpp"

namespace gradcast::kineto {
namespace {

/// Groups that stand together in forward order and are of one operator: a layer of the model.
struct Layer {
  std::string name;
  std::vector<std::size_t> groups;  // in forward order
  int operator_number = -1;
};

std::vector<Layer> layers_of(const StepGradients& step) {
  std::vector<Layer> layers;
  std::map<std::string, int> count;
  for (std::size_t i = step.groups.size(); i-- > 0;) {
    const GradientGroup& group = step.groups[i];
    if (group.layer >= 0 && !layers.empty() && layers.back().operator_number == group.layer) {
      layers.back().groups.push_back(i);
      continue;
    }
    const std::string name =
        group.layer >= 0 ? step.layers[static_cast<std::size_t>(group.layer)].name : group.node;
    layers.push_back({name + "-" + std::to_string(++count[name]), {i}, group.layer});
  }
  return layers;
}

/// The tensor's name. In a layer with one or two gradients these are weight and bias, whatever made
/// them.
std::string tensor_name(const Layer& layer, std::size_t number, std::size_t count) {
  if (count <= 2) return layer.name + (number == 0 ? ".weight" : ".bias");
  return layer.name + "." + std::to_string(number + 1);
}

Seconds median_seconds(std::vector<double> nanoseconds) {
  // Whole nanoseconds, as the trace has them, divided so that they print in nine digits.
  return Seconds{std::round(median(std::move(nanoseconds))) / 1e9};
}

}  // namespace

std::vector<std::size_t> forward_places(const std::vector<Gradient>& gradients) {
  std::vector<std::size_t> places(gradients.size());
  std::size_t place = 0;
  for (std::size_t end = gradients.size(); end > 0;) {
    std::size_t begin = end - 1;
    while (begin > 0 && gradients[begin - 1].group == gradients[begin].group) --begin;
    for (std::size_t i = begin; i < end; ++i) places[i] = place++;
    end = begin;
  }
  return places;
}

void set_launches(const std::vector<StepGradients>& steps, Nanoseconds latency,
                  IterationTrace& trace) {
  const auto since_begin = [&](const StepGradients& step, const LaunchDate& launch) {
    return static_cast<double>(
        std::max<Nanoseconds>(0, launch.any() ? launch.date() + latency - step.window.start : 0));
  };
  const auto median_of = [&](auto date_in) {
    std::vector<double> dates;
    for (const StepGradients& step : steps) dates.push_back(date_in(step));
    return median_seconds(std::move(dates));
  };
  std::size_t place = 0;
  std::set<int> launched;  // operators
  for (const Layer& layer : layers_of(steps.front())) {
    const std::size_t begin = place;
    for (const std::size_t group : layer.groups)
      place += static_cast<std::size_t>(
          std::count_if(steps.front().gradients.begin(), steps.front().gradients.end(),
                        [&](const Gradient& gradient) { return gradient.group == group; }));
    trace.tensors[place - 1].backward_launch = median_of([&](const StepGradients& step) {
      LaunchDate whole;  // backward comes to the layer's last group first
      for (std::size_t i = layer.groups.size(); i-- > 0;)
        whole.take(step.groups[layer.groups[i]].launch);
      return since_begin(step, whole);
    });
    if (layer.operator_number >= 0 && launched.insert(layer.operator_number).second)
      trace.tensors[begin].forward_launch = median_of([&](const StepGradients& step) {
        const int its = step.groups[layer.groups.front()].layer;
        return its < 0 ? 0.0 : since_begin(step, step.layers[static_cast<std::size_t>(its)].launch);
      });
  }
  trace.update_launch =
      median_of([&](const StepGradients& step) { return since_begin(step, step.update_launch); });
  trace.host = median_of([&](const StepGradients& step) {
    return static_cast<double>(
        std::max<Nanoseconds>(0, step.next_launch + latency - step.window.start));
  });
}

TimedModel timed_model(const std::vector<StepGradients>& steps,
                       const std::vector<std::int64_t>& elements,
                       const std::vector<Parameter>& parameters) {
  TimedModel made;
  const StepGradients& first = steps.front();
  made.forward_known = std::all_of(steps.begin(), steps.end(),
                                   [](const StepGradients& step) { return step.layers_known(); });
  const std::vector<std::size_t> places = forward_places(first.gradients);
  std::vector<std::size_t> ready(places.size());  // by place
  for (std::size_t i = 0; i < places.size(); ++i) ready[places[i]] = i;

  std::set<int> timed;  // operators; one may yield gradients in two places
  std::size_t place = 0;
  for (const Layer& layer : layers_of(first)) {
    const std::size_t begin = place;
    while (place < ready.size() &&
           std::find(layer.groups.begin(), layer.groups.end(),
                     first.gradients[ready[place]].group) != layer.groups.end())
      ++place;
    std::vector<double> forward, backward;
    for (const StepGradients& step : steps) {
      double its_backward = 0;
      for (const std::size_t group : layer.groups)
        its_backward += static_cast<double>(step.groups[group].backward);
      backward.push_back(its_backward);
      if (made.forward_known)
        forward.push_back(static_cast<double>(
            step.layers[static_cast<std::size_t>(step.groups[layer.groups.front()].layer)]
                .forward));
    }
    for (std::size_t i = begin; i < place; ++i) {
      const bool named = i < parameters.size();
      const std::string name =
          named ? parameters[i].name : tensor_name(layer, i - begin, place - begin);
      made.model.tensors.push_back(
          {named ? parameters[i].layer : layer.name, name, elements[ready[i]], 0});
      made.times.push_back({name, Seconds{0}, Seconds{0}});
    }
    if (made.forward_known && timed.insert(layer.operator_number).second)
      made.times[begin].forward = median_seconds(forward);
    made.times[place - 1].backward = median_seconds(backward);
  }
  if (!made.forward_known) {
    // Backward takes about twice as long as forward, layer by layer.
    std::vector<double> all;
    for (const StepGradients& step : steps) all.push_back(static_cast<double>(step.forward));
    Seconds backward{0};
    for (const TensorTime& time : made.times) backward += time.backward;
    if (backward > Seconds{0})
      for (TensorTime& time : made.times)
        time.forward = median_seconds(all) * (time.backward / backward);
    else if (!made.times.empty())
      made.times.front().forward = median_seconds(all);
  }
  const auto is_count = [](std::int64_t batch) { return batch > 0 && batch <= 1'000'000; };
  for (const ForwardLayer& layer : first.layers)
    if (layer.name.starts_with("split_with_sizes")) {  // FSDP1's views of a unit's parameters
      if (is_count(first.batch)) made.batch = static_cast<int>(first.batch);
      break;
    } else if (is_count(layer.batch)) {
      made.batch = static_cast<int>(layer.batch);
      break;
    }
  return made;
}

std::vector<Parameter> load_parameters(const TextFile& file) {
  constexpr std::array kColumns = {"tensor", "elements", "layer", "forward_flops"};
  CsvReader rows(file, kColumns, 2);
  std::vector<Parameter> parameters;
  std::set<std::string> seen;
  while (rows.next()) {
    const std::string& name = rows.word("tensor");
    if (!seen.insert(name).second)
      throw rows.failure("tensor",
                         "'" + name + "' stands twice; parameters need names of their own");
    std::string layer = rows.text("layer");
    if (layer.empty()) layer = name.substr(0, name.rfind('.'));
    parameters.push_back({layer, name, rows.integer("elements", 1, INT32_MAX)});
  }
  if (parameters.empty()) throw rows.failure("there are no parameters");
  return parameters;
}

}  // namespace gradcast::kineto
