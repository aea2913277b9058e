"""Files that are not on the disk: models, traces and clusters that Python makes."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import pathlib
import re
import warnings
from typing import Any, Tuple, Type, TypeVar

from ._values import write_text
from .errors import InputError

Made = TypeVar("Made", bound="Input")
UNKNOWN = "not known: "


class Input:
    """The text of a file of gradcast, under a name. A setting or a word takes it wherever it takes a path."""

    def __init__(self, text: str, name: str = "mine") -> None:
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{type(self).__name__} needs the text of a file, and got {text!r:.60}")
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
            raise InputError(f"{name!r:.60} is no name: use letters, digits, '.', '_' and '-'")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{type(self).__name__}: the text has a character that UTF-8 cannot express") from None
        self.text = text
        self.name = name

    @classmethod
    def from_file(cls: Type[Made], path: "str | os.PathLike[str]") -> Made:
        """Reads a file of gradcast's own format (CSV)."""
        try:
            file = pathlib.Path(path)
            return cls(file.read_text(encoding="utf-8"), file.stem)
        except (OSError, TypeError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot read this file: {error}", 3) from None

    @property
    def _hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    @property
    def _place(self) -> str:
        """The path by which the library knows it, where no file lies: two texts never share one."""
        return f"{self._hash}/{self.name}.csv"

    @property
    def notes(self) -> Tuple[str, ...]:
        """The sentences that `gradcast import` wrote into the file's comments: what it used, left out, inferred,
        and what is not known."""
        comments = (line[1:].strip() for line in self.text.splitlines() if line.startswith("#"))
        return tuple(line for line in comments if line.startswith(("used: ", "left out: ", "inferred: ", UNKNOWN)))

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the text to a file. Raises InputError where that fails."""
        write_text(path, self.text)

    def __repr__(self) -> str:
        rows = sum(1 for line in self.text.splitlines() if line and not line.startswith("#")) - 1
        return f"<{type(self).__name__.lower()} {self.name}: {rows} rows>"


def warned(made: Made) -> Made:
    """The same, after a warning for each thing that `gradcast import` could not know of it."""
    for note in made.notes:
        if note.startswith(UNKNOWN):
            warnings.warn(f"{made.name}: {note}", stacklevel=3)
    return made


class Cluster(Input):
    """A cluster, in the format of platforms/ (columns property and value)."""

    @classmethod
    def of(cls, name: str = "mine", **properties: object) -> "Cluster":
        """A cluster by its properties: Cluster.of(nodes=16, gpus_per_node=8, nic_bandwidth="200Gbps",
        nic_latency="5us", intra_bandwidth="2400Gbps", intra_latency="5us"). Values are those of settings: texts,
        numbers, True and False, paths; None: not given."""
        from .forecaster import text_of

        given = {key: text_of(key, value) for key, value in properties.items() if value is not None}
        if not given:
            raise InputError("a cluster needs properties, like nodes=16, gpus_per_node=8")
        table = io.StringIO()
        rows = csv.writer(table, lineterminator="\n")
        rows.writerow(["property", "value", "source"])
        rows.writerows([key, text, "given in Python"] for key, text in given.items())
        return cls(table.getvalue(), name)

    @classmethod
    def from_file(cls: Type[Made], path: "str | os.PathLike[str]") -> Made:
        """Reads a cluster file. The file of measured times that it may name stays where it is."""
        made = super().from_file(path)
        folder = pathlib.Path(path).resolve().parent

        def from_anywhere(row: "re.Match[str]") -> str:
            return row[0] if row[1] == "none" else f'measured_collectives,"{(folder / row[1]).resolve()}"'

        made.text = re.sub(r"^measured_collectives,([^,\"\n]+)", from_anywhere, made.text, flags=re.MULTILINE)
        return made

    @classmethod
    def from_logs(
        cls: Type[Made],
        *files: "str | os.PathLike[str]",
        output: "str | os.PathLike[str]",
        name: str = "mine",
        **settings: Any,
    ) -> Made:
        """The cluster of logs of nccl-tests and other measurements (`gradcast import`). `output`: the
        folder that gets the cluster file and the file of measured times, and must stay."""
        from .forecaster import Forecaster

        Forecaster().run("import", *map(str, files), output=output, name=name, **settings)
        return warned(cls.from_file(pathlib.Path(output) / "platforms" / f"{name}.csv"))


class Costs(Input):
    """A cost table of compressors, in the format of traces/cost-*.csv."""


class Stack(Input):
    """The costs of a software stack, in the format of platforms/stack-*.csv."""


class Runs(Input):
    """Measured runs, in the format of traces/measured-*.csv."""

    @classmethod
    def from_file(cls: Type[Made], path: "str | os.PathLike[str]") -> Made:
        """Reads a file of measured runs. The files that its rows name stay where they are."""
        made = super().from_file(path)
        folder = pathlib.Path(path).resolve().parent
        lines = made.text.splitlines(keepends=True)
        comments = [line for line in lines if line.startswith("#")]
        rows = list(csv.reader(line for line in lines if not line.startswith("#")))
        header = rows[0] if rows else []
        for column, name in enumerate(header):
            for row in rows[1:]:
                if name in ("model", "trace", "cluster", "costs") and column < len(row) and _is_path(row[column]):
                    row[column] = str((folder / row[column]).resolve())
        table = io.StringIO()
        csv.writer(table, lineterminator="\n").writerows(rows)
        made.text = "".join(comments) + table.getvalue()
        return made

    @classmethod
    def from_logs(
        cls: Type[Made],
        *files: "str | os.PathLike[str]",
        output: "str | os.PathLike[str]",
        name: str = "mine",
        **settings: Any,
    ) -> Made:
        """The runs in logs of torchtitan or Megatron-LM (`gradcast import`). `output`: the folder that
        gets the measured file. `settings`: model, cluster, compute_seconds, which no log says."""
        from .forecaster import Forecaster

        Forecaster().run("import", *map(str, files), output=output, name=name, **settings)
        return warned(cls.from_file(pathlib.Path(output) / "traces" / f"measured-{name}.csv"))


def _is_path(text: str) -> bool:
    return "/" in text or text.endswith((".csv", ".xml"))


