#!/usr/bin/env python3
"""Shows that the tests of the kernels on weak memory would notice.

Each row of TABLE breaks one line of the kernels. The script makes the change in a copy, builds one
compressor's kernels from it (or those of all packers, of level packers, or PowerSGD's), links them with the objects of
tests_emulated, and runs the case that is to notice: it must fail. ctest -R mutations runs it; -V shows the table."""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Test cases of weak_encoder_emulated_test.cpp; those of packers are packer_emulated_test.cpp's,
# of level packers level_packer_emulated_test.cpp's, PowerSGD's low_rank_emulated_test.cpp's.
LARGE = "large tensors"
OVERFLOWING = "tiles with more candidates than slots"
BELOW = "selections that reach below the candidates"
BELOW_OFTEN = "selections that reach below the candidates under many orders"
SMALL = "small tensors"
SMALL_TIES = "small tensors with ties"
TIES = "ties"
SAMPLED = "the threshold is from the samples of all blocks under many orders"
DECODE = "sparse sets add up in the order of the workers"
STATUS = "a status is of all blocks"
BLOCKS = "units of blocks end with a word"
LEVELS = "level packers serve iteration after iteration"
PACKED = "packers serve iteration after iteration"
SUMS = "PowerSGD's sums are of all warps"
THIN = "the last block of a thin matrix sees what all have added up"

# A compressor: the section of the test case, and the kernels that are built.
TOPK = ("topk", "Rule::Topk, Mode::Only")
RTOPK = ("rtopk", "Rule::Rtopk, Mode::Only")
THRESHOLD = ("threshold", "Rule::Threshold, Mode::Only")
DGC = ("dgc (paper)", "Rule::Dgc, Mode::Paper")
GAUSSIAN = ("gaussian (code)", "Rule::Gaussian, Mode::Code")
NONE = (None, "Rule::Topk, Mode::Only")  # the case has no sections
PACKER = (None, None)  # all packers' kernels
LEVEL_PACKER = (None, "levels")  # all level packers'
LOW_RANK = (None, "")  # PowerSGD's


@dataclasses.dataclass
class Mutation:
    file: str  # of kernels/device
    breaks: str
    text: str  # occurs in the file exactly once
    instead: str
    compressor: tuple
    case: str


