#include "sim/import/imported.hpp"

namespace gradcast {

std::string to_string(ShapesFrom shapes) {
  switch (shapes) {
    case ShapesFrom::Recorded:
      return "recorded";
    case ShapesFrom::Inferred:
      return "inferred";
    case ShapesFrom::Given:
      return "given";
    case ShapesFrom::Unknown:
      break;
  }
  return "unknown";
}

}  // namespace gradcast
