"""Models and traces that Python makes: from a PyTorch module, and from PyTorch's profiler."""

from __future__ import annotations

import contextlib
import pathlib
import statistics
import tempfile
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from .errors import InputError
from .inputs import Input

#: Element types of models/*.csv, by PyTorch's names.
TYPES = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}


class Model(Input):
    """A network's gradient tensors in forward order, in the format of models/."""

    @classmethod
    def from_torch(
        cls, net: Any, example: Any, *, name: str = "mine", loss: Optional[Callable[[Any], Any]] = None
    ) -> "Model":
        """The model of a torch.nn.Module. `example`: an input batch, or a tuple of several (first
        dimension: samples). One forward and one backward pass are made, on the module as it is; its
        gradients are put back.

        Rows stand in the order in which gradients become ready, the last one first. forward_flops are
        of one sample (torch.utils.flop_counter: 2 per multiply-accumulate of convolutions and
        products, nothing else), on a layer's first tensor; what a layer without parameters computes
        is added to the layer before it. kept_elements and kept_bytes: what autograd saves of one sample
        (torch.autograd.graph.saved_tensors_hooks; a tensor that two operators save counts once, and
        parameters do not). buffer_bytes and counter_bytes: the layer's buffers, of floating-point numbers
        and of others; those of modules without parameters stand on the first row. `loss` makes a scalar
        of the output (default: the sum of all its floating-point tensors).

        Raises InputError for a module without parameters, and for one that cannot be run."""
        return _Seen(net, example, loss).model(cls, name)


class Trace(Input):
    """Times of one iteration of one GPU by gradient tensor, in the format of traces/iteration-*.
    `model`: the model that it is of, where Python knows it."""

    model: Optional[Model] = None

    @classmethod
    def measure(
        cls,
        net: Any,
        example: Any,
        *,
        name: str = "mine",
        loss: Optional[Callable[[Any], Any]] = None,
        iterations: int = 10,
    ) -> "Trace":
        """Times forward and backward of `net` on the device where it is, layer by layer: medians of
        `iterations` passes after two that warm up. A layer's forward time lasts until the next layer
        begins, a gradient's backward time from the gradient before it. The optimizer's step is not in
        it. Raises as Model.from_torch does."""
        if not isinstance(iterations, int) or not 1 <= iterations <= 10_000:
            raise InputError(f"iterations: {iterations!r:.40} is no number from 1 to 10000")
        seen = _Seen(net, example, loss)
        trace = cls(seen.trace_text(iterations), name)
        trace.model = seen.model(Model, name)
        return trace

    @classmethod
    def from_profiler(cls, profile: Any, *, name: str = "mine", **settings: Any) -> "Trace":
        """The trace of a torch.profiler.profile that has ended (steps told by profile.step(),
        record_shapes=True), or of the path of one that was exported. Settings: those of `gradcast
        import` (batch=..., iteration_seconds=...). Raises InputError where gradients cannot be told."""
        from .forecaster import Forecaster

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            if hasattr(profile, "export_chrome_trace"):
                try:
                    profile.export_chrome_trace(str(path))
                except Exception as error:
                    raise InputError(f"this profile cannot be exported: {error}") from None
            else:
                path = pathlib.Path(profile)
            Forecaster().run("import", str(path), output=folder, name=name, **settings)
            made = pathlib.Path(folder)
            [trace_file] = (made / "traces").glob("iteration-*.csv")
            [model_file] = (made / "models").glob("*.csv")
            trace = cls(trace_file.read_text(encoding="utf-8"), name)
            trace.model = Model(model_file.read_text(encoding="utf-8"), name)
        return trace


