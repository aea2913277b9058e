"""Inputs: as kernels/inputs.hpp means them, drawn by torch."""
import math

from .torch_here import torch

SIGMA = 1e-3


def normal(n, draw):
    return torch.randn(n, **draw)


def uniform(n, draw):
    return torch.rand(n, **draw)


def laplace(n, draw):
    u = uniform(n, draw) - 0.5
    return -SIGMA * torch.sign(u) * torch.log(1 - 2 * u.abs() + 1e-12)


def student(freedom):
    def of(n, draw):
        chi_squared = sum(normal(n, draw).square_() for _ in range(freedom))
        return SIGMA * normal(n, draw) / torch.sqrt(chi_squared / freedom)

    return of


def layermix(n, draw):
    """Layers of 65,536 and rows of 256 elements, lognormal scales."""
    rows = -(-n // 256)
    scales = SIGMA * torch.exp(0.8 * normal(rows, draw))
    layers = torch.exp(1.5 * normal(-(-rows // 256), draw))
    scales *= layers.repeat_interleave(256)[:rows]
    return normal(rows * 256, draw).view(rows, 256).mul_(scales[:, None]).view(-1)[:n]


def mostly_zero(zeros):
    def of(n, draw):
        return normal(n, draw).masked_fill_(uniform(n, draw) < zeros, 0.0)

    return of


def hot_block(n, draw):
    x = 1e-6 * normal(n, draw)
    x[: n // 1000] = 1 + uniform(n // 1000, draw)
    return x


def not_finite(n, draw):
    x, u = normal(n, draw), uniform(n, draw)
    for below, value in ((3e-4, -math.inf), (2e-4, math.inf), (1e-4, math.nan)):
        x.masked_fill_(u < below, value)
    return x


def leading_bits(n, draw):
    return 1 + torch.randint(256, (n,), **draw).float() * 2.0 ** -23


def positions(n, draw):
    return torch.arange(n, device=draw["device"]).float()


INPUTS = {
    "normal": lambda n, draw: SIGMA * normal(n, draw),
    "laplace": laplace,
    "student_t2": student(2),
    "student_t3": student(3),
    "layermix": layermix,
    "constant": lambda n, draw: torch.full((n,), 0.01, device=draw["device"]),
    "zero": lambda n, draw: torch.zeros(n, device=draw["device"]),
    "negative_zero": lambda n, draw: torch.full((n,), -0.0, device=draw["device"]),
    "sparse": mostly_zero(0.9995),
    "relu": mostly_zero(0.9),
    "ties": lambda n, draw: torch.round(normal(n, draw) * 8) / 8,
    "denormal": lambda n, draw: normal(n, draw) * 2.0 ** -140,
    "not_finite": not_finite,
    "ascending": positions,
    "descending": lambda n, draw: n - positions(n, draw),
    "hot_block": hot_block,
    "leading_bits": leading_bits,
    "outliers": lambda n, draw: normal(n, draw).masked_fill_(uniform(n, draw) < 5e-4, 1e30),
}
