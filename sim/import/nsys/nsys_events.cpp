// Tables and columns: the reference of the export's schema in NVIDIA's documentation of Nsight
// Systems.
#include "sim/import/nsys/nsys_events.hpp"

#include <charconv>
#include <string>
#include <unordered_map>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/import/kineto/profile.hpp"
#include "sim/import/nsys/sqlite_file.hpp"
#include "sim/import/readers.hpp"

namespace gradcast {
namespace {

using kineto::Category;
using kineto::Event;

constexpr const char* kStrings = "StringIds";
constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* kSets = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* kRuntime = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kRanges = "NVTX_EVENTS";
constexpr const char* kGpus = "TARGET_INFO_GPU";

constexpr std::size_t kMostTextBytes = std::size_t{256} << 20;

/// Nanoseconds of a day are 9e13; a date since 1970 is 2e18. Differences of such dates fit.
constexpr std::int64_t kLatestDate = std::int64_t{4} << 60;

class Export {
 public:
  Export(const std::filesystem::path& path, const std::function<void(const Event&)>& take)
      : file_(path, {kStrings, kKernels, kCopies, kSets, kRuntime, kRanges, kGpus}), take_(take) {}

  kineto::Head read() {
    if (!file_.has(kStrings) || !(file_.has(kKernels) || file_.has(kRanges)))
      throw DataError(file_.path(), 0,
                      "is a database, but no export of Nsight Systems (nsys export --type sqlite): "
                      "it has no table StringIds and CUPTI_ACTIVITY_KIND_KERNEL");
    read_texts();
    read_kernels();
    read_copies(kCopies, Category::Memcpy);
    read_copies(kSets, Category::Memset);
    read_launches();
    read_ranges();
    kineto::Head head;
    file_.each_row(kGpus, {"id", "name"}, [&](const SqliteRow& row) {
      constexpr std::size_t kMostGpus = 64;
      if (head.devices.size() < kMostGpus)
        head.devices.emplace_back(row.integer(0, 0), shortened(clean_text(row.text(1)), 80));
    });
    return head;
  }

 private:
  void read_texts() {
    std::size_t bytes = 0;
    file_.each_row(kStrings, {"id", "value"}, [&](const SqliteRow& row) {
      const std::string_view text = row.text(1);
      bytes += text.size() + 64;
      if (bytes > kMostTextBytes)
        throw DataError(file_.path(), 0, "has more than 256 MiB of names, as no run has");
      texts_.emplace(row.integer(0, -1), clean_text(text));
    });
  }

  std::string_view text(std::int64_t id) const {
    const auto at = texts_.find(id);
    return at == texts_.end() ? std::string_view() : at->second;
  }

  /// Sets the times of an event; false for one that never ended.
  bool set_times(const SqliteRow& row, Event& event, const char* what) const {
    if (row.null(1)) return false;
    event.start = row.integer(0, -1);
    const std::int64_t end = row.integer(1, -1);
    if (event.start < 0 || end < event.start || end > kLatestDate)
      throw DataError(file_.path(), 0,
                      "has a " + std::string(what) + " from " + std::to_string(event.start) +
                          " to " + std::to_string(end) + " ns");
    event.duration = end - event.start;
    return true;
  }

  static std::string_view digits_of(std::int64_t number, std::string& kept) {
    kept = std::to_string(number);
    return kept;
  }

  static std::int64_t product(std::int64_t a, std::int64_t b, std::int64_t c) {
    constexpr std::int64_t kMost = std::int64_t{1} << 20;
    for (const std::int64_t each : {a, b, c})
      if (each < 1 || each > (kMost << 11)) return -1;
    if (a * b > (std::int64_t{1} << 31)) return -1;
    return c > kMost ? -1 : a * b * c;
  }

  void read_kernels() {
    std::string device, stream;
    file_.each_row(
        kKernels,
        {"start", "end", "deviceId", "streamId", "correlationId", "demangledName", "shortName",
         "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"},
        [&](const SqliteRow& row) {
          Event event;
          event.category = Category::Kernel;
          if (!set_times(row, event, "kernel")) return;
          event.device = row.integer(2, 0);
          event.process = digits_of(event.device, device);
          event.thread = digits_of(row.integer(3, 0), stream);
          event.correlation = row.integer(4, -1);
          event.name = text(row.integer(5, -1));
          if (event.name.empty()) event.name = text(row.integer(6, -1));
          event.blocks = product(row.integer(7, -1), row.integer(8, -1), row.integer(9, -1));
          event.threads = product(row.integer(10, -1), row.integer(11, -1), row.integer(12, -1));
          take_(event);
        });
  }

