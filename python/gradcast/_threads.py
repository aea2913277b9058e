"""Gloo's threads at a process's end.

PyTorch joins them only with the last reference to their process group, and a DDP model keeps one. Each needs the
interpreter to drop the callback and the tensors of its last collective. If the interpreter has begun to end by then,
the process aborts: "terminate called without an active exception" (seen with PyTorch 2.13).
"""

from __future__ import annotations

import atexit
import time
import weakref

_LONGEST = 5  # seconds that a process waits for callbacks
_SETTLING = 0.2  # seconds in which a thread drops its tensors, on a busy machine too; nothing tells when it has


class Held:
    """A mark that only a callback keeps, so that it is gone when the callback is."""


answered: weakref.WeakSet[Held] = weakref.WeakSet()  # marks of callbacks that a thread drops next


def _wait() -> None:
    until = time.monotonic() + _LONGEST
    while len(answered) and time.monotonic() < until:
        time.sleep(0.001)
    time.sleep(_SETTLING)


def wait_at_exit() -> None:
    """From now on the process waits for Gloo's threads before it ends."""
    atexit.unregister(_wait)
    atexit.register(_wait)
