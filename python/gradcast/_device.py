"""The kernels of a GPU through ctypes. include/gradcast/device_compressors.h says what each function does.

Memory is passed as addresses (`tensor.data_ptr()`), streams as numbers (`torch.cuda.current_stream().cuda_stream`).
The caller keeps the memory alive, contiguous and of the right type. `gradient_type` and `dense_type` are numbers of
`_compressors.VALUE_TYPES`; 0 is fp32.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Sequence

from ._compressors import MODES, VALUE_TYPES, Selection
from ._paths import library_path
from .errors import InputError

LIBRARY = "libgradcast_cuda_compressors.so"
_i64 = ctypes.c_int64
_pointer = ctypes.c_void_p


class _Workspace(ctypes.Structure):
    _fields_ = [("memory", _pointer), ("bytes", _i64), ("stream", _pointer)]


class SparseTensor(ctypes.Structure):
    _fields_ = [("gradient", _pointer), ("residual", _pointer), ("elements", _i64), ("k", _i64),
                ("seed", ctypes.c_uint64), ("values", _pointer), ("indices", _pointer), ("capacity", _i64),
                ("count", _pointer), ("notes", _pointer), ("gradient_type", ctypes.c_int32)]


class SparseSet(ctypes.Structure):
    _fields_ = [("values", _pointer), ("indices", _pointer), ("count", _pointer)]


class PackTensor(ctypes.Structure):
    _fields_ = [("gradient", _pointer), ("residual", _pointer), ("elements", _i64), ("seed", ctypes.c_uint64),
                ("packed", _pointer), ("notes", _pointer), ("gradient_type", ctypes.c_int32)]


class UnpackTensor(ctypes.Structure):
    _fields_ = [("packed", ctypes.POINTER(_pointer)), ("dense", _pointer), ("elements", _i64),
                ("dense_type", ctypes.c_int32)]


class LevelTensor(ctypes.Structure):
    _fields_ = [("gradient", _pointer), ("residual", _pointer), ("elements", _i64), ("seed", ctypes.c_uint64),
                ("scale", _pointer), ("lanes", _pointer), ("notes", _pointer), ("gradient_type", ctypes.c_int32)]


class LowRankTensor(ctypes.Structure):
    _fields_ = [("gradient", _pointer), ("residual", _pointer), ("rows", _i64), ("columns", _i64),
                ("seed", ctypes.c_uint64), ("p", _pointer), ("q", _pointer), ("dense", _pointer), ("notes", _pointer),
                ("gradient_type", ctypes.c_int32)]


class MomentumTensor(ctypes.Structure):
    _fields_ = [("gradient", _pointer), ("velocity", _pointer), ("elements", _i64), ("indices", _pointer),
                ("count", _pointer), ("gradient_type", ctypes.c_int32)]


def unpacked(packed: Sequence[int], dense: int, elements: int, dense_type: int = 0) -> UnpackTensor:
    """A tensor whose codes of all workers lie at these addresses."""
    return UnpackTensor((_pointer * len(packed))(*packed), dense, elements, dense_type)


class Call:
    """A prepared call, which lives in a workspace of the caller's until `release`."""

    def __init__(self, kernels: Kernels, handle: ctypes.c_void_p) -> None:
        self._kernels = kernels
        self._handle: ctypes.c_void_p | None = handle

    def run(self, step: int, stream: int) -> None:
        self._kernels._call("gradcast_run", self._handle, ctypes.c_int32(step), _pointer(stream))

    def set_round(self, number: int, stream: int) -> None:
        """Adds the number to all seeds, modulo 2^64."""
        self._kernels._call("gradcast_set_round", self._handle, ctypes.c_uint64(number), _pointer(stream))

    def release(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            self._kernels._library.gradcast_release(handle)

    def __del__(self) -> None:
        self.release()


class Preparation:
    """A call that is to be prepared. It needs `bytes` of memory on the device."""

    def __init__(self, kernels: Kernels, function: str, arguments: Sequence[Any], items: Sequence[object]) -> None:
        self._kernels, self._function, self._arguments = kernels, function, arguments
        self._items = items  # which the arguments point to
        asked = _Workspace(None, 0, None)
        kernels._call(function, *arguments, ctypes.byref(asked), None)
        self.bytes: int = asked.bytes

    def call(self, memory: int, size: int, stream: int) -> Call:
        """Prepares in that memory, which the caller keeps until the call is released and done."""
        lent = _Workspace(memory, size, stream)
        handle = _pointer()
        self._kernels._call(self._function, *self._arguments, ctypes.byref(lent), ctypes.byref(handle))
        return Call(self._kernels, handle)


class Kernels:
    """The kernels of a library: CUDA's, or in tests the emulator's."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)
        self._library.gradcast_device_error.restype = ctypes.c_char_p
        self._library.gradcast_release.restype = None

    def _call(self, function: str, *arguments: object) -> None:
        status = getattr(self._library, function)(*arguments)
        if status == 0:
            return
        error = self._library.gradcast_device_error().decode("utf-8", "replace")
        if status == 1:
            raise InputError(error)
        raise MemoryError(error) if status == 2 else RuntimeError(f"gradcast: {error}")

    def _list(self, function: str, before: Sequence[Any], items: Sequence[ctypes.Structure],
              after: Sequence[Any] = ()) -> Preparation:
        listed = (type(items[0]) * len(items))(*items)
        return Preparation(self, function, [*before, listed, _i64(len(items)), *after], items)

    def sparse_encode(self, compressor: str, candidates: int, parameter: float, mode: str, value_type: str,
                      tensors: Sequence[SparseTensor]) -> Preparation:
        selection = Selection(0, candidates, parameter, 0, MODES[mode], VALUE_TYPES[value_type])
        return self._list("gradcast_prepare_sparse_encode", [compressor.encode(), ctypes.byref(selection)], tensors)

    def sparse_decode(self, sets: Sequence[SparseSet], value_type: str, factor: float, dense: int,
                      dense_type: int, elements: int) -> Preparation:
        return self._list("gradcast_prepare_sparse_decode", [], sets, [
            ctypes.c_int32(VALUE_TYPES[value_type]), ctypes.c_float(factor), _pointer(dense),
            ctypes.c_int32(dense_type), _i64(elements)])

    def sparse_merge(self, first: SparseSet, second: SparseSet, most: int, k: int, value_type: str, values: int,
                     indices: int, count: int) -> Preparation:
        """A step of gTop-k's tree."""
        sets = (SparseSet * 2)(first, second)
        return Preparation(self, "gradcast_prepare_sparse_merge", [
            sets, _i64(most), _i64(k), ctypes.c_int32(VALUE_TYPES[value_type]), _pointer(values), _pointer(indices),
            _pointer(count)], [sets])

    def momentum(self, momentum: float, tensor: MomentumTensor) -> Call:
        """A call that adds momentum. It needs no memory, so it is prepared at once."""
        handle = _pointer()
        self._call("gradcast_prepare_momentum", ctypes.c_double(momentum), ctypes.byref(tensor), _i64(1),
                   ctypes.byref(handle))
        return Call(self, handle)

    def pack_encode(self, compressor: str, parameter: float, tensors: Sequence[PackTensor]) -> Preparation:
        return self._list("gradcast_prepare_pack_encode", [compressor.encode(), ctypes.c_double(parameter)], tensors)

    def pack_decode(self, compressor: str, parameter: float, workers: int, factor: float,
                    tensors: Sequence[UnpackTensor]) -> Preparation:
        return self._list("gradcast_prepare_pack_decode", [
            compressor.encode(), ctypes.c_double(parameter), _i64(workers), ctypes.c_float(factor)], tensors)

    def level_encode(self, compressor: str, parameter: float, workers: int,
                     tensors: Sequence[LevelTensor]) -> Preparation:
        return self._list("gradcast_prepare_level_encode",
                          [compressor.encode(), ctypes.c_double(parameter), _i64(workers)], tensors)

    def level_decode(self, compressor: str, parameter: float, workers: int, factor: float,
                     tensors: Sequence[LevelTensor]) -> Preparation:
        return self._list("gradcast_prepare_level_decode", [
            compressor.encode(), ctypes.c_double(parameter), _i64(workers), ctypes.c_float(factor)], tensors)

    def low_rank(self, compressor: str, rank: int, mode: str, tensors: Sequence[LowRankTensor]) -> Preparation:
        return self._list("gradcast_prepare_low_rank",
                          [compressor.encode(), _i64(rank), ctypes.c_int32(MODES[mode])], tensors)


@functools.lru_cache(maxsize=None)
def cuda_kernels() -> Kernels:
    """Raises InputError where this build has none."""
    try:
        return Kernels(str(library_path(LIBRARY)))
    except (ImportError, OSError) as failure:
        raise InputError(f"gradients on a GPU need gradcast's CUDA kernels, and this build has none ({failure}): "
                         "build it from its sources where nvcc is") from None
