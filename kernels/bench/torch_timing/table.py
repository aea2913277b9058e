"""The table for people: points that flags ask for, a row each."""
import csv
import pathlib

from .device import cuda_version, device_name, open_bench, version
from .encoders import AS_LAUNCHED, BEST, ENCODERS
from .errors import BAD_INPUT, FAILURE, BaselineError, one_line
from .measurement import Point, measured_or_error
from .torch_here import torch

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


def models_folder():
    """The folder beside the program where it is installed, else the source tree's."""
    here = pathlib.Path(__file__).resolve()
    installed = here.parents[1] / "models"
    return installed if installed.is_dir() else here.parents[3] / "models"


def model_tensors(name):
    path = models_folder() / f"{name}.csv"
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
