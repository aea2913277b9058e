// Field numbers: et_def.proto of mlcommons/chakra.
#include <algorithm>
#include <array>

#include "sim/base/block_reader.hpp"
#include "sim/base/error.hpp"
#include "sim/import/execution/execution_trace.hpp"
#include "sim/import/protobuf_wire.hpp"

namespace gradcast {
namespace {

constexpr std::uint64_t kLongestMessage = std::uint64_t{1} << 24;
constexpr std::size_t kMostChakraNodes = 5'000'000;
constexpr std::size_t kMostDependencies = 1'000'000;

constexpr std::array kCollectiveNames = {
    "all-reduce", "reduce",     "all-gather",     "gather",         "scatter",
    "broadcast",  "all-to-all", "reduce-scatter", "reduce-scatter", "barrier"};

/// Bytes of a file one after another, whatever its blocks.
class ByteStream {
 public:
  explicit ByteStream(const std::filesystem::path& path) : reader_(path) {}

  /// False at the end of the file.
  bool next(unsigned char& byte) {
    if (at_ == block_.size()) {
      block_ = reader_.next();
      at_ = 0;
      if (block_.empty()) return false;
    }
    byte = static_cast<unsigned char>(block_[at_++]);
    ++place_;
    return true;
  }

  /// The next message without its size; false at the end of the file.
  bool next_message(std::string& message) {
    std::uint64_t size = 0;
    unsigned char byte = 0;
    for (int shift = 0;; shift += 7) {
      if (!next(byte)) {
        if (shift == 0) return false;
        throw failure("the file is cut off inside a size");
      }
      if (shift > 56) throw failure("a size of more than 9 bytes, so this is no Chakra trace");
      size |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) break;
    }
    if (size > kLongestMessage)
      throw failure("a message of " + std::to_string(size) + " bytes; the most is " +
                    std::to_string(kLongestMessage));
    message.clear();
    while (message.size() < size) {
      if (at_ == block_.size()) {
        block_ = reader_.next();
        at_ = 0;
        if (block_.empty()) throw failure("the file is cut off inside a message");
      }
      const std::size_t piece = std::min<std::size_t>(size - message.size(), block_.size() - at_);
      message.append(block_.substr(at_, piece));
      at_ += piece;
      place_ += piece;
    }
    return true;
  }

  DataError failure(const std::string& what) const {
    return {reader_.path(), 0, "byte " + std::to_string(place_) + ": " + what};
  }

