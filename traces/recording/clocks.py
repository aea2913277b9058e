"""Marks in an iteration, and the times between them."""
import time

from .torch_here import torch


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
