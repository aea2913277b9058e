"""One worker's side of an exchange: encode, ask for a collective, decode.

`exchange` is a generator. It yields each collective that it needs, and is sent the answer: so a hook runs it over
torch.distributed, and `Workers` runs one for each simulated worker in step. The same code, so the same sums.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Callable, Generator, Sequence

import torch
from torch import Tensor

from .. import _compressors
from ._coders import Coder, coder_of
from ._settings import Settings, selection_seed

_CAST_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}
_NO_INDEX = 2**31 - 1  # of what fills up a worker's pairs
MOST_TOGETHER = 2**31 - 1  # elements that have indices of 32 bits


@dataclass(frozen=True)
class Collective:
    """A collective that a worker needs. "sum" and "max" change the tensor in place; "gather" is answered with the
    tensors of all workers, in their order."""

    kind: str
    tensor: Tensor
    last: bool = False  # nothing but decoding follows
    control: bool = False  # a count or an overflow's sign, which no forecast knows
    elements: int = 0  # that the worker sends with it
    room: Callable[[], Sequence[Tensor]] = tuple  # of a "gather": memory for its answer

    @property
    def bytes(self) -> int:
        return self.tensor.numel() * self.tensor.element_size()


Exchange = Generator[Collective, list[Tensor], None]


@dataclass(frozen=True)
class Piece:
    """A parameter of the module, seen as a matrix: its first dimension by all others."""

    name: str
    number: int
    rows: int
    columns: int

    @property
    def elements(self) -> int:
        return self.rows * self.columns

    @staticmethod
    def of(name: str, number: int, parameter: Tensor) -> Piece:
        rows = parameter.shape[0] if parameter.dim() > 0 else 1
        return Piece(name, number, rows, parameter.numel() // max(rows, 1))


@dataclass(frozen=True)
class Factors:
    """A matrix of PowerSGD, or a tensor that it sends as it is, and its places in the group's all-reduces."""

    matrix: _compressors.LowRank
    sent: int  # the first element in the first all-reduce
    query: int  # the first element in the second; -1: it is not compressed

    def query_in(self, queries: Tensor) -> int:
        """The address of its Q; 0: it has none."""
        return queries.data_ptr() + self.query * queries.element_size() if self.query >= 0 else 0


@dataclass(frozen=True)
class Part:
    """Elements that are encoded together, within a group."""

    first: int
    elements: int
    number: int  # its seed's
    factors: Factors | None = None


@dataclass
class Group:
    """Parameters whose gradients lie one behind the other (a bucket), and what a worker keeps of them."""

    pieces: tuple[Piece, ...]
    parts: list[Part]
    coder: Coder
    kept: dict[str, Tensor] = field(default_factory=dict)  # flat: "residual", "velocity", "query"
    cuts: list[tuple[int, Group]] = field(default_factory=list)  # exchanged in its place, each from an element on

    @property
    def elements(self) -> int:
        return self.parts[-1].first + self.parts[-1].elements if self.parts else 0


