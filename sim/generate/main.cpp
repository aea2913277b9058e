// `generate_data FOLDER` writes the generated data files below FOLDER, which holds the profiles
// they are made from. A test holds the committed files against it.
#include <cstdio>
#include <exception>
#include <string>

#include "sim/base/interruption.hpp"
#include "sim/base/text_file.hpp"
#include "sim/generate/generated_file.hpp"

int main(int argc, char** argv) {
  using namespace gradcast;
  if (argc != 2) {
    std::fputs("usage: generate_data FOLDER   (the one that holds models/ and traces/)\n", stderr);
    return 2;
  }
  end_when_interrupted("generate_data:");
  try {
    for (const GeneratedFile& file : all_generated_files(argv[1])) {
      write_text_file(std::filesystem::path(argv[1]) / file.path, file.content);
      std::printf("%s\n", file.path.c_str());
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "generate_data: %s\n", error.what());
    return 1;
  }
}
