"""The device: asked for, opened, named."""
import pathlib

from .bench import Bench
from .errors import FAILURE, MISSING, BaselineError, one_line
from .torch_here import torch, why_no_torch


def version():
    return torch.__version__.split("+")[0]


def cuda_version(bench):
    return (torch.version.cuda or "") if bench.device.type == "cuda" else ""


def device_name(device):
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "CPU"


def open_device(text):
    """gpu, gpu:N, cuda, cuda:N or cpu."""
    kind, _, number = text.partition(":")
    if torch is None:
        raise BaselineError(f"no torch: {why_no_torch}", MISSING)
    if text == "cpu":
        return torch.device("cpu")
    if kind not in ("gpu", "cuda") or not (number or "0").isdecimal():
        raise BaselineError(f"--device: '{text}' is none of cpu, gpu, gpu:N")
    index = int(number or 0)
    if not torch.cuda.is_available() or index >= torch.cuda.device_count():
        raise BaselineError(f"torch {version()} sees no such device: {text}", MISSING)
    torch.cuda.set_device(index)
    return torch.device("cuda", index)


def open_bench(text):
    device = open_device(text)
    try:
        return Bench(device)
    except RuntimeError as error:
        raise BaselineError(f"{text}: {one_line(error)}", FAILURE) from error
