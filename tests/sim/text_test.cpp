#include "sim/text.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

TEST_CASE("a slip of the finger gets a suggestion, a different word none", "[text]") {
  const std::vector<std::string> models{"alexnet", "vgg-16", "resnet-50", "inception-v4"};
  CHECK(did_you_mean("resnet50", models) == "; did you mean 'resnet-50'?");   // one missing
  CHECK(did_you_mean("resent-50", models) == "; did you mean 'resnet-50'?");  // two swapped
  CHECK(did_you_mean("vgg16", models) == "; did you mean 'vgg-16'?");
  CHECK(did_you_mean("bert-large", models).empty());
  CHECK(did_you_mean("", models).empty());
}

TEST_CASE("splitting and joining are each other's inverse", "[text]") {
  CHECK(split_words("a,b,,c", ',') == std::vector<std::string>{"a", "b", "", "c"});
  CHECK(split_words("", ',') == std::vector<std::string>{""});
  CHECK(join(split_words("a,b,,c", ','), ",") == "a,b,,c");
}
