// Words of a log: what tables of measurements and logs of trainings have in common.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/text_file.hpp"

namespace gradcast {

/// A log, unpacked if it is a .gz. A node that crashed may have left zeros in it: they cut numbers,
/// no more. Throws DataError as BlockReader does.
TextFile read_log(const std::filesystem::path& path);

/// "2025-03-04".
bool is_date(std::string_view word);

/// The words between blanks.
std::vector<std::string_view> words_of(std::string_view line);

/// The line without blanks around it and what launchers, loggers or a quotation put before it, also
/// several of them. That is a tag ("[1,0]<stdout>:", "[0] ", "[pod/launcher-x/launcher] ",
/// "(RayWorker pid=17) "), a name ("0: ", "node7: ", "INFO:root:", "> "), or a time of day within
/// four words, and before a table's line all that follows it: "2025-05-01T12:00:00.123456789Z ",
/// "2025-05-01T12:00:00.1Z stdout F ", "Nov 02 10:22:33 node0 srun[17]: ".
std::string_view without_prefix(std::string_view line);

/// The line with a blank in place of each tag inside it. A launcher tags what it reads at once, and
/// that may begin inside a row: "sum -1[1,0]<stdout>: 65.12" or "sum -1[0]  65.12". Only rows of a
/// table and its comments lose them.
std::string without_inner_tags(std::string_view line);

/// The line without escape codes of colours, also those whose first byte a web page has dropped:
/// "[31mstep".
std::string without_colours(std::string_view line);

/// "2.22.3" of "NCCL version 2.22.3+cuda12.6"; "" where the line names no version.
std::string_view nccl_version_in(std::string_view line);

/// Letters of the number at the beginning: digits, a point and an exponent; 0 for none.
std::size_t number_length(std::string_view word);

}  // namespace gradcast