class Memory:
    """Residuals, momentum and PowerSGD's Q of one worker, by parameter. Groups may change: DDP rebuilds its buckets
    after the first iteration."""

    def __init__(self, settings: Settings, pieces: Sequence[Piece]) -> None:
        self._settings = settings
        self._pieces = {piece.name: piece for piece in pieces}
        self._groups: dict[tuple[str, ...], Group] = {}
        self._views: dict[str, dict[str, Tensor]] = {}  # of each parameter, into its group
        self._before: dict[str, dict[str, Tensor]] = {}  # what `remember` found

    def _matrix(self, piece: Piece) -> _compressors.LowRank:
        return _compressors.LowRank(self._settings.compressor, piece.rows, piece.columns,
                                    int(self._settings.parameter), self._settings.mode)

    def _sizes(self, piece: Piece) -> dict[str, int]:
        """Elements that are kept of a parameter."""
        settings = self._settings
        sizes = {}
        if settings.feedback or settings.its.family == "low-rank":
            sizes["residual"] = piece.elements
        if settings.momentum_correction > 0:
            sizes["velocity"] = piece.elements
        if settings.its.family == "low-rank":
            sizes["query"] = self._matrix(piece).numbers()[1] if piece.elements > 0 else 0
        return sizes

    def _parts(self, number: int, pieces: Sequence[Piece]) -> list[Part]:
        low_rank = self._settings.its.family == "low-rank"
        pieces = [piece for piece in pieces if piece.elements > 0]
        if self._settings.selection == "merged" and not low_rank:
            return _cut(0, sum(piece.elements for piece in pieces), number)
        factors = self._factors(pieces) if low_rank else {}
        parts = []
        first = 0
        for piece in pieces:
            if low_rank:
                parts.append(Part(first, piece.elements, piece.number, factors.get(piece.name)))
            else:
                parts += _cut(first, piece.elements, piece.number)
            first += piece.elements
        return parts

    def _factors(self, pieces: Sequence[Piece]) -> dict[str, Factors]:
        """Matrices come first in the first all-reduce, then tensors that are sent as they are."""
        matrices = {piece.name: self._matrix(piece) for piece in pieces}
        factors = {}
        sent = query = 0
        for compressed in (True, False):
            for name, matrix in matrices.items():
                first, second = matrix.numbers()
                if (second > 0) == compressed:
                    factors[name] = Factors(matrix, sent, query if compressed else -1)
                    sent += first
                    query += second
        return factors

    def pieces(self, names: Sequence[str]) -> list[Piece]:
        return [self._pieces[name] for name in names]

    def group(self, number: int, names: Sequence[str], device: torch.device) -> Group:
        """The group of these parameters, in this order, whose gradients lie on this device. Its members bring along
        what was kept of them."""
        key = tuple(names)
        if key in self._groups:
            return self._groups[key]
        pieces = tuple(self.pieces(key))
        parts = self._parts(number, pieces)
        group = Group(pieces, parts, coder_of(self._settings, parts, device))
        sizes = {piece.name: self._sizes(piece) for piece in pieces}
        for what in ("residual", "velocity", "query"):
            if not any(what in its for its in sizes.values()):
                continue
            group.kept[what] = torch.zeros(sum(its[what] for its in sizes.values()), device=device)
            first = 0
            for name in key:
                view = group.kept[what][first:first + sizes[name][what]]
                before = self._views.get(name, {}).get(what)
                if before is not None:
                    view.copy_(before)
                self._views.setdefault(name, {})[what] = view
                first += sizes[name][what]
        if group.elements > MOST_TOGETHER and self._settings.its.family != "low-rank":
            for first, its in _runs(parts):
                cut = Group((), its, coder_of(self._settings, its, device))
                cut.kept = {what: flat[first:first + cut.elements] for what, flat in group.kept.items()}
                group.cuts.append((first, cut))
        moved = set(key)
        self._groups = {other: its for other, its in self._groups.items() if moved.isdisjoint(other)}
        self._groups[key] = group
        return group

    def state(self) -> dict[str, dict[str, Tensor]]:
        """Copies of all that is kept, by parameter."""
        return {name: {what: view.clone() for what, view in views.items()} for name, views in self._views.items()}

    def remember(self) -> None:
        """Keeps a copy of all, in place of the last one."""
        self._before = {name: dict(views) for name, views in self._views.items()}  # without a group none changes
        for names, group in self._groups.items():
            for what, flat in group.kept.items():
                sizes = [self._sizes(piece)[what] for piece in group.pieces]
                for name, copy in zip(names, torch.split(flat.clone(), sizes)):
                    self._before[name][what] = copy

    def recall(self) -> None:
        """All is again as it was remembered. What is newer is zero, and what was not finite then, as where an overflow
        was exchanged before the last."""
        for name, views in self._views.items():
            for what, view in views.items():
                before = self._before.get(name, {}).get(what)
                if before is None:
                    view.zero_()
                else:
                    view.copy_(before).nan_to_num_(0.0, 0.0, 0.0)

    def rescale(self, factor: float) -> None:
        """Gradients are so many times as large from now on, and all that is kept was made from gradients."""
        for views in self._views.values():
            for view in views.values():
                view.mul_(factor)

    def load(self, state: dict[str, dict[str, Tensor]]) -> None:
        """Takes the place of all that was kept. The caller has asked `misfit`."""
        self._groups = {}
        self._views = {name: {what: kept.clone() for what, kept in views.items()} for name, views in state.items()}

    def misfit(self, state: dict[object, object]) -> str:
        """The reason why such a state does not fit these parameters; "" if it fits."""
        for name, views in state.items():
            if not isinstance(name, str) or name not in self._pieces:
                return f"it has a parameter {name!r:.80} that the module lacks"
            sizes = self._sizes(self._pieces[name])
            if not isinstance(views, dict) or set(views) != set(sizes):
                return f"it keeps something else of {name!r:.80}"
            for what, kept in views.items():
                if not isinstance(kept, Tensor) or kept.dtype != torch.float32 or kept.shape != (sizes[what],):
                    return f"its {what} of {name!r:.80} is no tensor of {sizes[what]} float32"
        return ""


