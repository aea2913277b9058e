"""One worker's encodes and decodes of a group of parameters: by the definitions on the CPU, or by the kernels of a GPU.

Both give the same bits (PowerSGD: up to the rounding of sums). `_exchange` says what is sent in between.
"""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, ContextManager, Protocol, Sequence

import torch
from torch import Tensor

from .. import _compressors, _device
from ..errors import InputError
from ._settings import Settings

if TYPE_CHECKING:
    from ._exchange import Part

_TYPES = {torch.float32: _compressors.VALUE_TYPES["fp32"], torch.float16: _compressors.VALUE_TYPES["fp16"],
          torch.bfloat16: _compressors.VALUE_TYPES["bf16"]}
_VALUE_DTYPES = {"fp32": torch.float32, "fp16": torch.int16, "bf16": torch.int16}  # 16 bits travel as codes


class Coder(Protocol):
    """Gradients and residuals are flat, contiguous float32, of all of the group's elements; a residual of None: no
    error feedback. `seeds`, `ks`: of each part."""

    takes_16_bits: bool  # gradients may be bfloat16 or float16 too: read as they are; a mean is rounded once

    def room(self, name: str, size: int, dtype: torch.dtype) -> Tensor:
        """Memory for what is sent or received, until the next exchange of the group. It holds anything."""

    def correct(self, momentum: float, gradient: Tensor, velocity: Tensor) -> None:
        """velocity = momentum x velocity + gradient, rounded twice."""

    def mask(self, indices: Tensor, velocity: Tensor) -> None:
        """velocity = 0 at indices into the group."""

    def select(self, gradient: Tensor, residual: Tensor | None, ks: Sequence[int],
               seeds: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Values, and indices into the group, which rise."""

    def add_up(self, sets: Sequence[tuple[Tensor, Tensor]], gradient: Tensor, factor: float) -> None:
        """gradient = factor x the sum of the workers' values and indices, which are all as many. An index of 2^31 - 1
        counts for nothing."""

    def pack(self, gradient: Tensor, residual: Tensor | None, seeds: Sequence[int]) -> Tensor:
        """Codes of all parts, as int32."""

    def unpack(self, packed: Sequence[Tensor], gradient: Tensor, factor: float) -> None:
        """gradient = factor x what the workers' codes say together."""

    def scales(self, gradient: Tensor, residual: Tensor | None, seeds: Sequence[int], workers: int) -> Tensor:
        """The scale that each part would take by itself. The caller makes it the largest of all workers'."""

    def level(self) -> Tensor:
        """Levels of the shared scales, as int32, of the gradient that `scales` was given."""

    def add_levels(self, gradient: Tensor, factor: float) -> None:
        """gradient = factor x what the sum of all workers' levels says."""

    def project(self, gradient: Tensor, residual: Tensor, queries: Tensor, sent: Tensor,
                seeds: Sequence[int]) -> None:
        """PowerSGD's first step; `Part.factors` says where what lies."""

    def project_back(self) -> None: ...

    def restore(self) -> None: ...


def _at(tensor: Tensor | None, element: int) -> int | None:
    return None if tensor is None else tensor.data_ptr() + element * tensor.element_size()


def _address(tensor: Tensor, element: int = 0) -> int:
    return tensor.data_ptr() + element * tensor.element_size()


class OnCpu:
    """The definitions. Nothing is kept but what one step leaves for the next."""

    takes_16_bits = False

    def __init__(self, settings: Settings, parts: Sequence[Part]) -> None:
        self._settings, self._parts = settings, parts
        self._levels: tuple[Tensor, Tensor | None, Sequence[int], int, list[float], Tensor]
        self._low_rank: tuple[Tensor, Tensor, Tensor, Tensor]
        self._lanes: Tensor

    def room(self, name: str, size: int, dtype: torch.dtype) -> Tensor:
        return torch.empty(size, dtype=dtype)

    def correct(self, momentum: float, gradient: Tensor, velocity: Tensor) -> None:
        velocity.mul_(momentum).add_(gradient)

    def mask(self, indices: Tensor, velocity: Tensor) -> None:
        velocity[indices.long()] = 0

    def select(self, gradient: Tensor, residual: Tensor | None, ks: Sequence[int],
               seeds: Sequence[int]) -> tuple[Tensor, Tensor]:
        settings = self._settings
        rooms = _rooms(settings, self._parts, ks)
        values = torch.empty(sum(rooms), dtype=_VALUE_DTYPES[settings.value_type])
        indices = torch.empty(sum(rooms), dtype=torch.int32)
        sent = 0
        for part, k, room, seed in zip(self._parts, ks, rooms, seeds):
            count = _compressors.sparse_encode(
                settings.compressor, _address(gradient, part.first), _at(residual, part.first), part.elements, k=k,
                candidates=settings.candidates, parameter=settings.parameter, seed=seed, mode=settings.mode,
                value_type=settings.value_type, values=_address(values, sent), indices=_address(indices, sent),
                capacity=room)
            indices[sent:sent + count] += part.first
            sent += count
        return values[:sent], indices[:sent]

    def add_up(self, sets: Sequence[tuple[Tensor, Tensor]], gradient: Tensor, factor: float) -> None:
        _compressors.sparse_decode([_address(values) for values, _ in sets], [_address(indices) for _, indices in sets],
                                   [indices.numel() for _, indices in sets], self._settings.value_type,
                                   _address(gradient), gradient.numel())
        gradient.mul_(factor)

    def pack(self, gradient: Tensor, residual: Tensor | None, seeds: Sequence[int]) -> Tensor:
        settings = self._settings
        words = _words(settings, self._parts)
        packed = torch.empty(sum(words), dtype=torch.int32)
        first = 0
        for part, size, seed in zip(self._parts, words, seeds):
            _compressors.pack_encode(settings.compressor, _address(gradient, part.first), _at(residual, part.first),
                                     part.elements, settings.parameter, seed, _address(packed, first), size)
            first += size
        return packed

    def unpack(self, packed: Sequence[Tensor], gradient: Tensor, factor: float) -> None:
        settings = self._settings
        first = 0
        for part, size in zip(self._parts, _words(settings, self._parts)):
            _compressors.pack_decode(settings.compressor, [_address(other, first) for other in packed], size,
                                     settings.parameter, _address(gradient, part.first), part.elements)
            first += size
        if factor != 1:
            gradient.mul_(factor)

    def scales(self, gradient: Tensor, residual: Tensor | None, seeds: Sequence[int], workers: int) -> Tensor:
        settings = self._settings
        own = [_compressors.level_scale(settings.compressor, _address(gradient, part.first), _at(residual, part.first),
                                        part.elements, settings.parameter) for part in self._parts]
        shared = torch.tensor(own, dtype=torch.float32)
        self._levels = (gradient, residual, seeds, workers, own, shared)
        return shared

    def level(self) -> Tensor:
        gradient, residual, seeds, workers, own, shared = self._levels
        settings = self._settings
        words = _level_words(settings, self._parts, workers)
        self._lanes = torch.empty(sum(words), dtype=torch.int32)
        first = 0
        for part, size, seed, its, scale in zip(self._parts, words, seeds, own, shared.tolist()):
            _compressors.level_encode(settings.compressor, _address(gradient, part.first), _at(residual, part.first),
                                      part.elements, settings.parameter, seed, its, scale, workers,
                                      _address(self._lanes, first), size)
            first += size
        return self._lanes

    def add_levels(self, gradient: Tensor, factor: float) -> None:
        _, _, _, workers, _, shared = self._levels
        settings = self._settings
        first = 0
        for part, size, scale in zip(self._parts, _level_words(settings, self._parts, workers), shared.tolist()):
            _compressors.level_decode(settings.compressor, _address(self._lanes, first), size, settings.parameter,
                                      scale, workers, _address(gradient, part.first), part.elements)
            first += size
        gradient.mul_(factor)

    def project(self, gradient: Tensor, residual: Tensor, queries: Tensor, sent: Tensor,
                seeds: Sequence[int]) -> None:
        self._low_rank = (gradient, residual, queries, sent)
        for part, seed in zip(self._parts, seeds):
            if part.factors is not None:
                part.factors.matrix.first(_address(gradient, part.first), _address(residual, part.first),
                                          part.factors.query_in(queries), _address(sent, part.factors.sent), seed)

    def project_back(self) -> None:
        _, residual, queries, sent = self._low_rank
        for part in self._parts:
            if part.factors is not None and part.factors.query >= 0:
                part.factors.matrix.second(_address(residual, part.first), _address(sent, part.factors.sent),
                                           part.factors.query_in(queries))

    def restore(self) -> None:
        gradient, residual, queries, sent = self._low_rank
        for part in self._parts:
            if part.factors is not None:
                part.factors.matrix.finish(_address(sent, part.factors.sent), part.factors.query_in(queries),
                                           _address(gradient, part.first), _address(residual, part.first))


@dataclass
class _Prepared:
    call: _device.Call
    key: tuple[object, ...]  # what it was prepared for
    seeds: tuple[int, ...]
    round: int
    memory: Tensor

    def follow(self, seeds: tuple[int, ...], stream: int) -> bool:
        """Makes the call draw by these seeds, if they are its own and one number more."""
        more = {(new - old) % 2**64 for new, old in zip(seeds, self.seeds)}
        if len(more) > 1:
            return False
        number = more.pop() if more else 0
        if number != self.round:
            self.call.set_round(number, stream)
            self.round = number
        return True


class OnDevice:
    """The kernels. A call is prepared once and run in each exchange; it is prepared anew, in the same memory, where a
    tensor moved or k changed. All that is sent or received stays where it is from exchange to exchange."""

    takes_16_bits = True

    def __init__(self, settings: Settings, parts: Sequence[Part], kernels: _device.Kernels,
                 device: torch.device) -> None:
        self._settings, self._parts, self._kernels, self._device = settings, parts, kernels, device
        self._rooms: dict[str, Tensor] = {}
        self._prepared: dict[str, _Prepared] = {}
        self._leveller: _device.Call
        self._workers = 0
        self._factors: _device.Call

    # ---- memory, and calls in it

    def _here(self) -> ContextManager[object]:
        """Kernels run on the current device."""
        return torch.cuda.device(self._device) if self._device.type == "cuda" else contextlib.nullcontext()

    def _stream(self) -> int:
        return torch.cuda.current_stream(self._device).cuda_stream if self._device.type == "cuda" else 0

    def _retire(self, tensor: Tensor | None) -> None:
        """Keeps the tensor's memory until the work on this stream, which may use it, has ended."""
        if tensor is not None and tensor.is_cuda:
            tensor.record_stream(torch.cuda.current_stream(self._device))

    def room(self, name: str, size: int, dtype: torch.dtype) -> Tensor:
        kept = self._rooms.get(name)
        if kept is None or kept.numel() != size or kept.dtype != dtype:
            self._retire(kept)
            kept = self._rooms[name] = torch.zeros(size, dtype=dtype, device=self._device)
        return kept

    def _run(self, call: _device.Call, step: int = 0) -> None:
        with self._here():
            call.run(step, self._stream())

    def _call(self, name: str, key: tuple[object, ...], seeds: Sequence[int],
              make: Callable[[], _device.Preparation]) -> _device.Call:
        """The call of that name for this key and these seeds, ready to run."""
        with self._here():
            return self._prepared_call(name, key, seeds, make)

    def _prepared_call(self, name: str, key: tuple[object, ...], seeds: Sequence[int],
                       make: Callable[[], _device.Preparation]) -> _device.Call:
        stream = self._stream()
        kept = self._prepared.get(name)
        if kept is not None and kept.key == key and kept.follow(tuple(seeds), stream):
            return kept.call
        preparation = make()
        room = preparation.bytes + 255  # PyTorch aligns memory of the CPU to less than 256 bytes
        memory = kept.memory if kept is not None else None
        if memory is None or memory.numel() < room:
            self._retire(memory)
            memory = torch.empty(room, dtype=torch.uint8, device=self._device)
        if kept is not None:
            kept.call.release()
        first = -memory.data_ptr() % 256
        call = preparation.call(memory.data_ptr() + first, memory.numel() - first, stream)
        self._prepared[name] = _Prepared(call, key, tuple(seeds), 0, memory)
        return call

    def _notes(self) -> Tensor:
        return self.room("notes", len(self._parts), torch.int32)

    # ---- sparsifiers

    def correct(self, momentum: float, gradient: Tensor, velocity: Tensor) -> None:
        with self._here():
            self._kernels.momentum(momentum, _device.MomentumTensor(
                _address(gradient), _address(velocity), velocity.numel(), None, None,
                _TYPES[gradient.dtype])).run(0, self._stream())

    def mask(self, indices: Tensor, velocity: Tensor) -> None:
        if indices.numel() == 0:
            return
        count = self.room("count of a mask", 1, torch.int64).fill_(indices.numel())
        with self._here():
            self._kernels.momentum(0, _device.MomentumTensor(
                _address(velocity), _address(velocity), velocity.numel(), _address(indices),
                _address(count))).run(1, self._stream())

    def select(self, gradient: Tensor, residual: Tensor | None, ks: Sequence[int],
               seeds: Sequence[int]) -> tuple[Tensor, Tensor]:
        settings, parts = self._settings, self._parts
        if residual is None:
            residual = self.room("no residual", gradient.numel(), torch.float32).zero_()
        rooms = _rooms(settings, parts, ks)
        values = self.room("values", sum(rooms), _VALUE_DTYPES[settings.value_type])
        indices = self.room("indices", sum(rooms), torch.int32)
        counts, notes = self.room("counts", len(parts), torch.int64), self._notes()

        def make() -> _device.Preparation:
            tensors = []
            first = 0
            for number, (part, k, room, seed) in enumerate(zip(parts, ks, rooms, seeds)):
                tensors.append(_device.SparseTensor(
                    _address(gradient, part.first), _at(residual, part.first), part.elements, k, seed,
                    _address(values, first), _address(indices, first), room, _address(counts, number),
                    _address(notes, number), _TYPES[gradient.dtype]))
                first += room
            return self._kernels.sparse_encode(settings.compressor, settings.candidates, settings.parameter,
                                               settings.mode, settings.value_type, tensors)

        key = (gradient.dtype, _address(gradient), _address(residual), _address(values), tuple(ks))
        self._run(self._call("select", key, seeds, make))
        begins = list(itertools.accumulate(rooms, initial=0))
        if settings.its.exact_count:
            for part, begin, room in zip(parts, begins, rooms):
                if part.first > 0:
                    indices[begin:begin + room] += part.first
            return values, indices
        sent = counts.tolist()
        return (torch.cat([values[begin:begin + count] for begin, count in zip(begins, sent)]),
                torch.cat([indices[begin:begin + count] + part.first
                           for part, begin, count in zip(parts, begins, sent)]))

    def add_up(self, sets: Sequence[tuple[Tensor, Tensor]], gradient: Tensor, factor: float) -> None:
        count = self.room("count of a set", 1, torch.int64).fill_(sets[0][1].numel())

        def make() -> _device.Preparation:
            return self._kernels.sparse_decode(
                [_device.SparseSet(_address(values), _address(indices), _address(count)) for values, indices in sets],
                self._settings.value_type, factor, _address(gradient), _TYPES[gradient.dtype], gradient.numel())

        key = (factor, gradient.dtype, _address(gradient),
               *((_address(values), _address(indices)) for values, indices in sets))
        self._run(self._call("add up", key, (), make))

    # ---- casts and quantisers

    def pack(self, gradient: Tensor, residual: Tensor | None, seeds: Sequence[int]) -> Tensor:
        settings = self._settings
        words = _words(settings, self._parts)
        packed, notes = self.room("packed", sum(words), torch.int32), self._notes()

        def make() -> _device.Preparation:
            tensors = []
            first = 0
            for number, (part, size, seed) in enumerate(zip(self._parts, words, seeds)):
                tensors.append(_device.PackTensor(_address(gradient, part.first), _at(residual, part.first),
                                                  part.elements, seed, _address(packed, first),
                                                  _address(notes, number), _TYPES[gradient.dtype]))
                first += size
            return self._kernels.pack_encode(settings.compressor, settings.parameter, tensors)

        key = (gradient.dtype, _address(gradient), _at(residual, 0), _address(packed))
        self._run(self._call("pack", key, seeds, make))
        return packed

    def unpack(self, packed: Sequence[Tensor], gradient: Tensor, factor: float) -> None:
        settings = self._settings

        def make() -> _device.Preparation:
            tensors = []
            first = 0
            for part, size in zip(self._parts, _words(settings, self._parts)):
                tensors.append(_device.unpacked([_address(other, first) for other in packed],
                                                _address(gradient, part.first), part.elements,
                                                _TYPES[gradient.dtype]))
                first += size
            return self._kernels.pack_decode(settings.compressor, settings.parameter, len(packed), factor, tensors)

        key = (factor, gradient.dtype, _address(gradient), *(_address(other) for other in packed))
        self._run(self._call("unpack", key, (), make))

    def _level_tensors(self, gradient: Tensor, residual: Tensor | None, seeds: Sequence[int],
                       workers: int) -> list[_device.LevelTensor]:
        words = _level_words(self._settings, self._parts, workers)
        lanes, notes = self.room("lanes", sum(words), torch.int32), self._notes()
        scales = self.room("scales", len(self._parts), torch.float32)
        tensors = []
        first = 0
        for number, (part, size, seed) in enumerate(zip(self._parts, words, seeds)):
            tensors.append(_device.LevelTensor(_address(gradient, part.first), _at(residual, part.first),
                                               part.elements, seed, _address(scales, number),
                                               _address(lanes, first), _address(notes, number),
                                               _TYPES[gradient.dtype]))
            first += size
        return tensors

    def scales(self, gradient: Tensor, residual: Tensor | None, seeds: Sequence[int], workers: int) -> Tensor:
        settings = self._settings
        self._workers = workers
        key = (gradient.dtype, _address(gradient), _at(residual, 0), workers)
        self._leveller = self._call("level", key, seeds, lambda: self._kernels.level_encode(
            settings.compressor, settings.parameter, workers,
            self._level_tensors(gradient, residual, seeds, workers)))
        self._run(self._leveller, 0)
        return self._rooms["scales"]

    def level(self) -> Tensor:
        self._run(self._leveller, 1)
        return self._rooms["lanes"]

    def add_levels(self, gradient: Tensor, factor: float) -> None:
        settings, workers = self._settings, self._workers
        none = [0] * len(self._parts)
        key = (factor, gradient.dtype, _address(gradient), workers)
        self._run(self._call("add levels", key, (), lambda: self._kernels.level_decode(
            settings.compressor, settings.parameter, workers, factor,
            self._level_tensors(gradient, None, none, workers))))

    # ---- PowerSGD

    def project(self, gradient: Tensor, residual: Tensor, queries: Tensor, sent: Tensor,
                seeds: Sequence[int]) -> None:
        settings, notes = self._settings, self._notes()

        def make() -> _device.Preparation:
            tensors = []
            for number, (part, seed) in enumerate(zip(self._parts, seeds)):
                assert part.factors is not None
                matrix = part.factors.matrix
                tensors.append(_device.LowRankTensor(
                    _address(gradient, part.first), _address(residual, part.first), matrix.rows, matrix.columns, seed,
                    _address(sent, part.factors.sent), part.factors.query_in(queries) or None,
                    _address(gradient, part.first), _address(notes, number), _TYPES[gradient.dtype]))
            return self._kernels.low_rank(settings.compressor, int(settings.parameter), settings.mode, tensors)

        key = (gradient.dtype, _address(gradient), _address(residual), _address(queries), _address(sent))
        # Seeds draw Q in the first exchange, for which the call is prepared; later only columns that are lost.
        self._factors = self._call("low rank", key, seeds[:1], make)
        self._run(self._factors, 0)

    def project_back(self) -> None:
        self._run(self._factors, 1)

    def restore(self) -> None:
        self._run(self._factors, 2)


def _rooms(settings: Settings, parts: Sequence[Part], ks: Sequence[int]) -> list[int]:
    return [_compressors.sparse_capacity(settings.compressor, part.elements, k) for part, k in zip(parts, ks)]


def _words(settings: Settings, parts: Sequence[Part]) -> list[int]:
    return [_compressors.pack_words(settings.compressor, part.elements, settings.parameter) for part in parts]


def _level_words(settings: Settings, parts: Sequence[Part], workers: int) -> list[int]:
    return [_compressors.level_words(settings.compressor, part.elements, settings.parameter, workers)
            for part in parts]


def kernels_of(device: torch.device) -> _device.Kernels | None:
    """The kernels that encode tensors of a device; None: the definitions do. Raises InputError for a device that
    neither can use, or if this build has no kernels for it."""
    if device.type == "cpu":
        return None
    if device.type == "cuda" and torch.version.hip is None:
        return _device.cuda_kernels()
    raise InputError(f"gradients on {device}: the compressors run on the CPU and on NVIDIA's GPUs")


def coder_of(settings: Settings, parts: Sequence[Part], device: torch.device) -> Coder:
    kernels = kernels_of(device)
    return OnCpu(settings, parts) if kernels is None else OnDevice(settings, parts, kernels, device)
