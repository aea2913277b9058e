#!/usr/bin/env python3
"""Times an iteration of a network by layer and writes traces/iteration-<model>-<device>.csv.

usage: record_trace.py [--models LIST] [--precision fp32|amp|fp32,amp] [--batch N] [--tf32]
                       [--device cuda:N|cpu] [--seconds S] [--warm-up N] [--slug NAME]
                       [--out DIR] [--models-dir DIR]

examples:
  record_trace.py --precision fp32,amp                 all four models, eight files: minutes
  record_trace.py --models resnet-50 --batch 64 --out /tmp
  record_trace.py --models alexnet --device cpu --batch 2 --seconds 5 --out /tmp

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

exit codes: 0 done, 1 a failure, 2 a wrong flag, 3 a file that is not the network's, 5 no torch, no
such device, no torchvision or timm, 130 interrupted.
"""
import argparse
import collections
import contextlib
import csv
import datetime
import gc
import importlib
import os
import pathlib
import re
import statistics
import subprocess
import sys
import textwrap
import time
import warnings

try:
    import torch
except Exception as failure:  # a torch that cannot be loaded fails in many ways
    torch = None
    why_no_torch = " ".join(str(failure).split()) or type(failure).__name__

FAILURE, USAGE, BAD_INPUT, MISSING, INTERRUPTED = 1, 2, 3, 5, 130
HERE = pathlib.Path(__file__).resolve().parent
IMAGE = (3, 224, 224)
CLASSES = 1000
LEAST_ITERATIONS = 3
MOST_ITERATIONS = 500
IN_A_ROW = 6  # iterations between waits on a GPU; the first, begun on an idle one, is left out

Source = collections.namedtuple("Source", "package function")
SOURCES = {
    "alexnet": Source("torchvision", "alexnet"),
    "vgg-16": Source("torchvision", "vgg16"),
    "resnet-50": Source("torchvision", "resnet50"),
    "inception-v4": Source("timm", "inception_v4"),
}
Row = collections.namedtuple("Row", "layer tensor elements")
Parts = collections.namedtuple("Parts", "forward backward update")


class TraceError(Exception):
    """One line for the user, and the exit code."""

    def __init__(self, what, code):
        super().__init__(what)
        self.code = code


def one_line(error):
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:297] + "..."


# ---- models --------------------------------------------------------------------------------------


