#include "sim/fit/row_model.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/fit/fit_rows.hpp"

using namespace gradcast;
using namespace gradcast::toy;

namespace {

FitStructure four() {
  return {"four",
          FitErrors::Relative,
          "",
          {parameter("nic_bandwidth", "", "1MBps", "100kBps", "10MBps"),
           parameter("per_iteration_overhead", "", "1ms", "0s", "100ms"),
           parameter("communication_slowdown", "", "5%", "0%", "100%"),
           parameter("encode_factor", "compressor=topk", "1", "0.1", "20")},
          0};
}

/// Made once and asked at several places, the first of them twice.
void check_as_forecasts(const FitRow& row) {
  const FitStructure structure = four();
  const Engine& engine = *find_engine("analytic");
  RowForecaster forecaster(row, structure, engine);
  for (const Eigen::Vector4d& at :
       {Eigen::Vector4d(1e-6, 1e-3, 0.05, 1), Eigen::Vector4d(3e-6, 0, 0.4, 7),
        Eigen::Vector4d(0.2e-6, 9e-3, 0, 0.3), Eigen::Vector4d(1e-6, 1e-3, 0.05, 1)}) {
    CAPTURE(row.run.compressor, at);
    CHECK(forecaster.at(at) == Approx(forecasts({&row}, structure, at, engine)[0]).epsilon(1e-12));
  }
}

}  // namespace

TEST_CASE("A search's forecasts are everybody's, but for rounding", "[fit]") {
  for (const char* compressor : {"dense", "topk"})
    for (const char* fusion : {"layer", "merged", "10kB", "mg-wfbp", "omgs", "cycle:5ms,64MiB"})
      for (const bool overlap : {false, true})
        for (const Queue queue : {Queue::Fifo, Queue::Priority})
          for (const EncodeStream stream : {EncodeStream::Compute, EncodeStream::Side})
            for (const int accumulation : {1, 3}) {
              if (queue == Queue::Priority && parse_fusion(fusion).needs_times()) continue;
              FitRow row = fit_row(compressor, 3);
              row.scenario.fusion = parse_fusion(fusion);
              row.scenario.overlap = overlap;
              row.scenario.queue = queue;
              row.scenario.encode_stream = stream;
              row.scenario.encode_slowdown = 0.3;
              row.scenario.accumulation = accumulation;
              row.scenario.selection = overlap ? SelectionScope::PerTensor : SelectionScope::Merged;
              CAPTURE(fusion, overlap, to_text(queue), to_text(stream), accumulation);
              check_as_forecasts(row);
            }
}

TEST_CASE("Runs of a microbenchmark and of one rank alone are forecast as ever, too", "[fit]") {
  FitRow payload = fit_row("dense", 1);
  payload.scenario.payload = Bytes{100'000};
  check_as_forecasts(payload);
  FitRow alone = fit_row("topk", 2);
  alone.scenario.cluster.nodes = 1;
  check_as_forecasts(alone);
}
