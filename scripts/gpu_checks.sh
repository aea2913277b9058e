# The requirements of a machine whose GPU is to be measured. Each thing that is missing gets one line: what was found,
# and what would be right. Sourced by scripts/measure-gpu; not a command.
# shellcheck shell=bash disable=SC2034  # which uses what is set here

missing=0
lacks() {
  echo "measure-gpu: $1" >&2
  missing=1
}

# Succeeds where `version` $1 is at least $2.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# The first GPU's name, and the compute capabilities of all: "90", or "80;90". Sets gpu_name, gpu_archs, gpu_driver.
find_gpu() {
  local asked
  gpu_name="" gpu_archs="" gpu_driver=""
  if ! command -v nvidia-smi >/dev/null; then
    lacks "no GPU: there is no nvidia-smi, which comes with NVIDIA's driver; an NVIDIA GPU (V100 or newer) and its driver are needed"
  elif ! asked=$(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>&1) || [ -z "$asked" ]; then
    lacks "no GPU: nvidia-smi says '$(head -n 1 <<<"$asked")'; it should name one"
  else
    gpu_name=$(head -n 1 <<<"$asked" | cut -d, -f1)
    gpu_driver=$(head -n 1 <<<"$asked" | cut -d, -f2 | tr -d ' ')
    gpu_archs=$(cut -d, -f3 <<<"$asked" | tr -d ' .' | sort -un | paste -sd';')
    # A driver from before 2021 does not know compute_cap; CMake asks the GPU itself.
    case $gpu_archs in *[!0-9\;]* | "") gpu_archs=native ;; esac
    gpu_archs=${CUDA_ARCHITECTURES:-$gpu_archs}
  fi
}

# Sets nvcc and nvcc_version. CUDACXX is CMake's own word for which compiler to take.
find_nvcc() {
  local home=${CUDA_HOME:-/usr/local/cuda} known arch
  nvcc_version=""
  nvcc=${CUDACXX:-$(command -v nvcc || true)}
  [ -n "$nvcc" ] || [ ! -x "$home/bin/nvcc" ] || nvcc=$home/bin/nvcc
  if ! command -v "${nvcc:-none}" >/dev/null; then
    lacks "no nvcc ${nvcc:+($nvcc) }on PATH or in $home/bin; install the CUDA toolkit, 12 or 13, or name it: CUDACXX=/opt/cuda/bin/nvcc"
    return
  fi
  nvcc_version=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
  if ! at_least "${nvcc_version:-0}" 12.0; then
    lacks "$nvcc is of CUDA ${nvcc_version:-unknown}, which is too old; 12.0 or newer is needed"
    return
  fi
  [ -n "$gpu_archs" ] && [ "$gpu_archs" != native ] || return 0
  known=$("$nvcc" --list-gpu-code)
  for arch in ${gpu_archs//;/ }; do
    arch=${arch%%-*}  # CMake's 90-real
    grep -qx "sm_$arch" <<<"$known" && continue
    if [ "$arch" -lt 70 ]; then
      lacks "$gpu_name is sm_$arch; the kernels need sm_70 (V100) or newer"
    elif [ "$arch" -lt 75 ]; then
      lacks "$gpu_name is sm_$arch, which CUDA $nvcc_version no longer compiles for; CUDA 12 does: CUDACXX=/usr/local/cuda-12.9/bin/nvcc"
    else
      lacks "$gpu_name is sm_$arch, which CUDA $nvcc_version does not know yet; a newer CUDA does"
    fi
    return
  done
  # nvcc refuses host compilers that it does not know, and says so only when it compiles.
  local scratch said
  scratch=$(mktemp -d)
  echo '__global__ void kernel() {}' >"$scratch/kernel.cu"
  said=$("$nvcc" -std=c++17 -arch="sm_${arch:-75}" -c -o "$scratch/kernel.o" "$scratch/kernel.cu" 2>&1) ||
    lacks "$nvcc does not compile: $(grep -m 1 -i error <<<"$said" || head -n 1 <<<"$said"); another host compiler is set with NVCC_PREPEND_FLAGS='-ccbin g++-12'"
  rm -rf "$scratch"
}

find_compilers() {
  local version cxx=${CXX:-c++}
  if ! command -v cmake >/dev/null; then
    lacks "no cmake; 3.22 or newer is needed: apt-get install cmake, or pip install cmake"
  elif version=$(cmake --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p') && ! at_least "${version:-0}" 3.22; then
    lacks "cmake ${version:-of an unknown version} is too old; 3.22 or newer is needed: pip install cmake"
  fi
  if ! command -v "$cxx" >/dev/null; then
    lacks "no C++ compiler '$cxx'; g++ 11 or newer is needed, or name another: CXX=clang++"
  elif ! "$cxx" -std=c++20 -fsyntax-only -x c++ - <<<$'#include <concepts>\n#include <span>' 2>/dev/null; then
    lacks "'$cxx' does not know C++20; g++ 11 or newer is needed, or name another: CXX=g++-12"
  fi
}

# find_headers FOLDER
find_headers() {
  local file at lacking=""
  for file in cxxopts.hpp nlohmann/json.hpp toml++/toml.h unsupported/Eigen/SpecialFunctions boost/math/distributions/chi_squared.hpp boost/math/distributions/students_t.hpp catch2/catch*.hpp; do
    for at in "$1" "$1/eigen3" "${SYSTEM_HEADERS:-/usr/include}" "${SYSTEM_HEADERS:-/usr/include}/eigen3"; do
      # shellcheck disable=SC2086  # a wildcard: Catch2 2 and 3 have different names
      if compgen -G "$at/$file" >/dev/null; then continue 2; fi
    done
    lacking+=" $file"
  done
  [ -z "$lacking" ] ||
    lacks "no headers:$lacking, neither in $1/ nor installed; where apt-get is, here or elsewhere, run 'scripts/headers headers', and have that folder here (--headers says another place)"
}

# find_room FOLDER: a build takes 0.5 GB, and results little.
find_room() {
  local free
  free=$(df -Pk "$1" | awk 'NR == 2 { print int($4 / 1024) }')
  [ "$free" -ge 2048 ] || lacks "$1 is on a disk with $free MB free; 2048 MB are needed"
}
