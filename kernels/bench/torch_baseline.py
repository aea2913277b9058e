#!/usr/bin/env python3
"""The paper's compressors as PyTorch launches them, timed as gradcast times its own kernels.

usage: torch_baseline.py [--device gpu|gpu:N|cpu] [--elements LIST] [--models LIST]
                         [--densities LIST] [--compressors LIST] [--variant as-launched|best|all]
                         [--distribution NAME] [--workers LIST] [--seconds S] [--seed N]
       torch_baseline.py --serve [--device gpu|gpu:N|cpu] [--variant as-launched|best]

examples:
  torch_baseline.py --variant all                          every compressor at 25.6 M elements
  torch_baseline.py --elements 1048576,25557032 --densities 0.001,0.01 --compressors topk,gaussian
  torch_baseline.py --models resnet-50 --compressors topk  layer by layer, as per-layer hooks do
  torch_baseline.py --device cpu --elements 100000 --seconds 0.2

What is launched. The operators, their order and their waits are those of the paper's authors'
program (hclhkbu/GaussianK-SGD@3da1fb3), as sim/generate/torch_compressors.cpp lists them; the code
here is our own. Every encode adds the residual to the gradient, selects, gathers the values, copies
the sum into the residual, zeroes it at the selected indices, and makes the indices int32. All
tensors of a point are handled one after another in one timed call. Where the definitions in
kernels/*.cpp make an answer of an error or an endless loop of the authors', so does this: DGC's
rank is at most its sample, Trimmed stops at the mean, and k = 0 or k >= d is answered without a
look. The normal quantile is Python's, which is faster than the authors' scipy. Decode zeroes the
dense buffer and adds each worker's set by one gather, one addition and one scatter (the authors do
it in two halves, and divide by the workers afterwards).

Variant "best" (topk and gaussian only) is what these operators could be: the sum in the residual's
place, torch.topk(sorted=False), index_fill_, std_mean in one, the threshold never read by the host,
index_add_ in decode.

How it is timed. Before each sample gradient and residual are restored from a pristine copy, a
scratch buffer is read (on a GPU: 256 MiB or 4 x L2) or overwritten (on a CPU: 2 x L3, at most 64
MiB), and the device is waited for. On a GPU two CUDA events lie around the call. Where an operator waits for
the device (nonzero, item), the second event is recorded after that wait, so the wait and the
device's idleness are in the time between them; it is the wall time, which the table shows beside
it, but for the last synchronisation. As a sample starts on an idle device, launches count: they
hide behind the kernels of large tensors, and are the cost of small ones. On a CPU it is
time.perf_counter. When there are enough samples is decided as kernels/bench/sampling.hpp says:
20, and --seconds have passed or the median is known to 0.5 %; or 1000; or 3 in twice --seconds.
Gradient and residual are two draws of the input, and a model's tensors are slices of one vector.

--serve is what `gradcast calibrate` talks to: one JSON object a line, one answer a request. The
first line out says what was found: {"torch": "2.11.0", "device": "NVIDIA H200", "cuda": "13.0"}.
A request, mode "" for compressors with one mode:
  {"compressor": "topk", "mode": "", "tensors": [1048576], "wanted": [1048], "workers": [1, 16],
   "distribution": "normal", "seconds": 1.0, "seed": 1}
and its answer, times as [median, p95, samples], decode one for each of the workers:
  {"encode": [...], "decode": [[...], [...]], "selected": 1048.0, "recall": 1.0, "variant": "..."}
or {"error": "one line"}. The end of the input ends it.

exit codes: 0 done, 1 a failure, 2 a wrong flag, 3 a file that cannot be read, 5 no torch or no such
device, 130 interrupted.
"""
import argparse
import os
import pathlib
import sys

# Wherever this lies its modules lie beside it, and nothing is written there.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from torch_timing.encoders import AS_LAUNCHED, BEST, ENCODERS  # noqa: E402
from torch_timing.errors import FAILURE, INTERRUPTED, USAGE, BaselineError  # noqa: E402
from torch_timing.inputs import INPUTS  # noqa: E402
from torch_timing.limits import is_count, is_seconds  # noqa: E402
from torch_timing.protocol import serve  # noqa: E402
from torch_timing.table import print_table  # noqa: E402


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(USAGE, f"{self.prog}: {message} (see --help)\n")


def listed(kind, good, what):
    def parse(text):
        try:
            values = [kind(word) for word in text.split(",") if word]
        except ValueError:
            values = []
        if not values or not all(good(value) for value in values):
            raise argparse.ArgumentTypeError(f"'{text}' is not {what}")
        return values

    return parse


def number(good, kind, what):
    parse = listed(kind, good, what)
    return lambda text: parse(text)[0]


def parse_flags(arguments):
    compressors = list(dict.fromkeys(name for name, _, _ in ENCODERS))
    usage, _, rest = __doc__.partition("\n\n")[2].partition("\n\n")
    parser = Parser(prog="torch_baseline.py", formatter_class=argparse.RawDescriptionHelpFormatter,
                    usage=usage[len("usage: "):], description=__doc__.partition("\n")[0],
                    epilog=rest)
    elements = listed(int, lambda n: is_count(n, 1), "a list of elements, 1 to 2147483647")
    add = parser.add_argument
    add("--serve", action="store_true", help="answer requests on standard input")
    add("--device", default="gpu", metavar="NAME", help="gpu (the default), gpu:N or cpu")
    add("--elements", type=elements, metavar="LIST", help="one tensor each (default: 25557032)")
    add("--models", type=listed(str, bool, "a list of names"), default=[], metavar="LIST",
        help="models/NAME.csv, layer by layer")
    add("--densities", type=listed(float, lambda p: 0 < p <= 1, "a list of shares up to 1"),
        default=[0.001], metavar="LIST", help="default: 0.001")
    add("--compressors", default=compressors, metavar="LIST",
        type=listed(str, lambda name: name in compressors, f"a list of {', '.join(compressors)}"),
        help=f"default: {','.join(compressors)}")
    add("--variant", choices=(AS_LAUNCHED, BEST, "all"), default=AS_LAUNCHED,
        help="default: as-launched")
    add("--distribution", choices=INPUTS, default="normal", metavar="NAME",
        help=f"of the input: {', '.join(INPUTS)}")
    add("--workers", type=listed(int, lambda n: is_count(n, 1), "a list of numbers"),
        default=[16], metavar="LIST", help="decode adds so many sets (default: 16)")
    add("--seconds", type=number(is_seconds, float, "seconds, above 0"), default=1.0, metavar="S",
        help="for the samples of one timing (default: 1)")
    add("--seed", type=number(is_count, int, "a number from 0 on"), default=1, metavar="N",
        help="default: 1")
    flags = parser.parse_args(arguments)
    if flags.elements is None:
        flags.elements = [] if flags.models else [25557032]
    if flags.serve and flags.variant == "all":
        parser.error("--serve answers in one variant: as-launched or best")
    return flags


def main(arguments):
    flags = parse_flags(arguments)
    try:
        return serve(flags) if flags.serve else print_table(flags)
    except BaselineError as error:
        print(f"torch_baseline.py: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever asked is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILURE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
