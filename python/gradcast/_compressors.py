"""The library `gradcast_compressors` through ctypes. include/gradcast/compressors.h says what each function does.

Memory is passed as addresses (`tensor.data_ptr()`), so nothing here knows of PyTorch or NumPy. The caller keeps the
memory alive, contiguous and of the right type. Calls let go of the GIL.
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass
from typing import Any, ClassVar, Sequence

from ._paths import library_path
from .errors import InputError

LIBRARY = "libgradcast_compressors.so"
FAMILIES = ("dense", "sparsifier", "cast", "quantiser", "low-rank")
MODES = {"code": 0, "paper": 1}
VALUE_TYPES = {"fp32": 0, "fp16": 1, "bf16": 2}
VALUE_BYTES = {"fp32": 4, "fp16": 2, "bf16": 2}

_TEXTS = ("name", "summary", "source")
_NUMBERS = ("family", "aggregation", "combination", "two_modes", "takes_k", "exact_count", "shared_seed",
            "shared_scale", "feedback")
_i64 = ctypes.c_int64
_pointer = ctypes.c_void_p


class _Info(ctypes.Structure):
    _fields_: ClassVar[Any] = [
        *((name, ctypes.c_char_p) for name in _TEXTS), *((name, ctypes.c_int32) for name in _NUMBERS),
        ("parameter_name", ctypes.c_char_p), ("parameter_meaning", ctypes.c_char_p),
        ("parameter_usual", ctypes.c_double), ("parameter_least", ctypes.c_double),
        ("parameter_most", ctypes.c_double), ("parameter_whole", ctypes.c_int32)]


class Selection(ctypes.Structure):
    _fields_ = [("k", _i64), ("candidates", _i64), ("parameter", ctypes.c_double), ("seed", ctypes.c_uint64),
                ("mode", ctypes.c_int32), ("value_type", ctypes.c_int32)]


class _Matrix(ctypes.Structure):
    _fields_ = [("rows", _i64), ("columns", _i64), ("rank", _i64), ("seed", ctypes.c_uint64),
                ("mode", ctypes.c_int32)]


@dataclass(frozen=True)
class Parameter:
    """The number that a compressor takes, like PowerSGD's rank. Outside of least..most it is refused."""

    name: str
    meaning: str
    usual: float
    least: float
    most: float
    whole: bool


@dataclass(frozen=True)
class Compressor:
    """A compressor of the table, as `gradcast list` has it."""

    name: str
    summary: str
    source: str
    family: str  # of FAMILIES
    gathers: bool  # workers gather codes; else an all-reduce adds them up
    votes: bool  # all receive the sign of most, not a mean
    two_modes: bool  # the paper and its authors' code differ
    takes_density: bool
    exact_count: bool  # sends exactly k elements
    shared_seed: bool  # workers with one seed select alike
    shared_scale: bool  # workers may share a scale
    feedback: bool  # its source keeps a residual
    parameter: Parameter | None


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(library_path(LIBRARY)))
    library.gradcast_compressor_error.restype = ctypes.c_char_p
    library.gradcast_compressor_version.restype = ctypes.c_char_p
    return library


def _call(function: str, *arguments: object) -> None:
    library = _library()
    status = getattr(library, function)(*arguments)
    if status == 0:
        return
    error = library.gradcast_compressor_error().decode("utf-8", "replace")
    if status == 1:
        raise InputError(error)
    raise MemoryError(error) if status == 2 else RuntimeError(f"gradcast: {error}")


def _asked(function: str, *arguments: object) -> int:
    answer = _i64()
    _call(function, *arguments, ctypes.byref(answer))
    return answer.value


def _addresses(pointers: Sequence[int]) -> ctypes.Array[ctypes.c_void_p]:
    return (_pointer * len(pointers))(*pointers)


def _described(handle: ctypes.c_void_p) -> Compressor:
    info = _Info()
    _call("gradcast_compressor_describe", handle, ctypes.byref(info))
    name = info.parameter_name.decode()
    parameter = Parameter(name, info.parameter_meaning.decode(), info.parameter_usual, info.parameter_least,
                          info.parameter_most, bool(info.parameter_whole)) if name else None
    return Compressor(info.name.decode(), info.summary.decode(), info.source.decode(), FAMILIES[info.family],
                      bool(info.aggregation), bool(info.combination), bool(info.two_modes), bool(info.takes_k),
                      bool(info.exact_count), bool(info.shared_seed), bool(info.shared_scale), bool(info.feedback),
                      parameter)


@functools.lru_cache(maxsize=None)
def _handle(name: str) -> ctypes.c_void_p:
    handle = _pointer()
    _call("gradcast_compressor_find", name.encode(), ctypes.byref(handle))
    return handle


@functools.lru_cache(maxsize=None)
def compressors() -> tuple[Compressor, ...]:
    """All compressors of the table, in its order."""
    found = []
    for place in range(_library().gradcast_compressor_count()):
        handle = _pointer()
        _call("gradcast_compressor_at", ctypes.c_int32(place), ctypes.byref(handle))
        found.append(_described(handle))
    return tuple(found)


def find(name: str) -> Compressor:
    """The compressor of that name. Raises InputError."""
    for compressor in compressors():
        if compressor.name == name:
            return compressor
    known = ", ".join(compressor.name for compressor in compressors())
    raise InputError(f"compressor {name!r:.80} is none of the table (known: {known})")


