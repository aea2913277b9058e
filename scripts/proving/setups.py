"""The set-ups of setups.csv: what runs, on how many hosts, over which links, and what disturbs it."""
import collections
import csv
import pathlib
import random
import re

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent

# An event: what happens, to whom (a rank or a host), a factor (slower, of the link's rate, so many jobs), seconds.
Event = collections.namedtuple("Event", "kind who factor seconds")
Layer = collections.namedtuple("Layer", "shapes forward backward unit")

NO_EVENT = Event("", 0, 1.0, 0.0)


def rows_of(path):
    """The rows of a CSV file, each a dict. Lines that begin with # are comments."""
    with open(path) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def parse_event(text):
    """slow:RANK:FACTOR, rate:HOST:SHARE, drop:HOST:SHARE:SECONDS, pause:RANK:SECONDS, jobs:COUNT."""
    if not text:
        return NO_EVENT
    kind, *values = text.split(":")
    if kind == "jobs":
        return Event(kind, 0, int(values[0]), 0.0)
    if kind == "pause":
        return Event(kind, int(values[0]), 0.0, float(values[1]))
    return Event(kind, int(values[0]), float(values[1]), float(values[2]) if kind == "drop" else 0.0)


def parse_ranks(text):
    """A number, the same for all hosts; or "2+1": of each host."""
    return [int(count) for count in text.split("+")] if "+" in text else int(text)


def name_of(row):
    """A set-up's name says what differs from DDP with buckets of 25 MiB."""
    per_host = row["ranks_per_host"]
    ranks = row["hosts"] if per_host == "1" else per_host if "+" in per_host else f"{row['hosts']}x{per_host}"
    parts = [row["model"], ranks, row["mbit"]]
    if row["uplink_mbit"]:
        parts.append(f"uplink{row['uplink_mbit']}")
    if row["schedule"] != "ddp":
        parts.append(row["schedule"])
    if row["bucket_mib"] != "25" and not row["hook"].startswith("powersgd"):
        parts.append(f"{row['bucket_mib']}mib")
    if row["hook"]:
        parts.append(re.sub(r":(\w+=)?", "-", row["hook"]))
    if row["accumulation"] != "1":
        parts.append("accumulate")
    if row["event"]:
        parts.append(row["event"].replace(":", "-"))
    return "-".join(parts)


def setups():
    numbers = {"hosts": int, "ranks_per_host": parse_ranks, "mbit": float, "compute_seconds": float,
               "bucket_mib": int, "accumulation": int, "event": parse_event,
               "uplink_mbit": lambda text: float(text or 0)}
    return [{"name": name_of(row), **{key: numbers.get(key, str)(value) for key, value in row.items()}}
            for row in rows_of(FOLDER / "setups.csv")]


def drawn(names, count, seed):
    """`count` of the names, in the order in which a seed draws them; the same whatever the order of the names."""
    names = sorted(names)
    return random.Random(seed).sample(names, min(count, len(names)))


def collective_of(setup):
    """("gloo", "all-gather") of a set-up that is one collective, whose `model` is its size; else None."""
    for library in ("gloo", "open-mpi"):
        if setup["schedule"].startswith(library + "-"):
            return library, setup["schedule"].removeprefix(library + "-")
    return None


def bytes_of(size):
    """64KiB, 16MiB."""
    return int(size[:-3]) << {"KiB": 10, "MiB": 20}[size[-3:]]


def model_of(setup):
    return rows_of(ROOT / "models" / f"{setup['model']}.csv")


def elements_of(setup):
    return sum(int(row["elements"]) for row in model_of(setup))


def layers_by_name(setup):
    """The layers, input to output. A layer's share of the compute time is its share of the
    operations; backward takes two thirds."""
    rows = model_of(setup)
    second = setup["compute_seconds"] / sum(float(row["forward_flops"] or 0) for row in rows)
    layers = {}
    for row in rows:
        shapes, forward, backward, unit = layers.get(row["layer"], Layer([], 0.0, 0.0, row.get("unit", "")))
        shapes.append([int(size) for size in (row["shape"] or row["elements"]).split("x")])
        taken = second * float(row["forward_flops"] or 0)
        layers[row["layer"]] = Layer(shapes, forward + taken / 3, backward + 2 * taken / 3, unit)
    return layers


OURS = "gradcast-"


def is_ours(setup):
    """True if the hook is gradcast's own."""
    return setup["hook"].startswith(OURS)


def compressor_of(setup):
    """A hook's name in gradcast, and its settings: powersgd4 is PowerSGD of rank 4, gradcast-topk:density=0.01 ours."""
    hook = setup["hook"]
    if is_ours(setup):
        name, *settings = hook.removeprefix(OURS).split(":")
        return name, dict(setting.split("=") for setting in settings)
    if hook.startswith("powersgd"):
        return "powersgd", {"parameter": hook.removeprefix("powersgd")}
    return hook, {}


def ranks_by_host(setup):
    """The number of ranks of each host."""
    per_host = setup["ranks_per_host"]
    return list(per_host) if isinstance(per_host, list) else [per_host] * setup["hosts"]


def ranks_of(setup):
    return sum(ranks_by_host(setup))


def share_sent(compressor):
    """About how much of a dense all-reduce of two ranks a compressor sends, for estimates of how long a run takes."""
    return {"": 1, "dense": 1, "fp16": 0.5, "bf16": 0.5, "int8": 0.3, "qsgd": 0.3, "natural": 0.3}.get(compressor, 0.05)


def expected_seconds(setup):
    """About how long an iteration takes, and how long the run, for the one who waits.

    Ranks that start beside each other on two cores took 5, 25 and 100 s for 2, 4 and 8.
    """
    ranks = ranks_of(setup)
    starting = 1.5 * ranks ** 2
    if collective_of(setup):
        iteration = 2 * ranks * 8 * bytes_of(setup["model"]) / (setup["mbit"] * 1e6)
        return iteration, 10 + starting / 4 + 13 * iteration
    share = share_sent(compressor_of(setup)[0])
    factor = {"zero1": 1.5, "fsdp": 2, "hsdp": 2, "local-sgd": 0.25}.get(setup["schedule"], 1)
    rate = min(setup["mbit"], setup["uplink_mbit"] or setup["mbit"])
    event = setup["event"]
    if event.kind == "rate":
        rate *= event.factor
    jobs = event.factor if event.kind == "jobs" else 1
    on_wire = 2 * (ranks - 1) / ranks * 32 * elements_of(setup) * share * factor * jobs / (rate * 1e6)
    if setup["schedule"] == "hsdp" and setup["ranks_per_host"] > 1:
        on_wire /= setup["ranks_per_host"]
    slower = event.factor if event.kind == "slow" else 1
    iteration = max(on_wire, setup["compute_seconds"] * setup["accumulation"] * slower)
    starts = 3 if setup["hook"] else 2  # alone, its hook, and the run
    return iteration, 10 + starts * starting + 8 * setup["compute_seconds"] + 13 * iteration + 2 * event.seconds
