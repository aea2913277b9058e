"""The step by every schedule: alone, in DistributedDataParallel, on all ranks, with hooks."""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from .. import _compressors
from .._seen import sum_of_all
from ..errors import InputError
from ..torch import hook
from ..torch._hook import refuse_sparse
from ._world import World, median_of

WARM_UP = 4  # iterations: DDP rebuilds its buckets after the first, PowerSGD compresses from the third on
FEWEST, MOST = 5, 40
POWERSGD_RANK = 4


@dataclass(frozen=True)
class Schedule:
    """A way to exchange gradients. `compressor`: as forecasts name it, "" where gradients go as they are."""

    name: str
    words: str
    compressor: str = ""
    density: float = 1.0
    parameter: float = 0.0  # 0: the compressor's own
    ours: bool = False  # gradcast's hook, not PyTorch's
    merged: bool = False  # no overlap: all gradients in one all-reduce after backward
    one_bucket: bool = False

    def fusion(self, model_bytes: int) -> str:
        return "merged" if self.merged else f"{self.bucket_mib(model_bytes)}MiB" if self.one_bucket else "ddp"

    @staticmethod
    def bucket_mib(model_bytes: int) -> int:
        return math.ceil(model_bytes / (1 << 20)) + 1


DENSE = Schedule("ddp", "DDP")


def schedules(hooks: str, on_gpu: bool) -> List[Schedule]:
    """DDP, one flat all-reduce, PyTorch's hooks, and those of ours that are asked for: NAME or NAME:NUMBER (a density,
    or the compressor's parameter). Raises InputError for unknown names, and for numbers that the hook does not take."""
    made = [DENSE, Schedule("merged", "one all-reduce after backward", merged=True),
            Schedule("fp16", "fp16 hook", "fp16"),
            # By Gloo PyTorch's PowerSGD hook begins all-reduces in an order that differs between ranks where there are
            # several buckets (docs/proving.md).
            Schedule("powersgd", f"PowerSGD hook, rank {POWERSGD_RANK}", "powersgd", parameter=POWERSGD_RANK,
                     one_bucket=not on_gpu)]
    for word in filter(None, (each.strip() for each in hooks.split(","))):
        if on_gpu:
            raise InputError("--hooks: the probe times gradcast's hooks on the CPU: leave it out, or take --backend gloo")
        name, colon, text = word.partition(":")
        if any(name == schedule.compressor for schedule in made):
            raise InputError(f"--hooks: {name} is a run already, and costs.csv has room for one hook of a name")
        try:
            number = float(text) if colon else None
        except ValueError:
            raise InputError(f"--hooks: {word!r:.60} has no number behind the colon") from None
        if number == 0:
            raise InputError(f"--hooks: {word!r:.60} needs a number above 0 behind the colon")
        try:
            its = _compressors.find(name)
            settings = hook(name, number if its.takes_density else None,
                            parameter=None if its.takes_density else number).settings
        except InputError as error:
            raise InputError(f"--hooks: {word!r:.60}: {error}") from None
        density, parameter = settings.density, 0.0 if its.takes_density else number or 0.0
        number_text = f", density {density:g}" if its.takes_density else f", {parameter:g}" if parameter else ""
        made.append(Schedule(f"gradcast-{word}", f"gradcast's {name}{number_text}", name, density, parameter, ours=True))
    return made


