#include <catch2/catch.hpp>
#include <vector>

#include "sim/lab/matrix_product.hpp"

using namespace gradcast::lab;

TEMPLATE_TEST_CASE("products with transposed factors are those of the definition", "[lab]", float,
                   double) {
  using Values = std::vector<TestType>;
  using Factors = std::vector<Factor<TestType>>;
  const int rows = 3;
  const int columns = 5;
  const int inner = 4;
  Values a(rows * inner);
  Values b(inner * columns);
  Values a_turned(a.size());
  Values b_turned(b.size());
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < inner; ++k) a[i * inner + k] = a_turned[k * rows + i] = i + 2 * k;
  for (int k = 0; k < inner; ++k)
    for (int j = 0; j < columns; ++j) b[k * columns + j] = b_turned[j * inner + k] = k - 3 * j;
  // Whole numbers: every order of additions gives the same.
  Values wanted(rows * columns, 0);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      for (int k = 0; k < inner; ++k)
        wanted[i * columns + j] += a[i * inner + k] * b[k * columns + j];
  const Factors lefts{{a.data()}, {a_turned.data(), true}};
  const Factors rights{{b.data()}, {b_turned.data(), true}};
  for (const auto& left : lefts)
    for (const auto& right : rights) {
      Values c(wanted.size(), 100);
      multiply(rows, columns, inner, left, right, c.data());
      CHECK(c == wanted);
      multiply(rows, columns, inner, left, right, c.data(), true);
      for (std::size_t i = 0; i < c.size(); ++i) CHECK(c[i] == 2 * wanted[i]);
    }
}
