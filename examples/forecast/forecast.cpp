// Does a compressor pay on 16 nodes, and would twice the network? Asked from C++.
#include <cstdio>
#include <gradcast/gradcast.hpp>

int main() try {
  const gradcast::Forecaster forecaster;
  const gradcast::Settings job = {
      {"model", "bert-base"}, {"cluster", "dgx-a100"}, {"nodes", 16}, {"compressor", "powersgd"}};
  const gradcast::Forecast forecast = forecaster.forecast(job);
  std::printf("%.4f s", forecast.seconds);
  if (forecast.interval)
    std::printf(", 90 %% in %.4f to %.4f", forecast.interval->low, forecast.interval->high);
  std::printf("; powersgd: %s\n", forecast.verdict.c_str());
  for (const auto& [part, seconds] : forecast.parts)
    if (seconds > 0) std::printf("  %-22s %.4f s\n", part.c_str(), seconds);

  const gradcast::Table networks = forecaster.sweep(
      {{"model", "bert-base"},
       {"cluster", "dgx-a100"},
       {"nodes", 16},
       {"nic-bandwidth", std::vector<const char*>{"100Gbps", "200Gbps"}}});
  std::printf("%zu rows of %zu columns\n", networks.rows.size(), networks.columns.size());
} catch (const gradcast::InputError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.code();
}
