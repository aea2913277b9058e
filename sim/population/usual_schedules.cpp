#include "sim/population/usual_schedules.hpp"

#include <array>

#include "sim/base/csv.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr std::array kScheduleColumns = {"stack", "fusion", "overlap", "source"};

}  // namespace

UsualSchedules load_usual_schedules(const TextFile& file) {
  UsualSchedules all;
  CsvReader rows(file, kScheduleColumns);
  while (rows.next()) {
    const UsualSchedule schedule{rows.value("fusion", parse_fusion),
                                 rows.value("overlap", parse_usual_overlap), rows.word("source")};
    if (!all.emplace(rows.word("stack"), schedule).second)
      throw rows.failure("stack", in_quotes(rows.text("stack")) + " stands twice");
  }
  return all;
}

UsualSchedules load_usual_schedules(DataFiles& files) {
  return load_usual_schedules(files.read(kStackLists, "stack-schedules"));
}

}  // namespace gradcast
