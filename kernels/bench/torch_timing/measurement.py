"""Measures a point: its encode, its decodes, what was selected, and its recall."""
import collections
import gc
import math
import statistics

from .decoders import DECODERS, distinct_sets, sets_of_workers
from .encoders import ENCODERS
from .errors import one_line
from .inputs import INPUTS
from .torch_here import torch

Point = collections.namedtuple(
    "Point", "compressor mode variant tensors wanted distribution workers")
Result = collections.namedtuple("Result", "encode decode selected recall")
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
    """The number of the k largest magnitudes among the indices; of equals any will do."""
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