TABLE = [
    # ---- the meetings of the last kernel's blocks
    Mutation("share.cuh", "meet: a block has come before all its threads have written",
             "    ++meetings_;\n    block_barrier();", "    ++meetings_;", NONE, BELOW_OFTEN),
    Mutation("share.cuh", "meet: what a block wrote is not published",
             "      memory_fence();\n      add_atomic(batch_.meetings, 1);",
             "      add_atomic(batch_.meetings, 1);", GAUSSIAN, LARGE),
    Mutation("share.cuh", "meet: what others published is not read anew",
             "pause();\n      memory_fence();", "pause();", GAUSSIAN, LARGE),
    Mutation("share.cuh", "meet: threads go on while their first one waits",
             "      memory_fence();\n    }\n    block_barrier();", "      memory_fence();\n    }", GAUSSIAN, LARGE),
    Mutation("share.cuh", "meet: a plain load waits",
             "while (read_now(batch_.meetings) < everybody)",
             "while (*batch_.meetings < everybody)", GAUSSIAN, LARGE),
    Mutation("share.cuh", "meet: blocks count themselves without an atomic",
             "add_atomic(batch_.meetings, 1);", "++*batch_.meetings;", GAUSSIAN, LARGE),
    Mutation("share.cuh", "meet: one block too few is waited for",
             "read_now(batch_.meetings) < everybody", "read_now(batch_.meetings) + 1 < everybody",
             GAUSSIAN, LARGE),
    # ---- the sample before the stream
    Mutation("prepare.cuh", "sample: a block is done before all its threads are",
             "    add_bins(own.bins, all);\n    block_barrier();", "    add_bins(own.bins, all);", NONE,
             SAMPLED),
    Mutation("prepare.cuh", "sample: threads look before the first one knows who is last",
             "    }\n    block_barrier();\n    if (own.blocks_done + 1 != blocks) return;",
             "    }\n    if (own.blocks_done + 1 != blocks) return;", NONE, SAMPLED),
    Mutation("prepare.cuh", "sample: what a block counted is not published",
             "      memory_fence();\n      own.blocks_done", "      own.blocks_done", NONE, SAMPLED),
    Mutation("prepare.cuh", "sample: the last block does not read anew",
             "      memory_fence();  // the last block sees what all have added\n", "", NONE, SAMPLED),
    Mutation("prepare.cuh", "sample: the counts of the second block are lost",
             "    copy_bins_now(all, own.bins);\n", "", NONE, SAMPLED),
    # ---- sums, scans, histograms of a block
    Mutation("block.cuh", "scan: sums are read before all warps have written theirs",
             "scratch.warp_sums[warp] = static_cast<std::uint64_t>(sum);\n  block_barrier();",
             "scratch.warp_sums[warp] = static_cast<std::uint64_t>(sum);", TOPK, LARGE),
    Mutation("block.cuh", "histogram: the crossing is read before it is written",
             "      if (!found) above += counts[i];\n    }\n  }\n  block_barrier();",
             "      if (!found) above += counts[i];\n    }\n  }", TOPK, LARGE),
    Mutation("block.cuh", "tree of moments: read before all warps have written",
             "scratch.moments[warp_of_thread()] = of_warp;\n  block_barrier();",
             "scratch.moments[warp_of_thread()] = of_warp;", GAUSSIAN, LARGE),
    Mutation("block.cuh", "histogram: the crossing one bin off",
             "scratch.crossing = {bin - static_cast<std::uint32_t>(i), above",
             "scratch.crossing = {bin - static_cast<std::uint32_t>(i) + 1, above", TOPK, LARGE),
    # ---- radix select
    Mutation("search.cuh", "radix: counting begins before all bins are cleared",
             "        shared.bins[i] = 0;\n      block_barrier();", "        shared.bins[i] = 0;",
             TOPK, BELOW),
    Mutation("search.cuh", "radix: the rank among a bin's keys still counts those above it",
             "search.rank - crossing.above, crossing.held};", "search.rank, crossing.held};", TOPK,
             BELOW),
    # ---- small tensors
    Mutation("small.cuh", "small: of equal keys the last ones are taken",
             "ties & (~ties + 1)", "1u << (31 - __builtin_clz(ties))", TOPK, SMALL_TIES),
    Mutation("small.cuh", "small: what was sent stays in the residual",
             "shared_.at(index) =\n          send_value(", "send_value(", TOPK, SMALL),
    Mutation("small.cuh", "small: what just passes a fixed threshold is not sent",
             "select_from(segment_.least)", "select_from(segment_.least + 1)", THRESHOLD, SMALL),
    Mutation("small.cuh", "small: u is read before all of it is formed",
             "add_feedback(g[n], e[n]);\n    }\n    block_barrier();",
             "add_feedback(g[n], e[n]);\n    }", GAUSSIAN, SMALL),
    # ---- large tensors
    Mutation("stream.cuh", "stream: a tile that lacks one element is taken for a whole one",
             "first + kTileElements <= segment_.elements",
             "first + kTileElements <= segment_.elements + 1", TOPK, OVERFLOWING),
    Mutation("stream.cuh", "stream: candidates are written out before all lanes have placed theirs",
             "    warp_barrier();\n    write_out(tile, held);", "    write_out(tile, held);", TOPK,
             LARGE),
    Mutation("stream.cuh", "stream: a row's candidates begin where the row before began",
             "      held += rows >> 8 * r & 0xffu;", "      held += r == 1 ? 0 : rows >> 8 * r & 0xffu;",
             TOPK, LARGE),
    Mutation("visit.cuh", "visit: a tile with more candidates than slots is not read again",
             "const bool again = tile < count && (reread_ || held[i] > slots_);",
             "const bool again = tile < count && reread_;", TOPK, OVERFLOWING),
    Mutation("select.cuh", "list: of the last candidate sent only those before it are",
             "notes.cut = {own_key, own_index + 1};", "notes.cut = {own_key, own_index};", TOPK,
             LARGE),
    Mutation("tally.cuh", "tally: what the list adds to the tiles before is left out",
             "shared_.list[i].index < first ? 1 : 0", "shared_.list[i].index < first ? 0 : 0", TOPK,
             LARGE),
    Mutation("select.cuh", "list: the cut is one candidate too high",
             "before + 1 == notes.list_rank", "before + 2 == notes.list_rank", TOPK, LARGE),
    Mutation("send.cuh", "send: what was sent stays in the residual",
             "segment.residual[v.index] = send_value(", "send_value(", TOPK, LARGE),
    Mutation("select.cuh", "settle: what lies below the candidates is not sent",
             "own.rereads = segment.least < share_.floor_of(part);", "own.rereads = false;",
             THRESHOLD, BELOW),
    # ---- decoding
    Mutation("decode.cuh", "decode: every value of 16 bits is bf16's",
             "value_of_code(set.value_type, set.codes[at])",
             "value_of_code(ValueType::Bf16, set.codes[at])", NONE, DECODE),
    Mutation("decode.cuh", "decode: a set is added before the one before it",
             "add_feedback(shared_.dense[index - base], value);\n      block_barrier();",
             "add_feedback(shared_.dense[index - base], value);", NONE, DECODE),
    Mutation("decode.cuh", "decode: runs are looked up before all are there",
             "    shared_.before[threadIdx.x] = scan.before;\n    block_barrier();",
             "    shared_.before[threadIdx.x] = scan.before;", NONE, DECODE),
    Mutation("decode.cuh", "decode: a range has one element too many",
             "end < tensor.elements ? end : tensor.elements);",
             "end < tensor.elements ? end : tensor.elements + 1);", NONE, DECODE),
    # ---- packing
    Mutation("pack_blocks.cuh", "status: what a block found is not published before it is counted",
             "kNotFinite);\n    memory_fence();", "kNotFinite);", PACKER, STATUS),
    Mutation("pack_blocks.cuh", "status: the last block does not read anew",
             "!= units) return;\n    memory_fence();", "!= units) return;", PACKER, STATUS),
    Mutation("pack_blocks.cuh", "scales: of a block whose warps have not all looked",
             "      find_largest(place, u);\n    }\n    block_barrier();",
             "      find_largest(place, u);\n    }", PACKER, PACKED),
    Mutation("send_codes.cuh", "codes: words are made before all lanes have put theirs down",
             "  // a quad is a word\n  warp_barrier();", "  // a quad is a word", PACKER, PACKED),
    Mutation("send_codes.cuh", "codes: of a word's last quad too few bits are skipped",
             "held < 32; held += quad_bits)", "held < 28; held += quad_bits)", PACKER, PACKED),
    Mutation("measure.cuh", "moments: a tile's second half is measured as the first",
             "form_tile(segment, first + half, count, u);", "form_tile(segment, first, count, u);",
             PACKER, PACKED),
    Mutation("plan_pack.hpp", "words: an int8 unit ends within a word",
             "4 / std::gcd(elements, 4)", "1", PACKER, BLOCKS),
    # ---- levels of a shared scale
    Mutation("send_levels.cuh", "lanes: past the end they are not zero",
             "place + c < count ? largest + multiple : 0", "largest + multiple", LEVEL_PACKER,
             LEVELS),
    Mutation("send_levels.cuh", "lanes: of a quad with three elements the second word is left out",
             "if (count > 2) words[place / 2 + 1] = high;",
             "if (count > 3) words[place / 2 + 1] = high;", LEVEL_PACKER, LEVELS),
    Mutation("send_levels.cuh", "levels: TernGrad clips at the scale that all share",
             "own = *segment.own_scale;", "own = *segment.shared_scale;", LEVEL_PACKER, LEVELS),
    Mutation("unpack_levels.cuh", "levels: a quad's lanes are those of its first word",
             "if (count > 2) both |=", "if (count > 3) both |=", LEVEL_PACKER, LEVELS),
    # ---- PowerSGD's products
    Mutation("project.cuh", "P: a strip's sums are read before all warps have written theirs",
             "[lane / 2] = sum;\n      block_barrier();", "[lane / 2] = sum;", LOW_RANK, SUMS),
    Mutation("project.cuh", "Q: sums are read before all warps have written theirs",
             "= sums[h][c];\n    block_barrier();", "= sums[h][c];", LOW_RANK, SUMS),
    Mutation("project.cuh", "Q: sums of the next columns are written while some are still read",
             "[threadIdx.x];\n    block_barrier();", "[threadIdx.x];", LOW_RANK, SUMS),
    # ---- PowerSGD's thin matrices
    Mutation("gram.cuh", "last of all: a block has come before all its threads have written",
             "GramShared& shared) {\n  block_barrier();", "GramShared& shared) {", LOW_RANK, THIN),
    Mutation("gram.cuh", "last of all: what a block wrote is not published",
             "    memory_fence();\n    const std::uint32_t before", "    const std::uint32_t before",
             LOW_RANK, THIN),
    Mutation("gram.cuh", "last of all: the last block does not read anew",
             "work.blocks));\n    memory_fence();", "work.blocks));", LOW_RANK, THIN),
    Mutation("gram.cuh", "last of all: threads look before the first one knows",
             "  }\n  block_barrier();\n  return shared.flag != 0;",
             "  }\n  return shared.flag != 0;", LOW_RANK, THIN),
    Mutation("gram.cuh", "last of all: blocks count themselves without an atomic",
             "before = add_atomic(work.done, 1);", "before = (*work.done)++;", LOW_RANK, THIN),
    Mutation("gram.cuh", "factor: it is not applied to the last rows",
             "gram.apply(thin.begin(), thin.end());", "gram.apply(thin.begin(), thin.end() - 1);",
             LOW_RANK, THIN),
]

