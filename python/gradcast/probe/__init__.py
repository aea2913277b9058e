"""A probe of your cluster: it measures where your training runs, and forecasts each run before it measures it.

    torchrun --nnodes 4 --nproc-per-node 8 ... -m gradcast.probe my_step:step --output my-cluster

`my_step.py` takes the step out of a training script:

    import torch.nn.functional as F
    import my_train
    def step():
        images, labels = next(iter(my_train.loader))
        return my_train.net, images, lambda output: F.cross_entropy(output, labels)

The function gives `(net, example)`, `(net, example, loss)` or `(net, example, loss, optimizer)`. The net is a
torch.nn.Module on its device, the example an input batch or a tuple of them. The loss makes a scalar of the output. The
optimizer's step is timed, with a learning rate of 0, so that no weight changes; without one, that of plain SGD is.
Importing the script must not start its training. docs/probe.md shows what comes out. Then:

    gradcast.decide(**gradcast.probe.settings("my-cluster"))
"""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Dict

from .._values import path_text
from ..errors import InputError
from ..inputs import Cluster, Costs, Stack
from ..models import Model, Trace

__all__ = ["settings"]


def settings(folder: "str | os.PathLike[str]") -> Dict[str, Any]:
    """A probe's findings, as settings of `forecast`, `decide` and the others. Raises InputError where the folder is
    none of a probe that came as far as the iteration."""
    place = pathlib.Path(path_text("folder", folder))
    try:
        found = json.loads((place / "probe.json").read_text(encoding="utf-8"))
        collective, stack = str(found["collective"]), str(found["stack"])
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{place}: no folder of gradcast.probe (it has no probe.json of its kind)", 3) from None
    made: Dict[str, Any] = {
        "model": Model.from_file(place / "model.csv"), "trace": Trace.from_file(place / "trace.csv"),
        "cluster": Cluster.from_file(place / "cluster.csv"), "collective": collective,
        "framework_in_compute": True, "fusion": "ddp", "overlap": True,
    }  # fmt: skip
    made["stack"] = Stack.from_file(place / "stack.csv") if (place / "stack.csv").exists() else stack
    if (place / "costs.csv").exists():
        made["costs"] = Costs.from_file(place / "costs.csv")
    return made
