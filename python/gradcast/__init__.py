"""gradcast forecasts how distributed data-parallel training scales, with and without gradient
compression.

    import gradcast as gc

    f = gc.forecast(model="resnet-50", cluster="dgx-a100", nodes=16, compressor="powersgd")
    f.seconds, f.interval, f.parts, f.assumptions

Settings are the flags of the command line (`gradcast simulate --help`), with '_' for '-'. A wrong
question raises InputError with one line. `gradcast.torch` trains with the compressors that are
forecast here.
"""

from __future__ import annotations

import os
import pathlib
import threading
from typing import Any, Optional

from ._library import version
from .answers import Answer, Forecast, Interval
from .errors import InputError
from .forecaster import Forecaster, Told, Word
from .inputs import Cluster, Costs, Input, Runs, Stack
from .models import Model, Trace

__version__ = version()

__all__ = [
    "Answer", "Cluster", "Costs", "Forecast", "Forecaster", "Input", "InputError", "Interval",
    "Model", "Runs", "Stack", "Trace", "ask", "breakeven", "compare", "decide", "fit", "forecast",
    "learn", "report", "run", "sweep",
]  # fmt: skip

_usual: Optional[Forecaster] = None
_began_in: Optional[str] = None
_lock = threading.Lock()


def usual() -> Forecaster:
    """The forecaster that the functions of this module share, on the package's own data. It is another one
    once a file that it read has changed, or the folder where relative paths begin: each call answers by the
    files as they are."""
    global _usual, _began_in
    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        folder = None
    with _lock:
        if _usual is None or folder != _began_in or _usual._handle.changed():
            _usual, _began_in = Forecaster(), folder
        return _usual


def forecast(model: "str | os.PathLike[str] | Input | None" = None, **settings: Any) -> Forecast:
    """One iteration of one training: see Forecaster.forecast."""
    return usual().forecast(model, **settings)


def sweep(*, progress: Told = True, **settings: Any) -> Any:
    """Every combination of lists, as a pandas DataFrame: see Forecaster.sweep."""
    return usual().sweep(progress=progress, **settings)


def breakeven(*, progress: Told = True, **settings: Any) -> Answer:
    """The ranges where a compressor pays: see Forecaster.breakeven."""
    return usual().breakeven(progress=progress, **settings)


def compare(*, progress: Told = True, **settings: Any) -> Answer:
    """Measured runs beside their forecasts: see Forecaster.compare."""
    return usual().compare(progress=progress, **settings)


def fit(*, progress: Told = True, **settings: Any) -> Answer:
    """The costs of software, from measured runs: see Forecaster.fit."""
    return usual().fit(progress=progress, **settings)


def learn(runs: Word, *, progress: Told = True, **settings: Any) -> Answer:
    """The costs of software on one cluster, learned from a few runs there: see Forecaster.learn."""
    return usual().learn(runs, progress=progress, **settings)


def decide(*, progress: Told = True, **settings: Any) -> Answer:
    """The bottleneck of a run, and the worth of each option: see Forecaster.decide."""
    return usual().decide(progress=progress, **settings)


def report(
    *answers: "Answer | str | os.PathLike[str]", output: "str | os.PathLike[str]", **settings: Any
) -> pathlib.Path:
    """One HTML page from answers: see Forecaster.report."""
    return usual().report(*answers, output=output, **settings)


def ask(command: str, *words: Word, progress: Told = True, **settings: Any) -> Answer:
    """Any command's answer as rows: see Forecaster.ask."""
    return usual().ask(command, *words, progress=progress, **settings)


def run(command: str, *words: Word, progress: Told = False, **settings: Any) -> str:
    """The text that any command prints: see Forecaster.run."""
    return usual().run(command, *words, progress=progress, **settings)
