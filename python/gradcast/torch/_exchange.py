"""One worker's side of an exchange: encode, ask for a collective, decode.

`exchange` is a generator. It yields each collective that it needs, and is sent the answer: so a hook runs it over
torch.distributed, and `Workers` runs one for each simulated worker in step. The same code, so the same sums.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generator, Sequence

import torch
from torch import Tensor

from .. import _compressors
from ._settings import Settings, selection_seed

_VALUE_DTYPES = {"fp32": torch.float32, "fp16": torch.int16, "bf16": torch.int16}  # 16 bits travel as codes
_CAST_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}


@dataclass(frozen=True)
class Collective:
    """A collective that a worker needs. "sum" and "max" change the tensor in place; "gather" is answered with the
    tensors of all workers, in their order."""

    kind: str
    tensor: Tensor
    last: bool = False  # nothing but decoding follows
    control: bool = False  # a count, which no forecast knows
    elements: int = 0  # that the worker sends with it

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
    kept: dict[str, Tensor] = field(default_factory=dict)  # flat: "residual", "velocity", "query"

    @property
    def elements(self) -> int:
        return sum(piece.elements for piece in self.pieces)


class Memory:
    """Residuals, momentum and PowerSGD's Q of one worker, by parameter. Groups may change: DDP rebuilds its buckets
    after the first iteration."""

    def __init__(self, settings: Settings, pieces: Sequence[Piece]) -> None:
        self._settings = settings
        self._pieces = {piece.name: piece for piece in pieces}
        self._groups: dict[tuple[str, ...], Group] = {}
        self._views: dict[str, dict[str, Tensor]] = {}  # of each parameter, into its group

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
            sizes["query"] = self._matrix(piece).numbers()[1]
        return sizes

    def _parts(self, number: int, pieces: Sequence[Piece]) -> list[Part]:
        low_rank = self._settings.its.family == "low-rank"
        if self._settings.selection == "merged" and not low_rank:
            return [Part(0, sum(piece.elements for piece in pieces), number)]
        factors = self._factors(pieces) if low_rank else {}
        parts = []
        first = 0
        for piece in pieces:
            parts.append(Part(first, piece.elements, piece.number, factors.get(piece.name)))
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

    def group(self, number: int, names: Sequence[str]) -> Group:
        """The group of these parameters, in this order. Its members bring along what was kept of them."""
        key = tuple(names)
        if key in self._groups:
            return self._groups[key]
        pieces = tuple(self.pieces(key))
        group = Group(pieces, self._parts(number, pieces))
        sizes = {piece.name: self._sizes(piece) for piece in pieces}
        for what in ("residual", "velocity", "query"):
            if not any(what in its for its in sizes.values()):
                continue
            group.kept[what] = torch.zeros(sum(its[what] for its in sizes.values()))
            first = 0
            for name in key:
                view = group.kept[what][first:first + sizes[name][what]]
                before = self._views.get(name, {}).get(what)
                if before is not None:
                    view.copy_(before)
                self._views.setdefault(name, {})[what] = view
                first += sizes[name][what]
        moved = set(key)
        self._groups = {other: its for other, its in self._groups.items() if moved.isdisjoint(other)}
        self._groups[key] = group
        return group

    def state(self) -> dict[str, dict[str, Tensor]]:
        """Copies of all that is kept, by parameter."""
        return {name: {what: view.clone() for what, view in views.items()} for name, views in self._views.items()}

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


@dataclass(frozen=True)
class Turn:
    """The worker that encodes, and the iteration."""

    worker: int
    workers: int
    iteration: int

    def seed(self, settings: Settings, part: Part, shared: bool = False) -> int:
        return selection_seed(settings.seed, 0 if shared else self.worker + 1, part.number, self.iteration)


def exchange(settings: Settings, group: Group, gradient: Tensor, turn: Turn) -> Exchange:
    """gradient: the group's elements, flat and contiguous float32 on the CPU. In the end it is the mean over the
    workers (signSGD: the vote)."""
    if settings.momentum_correction > 0:
        velocity = group.kept["velocity"].mul_(settings.momentum_correction).add_(gradient)
        gradient.copy_(velocity)
    if settings.sends_all(turn.iteration):
        return _dense(gradient, turn)
    family = settings.its.family
    if family == "sparsifier":
        return _sparse(settings, group, gradient, turn)
    if family == "low-rank":
        return _low_rank(settings, group, gradient, turn)
    if settings.shared_scale:
        return _levels(settings, group, gradient, turn)
    return _packed(settings, group, gradient, turn)


def _dense(gradient: Tensor, turn: Turn) -> Exchange:
    gradient.mul_(1.0 / turn.workers)  # before the sum, as DistributedDataParallel does
    yield Collective("sum", gradient, last=True, elements=gradient.numel())


def _at(tensor: Tensor | None, element: int) -> int | None:
    return None if tensor is None else tensor.data_ptr() + element * tensor.element_size()


def _address(tensor: Tensor, element: int = 0) -> int:
    return tensor.data_ptr() + element * tensor.element_size()


def _residual(settings: Settings, group: Group) -> Tensor | None:
    return group.kept["residual"] if settings.feedback else None


def _sparse(settings: Settings, group: Group, gradient: Tensor, turn: Turn) -> Exchange:
    residual = _residual(settings, group)
    density = settings.density_at(turn.iteration)
    ks = [_compressors.wanted(part.elements, density) for part in group.parts]
    rooms = [_compressors.sparse_capacity(settings.compressor, part.elements, k) for part, k in zip(group.parts, ks)]
    values = torch.empty(sum(rooms), dtype=_VALUE_DTYPES[settings.value_type])
    indices = torch.empty(sum(rooms), dtype=torch.int32)
    sent = 0
    for part, k, room in zip(group.parts, ks, rooms):
        count = _compressors.sparse_encode(
            settings.compressor, _address(gradient, part.first), _at(residual, part.first), part.elements, k=k,
            candidates=settings.candidates, parameter=settings.parameter,
            seed=turn.seed(settings, part, settings.shared_seed), mode=settings.mode, value_type=settings.value_type,
            values=_address(values, sent), indices=_address(indices, sent), capacity=room)
        indices[sent:sent + count] += part.first
        sent += count
    values, indices = values[:sent], indices[:sent]
    if settings.masking:
        group.kept["velocity"][indices.long()] = 0
    if settings.shared_seed:  # all workers have the same indices
        yield Collective("sum", values, last=True, elements=sent)
        _compressors.sparse_decode([_address(values)], [_address(indices)], [sent], settings.value_type,
                                   _address(gradient), gradient.numel())
    else:
        longest = sent
        if not settings.its.exact_count:  # all payloads of an all-gather are as long
            count_of_all = torch.tensor([sent], dtype=torch.int64)
            yield Collective("max", count_of_all, control=True)
            longest = int(count_of_all.item())
        longest = max(longest, 1)
        payload = torch.zeros(longest * (4 + values.element_size()), dtype=torch.uint8)
        padded = payload[:4 * longest].view(torch.int32)
        padded[:sent] = indices
        padded[sent:] = -1
        payload[4 * longest:].view(values.dtype)[:sent] = values
        received = yield Collective("gather", payload, last=True, elements=sent)
        _compressors.sparse_decode([_address(other, 4 * longest) for other in received],
                                   [_address(other) for other in received], [longest] * len(received),
                                   settings.value_type, _address(gradient), gradient.numel())
    gradient.mul_(1.0 / turn.workers)


def _packed(settings: Settings, group: Group, gradient: Tensor, turn: Turn) -> Exchange:
    residual = _residual(settings, group)
    its = settings.its
    cast = its.family == "cast"
    if cast:  # as PyTorch's hooks do, so that the sum does not overflow
        gradient.div_(turn.workers)
    words = [_compressors.pack_words(its.name, part.elements, settings.parameter) for part in group.parts]
    payload = torch.empty(sum(words), dtype=torch.int32)
    first = 0
    for part, size in zip(group.parts, words):
        _compressors.pack_encode(its.name, _address(gradient, part.first), _at(residual, part.first), part.elements,
                                 settings.parameter, turn.seed(settings, part), _address(payload, first), size)
        first += size
    if cast:
        yield Collective("sum", payload.view(_CAST_DTYPES[its.name]), last=True, elements=gradient.numel())
        received = [payload]
    else:
        received = yield Collective("gather", payload, last=True, elements=gradient.numel())
    first = 0
    for part, size in zip(group.parts, words):
        _compressors.pack_decode(its.name, [_address(other, first) for other in received], size, settings.parameter,
                                 _address(gradient, part.first), part.elements)
        first += size
    if not cast and not its.votes:
        gradient.mul_(1.0 / turn.workers)


def _levels(settings: Settings, group: Group, gradient: Tensor, turn: Turn) -> Exchange:
    residual = _residual(settings, group)
    name = settings.compressor
    own = [_compressors.level_scale(name, _address(gradient, part.first), _at(residual, part.first), part.elements,
                                    settings.parameter) for part in group.parts]
    shared = torch.tensor(own, dtype=torch.float32)
    yield Collective("max", shared)
    scales = [float(scale) for scale in shared.tolist()]
    words = [_compressors.level_words(name, part.elements, settings.parameter, turn.workers) for part in group.parts]
    lanes = torch.empty(sum(words), dtype=torch.int32)
    first = 0
    for part, size, its, scale in zip(group.parts, words, own, scales):
        _compressors.level_encode(name, _address(gradient, part.first), _at(residual, part.first), part.elements,
                                  settings.parameter, turn.seed(settings, part), its, scale, turn.workers,
                                  _address(lanes, first), size)
        first += size
    yield Collective("sum", lanes, last=True, elements=gradient.numel())
    first = 0
    for part, size, scale in zip(group.parts, words, scales):
        _compressors.level_decode(name, _address(lanes, first), size, settings.parameter, scale, turn.workers,
                                  _address(gradient, part.first), part.elements)
        first += size
    gradient.mul_(1.0 / turn.workers)


def _low_rank(settings: Settings, group: Group, gradient: Tensor, turn: Turn) -> Exchange:
    residual, queries = group.kept["residual"], group.kept["query"]
    if not settings.feedback:
        residual.zero_()
    parts = [(part, part.factors) for part in group.parts if part.factors is not None]
    numbers = [factors.matrix.numbers()[0] for _, factors in parts]
    total = sum(numbers)
    thin = sum(number for number, (_, factors) in zip(numbers, parts) if factors.query >= 0)
    sent = torch.empty(total)

    def query(factors: Factors) -> int:
        return _address(queries, factors.query) if factors.query >= 0 else 0

    for part, its in parts:
        its.matrix.first(_address(gradient, part.first), _address(residual, part.first), query(its),
                         _address(sent, its.sent), turn.seed(settings, part, shared=True))
    if thin == 0:
        yield Collective("sum", sent, last=True, elements=total)
    elif settings.mode == "code" and thin < total:  # as PyTorch's hook
        yield Collective("sum", sent[thin:], elements=total - thin)
        yield Collective("sum", sent[:thin], elements=thin)
    else:
        yield Collective("sum", sent, elements=total)
    sent.mul_(1.0 / turn.workers)
    if thin > 0:
        for part, its in parts:
            if its.query >= 0:
                its.matrix.second(_address(residual, part.first), _address(sent, its.sent), query(its))
        yield Collective("sum", queries, last=True, elements=queries.numel())
        queries.mul_(1.0 / turn.workers)
    for part, its in parts:
        its.matrix.finish(_address(sent, its.sent), query(its), _address(gradient, part.first),
                          _address(residual, part.first))
