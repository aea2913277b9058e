"""The texts that the probe prints: numbers, the table at the end, and the commands that go on from there."""

from __future__ import annotations

import shlex
import statistics
from typing import Any, Dict, List

from ._forecast import Knowledge

FILES = """\
gradcast.toml    the flags by which gradcast takes these files
cluster.csv      hosts, and bandwidths and latencies by all-reduces; each row says how it was found
collectives.csv  collectives: where (one rank of each host, ranks of one host, all), bytes that each rank has, medians
model.csv        the network
trace.csv        an iteration in DDP that sends nothing, while all ranks compute
costs.csv        what hooks take to compress, while all ranks do
runs.csv         measured runs
stack.csv        what `gradcast learn` makes of these runs
probe.json       all numbers, versions, date
"""


def three(seconds: float) -> str:
    """Three significant digits of a second: "0.412", "0.00412"."""
    return f"{seconds:#.3g}".rstrip(".") if seconds >= 1e-4 else f"{seconds:.6f}"


def milliseconds(seconds: float) -> str:
    """A time in milliseconds, from one second on in seconds."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"


def count(number: int, word: str) -> str:
    """ "1 rank", "2 ranks"."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def cell(value: object) -> str:
    """A value of a CSV file."""
    return f"{value:.9f}" if isinstance(value, float) else str(value)


def config(known: Knowledge) -> str:
    """The text of gradcast.toml: the values of flags by which gradcast takes the folder; decide's with the compressors
    that were measured."""
    has = known.files()
    values = {name: f"./{name}.csv" for name in ("model", "trace", "cluster", "costs") if f"{name}.csv" in has}
    values["stack"] = "./stack.csv" if "stack.csv" in has else known.stack_name
    values["collective"] = known.collective
    lines = [f'{name} = "{value}"' for name, value in values.items()]
    lines += ["framework-in-compute = true", 'fusion = "ddp"', "overlap = true"]
    timed = sorted({schedule.compressor for schedule in known.measured if schedule.compressor})
    densities = {schedule.density for schedule in known.measured if schedule.density < 1}
    if timed:
        lines += ["", "[decide]", f'compressor = "{",".join(timed)}"']
        lines += [f"density = {max(densities):g}"] if densities else []
    return "# Made by gradcast.probe. A value that begins with ./ is a file beside this one.\n" + "\n".join(lines) + "\n"


def decide(folder: str) -> str:
    """The command that says what each change is worth."""
    return shlex.join(["gradcast", "decide", folder])


def readme(known: Knowledge, folder: str, head: str) -> str:
    """The text of README.txt."""
    has = known.files()
    lines = [head, ""]
    if {"model.csv", "trace.csv", "cluster.csv"} <= set(has):
        lines += ["What binds the training, and what each change is worth:", f"  {decide(folder)}", "",
                  "In Python:", "  import gradcast, gradcast.probe",
                  f"  gradcast.decide(**gradcast.probe.settings({folder!r}))", "",
                  "One forecast, here of another network:",
                  f"  gradcast simulate --config {shlex.quote(folder)} --nic-bandwidth 10Gbps", ""]
    if "runs.csv" in has:
        lines += ["When there are more measured runs, add them to runs.csv and learn from all of them:",
                  f"  gradcast learn {shlex.quote(folder + '/runs.csv')} -o {shlex.quote(folder)}",
                  f"Then {folder}/platforms/stack-runs.csv is the stack.", ""]
    return "\n".join(lines) + "\n" + FILES


def table(compared: List[Dict[str, Any]]) -> str:
    """Forecasts beside measurements, their mean error, and how many lie inside their intervals."""
    done = [each for each in compared if "error" in each]
    if not done:
        return ""
    width = max(len(each["run"]) for each in done)
    lines = [f"{'run':<{width}}  forecast s            90 %  measured s  error %  inside  stack"]
    for each in done:
        told = each["forecast"]
        within = f"{three(told['low'])} to {three(told['high'])}" if told["low"] is not None else ""
        lines.append(f"{each['run']:<{width}}  {three(told['seconds']):>10}  {within:>14}  {three(each['seconds']):>10}  "
                     f"{100 * each['error']:>+7.1f}  {'yes' if each['inside'] else 'NO':<6}  {told['stack']}")
    mean = statistics.mean(abs(each["error"]) for each in done)
    inside = sum(bool(each["inside"]) for each in done)
    lines.append(f"Mean error {100 * mean:.1f} % over {count(len(done), 'run')}; {inside} inside their 90 % interval.")
    return "\n".join(lines)
