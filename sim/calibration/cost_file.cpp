#include "sim/calibration/cost_file.hpp"

#include "sim/base/csv.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/writable.hpp"
#include "sim/calibration/points.hpp"

namespace gradcast {
namespace {

/// Rows of compressors with a parameter may come after others, so every table has that column.
std::string csv_of(const CostTable& table, bool types) {
  return cost_table_csv(table, {}, {.input_type = types, .parameter = true});
}

std::string comment_of(const Provenance& line) {
  return csv_comments({(line.key.empty() ? "" : line.key + ": ") + line.value});
}

/// The place where the comments before the header end.
std::size_t end_of_comments(const std::string& content) {
  std::size_t at = 0;
  while (at < content.size() && content[at] == '#') {
    const std::size_t line_end = content.find('\n', at);
    at = line_end == std::string::npos ? content.size() : line_end + 1;
  }
  return at;
}

std::string shown(const std::set<int>& numbers) {
  std::vector<std::string> words;
  words.reserve(numbers.size());
  for (const int number : numbers) words.push_back(std::to_string(number));
  return join(words, ",");
}

}  // namespace

CostFile::CostFile(std::filesystem::path path, std::vector<Provenance> provenance,
                   const std::vector<int>& workers, bool types)
    : path_(std::move(path)), provenance_(std::move(provenance)), types_(types) {
  if (const std::optional<TextFile> there = on_disk()) last_seen_ = there->content;
  if (last_seen_ && !last_seen_->empty()) {
    take_over({path_, *last_seen_}, workers);
    return;
  }
  require_file_writable(path_);  // before anything is measured in vain
  for (const Provenance& line : provenance_) comments_ += comment_of(line);
  body_ = csv_of({}, types_);
}

std::optional<TextFile> CostFile::on_disk() const {
  std::error_code ignored;
  const std::filesystem::file_status there = std::filesystem::status(path_, ignored);
  if (!std::filesystem::exists(there)) return {};
  if (!std::filesystem::is_regular_file(there))
    throw UsageError("--output: '" + path_.string() +
                     "' is not a regular file; the table grows in one");
  return read_text_file(path_);
}

void CostFile::take_over(const TextFile& file, const std::vector<int>& workers) {
  rows_ = load_cost_table(file).rows;
  if (file.content.find("\r\n") != std::string::npos)
    refuse("has CRLF line ends, which calibrate does not continue");
  const std::size_t header = end_of_comments(file.content);
  comments_ = file.content.substr(0, header);
  body_ = file.content.substr(header);
  for (const Provenance& line : provenance_) {
    if (!line.must_agree) continue;
    if (comment_value(file, line.key).empty())
      refuse("lacks the comment line '# " + line.key + ": ...', so `calibrate` did not make it");
    require(line);
  }
  const bool has_types = body_.starts_with(csv_of({}, true));
  if (!has_types && !body_.starts_with(csv_of({}, false)))
    refuse("its columns are not those that `calibrate` writes, or stand in another order");
  if (types_ && !has_types) body_ = csv_of({path_.string(), rows_}, true);
  types_ = types_ || has_types;
  std::set<int> there;
  for (const CostRow& row : rows_) {
    keys_.insert(key_of(row));
    there.insert(row.workers);
  }
  // simulate interpolates over the workers of neighbouring sizes, so they must be the same.
  if (const std::set<int> asked(workers.begin(), workers.end()); there != asked)
    refuse("has rows of " + shown(there) + " workers, asked for are " + shown(asked));
}

void CostFile::refuse(const std::string& why) const {
  throw DataError(path_.string(), 0, why + "; name another file with -o");
}

void CostFile::require(const Provenance& line) {
  const std::string there = comment_value({path_, comments_}, line.key);
  if (there.empty())
    comments_ += comment_of(line);
  else if (there != line.value)
    refuse("its " + line.key + " is '" + there + "', here it is '" + line.value + "'");
}

void CostFile::tell_command(const std::string& typed) {
  const std::string command = one_line(typed);  // as a comment has it
  if (comment_value({path_, comments_}, "command").empty()) {
    comments_ += comment_of({"command", command});
    return;
  }
  for (const std::string& line : comment_lines({path_, comments_}))
    if (line == "command: " + command || line.starts_with("then: " + command + " (")) return;
  std::string date;
  for (const Provenance& line : provenance_)
    if (line.key == "date") date = line.value;
  comments_ += comment_of({"then", command + " (" + date + ")"});
}

void CostFile::tell_not_reached(const std::string& words) {
  const std::string begin = "# not reached: ";
  for (std::size_t at = 0; at < comments_.size();) {
    const std::size_t end = comments_.find('\n', at) + 1;
    if (comments_.compare(at, begin.size(), begin) == 0) {
      comments_.erase(at, end - at);
      break;
    }
    at = end;
  }
  if (!words.empty()) comments_ += comment_of({"not reached", words});
}

bool CostFile::has(const CostRow& row) const { return keys_.contains(key_of(row)); }

void CostFile::add(const std::vector<CostRow>& rows) {
  // If the file is gone, there are no rows to lose.
  if (const std::optional<TextFile> there = on_disk(); there && there->content != last_seen_)
    throw Error(ExitCode::Failure,
                path_.string() +
                    ": another run has changed it; start again when that run has ended (the new "
                    "run continues from what is there), or name another file with -o");
  CostTable more;
  for (const CostRow& row : rows)
    if (keys_.insert(key_of(row)).second) more.rows.push_back(row);
  if (more.rows.empty()) return;
  const std::string text = csv_of(more, types_);
  body_ += text.substr(text.find('\n') + 1);
  rows_.insert(rows_.end(), more.rows.begin(), more.rows.end());
  const std::string whole = comments_ + body_;
  write_text_file(path_, whole);
  last_seen_ = whole;
}

}  // namespace gradcast
