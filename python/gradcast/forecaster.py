"""Questions and answers: the commands of gradcast as functions."""

from __future__ import annotations

import contextlib
import itertools
import numbers
import os
import pathlib
import sys
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from ._library import Handle, Progress, data_folder
from ._values import path_text, plain
from .answers import Answer, Forecast
from .errors import InputError
from .inputs import Input

#: Lists read better in the plural.
PLURALS = {"models": "model", "compressors": "compressor", "clusters": "cluster"}

#: What stands without a flag: a name, a path, or what this package makes.
Word = Union[str, "os.PathLike[str]", Input]

#: A bar by tqdm where there is one (True), nothing (False), or a function of yours.
Told = Union[bool, Progress]


#: Commands whose `output` is not the file that the answer goes to.
WRITES_FILES = ("calibrate", "import", "learn")
MOST_VALUES = 1_000_000


def _value(name: str, value: Any) -> Any:
    """A setting's value, with numbers of NumPy and PyTorch as Python's, and a list for whatever has several."""
    value = plain(name, value)
    if isinstance(value, (str, bytes, dict)) or not isinstance(value, Iterable):
        return value
    if isinstance(value, (set, frozenset)):
        raise InputError(f"{name}: a set has no order; give a list")
    items = [_value(name, item) for item in itertools.islice(value, MOST_VALUES + 1)]
    if not items:
        raise InputError(f"{name}: the list is empty")
    if len(items) > MOST_VALUES:
        raise InputError(f"{name}: a list of more than {MOST_VALUES} values is too long")
    if any(isinstance(item, list) for item in items):
        raise InputError(f"{name}: a list within a list")
    return items


def _text_of(name: str, value: object) -> str:
    """A setting's value, which `_value` gave, as the command line writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike) and isinstance(os.fspath(value), str):
        return str(os.fspath(value))
    if isinstance(value, Input):
        return value._place
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, list):
        return ",".join(_text_of(name, item) for item in value)
    if str(value).startswith("torch.") and type(value).__name__ == "dtype":
        return str(value)
    raise InputError(f"{name}: {type(value).__name__} is no text, number, yes or no, or list of these")


def text_of(name: str, value: object) -> str:
    """Any setting's value as the command line writes it."""
    return _text_of(name, _value(name, value))


def _inputs_in(value: object) -> List[Input]:
    """The texts that a value names, also within a list."""
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, Input)]


def _names_of(values: "List[Tuple[str, Any]]") -> Dict[str, str]:
    """The names by which answers show the texts in these settings, by the path that the library has for each. A hash
    stands in it only where a setting has two of that name: else one could not join tables by it."""
    names: Dict[str, str] = {}
    for setting, value in values:
        same = [other for name, given in values if name == setting
                for other in (given if isinstance(given, list) else [given])]
        for made in _inputs_in(value):
            two = any(
                other == made.name if isinstance(other, str) else other.name == made.name and other.text != made.text
                for other in same
                if isinstance(other, (str, Input))
            )
            # A text may stand in two settings: the longer name is right in both.
            if two or made._place not in names:
                names[made._place] = f"{made.name}-{made._hash}" if two else made.name
    return names


def _with_names(text: str, names: Dict[str, str]) -> str:
    """A text of the library with these names for its paths. Columns of a table for people stay where they are."""
    for place, name in names.items():
        if place in text:
            text = text.replace(place + "  ", name.ljust(len(place)) + "  ").replace(place, name)
    return text


class _Bar:
    """A bar by tqdm, opened when the first point is told."""

    def __init__(self) -> None:
        self.bar: Any = None

    def __call__(self, done: int, all_: int, what: str) -> None:
        if self.bar is None:
            from tqdm.auto import tqdm

            self.bar = tqdm(total=all_, leave=False)
        self.bar.set_description(what, refresh=False)
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def _has_tqdm() -> bool:
    try:
        import tqdm.auto  # noqa: F401
    except ImportError:
        return False
    return True