  void read_copies(const char* table, Category category) {
    std::string device, stream;
    file_.each_row(table, {"start", "end", "deviceId", "streamId", "correlationId", "bytes"},
                   [&](const SqliteRow& row) {
                     Event event;
                     event.category = category;
                     if (!set_times(row, event, "copy")) return;
                     event.device = row.integer(2, 0);
                     event.process = digits_of(event.device, device);
                     event.thread = digits_of(row.integer(3, 0), stream);
                     event.correlation = row.integer(4, -1);
                     event.bytes = row.integer(5, -1);
                     take_(event);
                   });
  }

  void read_launches() {
    std::string thread;
    file_.each_row(kRuntime, {"start", "end", "globalTid", "correlationId", "nameId"},
                   [&](const SqliteRow& row) {
                     Event event;
                     event.category = Category::Runtime;
                     if (!set_times(row, event, "call")) return;
                     event.thread = digits_of(row.integer(2, 0), thread);
                     event.correlation = row.integer(3, -1);
                     event.name = text(row.integer(4, -1));
                     take_(event);
                   });
  }

  void read_ranges() {
    std::string thread;
    file_.each_row(
        kRanges, {"start", "end", "globalTid", "text", "textId"}, [&](const SqliteRow& row) {
          Event event;
          if (!set_times(row, event, "range")) return;
          event.thread = digits_of(row.integer(2, 0), thread);
          const std::string own = clean_text(row.text(3));
          set_range(own.empty() ? text(row.integer(4, -1)) : std::string_view(own), event);
          if (!event.name.empty()) take_(event);
        });
  }

  /// emit_nvtx writes "NAME, seq = 5, sizes = [[64, 3], []], input_op_ids = [...]"; recent ones
  /// "NAME, op_id = 12, seq = 5".
  static void set_range(std::string_view its, Event& event) {
    const std::size_t end = its.find(", ");
    event.name = its.substr(0, end);
    event.category = Category::Annotation;
    // The autograd profiler's own ranges have no number.
    if (event.name.starts_with("aten::") || event.name.starts_with("torch::") ||
        event.name.starts_with("c10d::") || event.name.starts_with("autograd::") ||
        event.name.starts_with("torch.distributed.ddp"))
      event.category = Category::Operator;
    if (end == std::string_view::npos) return;
    const std::string_view more = its.substr(end);
    constexpr std::string_view kSequence = "seq = ";
    if (const std::size_t at = more.find(kSequence); at != std::string_view::npos) {
      const std::string_view number = more.substr(at + kSequence.size());
      std::from_chars(number.data(), number.data() + number.size(), event.sequence);
      event.category = Category::Operator;
    } else if (more.find("op_id = ") != std::string_view::npos) {
      event.category = Category::Operator;
    } else if (event.category == Category::Annotation) {
      event.name = its;  // a comma of the user's own
    }
    constexpr std::string_view kSizes = "sizes = ";
    if (const std::size_t at = more.find(kSizes); at != std::string_view::npos)
      event.dims = more.substr(at + kSizes.size());
  }

  SqliteFile file_;
  const std::function<void(const Event&)>& take_;
  std::unordered_map<std::int64_t, std::string> texts_;
};

}  // namespace

kineto::Head read_nsys_events(const std::filesystem::path& path,
                              const std::function<void(const kineto::Event&)>& take) {
  return Export(path, take).read();
}

bool is_sqlite(std::string_view begin) {
  return begin.starts_with(std::string_view("SQLite format 3\0", 16));
}

}  // namespace gradcast

namespace gradcast::import_readers {

bool nsys_recognises(const FileHead& head) { return is_sqlite(head.bytes); }

Imported nsys_read(const std::vector<std::filesystem::path>& paths, const ImportOptions& options) {
  return kineto::import_profile(paths, options, "nsys", read_nsys_events);
}

}  // namespace gradcast::import_readers
