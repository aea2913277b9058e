"""Answers as Python values: what a command says, and a forecast."""

from __future__ import annotations

import contextlib
import html
import json
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ._values import write_text
from .errors import InputError

if TYPE_CHECKING:
    import pandas

#: Parts of an iteration, in the order in which they add up to it, with a colour each.
PARTS = {
    "forward": "#4477aa",
    "backward": "#66ccee",
    "encode": "#ee6677",
    "exposed_communication": "#ccbb44",
    "decode": "#aa3377",
    "update": "#228833",
    "overhead": "#999999",
    "wait": "#dddddd",
}


class Picture:
    """A picture as SVG; a notebook shows it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def __repr__(self) -> str:
        return "<picture>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the picture to a file. Raises InputError where that fails."""
        write_text(path, self.svg)


def _run(command: str, *words: str, **settings: Any) -> str:
    from . import run

    return run(command, *words, **settings)


class Answer:
    """The answer of a command: `rows`, one dictionary each, as the JSON document has them (the
    schema gradcast/<command> names columns and units); `summary`; `warnings`; and the whole
    `document`."""

    def __init__(self, text: str, warnings: Tuple[str, ...]) -> None:
        self.text = text
        try:
            self.document: Dict[str, Any] = json.loads(text)
        except ValueError:
            raise InputError(f"this command answers no rows, and run(...) gives its text: {text!r:.60}") from None
        self.warnings = warnings

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """One dictionary per point, pair, run or option."""
        rows: List[Dict[str, Any]] = self.document["results"]
        return rows

    @property
    def summary(self) -> Dict[str, Any]:
        """Values that hold for all rows; {} where the command has none."""
        summary: Optional[Dict[str, Any]] = self.document.get("summary")
        return summary or {}

    def frame(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame, with summary and warnings in its `attrs`."""
        try:
            import pandas
        except ImportError:
            raise ImportError(
                "a DataFrame needs pandas: pip install pandas; Answer.rows needs nothing"
            ) from None
        frame = pandas.DataFrame(self.rows)
        frame.attrs.update(summary=self.summary, warnings=list(self.warnings))
        return frame

    def pictures(self) -> Dict[str, str]:
        """Names of the pictures that `picture` draws of this answer, each with its title."""
        with self._as_file() as path:
            lines = _run("report", path, figures=True).splitlines()[2:]
        return {name: title.strip() for name, _, title in (line.partition("  ") for line in lines)}

    def picture(self, name: Optional[str] = None) -> Picture:
        """A picture of `pictures` as SVG (default: the first), as the report has it. Raises InputError
        for an unknown name, and where there is nothing to draw."""
        with self._as_file() as path:
            if name is None:
                names = list(self.pictures())
                if not names:
                    raise InputError("this answer has no picture")
                name = names[0]
            return Picture(_run("report", path, figure=name))

    @contextlib.contextmanager
    def _as_file(self) -> Iterator[str]:
        """The document as a file, for commands that read answers."""
        with tempfile.TemporaryDirectory() as folder:
            name = str(self.document["schema"]["name"]).rpartition("/")[2]
            path = pathlib.Path(folder) / f"{name}.json"
            path.write_text(self.text, encoding="utf-8")
            try:
                yield str(path)
            except InputError as error:  # nobody knows that file
                raise InputError(str(error).replace(str(path), f"the answer of {name}"), error.code) from None

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        name = str(self.document["schema"]["name"])
        return f"<answer of {name}: {len(self)} row{'' if len(self) == 1 else 's'}>"


class Interval(NamedTuple):
    """90 % of runs are expected within."""

    low: float
    high: float


def _interval(row: Dict[str, Any], low: str, high: str) -> Optional[Interval]:
    if row.get(low) is None or row.get(high) is None:
        return None
    return Interval(row[low], row[high])


def seconds_text(seconds: float) -> str:
    """Three significant digits in the unit that fits: "12.3 ms"."""
    if seconds == 0:
        return "0 s"
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:#.3g}".rstrip(".") + f" {unit}"
    return ""


class Forecast(Answer):
    """One iteration of one training, as the rank that finishes last sees it. Times are seconds.

    `row` has every number and setting of the answer (schema gradcast/simulate)."""

    @property
    def row(self) -> Dict[str, Any]:
        """Every number and setting of the answer."""
        return self.rows[0]

    @property
    def seconds(self) -> float:
        """Seconds of an iteration."""
        return float(self.row["iteration_seconds"])

    @property
    def interval(self) -> Optional[Interval]:
        """The range in which 90 % of such runs are expected, in seconds; None where nothing is known of
        the software."""
        return _interval(self.row, "interval_low_seconds", "interval_high_seconds")

    @property
    def parts(self) -> Dict[str, float]:
        """Seconds of forward, backward, encode, exposed_communication, decode, update, overhead and
        wait. They add up to `seconds`."""
        return {part: float(self.row[f"{part}_seconds"]) for part in PARTS}

    @property
    def samples_per_second(self) -> Optional[float]:
        """Samples per second of all ranks together; None of a collective alone."""
        value: Optional[float] = self.row["samples_per_second"]
        return value

    @property
    def scaling_efficiency(self) -> Optional[float]:
        """1 where n ranks train n times as fast as one GPU alone."""
        value: Optional[float] = self.row["scaling_efficiency"]
        return value

    @property
    def speedup_over_dense(self) -> Optional[float]:
        """The dense run's time by the same schedule, over this run's."""
        value: Optional[float] = self.row["speedup_over_dense"]
        return value

    @property
    def speedup_interval(self) -> Optional[Interval]:
        """90 %, of the speedup."""
        return _interval(self.row, "speedup_low", "speedup_high")

    @property
    def verdict(self) -> Optional[str]:
        """The verdict on the compressor: "surely pays", "surely does not pay", "cannot be told"; None of
        dense."""
        value: Optional[str] = self.row["verdict"]
        return value

    @property
    def measure(self) -> str:
        """The measurement with which a verdict can be told; "" where nothing is missing."""
        return str(self.row["measure"])

    @property
    def evidence(self) -> str:
        """The origin of the compressor's costs: "measured", "simulated", "derived"; "" of dense, and
        of a collective alone."""
        return str(self.row.get("evidence") or "")

    @property
    def assumptions(self) -> str:
        """Assumptions where the question left something open, in words."""
        return str(self.row["assumed"] or "")

    def __repr__(self) -> str:
        within = self.interval
        text = seconds_text(self.seconds)
        if within:
            text += f", 90 % in {seconds_text(within.low)} to {seconds_text(within.high)}"
        if self.verdict:
            text += f"; {self.row['compressor']}: {self.verdict}"
        return f"<forecast: {text}>"

    def _repr_svg_(self) -> str:
        """The parts of an iteration as one bar, to scale."""
        width, at = 640.0, 0.0
        bars = []
        for part, seconds in self.parts.items():
            wide = width * seconds / self.seconds if self.seconds > 0 else 0.0
            name = part.replace("_", " ")
            bars.append(
                f'<rect x="{at:.2f}" y="0" width="{wide:.2f}" height="26" fill="{PARTS[part]}">'
                f"<title>{name}: {seconds_text(seconds)}</title></rect>"
            )
            at += wide
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} 26" width="{width:.0f}"'
            f' height="26" role="img"><title>One iteration of {seconds_text(self.seconds)}</title>'
            + "".join(bars)
            + "</svg>"
        )

    def _repr_html_(self) -> str:
        rows = [("iteration", seconds_text(self.seconds))]
        if self.interval:
            low, high = self.interval
            rows.append(("90 % interval", f"{seconds_text(low)} to {seconds_text(high)}"))
        for part, seconds in self.parts.items():
            if seconds > 0:
                share = f"{100 * seconds / self.seconds:.1f} %"
                swatch = f'<span style="color:{PARTS[part]}">&#9632;</span> '
                rows.append((swatch + part.replace("_", " "), f"{seconds_text(seconds)} ({share})"))
        if self.scaling_efficiency is not None:
            rows.append(("scaling efficiency", f"{100 * self.scaling_efficiency:.1f} %"))
        if self.verdict:
            compressor = html.escape(str(self.row["compressor"]))
            speedup = f" ({self.speedup_over_dense:.2f}x)" if self.speedup_over_dense else ""
            rows.append((compressor, self.verdict + speedup))
        table = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in rows)
        return (
            f"{self._repr_svg_()}<table>{table}</table><p>{html.escape(self.assumptions)}</p>"
        )
