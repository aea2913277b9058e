"""Files of gradcast from what was measured, and forecasts from these."""

from __future__ import annotations

import pathlib
import statistics
import tempfile
from typing import Any, Dict, List, Optional, Tuple

from ..errors import InputError
from ..forecaster import Forecaster
from ..inputs import Cluster, Costs, Stack
from ..models import Model, Trace
from ._steps import Schedule

Rows = List[Dict[str, Any]]
STACKS = {"gloo": "ddp-gloo", "nccl": "ddp-nccl"}
RUN_COLUMNS = ("source,model,trace,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,parameter,fusion,"
               "overlap,iteration_seconds,collective,stack,framework_in_compute,costs")


def fitted(rows: Rows, where: str, stack: str, collective: str) -> Optional[Tuple[float, float, str, bool]]:
    """Bandwidth in bytes a second, latency in seconds, and how they were found, from all-reduces of a group. Last, whether
    the host is as fast as its NIC: where no NIC explains the time, since the stack's host is slower than this one.

    A ring of P ranks takes 2 (P - 1) latencies and sends 2 (P - 1) / P of the bytes (Thakur, Rabenseifner, Gropp 2005).
    That gives a first guess from the smallest and largest size. Then both are moved until the forecasts of gradcast
    itself, with the stack's own costs, are the measured times at these sizes."""
    rows = [row for row in rows if row["collective"] == "all-reduce" and row["where"] == where]
    if not rows:
        return None
    ranks = max(row["ranks"] for row in rows)
    rows = sorted((row for row in rows if row["ranks"] == ranks), key=lambda row: int(row["bytes"]))
    small, large = rows[0], rows[-1]
    latency = max(1e-7, small["seconds"] / (2 * (ranks - 1)))
    on_wire = 2 * (ranks - 1) / ranks * large["bytes"]
    rate = on_wire / max(large["seconds"] - small["seconds"], 0.1 * large["seconds"])
    reached = rate
    as_fast = False
    forecaster = Forecaster()
    nodes, per_node = (1, ranks) if where == "one host" else (ranks, 1)
    for _ in range(20):
        host = {"host_bandwidth": _rate(rate)} if as_fast else {}
        cluster = Cluster.of(
            nodes=nodes, gpus_per_node=per_node, nic_bandwidth=_rate(rate), nic_latency=_seconds(latency),
            intra_bandwidth=_rate(rate), intra_latency=_seconds(latency), **host)

        def ask(row: Dict[str, Any], **nic: str) -> float:
            size = f"{row['bytes']}B"
            return forecaster.forecast(payload=size, cluster=cluster, stack=stack, collective=collective, **nic).seconds

        longer = ask(large) / large["seconds"]
        later = small["seconds"] - ask(small)
        if abs(longer - 1) < 1e-3 and abs(later) < 1e-3 * small["seconds"]:
            break
        rate *= max(0.2, min(5.0, longer))
        # A NIC and a host that are alike reach 0.71 of either. Where even a NIC of 100 times the rate is too slow, the
        # stack's host is.
        if nodes > 1 and not as_fast and rate > 1.5 * reached and (
                ask(large, nic_bandwidth=_rate(100 * reached)) > large["seconds"]):
            rate, as_fast = 2 ** 0.5 * reached, True
        latency = max(1e-7, latency + later / (2 * (ranks - 1)))
    how = (f"all-reduces of {size_text(small['bytes'])} and {size_text(large['bytes'])} by {ranks} ranks: with stack "
           f"{stack} their forecasts are the measured times")
    return rate, latency, how, as_fast


def size_text(size: int) -> str:
    """A size in KiB, from 1 MiB on in MiB."""
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def _rate(bytes_per_second: float) -> str:
    return f"{8e-6 * bytes_per_second:.3f}Mbps"


def _seconds(seconds: float) -> str:
    return f"{1e6 * seconds:.2f}us"


def cluster_of(rows: Rows, ranks_by_host: List[int], stack: str, collective: str, beside: Optional[Dict[str, float]],
               on_gpu: bool) -> Cluster:
    """The cluster that these collectives show."""
    between, inside = (fitted(rows, where, stack, collective) for where in ("hosts", "one host"))
    assumed = (1.25e9, 50e-6, "not measured, there is one host: assumed", False)
    none = "not measured, a host has one rank: assumed"
    inside = inside or ((3e11, 5e-6, none, False) if on_gpu else (2e9, 30e-6, none, False))
    between = between or assumed
    usual = max(set(ranks_by_host), key=ranks_by_host.count)
    lines = [("nodes", len(ranks_by_host), "hosts of the probe"), ("gpus_per_node", usual, "ranks of a host"),
             ("nic_bandwidth", _rate(between[0]), between[2]), ("nic_latency", _seconds(between[1]), between[2]),
             ("intra_bandwidth", _rate(inside[0]), inside[2]), ("intra_latency", _seconds(inside[1]), inside[2])]
    if between[3]:
        lines.append(("host_bandwidth", _rate(between[0]), "taken as fast as the NIC: the stack's is slower than this one"))
    if collective == "gloo":
        lines.append(("network_kind", "tcp", "Gloo over TCP"))
    lines += [(f"gpus_per_node@{host}", ranks, "ranks of this host") for host, ranks in enumerate(ranks_by_host)
              if ranks != usual]
    if beside:
        how = f"a step beside an all-reduce of {beside['bytes'] / (1 << 20):.1f} MiB"
        lines += [(name, f"{100 * beside[name]:.2f}%", how) for name in ("communication_slowdown", "computing_slowdown")]
    text = "".join(f'{name},{value},"{source}"\n' for name, value, source in lines)
    return Cluster("# Measured by gradcast.probe. Formula of bandwidths and latencies: _forecast.py, fitted().\n"
                   "property,value,source\n" + text, "cluster")