def _cut(first: int, elements: int, number: int) -> list[Part]:
    """Elements that are encoded together, as far as indices reach. Later parts draw by seeds of their own."""
    return [Part(first + cut * MOST_TOGETHER, min(MOST_TOGETHER, elements - cut * MOST_TOGETHER), number + (cut << 24))
            for cut in range(-(-elements // MOST_TOGETHER))]


def _runs(parts: Sequence[Part]) -> list[tuple[int, list[Part]]]:
    """Parts that are sent together, whose indices count from the run's first element. Each run begins at an element of
    the group."""
    runs: list[tuple[int, list[Part]]] = []
    for part in parts:
        if not runs or part.first + part.elements - runs[-1][0] > MOST_TOGETHER:
            runs.append((part.first, []))
        first, its = runs[-1]
        its.append(replace(part, first=part.first - first))
    return runs


@dataclass(frozen=True)
class Turn:
    """The worker that encodes, and the iteration. shows_overflow: an infinity or NaN of one worker makes all that all
    workers receive NaN. By themselves quantisers send their largest code, and Rand-k may send nothing of it."""

    worker: int
    workers: int
    iteration: int
    shows_overflow: bool = False

    def seed(self, settings: Settings, part: Part, shared: bool = False) -> int:
        return selection_seed(settings.seed, 0 if shared else self.worker + 1, part.number, self.iteration)


def exchange(settings: Settings, group: Group, gradient: Tensor, turn: Turn) -> Exchange:
    """gradient: the group's elements, flat and contiguous: float32, bfloat16 or float16. In the end it is the mean over
    the workers (signSGD: the vote). Compressors compute in float32."""
    if gradient.numel() == 0:
        return _dense(gradient, turn)
    if turn.shows_overflow:
        nothing = group.coder.room("overflow", 1, gradient.dtype)  # kept until it is added
        torch.sum(gradient * 0, dim=0, keepdim=True, out=nothing)  # 0, or NaN
        return _overflowing(nothing, exchange(settings, group, gradient, replace(turn, shows_overflow=False)), gradient)
    if group.cuts:
        return _one_after_another(settings, group, gradient, turn)
    family = settings.its.family
    corrects = settings.momentum_correction > 0
    # Sparsifiers select of the velocity itself. A cast divides before it rounds.
    reads_gradient = group.coder.takes_16_bits and family != "cast" and (family == "sparsifier" or not corrects)
    wide = gradient
    if gradient.dtype != torch.float32 and not reads_gradient:
        wide = group.coder.room("wide", gradient.numel(), torch.float32).copy_(gradient)
    source = wide
    if corrects:
        source = group.kept["velocity"]
        group.coder.correct(settings.momentum_correction, wide, source)
    if settings.sends_all(turn.iteration):
        return _dense(gradient if source is gradient else gradient.copy_(source), turn)
    if family == "sparsifier":
        running = _sparse(settings, group, source, wide, turn)
        return running if wide is gradient else _narrowed(running, wide, gradient)
    if corrects:
        wide.copy_(source)
    if family == "low-rank":
        running = _low_rank(settings, group, wide, turn, gradient.dtype)
    elif settings.shared_scale:
        running = _levels(settings, group, wide, turn)
    else:
        running = _packed(settings, group, wide, turn)
    return running if wide is gradient else _narrowed(running, wide, gradient)


def _one_after_another(settings: Settings, group: Group, gradient: Tensor, turn: Turn) -> Exchange:
    for first, its in group.cuts:
        running = exchange(settings, its, gradient[first:first + its.elements], turn)
        ends = first + its.elements == group.elements
        try:
            needed = next(running)
            while True:
                needed = running.send((yield needed if ends else replace(needed, last=False)))
        except StopIteration:
            pass


def _overflowing(nothing: Tensor, running: Exchange, gradient: Tensor) -> Exchange:
    yield Collective("sum", nothing, control=True)
    yield from running
    gradient.add_(nothing)


def _narrowed(running: Exchange, wide: Tensor, gradient: Tensor) -> Exchange:
    yield from running
    gradient.copy_(wide)


def _dense(gradient: Tensor, turn: Turn) -> Exchange:
    gradient.mul_(1.0 / turn.workers)  # before the sum, as DistributedDataParallel does
    yield Collective("sum", gradient, last=True, elements=gradient.numel())


def _residual(settings: Settings, group: Group) -> Tensor | None:
    return group.kept["residual"] if settings.feedback else None


def _seeds(settings: Settings, group: Group, turn: Turn, shared: bool = False) -> list[int]:
    return [turn.seed(settings, part, shared) for part in group.parts]


def _gather(group: Group, payload: Tensor, turn: Turn, elements: int) -> Collective:
    """The last collective, by which all workers receive each other's payloads."""
    apart = -(-payload.numel() // 64) * 64  # each begins at an address that is aligned

    def room() -> list[Tensor]:
        rows = group.coder.room("gathered", apart * turn.workers, payload.dtype)
        return [row[:payload.numel()] for row in torch.split(rows, apart)]

    return Collective("gather", payload, last=True, elements=elements, room=room)


def _sparse(settings: Settings, group: Group, source: Tensor, gradient: Tensor, turn: Turn) -> Exchange:
    """Selects of `source`, and leaves the mean in `gradient`."""
    density = settings.density_at(turn.iteration)
    ks = [_compressors.wanted(part.elements, density) for part in group.parts]
    values, indices = group.coder.select(source, _residual(settings, group), ks,
                                         _seeds(settings, group, turn, settings.shared_seed))
    sent = values.numel()
    if settings.masking:
        group.coder.mask(indices, group.kept["velocity"])
    if settings.shared_seed:  # all workers have the same indices
        yield Collective("sum", values, last=True, elements=sent)
        group.coder.add_up([(values, indices)], gradient, 1.0 / turn.workers)
    else:
        longest = sent
        if not settings.its.exact_count:  # all payloads of an all-gather are as long
            count_of_all = torch.tensor([sent], dtype=torch.int64, device=gradient.device)
            yield Collective("max", count_of_all, control=True)
            longest = int(count_of_all.item())
        longest = max(longest, 1)

        def halves(payload: Tensor) -> tuple[Tensor, Tensor]:
            return payload[4 * longest:].view(values.dtype), payload[:4 * longest].view(torch.int32)

        payload = group.coder.room("payload", longest * (4 + values.element_size()), torch.uint8)
        padded_values, padded = halves(payload)
        padded[:sent] = indices
        padded[sent:] = _NO_INDEX
        padded_values[:sent] = values
        padded_values[sent:] = 0
        received = yield _gather(group, payload, turn, sent)
        group.coder.add_up([halves(other) for other in received], gradient, 1.0 / turn.workers)


def _packed(settings: Settings, group: Group, gradient: Tensor, turn: Turn) -> Exchange:
    its = settings.its
    cast = its.family == "cast"
    if cast:  # as PyTorch's hooks do, so that the sum does not overflow
        gradient.div_(turn.workers)
    payload = group.coder.pack(gradient, _residual(settings, group), _seeds(settings, group, turn))
    if cast:
        yield Collective("sum", payload.view(_CAST_DTYPES[its.name]), last=True, elements=gradient.numel())
        received = [payload]
    else:
        received = yield _gather(group, payload, turn, gradient.numel())
    group.coder.unpack(received, gradient, 1.0 if cast or its.votes else 1.0 / turn.workers)


def _levels(settings: Settings, group: Group, gradient: Tensor, turn: Turn) -> Exchange:
    scales = group.coder.scales(gradient, _residual(settings, group), _seeds(settings, group, turn), turn.workers)
    yield Collective("max", scales)
    yield Collective("sum", group.coder.level(), last=True, elements=gradient.numel())
    group.coder.add_levels(gradient, 1.0 / turn.workers)


def _low_rank(settings: Settings, group: Group, gradient: Tensor, turn: Turn, wire: torch.dtype) -> Exchange:
    """wire: the type of what is sent, the gradient's, as PyTorch's hook has it. Q is rounded before the residual is
    made of it, so that the next gradient makes up for that."""
    residual, queries = group.kept["residual"], group.kept["query"]
    if not settings.feedback:
        residual.zero_()
    factors = [part.factors for part in group.parts if part.factors is not None]
    numbers = [its.matrix.numbers()[0] for its in factors]
    total = sum(numbers)
    thin = sum(number for number, its in zip(numbers, factors) if its.query >= 0)
    sent = group.coder.room("sent", total, torch.float32)
    if wire == torch.float16 and settings.mode == "paper":
        _normalise(queries, factors)
    group.coder.project(gradient, residual, queries, sent, _seeds(settings, group, turn, shared=True))
    if thin == 0:
        yield from _mean(group, "P", sent, turn, wire, [(0, total)], last=True)
    elif settings.mode == "code" and thin < total:  # as PyTorch's hook
        yield from _mean(group, "P", sent, turn, wire, [(thin, total), (0, thin)])
    else:
        yield from _mean(group, "P", sent, turn, wire, [(0, total)])
    if thin > 0:
        group.coder.project_back()
        yield from _mean(group, "Q", queries, turn, wire, [(0, queries.numel())], last=True)
    group.coder.restore()


def _normalise(queries: Tensor, factors: Sequence[Factors]) -> None:
    """Divides each matrix' Q by its norm. P is then no larger than a row of the gradient, and its columns, once they are
    orthonormal, are the same. In mode paper Q is as large as the gradient, so P would be as its square: fp16 ends at
    65,504."""
    for its in factors:
        if its.query >= 0:
            query = queries[its.query:its.query + its.matrix.numbers()[1]]
            query.div_(query.norm().clamp_min(1e-30))  # zeros stay: the first Q is drawn later


def _mean(group: Group, name: str, numbers: Tensor, turn: Turn, wire: torch.dtype, parts: Sequence[tuple[int, int]],
          last: bool = False) -> Exchange:
    """The mean of all workers' numbers, of float32, with a collective for each part."""
    if wire == numbers.dtype:
        for begin, end in parts:
            yield Collective("sum", numbers[begin:end], last=last, elements=end - begin)
        numbers.mul_(1.0 / turn.workers)
        return
    # Divided before it is rounded, so that the sum does not overflow.
    rounded = group.coder.room(f"rounded {name}", numbers.numel(), wire).copy_(numbers.mul_(1.0 / turn.workers))
    for begin, end in parts:
        yield Collective("sum", rounded[begin:end], last=last, elements=end - begin)
    numbers.copy_(rounded)
