// Known terms of stacks that nobody measured.
#include "sim/population/known_terms.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

constexpr const char* kHeader = "stacks,property,compressor,value,deviation,seen,source\n";

std::vector<KnownTerm> known(const std::string& rows) {
  return load_known_terms({"stack-known.csv", kHeader + rows});
}

/// A stack as measured ones are: 20 % of slowdown seen at one call, a NIC of which 80 % is reached.
Stack stack_of(const std::string& name) {
  Stack stack = load_stack({"stack.csv",
                            "property,value,deviation,source,seen\n"
                            "communication_slowdown,20%,50%,others,calls=1\n"
                            "nic_share,80%,60%,others,\n"});
  stack.name = name;
  return stack;
}

const StackTerm* term_of(const Stack& stack, const std::string& name) {
  for (const StackTerm& term : stack.terms)
    if (term.name() == name) return &term;
  return nullptr;
}

}  // namespace

TEST_CASE("a term that the transport rules out is not in the stack, which says why",
          "[population]") {
  Stack stack = stack_of("ddp-gloo");
  const auto sentences =
      apply_known(stack, known("gloo,communication_slowdown,,no,,,no kernels.\n"));
  CHECK(sentences == std::vector<std::string>{"Without communication_slowdown: no kernels."});
  CHECK(term_of(stack, "communication_slowdown") == nullptr);
  CHECK(term_of(stack, "nic_share") != nullptr);
}

TEST_CASE("a row that is of no stack, or of all by a slip, is refused", "[population]") {
  for (const char* stacks : {"gloo+", "+gloo", "a++b"})
    CHECK_THROWS_WITH(
        known(std::string(stacks) + ",nic_share,,80%,30%,,x\n"),
        Contains("stack-known.csv:2: column 'stacks': ") && Contains("an empty part"));
  const auto rows = known("gloo,nic_share,,80%,30%,,x\nglooo+mpich,nic_share,,80%,30%,,x\n");
  CHECK_THROWS_WITH(require_stacks_of(rows, {"ddp-gloo", "paper"}),
                    Contains("stack-known.csv:3: ") &&
                        Contains("'glooo+mpich' is part of no stack's name (ddp-gloo, paper)"));
}

TEST_CASE("a term keeps its value and holds only where its own kind of stack has seen it",
          "[population]") {
  Stack stack = stack_of("ddp-gloo");
  CHECK(
      apply_known(stack, known("gloo,nic_share,,,,nic=1Gbps..10Gbps,the host's memory\n")).empty());
  const StackTerm* term = term_of(stack, "nic_share");
  CHECK(term->quantity->text(term->value, 3) == "80%");
  CHECK(term->deviation == Approx(0.6));
  CHECK(to_text(term->seen) == "nic=1Gbps..10Gbps");
  CHECK(term->source == "the host's memory");
}

TEST_CASE("a published value takes the place of what others say, wherever they saw it",
          "[population]") {
  Stack stack = stack_of("ddp-gloo");
  apply_known(stack, known("mpi+gloo,communication_slowdown,,5%,30%,,x\n"
                           "gloo,per_tensor_overhead,,15us,70%,,y\n"));
  const StackTerm* slowdown = term_of(stack, "communication_slowdown");
  CHECK(slowdown->value == Approx(0.05));
  CHECK(slowdown->deviation == Approx(0.3));
  CHECK(slowdown->seen.empty());
  CHECK(term_of(stack, "per_tensor_overhead")->value == Approx(15e-6));  // it was not there
}

TEST_CASE("what is known of a stack changes no other", "[population]") {
  Stack stack = stack_of("ddp-nccl");
  const auto sentences = apply_known(stack, known("gloo,communication_slowdown,,no,,,x\n"
                                                  "gloo,nic_share,,,,nic=1Gbps,x\n"));
  CHECK(sentences.empty());
  CHECK(stack.terms.size() == 2);
  CHECK(term_of(stack, "nic_share")->seen.empty());
}

TEST_CASE("a measured stack gains the costs of compressors that no run had, and keeps the others",
          "[population]") {
  Stack stack = stack_of("ddp-nccl");
  apply_known(stack,
              known("nccl,encode_per_call,fp16,60us,100%,,x\n"
                    "nccl,nic_share,,90%,10%,,x\n"),
              true);
  CHECK(term_of(stack, "encode_per_call of fp16")->value == Approx(60e-6));
  CHECK(term_of(stack, "nic_share")->quantity->text(term_of(stack, "nic_share")->value, 3) ==
        "80%");
  apply_known(stack, known("nccl,encode_per_call,fp16,90us,100%,,x\n"), true);
  CHECK(term_of(stack, "encode_per_call of fp16")->value == Approx(60e-6));  // as it was
}

TEST_CASE("what is wrong with a list of known terms is named", "[population]") {
  CHECK_THROWS_WITH(known("gloo,nic_share,,,,,x\n"), Contains("a value, 'no', or what was seen"));
  CHECK_THROWS_WITH(known("gloo,nic_share,,no,,nic=1Gbps,x\n"),
                    Contains("a value, 'no', or what was seen"));
  CHECK_THROWS_WITH(known("gloo,nic_share,,80%,,,x\n"), Contains("column 'deviation'"));
  CHECK_THROWS_WITH(known("gloo,nic_share,,80%,400%,,x\n"), Contains("at most 300%"));
  CHECK_THROWS_WITH(known("gloo,nic_share,,100%,10%,,x\n"), Contains("is above 0"));
  CHECK_THROWS_WITH(known("gloo,nic_share,,,,wire=1,x\n"), Contains("column 'seen'"));
  CHECK_THROWS_WITH(known("gloo,nic_bandwidth,,1Gbps,10%,,x\n"), Contains("is the hardware's"));
  CHECK_THROWS_WITH(known(",nic_share,,no,,,x\n"), Contains("column 'stacks'"));
}

// A measured stack keeps what its runs show, and gains what none of them used.
TEST_CASE("a measured stack gains what is known of another implementation", "[population]") {
  Stack stack = load_stack({"stack.csv",
                            "property,value,deviation,source,compressor,implementation\n"
                            "encode_per_call,7ms,90%,16 runs,topk,torch\n"});
  stack.name = "paper";
  apply_known(stack,
              load_known_terms({"stack-known.csv",
                                "stacks,property,compressor,value,deviation,seen,source,"
                                "implementation\npaper,encode_per_call,,200us,100%,,hooks,"
                                "gradcast-cuda\npaper,encode_per_call,topk,1ms,9%,,x,torch\n"}),
              true);
  CHECK(term_of(stack, "encode_per_call of topk by torch")->value == Approx(7e-3));
  CHECK(term_of(stack, "encode_per_call by gradcast-cuda")->value == Approx(200e-6));
}
