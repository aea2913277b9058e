"""Paths of the shared libraries."""

from __future__ import annotations

import os
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


def library_path(name: str) -> pathlib.Path:
    """The shared library of that name: beside the package (a wheel), in $GRADCAST_LIBRARY_DIR, or in build/ of the
    source tree that this file lies in."""
    folders = [HERE / "lib"]
    if os.environ.get("GRADCAST_LIBRARY_DIR"):
        folders.append(pathlib.Path(os.environ["GRADCAST_LIBRARY_DIR"]))
    folders.append(HERE.parent.parent / "build")
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    raise ImportError(
        f"{name} is in none of {', '.join(str(folder) for folder in folders)}: install the "
        "package (pip install .), or build it and set GRADCAST_LIBRARY_DIR"
    )
