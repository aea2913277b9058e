#include "sim/options/engine_flag.hpp"

#include "sim/base/text.hpp"

namespace gradcast {
namespace {

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Engine& engine : all_engines()) names.emplace_back(engine.name);
  return names;
}

}  // namespace

void add_engine_flag(Flags& flags) {
  flags.add("engine", join(names(), " or "), std::string(all_engines()[0].name));
}

const Engine& chosen_engine(const Flags& flags) {
  const std::string name = flags.text("engine");
  const Engine* engine = find_engine(name);
  if (engine == nullptr)
    throw UsageError("--engine: unknown engine '" + name + "'" + did_you_mean(name, names()) +
                     " (known: " + join(names()) + ")");
  if (!engine->built())
    throw MissingError("engine '" + name + "' is not in this build: it needs " +
                       std::string(engine->needs));
  return *engine;
}

}  // namespace gradcast
