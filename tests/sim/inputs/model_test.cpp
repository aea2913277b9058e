#include "sim/inputs/model.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;
using Catch::StartsWith;

namespace {

Model read(const std::string& text) { return load_model({"toy.csv", text}); }

}  // namespace

TEST_CASE("a model's tensors are fp32, of no unit and trained, where the file says nothing") {
  const Model model = read("layer,tensor,elements,forward_flops\na,a.w,10,20\n");
  CHECK(model.tensors[0].type == NumberType::Fp32);
  CHECK(model.tensors[0].unit.empty());
  CHECK(!model.tensors[0].frozen);
}

TEST_CASE("a model names the type, the unit and whether a tensor is frozen, and is written so") {
  const std::string text =
      "layer,tensor,elements,forward_flops,dtype,unit,frozen\n"
      "a,a.w,10,20,bf16,first,yes\n"
      "b,b.w,5,10,fp32,second,no\n";
  const Model model = read(text);
  CHECK(model.tensors[0].type == NumberType::Bf16);
  CHECK(model.tensors[1].unit == "second");
  CHECK(model.elements() == 15);
  CHECK(model.gradient_elements() == 5);  // a is frozen
  CHECK(model_csv(model, {}) == text);
}

TEST_CASE("a tensor's shape multiplies to its elements, and is written as it was read") {
  const std::string text =
      "layer,tensor,elements,forward_flops,shape\n"
      "a,a.w,24,20,2x3x4\n"
      "a,a.b,2,0,2\n";
  const Model model = read(text);
  CHECK(model.tensors[0].shape == std::vector<std::int64_t>{2, 3, 4});
  CHECK(model.has_shapes());
  CHECK(model_csv(model, {}) == text);
  CHECK_FALSE(read("layer,tensor,elements,forward_flops\na,a.w,24,20\n").has_shapes());
  const auto with = [](const std::string& shape) {
    return "layer,tensor,elements,forward_flops,shape\na,a.w,24,20," + shape + "\n";
  };
  CHECK_THROWS_WITH(read(with("2x3x5")), Contains("toy.csv:2: column 'shape': '2x3x5' is not the "
                                                  "shape of 24 elements"));
  for (const char* wrong : {"2x", "x", "2x-12", "24.0", "2X12", "0x24", "99999999999x1"})
    CHECK_THROWS_WITH(read(with(wrong)), Contains("is not a shape"));
  CHECK_THROWS_WITH(read(with("2147483647x2147483647x2147483647x24")),
                    Contains("is not the shape"));
}

TEST_CASE("a model says what its layers keep for backward, and is written so") {
  const std::string text =
      "layer,tensor,elements,forward_flops,dtype,unit,kept_elements,kept_bytes,unit_input\n"
      "a,a.w,10,20,bf16,first,100,8,50\n"
      "a,a.b,2,0,bf16,first,0,0,0\n";
  const Model model = read(text);
  CHECK(model.tensors[0].kept_elements == 100);
  CHECK(model.tensors[0].kept_bytes == 8);
  CHECK(model.tensors[0].unit_input == 50);
  CHECK(model.tensors[0].activation_type == NumberType::Bf16);
  CHECK(model.has_activations());
  CHECK(model_csv(model, {}) == text);
  CHECK_FALSE(read("layer,tensor,elements,forward_flops\na,a.w,24,20\n").has_activations());
  CHECK_THROWS_WITH(read("layer,tensor,elements,forward_flops,kept_elements\na,a.w,24,20,-1\n"),
                    Contains("toy.csv:2: column 'kept_elements'"));
}

TEST_CASE("a model has the bytes of its layers' buffers, and is written so") {
  const std::string text =
      "layer,tensor,elements,forward_flops,buffer_bytes,counter_bytes\n"
      "bn1,bn1.w,10,20,80,8\n"
      "bn1,bn1.b,10,0,0,0\n"
      "bn2,bn2.w,5,10,40,8\n";
  const Model model = read(text);
  CHECK(model.buffers() == std::vector{Bytes{120}, Bytes{16}});
  CHECK(model_csv(model, {}) == text);
  CHECK(read("layer,tensor,elements,forward_flops\na,a.w,24,20\n").buffers().empty());
  CHECK(read("layer,tensor,elements,forward_flops,counter_bytes\na,a.w,24,20,8\n").buffers() ==
        std::vector{Bytes{8}});
  CHECK_THROWS_WITH(read("layer,tensor,elements,forward_flops,buffer_bytes\na,a.w,24,20,-1\n"),
                    Contains("toy.csv:2: column 'buffer_bytes'"));
}

TEST_CASE("rows of a unit follow one another") {
  CHECK_THROWS_WITH(read("layer,tensor,elements,forward_flops,unit\n"
                         "a,a.w,1,0,x\nb,b.w,1,0,y\nc,c.w,1,0,x\n"),
                    Contains("toy.csv:4: column 'unit': 'x' stands further up too"));
  CHECK_THROWS_WITH(read("layer,tensor,elements,forward_flops,unit\na,a.w,1,0,x\nb,b.w,1,0,\n"),
                    Contains("name one in every row or in none"));
}

TEST_CASE("types of numbers have PyTorch's names too") {
  CHECK(parse_number_type("torch.bfloat16") == NumberType::Bf16);
  CHECK(parse_number_type("half") == NumberType::Fp16);
  CHECK(parse_number_type("float32") == NumberType::Fp32);
  CHECK_THROWS_WITH(parse_number_type("torch.int8"),
                    StartsWith("unknown type of numbers 'torch.int8' (known: fp32, tf32, fp16"));
}

TEST_CASE("a type that no tensor is kept in is refused") {
  CHECK_THROWS_WITH(read("layer,tensor,elements,forward_flops,dtype\na,a.w,1,0,tf32\n"),
                    Contains("toy.csv:2: column 'dtype': 'tf32' is a type of products"));
}

TEST_CASE("a model whose tensors are all frozen has nothing to train") {
  CHECK_THROWS_AS(read("layer,tensor,elements,forward_flops,frozen\na,a.w,1,0,yes\n"), DataError);
}