class Step:
    """The user's step, with the user's optimizer or a plain SGD, which changes no weight: its time counts, its effect
    does not."""

    def __init__(self, net: Any, example: Any, loss: Optional[Callable[[Any], Any]], optimizer: Any, world: World) -> None:
        self.net, self.loss, self.world = net, loss or sum_of_all, world
        self.example = example if isinstance(example, tuple) else (example,)
        self.optimizer = optimizer

    def prepare(self, unused: List[str]) -> None:
        """Freezes parameters that get no gradient: DDP refuses them. Raises InputError for sparse gradients."""
        for name, parameter in self.net.named_parameters():
            if name in unused:
                parameter.requires_grad_(False)
        refuse_sparse(self.net)
        if self.optimizer is None:
            self.optimizer = torch.optim.SGD(self.parameters, lr=0.0)
        for group in self.optimizer.param_groups:
            group["lr"] = group["lr"] * 0  # a number, or a tensor

    @property
    def optimizer_name(self) -> str:
        """Whose step it is, as `# optimizer:` of a trace says it; of one that gradcast does not know, its class."""
        group = self.optimizer.param_groups[0]
        name = type(self.optimizer).__name__
        if name == "SGD":
            name = "momentum" if group["momentum"] else "sgd"
        known = {"Adam": "adam", "AdamW": "adam"}.get(name, name)
        return known + (", fused" if group.get("fused") else "")

    @property
    def parameters(self) -> List[Any]:
        return [parameter for parameter in self.net.parameters() if parameter.requires_grad]

    @property
    def bytes(self) -> int:
        return sum(parameter.numel() * parameter.element_size() for parameter in self.parameters)

    def once(self, model: Any, after: Callable[[], None] = lambda: None) -> None:
        self.optimizer.zero_grad()
        self.loss(model(*self.example)).backward()
        after()
        self.optimizer.step()

    def update_seconds(self) -> float:
        """The optimizer's step, once gradients are there."""
        times = []
        for _ in range(5):
            begin = self.world.now()
            self.optimizer.step()
            times.append(self.world.now() - begin)
        return statistics.median(times)

    def in_ddp(self, schedule: Schedule, group: Any) -> DistributedDataParallel:
        size = schedule.bucket_mib(self.bytes) if schedule.one_bucket else None
        device = [self.world.local_rank] if self.world.on_gpu else None
        return DistributedDataParallel(self.net, device_ids=device, process_group=group, bucket_cap_mb=size,
                                       broadcast_buffers=False)

    def merged(self, group: Any) -> Callable[[], None]:
        """All gradients in one vector, after backward."""

        def after() -> None:
            gradients = [parameter.grad for parameter in self.parameters]
            flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
            dist.all_reduce(flat, group=group)
            flat /= dist.get_world_size(group)
            for gradient, part in zip(gradients, torch.split(flat, [gradient.numel() for gradient in gradients])):
                gradient.copy_(part.view_as(gradient))

        return after

    def iteration(self, schedule: Schedule, group: Any) -> Callable[[], None]:
        """One iteration by the schedule, in a group of ranks."""
        if schedule.merged:
            after = self.merged(group)
            return lambda: self.once(self.net, after)
        model = self.in_ddp(schedule, group)
        if schedule.ours:
            _our_hook(schedule, group).register(model)
        elif schedule.compressor:
            state, hook = _torch_hook(schedule, group)
            model.register_comm_hook(state, hook)
        return lambda: self.once(model)

    def clear(self) -> None:
        for parameter in self.net.parameters():
            parameter.grad = None


def _our_hook(schedule: Schedule, group: Any) -> Any:
    takes = _compressors.find(schedule.compressor).takes_density
    return hook(schedule.compressor, schedule.density if takes else None, parameter=schedule.parameter or None,
                process_group=group)


def _torch_hook(schedule: Schedule, group: Any) -> Tuple[Any, Any]:
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

    if schedule.compressor == "fp16":
        return group, default_hooks.fp16_compress_hook
    state = powerSGD_hook.PowerSGDState(group, matrix_approximation_rank=int(schedule.parameter), start_powerSGD_iter=2)
    return state, powerSGD_hook.powerSGD_hook


def timed(world: World, once: Callable[[], None], seconds: float, together: bool = True,
          warm_up: int = WARM_UP) -> List[Optional[List[float]]]:
    """Seconds of each iteration, of each rank: as many as fit into the seconds. together: on all ranks at once; else on
    rank 0, while the others wait."""
    mine: Optional[List[float]] = None
    works = together or world.rank == 0
    begin = world.now()
    if works:
        for _ in range(warm_up):
            once()
    each = (world.now() - begin) / warm_up
    count = world.told(int(max(FEWEST, min(MOST, (seconds - (world.now() - begin)) / max(each, 1e-6)))))
    world.barrier()
    if works:
        ends = [world.now()]
        for _ in range(count):
            once()
            ends.append(world.now())
        mine = [later - earlier for earlier, later in zip(ends, ends[1:])]
    world.barrier()
    return world.all(mine)


class _Done:
    """A collective that has ended."""

    def wait(self) -> None:
        return None

    def get_future(self) -> Any:
        future: Any = torch.futures.Future()
        future.set_result(None)
        return future