KERNELS = """#include "kernels/device/decode.cuh"
#include "kernels/device/encoder.cuh"
namespace gradcast::on_emulator {
std::unique_ptr<Encoder> make_encoder(Rule, Mode, const std::vector<EncoderTensor>& tensors,
                                      const EncoderTuning& tuning, const Workspace& workspace) {
  return make<%s>(tensors, tuning, workspace);
}
std::unique_ptr<Decoder> make_decoder(const std::vector<DecoderTensor>& tensors,
                                      const Workspace& workspace) {
  return std::make_unique<DecoderHere>(tensors, workspace);
}
// No case here merges.
std::unique_ptr<Merger> make_merger(const MergedSets&, const Workspace&) { return nullptr; }
std::unique_ptr<Momentum> make_momentum(float, const std::vector<MomentumTensor>&) {
  return nullptr;
}
}  // namespace gradcast::on_emulator
"""
PACKERS = '#include "kernels/device/make_packer.cuh"\n'
LEVEL_PACKERS = '#include "kernels/device/make_level_packer.cuh"\n'
LOW_RANK_ENCODER = '#include "kernels/device/low_rank_encoder.cuh"\n'


def mutate(mutation, folder):
    """A copy of the kernels with the mutation in it."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "kernels", folder / "kernels")
    file = folder / "kernels" / "device" / mutation.file
    source = file.read_text()
    times = source.count(mutation.text)
    if times != 1:
        sys.exit(f"kernels/device/{mutation.file}: {times} times, where the table of {__file__} "
                 f"wants once:\n{mutation.text}")
    file.write_text(source.replace(mutation.text, mutation.instead))


def precompile(options):
    """The headers of the standard library that the kernels include, which no mutation changes."""
    lines = set()
    for folder in ("kernels", "kernels/device"):
        for file in (ROOT / folder).glob("*.[ch]*"):
            if file.suffix != ".cu":
                lines |= set(re.findall(r"^#include <[a-z_]+>$", file.read_text(), re.MULTILINE))
    options.work.mkdir(parents=True, exist_ok=True)
    header = options.work / "standard.hpp"
    header.write_text("\n".join(sorted(lines)) + "\n")
    subprocess.run([*compile_command(options), "-x", "c++-header", header, "-o", f"{header}.gch"], check=True)
    return header


def compile_command(options):
    """Cases are short: to optimise takes longer than it saves."""
    return [options.compiler, "-std=c++20", "-O0", "-ffp-contract=off", *shlex.split(options.flags)]


def kernels_of(compressor):
    if compressor is PACKER:
        return PACKERS
    if compressor is LEVEL_PACKER:
        return LEVEL_PACKERS
    return LOW_RANK_ENCODER if compressor is LOW_RANK else KERNELS % compressor[1]


def run_cases(program, mutation):
    """The exit status of the mutation's test case; None if it takes too long."""
    command = [program, "weak memory: " + mutation.case, "--abort"]
    if mutation.compressor[0]:
        command += ["-c", mutation.compressor[0]]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240)
    except subprocess.TimeoutExpired:
        return None
    if b"No tests ran" in done.stdout or b"No test cases matched" in done.stdout:
        sys.exit(f"{shlex.join(map(str, command))}: no such case")
    return done.returncode


