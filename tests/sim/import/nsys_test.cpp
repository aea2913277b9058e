#include <catch2/catch.hpp>
#include <cstdlib>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/nsys/nsys_events.hpp"
#include "sim/import/nsys/sqlite_file.hpp"
#include "sim/import/readers.hpp"
#include "tests/sim/import/database.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

/// The tables of an export, with the columns that are read and some that are not.
const char* const kTables = R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
  correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL,
  gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,
  blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, bytes INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
  eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,
  returnValue INTEGER NOT NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,
  text TEXT, globalTid INTEGER, textId INTEGER, domainId INTEGER);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('TOKEN', 'a secret');
INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A100-SXM4-80GB');
INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000'), (3, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'),
  (4, 'torch::autograd::AccumulateGrad');
)";

std::string number(std::int64_t value) { return std::to_string(value); }

/// A kernel and its launch. Thread 7 is the program's, 9 that of the backward pass.
std::string kernel(std::int64_t start, std::int64_t end, int stream, int correlation,
                   std::int64_t launched, int thread, int name = 1) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + number(start) + "," + number(end) +
         ",0,1," + number(stream) + "," + number(correlation) + ",0," + number(name) + "," +
         number(name) + ",1,1,1,32,1,1);\nINSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" +
         number(launched) + "," + number(launched + 10) + ",0," + number(thread) + "," +
         number(correlation) + ",2,0);\n";
}

std::string range(std::int64_t start, std::int64_t end, const std::string& text, int thread) {
  return "INSERT INTO NVTX_EVENTS VALUES (" + number(start) + "," + number(end) + ",59,'" + text +
         "'," + number(thread) + ",NULL,0);\n";
}

// Four steps of 10,000 ns. Each: 1000 ns forward, 2000 ns backward with a gradient of 8 x 4, an
// all-reduce of 1500 ns of which 500 hide behind backward, 300 ns of the optimizer.
std::string four_steps() {
  std::string sql = kTables;
  int correlation = 1;
  for (std::int64_t step = 0; step < 4; ++step) {
    const std::int64_t at = 1'000'000 + 10'000 * step;
    sql += range(at, at + 9'900, "step " + number(step), 7);
    sql += range(at + 100, at + 900,
                 "aten::linear, seq = " + number(10 + step) + ", sizes = [[16, 4], [8, 4], []]", 7);
    sql += kernel(at + 1'000, at + 2'000, 1, correlation++, at + 200, 7);
    sql += range(at + 1'000, at + 1'900, "AddmmBackward0, seq = " + number(10 + step), 9);
    sql += kernel(at + 2'000, at + 4'000, 1, correlation++, at + 1'100, 9);
    sql += range(at + 2'000, at + 2'100,
                 "torch::autograd::AccumulateGrad, op_id = 3, sizes = [[8, 4]]", 9);
    sql += kernel(at + 3'500, at + 5'000, 2, correlation++, at + 2'200, 9, 3);
    sql += range(at + 3'000, at + 4'000, "Optimizer.step#SGD.step", 7);
    sql += kernel(at + 5'000, at + 5'300, 1, correlation++, at + 3'100, 7);
  }
  return sql;
}

Imported read(const std::string& sql) {
  const TemporaryFolder folder;
  const std::string path = (folder.path / "run.sqlite").string();
  make_database(path, sql);
  const ImportReader& reader = import_reader_for({path});
  CHECK(reader.name == "nsys");
  ImportOptions options;
  options.name = "m";
  return reader.read({path}, options);
}

}  // namespace

// compute 1000 + 2000 + 300, exposed 5000 - 4000, the rest of 10,000 idle.
TEST_CASE("an export of Nsight Systems gives a step's times, collectives and gradients", "[nsys]") {
  if (!sqlite_built()) return;
  const Imported result = read(four_steps());
  CHECK(result.kind == "nsys");
  CHECK(result.device == "NVIDIA A100-SXM4-80GB");
  REQUIRE(result.times);
  CHECK(result.times->window.count() == Approx(10'000e-9));
  CHECK(result.times->compute.count() == Approx(3'300e-9));
  CHECK(result.times->exposed.count() == Approx(1'000e-9));
  CHECK(result.times->forward.count() == Approx(1'000e-9));
  CHECK(result.times->backward.count() == Approx(2'000e-9));
  CHECK(result.times->update.count() == Approx(300e-9));
  REQUIRE(result.collectives.size() == 1);
  CHECK(result.collectives[0].name == "all-reduce");
  CHECK(result.collectives[0].seconds.count() == Approx(1'500e-9));
  REQUIRE(result.model);
  CHECK(result.model->elements() == 32);
}

TEST_CASE("the environment of the process is never read", "[nsys]") {
  if (!sqlite_built()) return;
  const TemporaryFolder folder;
  const std::string path = (folder.path / "run.sqlite").string();
  make_database(path, four_steps());
  const SqliteFile file(path, {"StringIds"});
  CHECK_THROWS_WITH(file.each_row("TARGET_INFO_SYSTEM_ENV", {"name", "value"},
                                  [](const SqliteRow&) { FAIL("a row of it was read"); }),
                    Contains("prohibited"));
}

TEST_CASE("a database that is no whole export is refused in one line", "[nsys]") {
  if (!sqlite_built()) return;
  CHECK_THROWS_WITH(read("CREATE TABLE t (a);"), Contains("no export of Nsight Systems"));
  CHECK_THROWS_WITH(read(kTables), Contains("has no kernel of a GPU"));
  CHECK_THROWS_WITH(read(four_steps() + kernel(5, 4, 1, 99, 1, 7)),
                    Contains("a kernel from 5 to 4 ns"));
  // A view is a program, and this one never ends.
  CHECK_THROWS_WITH(
      read(
          "CREATE TABLE StringIds (id INTEGER, value TEXT); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL "
          "AS WITH RECURSIVE c(start) AS (SELECT 1 UNION ALL SELECT start FROM c) SELECT start, 2 "
          "AS end FROM c;"),
      Contains("run.sqlite"));
  const TemporaryFolder folder;
  const std::string path = (folder.path / "run.sqlite").string();
  make_database(path, four_steps());
  std::filesystem::resize_file(path, 5000);
  CHECK_THROWS_WITH(read_nsys_events(path, [](const kineto::Event&) {}),
                    Contains("run.sqlite") && Contains("no whole SQLite database"));
}