class Forecaster:
    """Answers questions from a folder with models/, traces/ and platforms/ ("": the package's own).
    Each file is read once: what changes later changes no answer of this one. (The functions of the module
    `gradcast` see changes.) Threads may share one; the interpreter's lock is free while it works. It can be
    copied and pickled.

    Settings are the flags of the command line (`gradcast simulate --help`), with '_' for '-'; values
    are texts with a unit ("25Gbps"), numbers, True or False, lists where the command takes lists, and
    what this package makes (Model, Trace, Cluster, ...)."""

    def __init__(self, data: "str | os.PathLike[str]" = "") -> None:
        folder = path_text("data", data)
        self._handle = Handle(folder or data_folder())
        self._folder = os.path.abspath(folder) if folder else ""

    def __reduce__(self) -> "Tuple[Any, ...]":
        """A copy, also in another process, opens the same folder anew ("": that package's own)."""
        return type(self), (self._folder,)

    def _values(self, settings: "dict[str, Any]") -> "List[Tuple[str, Any]]":
        values = []
        trace = settings.get("trace")
        model = getattr(trace, "model", None)
        if settings.get("model") is None and isinstance(model, Input):
            settings = {**settings, "model": model}
        for given, value in settings.items():
            if value is None:
                continue
            name = given.removesuffix("_")  # `from` is a word of Python's
            values.append((name, _value(name, value)))
        return values

    def run(self, command: str, *words: Word, progress: Told = False, **settings: Any) -> str:
        """The text that a command prints: any command of `gradcast --help`. `words` are those without
        a flag.

        Raises InputError for a wrong setting or file, and KeyboardInterrupt after ctrl-C."""
        return self._told(command, words, settings, progress)[0]

    def ask(self, command: str, *words: Word, progress: Told = True, **settings: Any) -> Answer:
        """The answer of a command as rows and summary. Raises as `run` does."""
        return Answer(*self._told(command, words, _for_rows(command, settings), progress))

    def _told(
        self, command: str, words: Sequence[Word], settings: "dict[str, Any]", progress: Told
    ) -> Tuple[str, Tuple[str, ...]]:
        if not isinstance(command, str):
            raise InputError(f"{command!r:.60} is no command's name")
        if settings.get("config") not in (None, "none"):
            raise InputError("config: Python reads no config file; give its values as settings, a probe's by "
                             "**gradcast.probe.settings(folder)")
        if command == "decide" and words:
            raise InputError("decide takes settings only; of a probe: decide(**gradcast.probe.settings(folder))")
        if command in ("sweep", "breakeven", "decide"):  # `calibrate` has a flag --models
            settings = _in_singular(settings)
        given = [os.fspath(word) if isinstance(word, os.PathLike) else word for word in words]
        if any(not isinstance(word, (str, Input)) for word in given):
            raise InputError(f"{command}: words without a name are texts, paths, or what gradcast makes (Runs, ...)")
        values = self._values(settings)
        pairs = [(name, _text_of(name, value)) for name, value in values]
        texts = [_text_of(command, word) for word in given]
        for value in (given, *(value for _, value in values)):
            for made in _inputs_in(value):
                self._handle.add(made._place, made.text)
        names = _names_of([*values, ("", given)])
        bar = _Bar() if progress is True and _has_tqdm() and sys.stderr is not None else None
        tell: Optional[Progress] = progress if callable(progress) else bar
        try:
            text, warnings = self._handle.run(command, pairs, texts, tell)
            return _with_names(text, names), tuple(_with_names(line, names) for line in warnings)
        except InputError as error:
            raise InputError(_with_names(str(error), names), error.code) from None
        finally:
            if bar is not None:
                bar.close()

    def forecast(
        self,
        model: "str | os.PathLike[str] | Input | None" = None,
        *,
        cluster: "str | os.PathLike[str] | Input | None" = None,
        nodes: Optional[int] = None,
        gpus_per_node: Optional[int] = None,
        compressor: Optional[str] = None,
        density: Optional[float] = None,
        **settings: Any,
    ) -> Forecast:
        """One iteration of training `model` on `cluster`, in seconds, with its 90 % interval.

        `model`: a name of `gradcast list`, the path of a CSV file, or a Model. `cluster`: likewise
        (default: 4 nodes of 4 GPUs at 10 Gb/s). `nodes` and `gpus_per_node` take the place of the
        cluster's own. `compressor`: a name of `gradcast list` (default: dense). `density`: share of
        the elements that a sparse compressor keeps, above 0 and up to 1 (default: 0.001). Further
        settings: the flags of `gradcast simulate`.

        Raises InputError with one line for what cannot be answered."""
        own = dict(
            model=model, cluster=cluster, nodes=nodes, gpus_per_node=gpus_per_node,
            compressor=compressor, density=density,
        )  # fmt: skip
        told = self._told("simulate", (), {**own, **_for_rows("simulate", settings)}, False)
        forecast = Forecast(*told)
        if forecast.row["iteration_seconds"] is None:
            raise InputError(f"this run never ends: {forecast.row['lost']}")
        return forecast

    def sweep(self, *, progress: Told = True, **settings: Any) -> Any:
        """Every combination of lists, as a pandas DataFrame: sweep(models=["resnet-50", "bert-base"],
        nodes=[1, 2, 4, 8], compressors=["dense", "powersgd"], cluster="dgx-a100").

        One row a point: its settings, the forecast with software costs in columns named as in the
        `row` of `forecast` (iteration_seconds, scaling_efficiency, ...), physics alone beside it
        (physics_seconds, physics_scaling_efficiency, ...), speedups over the best dense run, verdicts.
        Columns: schema gradcast/sweep. `frame.attrs` has summary and warnings. Raises InputError;
        ImportError without pandas (`ask("sweep", ...)` needs none)."""
        return self.ask("sweep", progress=progress, **settings).frame()

    def breakeven(self, *, progress: Told = True, **settings: Any) -> Answer:
        """The ranges where a compressor surely pays, surely does not, and cannot be told: breakeven(
        model="resnet-50", compressor="gaussian", over="nic-bandwidth"). `summary` has the sentences."""
        return self.ask("breakeven", progress=progress, **settings)

    def compare(self, *, progress: Told = True, **settings: Any) -> Answer:
        """Measured runs, each beside its forecast: compare(measured=Runs.from_file("my-runs.csv"))."""
        return self.ask("compare", progress=progress, **settings)

    def fit(self, *, progress: Told = True, **settings: Any) -> Answer:
        """The costs of software, estimated from measured runs; save="folder" writes files that
        forecasts take as `cluster` and `costs`."""
        return self.ask("fit", progress=progress, **settings)

    def learn(self, runs: Word, *, progress: Told = True, **settings: Any) -> Answer:
        """The costs of software on one cluster, learned from a few measured runs there: learn(Runs.from_file(
        "my-runs.csv"), output="my-cluster"). `output`: the folder that gets platforms/, with the stack that
        forecasts take (default: nothing is written)."""
        return self.ask("learn", runs, progress=progress, **settings)

    def decide(self, *, progress: Told = True, **settings: Any) -> Answer:
        """The bottleneck of a run, and the worth of each option, ranked: decide(model="gpt2-xl",
        cluster="dgx-a100", nodes=16)."""
        return self.ask("decide", progress=progress, **settings)

    def report(
        self, *answers: "Answer | str | os.PathLike[str]", output: "str | os.PathLike[str]", **settings: Any
    ) -> pathlib.Path:
        """Writes one HTML page from answers (or the paths of JSON answers), with pictures, the tables
        behind them, and where each comes from. Returns its path."""
        if not answers:
            raise InputError("report: which answers? report(answer, output='report.html')")
        page = pathlib.Path(path_text("report: output", output))
        with contextlib.ExitStack() as stack:
            paths = [
                stack.enter_context(answer._as_file())
                if isinstance(answer, Answer)
                else _answer_path(answer)
                for answer in answers
            ]
            try:
                self.run("report", *paths, output=page, **settings)
            except RuntimeError as error:
                if not str(error).startswith("cannot write"):
                    raise
                raise InputError(str(error), 3) from None
        return page


def _answer_path(value: object) -> str:
    try:
        return path_text("report", value)
    except InputError as error:
        raise InputError(
            f'{error} and no answer; ask("sweep", ...), decide, breakeven, compare and fit give one'
        ) from None


def _for_rows(command: str, settings: "dict[str, Any]") -> "dict[str, Any]":
    """The settings with which a command answers in rows. Raises InputError for those that send the answer elsewhere."""
    for name in ("format", "output", "help"):
        if settings.get(name) is not None and not (name == "output" and command in WRITES_FILES):
            raise InputError(f"{name}: an answer in Python has rows; run({command!r:.60}, {name}=...) takes it")
    return {**settings, "format": "json"}


def _in_singular(settings: "dict[str, Any]") -> "dict[str, Any]":
    for plural, singular in PLURALS.items():
        if plural in settings and singular in settings:
            raise InputError(f"{plural} and {singular} are the same setting: give one of them")
    return {PLURALS.get(name, name): value for name, value in settings.items()}
