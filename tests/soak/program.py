"""Runs gradcast as a user does, and as an accident does: killed, on a full disk, several at a time."""

import os
import random
import resource
import signal
import subprocess
import sys
import time

PROGRAM = os.environ.get("GRADCAST_PROGRAM", "build/gradcast")
ENVIRONMENT = {**os.environ, "GRADCAST_CONFIG": "none", "NO_COLOR": "1"}
random = random.Random(int(os.environ.get("GRADCAST_SOAK_SEED", "1")))


class Found(Exception):
    """Something that must not happen."""


def require(truth, what):
    if not truth:
        raise Found(what)


def start(arguments, folder):
    return subprocess.Popen([os.path.abspath(PROGRAM), *arguments], cwd=folder, env=ENVIRONMENT,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            start_new_session=True)


def run(arguments, folder, exit_codes=(0,)):
    """Exit code and standard error. Any other exit code is Found."""
    process = start(arguments, folder)
    _, err = process.communicate()
    err = err.decode(errors="replace")
    require(process.returncode in exit_codes,
            f"{' '.join(arguments)} ended with {process.returncode}: {err[-300:]}")
    return process.returncode, err


def killed(arguments, folder, after):
    """Kills the command and its children after some seconds. False where it ended before."""
    process = start(arguments, folder)
    try:
        process.communicate(timeout=after)
        return False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return True


def seconds_of(arguments, folder):
    begin = time.monotonic()
    run(arguments, folder)
    return time.monotonic() - begin


def content(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def progress(what):
    if sys.stderr.isatty():
        print(f"\r{what:<70}", end="", file=sys.stderr, flush=True)


def children_peak():
    """Largest memory of any child that has ended, in MiB."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
