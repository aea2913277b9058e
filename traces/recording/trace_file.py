"""The file of a trace: its name, its text, written whole."""
import os

from .device import device_name, slug_of
from .errors import FAILURE, TraceError, one_line
from .provenance import comments


def file_name(model, precision, device, flags):
    suffix = "-amp" if precision == "amp" else "-tf32" if flags.tf32 else ""
    return f"iteration-{model}-{flags.slug or slug_of(device_name(device))}{suffix}.csv"


def plain(seconds):
    """Seconds to the nanosecond, without exponent or zeros at the end."""
    return f"{seconds:.9f}".rstrip("0").rstrip(".")


def trace_text(heading, times):
    """All that a trace file says."""
    lines = [f"{tensor},{plain(forward)},{plain(backward)}" for tensor, forward, backward in times]
    return comments(heading) + "\n".join(["tensor,forward_seconds,backward_seconds"] + lines) + "\n"


def write_whole(path, text):
    """Under another name until it is whole."""
    unfinished = path.with_name(path.name + f".{os.getpid()}.tmp")
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise TraceError(f"{path}: {one_line(error)}", FAILURE) from error
