#include "sim/network/nccl_tables.hpp"

namespace gradcast::nccl_tables {

ByProtocol base_latency(const Library& library, NcclAlgorithm algorithm) {
  if (library.rccl != nullptr) return kRcclBase;
  const NcclVersion& version = library.version;
  switch (algorithm) {
    case NcclAlgorithm::Tree:
      if (!since(version, 18)) return {4.4, 4.4, 0};
      return {6.8, 14, since(version, 23) ? 8.4 : 0};
    case NcclAlgorithm::Ring:
    case NcclAlgorithm::P2p:
      return since(version, 18) ? ByProtocol{6.6, 14, 8.4} : ByProtocol{3.6, 10, 8.4};
    case NcclAlgorithm::Nvls:
    case NcclAlgorithm::NvlsTree:
      return {0, 0, since(version, 19) ? 0.0 : since(version, 18) ? 23.0 : 40.0};
    case NcclAlgorithm::Pat:
      return {0, 0, 8};
    case NcclAlgorithm::CollNetDirect:
    case NcclAlgorithm::CollNetChain:
      break;
  }
  return {};
}

ByProtocol latency_inside(const Library& library, NcclAlgorithm algorithm, bool nvlink) {
  if (library.rccl != nullptr)
    return nvlink ? library.rccl->of(algorithm).inside : kRcclInsideByPcie;
  const NcclVersion& version = library.version;
  const bool is_218 = since(version, 18) && !since(version, 19);
  switch (algorithm) {
    case NcclAlgorithm::Tree:
      if (nvlink) {
        if (!since(version, 18)) return {.52, 1.25, 28};
        return {.6, 1.25, is_218 || since(version, 23) ? 4.0 : 28.0};
      }
      return {1, 1.9, since(version, 23) ? 4.0 : is_218 ? 6.0 : 28.0};
    case NcclAlgorithm::Ring:
    case NcclAlgorithm::P2p:
      if (!nvlink) return {1, 2.5, 5.7};
      return since(version, 18) ? ByProtocol{.6, 1.9, 3.4} : ByProtocol{.47, 1.9, 3.4};
    case NcclAlgorithm::Nvls:
    case NcclAlgorithm::NvlsTree:
      return {0, 0, since(version, 21) ? 25.0 : since(version, 19) ? 23.0 : 0.0};
    case NcclAlgorithm::CollNetDirect:
      return {0, 0, since(version, 19) ? 3.7 : 8.0};
    case NcclAlgorithm::CollNetChain:
      return {0, 0, since(version, 19) ? 2.8 : is_218 && nvlink ? 4.75 : 8.0};
    case NcclAlgorithm::Pat:
      break;
  }
  return {};
}

ByProtocol latency_between(const Library& library, NcclAlgorithm algorithm) {
  if (library.rccl != nullptr) return library.rccl->of(algorithm).between;
  const NcclVersion& version = library.version;
  const bool is_218 = since(version, 18) && !since(version, 19);
  const bool is_212 = since(version, 12) && !since(version, 13);
  switch (algorithm) {
    case NcclAlgorithm::Tree:
      return {5, 8.5, is_218 || since(version, 23) ? 14.0 : since(version, 8) ? 28.0 : 50.0};
    case NcclAlgorithm::Ring:
    case NcclAlgorithm::P2p:
      return {2.7, 4, since(version, 18) ? 14.0 : is_212 ? 28.0 : 9.6};
    case NcclAlgorithm::Nvls:
      return {0, 0, 18};
    case NcclAlgorithm::NvlsTree:
      return {0, 0, since(version, 28, 9) ? 20.9 : since(version, 19) ? 14.0 : 19.0};
    case NcclAlgorithm::Pat:
      return {0, 0, 14 / kPatStepsAtOnce};
    case NcclAlgorithm::CollNetDirect:
      return {0, 0, since(version, 19) ? 31.0 : 10.7};
    case NcclAlgorithm::CollNetChain:
      return {0, 0, since(version, 19) ? 30.0 : is_218 ? 14.0 : 10.7};
  }
  return {};
}

double post_overhead(const NcclMachine& machine, NcclProtocol protocol) {
  if (machine.nodes == 1 || !since(machine.version, 18)) return 0;
  const double once = machine.cpu == HostCpu::Amd ? 2 : 1;
  return protocol == NcclProtocol::Simple ? 3 * once : once;
}

}  // namespace gradcast::nccl_tables
