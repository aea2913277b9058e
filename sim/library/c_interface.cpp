// The C interface of include/gradcast/gradcast.h, over the commands. No exception leaves it.
#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <string>

#include "gradcast/gradcast.h"
#include "sim/answers/version.hpp"
#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/cli.hpp"
#include "sim/library/call.hpp"

#define GRADCAST_EXPORT extern "C" __attribute__((visibility("default")))

struct gradcast_forecaster {
  gradcast::DataFiles files;
};

namespace {

using gradcast::Error;
using gradcast::ExitCode;

/// Hands on to C functions what a command says.
class Told : public gradcast::Caller {
 public:
  explicit Told(const gradcast_listener* listener)
      : to_(listener != nullptr ? *listener : gradcast_listener{}) {}

  void answer(std::string_view text) override {
    if (to_.answer != nullptr) to_.answer(to_.user, text.data(), text.size());
  }
  void note(const std::string& line) override {
    if (to_.note != nullptr) to_.note(to_.user, line.c_str());
  }
  void progress(std::size_t done, std::size_t all, const std::string& what) override {
    if (to_.progress != nullptr) to_.progress(to_.user, done, all, what.c_str());
  }
  bool stopped() override { return to_.stopped != nullptr && to_.stopped(to_.user) != 0; }
  void error(const std::string& line) {
    if (to_.error != nullptr) to_.error(to_.user, line.c_str());
  }

 private:
  gradcast_listener to_;
};

/// Calls `work`, which returns an exit code. What it throws becomes a line and a code.
int guarded(const gradcast_listener* listener, const std::function<int(Told&)>& work) {
  Told told(listener);
  try {
    return work(told);
  } catch (const std::exception& thrown) {
    const std::optional<Error> error = gradcast::as_error(thrown);
    told.error(error ? std::string(error->what())
                     : "internal error: " + gradcast::one_line(thrown.what()));
    return static_cast<int>(error ? error->code() : ExitCode::Failure);
  }
}

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

GRADCAST_EXPORT const char* gradcast_version() {
  static const std::string version = gradcast::program_version();
  return version.c_str();
}

GRADCAST_EXPORT gradcast_forecaster* gradcast_open(const char* data_folder,
                                                   const gradcast_listener* listener) {
  gradcast_forecaster* opened = nullptr;
  guarded(listener, [&](Told&) {
    opened = new gradcast_forecaster{gradcast::library_files(text_or_empty(data_folder))};
    return 0;
  });
  return opened;
}

GRADCAST_EXPORT void gradcast_close(gradcast_forecaster* forecaster) { delete forecaster; }

GRADCAST_EXPORT int gradcast_changed(const gradcast_forecaster* forecaster) {
  return guarded(nullptr, [&](Told&) { return forecaster->files.changed() ? 1 : 0; });
}

GRADCAST_EXPORT int gradcast_add(const gradcast_forecaster* forecaster, const char* name,
                                 const char* text, size_t bytes,
                                 const gradcast_listener* listener) {
  return guarded(listener, [&](Told&) {
    gradcast::DataFiles files = forecaster->files.beside();
    files.provide(text_or_empty(name), std::string(text, bytes));
    return 0;
  });
}

GRADCAST_EXPORT int gradcast_run(const gradcast_forecaster* forecaster, const char* command,
                                 const char* const* settings, size_t pairs,
                                 const char* const* words, size_t word_count,
                                 const gradcast_listener* listener) {
  return guarded(listener, [&](Told& told) {
    gradcast::Call call{text_or_empty(command), {}, {}};
    for (size_t i = 0; i < pairs; ++i)
      call.settings.emplace_back(settings[2 * i], settings[2 * i + 1]);
    call.words.assign(words, words + word_count);
    return gradcast::run_call(call, forecaster->files, told);
  });
}

GRADCAST_EXPORT int gradcast_main(int argc, const char* const* argv, const char* data_folder) {
  return guarded(nullptr, [&](Told&) {
    if (const std::string folder = text_or_empty(data_folder); !folder.empty())
      gradcast::DataFiles::set_standard_folder(folder);
    // Python's launcher, which scripts of a job array start.
    if (argc > 0 && std::filesystem::path(argv[0]).is_absolute())
      gradcast::set_own_program(argv[0]);
    return gradcast::run_cli(argc, argv);
  });
}
