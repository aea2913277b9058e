// Reads the events of a profiler trace one after another, in little memory.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/import/kineto/event.hpp"

namespace gradcast::kineto {

/// Metadata of a file, beside its events.
struct Head {
  std::vector<std::pair<std::int64_t, std::string>> devices;  // id and name
  int rank = -1;                                              // -1: not said
  int world_size = 0;                                         // 0: not said
  std::int64_t base = 0;                                      // nanoseconds that all dates begin at
};

/// False if this build lacks the JSON library; read_events then throws MissingError.
bool event_reader_built();

/// Hands over every slice (ph "X") of a .json or .json.gz, and returns the head. Throws DataError:
/// it names the file, the event's number from 1, what was found and what would be right.
Head read_events(const std::filesystem::path& path, const std::function<void(const Event&)>& take);

/// A reader of any profiler's files, like read_events.
using ReadEvents = std::function<Head(const std::filesystem::path& path,
                                      const std::function<void(const Event&)>& take)>;

}  // namespace gradcast::kineto
