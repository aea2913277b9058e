#include "kernels/emulator/memory.hpp"

#include <cstring>
#include <new>

namespace gradcast::emulator {
namespace {

constexpr std::align_val_t kAlignment{256};
constexpr int kGarbage = 0xA5;

std::map<std::byte*, std::size_t> in_use;

}  // namespace

void* allocate(std::size_t bytes) {
  const std::size_t whole = (bytes + 3) / 4 * 4;
  void* memory = ::operator new(whole, kAlignment);
  std::memset(memory, kGarbage, whole);
  if (whole > 0) in_use[static_cast<std::byte*>(memory)] = whole;
  return memory;
}

void release(void* memory) {
  in_use.erase(static_cast<std::byte*>(memory));
  ::operator delete(memory, kAlignment);
}

const std::map<std::byte*, std::size_t>& memory_in_use() { return in_use; }

}  // namespace gradcast::emulator
