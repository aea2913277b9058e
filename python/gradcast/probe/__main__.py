"""The probe as a program: `torchrun ... -m gradcast.probe my_step:step`, or `python -m gradcast.probe` alone."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Runs the probe, and gives its exit code."""
    try:
        import torch.distributed
    except ImportError as error:
        print(f"gradcast.probe: needs PyTorch: {error}", file=sys.stderr)
        return 5
    if not torch.distributed.is_available():
        print("gradcast.probe: this PyTorch has no torch.distributed", file=sys.stderr)
        return 5
    from ._probe import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # A process group whose peers are gone may wait for ever at the usual end.
    os._exit(code)
