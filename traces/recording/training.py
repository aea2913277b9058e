"""A network in training: one iteration, many of them, and their parts without hooks."""
import collections
import statistics
import time

from .clocks import CpuClock, GpuClock
from .torch_here import torch

IMAGE = (3, 224, 224)
CLASSES = 1000
LEAST_ITERATIONS = 3
MOST_ITERATIONS = 500
IN_A_ROW = 6  # iterations between waits on a GPU; the first, begun on an idle one, is left out
Parts = collections.namedtuple("Parts", "forward backward update")


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


def repeat(training, seconds, iterate):
    """Results of iterate(), as one list between two waits, until time is up."""
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
