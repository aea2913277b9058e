"""The step that is probed: a function of the user's, or a small network of ours."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, Callable, Dict, Tuple

import torch
from torch import nn

from ..errors import InputError

Made = Tuple[nn.Module, Any, Callable[[Any], Any]]


def _fnn() -> Made:
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 200), nn.ReLU(), nn.Linear(200, 200), nn.ReLU(), nn.Linear(200, 10))
    return _classifier(net, torch.randn(128, 1, 28, 28), 10)


def _lenet() -> Made:
    net = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip
    return _classifier(net, torch.randn(128, 1, 28, 28), 10)


class _Block(nn.Module):
    """Two convolutions and a way past them."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.past = nn.Conv2d(inputs, outputs, 1, stride, bias=False) if inputs != outputs else nn.Identity()

    def forward(self, x: Any) -> Any:
        inner = self.norm2(self.second(torch.relu(self.norm1(self.first(x)))))
        return torch.relu(inner + self.past(x))


def _resnet() -> Made:
    widths = [64, 64, 128, 256, 512]
    blocks = [_Block(a, b, 1 if a == b else 2) for a, b in zip(widths, widths[1:])]
    net = nn.Sequential(
        nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), *blocks,
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip
    return _classifier(net, torch.randn(16, 3, 32, 32), 10)


def _transformer() -> Made:
    layer = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
    net = nn.Sequential(nn.Embedding(4096, 256), nn.TransformerEncoder(layer, 4, enable_nested_tensor=False),
                        nn.Linear(256, 4096))
    tokens = torch.randint(4096, (4, 64))
    return net, tokens, lambda output: nn.functional.cross_entropy(output.flatten(0, 1),
                                                                    tokens.to(output.device).flatten())


def _classifier(net: nn.Module, images: Any, classes: int) -> Made:
    labels = torch.arange(images.shape[0]) % classes
    return net, images, lambda output: nn.functional.cross_entropy(output, labels.to(output.device))


NETWORKS: Dict[str, Callable[[], Made]] = {"fnn-3": _fnn, "lenet-5": _lenet, "small-resnet": _resnet,
                                           "small-transformer": _transformer}


def named(name: str, device: Any) -> Made:
    """A network of ours, on the device."""
    torch.manual_seed(1)
    net, example, loss = NETWORKS[name]()
    return net.to(device), example.to(device), loss


def _require_timeable(word: str, net: nn.Module, optimizer: Any) -> None:
    """Raises InputError for what is no optimizer, and for one whose step says nothing, or changes weights at a learning
    rate of 0."""
    name = type(optimizer).__name__
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise InputError(f"{word} gives a {name} as optimizer, and it must be a torch.optim.Optimizer")
    if isinstance(optimizer, (torch.optim.LBFGS, torch.optim.Rprop)):
        raise InputError(f"{word} gives {name}, whose step changes weights at any learning rate: leave the optimizer out")
    if not all(isinstance(group.get("lr"), (int, float, torch.Tensor)) for group in optimizer.param_groups):
        raise InputError(f"{word} gives {name} without a number as learning rate (lr): leave the optimizer out")
    trained = {id(parameter) for parameter in net.parameters() if parameter.requires_grad}
    if not any(id(parameter) in trained for group in optimizer.param_groups for parameter in group["params"]):
        raise InputError(f"{word} gives {name} with no parameter of the net: make it from net.parameters()")


def adapted(word: str) -> Tuple[Any, Any, Any, Any]:
    """The step of MODULE:FUNCTION. Raises InputError, one line, where there is none."""
    module, _, function = word.partition(":")
    if not module or not function:
        raise InputError(f"{word!r:.80} is no MODULE:FUNCTION, like my_step:step")
    if module.endswith(".py") or os.sep in module:
        name = os.path.basename(module).removesuffix(".py")
        raise InputError(f"{module!r:.80} is a path: write the module's name, like {name}:{function}")
    sys.path.insert(0, os.getcwd())
    try:
        made = getattr(importlib.import_module(module), function)()
    except ModuleNotFoundError as error:
        raise InputError(f"{word}: {error}; the current folder and PYTHONPATH are searched") from None
    except AttributeError as error:
        raise InputError(f"{word}: {error}") from None
    except (Exception, SystemExit) as error:
        lines = str(error).strip().splitlines()
        raise InputError(f"{word} ended with {type(error).__name__}: {lines[0] if lines else ''}") from None
    if not isinstance(made, tuple) or not 2 <= len(made) <= 4:
        raise InputError(f"{word} gives a {type(made).__name__}, and must give (net, example), (net, example, loss) or "
                         "(net, example, loss, optimizer)")
    net, example, loss, optimizer = (*made, None, None)[:4]
    if isinstance(net, nn.parallel.DistributedDataParallel):
        raise InputError(f"{word} gives a net that is in DistributedDataParallel: give the module inside (net.module)")
    if not isinstance(net, nn.Module):
        raise InputError(f"{word} gives a {type(net).__name__} as net, and it must be a torch.nn.Module")
    if loss is not None and not callable(loss):
        raise InputError(f"{word} gives a {type(loss).__name__} as loss, and it must be a function of the output")
    if optimizer is not None:
        _require_timeable(word, net, optimizer)
    return net, example, loss, optimizer
