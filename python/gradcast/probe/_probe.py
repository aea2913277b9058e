"""The probe, stage by stage."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import signal
import statistics
import sys
import time
import warnings
from typing import Any, Dict, Iterator, List, NoReturn, Optional

from ..errors import InputError
from ..models import Model, Trace
from . import _forecast, _networks
from ._steps import DENSE, Schedule, Step, beside, hook_costs, schedules, timed
from ._words import cell, config, count, decide, milliseconds, readme, table, three
from ._world import World, collectives, median_of

COLLECTIVES_SHARE, COMPUTE_SHARE, EACH_SHARE = 0.3, 0.06, 0.08  # of the budget


class _Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(message)


def _arguments(words: List[str]) -> argparse.Namespace:
    parser = _Arguments(
        prog="python -m gradcast.probe", allow_abbrev=False,
        description="Measures a cluster where training runs: collectives, your step alone, and by each schedule on all "
        "ranks. Forecasts each run before it measures it.",
        epilog="torchrun --nnodes 4 --nproc-per-node 8 ... -m gradcast.probe my_step:step --output my-cluster")
    parser.add_argument("step", nargs="?", metavar="MODULE:FUNCTION", default="",
                        help="gives (net, example), (net, example, loss) or (net, example, loss, optimizer); else a "
                        "network of ours (--model)")
    parser.add_argument("--model", choices=sorted(_networks.NETWORKS), default="",
                        help="a network of ours (default: lenet-5)")
    parser.add_argument("--output", default="my-cluster", help="folder to make (default: my-cluster)")
    parser.add_argument("--budget", type=float, default=300.0, metavar="SECONDS",
                        help="how long it may take (default: 300)")
    parser.add_argument("--hooks", default="", help="gradcast's hooks to run too, like topk:0.01,qsgd")
    parser.add_argument("--backend", choices=("gloo", "nccl"), default="", help="default: nccl where torch sees a GPU")
    given = parser.parse_args(words)
    if given.step and given.model:
        raise InputError("give MODULE:FUNCTION or --model, not both")
    if not 5 <= given.budget <= 86400:
        raise InputError(f"--budget is {given.budget:g}, and must be from 5 to 86400 seconds")
    return given


class Probe:
    """One probe, on one rank. Rank 0 forecasts, tells and writes."""

    def __init__(self, given: argparse.Namespace, world: World) -> None:
        self.given, self.world = given, world
        self.begun = time.monotonic()
        self.stage = "the beginning"
        self.output = pathlib.Path(given.output)
        self.temporary = self.output.with_name(self.output.name + ".unfinished")
        self.known = _forecast.Knowledge(world.backend)
        self.known.shape = (world.nodes, max(world.ranks_by_host))
        self.raw: Dict[str, Any] = {}
        self.compared: List[Dict[str, Any]] = []
        self.broken_line = False

    # ---- telling and writing, on rank 0

    def say(self, line: str, end: str = "\n") -> None:
        if self.world.rank == 0:
            stamp = "" if self.broken_line else f"[{time.monotonic() - self.begun:5.1f} s] "
            self.broken_line = end != "\n"
            print(stamp + line, end=end, flush=True)

    def save(self) -> None:
        """Writes all that is known, file by file, each under a temporary name first."""
        if self.world.rank != 0:
            return
        texts = self.known.files()
        if self.raw.get("collectives"):
            columns = list(self.raw["collectives"][0])
            texts["collectives.csv"] = "\n".join(
                [",".join(columns)] + [",".join(cell(row[column]) for column in columns)
                                       for row in self.raw["collectives"]]) + "\n"
        texts["probe.json"] = json.dumps({**self.raw, "forecasts": self.compared, "collective": self.known.collective,
                                          "stack": self.known.stack_name}, indent=1, default=str) + "\n"
        shape = f"{count(self.world.size, 'rank')} on {count(self.world.nodes, 'host')}"
        if {"model.csv", "trace.csv", "cluster.csv"} <= set(texts):
            texts["gradcast.toml"] = config(self.known)
        texts["README.txt"] = readme(self.known, str(self.output), "Measured by gradcast.probe, "
                                     f"{self.raw.get('date', '')}: {shape}, {self.world.backend}.")
        for name, text in texts.items():
            half = self.temporary / (name + ".tmp")
            half.write_text(text, encoding="utf-8")
            half.rename(self.temporary / name)

    def finish(self) -> str:
        """Gives the folder its name. Returns it."""
        self.save()
        with contextlib.suppress(OSError):
            self.temporary.rename(self.output)
            return str(self.output)
        return str(self.temporary)

    # ---- stages, on all ranks

    def left(self) -> float:
        budget: float = self.given.budget
        return budget - (time.monotonic() - self.begun)

    def at(self, stage: str) -> None:
        self.stage = stage

    def run(self) -> None:
        world = self.world
        self.raw.update(date=time.strftime("%Y-%m-%d %H:%M:%S %z"), versions=world.versions(), budget=self.given.budget,
                        ranks_by_host=world.ranks_by_host, arguments=sys.argv[1:])
        self.say(f"{count(world.size, 'rank')} on {count(world.nodes, 'host')}, {world.backend}, torch "
                 f"{self.raw['versions']['torch']}, {self.raw['versions']['ranks'][0]['device']}: about "
                 f"{self.given.budget:.0f} s at most (--budget). Ctrl-C keeps what is there.")
        asked = schedules(self.given.hooks, world.on_gpu)
        self.at("the step")
        step = world.agree(self.made)
        self.save()
        self.look(step)
        if world.size > 1:
            self.measure_collectives(step)
        else:
            self.show_cluster(None)
        self.measure_runs(step, asked)
        self.profile(step)
        if world.rank == 0:
            print("\n" + table(self.compared), flush=True)

    def made(self) -> Step:
        """The step, seen once: model and trace of this rank."""
        given, world = self.given, self.world
        if given.step:
            net, example, loss, optimizer = _networks.adapted(given.step)
        else:
            net, example, loss = _networks.named(given.model or "lenet-5", world.device)
            optimizer = None
        step = Step(net, example, loss, optimizer, world)
        self.known.model = Model.from_torch(net, example, loss=loss, name="model")
        mark = "# without a gradient, and left out: "
        step.prepare([name for line in self.known.model.text.splitlines() if line.startswith(mark)
                      for name in line[len(mark):].split(", ")])
        self.known.model_bytes = step.bytes
        return step

    def look(self, step: Step) -> None:
        """The step on one rank: alone, then on all at once; without DDP, with it, and merged; nothing is sent."""
        world, share = self.world, COMPUTE_SHARE * self.given.budget
        self.at("the step on one rank")
        self.say(f"timing the step on one rank{', then on all at once' if world.size > 1 else ''}")
        alone = timed(world, lambda: step.once(step.net), share, together=False, warm_up=2)
        trace = world.agree(lambda: Trace.measure(step.net, step.example, loss=step.loss, name="trace", iterations=5))
        together = timed(world, lambda: step.once(step.net), share, warm_up=2) if world.size > 1 else alone
        update = statistics.median(world.all(step.update_seconds()))
        ddp = timed(world, step.iteration(DENSE, world.alone), share)
        step.clear()
        self.seconds = {"alone": median_of(alone), "together": median_of(together), "ddp": median_of(ddp),
                        "update": update}
        ranks = _forecast.spread([statistics.median(each) for each in together if each])
        iterations = _forecast.spread(together[0] or [])
        self.raw["compute"] = {"seconds": self.seconds, "iterations": {"alone": alone, "together": together, "ddp": ddp},
                               "spread_over_ranks": ranks, "spread_over_iterations": iterations}
        self.trace, self.in_ddp, self.whose_update = trace, [self.seconds["ddp"]], step.optimizer_name
        self.scale_trace()
        by_itself, at_once, in_ddp = (milliseconds(self.seconds[what]) for what in ("alone", "together", "ddp"))
        while_all = f"{at_once} while all {world.size} compute, " if world.size > 1 else ""
        self.say(f"the step takes {by_itself} on one rank, {while_all}{in_ddp} in DDP that sends nothing; "
                 f"{step.bytes / 1e6:.2f} MB of gradients")
        self.say(f"standard deviation: {100 * ranks:.1f} % over ranks, {100 * iterations:.1f} % over iterations")
        self.say(f"the runs take about {60 * self.seconds['ddp']:.0f} s or more" if 60 * self.seconds["ddp"] > self.left()
                 else f"about {self.left():.0f} s to go at most")
        self.save()

    def scale_trace(self) -> None:
        """The iteration trace, by the median of all times of a DDP iteration that sends nothing."""
        self.known.trace = _forecast.scaled(self.trace, statistics.median(self.in_ddp), self.seconds["update"],
                                            self.whose_update,
                                            "an iteration in DDP that sends nothing, while all ranks compute")
        self.known.trace.model = self.known.model

    def measure_collectives(self, step: Step) -> None:
        self.at("the collectives")
        rows = collectives(self.world, COLLECTIVES_SHARE * self.given.budget, self.say)
        self.raw["collectives"] = rows
        everyone = [row for row in rows if row["collective"] == "all-reduce" and row["ranks"] == self.world.size]
        found = None
        if everyone and not self.world.on_gpu:
            self.at("the step beside a collective")
            largest = max(everyone, key=lambda row: int(row["bytes"]))
            found = beside(step, self.seconds["together"], largest["seconds"], largest["bytes"],
                           EACH_SHARE * self.given.budget)
            step.clear()
        self.raw["beside"] = found
        self.show_cluster(found)

    def show_cluster(self, found: Optional[Dict[str, float]]) -> None:
        world = self.world
        if world.rank == 0:
            self.known.cluster = _forecast.cluster_of(self.raw.get("collectives", []), world.ranks_by_host,
                                                      self.known.stack_name, world.backend, found, world.on_gpu)
            values = dict(line.split(",")[:2] for line in self.known.cluster.text.splitlines() if line[0] != "#")
            words = [f"{name} {values[name]}" for name in ("nic_bandwidth", "nic_latency") if world.nodes > 1]
            words += [f"{name} {values[name]}" for name in ("intra_bandwidth", "intra_latency")
                      if max(world.ranks_by_host) > 1]
            words += [f"{name} {value}" for name, value in values.items() if name.endswith("_slowdown")]
            self.say("cluster: " + (", ".join(words) or "one rank, no network"))
        self.save()

    def measure_runs(self, step: Step, asked: List[Schedule]) -> None:
        costs: Dict[Schedule, Any] = {}
        for schedule in asked:
            self.at(schedule.words)
            compute = self.seconds["ddp"]
            if self.world.told(self.left() < self.least(schedule, compute)):
                self.say(f"{schedule.words}: left out, the budget is used up")
                continue
            # Timed anew just before each run: clocks and other work on the hosts change in a minute.
            alike = schedule if schedule.merged else DENSE
            compute = median_of(timed(self.world, step.iteration(alike, self.world.alone),
                                      COMPUTE_SHARE * self.given.budget / 2, warm_up=2))
            if not schedule.merged:
                self.in_ddp.append(compute)
                self.scale_trace()
            if schedule.compressor:
                costs[schedule] = hook_costs(step, schedule)
                device = str(self.raw["versions"]["ranks"][0]["device"]) if self.world.on_gpu else "CPU"
                self.known.costs = _forecast.costs_of(costs, self.world.size, device)
            step.clear()
            self.one_run(step, schedule, compute)

    def least(self, schedule: Schedule, compute: float) -> float:
        """About how many seconds a run needs at least."""
        slowest = max([compute, *(each.get("seconds", 0.0) for each in self.compared)])
        least: float = 9 * slowest + (16 if schedule.compressor else 7) * compute
        return least

    def one_run(self, step: Step, schedule: Schedule, compute: float) -> None:
        """The forecast, told and written; then the run."""
        world = self.world
        record: Dict[str, Any] = {"run": schedule.words, "ranks": world.size}
        if world.rank == 0:
            try:
                record["forecast"] = self.known.forecast(schedule, compute)
            except InputError as error:
                record["no_forecast"] = str(error)
            record["forecast_at"] = time.time()
            self.compared.append(record)
            self.save()
            expected = record.get("forecast")
            within = f" ({three(expected['low'])} to {three(expected['high'])})" if expected and expected["low"] else ""
            told = f"forecast {three(expected['seconds'])} s{within}" if expected else "no forecast"
            if not expected:
                self.say(record["no_forecast"])
            self.say(f"{count(world.size, 'rank')}, {schedule.words}: {told}", end="")
        record = world.told(record)
        each = timed(world, step.iteration(schedule, None), EACH_SHARE * self.given.budget)
        step.clear()
        record.update(seconds=median_of(each), iterations=each, measured_at=time.time())
        if world.rank == 0:
            self.compared[-1] = record
            off = ""
            if expected:
                record["error"] = expected["seconds"] / record["seconds"] - 1
                record["inside"] = bool(expected["low"]) and expected["low"] <= record["seconds"] <= expected["high"]
                off = f" (forecast {100 * record['error']:+.1f} %)"
            self.say(f", measured {three(record['seconds'])} s{off}")
            line = self.known.add(schedule, compute, record["seconds"])
            if line:
                self.say(line)
        else:
            self.compared.append(record)
        self.save()

    def profile(self, step: Step) -> None:
        """PyTorch's profiler over three steps, where a GPU is: `gradcast import` reads it."""
        if not self.world.on_gpu:
            return
        self.at("the profile")
        import torch

        step.once(step.net)
        steps = torch.profiler.schedule(wait=0, warmup=1, active=3)
        with torch.profiler.profile(record_shapes=True, schedule=steps) as profile:
            for _ in range(4):
                step.once(step.net)
                profile.step()
        if self.world.rank == 0:
            profile.export_chrome_trace(str(self.temporary / "profile.json"))
            self.say("profile.json: three steps by PyTorch's profiler")


