"""Numbers, words and paths that a user gave, checked: each refusal is one line."""

from __future__ import annotations

import math
import numbers
import operator
import os
import pathlib
from typing import Any

from .errors import InputError


def plain(name: str, value: Any) -> Any:
    """A value of NumPy or PyTorch without dimensions as Python's; anything else as it is."""
    if getattr(value, "shape", None) == () and callable(getattr(value, "item", None)):
        try:
            return value.item()
        except Exception as error:  # a tensor on the meta device has none
            raise InputError(f"{name}: {type(value).__name__} has no value: {str(error):.80}") from None
    return value


def shown(value: object) -> str:
    """A value in an error's line."""
    try:
        return " ".join(repr(value).split())[:80]
    except Exception:  # an int of thousands of digits, or a class of the user's
        return f"a {type(value).__name__}"


def number(name: str, value: object, least: float, most: float, *, above: bool = False) -> float:
    """A finite number from `least` (or above it) to `most`."""
    right = f"{'above' if above else 'from'} {least:g} to {most:g}"
    given = plain(name, value)
    if isinstance(given, bool) or not isinstance(given, numbers.Real):
        raise InputError(f"{name} is {shown(given)}, and must be a number {right}")
    try:
        found = float(given)
    except OverflowError:  # of an int
        found = math.inf
    if not (math.isfinite(found) and least <= found <= most) or (above and found == least):
        raise InputError(f"{name} is {shown(given)}, and must be {right}")
    return found


def whole(name: str, value: object, least: int, most: int) -> int:
    """A whole number from `least` to `most`, of any type that counts (`__index__`)."""
    given = plain(name, value)
    try:
        found = operator.index(given)
    except Exception:  # also of what has several values, in words of its own
        found = least - 1
    if isinstance(given, bool) or not least <= found <= most:
        raise InputError(f"{name} is {shown(given)}, and must be a whole number from {least} to {most}")
    return found


def yes_or_no(name: str, value: object) -> bool:
    given = plain(name, value)
    if isinstance(given, bool):
        return given
    raise InputError(f"{name} is {shown(given)}, and must be True or False")


def word(name: str, value: object, known: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in known:
        return value
    raise InputError(f"{name} is {shown(value)}, and must be one of {', '.join(known)}")


def path_text(what: str, value: object) -> str:
    """A path as a text."""
    if isinstance(value, (str, os.PathLike)) and isinstance(os.fspath(value), str):
        return str(os.fspath(value))
    raise InputError(f"{what}: {type(value).__name__} is no path")


def write_text(path: object, text: str) -> None:
    """Writes a file."""
    place = path_text("save", path)
    try:
        pathlib.Path(place).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: a zero byte
        raise cannot_write(place, error) from None


def cannot_write(place: "str | os.PathLike[str]", error: Exception) -> InputError:
    return InputError(f"cannot write {place}: {getattr(error, 'strerror', None) or error}", 3)
