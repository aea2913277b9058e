"""The software that was at work, in words."""
import importlib
import subprocess
import sys

from .networks import SOURCES
from .torch_here import torch


def driver_version():
    """"" where it cannot be asked for."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        return done.stdout.split("\n")[0].strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def software(model, device):
    package = SOURCES[model].package
    module = sys.modules.get(package) or importlib.import_module(package)
    words = [f"torch {torch.__version__}", f"{package} {getattr(module, '__version__', '?')}",
             f"Python {sys.version.split()[0]}"]
    if device.type == "cuda":
        words += [f"CUDA {torch.version.cuda}", f"cuDNN {torch.backends.cudnn.version()}",
                  f"driver {driver_version() or 'unknown'}"]
    else:
        words.append(f"{torch.get_num_threads()} threads")
    return ", ".join(words)
