#include "sim/inputs/model.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

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

TEST_CASE("rows of a unit follow one another") {
  CHECK_THROWS_WITH(read("layer,tensor,elements,forward_flops,unit\n"
                         "a,a.w,1,0,x\nb,b.w,1,0,y\nc,c.w,1,0,x\n"),
                    Contains("toy.csv:4: column 'unit': 'x' stands further up too"));
  CHECK_THROWS_WITH(read("layer,tensor,elements,forward_flops,unit\na,a.w,1,0,x\nb,b.w,1,0,\n"),
                    Contains("name one in every row or in none"));
}

TEST_CASE("a type that no tensor is kept in is refused") {
  CHECK_THROWS_WITH(read("layer,tensor,elements,forward_flops,dtype\na,a.w,1,0,tf32\n"),
                    Contains("toy.csv:2: column 'dtype': 'tf32' is a type of products"));
}

TEST_CASE("a model whose tensors are all frozen has nothing to train") {
  CHECK_THROWS_AS(read("layer,tensor,elements,forward_flops,frozen\na,a.w,1,0,yes\n"), DataError);
}
