"""Each layer's share of an iteration: hooks leave marks, and marks become times."""
import collections
import statistics

from .errors import FAILURE, TraceError
from .training import repeat


class Hooks:
    """Marks of one iteration: before modules that own parameters, and as gradients arrive."""

    def __init__(self, training, mapping):
        self.clock = training.clock
        self.start()
        self.handles = []
        for prefix, module in training.network.named_modules():
            own = [name for name, _ in module.named_parameters(recurse=False)]
            if own:
                layer = mapping[f"{prefix}.{own[0]}" if prefix else own[0]].layer
                self.handles.append(module.register_forward_pre_hook(self.before(layer)))
        for name, parameter in training.network.named_parameters():
            self.handles.append(on_gradient(parameter, self.arrived(mapping[name].layer)))

    def start(self):
        self.forward, self.backward = [], []

    def before(self, layer):
        return lambda module, inputs: self.forward.append((layer, self.clock.mark()))

    def arrived(self, layer):
        return lambda parameter: self.backward.append((layer, self.clock.mark()))

    def remove(self):
        for handle in self.handles:
            handle.remove()


def on_gradient(parameter, act):
    """Calls act(parameter) when its gradient is there. Before torch 2.1: just before it is
    accumulated, which copies nothing, as there was none."""
    if hasattr(parameter, "register_post_accumulate_grad_hook"):
        return parameter.register_post_accumulate_grad_hook(act)

    def hook(gradient):
        act(parameter)

    return parameter.register_hook(hook)


def forward_times(clock, marks, hooked):
    """Each layer from its mark to the next one's; the first from the start, the last to the end."""
    begins = [marks[0]] + [mark for _, mark in hooked[1:]]
    ends = [mark for _, mark in hooked[1:]] + [marks[1]]
    return summed((layer, clock.seconds(begin, end))
                  for (layer, _), begin, end in zip(hooked, begins, ends))


def backward_times(clock, marks, hooked):
    """Each gradient from the one before it; the last to the end."""
    begins = [marks[1]] + [mark for _, mark in hooked[:-1]]
    ends = [mark for _, mark in hooked[:-1]] + [marks[2]]
    return summed((layer, clock.seconds(begin, end))
                  for (layer, _), begin, end in zip(hooked, begins, ends))


def summed(pairs):
    sums = collections.defaultdict(float)
    for layer, seconds in pairs:
        sums[layer] += seconds
    return dict(sums)


def time_layers(training, mapping, seconds):
    """(median forward and backward time of each layer, iterations)."""
    hooks = Hooks(training, mapping)

    def iterate():
        hooks.start()
        return training.iterate(), hooks.forward, hooks.backward

    forward, backward = collections.defaultdict(list), collections.defaultdict(list)
    iterations = 0
    try:
        for counted in repeat(training, seconds, iterate):
            for marks, before, arrived in counted:
                collect(forward, forward_times(training.clock, marks, before))
                collect(backward, backward_times(training.clock, marks, arrived))
                iterations += 1
    finally:
        hooks.remove()
    return medians_of(forward), medians_of(backward), iterations


def collect(lists, times):
    for layer, seconds in times.items():
        lists[layer].append(seconds)


def medians_of(lists):
    return {layer: statistics.median(times) for layer, times in lists.items()}


def require_all_layers(rows, forward, backward):
    for what, times in (("forward", forward), ("backward", backward)):
        missing = [row.layer for row in rows if row.layer not in times]
        if missing:
            raise TraceError(f"layer {missing[0]} took no part in {what}", FAILURE)


def tensor_times(rows, forward, backward, factor):
    """(tensor, forward, backward): a layer's first tensor has the one, its last the other."""
    first, last = {}, {}
    for row in rows:
        first.setdefault(row.layer, row.tensor)
        last[row.layer] = row.tensor
    return [(row.tensor,
             factor * forward[row.layer] if first[row.layer] == row.tensor else 0.0,
             factor * backward[row.layer] if last[row.layer] == row.tensor else 0.0)
            for row in rows]