def scaled(trace: Trace, seconds: float, update: float, optimizer: str, what: str) -> Trace:
    """The trace, so that forward, backward and the update by the optimizer take that long together."""
    rows = [line for line in trace.text.splitlines() if line and not line.startswith("#")]
    cells = [line.split(",") for line in rows[1:]]
    factor = max(seconds - update, 0.05 * seconds) / sum(float(row[1]) + float(row[2]) for row in cells)
    head = [line for line in trace.text.splitlines() if line.startswith("#")]
    head += [f"# update: {1e6 * min(update, 0.95 * seconds):.3f}us", f"# optimizer: {optimizer}",
             f"# scaled by {factor:.4f} to {what}"]
    body = [f"{row[0]},{float(row[1]) * factor:.9f},{float(row[2]) * factor:.9f}" for row in cells]
    made = Trace("\n".join([*head, rows[0], *body]) + "\n", "trace")
    made.model = trace.model
    return made


def costs_of(found: Dict[Schedule, Dict[int, Tuple[float, float]]], ranks: int, device: str) -> Optional[Costs]:
    """A cost table of the hooks, by the size of a bucket."""
    lines = []
    for schedule, sizes in found.items():
        for elements, (encode, decode) in sorted(sizes.items()):
            selected = max(1, round(schedule.density * elements))
            number = f"{schedule.parameter:g}" if schedule.parameter else ""
            lines.append(f"{schedule.compressor},,{'gradcast-cpu' if schedule.ours else 'torch'},1,{elements},"
                         f"{schedule.density:g},{ranks},normal,{selected},{encode:.9f},{encode:.9f},{decode:.9f},"
                         f"{decode:.9f},5,measured,{number}")
    if not lines:
        return None
    return Costs(f"# device: {device}\n# measured by gradcast.probe, while {ranks} ranks work\ncompressor,mode,"
                 "implementation,tensors,elements,density,workers,distribution,selected,encode_seconds,encode_p95_seconds,"
                 "decode_seconds,decode_p95_seconds,samples,evidence,parameter\n" + "\n".join(lines) + "\n", "costs")


class Knowledge:
    """All that is known so far, as files of gradcast."""

    def __init__(self, backend: str) -> None:
        self.collective, self.stack_name = backend, STACKS[backend]
        self.model: Optional[Model] = None
        self.trace: Optional[Trace] = None
        self.cluster: Optional[Cluster] = None
        self.costs: Optional[Costs] = None
        self.learned: Optional[Stack] = None
        self.shape: Tuple[int, int] = (1, 1)
        self.model_bytes = 0
        self.runs: List[str] = []
        self.measured: List[Schedule] = []
        self._forecaster = Forecaster()

    def forecast(self, schedule: Schedule, compute_seconds: float) -> Dict[str, Any]:
        """Seconds and their 90 % interval."""
        settings: Dict[str, Any] = {
            "trace": self.trace, "cluster": self.cluster, "stack": self.learned or self.stack_name,
            "collective": self.collective, "framework_in_compute": True, "broadcast_buffers": False,
            "compute_seconds": _seconds(compute_seconds),
            "fusion": schedule.fusion(self.model_bytes), "overlap": not schedule.merged, "nodes": self.shape[0],
        }  # fmt: skip
        if schedule.compressor:
            settings.update(compressor=schedule.compressor, costs=self.costs, parameter=schedule.parameter or None,
                            density=schedule.density if schedule.density < 1 else None,
                            implementation="gradcast-cpu" if schedule.ours else "torch")
        answer = self._forecaster.forecast(self.model, **settings)
        interval = answer.interval
        return {"seconds": answer.seconds, "low": interval.low if interval else None,
                "high": interval.high if interval else None, "stack": "learned" if self.learned else self.stack_name}

    def add(self, schedule: Schedule, compute_seconds: float, seconds: float) -> str:
        """A measured run. From two runs on, what `learn` makes of them is known too; else the line says why not."""
        batch = next(line.split()[-1] for line in self.trace.text.splitlines() if line.startswith("# batch:")) \
            if self.trace else "1"
        parameter = f"{schedule.parameter:g}" if schedule.parameter else ""
        self.runs.append(
            f"probe,model.csv,trace.csv,{batch},{compute_seconds:.9f},cluster.csv,{self.shape[0]},{self.shape[1]},"
            f"{schedule.compressor or 'dense'},{schedule.density:g},{parameter},{schedule.fusion(self.model_bytes)},"
            f"{'no' if schedule.merged else 'yes'},{seconds:.9f},{self.collective},{self.stack_name},yes,"
            f"{'costs.csv' if schedule.compressor else ''}")
        self.measured.append(schedule)
        if len(self.runs) < 2:
            return ""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file, text in self.files().items():
                (folder / file).write_text(text, encoding="utf-8")
            try:
                self._forecaster.run("learn", str(folder / "runs.csv"), stack=self.stack_name, output=name)
                self.learned = Stack.from_file(folder / "platforms" / "stack-runs.csv")
            except (InputError, RuntimeError) as error:
                return f"learn: {error}"
        return ""

    def files(self) -> Dict[str, str]:
        """The texts of the files to write, by file name."""
        made = {"model.csv": self.model, "trace.csv": self.trace, "cluster.csv": self.cluster, "costs.csv": self.costs,
                "stack.csv": self.learned}
        texts = {name: each.text for name, each in made.items() if each}
        if self.runs:
            texts["runs.csv"] = RUN_COLUMNS + "\n" + "\n".join(self.runs) + "\n"
        return texts


def spread(values: List[float]) -> float:
    """Standard deviation over mean."""
    return statistics.pstdev(values) / statistics.mean(values) if values else 0.0
