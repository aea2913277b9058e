#include "sim/base/text.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

TEST_CASE("a slip of the finger gets a suggestion, a different word none", "[text]") {
  const std::vector<std::string> models{"alexnet", "vgg-16", "resnet-50", "inception-v4"};
  CHECK(did_you_mean("resnet50", models) == "; did you mean 'resnet-50'?");   // one missing
  CHECK(did_you_mean("resent-50", models) == "; did you mean 'resnet-50'?");  // two swapped
  CHECK(did_you_mean("vgg16", models) == "; did you mean 'vgg-16'?");
  CHECK(did_you_mean("bert-large", models).empty());
  CHECK(did_you_mean("node", {"mode", "nodes"}) == "; did you mean 'nodes'?");
  CHECK(did_you_mean("node", {"mode", "modes"}) == "; did you mean 'mode'?");
  CHECK(did_you_mean("", models).empty());
}

TEST_CASE("splitting and joining are each other's inverse", "[text]") {
  CHECK(split_words("a,b,,c", ',') == std::vector<std::string>{"a", "b", "", "c"});
  CHECK(split_words("", ',') == std::vector<std::string>{""});
  CHECK(join(split_words("a,b,,c", ','), ",") == "a,b,,c");
  CHECK(join(split_words(",,a", ','), ",") == ",,a");
}

TEST_CASE("words are listed with 'and' before the last", "[text]") {
  CHECK(and_joined({}) == "");
  CHECK(and_joined({"a"}) == "a");
  CHECK(and_joined({"a", "b"}) == "a and b");
  CHECK(and_joined({"a", "b", "c"}) == "a, b and c");
}

TEST_CASE("numbers in names are ordered by their value", "[text]") {
  CHECK(natural_less("host2", "host10"));
  CHECK_FALSE(natural_less("host10", "host2"));
  CHECK(natural_less("host", "host1"));
  CHECK(natural_less("a2-b10", "a10-b2"));
  CHECK(natural_less("a01", "a1"));
  CHECK_FALSE(natural_less("a1", "a01"));
  CHECK_FALSE(natural_less("a1", "a1"));
  CHECK(natural_less("a99999999999999999999", "a100000000000000000000"));
}

TEST_CASE("a text becomes one line, whatever it holds", "[text]") {
  CHECK(one_line("a\nb\r\tc\x1b[31m") == "a b  c [31m");
  CHECK(one_line("gr\xc3\xb6\xc3\x9f"
                 "er") ==
        "gr\xc3\xb6\xc3\x9f"
        "er");
}
