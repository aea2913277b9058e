"""Data-parallel training with simulated workers in one process."""

from __future__ import annotations

import contextlib
import json
import numbers
import os
import pathlib
from typing import Any, Callable, Iterable

import torch
from torch import Tensor

from .._values import cannot_write, number, path_text, plain, shown, whole
from ..errors import InputError
from ._exchange import Collective, Exchange, Memory, Turn, exchange
from ._hook import Hook, pieces_of
from ._settings import Settings

_MOST_WORKERS = 1024  # as `gradcast train` has it


class Workers:
    """n workers that train one module: each computes a gradient, all compress and average, the optimizer steps.

    Workers share the weights, and each has its residuals. Normalisation layers that keep running averages see the
    workers' batches one after another.

        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        workers = gradcast.torch.Workers(4, net, optimizer, gradcast.torch.hook("topk", density=0.01))
        for batches in loader_of_4:                        # 4 batches, a worker each
            workers.step([lambda x=x, y=y: loss(net(x), y) for x, y in batches])
        workers.tested(accuracy_percent)
        workers.write("topk.json", network="my-net", dataset="my-data", batch=32)

    hook: whose settings the workers exchange by; it need not be registered. With selection="merged" a compressor
    selects over the whole model, as one bucket. The sums of a collective are added in the order of the workers.
    Raises InputError if the module has no parameters that are trained, or no compressor takes their gradients.
    """

    def __init__(self, n: int, module: torch.nn.Module, optimizer: torch.optim.Optimizer, hook: Hook) -> None:
        if not isinstance(hook, Hook):
            raise InputError(f"hook is a {type(hook).__name__}, and must come from gradcast.torch.hook(...)")
        settings = hook.settings
        self.n = whole("n", n, 1, _MOST_WORKERS)
        if not isinstance(module, torch.nn.Module):
            raise InputError(f"module is a {type(module).__name__}, and must be a torch.nn.Module")
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise InputError(f"optimizer is a {type(optimizer).__name__}, and must be a torch.optim.Optimizer")
        self.settings = settings
        pieces = pieces_of(module)
        self._names = [piece.name for piece in pieces]
        self._parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
        held = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
        if held.isdisjoint(map(id, self._parameters)):
            raise InputError("optimizer holds no parameter of the module, and would train nothing of it")
        self._optimizer = optimizer
        self._columns = _optimizer_columns(optimizer, settings)
        device = self._parameters[0].device
        types = {parameter.dtype for parameter in self._parameters}
        dtype = types.pop() if len(types) == 1 else torch.float32
        self._memories = [Memory(settings, pieces) for _ in range(self.n)]
        self._gradients = [torch.zeros(sum(piece.elements for piece in pieces), dtype=dtype, device=device)
                           for _ in range(self.n)]
        self.iteration = 0
        self.bytes_sent = 0  # by all workers
        self.elements_sent = 0  # by all workers
        self.bytes_of_counts = 0  # beside bytes_sent, as in a Hook
        self._losses: list[float] = []
        self._rows: list[dict[str, Any]] = []
        self._before = (0, 0, 0)  # iteration, elements and bytes at the last test

    def step(self, losses: Iterable[Callable[[], Tensor]]) -> float:
        """One iteration. losses: a function for each worker, which computes the loss of its batch, a scalar tensor.
        Returns their mean. Raises InputError if there are more or fewer functions than workers, and for what is none
        or gives no loss to train by."""
        if not isinstance(losses, Iterable) or isinstance(losses, Tensor):
            raise InputError(f"losses is a {type(losses).__name__}, and must be a list of functions, one a worker")
        losses = list(losses)
        if len(losses) != self.n:
            raise InputError(f"{len(losses)} losses, and there are {self.n} workers")
        for worker, loss_of in enumerate(losses):
            if not callable(loss_of):
                raise InputError(f"the loss of worker {worker} is a {type(loss_of).__name__}, and must be a function "
                                 "that computes it, like lambda: loss(net(x), y)")
        values = []
        for worker, loss_of in enumerate(losses):
            self._optimizer.zero_grad(set_to_none=True)
            for parameter in self._parameters:  # also of those that the optimizer does not hold
                parameter.grad = None
            loss = loss_of()
            if not isinstance(loss, Tensor) or loss.numel() != 1:
                raise InputError(f"the loss of worker {worker} is no scalar tensor")
            if not loss.requires_grad:
                raise InputError(f"the loss of worker {worker} depends on no parameter that is trained")
            loss.backward()  # type: ignore[no-untyped-call]
            values.append(float(loss.detach()))
            flat = self._gradients[worker]
            for parameter, part in zip(self._parameters, self._split(flat)):
                if parameter.grad is None:
                    part.zero_()
                elif parameter.grad.layout != torch.strided:
                    raise InputError(f"worker {worker} has a sparse gradient, and compressors take dense ones")
                else:
                    part.copy_(parameter.grad.reshape(-1))
        mean = self._exchange()
        for parameter, part in zip(self._parameters, self._split(mean)):
            parameter.grad = part.view_as(parameter).to(parameter.dtype, copy=True)
        self._optimizer.step()
        self.iteration += 1
        self._losses.append(sum(values) / self.n)
        return self._losses[-1]

    def tested(self, accuracy_percent: float) -> None:
        """Keeps the accuracy on data that was not trained with, from 0 to 100, after the iterations so far."""
        percent = number("accuracy_percent", accuracy_percent, 0, 100)
        iterations, elements, sent = (now - before for now, before in
                                      zip((self.iteration, self.elements_sent, self.bytes_sent), self._before))
        if iterations == 0:
            raise InputError("no iteration since the last test, or since the beginning")
        self._rows.append({"iteration": self.iteration, "train_loss": sum(self._losses) / len(self._losses),
                           "test_accuracy_percent": percent,
                           "sent_elements_mean": elements / (iterations * self.n),
                           "sent_bytes_mean": sent / (iterations * self.n)})
        self._losses = []
        self._before = (self.iteration, self.elements_sent, self.bytes_sent)

    def write(self, path: str | os.PathLike[str], *, network: str, dataset: str, batch: int) -> None:
        """Writes a file that `gradcast tta --training` reads: a row for each test. batch: samples of one worker in an
        iteration. The file is whole or absent. Raises InputError where it cannot be written."""
        if not self._rows:
            raise InputError("nothing was tested yet: call tested(accuracy_percent) first")
        for name, text in (("network", network), ("dataset", dataset)):
            if not isinstance(text, str) or not text.isprintable() or not text.strip():
                raise InputError(f"{name} is {text!r:.80}, and must be a name")
        settings = self.settings
        columns = {"network": network, "dataset": dataset, "compressor": settings.compressor,
                   "mode": settings.mode if settings.its.two_modes else "", "density": settings.density,
                   "parameter": settings.parameter, "value_type": settings.value_type,
                   "selection": settings.selection, "aggregation": "gather", "candidates": settings.candidates,
                   "feedback": settings.feedback, "momentum_correction": settings.momentum_correction > 0,
                   "masking": settings.masking, "shared_seed": settings.shared_seed,
                   "shared_scale": settings.shared_scale, "workers": self.n,
                   "batch": whole("batch", batch, 1, 2**31 - 1), **self._columns, "seed": settings.seed}
        document = {"program": "gradcast.torch.Workers", "torch": torch.__version__,
                    "results": [{**columns, **row} for row in self._rows],
                    "summary": {"parameters": sum(part.numel() for part in self._parameters),
                                "warmup_iterations": settings.warmup_iterations}}
        whole_path = pathlib.Path(path_text("write", path))
        if not whole_path.name or "\0" in str(whole_path):
            raise InputError(f"write: {shown(str(path))} is no name of a file")
        written = whole_path.with_name(f".{whole_path.name}.{os.getpid()}.part")
        try:
            written.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
            written.replace(whole_path)
        except OSError as error:
            raise cannot_write(whole_path, error) from None
        finally:
            with contextlib.suppress(OSError):
                written.unlink(missing_ok=True)

    def _split(self, flat: Tensor) -> list[Tensor]:
        return list(torch.split(flat, [parameter.numel() for parameter in self._parameters]))

    def _exchange(self) -> Tensor:
        """The mean gradient. Each collective adds up in the order of the workers."""
        running: list[Exchange] = [
            exchange(self.settings, memory.group(0, self._names, gradient.device), gradient, Turn(worker, self.n, self.iteration))
            for worker, (memory, gradient) in enumerate(zip(self._memories, self._gradients))]
        needed = [next(each) for each in running]
        while True:
            for each in needed:
                if each.control:
                    self.bytes_of_counts += each.bytes
                else:
                    self.bytes_sent += each.bytes
                    self.elements_sent += each.elements
            answer = _combine(needed)
            try:
                needed = [each.send(answer) for each in running]
            except StopIteration:  # of the first; the others end as it does
                for other in running[1:]:
                    for _ in _rest(other, answer):
                        raise RuntimeError("workers differ in their collectives") from None
                return self._gradients[0]


def _rest(running: Exchange, answer: list[Tensor]) -> list[Collective]:
    try:
        return [running.send(answer)]
    except StopIteration:
        return []


def _combine(needed: list[Collective]) -> list[Tensor]:
    tensors = [each.tensor for each in needed]
    if needed[0].kind == "gather":
        return tensors
    combined = tensors[0].clone()
    for other in tensors[1:]:
        if needed[0].kind == "sum":
            combined += other
        else:
            combined = torch.maximum(combined, other)
    for tensor in tensors:
        tensor.copy_(combined)
    return []


def _optimizer_columns(optimizer: torch.optim.Optimizer, settings: Settings) -> dict[str, float]:
    """The settings of the first group of parameters that `gradcast tta` tells trainings apart by."""
    group = optimizer.param_groups[0]
    columns = {}
    for column, key in (("learning_rate", "lr"), ("momentum", "momentum"), ("weight_decay", "weight_decay")):
        value = plain(key, group.get(key))
        if isinstance(value, numbers.Real) and not isinstance(value, bool):
            columns[column] = float(value)
    if settings.momentum_correction > 0:
        columns["momentum"] = settings.momentum_correction
    return columns
