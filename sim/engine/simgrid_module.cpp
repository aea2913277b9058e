#include "sim/engine/simgrid_module.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/text.hpp"

#ifdef GRADCAST_SIMGRID_FOLDER
#include <dlfcn.h>
#endif

namespace gradcast {
namespace {

#ifdef GRADCAST_SIMGRID_FOLDER

namespace fs = std::filesystem;

constexpr const char* kModule = "libgradcast_simgrid.so";

/// The module's file: beside the library that this is a part of, or where that one's is installed;
/// beside the program, as in a build folder, or where that one's is installed.
fs::path module_file() {
  const fs::path program = own_program().parent_path();
  std::vector<fs::path> folders;
  if (const fs::path library = folder_of_code(); !library.empty() && library != program)
    folders = {library, library / "gradcast"};  // within Python the program is Python's
  folders.push_back(program);
  folders.push_back((program / GRADCAST_SIMGRID_FOLDER).lexically_normal());
  std::vector<std::string> sought;
  for (const fs::path& folder : folders) {
    if (entry_at(folder / kModule) == Entry::File) return folder / kModule;
    sought.push_back(folder.string());
  }
  throw MissingError(std::string(kModule) + ", through which SimGrid runs, is in none of " +
                     join(sought) + "; install it again, or choose another --engine");
}

const SimgridModule* open_module() {
  const std::string file = module_file().string();
  // Never closed: SimGrid leaves things to be done when the process ends. Local: the module has its
  // own copies of what it shares with the program.
  void* const module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = module == nullptr ? nullptr : ::dlsym(module, "gradcast_simgrid");
  if (found == nullptr) throw MissingError("SimGrid cannot be opened: " + std::string(::dlerror()));
  return reinterpret_cast<decltype(&gradcast_simgrid)>(found)();
}

#else

const SimgridModule* open_module() {
  throw MissingError(
      "this build lacks SimGrid (Debian: libsimgrid-dev, then configure with -DWITH_SIMGRID=ON)");
}

#endif

}  // namespace

const SimgridModule& simgrid_module() {
  static const SimgridModule* const module = open_module();
  return *module;
}

SimgridVersion simgrid_version() {
  try {
    return simgrid_module().version();
  } catch (const MissingError&) {
    return {};
  }
}

}  // namespace gradcast
