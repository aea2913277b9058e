"""Times a call: takes cold samples of it until they are enough."""
import collections
import math
import os
import statistics
import time

from .torch_here import torch

FEWEST_SAMPLES, LEAST_SAMPLES, MOST_SAMPLES = 3, 20, 1000
WARM_UPS = 5
MEBI = 1 << 20
Timing = collections.namedtuple("Timing", "median p95 samples wall")


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
        self.scratch = torch.zeros(scratch_bytes(device) // 4, device=device)

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
        # A GPU's L2 would hold what is written, and write it back while the call is timed.
        if self.device.type == "cuda":
            self.scratch.sum()
        else:
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
