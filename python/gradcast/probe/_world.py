"""All ranks: who they are, what they agree on, and how long their collectives take."""

from __future__ import annotations

import datetime
import os
import platform
import socket
import statistics
import time
from typing import Any, Callable, Dict, List, Optional

import torch
import torch.distributed as dist

from .._threads import wait_at_exit
from ..errors import InputError

SIZES = [4096 * 4**power for power in range(8)]  # 4 KiB to 64 MiB
KINDS = ("all-reduce", "all-gather", "broadcast")


class World:
    """The ranks of this probe. Every method but `now` is called by all of them."""

    def __init__(self, backend: str, timeout: float) -> None:
        if backend == "nccl" and not torch.cuda.is_available():
            raise InputError("--backend nccl needs a GPU, and torch sees none: take --backend gloo", 5)
        self.local_rank = int(os.environ.get("LOCAL_RANK", "0"))
        self.on_gpu = backend == "nccl"
        if self.on_gpu:
            torch.cuda.set_device(self.local_rank)
        self.device = torch.device("cuda", self.local_rank) if self.on_gpu else torch.device("cpu")
        self.backend = backend
        self._limit = datetime.timedelta(seconds=timeout)
        wait_at_exit()
        if "RANK" in os.environ:
            dist.init_process_group(backend, timeout=self._limit)
        else:  # started by itself
            store: Any = getattr(dist, "HashStore")()
            dist.init_process_group(backend, store=store, rank=0, world_size=1, timeout=self._limit)
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        # Objects and barriers never touch the GPU, so that one of them does not count as communication.
        self._control = dist.new_group(backend="gloo", timeout=self._limit) if self.on_gpu else None
        self.alone = self.group([self.rank]) if self.size == 1 else self._one_each()
        host = os.environ.get("GROUP_RANK", "") + "/" + socket.gethostname()  # torchrun numbers its agents
        names = self.all(host)
        self.hosts = [sorted(set(names), key=names.index).index(name) for name in names]

    def group(self, ranks: List[int]) -> Any:
        return dist.new_group(ranks, timeout=self._limit)

    def _one_each(self) -> Any:
        return [self.group([rank]) for rank in range(self.size)][self.rank]

    def all(self, value: Any) -> List[Any]:
        """The value of each rank, on all ranks."""
        values: List[Any] = [None] * self.size
        dist.all_gather_object(values, value, group=self._control)
        return values

    def told(self, value: Any) -> Any:
        """The value of rank 0, on all ranks."""
        values = [value]
        dist.broadcast_object_list(values, 0, group=self._control)
        return values[0]

    def agree(self, work: Callable[[], Any]) -> Any:
        """Does the work on each rank. Where it fails on one, InputError is raised on all."""
        made, line = None, None
        try:
            made = work()
        except InputError as error:
            line = (str(error), error.code)
        for other in self.all(line):
            if other:
                raise InputError(*other)
        return made

    def barrier(self) -> None:
        dist.barrier(group=self._control)

    def now(self) -> float:
        """Seconds, when the device has done all that was asked for."""
        if self.on_gpu:
            torch.cuda.synchronize()
        return time.perf_counter()

    @property
    def nodes(self) -> int:
        return max(self.hosts) + 1

    @property
    def ranks_by_host(self) -> List[int]:
        return [self.hosts.count(host) for host in range(self.nodes)]

    def versions(self) -> Dict[str, Any]:
        device = (torch.cuda.get_device_name(self.local_rank) if self.on_gpu
                  else platform.processor() or platform.machine())
        mine = {"host": self.hosts[self.rank], "name": socket.gethostname(), "device": device, "cores": os.cpu_count(),
                "threads": torch.get_num_threads()}
        nccl: Any = torch.cuda.nccl.version
        return {"torch": torch.__version__, "python": platform.python_version(), "system": platform.platform(),
                "backend": self.backend, "cuda": torch.version.cuda if self.on_gpu else None,
                "nccl": ".".join(map(str, nccl())) if self.on_gpu else None,
                "ranks": self.all(mine)}

    def groups(self) -> List[Dict[str, Any]]:
        """Groups that exchange: one rank of each of 2, 4, ... hosts; 2, 4, ... ranks of the first host; all ranks."""
        first = [self.hosts.index(host) for host in range(self.nodes)]
        inside = [rank for rank in range(self.size) if self.hosts[rank] == 0]
        chosen = [("hosts", first[:count]) for count in _doubled(len(first))]
        chosen += [("one host", inside[:count]) for count in _doubled(len(inside))]
        if len(first) > 1 and self.size > len(first):
            chosen.append(("all", list(range(self.size))))
        return [{"where": where, "ranks": ranks, "group": self.group(ranks)} for where, ranks in chosen]


def _doubled(most: int) -> List[int]:
    """2, 4, ..., and the most itself."""
    counts = [2**power for power in range(1, 20) if 2**power < most]
    return counts + [most] if most > 1 else []


def collectives(world: World, seconds: float, tell: Callable[[str], None]) -> List[Dict[str, Any]]:
    """Medians of collectives by size and group, as many as fit into the seconds: the largest group first, so that it
    lacks the fewest. A repetition counts as long as its slowest rank takes."""
    rows: List[Dict[str, Any]] = []
    end = time.monotonic() + seconds
    last: Dict[Any, float] = {}
    groups = world.groups()
    for size in SIZES:
        for kind in KINDS:
            for number, group in sorted(enumerate(groups), key=lambda each: -len(each[1]["ranks"])):
                expected = 4 * last.get((kind, number), 0.0025)
                # A broadcast is only looked at where it costs next to nothing.
                fits = time.monotonic() + 5 * expected < (end if kind != "broadcast" else end - seconds / 2)
                samples = world.told(max(3, min(15, int(0.5 / expected))) if fits else 0)
                if not samples:
                    continue
                repetitions = _times(world, kind, size, group, samples)
                last[kind, number] = statistics.median(repetitions)
                count = len(group["ranks"])
                rows.append({"collective": kind, "where": group["where"], "ranks": count,
                             "bytes": size // 4 // count * 4 if kind == "all-gather" else size,
                             "seconds": last[kind, number], "least_seconds": min(repetitions),
                             "most_seconds": max(repetitions), "samples": samples})
        tell(f"collectives of {size >> 10} KiB are measured" if size < 1 << 20 else
             f"collectives of {size >> 20} MiB are measured")
    return rows


def _times(world: World, kind: str, size: int, group: Dict[str, Any], samples: int) -> List[float]:
    ranks = group["ranks"]
    mine = []
    if world.rank in ranks:
        count = size // 4
        part = torch.zeros(max(1, count // len(ranks) if kind == "all-gather" else count), device=world.device)
        whole = torch.empty(part.numel() * len(ranks) if kind == "all-gather" else 0, device=world.device)

        def once() -> None:
            if kind == "all-reduce":
                dist.all_reduce(part, group=group["group"])
            elif kind == "all-gather":
                dist.all_gather_into_tensor(whole, part, group=group["group"])
            else:
                dist.broadcast(part, ranks[0], group=group["group"])

        for _ in range(samples + 1):
            dist.barrier(group=group["group"])
            begin = world.now()
            once()
            mine.append(world.now() - begin)
    everyone = [each for each in world.all(mine[1:]) if each]
    return [max(times) for times in zip(*everyone)]


def median_of(everyone: List[Optional[List[float]]]) -> float:
    """The median of the ranks' medians."""
    return statistics.median(statistics.median(each) for each in everyone if each)
