// room: engine
// words: sim/engine/platform_size.cpp sim/engine/xml_tags.cpp
// longest: 2048
// The tags and the size of a SimGrid platform, which are read before SimGrid reads the file.

#include "sim/engine/platform_size.hpp"
#include "sim/engine/xml_tags.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const TextFile file = text_file(bytes, "platform.xml");
  XmlTags tags(file);
  XmlTag tag;
  std::size_t line = 1;
  while (tags.next(tag)) {
    require(!tag.name.empty() && tag.line >= line, "tags have names and come in their order");
    line = tag.line;
  }
  require_small_platform(file);
}

const Harness harness("platform_xml", read);

}  // namespace
}  // namespace gradcast::fuzz
