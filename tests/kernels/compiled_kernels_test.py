#!/usr/bin/env python3
"""What nvcc makes of the kernels, without a GPU: no spills, registers within budgets, wide loads.

usage: compiled_kernels_test.py [--archs 70,75,80,90,100] [--jobs 2] [--folder FOLDER]

Compiles kernels/encoder_cuda.cu and the other three *_cuda.cu with kernels for each architecture that this nvcc knows (CUDA 13 lost sm_70, and
12.8 is the first to have sm_100), and prints a table of all kernels. FOLDER (default:
build/compiled_kernels) keeps the table, table.txt, and what was compiled: nothing is compiled
twice. That sm_75 is compiled at all shows that nothing needs a newer GPU; of sm_70 CUDA 12 shows
it. Half a minute of a core for each architecture.

exit codes: 0 all is well, 1 something is not, 77 skipped: no nvcc (on PATH, or /usr/local/cuda/bin)
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from cubin import CubinError, memory_instructions  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["-O3", "-DNDEBUG", "-std=c++17", "-fmad=false", "-Xptxas=-v", "-cubin"]  # as the build's

SOURCES = ["encoder_cuda", "packer_cuda", "level_packer_cuda", "low_rank_encoder_cuda"]

# An SM has 65,536 registers and a block 256 threads: 64 registers a thread are 4 blocks an SM, 128
# are 2. What all elements pass through needs 4 to keep enough loads under way; for the others 2 are
# planned. What is not named here has the last.
BUDGETS = {"stream": 64, "prepare": 128, "finish": 128, "decode_sets": 128, "measure": 64,
           "pack": 64, "pack_blocks": 64, "pack_levels": 64, "unpack": 128, "project": 128,
           "project_back": 128, "restore": 128, "": 128}
# Wide instructions of the kernels that all elements pass through. A quad is one load each of gradient
# and residual, and one store of u (or of what stays of it; unpacking, of a sum). In other kernels arrays
# in local memory (stack), which are no spills, do no harm: once a block or so.
WIDE = {"stream": {"LDG.128": 2, "STG.128": 1}, "measure": {"LDG.128": 2},
        "pack": {"LDG.128": 2, "STG.128": 1}, "pack_blocks": {"LDG.128": 2, "STG.128": 1},
        "pack_levels": {"LDG.128": 2, "STG.128": 1}, "unpack_levels": {"STG.128": 1},
        "unpack": {"STG.128": 1}}

# Instructions that the reader of machine code must find: one each of the widths, and local memory
# for an array whose index is not known.
PROBE = """
__global__ void wide(const float4* from, float4* to) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void narrow(const float* from, float* to) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void local(const int* from, int* to) {
  int words[64];
  for (int i = 0; i < 64; ++i) words[from[i] & 63] = i;
  to[threadIdx.x] = words[from[threadIdx.x] & 63];
}
"""


def find_nvcc():
    return shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


class Failed(Exception):
    pass


def compiled(nvcc, source, arch, folder, name):
    """The cubin, and what ptxas said. Both are made under another name and then renamed."""
    cubin, log = folder / f"{name}.cubin", folder / f"{name}.log"
    if not (cubin.exists() and log.exists()):
        temporary = folder / f"{name}.{os.getpid()}.cubin"
        ran = subprocess.run([nvcc, *FLAGS, f"-I{ROOT}", f"-arch=sm_{arch}", "-o", temporary, source],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if ran.returncode != 0:
            raise Failed(f"{pathlib.Path(source).name} does not compile for sm_{arch}:\n{ran.stdout}")
        said = temporary.with_suffix(".log")
        said.write_text(ran.stdout)
        said.rename(log)
        temporary.rename(cubin)
    return cubin, log.read_text()


def known_of(nvcc, archs):
    known = subprocess.run([nvcc, "--list-gpu-code"], stdout=subprocess.PIPE, text=True).stdout
    for arch in archs:
        if f"sm_{arch}" in known.split():
            yield arch
        else:
            print(f"left out: {nvcc} does not compile for sm_{arch}")


def fingerprint(nvcc):
    """A hash of all that the result depends on."""
    version = subprocess.run([nvcc, "--version"], stdout=subprocess.PIPE, text=True).stdout
    kernels = ROOT / "kernels"
    sources = [*(kernels / f"{name}.cu" for name in SOURCES), *sorted(kernels.glob("*.hpp")),
               *sorted((kernels / "device").iterdir())]
    digest = hashlib.sha256(repr((version, FLAGS, PROBE)).encode())
    for path in sources:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def enumerators(path, enum):
    body = re.search(r"enum class " + enum + r"[^{]*\{(.*?)\};", (ROOT / path).read_text(), re.S)[1]
    return re.findall(r"\w+", re.sub(r"//.*", "", body))


def readable(symbol):
    """"stream<0,1,1>" or "finish<Gaussian,Code>" for a mangled symbol; the symbol if it is none of
    ours."""
    match = re.match(r"_ZN8gradcast7on_cuda(\d+)(.*)", symbol)
    if not match:
        return symbol
    name, rest = match[2][:int(match[1])], match[2][int(match[1]):]
    if not rest.startswith("I"):
        return name
    known = {"Rule": enumerators("kernels/rule.hpp", "Rule"),
             "PackRule": enumerators("kernels/packing.hpp", "PackRule"),
             "Mode": enumerators("kernels/selection.hpp", "Mode")}
    words = []
    for enum, value, number in re.findall(r"LNS_\d+(\w+?)E(\d+)E|L[a-z](\d+)E", rest):
        words.append(known[enum][int(value)] if enum in known else value or number)
    return f"{name}<{','.join(words)}>"


def ptxas_said(log):
    """Symbol: (registers, bytes of stack, bytes of spill stores, of spill loads)."""
    found = {}
    for part in log.split("Compiling entry function '")[1:]:
        symbol = part.split("'", 1)[0]
        registers = re.search(r"Used (\d+) registers", part)
        spills = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, "
                           r"(\d+) bytes spill loads", part)
        if not registers or not spills:
            raise Failed(f"ptxas says nothing of registers and spills of {symbol}")
        found[symbol] = (int(registers[1]), *map(int, spills.groups()))
    return found


def local(counts):
    return sum(n for word, n in counts.items() if word.startswith(("LDL", "STL")))


def check_reader(nvcc, arch, folder, key):
    source = folder / f"probe.{os.getpid()}.{arch}.cu"
    source.write_text(PROBE)
    cubin, _ = compiled(nvcc, source, arch, folder, f"probe-sm_{arch}-{key}")
    source.unlink()
    # _Z4widePK6float4PS_ is wide(const float4*, float4*).
    found = {re.match(r"_Z\d+(wide|narrow|local)", symbol)[1]: counts
             for symbol, counts in memory_instructions(cubin).items()}
    wide, narrow, arrays = (found.get(name, {}) for name in ("wide", "narrow", "local"))
    right = (dict(wide) == {"LDG.128": 1, "STG.128": 1}
             and dict(narrow) == {"LDG.32": 1, "STG.32": 1}
             and arrays.get("LDL.32", 0) > 0 and arrays.get("STL.32", 0) > 0)
    if not right:
        raise Failed(f"the reader of machine code does not know sm_{arch}'s instructions: of a known "
                     f"kernel it found {({name: dict(c) for name, c in found.items()})}; "
                     "see tests/kernels/cubin.py")


def measured(nvcc, arch, folder, key):
    """Rows of the table: kernel, arch, what ptxas said, counts of instructions."""
    check_reader(nvcc, arch, folder, key)
    rows = {}  # by symbol: a kernel that both have is one
    for name in SOURCES:
        cubin, log = compiled(nvcc, ROOT / "kernels" / f"{name}.cu", arch, folder,
                              f"{name}-sm_{arch}-{key}")
        instructions = memory_instructions(cubin)
        for symbol, said in ptxas_said(log).items():
            rows[symbol] = (readable(symbol), arch, said, instructions[symbol])
    return list(rows.values())


def complaints(rows):
    for family in set(BUDGETS) | set(WIDE):
        if family and not any(row[0].partition("<")[0] == family for row in rows):
            yield f"no kernel is called {family} any more; right would be its new name in this test"
    for kernel, arch, (registers, stack, stored, loaded), counts in rows:
        where = f"{kernel} on sm_{arch}"
        family = kernel.partition("<")[0]
        if stored or loaded:
            yield (f"{where}: spills, {stored} bytes of stores and {loaded} of loads; right would "
                   "be none")
        elif stack and family in WIDE:
            yield (f"{where}: {stack} bytes of stack, which ptxas does not call spills; right would "
                   "be none where all elements pass")
        if (local(counts) > 0) != (stack > 0):
            yield (f"{where}: {local(counts)} instructions on local memory, but ptxas tells of "
                   f"{stack} bytes of stack; one of the two is read wrongly")
        budget = BUDGETS.get(family, BUDGETS[""])
        if registers > budget:
            yield (f"{where}: {registers} registers a thread; right would be at most {budget}, so "
                   f"that {65536 // 256 // budget} blocks fit an SM")
        for word, least in WIDE.get(family, {}).items():
            if counts[word] < least:
                yield f"{where}: {counts[word]} of {word}; right would be at least {least}"


def table(rows):
    lines = [("kernel", "arch", "registers", "stack", "spill stores", "spill loads", "LDL+STL",
              "LDG.128", "STG.128", "LDG.32")]
    for kernel, arch, said, counts in rows:
        lines.append((kernel, f"sm_{arch}", *map(str, said), str(local(counts)),
                      *(str(counts[word]) for word in ("LDG.128", "STG.128", "LDG.32"))))
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "".join("  ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip() + "\n"
                   for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archs", default="70,75,80,90,100")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "compiled_kernels")
    flags = parser.parse_args()
    nvcc = find_nvcc()
    if nvcc is None:
        print("skipped: no nvcc on PATH or in /usr/local/cuda/bin")
        return 77
    flags.folder.mkdir(parents=True, exist_ok=True)
    key = fingerprint(nvcc)
    for old in flags.folder.iterdir():  # of other sources
        if key not in old.name and old.suffix in (".cubin", ".log"):
            old.unlink()
    try:
        with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
            of_arch = pool.map(lambda arch: measured(nvcc, arch, flags.folder, key),
                               list(known_of(nvcc, flags.archs.split(","))))
            rows = sorted((row for rows in of_arch for row in rows),
                          key=lambda row: (row[0], int(row[1])))
    except (Failed, CubinError) as failure:
        print(f"compiled_kernels: {failure}")
        return 1
    text = table(rows)
    print(text)
    temporary = flags.folder / f"table.{os.getpid()}"
    temporary.write_text(text)
    temporary.rename(flags.folder / "table.txt")
    wrong = list(complaints(rows))
    for line in wrong:
        print(f"compiled_kernels: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
