#!/usr/bin/env python3
"""Times an iteration of a network by layer and writes traces/iteration-<model>-<device>.csv.

usage: record_trace.py [--models LIST] [--precision fp32|amp|fp32,amp] [--batch N] [--tf32]
                       [--device cuda:N|cpu] [--seconds S] [--warm-up N] [--slug NAME]
                       [--out DIR] [--models-dir DIR]
       record_trace.py --ddp-buckets [--models LIST] [--device cuda:N|cpu]
                       [--out DIR] [--models-dir DIR]

examples:
  record_trace.py --precision fp32,amp                 all four models, eight files: minutes
  record_trace.py --models resnet-50 --batch 64 --out /tmp
  record_trace.py --models alexnet --device cpu --batch 2 --seconds 5 --out /tmp
  record_trace.py --models resnet-50 --device cpu --ddp-buckets --out /tmp

Needs torch and, for alexnet, vgg-16 and resnet-50, torchvision; for inception-v4, timm. Weights
and images (3 x 224 x 224) are random, nothing is downloaded. The networks' parameters must be the
tensors of models/<model>.csv: by name, in any order, or, where the names differ, one to one in
order; their elements are compared either way, and the file says which it was.

How it is timed. Iterations follow one another without a wait, as in training: zero_grad(set to
none), forward and loss, backward, SGD step. On a GPU, CUDA events are recorded on the stream; on a
CPU it is time.perf_counter. First without hooks: a mark between the parts, and the medians of
forward + backward and of the step are taken. Then with hooks: a mark before each module that owns
parameters, and one as each gradient has been accumulated. A layer's forward time lasts from its
mark to the next layer's, so that the operators without parameters that follow it are in it (and in
the last one's the loss). A gradient's backward time lasts from the mark of the gradient before it,
in backward's order, to its own, so that the same operators are in it; a layer's is the sum of its
gradients'. All are medians. They are then multiplied by one factor, so that they add up to the
median of forward + backward without hooks; the file states it.

Files: iteration-<model>-<device>.csv; -tf32 and -amp are added where TF32 was allowed or autocast
used. Mixed precision is torch.autocast to bfloat16 (to float16 where the GPU has no bfloat16)
without loss scaling: weights, gradients and the step stay fp32.

--ddp-buckets times nothing. It trains three iterations under DistributedDataParallel, in a world of
one process, and writes what DDP's logger says of its buckets: buckets-<model>-ddp.csv, a gradient a
row, in order of sending. Its columns are bucket (from 1), tensor, elements, bytes and ready: the
place, from 1, in which the gradient became ready. Bucket sizes are DDP's defaults.

exit codes: 0 done, 1 a failure, 2 a wrong flag, 3 a file that is not the network's, 5 no torch, no
such device, no torchvision or timm, 130 interrupted.
"""
import argparse
import pathlib
import re
import sys
import warnings

# Wherever it is called from its modules lie beside it, and nothing is written among the data.
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
from recording.errors import FAILURE, INTERRUPTED, USAGE, TraceError, one_line  # noqa: E402
from recording.networks import SOURCES  # noqa: E402
from recording.record import record_all  # noqa: E402


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(USAGE, f"{self.prog}: {message} (see --help)\n")


def chosen(names):
    def parse(text):
        words = text.split(",")
        if len(set(words)) < len(words) or not all(word in names for word in words):
            raise argparse.ArgumentTypeError(f"'{text}' is not a list of {', '.join(names)}")
        return words

    return parse


def number(kind, least, most):
    def parse(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            raise argparse.ArgumentTypeError(f"'{text}' is not a number from {least} to {most}")
        return value

    return parse


def slug(text):
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not small letters, digits, '-' and '.'")
    return text


def parse_flags(arguments):
    usage, _, rest = __doc__.partition("\n\n")[2].partition("\n\n")
    parser = Parser(prog="record_trace.py", formatter_class=argparse.RawDescriptionHelpFormatter,
                    usage=usage[len("usage: "):], description=__doc__.partition("\n")[0],
                    epilog=rest)
    add = parser.add_argument
    add("--models", type=chosen(SOURCES), default=list(SOURCES), metavar="LIST",
        help=f"default: {','.join(SOURCES)}")
    add("--precision", type=chosen(("fp32", "amp")), default=["fp32"], metavar="LIST",
        help="fp32 (the default), amp, or both")
    add("--batch", type=number(int, 1, 65536), default=128, metavar="N", help="default: 128")
    add("--tf32", action="store_true", help="allow TF32 in fp32 products and convolutions")
    add("--device", default="cuda:0", metavar="NAME", help="cuda:0 (the default), cuda:N or cpu")
    add("--seconds", type=number(float, 0.0, 3600.0), default=10.0, metavar="S",
        help="to measure each file, half of it without hooks (default: 10)")
    add("--warm-up", type=number(int, 1, 1000), default=10, metavar="N",
        help="iterations before that (default: 10)")
    add("--slug", type=slug, metavar="NAME", help="the device in file names")
    add("--out", type=pathlib.Path, default=HERE, metavar="DIR",
        help="default: where this script is")
    add("--models-dir", type=pathlib.Path, default=HERE.parent / "models", metavar="DIR",
        help="default: models/ beside it")
    add("--ddp-buckets", action="store_true",
        help="write the buckets that DDP makes of the gradients; time nothing")
    flags = parser.parse_args(arguments)
    if flags.ddp_buckets:
        for name in ("precision", "batch", "tf32", "seconds", "warm_up", "slug"):
            if getattr(flags, name) != parser.get_default(name):
                parser.error(f"--{name.replace('_', '-')} is of no use with --ddp-buckets")
    return flags


def main(arguments):
    flags = parse_flags(arguments)
    try:
        record_all(flags)
        return 0
    except TraceError as error:
        print(f"record_trace.py: {error}", file=sys.stderr)
        return error.code
    except RuntimeError as error:  # torch's, out of memory among them
        print(f"record_trace.py: {one_line(error)}", file=sys.stderr)
        return FAILURE
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message=".*TF32.*")
    sys.exit(main(sys.argv[1:]))
