// `gradcast calibrate` on the CPU, in a moment, and a Python that answers for torch.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "sim/calibration/points.hpp"
#include "sim/inputs/cost_table.hpp"
#include "tests/temporary_folder.hpp"

namespace gradcast::calibrating {

inline std::vector<std::string> calibrate(const std::string& models, const std::string& out,
                                          const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"calibrate", "--device", "cpu", "--models", models,
                                     "--seconds", "0.002",    "-o",  out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

inline std::string small_model(const TemporaryFolder& folder) {
  return folder.write("small.csv",
                      "layer,tensor,elements,forward_flops,shape\n"
                      "a,a.w,20000,1,200x100\na,a.b,100,0,100\nb,b.w,7000,1,70x100\n"
                      "c,c.w,3000,1,30x100\n");
}

inline std::string content(const std::string& path) { return read_text_file(path).content; }

inline std::multiset<std::string> keys(const std::string& path) {
  std::multiset<std::string> keys;
  for (const CostRow& row : load_cost_table(read_text_file(path)).rows) keys.insert(key_of(row));
  return keys;
}

/// An interpreter that takes the place of Python and torch.
struct FakePython {
  explicit FakePython(const TemporaryFolder& folder, const std::string& script) {
    const std::string path = folder.write("python", "#!/bin/sh\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    setenv("GRADCAST_PYTHON", path.c_str(), 1);
  }
  ~FakePython() { unsetenv("GRADCAST_PYTHON"); }
};

inline constexpr const char* kTorchGreets = "echo '{\"torch\": \"9.9\", \"device\": \"fake\"}'\n";

inline constexpr const char* kTorchAnswers =
    "echo '{\"encode\": [0.5, 0.6, 20], \"decode\": [[0.1, 0.2, 20]], \"selected\": 1, "
    "\"recall\": 1, \"variant\": \"\"}'\n";

}  // namespace gradcast::calibrating
