"""The program `gradcast`: `python -m gradcast simulate --help`."""

import os
import sys

from ._library import main


def run() -> None:
    """Runs the command line, and ends with its exit code."""
    launcher = os.path.abspath(sys.argv[0])
    if launcher.endswith(".py") or not os.path.isfile(launcher):  # python -m gradcast
        launcher = "gradcast"
    arguments = [launcher, *(os.fsencode(word).decode(errors="replace") for word in sys.argv[1:])]
    sys.exit(main(arguments))


if __name__ == "__main__":
    run()
