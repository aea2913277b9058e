// Terms of a stack that are known without a measured run of it: from its code, its documents, or
// the published time of one part.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/plan/scenario_quantity.hpp"
#include "sim/plan/stack.hpp"

namespace gradcast {

struct KnownTerm {
  std::string file;
  std::size_t line = 0;             // of the file
  std::vector<std::string> stacks;  // parts of the names of stacks
  const ScenarioQuantity* quantity = nullptr;
  std::string compressor;         // of which it is a cost; "": of all, or of none
  std::string implementation;     // beside whose encoding; "": anybody's
  bool ruled_out = false;         // the stack cannot have it
  std::optional<double> value{};  // in the quantity's number; none: what other stacks say
  double deviation = 0;           // of that value, as in a StackTerm
  std::optional<std::vector<SeenBox>> seen{};  // the conditions in which its kind has seen it
  std::string source;
};

/// Reads `traces/stack-known.csv`: stacks,property,compressor,value,deviation,seen,source and
/// implementation. Throws DataError.
std::vector<KnownTerm> load_known_terms(const TextFile& file);

/// The known terms of the data folder. Throws as DataFiles::read does, too.
std::vector<KnownTerm> load_known_terms(DataFiles& files);

/// Throws DataError for a row of stacks that are none of these.
void require_stacks_of(const std::vector<KnownTerm>& known, const std::vector<std::string>& names);

/// Changes the terms of a stack that nobody measured to what is known of it. Returns a sentence for
/// each term that was taken out. A stack that was `measured` gains the costs of compressors and
/// implementations that no run of it had, and keeps all else.
std::vector<std::string> apply_known(Stack& stack, const std::vector<KnownTerm>& known,
                                     bool measured = false);

}  // namespace gradcast
