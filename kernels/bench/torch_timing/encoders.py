"""Encoders: selections with what goes around them, as launched and at their best."""
from .selections import (adjusted, deviations, everything_or_nothing, select_dgc_code,
                         select_dgc_paper, select_gaussian, select_randk, select_rtopk, select_topk,
                         select_trimmed_code, select_trimmed_paper)
from .torch_here import torch


def as_launched(select):
    def encode(gradient, residual, k):
        u = gradient.add_(residual)
        indices = (select if 0 < k < u.numel() else everything_or_nothing)(u, k)
        values = u[indices]
        residual.copy_(u)
        residual[indices] = 0.0
        return values, indices.int()

    return encode


def best(select):
    def encode(gradient, residual, k):
        residual.add_(gradient)
        indices = (select if 0 < k < residual.numel() else everything_or_nothing)(residual, k)
        values = residual.index_select(0, indices)
        residual.index_fill_(0, indices, 0.0)
        return values, indices.int()

    return encode


def best_topk(u, k):
    return torch.topk(u.abs(), k, sorted=False).indices


def best_gaussian(sides, evaluations):
    def select(u, k):
        std, mean = torch.std_mean(u)
        threshold = mean + deviations(k, u.numel(), sides) * std  # stays on the device
        return adjusted(u.abs(), threshold, k, evaluations)

    return select


AS_LAUNCHED = "as-launched"
BEST = "best"
ENCODERS = {
    ("topk", "", AS_LAUNCHED): as_launched(select_topk),
    ("topk", "", BEST): best(best_topk),
    ("randk", "", AS_LAUNCHED): as_launched(select_randk),
    ("dgc", "code", AS_LAUNCHED): as_launched(select_dgc_code),
    ("dgc", "paper", AS_LAUNCHED): as_launched(select_dgc_paper),
    ("gaussian", "code", AS_LAUNCHED): as_launched(select_gaussian(sides=2, evaluations=3)),
    ("gaussian", "code", BEST): best(best_gaussian(sides=2, evaluations=3)),
    ("gaussian", "paper", AS_LAUNCHED): as_launched(select_gaussian(sides=1, evaluations=4)),
    ("gaussian", "paper", BEST): best(best_gaussian(sides=1, evaluations=4)),
    ("trimmed", "code", AS_LAUNCHED): as_launched(select_trimmed_code),
    ("trimmed", "paper", AS_LAUNCHED): as_launched(select_trimmed_paper),
    ("rtopk", "", AS_LAUNCHED): as_launched(select_rtopk),
}
