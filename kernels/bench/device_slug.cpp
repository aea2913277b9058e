#include "kernels/bench/device_slug.hpp"

#include <cctype>

namespace gradcast {
namespace {

std::string without(std::string text, const std::string& word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word))
    text.erase(at, word.size());
  return text;
}

}  // namespace

std::string device_slug(std::string name) {
  name = name.substr(0, name.find('@'));
  for (const char* word : {"(R)", "(TM)", "(r)", "(tm)", " CPU", " Processor", "NVIDIA ", "Tesla ",
                           "GeForce ", "Quadro "})
    name = without(name, word);
  std::string slug;
  for (const char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0)
      slug += static_cast<char>(std::tolower(byte));
    else if (!slug.empty() && slug.back() != '-')
      slug += '-';
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug.empty() ? "device" : slug;
}

}  // namespace gradcast