def try_out(number, mutation, options):
    """The way in which the mutation was caught, or None."""
    folder = options.work / str(number)
    mutate(mutation, folder)
    (folder / "kernels.cpp").write_text(kernels_of(mutation.compressor))
    program = folder / "tests"
    build = [*compile_command(options), "-include", options.work / "standard.hpp", f"-I{folder}",
             folder / "kernels.cpp", *options.link, "-o", program]
    built = subprocess.run(build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if built.returncode != 0:
        sys.exit(f"{mutation.breaks}: does not build\n{built.stdout}")
    status = run_cases(program, mutation)
    shutil.rmtree(folder)
    if status == 0:
        return None
    return "hangs" if status is None else "crashes" if status < 0 else "fails"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", required=True, help="the program without a mutation")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--flags", default="", help="for compiling and linking, in one word")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for copies")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--only", default="", help="rows with this in file or description")
    parser.add_argument("link", nargs="+", help="objects of the tests, and libraries")
    options = parser.parse_args()
    rows = [m for m in TABLE if options.only in m.file + " " + m.breaks]

    precompile(options)
    caught = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        # A case that fails anyway catches nothing.
        needed = {(m.compressor, m.case): m for m in rows}.values()
        for mutation, status in zip(needed, pool.map(lambda m: run_cases(options.tests, m), needed)):
            if status != 0:
                sys.exit(f"'{mutation.case}' fails without any mutation")
        outcomes = pool.map(lambda row: try_out(*row, options), enumerate(rows))
        for mutation, outcome in zip(rows, outcomes):
            print(f"{outcome or 'NOT CAUGHT':10}  {mutation.file:15}  {mutation.breaks}", flush=True)
            caught += outcome is not None
    print(f"{caught} of {len(rows)} mutations caught")
    return 0 if caught == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