def read_model(path):
    """The rows of models/<model>.csv."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = csv.DictReader(line for line in file if not line.startswith("#"))
            return [Row(row["layer"], row["tensor"], int(row["elements"])) for row in rows]
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise TraceError(f"{path}: {one_line(error)}", BAD_INPUT) from error


def require_packages(models):
    """Before anything is measured."""
    for model in models:
        package = SOURCES[model].package
        try:
            importlib.import_module(package)
        except Exception as error:
            raise TraceError(f"{model} needs {package}: {one_line(error)}", MISSING) from error


def build_network(model):
    """With random weights."""
    package, function = SOURCES[model]
    if package == "torchvision":
        return getattr(importlib.import_module("torchvision.models"), function)(weights=None)
    return importlib.import_module(package).create_model(function, pretrained=False)


def names_of_tensors(network, rows, path):
    """({parameter's name: row}, how it was found)."""
    counts = {name: parameter.numel() for name, parameter in network.named_parameters()}
    if len(counts) != len(rows):
        raise TraceError(f"{path}: {len(rows)} tensors, the network here has {len(counts)}",
                         BAD_INPUT)
    if set(counts) == {row.tensor for row in rows}:
        mapping, how = {row.tensor: row for row in rows}, "by name"
    else:
        mapping, how = dict(zip(counts, rows)), "in order, as the network names them otherwise"
    for name, row in mapping.items():
        if counts[name] != row.elements:
            raise TraceError(f"{path}: tensor {row.tensor} has {row.elements} elements, "
                             f"{name} of the network here {counts[name]}", BAD_INPUT)
    return mapping, how


# ---- clocks --------------------------------------------------------------------------------------


class GpuClock:
    """Marks are events on the stream; their times can be read after wait()."""

    def __init__(self, device):
        self.device = device
        self.stream = torch.cuda.current_stream(device)

    def mark(self):
        event = torch.cuda.Event(enable_timing=True)
        event.record(self.stream)
        return event

    def wait(self):
        torch.cuda.synchronize(self.device)

    def seconds(self, begin, end):
        return begin.elapsed_time(end) / 1e3


class CpuClock:
    def mark(self):
        return time.perf_counter()

    def wait(self):
        pass

    def seconds(self, begin, end):
        return end - begin


# ---- one iteration -------------------------------------------------------------------------------


class Training:
    """A network, its optimizer and a batch; iterate() returns marks around each part."""

    def __init__(self, network, batch, device, autocast):
        self.network = network.to(device).train()
        self.images = torch.randn(batch, *IMAGE, device=device)
        self.labels = torch.randint(CLASSES, (batch,), device=device)
        self.loss = torch.nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=1e-3, momentum=0.9,
                                         weight_decay=1e-4)
        self.autocast = autocast
        self.clock = GpuClock(device) if device.type == "cuda" else CpuClock()

    def iterate(self):
        self.optimizer.zero_grad(set_to_none=True)
        marks = [self.clock.mark()]
        with self.autocast():
            loss = self.loss(self.network(self.images), self.labels)
        marks.append(self.clock.mark())
        loss.backward()
        marks.append(self.clock.mark())
        self.optimizer.step()
        marks.append(self.clock.mark())
        return marks


class Hooks:
    """Marks of one iteration: before modules that own parameters, and as gradients arrive."""

    def __init__(self, training, mapping):
        self.clock = training.clock
        self.start()
        self.handles = []
        for prefix, module in training.network.named_modules():
            own = [name for name, _ in module.named_parameters(recurse=False)]
            if own:
                layer = mapping[f"{prefix}.{own[0]}" if prefix else own[0]].layer
                self.handles.append(module.register_forward_pre_hook(self.before(layer)))
        for name, parameter in training.network.named_parameters():
            self.handles.append(on_gradient(parameter, self.arrived(mapping[name].layer)))

    def start(self):
        self.forward, self.backward = [], []

    def before(self, layer):
        return lambda module, inputs: self.forward.append((layer, self.clock.mark()))

    def arrived(self, layer):
        return lambda parameter: self.backward.append((layer, self.clock.mark()))

    def remove(self):
        for handle in self.handles:
            handle.remove()


def on_gradient(parameter, act):
    """Calls act(parameter) when its gradient is there. Before torch 2.1: just before it is
    accumulated, which copies nothing, as there was none."""
    if hasattr(parameter, "register_post_accumulate_grad_hook"):
        return parameter.register_post_accumulate_grad_hook(act)

    def hook(gradient):
        act(parameter)

    return parameter.register_hook(hook)


def forward_times(clock, marks, hooked):
    """Each layer from its mark to the next one's; the first from the start, the last to the end."""
    begins = [marks[0]] + [mark for _, mark in hooked[1:]]
    ends = [mark for _, mark in hooked[1:]] + [marks[1]]
    return summed((layer, clock.seconds(begin, end))
                  for (layer, _), begin, end in zip(hooked, begins, ends))


def backward_times(clock, marks, hooked):
    """Each gradient from the one before it; the last to the end."""
    begins = [marks[1]] + [mark for _, mark in hooked[:-1]]
    ends = [mark for _, mark in hooked[:-1]] + [marks[2]]
    return summed((layer, clock.seconds(begin, end))
                  for (layer, _), begin, end in zip(hooked, begins, ends))


def summed(pairs):
    sums = collections.defaultdict(float)
    for layer, seconds in pairs:
        sums[layer] += seconds
    return dict(sums)


# ---- many iterations -----------------------------------------------------------------------------


def repeat(training, seconds, iterate):
    """What iterate() returned of each iteration, as lists between two waits, until time is up."""
    in_a_row = IN_A_ROW if isinstance(training.clock, GpuClock) else 1
    done = 0
    begin = time.perf_counter()
    while done < LEAST_ITERATIONS or (time.perf_counter() - begin < seconds
                                      and done < MOST_ITERATIONS):
        marked = [iterate() for _ in range(in_a_row)]
        training.clock.wait()
        counted = marked[1:] or marked
        done += len(counted)
        yield counted


def warm_up(training, iterations):
    for _ in range(iterations):
        training.iterate()
    training.clock.wait()


def time_parts(training, seconds):
    """(medians of the parts, median of forward + backward, iterations), without hooks."""
    clock = training.clock
    iterations = [Parts(*(clock.seconds(a, b) for a, b in zip(marks, marks[1:])))
                  for counted in repeat(training, seconds, training.iterate) for marks in counted]
    medians = Parts(*map(statistics.median, zip(*iterations)))
    both = statistics.median(parts.forward + parts.backward for parts in iterations)
    return medians, both, len(iterations)


def time_layers(training, mapping, seconds):
    """(median forward and backward time of each layer, iterations)."""
    hooks = Hooks(training, mapping)

    def iterate():
        hooks.start()
        return training.iterate(), hooks.forward, hooks.backward

    forward, backward = collections.defaultdict(list), collections.defaultdict(list)
    iterations = 0
    try:
        for counted in repeat(training, seconds, iterate):
            for marks, before, arrived in counted:
                collect(forward, forward_times(training.clock, marks, before))
                collect(backward, backward_times(training.clock, marks, arrived))
                iterations += 1
    finally:
        hooks.remove()
    return medians_of(forward), medians_of(backward), iterations


def collect(lists, times):
    for layer, seconds in times.items():
        lists[layer].append(seconds)


def medians_of(lists):
    return {layer: statistics.median(times) for layer, times in lists.items()}


def require_all_layers(rows, forward, backward):
    for what, times in (("forward", forward), ("backward", backward)):
        missing = [row.layer for row in rows if row.layer not in times]
        if missing:
            raise TraceError(f"layer {missing[0]} took no part in {what}", FAILURE)


def tensor_times(rows, forward, backward, factor):
    """(tensor, forward, backward): a layer's first tensor has the one, its last the other."""
    first, last = {}, {}
    for row in rows:
        first.setdefault(row.layer, row.tensor)
        last[row.layer] = row.tensor
    return [(row.tensor,
             factor * forward[row.layer] if first[row.layer] == row.tensor else 0.0,
             factor * backward[row.layer] if last[row.layer] == row.tensor else 0.0)
            for row in rows]


# ---- precision -----------------------------------------------------------------------------------


def allow_tf32(allowed):
    if hasattr(torch.backends, "fp32_precision"):  # torch 2.9 and later
        torch.backends.cuda.matmul.fp32_precision = "tf32" if allowed else "ieee"
        torch.backends.cudnn.conv.fp32_precision = "tf32" if allowed else "ieee"
        return
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


def rounds_to_tf32(device):
    """Whether products or convolutions are seen to. TF32 has 10 bits: about 3e-4 here; fp32: 1e-6,
    as a Winograd convolution 1e-5."""
    def error(function, *tensors):
        exact = function(*(tensor.double() for tensor in tensors))
        return float((function(*tensors).double() - exact).abs().max() / exact.abs().max())

    a, b = (torch.randn(1024, 1024, device=device) for _ in range(2))
    images = torch.randn(16, 64, 56, 56, device=device)
    weights = torch.randn(64, 64, 3, 3, device=device)
    return max(error(torch.matmul, a, b),
               error(torch.nn.functional.conv2d, images, weights)) > 1e-4


def set_tf32(allowed, device):
    """What a trace says of it."""
    allow_tf32(allowed)
    if allowed:
        return ", TF32 allowed"
    return ", TF32 off" + (", yet products are rounded as by it" if rounds_to_tf32(device) else "")


def autocast_type(device):
    native = device.type == "cpu" or torch.cuda.get_device_capability(device) >= (8, 0)
    return torch.bfloat16 if native else torch.float16


def autocast_of(precision, device):
    if precision == "fp32":
        return contextlib.nullcontext
    return lambda: torch.autocast(device.type, dtype=autocast_type(device))


def precision_text(precision, device, tf32_text):
    if precision == "fp32":
        return "fp32" + tf32_text
    name = str(autocast_type(device)).replace("torch.", "")
    return (f"mixed: torch.autocast to {name}, without loss scaling; weights, gradients and update "
            f"fp32{tf32_text}")


# ---- provenance ----------------------------------------------------------------------------------


def device_name(device):
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "CPU"


def slug_of(name):
    """NVIDIA H200: h200; Intel(R) Xeon(R) CPU @ 2.20GHz: intel-xeon, as `gradcast calibrate`."""
    name = re.sub(r"\(r\)|\(tm\)| cpu| processor|\b(nvidia|tesla|geforce|quadro)\b", "",
                  name.lower().split("@")[0])
    return re.sub(r"[^a-z0-9]+", "-", name).strip("-") or "device"


def driver_version():
    """"" where it cannot be asked for."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        return done.stdout.split("\n")[0].strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def software(model, device):
    package = SOURCES[model].package
    module = sys.modules.get(package) or importlib.import_module(package)
    words = [f"torch {torch.__version__}", f"{package} {getattr(module, '__version__', '?')}",
             f"Python {sys.version.split()[0]}"]
    if device.type == "cuda":
        words += [f"CUDA {torch.version.cuda}", f"cuDNN {torch.backends.cudnn.version()}",
                  f"driver {driver_version() or 'unknown'}"]
    else:
        words.append(f"{torch.get_num_threads()} threads")
    return ", ".join(words)


def comments(paragraphs):
    """Wrapped; further lines of a paragraph are indented, so that none looks like a key."""
    return "".join(textwrap.fill(text, width=100, initial_indent="# ", subsequent_indent="#   ",
                                 break_long_words=False, break_on_hyphens=False) + "\n"
                   for text in paragraphs)


def plain(seconds):
    """To the nanosecond, without exponent or zeros at the end."""
    return f"{seconds:.9f}".rstrip("0").rstrip(".")


def trace_text(heading, times):
    """All that a trace file says."""
    lines = [f"{tensor},{plain(forward)},{plain(backward)}" for tensor, forward, backward in times]
    return comments(heading) + "\n".join(["tensor,forward_seconds,backward_seconds"] + lines) + "\n"


def write_whole(path, text):
    """Under another name until it is whole."""
    unfinished = path.with_name(path.name + f".{os.getpid()}.tmp")
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise TraceError(f"{path}: {one_line(error)}", FAILURE) from error


# ---- recording -----------------------------------------------------------------------------------


def record(model, precision, network, device, flags):
    """Measures and writes one file; returns its path and a line of what was measured."""
    path = flags.models_dir / f"{model}.csv"
    rows = read_model(path)
    mapping, how = names_of_tensors(network, rows, path)
    training = Training(network, flags.batch, device, autocast_of(precision, device))
    warm_up(training, flags.warm_up)
    parts, both, unhooked = time_parts(training, flags.seconds / 2)
    forward, backward, hooked = time_layers(training, mapping, flags.seconds / 2)
    require_all_layers(rows, forward, backward)
    hooked_total = sum(forward.values()) + sum(backward.values())
    factor = both / hooked_total
    package, function = SOURCES[model]
    heading = [
        f"device: {device_name(device)}",
        f"batch: {flags.batch}",
        f"update: {plain(parts.update)}s",
        f"precision: {precision_text(precision, device, flags.tf32_text)}",
        f"network: {package} {function}, random weights; images random, 3 x 224 x 224, NCHW",
        f"software: {software(model, device)}",
        f"date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}",
        f"samples: {unhooked} iterations without hooks, {hooked} with, after {flags.warm_up} to"
        " warm up; medians",
        f"without hooks: forward {plain(parts.forward)}s, backward {plain(parts.backward)}s,"
        f" together {plain(both)}s",
        f"with hooks: the parts add up to {plain(hooked_total)}s; all of them were multiplied by"
        f" {factor:.4f}",
        f"tensors: matched with {model}.csv {how}",
        "optimizer: SGD, momentum 0.9, weight decay 0.0001, as torch runs it by default; zero_grad"
        " sets to none and is in no time",
        "method: a layer's forward time lasts until the next one with parameters begins, a"
        " gradient's backward time begins where the one before it was accumulated"
        + ("; cuDNN searches for its fastest convolutions" if device.type == "cuda" else ""),
        "Made by traces/record_trace.py.",
    ]
    target = flags.out / file_name(model, precision, device, flags)
    write_whole(target, trace_text(heading, tensor_times(rows, forward, backward, factor)))
    return target, (f"forward + backward {1e3 * both:.3f} ms, update {1e3 * parts.update:.3f} ms, "
                    f"factor {factor:.3f}")


def file_name(model, precision, device, flags):
    suffix = "-amp" if precision == "amp" else "-tf32" if flags.tf32 else ""
    return f"iteration-{model}-{flags.slug or slug_of(device_name(device))}{suffix}.csv"


def release(device):
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()


def record_all(flags):
    device = open_device(flags.device)
    if not flags.out.is_dir():
        raise TraceError(f"--out: no folder {flags.out}", USAGE)
    for model in flags.models:
        read_model(flags.models_dir / f"{model}.csv")
    require_packages(flags.models)
    torch.manual_seed(1)
    flags.tf32_text = "" if device.type == "cpu" else set_tf32(flags.tf32, device)
    torch.backends.cudnn.benchmark = True
    for model in flags.models:
        network = build_network(model)
        for precision in flags.precision:
            begin = time.perf_counter()
            path, line = record(model, precision, network, device, flags)
            print(f"{path}: {line} ({time.perf_counter() - begin:.0f} s)", flush=True)
            release(device)
        del network
        release(device)


def open_device(text):
    """cuda, cuda:N, gpu, gpu:N or cpu."""
    if torch is None:
        raise TraceError(f"no torch: {why_no_torch}", MISSING)
    kind, _, number = text.partition(":")
    if text == "cpu":
        return torch.device("cpu")
    if kind not in ("gpu", "cuda") or not (number or "0").isdecimal():
        raise TraceError(f"--device: '{text}' is none of cpu, cuda, cuda:N", USAGE)
    index = int(number or 0)
    if not torch.cuda.is_available() or index >= torch.cuda.device_count():
        raise TraceError(f"torch {torch.__version__} sees no such device: {text}", MISSING)
    torch.cuda.set_device(index)
    return torch.device("cuda", index)


# ---- the command line ----------------------------------------------------------------------------


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
    return parser.parse_args(arguments)


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