class _Seen:
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
        self.example = example if isinstance(example, tuple) else (example,)
        self.loss = loss or self._sum
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
        self.flops, self.forward_order, self.ready = self._look()

    def _sum(self, output: Any) -> Any:
        torch = self.torch
        if isinstance(output, torch.Tensor):
            return output.float().sum()
        if isinstance(output, dict):
            output = list(output.values())
        if isinstance(output, (list, tuple)):
            tensors = [x for x in output if isinstance(x, torch.Tensor) and x.is_floating_point()]
            if tensors:
                return sum(x.float().sum() for x in tensors)
        raise InputError(f"the output is {type(output).__name__}: say what its loss is (loss=...)")

    def _passes(
        self,
        before_module: Callable[[Any], None],
        on_ready: Callable[[Any], None],
        on_saved: Optional[Callable[[Any], None]] = None,
    ) -> None:
        """One forward and one backward pass, with a call before each module that owns parameters, one
        as each gradient is there, and one for each tensor that forward saves. Gradients and hooks are
        as before afterwards."""
        kept = {parameter: parameter.grad for parameter in self.parameters}
        hooks = []
        try:
            for parameter in self.parameters:
                parameter.grad = None
                hooks.append(parameter.register_post_accumulate_grad_hook(on_ready))
            for module in set(self.owner.values()):
                hooks.append(module.register_forward_pre_hook(lambda module, _: before_module(module)))
            with self.torch.enable_grad():
                with self._saving(on_saved):
                    value = self.loss(self.net(*self.example))
                before_module(None)
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

    def _saving(self, on_saved: Optional[Callable[[Any], None]]) -> Any:
        if on_saved is None:
            return contextlib.nullcontext()

        def pack(tensor: Any) -> Any:
            on_saved(tensor)
            return tensor

        return self.torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)

    def _look(self) -> Tuple[Dict[Any, int], List[Any], List[Any]]:
        from torch.utils.flop_counter import FlopCounterMode

        order: List[Any] = []
        ready: List[Any] = []
        counts: List[Tuple[Any, int]] = []
        counter = FlopCounterMode(display=False)

        saved = {p.untyped_storage().data_ptr() for p in self.net.parameters()}
        current: List[Any] = []  # the layer that computes; none before the first
        self.kept: Dict[Any, List[int]] = {}  # elements of the parameters' type, bytes of others

        def on_saved(tensor: Any) -> None:
            storage = tensor.untyped_storage()
            if storage.data_ptr() in saved:
                return
            saved.add(storage.data_ptr())
            kept = self.kept.setdefault(current[0] if current else None, [0, 0])
            if tensor.dtype == next(iter(self.parameters)).dtype:
                kept[0] += storage.nbytes() // tensor.element_size()
            else:
                kept[1] += storage.nbytes()

        def before(module: Any) -> None:
            if module is not None:
                current[:] = [module]
            counts.append((module, counter.get_total_flops()))
            if module is not None and module not in order:
                order.append(module)

        with counter:
            self._passes(before, ready.append, on_saved)
        if None in self.kept:  # before the first layer with parameters
            first = self.kept.setdefault(order[0], [0, 0])
            self.kept[order[0]] = [a + b for a, b in zip(first, self.kept.pop(None))]
        flops: Dict[Any, int] = {}
        for (module, begin), (_, end) in zip(counts, counts[1:]):
            # What comes before the first layer with parameters counts to it.
            flops[module] = flops.get(module, 0) + end - begin
        if counts and counts[0][1] > 0:
            flops[counts[0][0]] = flops.get(counts[0][0], 0) + counts[0][1]
        if not ready:
            raise InputError("no gradient became ready in the backward pass")
        return flops, order, ready

    def _rows(self) -> List[Any]:
        """Parameters that got a gradient, in forward order: the last ready one first."""
        return list(reversed(self.ready))

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

    def model(self, kind: "type[Model]", name: str) -> Model:
        got = set(self.ready)
        unused = [text for parameter, text in self.parameters.items() if parameter not in got]
        lines = [
            f"# made by gradcast.Model.from_torch from {type(self.net).__name__}, batch {self.batch}",
            "# forward_flops: of one sample, as torch.utils.flop_counter counts them",
        ]
        if unused:
            lines.append(f"# without a gradient, and left out: {', '.join(unused)}")
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
                f"{layer},{tensor},{parameter.numel()},{flops},{dtype},{shape},{elements},{others}"
                + ("".join(f",{its}" for its in its_buffers) if buffers else "")
            )
        return kind("\n".join(lines) + "\n", name)

    def _now(self) -> float:
        device = next(iter(self.parameters)).device
        if device.type == "cuda":
            self.torch.cuda.synchronize(device)
        return time.perf_counter()

    def trace_text(self, iterations: int) -> str:
        forward: Dict[Any, List[float]] = {}
        backward: Dict[Any, List[float]] = {}
        for number in range(iterations + 2):
            marks: List[Tuple[Any, float]] = []
            ends: List[Tuple[Any, float]] = []
            begin = self._now()
            self._passes(
                lambda module: marks.append((module, self._now())),
                lambda parameter: ends.append((parameter, self._now())),
            )
            if number < 2 or not marks:
                continue
            marks[0] = (marks[0][0], begin)
            times: Dict[Any, float] = {}
            for (module, at), (_, until) in zip(marks, marks[1:]):
                times[module] = times.get(module, 0.0) + until - at
            for module, seconds in times.items():
                forward.setdefault(module, []).append(seconds)
            last = marks[-1][1]
            for parameter, at in ends:
                backward.setdefault(parameter, []).append(at - last)
                last = at
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
            lines.append(f"{self.parameters[parameter]},{ahead:.9f},{behind:.9f}")
        return "\n".join(lines) + "\n"
