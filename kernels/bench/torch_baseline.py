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
scratch buffer (on a GPU 256 MiB or 4 x L2, on a CPU 2 x L3, at most 64 MiB) is overwritten, and
the device is waited for. On a GPU two CUDA events lie around the call. Where an operator waits for
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
import collections
import csv
import gc
import json
import math
import os
import pathlib
import statistics
import sys
import time

try:
    import torch
except Exception as failure:  # a torch that cannot be loaded fails in many ways
    torch = None
    why_no_torch = " ".join(str(failure).split()) or type(failure).__name__

FAILURE, USAGE, BAD_INPUT, MISSING, INTERRUPTED = 1, 2, 3, 5, 130
FEWEST_SAMPLES, LEAST_SAMPLES, MOST_SAMPLES = 3, 20, 1000
WARM_UPS = 5
MEBI = 1 << 20
MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"

Timing = collections.namedtuple("Timing", "median p95 samples wall")
Point = collections.namedtuple(
    "Point", "compressor mode variant tensors wanted distribution workers")
Result = collections.namedtuple("Result", "encode decode selected recall")


class BaselineError(Exception):
    """One line for the user, and the exit code."""

    def __init__(self, what, code=USAGE):
        super().__init__(what)
        self.code = code


# ---- inputs: as kernels/inputs.hpp means them, drawn by torch ------------------------------------

SIGMA = 1e-3


def normal(n, draw):
    return torch.randn(n, **draw)


def uniform(n, draw):
    return torch.rand(n, **draw)


def laplace(n, draw):
    u = uniform(n, draw) - 0.5
    return -SIGMA * torch.sign(u) * torch.log(1 - 2 * u.abs() + 1e-12)


def student(freedom):
    def of(n, draw):
        chi_squared = sum(normal(n, draw).square_() for _ in range(freedom))
        return SIGMA * normal(n, draw) / torch.sqrt(chi_squared / freedom)

    return of


