// Reads JSON that others may have written. Deep and endless documents are refused, and long ones
// are read in one pass: what a list holds need not be in memory together.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/base/block_reader.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast {

/// Lists whose items are handed over one by one.
struct JsonLists {
  /// Names of lists at the top of the document. "" means a document that is itself a list.
  std::vector<std::string> names;
  /// Called with a place in `names` and each item of that list, in order.
  std::function<void(std::size_t name, Json& item)> take;
};

/// The document, in which the lists that were handed over are empty. If a name stands twice in an
/// object, the first counts. `on_block` sees the whole text, block by block. Throws DataError
/// with the line for what is no JSON, nests deeper than kDeepestJson, or has more than
/// kMostJsonValues values in the document or in one item.
Json read_json(BlockReader& file, const JsonLists& lists,
               const std::function<void(std::string_view block)>& on_block = {});

/// A whole text, with the same limits and errors. `line` is the text's place in its file.
Json parse_json(std::string_view text, const std::string& file, std::size_t line = 1);

}  // namespace gradcast
