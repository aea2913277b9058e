"""A communication hook of DistributedDataParallel that compresses gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Collection, Mapping

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from .._threads import Held, answered, wait_at_exit
from ..errors import InputError
from ._coders import kernels_of
from ._exchange import Collective, Exchange, Memory, Piece, Turn, exchange
from ._settings import Settings

if TYPE_CHECKING:
    from torch._C._distributed_c10d import GradBucket


# DDP rebuilds its buckets after the first iteration, with static_graph=True after the second.
_LATEST_REBUILD = 2


def refuse_sparse(module: torch.nn.Module, ignored: Collection[str] = ()) -> None:
    """Raises InputError if an embedding has sparse gradients. DDP finds those the same way."""
    for path, inner in module.named_modules():
        if isinstance(inner, (torch.nn.Embedding, torch.nn.EmbeddingBag)) and inner.sparse:
            name = f"{path}.weight"
            if inner.weight.requires_grad and name not in ignored:
                raise InputError(f"parameter {name.lstrip('.')!r:.80} gets sparse gradients, and compressors take "
                                 "dense ones: make its embedding with sparse=False")


def pieces_of(module: torch.nn.Module, ignored: Collection[str] = ()) -> list[Piece]:
    """The parameters that are trained, without those that DDP leaves out by these names. Raises InputError if there are
    none, if gradients of one are sparse or of another type than float32, bfloat16 or float16, or lie on a device that
    no compressor runs on."""
    pieces: list[Piece] = []
    refuse_sparse(module, ignored)
    # DDP writes a dot before the names of the outermost module's own parameters.
    exchanged = {id(parameter) for path, inner in module.named_modules()
                 for name, parameter in inner.named_parameters(recurse=False) if f"{path}.{name}" not in ignored}
    for name, parameter in module.named_parameters():
        if not parameter.requires_grad or id(parameter) not in exchanged:
            continue
        if parameter.dtype not in (torch.float32, torch.bfloat16, torch.float16):
            raise InputError(f"parameter {name!r:.80} is {parameter.dtype}, and gradients must be float32, bfloat16 or "
                             "float16")
        try:
            kernels_of(parameter.device)
        except InputError as error:
            raise InputError(f"parameter {name!r:.80}: {error}") from None
        pieces.append(Piece.of(name, len(pieces), parameter))
    if not any(piece.elements for piece in pieces):
        raise InputError("the module has no parameter that is trained")
    return pieces


class Hook:
    """A communication hook, from `gradcast.torch.hook`: its settings, and after `register` the state of one process.

    Each process keeps its own residuals, so each must save its own `state_dict()`.
    """

    def __init__(self, settings: Settings, process_group: dist.ProcessGroup | None) -> None:
        self.settings = settings
        self.iteration = 0  # backward passes with an exchange
        self.bytes_sent = 0  # payload of all collectives of this process, as forecasts count it
        self.bytes_sent_last = 0  # of the last iteration
        self.elements_sent = 0  # in the same collectives
        self.elements_sent_last = 0
        # Beside bytes_sent: 8 bytes a bucket where each worker's count is its own, and a number where a loss is scaled.
        self.bytes_of_counts = 0
        self._scaler: torch.amp.GradScaler | None = None
        self._scale = 1.0  # of the loss from which all that is kept was made
        self._last_scale: float | None = None  # of the last iteration of this process
        self._next_scale = 1.0
        self._asked_group = process_group
        self._memory: Memory | None = None
        self._names: dict[int, str] = {}
        self._buckets: list[tuple[str, ...]] = []  # of the iteration that goes on
        self._done: list[tuple[str, ...]] = []  # of the last one
        self._expected: list[tuple[str, ...]] = []  # of the checkpoint, until DDP has the same
        self._expected_for = 0  # iterations at most
        self._waiting: list[tuple[tuple[str, ...], Tensor, torch.futures.Future[Tensor]]] = []
        self._bytes_before = 0
        self._elements_before = 0

    def register(self, model: DistributedDataParallel, scaler: torch.amp.GradScaler | None = None) -> Hook:
        """Makes the model's backward pass exchange gradients by this hook. All processes call it, with the same
        settings. Returns itself.

        scaler: give it where the loss is scaled. Then an overflow of one process reaches all of them whatever the
            compressor sends, so that all skip the step; what was kept of gradients is again as before a skipped step,
            and follows the scale. This takes a copy of it, and a number more on the wire for each bucket. A scale
            that falls means a skipped step: so each model has its own scaler, and exchanges once a step (accumulate
            with `no_sync`).

        Raises InputError if the model is none of DistributedDataParallel, if no compressor
        takes its parameters' gradients, or if the processes' settings differ.
        """
        if not isinstance(model, DistributedDataParallel):
            raise InputError(f"model is a {type(model).__name__}, and must be a DistributedDataParallel")
        if scaler is not None and not isinstance(scaler, torch.amp.GradScaler):
            raise InputError(f"scaler is a {type(scaler).__name__}, and must be a torch.amp.GradScaler")
        if scaler is not None and self.settings.compressor == "threshold":
            raise InputError("threshold compares with gradients as they are, and takes no scaler")
        if self._memory is not None:
            raise InputError("this hook is registered already: make another for another model")
        pieces = pieces_of(model.module, model.parameters_to_ignore)
        self._group: dist.ProcessGroup = (model.process_group if self._asked_group is None
                                           else self._asked_group)
        self._size = dist.get_world_size(self._group)
        self._rank = dist.get_rank(self._group)
        scales = scaler is not None and scaler.is_enabled()
        everyone: list[Any] = [None] * self._size
        dist.all_gather_object(everyone, (self.settings.as_dict(), scales), group=self._group)
        for rank, (other, other_scales) in enumerate(everyone):
            difference = self.settings.difference(other)
            if not difference and other_scales != scales:
                difference = f"{'no ' if scales else 'a '}scaler there and {'a' if scales else 'no'} scaler here"
            if difference:
                raise InputError(f"the processes' settings differ, of rank {rank} and {self._rank}: {difference}")
        # DDP looks at the signature's annotations, which here are text: a lambda has none.
        try:
            model.register_comm_hook(None, lambda state, bucket: self._take(bucket))
        except RuntimeError as error:
            raise InputError(f"the model takes no hook: {str(error).splitlines()[0]}") from None
        if scales:
            self._scaler = scaler
            # Before forward, since backward would wait for the GPU to tell it.
            model.register_forward_pre_hook(lambda *_: self._read_scale())
        wait_at_exit()
        self._memory = Memory(self.settings, pieces)
        exchanged = {piece.name for piece in pieces}
        self._names = {id(parameter): name for name, parameter in model.module.named_parameters()
                       if name in exchanged}
        return self

    # ---- checkpoints

    def state_dict(self) -> dict[str, Any]:
        """The state with which this process goes on as if it had never stopped: residuals, momentum, PowerSGD's Q,
        buckets, counts. Call it between iterations, after the scaler's update if there is one. `torch.save` and
        `torch.load` take it as it is."""
        memory = self._registered()
        self._read_scale()
        self._follow_scale()
        return {"rank": self._rank, "processes": self._size, "settings": self.settings.as_dict(),
                "iteration": self.iteration, "bytes_sent": self.bytes_sent, "elements_sent": self.elements_sent,
                "bytes_of_counts": self.bytes_of_counts, "buckets": [list(names) for names in self._done],
                "scale": self._scale,
                "memory": memory.state()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from a state of the same rank, settings and model. Call it after `register`, before training.

        The first iteration after it, with static_graph=True the second too, exchanges by the buckets of the
        checkpoint, since DDP begins with others: so the weights are those of a training that never stopped. That holds
        for states from the second iteration on, with static_graph=True from the third: before, DDP has not rebuilt its
        buckets yet, and a state cannot know them. Raises InputError if the state does not fit.
        """
        memory = self._registered()
        for key, kind in (("rank", int), ("processes", int), ("settings", Mapping), ("iteration", int),
                          ("bytes_sent", int), ("elements_sent", int), ("bytes_of_counts", int), ("buckets", list),
                          ("memory", dict)):
            if not isinstance(state, Mapping) or not isinstance(state.get(key), kind):
                raise InputError(f"no state of a gradcast hook: it has no {key!r} of its kind")
        if (state["rank"], state["processes"]) != (self._rank, self._size):
            raise InputError(f"the state is of rank {state['rank']} of {state['processes']} processes, and this is rank"
                             f" {self._rank} of {self._size}")
        difference = self.settings.difference(state["settings"])
        if difference:
            raise InputError(f"the state is of a hook with other settings: {difference}")
        misfit = memory.misfit(state["memory"])
        buckets = [tuple(names) if isinstance(names, list) else () for names in state["buckets"]]
        if not misfit and buckets and sorted(map(str, sum(buckets, ()))) != sorted(self._names.values()):
            misfit = "its buckets have other parameters"
        if misfit:
            raise InputError(f"the state is of another model: {misfit}")
        scale = state.get("scale", 1.0)
        if not (isinstance(scale, float) and 0 < scale < float("inf")):
            raise InputError(f"no state of a gradcast hook: its 'scale' is {scale!r:.80}")
        if scale != 1 and self._scaler is None:
            raise InputError(f"the state is of a loss scaled by {scale:g}: register with its scaler")
        memory.load(state["memory"])
        self._scale, self._last_scale = scale, None
        self.iteration = state["iteration"]
        self.bytes_sent = self._bytes_before = state["bytes_sent"]
        self.elements_sent = self._elements_before = state["elements_sent"]
        self.bytes_of_counts = state["bytes_of_counts"]
        self._expected = self._done = buckets
        self._expected_for = _LATEST_REBUILD

    def _registered(self) -> Memory:
        if self._memory is None:
            raise InputError("the hook has no model yet: call register(model) first")
        return self._memory

    # ---- scaled losses

    def _read_scale(self) -> None:
        if self._scaler is not None:
            self._next_scale = float(self._scaler.get_scale())

    def _follow_scale(self) -> None:
        """Makes what is kept that of the scale which was read last."""
        if self._next_scale == self._scale:
            return
        memory = self._registered()
        if self._last_scale is not None and self._next_scale < self._last_scale:
            memory.recall()
        memory.rescale(self._next_scale / self._scale)
        self._scale = self._next_scale
        self._last_scale = None

    # ---- the exchange of a bucket

    def _take(self, bucket: GradBucket) -> torch.futures.Future[Tensor]:
        """DDP calls it for one bucket after another, in their order, in every process alike."""
        names = tuple(self._names[id(parameter)] for parameter in bucket.parameters())
        number = len(self._buckets)
        if number == 0 and self._scaler is not None:
            self._follow_scale()
            self._last_scale = self._scale
            self._registered().remember()
        self._buckets.append(names)
        buffer = bucket.buffer()
        as_expected = not self._expected or (not self._waiting and number < len(self._expected)
                                             and self._expected[number] == names)
        if as_expected:
            future = self._launch(self._exchange(number, names, buffer), buffer)
        else:
            future = torch.futures.Future()
            self._waiting.append((names, buffer, future))
        if bucket.is_last():
            self._exchange_waiting()
            self._end_iteration()
        return future

    def _exchange(self, number: int, names: tuple[str, ...], gradient: Tensor) -> Exchange:
        group = self._registered().group(number, names, gradient.device)
        turn = Turn(self._rank, self._size, self.iteration, shows_overflow=self._scaler is not None)
        return exchange(self.settings, group, gradient, turn)

    def _launch(self, exchanging: Exchange, buffer: Tensor) -> torch.futures.Future[Tensor]:
        """Waits for all collectives but the last, which goes on beside backward."""
        needed = next(exchanging)
        while not needed.last:
            work, answer = self._begin(needed)
            work.wait()
            needed = exchanging.send(answer)
        work, answer = self._begin(needed)
        held = Held()

        def decode(_: object) -> Tensor:
            for more in _answered(exchanging, answer):
                raise RuntimeError(f"a collective '{more.kind}' after the last")
            answered.add(held)
            return buffer

        decoded: torch.futures.Future[Tensor] = work.get_future().then(decode)
        return decoded

    def _begin(self, needed: Collective) -> tuple[dist.Work, list[Tensor]]:
        if needed.control:
            self.bytes_of_counts += needed.bytes
        else:
            self.bytes_sent += needed.bytes
            self.elements_sent += needed.elements
        if needed.kind == "gather":
            answer = list(needed.room())
            gathering = dist.all_gather(answer, needed.tensor, group=self._group, async_op=True)
            assert gathering is not None
            return gathering, answer
        operation = dist.ReduceOp.SUM if needed.kind == "sum" else dist.ReduceOp.MAX
        reducing = dist.all_reduce(needed.tensor, op=operation, group=self._group, async_op=True)
        assert reducing is not None
        return reducing, []

    def _exchange_waiting(self) -> None:
        """The first iterations after a checkpoint: gradients of DDP's first buckets, by the checkpoint's buckets."""
        if not self._waiting:
            return
        gradients: dict[str, Tensor] = {}
        for names, buffer, _ in self._waiting:
            sizes = [piece.elements for piece in self._registered().pieces(names)]
            gradients.update(zip(names, torch.split(buffer, sizes)))
        for number, names in enumerate(self._expected):
            if not all(name in gradients for name in names):
                continue  # it was exchanged already
            flat = torch.cat([gradients[name] for name in names])
            self._launch(self._exchange(number, names, flat), flat).wait()
            for name, mean in zip(names, torch.split(flat, [gradients[name].numel() for name in names])):
                gradients[name].copy_(mean)
        for _, buffer, future in self._waiting:
            future.set_result(buffer)

    def _end_iteration(self) -> None:
        self._done = self._expected if self._waiting else self._buckets
        self._expected_for -= 1
        if not self._waiting or self._expected_for <= 0:
            self._expected = []
        self._buckets, self._waiting = [], []
        self.iteration += 1
        self.bytes_sent_last = self.bytes_sent - self._bytes_before
        self.elements_sent_last = self.elements_sent - self._elements_before
        self._bytes_before, self._elements_before = self.bytes_sent, self.elements_sent


def _answered(exchanging: Exchange, answer: list[Tensor]) -> list[Collective]:
    """The next collective that is needed, if any."""
    try:
        return [exchanging.send(answer)]
    except StopIteration:
        return []
