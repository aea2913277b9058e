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

TEST_CASE("a known name is suggested in any case, and with its parts in any order", "[text]") {
  const std::vector<std::string> known{"topk", "randk",   "fp16",      "bf16",
                                       "qsgd", "signsgd", "efsignsgd", "powersgd"};
  const auto suggested = [&](const char* typed) { return did_you_mean(typed, known); };
  CHECK(suggested("PowerSGD") == "; did you mean 'powersgd'?");
  CHECK(suggested("TopK") == "; did you mean 'topk'?");
  CHECK(suggested("signsgd-ef") == "; did you mean 'efsignsgd'?");  // all parts before one of them
  CHECK(suggested("randomk") == "; did you mean 'randk'?");
  CHECK(suggested("Random_K") == "; did you mean 'randk'?");
  CHECK(suggested("fp16_compress_hook") == "; did you mean 'fp16'?");
  CHECK(suggested("batched_powerSGD_hook") == "; did you mean 'powersgd'?");
  CHECK(did_you_mean("all-reduce-ring", {"ring", "ring-all-reduce"}) ==
        "; did you mean 'ring-all-reduce'?");
  CHECK(did_you_mean("gpu-hours", {"gpu"}).empty());  // three letters are part of much
}

TEST_CASE("what others call a thing is suggested, and a number that one name has", "[text]") {
  const std::vector<std::string> kinds{"unknown", "infiniband", "roce", "efa", "tcp"};
  CHECK(did_you_mean("IB", kinds) == "; did you mean 'infiniband'?");
  CHECK(did_you_mean("ethernet", kinds) == "; did you mean 'tcp'?");
  CHECK(did_you_mean("rocev2", kinds) == "; did you mean 'roce'?");
  CHECK(did_you_mean("none", {"dense", "topk"}) == "; did you mean 'dense'?");
  CHECK(did_you_mean("none", {"topk", "fp16"}).empty());
  CHECK(did_you_mean("3090", {"rtx-3090", "rtx-4090"}) == "; did you mean 'rtx-3090'?");
  CHECK(did_you_mean("101", {"resnet-101", "resnext-101"}).empty());  // one or the other
  CHECK(did_you_mean("16", {"vgg-16", "resnet-50"}).empty());
}

// Six of the letters are every stack's: a third of "paddle" is two, and "paper" is four away.
TEST_CASE("letters that all known names begin with do not make them alike", "[text]") {
  CHECK(did_you_mean("stack-paddle", {"stack-paper", "stack-nccl"}).empty());
  CHECK(did_you_mean("stack-papper", {"stack-paper", "stack-nccl"}) ==
        "; did you mean 'stack-paper'?");
}

// "h100" has one digit less than "h1000", "rtx-4090" two in each other's place.
TEST_CASE("another number is no slip of the finger", "[text]") {
  CHECK(did_you_mean("resnet-18", {"resnet-101", "resnet-50"}).empty());
  CHECK(did_you_mean("resnet-51", {"resnet-50", "lenet-5"}).empty());
  CHECK(did_you_mean("a800", {"a100", "a10g"}).empty());
  CHECK(did_you_mean("p40", {"a40", "p100"}).empty());
  CHECK(did_you_mean("h1000", {"h100", "h200"}) == "; did you mean 'h100'?");
  CHECK(did_you_mean("rtx-4900", {"rtx-3090", "rtx-4090"}) == "; did you mean 'rtx-4090'?");
  CHECK(did_you_mean("trace-resnet-50-v10", {"trace-resnet-50-v100", "trace-resnet-50-a100"}) ==
        "; did you mean 'trace-resnet-50-v100'?");
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
