// An import as people and programs read it.
#pragma once
#include <string>

#include "sim/answers/document.hpp"
#include "sim/import/imported.hpp"
#include "sim/import/written.hpp"

namespace gradcast {

/// The one result of the JSON document.
Json to_json(const Imported& imported);

/// The same without lists, as a row of CSV: lists are words with blanks between them.
Json to_flat_json(const Imported& imported);

/// A text for people: figures, where time goes, what was used, dropped, inferred, and is not known,
/// the files, and the command that goes on from there.
std::string to_text(const Imported& imported, const ImportedFiles& files,
                    const ImportedShape& shape);

/// "77 % of the step the GPU waits for the host: ..."; "" where it hardly does.
std::string host_sentence(const ImportedTimes& times);

/// Commands that take the files: first what one iteration takes, then where compressing pays.
std::vector<std::string> next_commands(const Imported& imported, const ImportedFiles& files,
                                       const ImportedShape& shape);

}  // namespace gradcast
