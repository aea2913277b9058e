// How long, how deep, how many: what this program takes from a file, a flag or a folder before it
// refuses in one line. Each limit has its reason. They are far above what anybody has; without
// them a slip or a hostile file costs minutes, all the memory or the stack.
#pragma once
#include <cstddef>
#include <cstdint>

namespace gradcast {

/// Bytes of a file, also after unpacking. The longest file of ours is a timeline of some thousand
/// ranks (half of it); /dev/zero is longer.
inline constexpr std::size_t kLongestTextFile = std::size_t{1} << 30;

/// Unpacked bytes for each byte of a gzip file. Traces and results pack 5 to 50 fold; a file that is
/// made to fill a memory packs 1,000 fold.
inline constexpr std::size_t kMostUnpacking = 250;

/// Objects and lists inside each other, in JSON. Results nest 6 deep, foreign traces 10. Who
/// releases or prints such a tree needs stack for each level.
inline constexpr std::size_t kDeepestJson = 100;

/// Values of a JSON document that are in memory together: the rows of a result, or one event of a
/// trace (whose events are read one by one). A long text counts as several. A sweep of 50,000
/// points has two million, and a page of it takes three quarters of a gigabyte to make.
inline constexpr std::size_t kMostJsonValues = 2'500'000;

/// Bytes of one text, name or number of JSON.
inline constexpr std::size_t kLongestJsonText = std::size_t{1} << 24;

/// Points of one sweep. Nobody would read more.
inline constexpr std::int64_t kMostPoints = 1'000'000;

/// Shards of a sweep. Nobody has so many machines.
inline constexpr int kMostShards = 100'000;

/// Shards that lack something, by name in one message. A line is to be read.
inline constexpr std::size_t kMostShardsNamed = 5;

}  // namespace gradcast
