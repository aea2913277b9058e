// Limits on length, depth and number in a file, a flag or a folder. Beyond them the program refuses
// in one line. Each limit has its reason. They are far above what anybody has; without them a slip
// or a hostile file costs minutes, all the memory or the stack.
#pragma once
#include <cstddef>
#include <cstdint>

namespace gradcast {

/// Bytes of a file, also after unpacking. A timeline of 4,000 ranks has 660 MB; /dev/zero is
/// longer.
inline constexpr std::size_t kLongestTextFile = std::size_t{1} << 30;

/// Unpacked bytes for each byte of a gzip file. The traces that we have, ours and PyTorch's, pack
/// 13 to 28 fold; a file that is made to fill a memory packs 1,000 fold.
inline constexpr std::size_t kMostUnpacking = 250;

/// Elements of a vector that is read from a file: twice those of VGG-16's gradient. In memory, its
/// bytes and its elements take 2 GiB.
inline constexpr std::size_t kMostVectorElements = std::size_t{1} << 28;

/// Objects and lists inside each other, in JSON. Our results nest 5 deep, the foreign traces that
/// we have 7. Releasing or printing such a tree takes stack for each level.
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

/// Bytes of a plan or config file. The longest of ours has a thousand. toml++ looks through all
/// tables for each key, so that 50 MB take hours.
inline constexpr std::size_t kLongestToml = std::size_t{1} << 20;

/// Lists and tables inside each other in TOML. Ours nest 1 deep, foreign ones hardly 3.
inline constexpr std::size_t kDeepestToml = 8;

/// Parts of a dotted key or of a table's name in TOML. Ours have one; toml++ calls itself for each.
inline constexpr std::size_t kMostTomlKeyParts = 8;

/// Letters of a TOML word without quotes: a key, a number, a date. The longest key is a flag of 24
/// letters. toml++ steps back to where a word began, and remembers 127 letters.
inline constexpr std::size_t kLongestTomlWord = 100;

/// The least time that can have been measured, if it is not 0. No clock reads less than a
/// nanosecond, and the shortest published run takes 53 us. Shares of shorter times are no numbers
/// any more: squares of 1e-160 s are 0.
inline constexpr double kShortestMeasuredSeconds = 1e-9;

/// The least density. Below it, a call of the most elements that a table can have, 2^31 - 1, would
/// keep one or two.
inline constexpr double kLeastDensity = 1e-9;

/// Events of a file: more than one a second of a whole day (86,400).
inline constexpr std::size_t kMostEvents = 100'000;

/// Events that hold a rank or a link at the same time. Their shares multiply; whoever describes a
/// machine has two or three at once, and each change looks at all of them.
inline constexpr std::size_t kMostEventsAtOnce = 100;

/// Flows of others at the same time. SimGrid shares the network anew among all of them at every
/// message of the job: 1000 take a tenth of a second, 20,000 take minutes.
inline constexpr std::size_t kMostFlowsAtOnce = 1000;

/// NICs of a cluster: one for each of the most ranks. A GPU sends through one, so that more carry
/// nothing; but each is two links of every network that is built.
inline constexpr int kMostNics = 65'536;

/// Pairs of GPUs of a node with several NICs, and of all such nodes. SimGrid keeps a route for
/// each: two million take a second and 250 MB.
inline constexpr std::int64_t kMostRoutesOfNode = std::int64_t{1} << 20;
inline constexpr std::int64_t kMostRoutes = std::int64_t{1} << 21;

/// Bytes of a SimGrid platform. One with a line for each link of 16,384 hosts has 2 MB.
inline constexpr std::size_t kLongestPlatform = std::size_t{64} << 20;

/// Zones of a SimGrid platform, its clusters among them, and how often they and its hosts may
/// multiply. SimGrid looks through all zones for each host: 1,024 clusters of 8 take a second,
/// 4,090 of 4 take six, as many zones of one router 0.2 s.
inline constexpr std::int64_t kMostPlatformZones = 4096;
inline constexpr std::int64_t kMostZonesTimesHosts = std::int64_t{1} << 23;

/// Zones inside each other. SimGrid calls itself for each.
inline constexpr std::size_t kDeepestPlatform = 100;

}  // namespace gradcast