def _interrupted(*_: object) -> NoReturn:
    raise KeyboardInterrupt


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """No second interruption while the folder gets its name."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    yield


def run(words: List[str]) -> int:
    """The probe with these words of a command line. Returns its exit code; tells failures in one line."""
    rank = int(os.environ.get("RANK", "0"))

    def fail(line: str, code: int) -> int:
        print(f"gradcast.probe: {line}", file=sys.stderr, flush=True)
        return code

    probe: Optional[Probe] = None
    try:
        given = _arguments(words)
        import torch

        warnings.filterwarnings("ignore", category=FutureWarning)
        backend = given.backend or ("nccl" if torch.cuda.is_available() else "gloo")
        signal.signal(signal.SIGTERM, _interrupted)
        world = World(backend, max(60.0, min(given.budget, 600.0)))
        probe = Probe(given, world)
        world.agree(lambda: _free(probe))
        probe.run()
    except SystemExit as end:  # --help
        return int(end.code or 0)
    except KeyboardInterrupt:
        where = probe.stage if probe else "the start"
        return fail(f"interrupted during {where}{_kept(probe)}", 130) if rank == 0 else 130
    except InputError as error:
        if probe is not None and rank == 0:
            _kept(probe)
        return fail(str(error), error.code) if rank == 0 else error.code
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        of_peer = any(word in str(error).lower() for word in ("connection", "gloo", "nccl", "timed out"))
        where = probe.stage if probe else "the start"
        if rank == 0:
            what = "another rank ended or did not answer" if of_peer else lines[0][:200]
            return fail(f"{what}, during {where}{_kept(probe)}", 1)
        return 1 if of_peer else fail(f"rank {rank}, during {where}: {lines[0][:200]}", 1)
    if rank == 0:
        with _quietly():
            folder = probe.finish()
        print(f"\nIn {folder}/: what was measured. Next:\n  {decide(folder)}", flush=True)
    return 0


def _free(probe: Optional[Probe]) -> None:
    """Makes the folder under its temporary name; on rank 0. Raises InputError where something has the name."""
    if probe is None or probe.world.rank != 0:
        return
    for place in (probe.output, probe.temporary):
        if place.exists():
            raise InputError(f"{place} exists, and nothing is overwritten: remove it, or name another --output")
    try:
        probe.temporary.mkdir()
    except OSError as error:
        raise InputError(f"{probe.temporary}: cannot make this folder: {error.strerror}", 3) from None


def _kept(probe: Optional[Probe]) -> str:
    """Keeps what was measured so far, on rank 0, and says where."""
    if probe is None or probe.world.rank != 0 or not probe.temporary.exists():
        return ""
    with _quietly():
        if probe.known.trace is None:  # nothing worth keeping
            for file in probe.temporary.iterdir():
                file.unlink()
            probe.temporary.rmdir()
            return ""
        if probe.broken_line:
            print(flush=True)
        return f"; what was measured is in {probe.finish()}/"
