"""A PyTorch module during its passes: the texts of its model and of its trace."""

from __future__ import annotations

import contextlib
import math
import statistics
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple

from .errors import InputError

#: Element types of models/*.csv, by PyTorch's names.
TYPES = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}


class Seen:
    """A module during one forward and one backward pass."""

    def __init__(self, net: Any, example: Any, loss: Optional[Callable[[Any], Any]]) -> None:
        try:
            import torch
        except ImportError:
            raise ImportError("models of PyTorch need torch: pip install torch") from None
        if not isinstance(net, torch.nn.Module):
            raise InputError(f"{type(net).__name__} is no torch.nn.Module")
        self.torch = torch
        self.net = net
        self.example = tuple(_leaf(its) for its in (example if isinstance(example, tuple) else (example,)))
        self.loss = loss or sum_of_all
        self.parameters: Dict[Any, str] = {p: n for n, p in net.named_parameters() if p.requires_grad}
        if not self.parameters:
            raise InputError(f"{type(net).__name__} has no parameters that are trained")
        for parameter, tensor in self.parameters.items():
            if isinstance(parameter, torch.nn.parameter.UninitializedParameter):
                raise InputError(f"{tensor} has no shape yet: run the module once first")
            if str(parameter.dtype).rpartition(".")[2] not in TYPES:
                raise InputError(f"{tensor} is of {parameter.dtype}: fp32, bf16 and fp16 are known")
        sizes = [x.shape[0] for x in self.example if isinstance(x, torch.Tensor) and x.dim() > 0]
        if not sizes or sizes[0] < 1:
            raise InputError("example: a tensor whose first dimension is the batch, or a tuple of them")
        self.batch = int(sizes[0])
        self.owner: Dict[Any, Any] = {}
        for module in net.modules():
            for parameter in module.parameters(recurse=False):
                self.owner.setdefault(parameter, module)
        self.names = {module: path for path, module in net.named_modules()}
        self._look()

    def _passes(
        self,
        before_module: Callable[[Any], None],
        on_ready: Callable[[Any], None],
        on_saved: Optional[Callable[[Any], None]] = None,
    ) -> None:
        """One forward and one backward pass, with a call before each module that owns parameters, one
        (None) when forward ends, one as each gradient is there, and one for each tensor that forward
        saves. Gradients and hooks are as before afterwards."""
        kept = {parameter: parameter.grad for parameter in self.parameters}
        hooks = []
        forward_goes_on = True

        def before(module: Any) -> None:
            if forward_goes_on:  # backward runs modules again whose activations were not kept
                before_module(module)

        try:
            for parameter in self.parameters:
                parameter.grad = None
                hooks.append(parameter.register_post_accumulate_grad_hook(on_ready))
            for module in set(self.owner.values()):
                hooks.append(module.register_forward_pre_hook(lambda module, _: before(module)))
            with self.torch.enable_grad():
                with self._saving(on_saved):
                    value = self.loss(self.net(*self.example))
                before_module(None)
                forward_goes_on = False
                value.backward()
        except InputError:
            raise
        except Exception as error:
            what = str(error).strip().splitlines()
            raise InputError(
                f"{type(self.net).__name__} cannot be run on the example: {what[0] if what else error!r}"
            ) from None
        finally:
            for hook in hooks:
                hook.remove()
            for parameter, gradient in kept.items():
                parameter.grad = gradient

    @contextlib.contextmanager
    def _put_back(self) -> Iterator[None]:
        """Afterwards buffers (running averages, counters) and the random numbers to come are as before."""
        buffers = [(module, name, buffer, buffer.detach().clone()) for module in self.net.modules()
                   for name, buffer in module._buffers.items() if buffer is not None]
        gpus = {tensor.device.index for tensor in (*self.parameters, *tensors_in(self.example)) if tensor.is_cuda}
        with self.torch.random.fork_rng(devices=sorted(gpus)):
            try:
                yield
            finally:
                with self.torch.no_grad():
                    for module, name, buffer, content in buffers:
                        if not _is_expanded(buffer):
                            buffer.copy_(content)
                        if module._buffers[name] is not buffer:  # the module put another in its place
                            module._buffers[name] = buffer

    def _saving(self, on_saved: Optional[Callable[[Any], None]]) -> Any:
        if on_saved is None:
            return contextlib.nullcontext()

        def pack(tensor: Any) -> Any:
            on_saved(tensor)
            return tensor

        return self.torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)

    def _look(self) -> None:
        """Sees what each layer computes and keeps, and in which order gradients become ready."""
        from torch.utils.flop_counter import FlopCounterMode

        called: List[Any] = [None]  # modules; None: before the first
        begun = [0]  # FLOPs when each began
        kept = [[0, 0]]  # by each: elements of the parameters' type, bytes of others
        ready: List[Any] = []
        counter = FlopCounterMode(display=False, custom_mapping=_more_formulas())
        saved = _Saved(self.net, self.example)
        usual_type = next(iter(self.parameters)).dtype

        def on_saved(tensor: Any) -> None:
            size = saved.new_bytes(tensor)
            if tensor.dtype == usual_type:
                kept[-1][0] += size // tensor.element_size()
            else:
                kept[-1][1] += size

        def before(module: Any) -> None:
            called.append(module)
            begun.append(counter.get_total_flops())
            kept.append([0, 0])

        with self._put_back(), counter, saved.watching():
            self._passes(before, ready.append, on_saved)
        if not ready:
            raise InputError("no gradient became ready in the backward pass")
        self.ready = _last_of_each(ready)
        self.flops: Dict[Any, int] = {}
        self.kept: Dict[Any, List[int]] = {}
        for bearer, begin, end, its in zip(self._bearers(called), begun, begun[1:], kept):
            self.flops[bearer] = self.flops.get(bearer, 0) + end - begin
            self.kept[bearer] = [a + b for a, b in zip(self.kept.get(bearer, (0, 0)), its)]

    def _bearers(self, called: Sequence[Any]) -> List[Any]:
        """For each module that was called, the layer whose row bears its share. This is the module itself
        if one of its parameters got a gradient, else the last such one before it, else the first."""
        have_rows = {self.owner[parameter] for parameter in self.ready}
        bearer = next((module for module in called if module in have_rows), self.owner[self._rows()[0]])
        bearers = []
        for module in called:
            bearer = module if module in have_rows else bearer
            bearers.append(bearer)
        return bearers

    def _rows(self) -> List[Any]:
        """Parameters that got a gradient, in forward order: the last ready one first."""
        return list(reversed(self.ready))

    def _without_row(self) -> List[str]:
        """Comments on parameters that have no row."""
        got = set(self.ready)
        lines = []
        frozen = [parameter for parameter in self.net.parameters() if not parameter.requires_grad]
        if frozen:
            size = sum(parameter.nbytes for parameter in frozen)
            lines.append(
                f"# frozen, in no row: {len(frozen)} tensors of {size} bytes, which a forecast of memory leaves out; "
                "what their layers compute and keep stands on the layer before"
            )
        unused = [text for parameter, text in self.parameters.items() if parameter not in got]
        if unused:
            lines.append(f"# without a gradient, and left out: {', '.join(map(_one_line, unused))}")
        return lines

    def _buffers(self, rows: List[Any]) -> Dict[Any, List[int]]:
        """Bytes of floating-point buffers and of others, by the module whose row has them."""
        bearers = {self.owner[parameter] for parameter in rows}
        seen = set()
        sums: Dict[Any, List[int]] = {}
        for module in self.net.modules():
            bearer = module if module in bearers else self.owner[rows[0]]
            for buffer in module.buffers(recurse=False):
                if buffer in seen:
                    continue
                seen.add(buffer)
                sums.setdefault(bearer, [0, 0])[0 if buffer.is_floating_point() else 1] += buffer.nbytes
        return sums

    def model_text(self) -> str:
        lines = [
            f"# made by gradcast.Model.from_torch from {type(self.net).__name__}, batch {self.batch}",
            "# forward_flops: of one sample, as torch.utils.flop_counter counts them",
            *self._without_row(),
        ]
        rows = self._rows()
        buffers = self._buffers(rows)
        lines.append(
            "layer,tensor,elements,forward_flops,dtype,shape,kept_elements,kept_bytes"
            + (",buffer_bytes,counter_bytes" if buffers else "")
        )
        counted = set()
        for parameter in rows:
            module = self.owner[parameter]
            flops, elements, others = 0, 0, 0
            its_buffers = [0, 0]
            if module not in counted:
                counted.add(module)
                its_buffers = buffers.get(module, its_buffers)
                flops = self.flops.get(module, 0) // self.batch
                elements, others = (kept // self.batch for kept in self.kept.get(module, (0, 0)))
            tensor = self.parameters[parameter]
            shape = "x".join(str(size) for size in parameter.shape) or "1"
            dtype = TYPES[str(parameter.dtype).rpartition(".")[2]]
            layer = self.names[module] or tensor.rpartition(".")[0] or tensor
            lines.append(
                f"{_cell(layer)},{_cell(tensor)},{parameter.numel()},{flops},{dtype},{shape},{elements},{others}"
                + ("".join(f",{its}" for its in its_buffers) if buffers else "")
            )
        return "\n".join(lines) + "\n"

    def _now(self) -> float:
        device = next(iter(self.parameters)).device
        if device.type == "cuda":
            self.torch.cuda.synchronize(device)
        return time.perf_counter()

    def trace_text(self, iterations: int) -> str:
        if any(tensor.is_meta for tensor in (*self.parameters, *tensors_in(self.example))):
            raise InputError("a trace is measured, and the meta device computes nothing: Model.from_torch takes it")
        forward: Dict[Any, List[float]] = {}
        backward: Dict[Any, List[float]] = {}
        with self._put_back():
            self._time(iterations, forward, backward)
        device = next(iter(self.parameters)).device
        name = self.torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
        lines = [
            f"# device: {name}",
            f"# batch: {self.batch}",
            f"# measured by gradcast.Trace.measure: medians of {iterations} iterations",
            "tensor,forward_seconds,backward_seconds",
        ]
        told = set()
        for parameter in self._rows():
            module = self.owner[parameter]
            ahead = 0.0
            if module not in told:
                told.add(module)
                ahead = statistics.median(forward.get(module, [0.0]))
            behind = statistics.median(backward.get(parameter, [0.0]))
            lines.append(f"{_cell(self.parameters[parameter])},{ahead:.9f},{behind:.9f}")
        return "\n".join(lines) + "\n"

    def _time(self, iterations: int, forward: Dict[Any, List[float]], backward: Dict[Any, List[float]]) -> None:
        """Adds the seconds of each iteration, after two that warm up."""
        for number in range(iterations + 2):
            marks: List[Tuple[Any, float]] = [(None, self._now())]
            ends: List[Tuple[Any, float]] = []
            self._passes(
                lambda module: marks.append((module, self._now())),
                lambda parameter: ends.append((parameter, self._now())),
            )
            if number < 2:
                continue
            times: Dict[Any, float] = {}
            bearers = self._bearers([module for module, _ in marks])
            for bearer, (_, at), (_, until) in zip(bearers, marks, marks[1:]):
                times[bearer] = times.get(bearer, 0.0) + until - at
            for bearer, seconds in times.items():
                forward.setdefault(bearer, []).append(seconds)
            last = marks[-1][1]
            latest = dict(ends)
            for parameter in _last_of_each([parameter for parameter, _ in ends]):
                backward.setdefault(parameter, []).append(latest[parameter] - last)
                last = latest[parameter]


def _leaf(value: Any) -> Any:
    """The same values, whose gradients are nobody else's: backward adds nothing to the user's tensors, and goes no
    further than these."""
    if getattr(value, "requires_grad", False):
        return value.detach().requires_grad_()
    if type(value) is dict:
        return {key: _leaf(its) for key, its in value.items()}
    return type(value)(map(_leaf, value)) if type(value) in (list, tuple) else value


def _one_line(name: str) -> str:
    return " ".join(name.splitlines())


def _cell(name: str) -> str:
    """A name in a row of CSV."""
    text = _one_line(name)
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"#') else text


def _more_formulas() -> Dict[Any, Any]:
    """FLOPs of operators that torch.utils.flop_counter passes over, from the shapes of their arguments:
    recurrent layers of oneDNN and cuDNN, and attention on the CPU."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    def recurrent(tokens: Sequence[int], weights: Sequence[Sequence[int]]) -> int:
        # Each token is multiplied by the layer's matrices; biases have one dimension.
        matrices = sum(math.prod(shape) for shape in weights if len(shape) == 2)
        return 2 * math.prod(tokens[:-1]) * matrices

    def one_dnn(tokens: Any, *arguments: Any, **_: Any) -> int:
        return recurrent(tokens, arguments[:4])

    def cu_dnn(tokens: Any, weights: Any, *_: Any, **__: Any) -> int:
        return recurrent(tokens, weights)

    def attention(query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
        # Two products: queries by keys, and what comes out by values.
        return int(2 * math.prod(query[:-1]) * key[-2] * (query[-1] + value[-1]))

    known = FlopCounterMode(display=False).flop_registry
    formulas = {
        "mkldnn_rnn_layer": one_dnn,
        "_cudnn_rnn": cu_dnn,
        "_scaled_dot_product_flash_attention_for_cpu": attention,
    }
    operators = {getattr(torch.ops.aten, name, None): formula for name, formula in formulas.items()}
    return {its: formula for its, formula in operators.items() if its is not None and its not in known}


def _last_of_each(ready: Sequence[Any]) -> List[Any]:
    """The order in which gradients are complete. A layer whose activations are recomputed piece by piece
    (reentrant checkpoints) adds to its gradients several times."""
    return list(reversed(list(dict.fromkeys(reversed(ready)))))


class _Saved:
    """Tells how many bytes each saved tensor adds to what is kept. A tensor that the pass made keeps its
    whole memory alive, and counts once. A tensor from outside (an input, a label) may be a slice of a whole
    data set, so it counts as its elements. Parameters count nothing."""

    def __init__(self, net: Any, example: Any) -> None:
        self.counted: Dict[int, int] = {_memory(parameter): 0 for parameter in net.parameters()}
        self.whole = set(self.counted)  # counted for good
        self.made: Set[int] = set()
        self.views: Set[Any] = set()
        self.most: Dict[int, int] = {}  # of each input
        for tensor in filter(lambda tensor: not _is_sparse(tensor), tensors_in(example)):
            self.most[_memory(tensor)] = self.most.get(_memory(tensor), 0) + tensor.nbytes

    def watching(self) -> Any:
        """A context that sees what the pass makes."""
        from torch.utils._python_dispatch import TorchDispatchMode

        made = self.made

        class Watching(TorchDispatchMode):  # type: ignore[no-untyped-call]
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                output = func(*args, **(kwargs or {}))
                made.update(_memories(output) - _memories([args, kwargs]))
                return output

        return Watching()  # type: ignore[no-untyped-call]

    def new_bytes(self, tensor: Any) -> int:
        if _is_sparse(tensor):
            return int(tensor._nnz() * tensor.element_size())
        memory = _memory(tensor)
        if memory in self.whole:
            return 0
        before = self.counted.get(memory, 0)
        size = tensor.untyped_storage().nbytes()
        if memory in self.made:
            self.whole.add(memory)
        else:
            view = (memory, tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
            own = 0 if view in self.views else tensor.nbytes
            self.views.add(view)
            size = min(size, before + own, self.most.get(memory, size))
        self.counted[memory] = max(before, size)
        return int(self.counted[memory] - before)


def _memory(tensor: Any) -> int:
    """The number of a tensor's memory, also of one on the meta device, whose address is 0."""
    return int(tensor.untyped_storage()._cdata)


def _is_sparse(tensor: Any) -> bool:
    """True for a tensor that has no memory of its own but that of its indices and values."""
    return "strided" not in str(tensor.layout)


def _is_expanded(tensor: Any) -> bool:
    """True for a tensor that has one number in several places: nothing writes into it."""
    return not _is_sparse(tensor) and any(step == 0 and size > 1 for step, size in zip(tensor.stride(), tensor.shape))


def _memories(value: Any) -> Set[int]:
    return {_memory(tensor) for tensor in tensors_in(value) if not _is_sparse(tensor)}


def sum_of_all(output: Any) -> Any:
    """The loss where none is given: the sum of all floating-point tensors of an output."""
    tensors = [tensor for tensor in tensors_in(output) if tensor.is_floating_point()]
    if not tensors:
        raise InputError(f"the output is {type(output).__name__}: say what its loss is (loss=...)")
    return sum(tensor.float().sum() for tensor in tensors)


def tensors_in(value: Any) -> List[Any]:
    """The tensors in lists, tuples and dictionaries within each other."""
    if hasattr(value, "untyped_storage"):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for item in value for tensor in tensors_in(item)] if isinstance(value, (list, tuple)) else []
