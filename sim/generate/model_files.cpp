// `models/<model>.csv`, from the architectures.
#include "sim/generate/generated_file.hpp"
#include "sim/generate/networks.hpp"

namespace gradcast {

std::vector<GeneratedFile> model_files() {
  std::vector<GeneratedFile> files;
  for (const Network& network : all_networks())
    files.push_back({"models/" + network.name + ".csv",
                     model_csv(model_of(network.name, network.architecture),
                               {"Architecture: " + network.source + ".",
                                "forward_flops: of " + network.sample +
                                    ", 2 per multiply-accumulate; batch normalisation: one",
                                "  multiply-accumulate an element. They stand on a layer's first "
                                "tensor. Made by generate_data."})});
  return files;
}

}  // namespace gradcast
