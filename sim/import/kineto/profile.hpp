// A run from the events of a profiler, whichever profiler wrote them.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "sim/import/kineto/event_reader.hpp"
#include "sim/import/readers.hpp"

namespace gradcast::kineto {

/// The files of one rank or of all. Throws DataError, MissingError.
Imported import_profile(const std::vector<std::filesystem::path>& paths,
                        const ImportOptions& options, const std::string& kind,
                        const ReadEvents& read);

}  // namespace gradcast::kineto
