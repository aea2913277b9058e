#include "sim/import/kineto/recording.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/import/kineto/event.hpp"

namespace gradcast::kineto {
namespace {

/// Most items kept of one file, at most 100 bytes each. A profiler that ran for a minute keeps
/// fewer.
constexpr std::size_t kMostKept = 6'000'000;
/// Different names. PyTorch has some thousands of operators.
constexpr std::size_t kMostNames = 200'000;
constexpr std::size_t kLongestName = 200;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// "ConvolutionBackward0", not "aten::convolution_backward".
bool names_backward_node(std::string_view name) {
  if (name.starts_with("autograd::engine::evaluate_function: ")) return true;
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0)
    name.remove_suffix(1);
  return name.ends_with("Backward") && !name.starts_with("aten::");
}

/// True for calls that put work on a GPU; the others only ask or wait.
bool launches_work(std::string_view name) {
  return contains(name, "Launch") || contains(name, "Memcpy") || contains(name, "Memset");
}

CollectiveKind kind_of(std::string_view text) {
  std::string word;  // "_allgather_base", "AllGather", "all_gather" are alike
  for (const char letter : text)
    if (std::isalpha(static_cast<unsigned char>(letter)) != 0)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  constexpr std::array<std::pair<std::string_view, CollectiveKind>, 9> kKinds = {{
      {"allreduce", CollectiveKind::AllReduce},
      {"reducescatter", CollectiveKind::ReduceScatter},
      {"allgather", CollectiveKind::AllGather},
      {"alltoall", CollectiveKind::AllToAll},
      {"broadcast", CollectiveKind::Broadcast},
      {"reduce", CollectiveKind::Reduce},
      {"sendrecv", CollectiveKind::SendReceive},
      {"send", CollectiveKind::SendReceive},
      {"recv", CollectiveKind::SendReceive},
  }};
  for (const auto& [part, kind] : kKinds)
    if (contains(word, part)) return kind;
  return CollectiveKind::Other;
}

bool is_collective_kernel(std::string_view name) {
  return name.starts_with("nccl") || contains(name, "ncclDevKernel") ||
         contains(name, "ncclKernel") || name.starts_with("rccl");
}

/// A type as the trace names it.
struct ElementType {
  std::string_view name;
  int bytes = 0;  // 0: not known
  bool whole_numbers = false;
};

ElementType element_type(std::string_view name) {
  constexpr std::array<ElementType, 13> kTypes = {{
      {"Float", 4},
      {"Half", 2},
      {"BFloat16", 2},
      {"Double", 8},
      {"Long", 8, true},
      {"Int", 4, true},
      {"Char", 1, true},
      {"Byte", 1, true},
      {"Bool", 1, true},
      {"Short", 2, true},
      {"Float8_e4m3fn", 1},
      {"Float8_e5m2", 1},
      {"Uint8", 1, true},
  }};
  for (const ElementType& type : kTypes)
    if (type.name == name) return type;
  return {name};
}

class Recorder {
 public:
  explicit Recorder(Recording& recording) : its_(recording) {}

  void take(const Event& event) {
    ++its_.events;
    switch (event.category) {
      case Category::Kernel:
      case Category::Memcpy:
      case Category::Memset:
        take_gpu(event);
        break;
      case Category::Runtime:
        if (event.correlation >= 0 && launches_work(event.name))
          keep(its_.launches, Launch{event.correlation, event.start, thread_of(event)});
        break;
      case Category::Operator:
        if (event.name.starts_with("ProfilerStep#"))
          take_annotation(event);  // as old traces have it
        else
          take_operator(event);
        break;
      case Category::Annotation:
        take_annotation(event);
        break;
      case Category::Other:
        break;
    }
  }

 private:
  template <class List, class Item>
  void keep(List& list, const Item& item) {
    if (++kept_ > kMostKept)
      throw DataError(its_.file, 0,
                      "has more than " + std::to_string(kMostKept) +
                          " kernels, launches and operators; profile fewer steps");
    list.push_back(item);
  }

  std::uint32_t number_of(Names& names, std::string_view text) {
    const std::uint32_t number = names.number_of(text.substr(0, kLongestName));
    if (names.size() > kMostNames)
      throw DataError(its_.file, 0,
                      "has more than " + std::to_string(kMostNames) +
                          " different operators, threads or streams, as no training run has");
    return number;
  }

  std::uint32_t joined(Names& names, std::string_view first, std::string_view second) {
    words_.assign(first);
    words_ += ' ';
    words_ += second;
    return number_of(names, words_);
  }

  std::uint32_t thread_of(const Event& event) {
    return joined(its_.threads, event.process, event.thread);
  }