def wanted(elements: int, density: float) -> int:
    """k of so many elements at a density of 0 to 1."""
    return _asked("gradcast_sparse_wanted", _i64(elements), ctypes.c_double(density))


def sparse_capacity(compressor: str, elements: int, k: int) -> int:
    return _asked("gradcast_sparse_capacity", _handle(compressor), _i64(elements), _i64(k))


def sparse_encode(compressor: str, gradient: int, residual: int | None, elements: int, *, k: int, candidates: int,
                  parameter: float, seed: int, mode: str, value_type: str, values: int, indices: int,
                  capacity: int) -> int:
    """Writes values and indices. Returns how many pairs."""
    selection = Selection(k, candidates, parameter, seed, MODES[mode], VALUE_TYPES[value_type])
    count = _i64()
    _call("gradcast_sparse_encode", _handle(compressor), _pointer(gradient), _pointer(residual), _i64(elements),
          ctypes.byref(selection), _pointer(values), _pointer(indices), _i64(capacity), ctypes.byref(count), None)
    return count.value


def sparse_decode(values: Sequence[int], indices: Sequence[int], counts: Sequence[int], value_type: str, dense: int,
                  elements: int) -> None:
    """dense = the sum of the sets, in their order."""
    _call("gradcast_sparse_decode", _addresses(values), _addresses(indices), (_i64 * len(counts))(*counts),
          _i64(len(counts)), ctypes.c_int32(VALUE_TYPES[value_type]), _pointer(dense), _i64(elements))


def pack_words(compressor: str, elements: int, parameter: float) -> int:
    return _asked("gradcast_pack_words", _handle(compressor), _i64(elements), ctypes.c_double(parameter))


def pack_encode(compressor: str, gradient: int, residual: int | None, elements: int, parameter: float, seed: int,
                packed: int, words: int) -> None:
    _call("gradcast_pack_encode", _handle(compressor), _pointer(gradient), _pointer(residual), _i64(elements),
          ctypes.c_double(parameter), ctypes.c_uint64(seed), _pointer(packed), _i64(words), None)


def pack_decode(compressor: str, packed: Sequence[int], words: int, parameter: float, dense: int,
                elements: int) -> None:
    """dense = what the codes of all workers say together, in their order."""
    _call("gradcast_pack_decode", _handle(compressor), _addresses(packed), _i64(len(packed)), _i64(words),
          ctypes.c_double(parameter), _pointer(dense), _i64(elements))


def level_words(compressor: str, elements: int, parameter: float, workers: int) -> int:
    return _asked("gradcast_level_words", _handle(compressor), _i64(elements), ctypes.c_double(parameter),
                  _i64(workers))


def level_scale(compressor: str, gradient: int, residual: int | None, elements: int, parameter: float) -> float:
    """The scale that this worker would take by itself."""
    scale = ctypes.c_float()
    _call("gradcast_level_scale", _handle(compressor), _pointer(gradient), _pointer(residual), _i64(elements),
          ctypes.c_double(parameter), ctypes.byref(scale), None)
    return scale.value


def level_encode(compressor: str, gradient: int, residual: int | None, elements: int, parameter: float, seed: int,
                 own: float, shared: float, workers: int, lanes: int, words: int) -> None:
    _call("gradcast_level_encode", _handle(compressor), _pointer(gradient), _pointer(residual), _i64(elements),
          ctypes.c_double(parameter), ctypes.c_uint64(seed), ctypes.c_float(own), ctypes.c_float(shared),
          _i64(workers), _pointer(lanes), _i64(words))


def level_decode(compressor: str, lanes: int, words: int, parameter: float, shared: float, workers: int, dense: int,
                 elements: int) -> None:
    _call("gradcast_level_decode", _handle(compressor), _pointer(lanes), _i64(words), ctypes.c_double(parameter),
          ctypes.c_float(shared), _i64(workers), _pointer(dense), _i64(elements))


@dataclass(frozen=True)
class LowRank:
    """PowerSGD's calls for a matrix of rows x columns. Pass q = 0 where `second` is 0."""

    compressor: str
    rows: int
    columns: int
    rank: int
    mode: str

    def _matrix(self, seed: int = 0) -> _Matrix:
        return _Matrix(self.rows, self.columns, self.rank, seed, MODES[self.mode])

    def numbers(self) -> tuple[int, int]:
        """Floats in the first all-reduce, and in the second; 0 in the second: not compressed."""
        first, second = _i64(), _i64()
        _call("gradcast_low_rank_numbers", _handle(self.compressor), ctypes.byref(self._matrix()),
              ctypes.byref(first), ctypes.byref(second))
        return first.value, second.value

    def first(self, gradient: int, residual: int, q: int, sent: int, seed: int) -> None:
        _call("gradcast_low_rank_first", _handle(self.compressor), ctypes.byref(self._matrix(seed)),
              _pointer(gradient), _pointer(residual), _pointer(q), _pointer(sent), None)

    def second(self, u: int, p: int, q: int) -> None:
        _call("gradcast_low_rank_second", _handle(self.compressor), ctypes.byref(self._matrix()), _pointer(u),
              _pointer(p), _pointer(q))

    def finish(self, p: int, q: int, dense: int, residual: int) -> None:
        _call("gradcast_low_rank_finish", _handle(self.compressor), ctypes.byref(self._matrix()), _pointer(p),
              _pointer(q), _pointer(dense), _pointer(residual))
