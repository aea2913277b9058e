// The trained initializers of an ONNX graph, each with the node that takes it.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/import/imported.hpp"
#include "sim/import/weights/onnx_graph.hpp"
#include "sim/import/weights/weight.hpp"

namespace gradcast {

/// Weights that a node takes, without those that a node before it took.
struct OnnxTaken {
  std::vector<Weight> weights;
  bool tied = false;      // it multiplies by a table of embeddings, turned
  bool hands_on = false;  // it only brings weights into another form, for the node behind it
};

/// Asked node by node, in the graph's order.
class OnnxWeights {
 public:
  /// The graph must outlive this object. `file` is its file.
  OnnxWeights(std::string file, OnnxGraph& graph) : file_(std::move(file)), graph_(graph) {}

  OnnxTaken take(const OnnxNode& node);

  /// Notes what was left out, and what was inferred.
  void say(ImportNotes& notes) const;

 private:
  enum class Role { Weight, Constant, Statistic, Mask };

  bool hands_on(const OnnxNode& node);
  bool is_own_vector(const OnnxNode& node, const std::string& from);
  std::vector<std::string> originals(const std::string& value) const;
  bool is_turned_table(const OnnxInitializer& matrix);
  static Role role_of(const OnnxNode& node, std::size_t place, const OnnxInitializer& tensor);
  std::string named(const std::string& name, const OnnxNode& node, std::size_t place);
  std::size_t never_taken() const;

  std::string file_;
  OnnxGraph& graph_;
  std::set<std::string> seen_;                                 // initializers that a node took
  std::map<std::string, std::vector<std::string>> originals_;  // of values in another form
  std::set<std::string> constants_;                            // what Constant nodes put out
  std::vector<std::string> tables_;                            // of embeddings
  std::set<std::string> better_names_;
  std::map<Role, int> dropped_;
  std::vector<std::string> unknown_;  // sentences
  int renamed_ = 0;
  int external_ = 0;
  int equal_ = 0;
};

}  // namespace gradcast
