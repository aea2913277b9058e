"""The device: asked for, opened, named, emptied."""
import gc
import pathlib
import re

from .errors import MISSING, USAGE, TraceError
from .torch_here import torch, why_no_torch


def open_device(text):
    """cuda, cuda:N, gpu, gpu:N or cpu."""
    if torch is None:
        raise TraceError(f"no torch: {why_no_torch}", MISSING)
    kind, _, number = text.partition(":")
    if text == "cpu":
        return torch.device("cpu")
    if kind not in ("gpu", "cuda") or not (number or "0").isdecimal():
        raise TraceError(f"--device: '{text}' is none of cpu, cuda, cuda:N", USAGE)
    index = int(number or 0)
    if not torch.cuda.is_available() or index >= torch.cuda.device_count():
        raise TraceError(f"torch {torch.__version__} sees no such device: {text}", MISSING)
    torch.cuda.set_device(index)
    return torch.device("cuda", index)


def device_name(device):
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "CPU"


def slug_of(name):
    """NVIDIA H200: h200; Intel(R) Xeon(R) CPU @ 2.20GHz: intel-xeon, as `gradcast calibrate`."""
    name = re.sub(r"\(r\)|\(tm\)| cpu| processor|\b(nvidia|tesla|geforce|quadro)\b", "",
                  name.lower().split("@")[0])
    return re.sub(r"[^a-z0-9]+", "-", name).strip("-") or "device"


def release(device):
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