def layermix(n, draw):
    """Layers of 65,536 and rows of 256 elements, lognormal scales."""
    rows = -(-n // 256)
    scales = SIGMA * torch.exp(0.8 * normal(rows, draw))
    layers = torch.exp(1.5 * normal(-(-rows // 256), draw))
    scales *= layers.repeat_interleave(256)[:rows]
    return normal(rows * 256, draw).view(rows, 256).mul_(scales[:, None]).view(-1)[:n]


def mostly_zero(zeros):
    def of(n, draw):
        return normal(n, draw).masked_fill_(uniform(n, draw) < zeros, 0.0)

    return of


def hot_block(n, draw):
    x = 1e-6 * normal(n, draw)
    x[: n // 1000] = 1 + uniform(n // 1000, draw)
    return x


def not_finite(n, draw):
    x, u = normal(n, draw), uniform(n, draw)
    for below, value in ((3e-4, -math.inf), (2e-4, math.inf), (1e-4, math.nan)):
        x.masked_fill_(u < below, value)
    return x


def leading_bits(n, draw):
    return 1 + torch.randint(256, (n,), **draw).float() * 2.0 ** -23


def positions(n, draw):
    return torch.arange(n, device=draw["device"]).float()


INPUTS = {
    "normal": lambda n, draw: SIGMA * normal(n, draw),
    "laplace": laplace,
    "student_t2": student(2),
    "student_t3": student(3),
    "layermix": layermix,
    "constant": lambda n, draw: torch.full((n,), 0.01, device=draw["device"]),
    "zero": lambda n, draw: torch.zeros(n, device=draw["device"]),
    "negative_zero": lambda n, draw: torch.full((n,), -0.0, device=draw["device"]),
    "sparse": mostly_zero(0.9995),
    "relu": mostly_zero(0.9),
    "ties": lambda n, draw: torch.round(normal(n, draw) * 8) / 8,
    "denormal": lambda n, draw: normal(n, draw) * 2.0 ** -140,
    "not_finite": not_finite,
    "ascending": positions,
    "descending": lambda n, draw: n - positions(n, draw),
    "hot_block": hot_block,
    "leading_bits": leading_bits,
    "outliers": lambda n, draw: normal(n, draw).masked_fill_(uniform(n, draw) < 5e-4, 1e30),
}


# ---- what is selected: as launched ---------------------------------------------------------------


def above(magnitudes, threshold):
    """Indices; the host waits until it knows how many."""
    return (magnitudes > threshold).nonzero().view(-1)


def largest_among(magnitudes, indices, k):
    return indices[torch.topk(magnitudes[indices], k).indices]


def select_topk(u, k):
    return torch.topk(u.abs(), k).indices


def select_randk(u, k):
    return torch.randperm(u.numel(), device=u.device)[:k]


def select_rtopk(u, k):
    r = min(5 * k, u.numel())
    candidates = torch.topk(u.abs(), r).indices
    return candidates[torch.randperm(r, device=u.device)[:k]]


def sampled_threshold(magnitudes, size, rank):
    sample = magnitudes[torch.randperm(magnitudes.numel(), device=magnitudes.device)[:size]]
    return torch.topk(sample, rank).values[rank - 1]


def cut_to_k(magnitudes, indices, k):
    """DGC's second selection: only where far more passed."""
    return largest_among(magnitudes, indices, k) if 3 * indices.numel() > 4 * k else indices


def select_dgc_code(u, k):
    """The rank in a sample of 1 % is k itself, so about 100 k pass at a density of 0.001."""
    magnitudes = u.abs()
    size = max(u.numel() // 100, 1)
    threshold = sampled_threshold(magnitudes, size, min(k, size))
    return cut_to_k(magnitudes, above(magnitudes, threshold), k)


def select_dgc_paper(u, k):
    """The rank is k scaled to the sample, which has at least two of the k."""
    d = u.numel()
    magnitudes = u.abs()
    size = min(max(d // 100, 2 * -(-d // k)), d)
    threshold = sampled_threshold(magnitudes, size, -(-k * size // d))
    return cut_to_k(magnitudes, (magnitudes >= threshold).nonzero().view(-1), k)


def deviations(k, d, sides):
    """How many sigma the first threshold of Gaussian-k lies above the mean, for 0 < k < d."""
    return statistics.NormalDist().inv_cdf(1 - k / d / sides)


def adjusted(magnitudes, threshold, k, evaluations):
    """What the last evaluation found; the threshold's last adjustment is lost."""
    for _ in range(evaluations):
        indices = above(magnitudes, threshold)
        if 3 * indices.numel() < 2 * k:
            threshold = threshold * 0.5
        elif 3 * indices.numel() > 4 * k:
            threshold = threshold * 1.5
        else:
            break
    return indices


def select_gaussian(sides, evaluations):
    def select(u, k):
        std = torch.std(u)
        mean = torch.mean(u)
        threshold = float(mean) + deviations(k, u.numel(), sides) * float(std)  # two waits
        return adjusted(u.abs(), threshold, k, evaluations)

    return select


def trimmed(magnitudes, k):
    """mean + r (max - mean) for r = 0.8, and again 0.8, 0.6 ... 0 until k pass; then everything."""
    mean = torch.mean(magnitudes)
    reach = torch.max(magnitudes) - mean
    indices = above(magnitudes, mean + 0.8 * reach)
    for ratio in (0.8, 0.6, 0.4, 0.2, 0.0):
        if indices.numel() >= k:
            return indices
        indices = above(magnitudes, mean + ratio * reach)
    return indices if indices.numel() >= k else above(magnitudes, -1.0)


def select_trimmed_code(u, k):
    return trimmed(u.abs(), k)


def select_trimmed_paper(u, k):
    magnitudes = u.abs()
    return largest_among(magnitudes, trimmed(magnitudes, k), k)


def everything_or_nothing(u, k):
    return torch.arange(u.numel() if k > 0 else 0, device=u.device)


def as_launched(select):
    def encode(gradient, residual, k):
        u = gradient.add_(residual)
        indices = (select if 0 < k < u.numel() else everything_or_nothing)(u, k)
        values = u[indices]
        residual.copy_(u)
        residual[indices] = 0.0
        return values, indices.int()

    return encode


# ---- and at its best -----------------------------------------------------------------------------


def best(select):
    def encode(gradient, residual, k):
        residual.add_(gradient)
        indices = (select if 0 < k < residual.numel() else everything_or_nothing)(residual, k)
        values = residual.index_select(0, indices)
        residual.index_fill_(0, indices, 0.0)
        return values, indices.int()

    return encode


def best_topk(u, k):
    return torch.topk(u.abs(), k, sorted=False).indices


def best_gaussian(sides, evaluations):
    def select(u, k):
        std, mean = torch.std_mean(u)
        threshold = mean + deviations(k, u.numel(), sides) * std  # stays on the device
        return adjusted(u.abs(), threshold, k, evaluations)

    return select


AS_LAUNCHED = "as-launched"
BEST = "best"
ENCODERS = {
    ("topk", "", AS_LAUNCHED): as_launched(select_topk),
    ("topk", "", BEST): best(best_topk),
    ("randk", "", AS_LAUNCHED): as_launched(select_randk),
    ("dgc", "code", AS_LAUNCHED): as_launched(select_dgc_code),
    ("dgc", "paper", AS_LAUNCHED): as_launched(select_dgc_paper),
    ("gaussian", "code", AS_LAUNCHED): as_launched(select_gaussian(sides=2, evaluations=3)),
    ("gaussian", "code", BEST): best(best_gaussian(sides=2, evaluations=3)),
    ("gaussian", "paper", AS_LAUNCHED): as_launched(select_gaussian(sides=1, evaluations=4)),
    ("gaussian", "paper", BEST): best(best_gaussian(sides=1, evaluations=4)),
    ("trimmed", "code", AS_LAUNCHED): as_launched(select_trimmed_code),
    ("trimmed", "paper", AS_LAUNCHED): as_launched(select_trimmed_paper),
    ("rtopk", "", AS_LAUNCHED): as_launched(select_rtopk),
}


# ---- decode --------------------------------------------------------------------------------------


def decode_as_launched(dense, sets):
    dense.zero_()
    for values, indices in sets:
        where = indices.long()
        dense[where] += values


def decode_best(dense, sets):
    dense.zero_()
    for values, indices in sets:
        dense.index_add_(0, indices, values)


DECODERS = {AS_LAUNCHED: decode_as_launched, BEST: decode_best}


MOST_BYTES_OF_SETS = 1024 * MEBI


def distinct_sets(encoded, workers):
    """How many workers' sets fit; further workers send the same ones again."""
    size = sum(8 * values.numel() for values, _ in encoded)
    return min(max(MOST_BYTES_OF_SETS // max(size, 1), 1), workers)


def sets_of_workers(values, indices, elements, workers, distinct):
    """One set a worker, in memory of its own: the first's, moved along the tensor."""
    sets = [(values.clone(), ((indices.long() + elements * worker // distinct) % elements).int())
            for worker in range(distinct)]
    return [sets[worker % distinct] for worker in range(workers)]


# ---- timing --------------------------------------------------------------------------------------


def summary(device_seconds, wall_seconds):
    ordered = sorted(device_seconds)
    p95 = ordered[(95 * len(ordered) + 99) // 100 - 1]
    return Timing(statistics.median(ordered), p95, len(ordered), statistics.median(wall_seconds))


def median_uncertainty(times):
    """Half its 95 % confidence interval, by order statistics, as a share of it."""
    n, ordered = len(times), sorted(times)
    ranks = 0.98 * math.sqrt(n)
    low = max(1, math.floor(n / 2 - ranks))
    high = min(n, math.ceil(n / 2 + 1 + ranks))
    width = ordered[high - 1] - ordered[low - 1]
    return width / 2 / statistics.median(ordered) if width > 0 else 0.0


def enough(times, elapsed, seconds):
    if len(times) >= MOST_SAMPLES:
        return True
    if len(times) >= LEAST_SAMPLES:
        return elapsed >= seconds or median_uncertainty(times) < 0.005
    return len(times) >= FEWEST_SAMPLES and elapsed >= 2 * seconds


def last_level_cache():
    """Bytes of the CPU's; 0 where the system does not say."""
    try:
        return os.sysconf("SC_LEVEL3_CACHE_SIZE")
    except (OSError, ValueError):
        return 0


def scratch_bytes(device):
    if device.type == "cpu":
        last_level = last_level_cache()
        return min(2 * last_level, 64 * MEBI) if last_level > 0 else 64 * MEBI
    l2 = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0)
    return max(256 * MEBI, 4 * l2)


class Bench:
    """One device, and how calls are timed on it."""

    def __init__(self, device):
        self.device = device
        self.scratch = torch.empty(scratch_bytes(device) // 4, device=device)

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def time_on_gpu(self, call):
        before = torch.cuda.Event(enable_timing=True)
        after = torch.cuda.Event(enable_timing=True)
        start = time.perf_counter()
        before.record()
        result = call()
        after.record()
        after.synchronize()
        wall = time.perf_counter() - start
        return before.elapsed_time(after) / 1e3, wall, result

    def time_on_cpu(self, call):
        start = time.perf_counter()
        result = call()
        wall = time.perf_counter() - start
        return wall, wall, result

    def sample(self, prepare, call):
        """(device seconds, wall seconds, what the call returned), cold."""
        prepare()
        self.scratch.fill_(1.0)
        self.wait()
        return (self.time_on_gpu if self.device.type == "cuda" else self.time_on_cpu)(call)

    def timing(self, prepare, call, seconds, see=lambda result: None):
        """`see` is shown what each sample's call returned."""
        begin = time.perf_counter()
        for warm_up in range(WARM_UPS):
            self.sample(prepare, call)
            if warm_up > 0 and time.perf_counter() - begin > seconds / 4:
                break
        device_seconds, wall_seconds = [], []
        begin = time.perf_counter()
        while not enough(device_seconds, time.perf_counter() - begin, seconds):
            device, wall, result = self.sample(prepare, call)
            device_seconds.append(device)
            wall_seconds.append(wall)
            see(result)
        return summary(device_seconds, wall_seconds)


# ---- points --------------------------------------------------------------------------------------

ALIGNMENT = 128  # elements: 512 bytes, as torch aligns tensors of their own


class Buffers:
    """Gradient and residual of a point's tensors, each in one buffer that one copy restores."""

    def __init__(self, point, device, seed):
        self.elements = point.tensors
        self.offsets, total = [], 0
        for elements in self.elements:
            self.offsets.append(total)
            total += -(-elements // ALIGNMENT) * ALIGNMENT
        draw = {"device": device, "generator": torch.Generator(device=device).manual_seed(seed)}
        self.pristine = [INPUTS[point.distribution](total, draw) for _ in range(2)]
        self.current = [torch.empty_like(pristine) for pristine in self.pristine]
        self.pairs = list(zip(*map(self.views, self.current)))

    def views(self, flat):
        return [flat[o:o + n] for o, n in zip(self.offsets, self.elements)]

    def restore(self):
        for current, pristine in zip(self.current, self.pristine):
            current.copy_(pristine)

    def sums(self):
        """Gradient + residual of one tensor after another."""
        for gradient, residual in zip(*map(self.views, self.pristine)):
            yield gradient + residual


def found_of_largest(u, indices, k):
    """How many of the k largest magnitudes are among the indices; of equals any will do."""
    if k <= 0:
        return 0
    magnitudes = torch.nan_to_num(u.abs(), nan=math.inf, posinf=math.inf)
    least = torch.topk(magnitudes, k).values[k - 1]
    selected = magnitudes[indices.long()]
    larger = int((selected > least).sum())
    wanted_equals = k - int((magnitudes > least).sum())
    return larger + min(int((selected == least).sum()), wanted_equals)


def recall_of(buffers, wanted, encoded):
    wanted = [min(k, n) for k, n in zip(wanted, buffers.elements)]
    found = sum(found_of_largest(u, indices, k)
                for u, (_, indices), k in zip(buffers.sums(), encoded, wanted))
    return found / sum(wanted) if sum(wanted) > 0 else 1.0


def measure(bench, point, seconds, seed):
    torch.manual_seed(seed)
    encode = ENCODERS[point.compressor, point.mode, point.variant]
    buffers = Buffers(point, bench.device, seed)

    def encode_all():
        return [encode(g, e, k) for (g, e), k in zip(buffers.pairs, point.wanted)]

    counts = []
    encoding = bench.timing(buffers.restore, encode_all, seconds,
                            lambda sets: counts.append(sum(v.numel() for v, _ in sets)))
    buffers.restore()
    encoded = encode_all()
    recall = recall_of(buffers, point.wanted, encoded)
    decoding = [time_decode(bench, point, buffers, encoded, workers, seconds)
                for workers in point.workers]
    return Result(encoding, decoding, statistics.fmean(counts), recall)


def time_decode(bench, point, buffers, encoded, workers, seconds):
    decode = DECODERS[point.variant]
    distinct = distinct_sets(encoded, workers)
    sets = [sets_of_workers(values, indices, elements, workers, distinct)
            for (values, indices), elements in zip(encoded, point.tensors)]
    dense = buffers.views(buffers.current[0])

    def decode_all():
        for tensor, of_workers in zip(dense, sets):
            decode(tensor, of_workers)

    return bench.timing(lambda: None, decode_all, seconds)


def one_line(error):
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:297] + "..."


def measured_or_error(bench, point, seconds, seed):
    """(result, None) or (None, one line). Out of memory is such a line."""
    try:
        return measure(bench, point, seconds, seed), None
    except Exception as error:  # the next point may well succeed
        line = one_line(error)
    gc.collect()
    if bench.device.type == "cuda":
        torch.cuda.empty_cache()
    return None, line


# ---- the protocol --------------------------------------------------------------------------------


def need(request, key, good, what):
    value = request.get(key)
    if not good(value):
        raise BaselineError(f"'{key}' is {json.dumps(value)}: should be {what}")
    return value


def is_count(value, least=0):
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 1 << 31


def are_counts(least):
    return lambda value: isinstance(value, list) and all(is_count(v, least) for v in value)


def is_seconds(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 3600


def point_of(request, variant):
    if not isinstance(request, dict):
        raise BaselineError("a request is a JSON object")
    tensors = need(request, "tensors", are_counts(1), "a list of elements, 1 to 2147483647")
    wanted = need(request, "wanted", are_counts(0), "a list of what is wanted of each tensor")
    if not tensors or len(tensors) != len(wanted):
        raise BaselineError(f"{len(tensors)} tensors, {len(wanted)} wanted")
    workers = need(request, "workers", are_counts(1), "a list of numbers of workers")
    distribution = need(request, "distribution", lambda value: isinstance(value, str), "a name")
    if distribution not in INPUTS:
        raise BaselineError(f"no distribution '{distribution}' here: {', '.join(INPUTS)}")
    names = [need(request, key, lambda value: isinstance(value, str), "a text")
             for key in ("compressor", "mode")]
    if (*names, variant) not in ENCODERS:
        raise BaselineError(f"no compressor '{names[0]}' of mode '{names[1]}', variant {variant}")
    return Point(*names, variant, tensors, wanted, distribution, workers)


def answer(bench, line, variant):
    try:
        request = json.loads(line)
        point = point_of(request, variant)
        seconds = need(request, "seconds", is_seconds, "seconds, above 0")
        seed = need(request, "seed", is_count, "a number from 0 on")
    except (ValueError, BaselineError) as error:
        return {"error": one_line(error)}
    result, failure = measured_or_error(bench, point, seconds, seed)
    if failure:
        return {"error": failure}
    return {"encode": result.encode[:3], "decode": [timing[:3] for timing in result.decode],
            "selected": result.selected, "recall": result.recall, "variant": variant}


def take_stdout():
    """The protocol's own stream; whatever else writes to standard output goes to standard error."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    return stream


def serve(flags):
    protocol = take_stdout()

    def say(value):
        protocol.write(json.dumps(value) + "\n")
        protocol.flush()

    try:
        bench = open_bench(flags.device)
    except BaselineError as error:
        say({"error": one_line(error)})
        return error.code
    say({"torch": version(), "device": device_name(bench.device), "cuda": cuda_version(bench)})
    for line in iter(sys.stdin.readline, ""):
        if line.strip():
            say(answer(bench, line, flags.variant))
    return 0


# ---- the device ----------------------------------------------------------------------------------


def version():
    return torch.__version__.split("+")[0]


def cuda_version(bench):
    return (torch.version.cuda or "") if bench.device.type == "cuda" else ""


def device_name(device):
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "CPU"


def open_device(text):
    """gpu, gpu:N, cuda, cuda:N or cpu."""
    kind, _, number = text.partition(":")
    if torch is None:
        raise BaselineError(f"no torch: {why_no_torch}", MISSING)
    if text == "cpu":
        return torch.device("cpu")
    if kind not in ("gpu", "cuda") or not (number or "0").isdecimal():
        raise BaselineError(f"--device: '{text}' is none of cpu, gpu, gpu:N")
    index = int(number or 0)
    if not torch.cuda.is_available() or index >= torch.cuda.device_count():
        raise BaselineError(f"torch {version()} sees no such device: {text}", MISSING)
    torch.cuda.set_device(index)
    return torch.device("cuda", index)


def open_bench(text):
    device = open_device(text)
    try:
        return Bench(device)
    except RuntimeError as error:
        raise BaselineError(f"{text}: {one_line(error)}", FAILURE) from error


# ---- the table for people ------------------------------------------------------------------------

COLUMNS = (("compressor", 10), ("mode", 5), ("variant", 11), ("tensors", 7), ("elements", 10),
           ("density", 8), ("encode", 10), ("p95", 10), ("wall", 10), ("selected/k", 10),
           ("recall", 7), ("samples", 7))
TEXTS = 3  # of the columns are words, the others numbers


def row_text(cells, columns):
    return "  ".join(cell.ljust(width) if i < TEXTS else cell.rjust(width)
                     for i, (cell, (_, width)) in enumerate(zip(cells, columns))).rstrip()


def time_text(seconds):
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3f} {unit}"
    return f"{seconds / 1e-6:.1f} us"


def point_cells(point, density):
    return [point.compressor, point.mode or "-", point.variant, str(len(point.tensors)),
            str(sum(point.tensors)), f"{density:g}"]


def result_cells(point, result):
    times = [time_text(t) for t in (result.encode.median, result.encode.p95, result.encode.wall)]
    return times + [f"{result.selected / sum(point.wanted):.3f}", f"{result.recall:.3f}",
                    str(result.encode.samples)] + [time_text(t.median) for t in result.decode]


def model_tensors(name):
    path = MODELS / f"{name}.csv"
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = csv.DictReader(line for line in file if not line.startswith("#"))
            return [int(row["elements"]) for row in rows]
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise BaselineError(f"{path}: {one_line(error)}", BAD_INPUT) from error


def wanted_of(elements, density):
    return min(max(int(elements * density), 1), elements)


def points_of(flags):
    """(point, density), as the table shows them."""
    sizes = [[n] for n in flags.elements] + [model_tensors(name) for name in flags.models]
    variants = (AS_LAUNCHED, BEST) if flags.variant == "all" else (flags.variant,)
    for tensors in sizes:
        for density in flags.densities:
            wanted = [wanted_of(n, density) for n in tensors]
            for compressor, mode, variant in ENCODERS:
                if compressor in flags.compressors and variant in variants:
                    yield Point(compressor, mode, variant, tensors, wanted, flags.distribution,
                                flags.workers), density


def topk_check(bench, elements=100_000_000, k=100):
    """Shows whether torch.topk is the modern one: times of pytorch/pytorch#164459."""
    x = torch.randn(elements, device=bench.device)
    timing = bench.timing(lambda: None, lambda: torch.topk(x, k), 0.3)
    return (f"torch.topk of {elements} elements, k = {k}: {time_text(timing.median)} (an H20's: "
            "17.4 ms in torch 2.8, 2.54 ms since pytorch#164459)")


def print_table(flags):
    points = list(points_of(flags))
    if not points:
        raise BaselineError("nothing to measure: no such compressor in this variant")
    bench = open_bench(flags.device)
    print(f"torch {version()}, CUDA {cuda_version(bench) or '-'}, {device_name(bench.device)}, "
          f"{torch.get_num_threads()} threads; {flags.distribution}, seed {flags.seed}, cold cache")
    if bench.device.type == "cuda":
        try:
            print(topk_check(bench))
        except RuntimeError as error:
            print(f"torch.topk of 100M elements: {one_line(error)}")
    columns = COLUMNS + tuple((f"decode {workers}", 10) for workers in flags.workers)
    print(row_text([name for name, _ in columns], columns), flush=True)
    failed = 0
    for point, density in points:
        result, failure = measured_or_error(bench, point, flags.seconds, flags.seed)
        cells = point_cells(point, density)
        if failure:
            failed += 1
            print(row_text(cells, columns) + "  " + failure, flush=True)
        else:
            print(row_text(cells + result_cells(point, result), columns), flush=True)
    return FAILURE if failed == len(points) else 0


# ---- the command line ----------------------------------------------------------------------------


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
