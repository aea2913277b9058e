"""Models and traces that Python makes: from a PyTorch module, and from PyTorch's profiler."""

from __future__ import annotations

import os
import pathlib
import tempfile
from typing import Any, Callable, Optional

from ._seen import Seen
from ._values import whole
from .errors import InputError
from .inputs import Input, warned


class Model(Input):
    """A network's gradient tensors in forward order, in the format of models/."""

    @classmethod
    def from_torch(
        cls, net: Any, example: Any, *, name: str = "mine", loss: Optional[Callable[[Any], Any]] = None
    ) -> "Model":
        """The model of a torch.nn.Module. `example`: an input batch, or a tuple of several (first
        dimension: samples). One forward and one backward pass are made, on the module as it is; its
        gradients and buffers, the example's gradients and PyTorch's random numbers are put back.

        Rows stand in the order in which gradients become ready, the last one first. forward_flops are
        of one sample (torch.utils.flop_counter: 2 per multiply-accumulate of convolutions and
        products, also of attention and of fused recurrent layers; nothing else), on a layer's first
        tensor. kept_elements and kept_bytes: what autograd saves of one sample
        (torch.autograd.graph.saved_tensors_hooks; a tensor that two operators save counts once, and
        parameters do not). A layer without a row adds what it computes and keeps to the layer before it:
        it has no parameters, they are frozen, or it runs under torch.no_grad. A comment counts the frozen
        parameters. What activation checkpoints compute again in backward counts nowhere. buffer_bytes and
        counter_bytes: the layer's buffers, of floating-point numbers and of others; those of modules
        without parameters stand on the first row. `loss` makes a scalar of the output (default: the sum
        of all its floating-point tensors).

        Raises InputError for a module without parameters, and for one that cannot be run."""
        return cls(Seen(net, example, loss).model_text(), name)


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
        with a row begins, a gradient's backward time from the gradient before it. So backward has the
        recomputation of activation checkpoints. The optimizer's step is not in it. Raises as
        Model.from_torch does, and on the meta device, which computes nothing."""
        iterations = whole("iterations", iterations, 1, 10_000)
        seen = Seen(net, example, loss)
        trace = cls(seen.trace_text(iterations), name)
        trace.model = Model(seen.model_text(), name)
        return trace

    @classmethod
    def from_profiler(cls, profile: Any, *, name: str = "mine", **settings: Any) -> "Trace":
        """The trace of a torch.profiler.profile that has ended (steps told by profile.step(),
        record_shapes=True), or of the path of one that was exported. Settings: those of `gradcast
        import` (batch=..., iteration_seconds=...). `notes` has what was used, left out and inferred, and what is
        not known, of which it warns too. Raises InputError where gradients cannot be told."""
        from .forecaster import Forecaster

        if not hasattr(profile, "export_chrome_trace") and not isinstance(profile, (str, os.PathLike)):
            raise InputError(f"{type(profile).__name__} is no torch.profiler.profile and no path of one")
        for setting in ("output", "help"):
            if setting in settings:
                raise InputError(f"{setting}: from_profiler gives a Trace, and writes no files; save() does")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            if hasattr(profile, "export_chrome_trace"):
                try:
                    profile.export_chrome_trace(str(path))
                except Exception as error:
                    raise InputError(f"this profile cannot be exported: {error}") from None
            else:
                path = pathlib.Path(profile)
            try:
                Forecaster().run("import", str(path), output=folder, name=name, **settings)
            except InputError as error:
                if path.parent != pathlib.Path(folder):
                    raise
                raise InputError(str(error).replace(str(path), "this profile"), error.code) from None  # made here
            made = pathlib.Path(folder)
            [trace_file] = (made / "traces").glob("iteration-*.csv")
            [model_file] = (made / "models").glob("*.csv")
            trace = cls(trace_file.read_text(encoding="utf-8"), name)
            trace.model = Model(model_file.read_text(encoding="utf-8"), name)
        return warned(trace)