 private:
  BlockReader reader_;
  std::string_view block_;
  std::size_t at_ = 0;
  std::size_t place_ = 0;
};

/// AttributeProto: a name, and one value in the field of its type.
struct Attribute {
  std::string name;
  std::int64_t number = 0;
  std::string text;
};

Attribute read_chakra_attribute(WireMessage proto) {
  constexpr std::uint64_t kLongestText = 1 << 16;
  Attribute attribute;
  while (proto.next()) {
    if (proto.field() == 1)
      attribute.name = proto.text(kLongestText);
    else if (proto.is_number())
      attribute.number = proto.integer();
    else if (proto.length() <= kLongestText)
      attribute.text = proto.text(kLongestText);
  }
  return attribute;
}

/// Types of nodes; the others compute.
constexpr std::int64_t kSend = 5;
constexpr std::int64_t kReceive = 6;
constexpr std::int64_t kCollective = 7;

ExecutionNode read_chakra_node(WireMessage proto) {
  ExecutionNode node;
  std::int64_t type = 0, collective = -1;
  bool host = false;
  std::string values, shapes;
  while (proto.next()) {
    switch (proto.field()) {
      case 1:
        node.id = proto.integer();
        break;
      case 2:
        node.name = proto.text(1 << 20);
        break;
      case 3:
        type = proto.integer();
        break;
      case 5:
        proto.append_to(node.data_deps, kMostDependencies);
        break;
      case 7:
        node.microseconds = proto.integer();
        break;
      case 8: {
        WireMessage inputs = proto.message();
        while (inputs.next()) {
          if (inputs.field() == 1) values = inputs.text(kLongestMessage);
          if (inputs.field() == 2) shapes = inputs.text(kLongestMessage);
        }
        break;
      }
      case 10: {
        const Attribute attribute = read_chakra_attribute(proto.message());
        if (attribute.name == "is_cpu_op") host = attribute.number != 0;
        if (attribute.name == "tid") node.thread = attribute.number;
        if (attribute.name == "seq_id") node.sequence = attribute.number;
        if (attribute.name == "fw_tid") node.forward_thread = attribute.number;
        if (attribute.name == "comm_type") collective = attribute.number;
        if (attribute.name == "pg_size") node.ranks = attribute.number;
        if (attribute.name == "comm_size") {
          node.bytes = attribute.number;
          node.sized = true;
        }
        break;
      }
      default:
        break;
    }
  }
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
  constexpr std::int64_t kMostMicroseconds = std::int64_t{1} << 40;  // 12 days
  if (node.microseconds < 0 || node.microseconds > kMostMicroseconds)
    throw proto.failure("node " + std::to_string(node.id) + " takes " +
                        std::to_string(node.microseconds) + " us");
  if (node.bytes < 0 || node.bytes > kMostBytes || node.ranks < 0 || node.ranks > 1'000'000)
    throw proto.failure("node " + std::to_string(node.id) + " hands over " +
                        std::to_string(node.bytes) + " bytes");
  if (type == kCollective) {
    node.kind = ExecutionNode::Kind::Collective;
    if (collective >= 0 && collective < static_cast<std::int64_t>(kCollectiveNames.size()))
      node.collective = kCollectiveNames[static_cast<std::size_t>(collective)];
    else
      node.sized = false;
  } else if (type == kSend || type == kReceive) {
    node.kind = ExecutionNode::Kind::PointToPoint;
  } else if (!host) {
    node.kind = ExecutionNode::Kind::Gpu;
  } else {
    append_tensors(values, shapes, node.tensors);
  }
  return node;
}

}  // namespace

bool is_chakra(std::string_view begin) {
  // A size, and then GlobalMetadata: a version (field 1) or an attribute (field 2) that names
  // itself.
  std::size_t at = 0;
  while (at < begin.size() && at < 4 && (static_cast<unsigned char>(begin[at]) & 0x80) != 0) ++at;
  ++at;
  return begin.size() > at + 4 && begin.substr(0, 64).find("schema") != std::string_view::npos &&
         (begin[at] == 0x0a || begin[at] == 0x12) && begin[0] != '{';
}

ExecutionTrace read_chakra(const std::filesystem::path& path) {
  ByteStream stream(path);
  ExecutionTrace trace;
  trace.file = path.string();
  trace.kind = "chakra";
  trace.timed = true;
  std::string message;
  if (!stream.next_message(message)) throw DataError(trace.file, 0, "the file is empty");
  ByteSource head_bytes(trace.file, message);
  WireMessage head(head_bytes);
  while (head.next()) {
    if (head.field() == 1 && head.is_bytes()) trace.schema = head.text(256);
    if (head.field() != 2 || !head.is_bytes()) continue;
    const Attribute attribute = read_chakra_attribute(head.message());
    if (attribute.name == "schema") trace.schema = attribute.text;
  }
  while (stream.next_message(message)) {
    if (trace.nodes.size() == kMostChakraNodes)
      throw DataError(trace.file, 0,
                      "has more than " + std::to_string(kMostChakraNodes) + " nodes");
    ByteSource bytes(trace.file, message);
    trace.nodes.push_back(read_chakra_node(WireMessage(bytes)));
  }
  if (trace.nodes.empty()) throw DataError(trace.file, 0, "has no nodes");
  return trace;
}

}  // namespace gradcast