  void take_gpu(const Event& event) {
    GpuOperation operation;
    operation.start = event.start;
    operation.end = event.start + event.duration;
    operation.correlation = event.correlation;
    operation.stream = joined(its_.streams, event.process, event.thread);
    operation.is_copy = event.category == Category::Memcpy;
    operation.size = event.category == Category::Kernel
                         ? elementwise_elements(event.name, event.blocks, event.threads)
                         : event.bytes;
    if (event.category == Category::Kernel) {
      if (std::find(its_.devices.begin(), its_.devices.end(), event.device) == its_.devices.end() &&
          its_.devices.size() < 64)
        its_.devices.push_back(event.device);
      if (is_collective_kernel(event.name)) {
        operation.collective = static_cast<std::int32_t>(its_.collectives.size());
        const ElementType type = element_type(event.element_type);
        its_.collectives.push_back(
            {kind_of(event.collective.empty() ? event.name : event.collective), event.elements_in,
             type.bytes, event.group_size, number_of(its_.names, event.group), type.whole_numbers});
      }
    }
    keep(its_.gpu, operation);
  }

  void take_annotation(const Event& event) {
    if (contains(event.name, "nccl:all_to_all")) its_.on_host_to_all = true;
    const auto keep_operator = [&](OperatorKind kind) {
      keep(its_.operators, Operator{event.start, event.start + event.duration, -1, -1,
                                    number_of(its_.names, event.name), thread_of(event), kind});
    };
    if (event.name.starts_with("Optimizer.step"))
      keep_operator(OperatorKind::OptimizerStep);
    else if (event.name.starts_with("Optimizer.zero_grad"))
      keep_operator(OperatorKind::ZeroGradients);
    else
      keep(its_.annotations, Annotation{event.start, event.start + event.duration,
                                        number_of(its_.names, event.name), thread_of(event)});
  }

  void take_operator(const Event& event) {
    Operator kept{event.start, event.start + event.duration, event.sequence, -1, 0,
                  0,           OperatorKind::Forward};
    const std::string_view name = event.name;
    if (name == "torch::autograd::AccumulateGrad" ||
        name == "struct torch::autograd::AccumulateGrad") {
      kept.kind = OperatorKind::AccumulateGrad;
      kept.elements = elements_of_dims(event.dims);
    } else if (contains(name, "AccumulateGrad")) {
      return;  // around it
    } else if (names_backward_node(name)) {
      kept.kind = OperatorKind::Backward;
    } else if (contains(name, "reducer::mul_out")) {
      kept.kind = OperatorKind::MulOut;
    } else if (contains(name, "copy_bucket_to_grad")) {
      kept.kind = OperatorKind::CopyBack;
    } else if (name.starts_with("c10d::allreduce_")) {
      kept.kind = OperatorKind::AllReduce;
    } else if (name.starts_with("Optimizer.step")) {
      kept.kind = OperatorKind::OptimizerStep;  // as old traces have it
    } else if (name.starts_with("Optimizer.zero_grad")) {
      kept.kind = OperatorKind::ZeroGradients;
    } else if (event.sequence >= 0) {
      // The first input of an embedding is its table, the second the indices to look up.
      kept.elements = first_of_dims(event.dims, contains(name, "embedding") ? 1 : 0);
    } else if (const bool multiplies = name == "aten::mul_" || name == "aten::_foreach_mul_";
               multiplies || name == "aten::add_" || name == "aten::_foreach_add_") {
      keep(its_.in_place, InPlace{event.start, thread_of(event), multiplies});
      return;
    } else {
      return;
    }
    kept.name = number_of(its_.names, name);
    kept.thread = thread_of(event);
    keep(its_.operators, kept);
  }

  Recording& its_;
  std::size_t kept_ = 0;
  std::string words_;
};

}  // namespace

std::uint32_t Names::number_of(std::string_view text) {
  if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(texts_.size());
  const auto added = numbers_.emplace(std::string(text), number).first;
  texts_.push_back(&added->first);  // a map's entries stay where they are
  return number;
}

std::string to_string(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::AllReduce:
      return "all-reduce";
    case CollectiveKind::Broadcast:
      return "broadcast";
    case CollectiveKind::AllGather:
      return "all-gather";
    case CollectiveKind::ReduceScatter:
      return "reduce-scatter";
    case CollectiveKind::Reduce:
      return "reduce";
    case CollectiveKind::AllToAll:
      return "all-to-all";
    case CollectiveKind::SendReceive:
      return "send and receive";
    case CollectiveKind::Other:
    case CollectiveKind::None:
      break;
  }
  return "other";
}

Recording read_recording(const std::filesystem::path& path, const ReadEvents& read) {
  Recording recording;
  recording.file = path.string();
  Recorder recorder(recording);
  recording.head = read(path, [&](const Event& event) { recorder.take(event); });
  return recording;
}

}  // namespace gradcast::kineto
