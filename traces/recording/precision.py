"""Precision: TF32, autocast, and what a trace says of them."""
import contextlib

from .torch_here import torch


def allow_tf32(allowed):
    if hasattr(torch.backends, "fp32_precision"):  # torch 2.9 and later
        torch.backends.cuda.matmul.fp32_precision = "tf32" if allowed else "ieee"
        torch.backends.cudnn.conv.fp32_precision = "tf32" if allowed else "ieee"
        return
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


def rounds_to_tf32(device):
    """Whether products or convolutions are seen to. TF32 has 10 bits: about 3e-4 here; fp32: 1e-6,
    as a Winograd convolution 1e-5."""
    def error(function, *tensors):
        exact = function(*(tensor.double() for tensor in tensors))
        return float((function(*tensors).double() - exact).abs().max() / exact.abs().max())

    a, b = (torch.randn(1024, 1024, device=device) for _ in range(2))
    images = torch.randn(16, 64, 56, 56, device=device)
    weights = torch.randn(64, 64, 3, 3, device=device)
    return max(error(torch.matmul, a, b),
               error(torch.nn.functional.conv2d, images, weights)) > 1e-4


def set_tf32(allowed, device):
    """Allows TF32 or turns it off. Returns what a trace says of it."""
    allow_tf32(allowed)
    if allowed:
        return ", TF32 allowed"
    return ", TF32 off" + (", yet products are rounded as by it" if rounds_to_tf32(device) else "")


def autocast_type(device):
    native = device.type == "cpu" or torch.cuda.get_device_capability(device) >= (8, 0)
    return torch.bfloat16 if native else torch.float16


def autocast_of(precision, device):
    if precision == "fp32":
        return contextlib.nullcontext
    return lambda: torch.autocast(device.type, dtype=autocast_type(device))


def precision_text(precision, device, tf32_text):
    if precision == "fp32":
        return "fp32" + tf32_text
    name = str(autocast_type(device)).replace("torch.", "")
    return (f"mixed: torch.autocast to {name}, without loss scaling; weights, gradients and update "
            f"fp32{tf32_text}")