def hook_costs(step: Step, schedule: Schedule) -> Dict[int, Tuple[float, float]]:
    """Seconds that the schedule's hook takes on a bucket of so many elements, until it sends and after, while all ranks
    do the same. Nothing is sent; ours decode what as many ranks as there are would send."""
    world = step.world
    times: Dict[int, List[Tuple[float, float]]] = {}
    model = step.in_ddp(schedule, world.alone)
    if schedule.ours:
        hook = _our_hook(schedule, world.alone)
        hook.register(model)
        take, sent = hook._take, [0.0]

        def begin(needed: Any) -> Tuple[Any, List[Any]]:
            answer = [needed.tensor.clone() for _ in range(world.size)] if needed.kind == "gather" else []
            sent[0] = time.perf_counter()
            return _Done(), answer

        def watched(bucket: Any) -> Any:
            start = time.perf_counter()
            result = take(bucket)
            times.setdefault(bucket.buffer().numel(), []).append((sent[0] - start, time.perf_counter() - sent[0]))
            return result

        hook._size, hook._begin, hook._take = world.size, begin, watched
    else:
        state, torch_hook = _torch_hook(schedule, world.alone)

        def watching(state: Any, bucket: Any) -> Any:
            elements = bucket.buffer().numel()
            start = world.now()
            future = torch_hook(state, bucket)
            middle = world.now()
            result = future.wait()
            times.setdefault(elements, []).append((middle - start, world.now() - middle))
            done: Any = torch.futures.Future()
            done.set_result(result[0] if isinstance(result, list) else result)
            return done

        # DDP looks at a function's annotations, which here are text: a lambda has none.
        model.register_comm_hook(state, lambda state, bucket: watching(state, bucket))
    for _ in range(WARM_UP + FEWEST):
        step.once(model)
    step.clear()
    # DDP's first buckets, which it rebuilds, are seen once; PowerSGD compresses from the third iteration on.
    mine = {size: pairs[-FEWEST:] for size, pairs in times.items() if len(pairs) > FEWEST}
    everyone = world.all(mine)

    def half(size: int, which: int) -> float:
        return median_of([[pair[which] for pair in other.get(size, [])] for other in everyone])

    return {size: (half(size, 0), half(size, 1)) for size in sorted(mine)}


def beside(step: Step, step_seconds: float, collective_seconds: float, collective_bytes: int,
           seconds: float) -> Optional[Dict[str, float]]:
    """The slowdown of the step while a collective runs, and of the collective while the step runs. The collective is
    somewhat longer than the step. Each by itself and both at once take turns, so that drift is in all of them. None where
    that does not fit into the seconds. On the CPU only: a GPU's host does not see when the step ends."""
    world = step.world
    size = int(collective_bytes * 1.5 * step_seconds / collective_seconds) // 4
    rounds = world.told(0 if size >= 1 << 28 else int(min(9, seconds / (5 * step_seconds))))
    if rounds < 3:
        return None
    tensor = torch.zeros(size, device=world.device)
    times: Dict[str, List[float]] = {"step": [], "collective": [], "step_beside": [], "collective_beside": []}
    for _ in range(rounds):
        for what in ("step", "collective", "both"):
            world.barrier()
            begin = world.now()
            work: Any = dist.all_reduce(tensor, async_op=True) if what != "step" else None
            if what != "collective":
                step.once(step.net)
                times["step" if work is None else "step_beside"].append(time.perf_counter() - begin)
            if work is not None:
                work.wait()
                times["collective" if what == "collective" else "collective_beside"].append(world.now() - begin)
    mine = {name: statistics.median(each) for name, each in times.items()}
    found = {name: statistics.median(other[name] for other in world.all(mine)) for name in mine}
    # While the step runs, the collective makes 1 / (1 + c) of its usual progress, so that with c
    # collective_beside = step_beside + collective - step_beside / (1 + c).
    left = found["collective"] - (found["collective_beside"] - found["step_beside"])
    # On hosts whose cores the steps keep busy it may make none at all: a quarter is the least that is said.
    lasting = found["step_beside"] / left - 1 if left > 0 else 3.0
    return {**found, "bytes": 4.0 * size, "communication_slowdown": max(0.0, found["step_beside"] / found["step"] - 1),
            "computing_slowdown": min(3.0, max(0.0, lasting))}
