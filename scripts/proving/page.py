"""docs/proving.md and its picture, from the results of scripts/prove."""
import itertools
import json
import math
import statistics

import forecast
import setups

BEGIN = "<!-- runs: made by scripts/prove -->"
END = "<!-- end of runs -->"

# Written down before any of these runs: 20 of the set-ups stand for those that nobody here chose.
SEED = 20261125
DRAWN = 20
DRAWN_FROM = 76  # the set-ups that there were then, the first of the list
# The same for the runs with hooks of gradcast.
OURS_SEED = 20261126
OURS_DRAWN = 10
# And for dense runs on faster links: these 8 never are among the runs from which a stack is estimated. 4 have run.
FAST_SEED = 20261128
FAST_DRAWN = 8
FAST_FROM = slice(116, 142)
# Two runs whose order counts are further apart than this.
APART = 0.05


def error_percent(record, key="seconds"):
    return 100 * (record["forecast"][key] / record["measured"]["seconds"] - 1)


def inside(record):
    low, high = record["forecast"]["interval"]
    return low is not None and low <= record["measured"]["seconds"] <= high


def width(record):
    low, high = record["forecast"]["interval"]
    return (high - low) / record["forecast"]["seconds"]


def spread_percent(record):
    """The spread from the shortest to the longest iteration, where all are alike."""
    if record["setup"]["event"]["kind"] in ("drop", "pause") or record["setup"]["schedule"] == "local-sgd":
        return None
    seconds = sorted(record["measured"]["iteration_seconds"])
    return 100 * (seconds[-1] - seconds[0]) / record["measured"]["seconds"]


def table(records):
    """Markdown, a line a run."""
    text = ("| run | measured s | spread | physics alone s | error | forecast s | error | 90 % interval | inside |\n"
            "|---|---:|---:|---:|---:|---:|---:|---|---|\n")
    for record in records:
        measured, forecast = record["measured"], record["forecast"]
        low, high = forecast["interval"]
        interval = "" if low is None else f"{low:.3f} to {high:.3f}"
        spread = spread_percent(record)
        text += (f"| `{record['name']}` | {measured['seconds']:.3f} | {'' if spread is None else f'{spread:.1f} %'} | "
                 f"{forecast['physics_seconds']:.3f} | {error_percent(record, 'physics_seconds'):+.1f} % | "
                 f"{forecast['seconds']:.3f} | {error_percent(record):+.1f} % | {interval} | "
                 f"{'yes' if inside(record) else 'no'} |\n")
    return text


def mean(values):
    return sum(values) / len(values)


def errors_of(records, key):
    errors = [error_percent(record, key) for record in records]
    return (f"{mean([abs(error) for error in errors]):.1f} % in the mean (bias {mean(errors):+.1f} %, worst "
            f"{max(errors, key=abs):+.1f} %)")


def summary(records):
    """Errors of all, of those that were drawn, and how many orders are right."""
    text = (f"{len(records)} runs. Physics alone is off by {errors_of(records, 'physics_seconds')}. With the stack "
            f"`ddp-gloo` it is {errors_of(records, 'seconds')}, and {sum(map(inside, records))} lie inside their 90 % "
            "interval.\n")
    drawn = setups.drawn([setup["name"] for setup in setups.setups()[:DRAWN_FROM]], DRAWN, SEED)
    held_out = [record for record in records if record["name"] in drawn]
    if held_out:
        text += (f"\nThe {len(held_out)} that were drawn by seed {SEED} before: physics alone "
                 f"{errors_of(held_out, 'physics_seconds')}, with the stack {errors_of(held_out, 'seconds')}.\n")
    ours = [record for record in records if setups.is_ours(record["setup"])]
    if ours:
        drawn = setups.drawn([setup["name"] for setup in setups.setups() if setups.is_ours(setup)], OURS_DRAWN, OURS_SEED)
        held_out = [record for record in ours if record["name"] in drawn]
        text += (f"\nThe {len(ours)} with hooks of gradcast: {errors_of(ours, 'seconds')}, {sum(map(inside, ours))} inside, "
                 f"median width {100 * statistics.median(map(width, ours)):.0f} %.")
        if held_out:
            text += (f" The {len(held_out)} among them that were drawn by seed {OURS_SEED} before: "
                     f"{errors_of(held_out, 'seconds')}, {sum(map(inside, held_out))} inside.")
        text += "\n"
    right, pairs = orders(records)
    if pairs:
        text += (f"\nOrders of schedules and hooks on the same hosts and links: {right} of {pairs} pairs right, among those "
                 f"that are more than {100 * APART:.0f} % apart.")
        right, pairs = orders(records, is_usual, lambda record: setups.is_ours(record["setup"]))
        if pairs:
            text += f" Whether a hook of gradcast pays against none: {right} of {pairs}."
        text += "\n"
    return text


def ground_of(record):
    """The ground that two runs must share for their order to be asked: model, hosts, links, compute."""
    setup = record["setup"]
    return (setup["model"], tuple(setups.ranks_by_host(setup)), setup["mbit"], setup["compute_seconds"])


def is_usual(record):
    """DDP as it is without settings."""
    setup = record["setup"]
    return setup["schedule"] == "ddp" and setup["bucket_mib"] == 25 and not setup["hook"]


def hosts_in_words(ranks):
    """2 hosts of a rank each, 2 x 2, or 2 + 1."""
    if len(set(ranks)) > 1:
        return " + ".join(map(str, ranks))
    return f"{len(ranks)}" if ranks[0] == 1 else f"{len(ranks)} x {ranks[0]}"


def calm(records):
    """Runs without events, gradient accumulation or uplinks: these are no choice of the one who trains."""
    return [record for record in records
            if not record["setup"]["event"]["kind"] and record["setup"]["accumulation"] == 1
            and not record["setup"]["uplink_mbit"]]


def orders(records, is_one=None, is_other=None):
    """Pairs whose faster one was forecast to be the faster one, and all pairs, by their distance. is_one, is_other:
    which records may stand on each side of a pair; else all."""
    right = pairs = 0
    chosen = calm(records)
    couples = (itertools.combinations(chosen, 2) if is_one is None
               else itertools.product(filter(is_one, chosen), filter(is_other, chosen)))
    for one, other in couples:
        if ground_of(one) != ground_of(other):
            continue
        ratio = one["measured"]["seconds"] / other["measured"]["seconds"]
        if abs(ratio - 1) <= APART:
            continue
        pairs += 1
        right += (ratio < 1) == (one["forecast"]["seconds"] < other["forecast"]["seconds"])
    return right, pairs


HOOKS = ("", "fp16", "powersgd4")


def winners(records):
    """Markdown: the fastest hook by model, ranks and rate, measured and forecast."""
    by_ground = {}
    for record in calm(records):
        if record["setup"]["schedule"] == "ddp" and record["setup"]["hook"] in HOOKS \
                and record["setup"]["bucket_mib"] in (25, 1000):
            by_ground.setdefault(ground_of(record), {})[record["setup"]["hook"]] = record
    text = ("| model | hosts | Mbit/s | none: measured, forecast s | fp16 | PowerSGD, rank 4 | fastest | forecast to be |\n"
            "|---|---:|---:|---:|---:|---:|---|---|\n")
    lines = 0
    for (model, ranks, mbit, _), runs in sorted(by_ground.items()):
        if len(runs) < 2:
            continue
        lines += 1
        cells = [f"{runs[hook]['measured']['seconds']:.2f}, {runs[hook]['forecast']['seconds']:.2f}" if hook in runs
                 else "" for hook in HOOKS]
        best = [min(runs, key=lambda hook, kind=kind: runs[hook][kind]["seconds"]) or "none"
                for kind in ("measured", "forecast")]
        text += (f"| {model} | {hosts_in_words(ranks)} | {mbit:g} | {' | '.join(cells)} | "
                 f"{best[0]} | {best[1]} |\n")
    return "\n" + text if lines else ""


def own_hooks(records):
    """Markdown: each hook of gradcast beside DDP without a hook, by model, ranks and rate."""
    by_ground, hooks = {}, []
    for record in calm(records):
        setup = record["setup"]
        if is_usual(record) or setups.is_ours(setup):
            by_ground.setdefault(ground_of(record), {})[setup["hook"]] = record
            if setup["hook"] not in hooks:
                hooks.append(setup["hook"])
    by_ground = {where: runs for where, runs in sorted(by_ground.items()) if any(runs.keys() - {""})}
    if not by_ground:
        return ""
    titles = [f"{model}, {hosts_in_words(ranks)} x {mbit:g} Mbit/s" for model, ranks, mbit, _ in by_ground]
    text = f"\n| measured s, error of the forecast | {' | '.join(titles)} |\n|---|{'---:|' * len(titles)}\n"
    fastest = [min(runs, key=lambda hook, runs=runs: runs[hook]["measured"]["seconds"]) for runs in by_ground.values()]
    for hook in sorted(hooks):
        cells = []
        for runs, best in zip(by_ground.values(), fastest):
            mark = "**" if hook == best else ""
            cells.append(f"{mark}{runs[hook]['measured']['seconds']:.2f}{mark}, {error_percent(runs[hook]):+.1f} %"
                         if hook in runs else "")
        if any(cells):
            text += f"| {in_words(hook)} | {' | '.join(cells)} |\n"
    return text


def in_words(hook):
    """A hook of ours without what they all have: topk 0.01."""
    name, settings = setups.compressor_of({"hook": hook})
    return " ".join([name or "none", *settings.values()])


def picture(records):
    """An SVG: each run's measured time, and the forecast with its interval, on a logarithmic scale."""
    left, width, row, top = 230, 430, 18, 30
    times = [record["measured"]["seconds"] for record in records]
    for record in records:
        times += [t for t in (*record["forecast"]["interval"], record["forecast"]["seconds"]) if t]
    low, high = math.log(min(times)) - .05, math.log(max(times)) + .05

    def x(seconds):
        return left + width * (math.log(seconds) - low) / (high - low)

    height = top + row * len(records) + 34
    text = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 20} {height}" '
            'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="#fff"/>\n'
            f'<text x="{left}" y="16">seconds: ● measured, ◇ forecast with its 90 % interval</text>\n')
    bottom = top + row * len(records)
    for tick in (.2, .5, 1, 2, 5, 10, 20, 50):
        if low <= math.log(tick) <= high:
            text += (f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top}" y2="{bottom}" stroke="#ddd"/>'
                     f'<text x="{x(tick):.1f}" y="{bottom + 14}" text-anchor="middle">{tick:g}</text>\n')
    for index, record in enumerate(records):
        y = top + row * (index + .5)
        text += f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{record["name"]}</text>'
        begin, end = record["forecast"]["interval"]
        if begin:
            text += (f'<line x1="{x(begin):.1f}" x2="{x(end):.1f}" y1="{y}" y2="{y}" stroke="#9ab" '
                     'stroke-width="5"/>')
        at = x(record["forecast"]["seconds"])
        text += (f'<path d="M{at - 5:.1f} {y}L{at:.1f} {y - 5}L{at + 5:.1f} {y}L{at:.1f} {y + 5}Z" fill="#fff" '
                 'stroke="#036"/>'
                 f'<circle cx="{x(record["measured"]["seconds"]):.1f}" cy="{y}" r="3.5" fill="#b30"/>\n')
    return text + "</svg>\n"


MEASURED = ("source", "model", "trace", "batch", "compute_seconds", "cluster", "nodes", "gpus_per_node", "compressor",
            "density", "fusion", "overlap", "iteration_seconds", "nic_bandwidth", "nic_latency", "collective", "stack",
            "framework_in_compute")


def is_plain(record):
    """Dense data-parallel training of one rank a host, undisturbed: a row that says all of it."""
    setup = record["setup"]
    return (setup["schedule"] in ("ddp", "merged") and not setup["hook"] and not setup["event"]["kind"]
            and setup["ranks_per_host"] == 1 and setup["accumulation"] == 1 and not setup["uplink_mbit"])


def held_out():
    """Names of the runs on fast links that judge."""
    return setups.drawn([setup["name"] for setup in setups.setups()[FAST_FROM]], FAST_DRAWN, FAST_SEED)


def measured_runs(records):
    """measured-proving.csv: these runs as rows that `compare` and `fit` read."""
    judges = held_out()
    text = ("# Dense data-parallel training by PyTorch over Gloo on the proving ground: network namespaces on one machine, one rank\n"
            "#   a host. docs/proving.md has the protocol, traces/proving/ the results. scripts/prove makes this file.\n"
            "# compute_seconds: an iteration of as many ranks beside each other, none of which sends. DDP's copies are in it.\n"
            "# nic_bandwidth, nic_latency: measured just before, by TCP and by Gloo. Nothing is fitted here.\n"
            "# proving-ground-held-out: drawn by a seed before they ran (scripts/proving/page.py), and in no group of stack-groups.csv.\n" +
            ",".join(MEASURED) + "\n")
    for record in filter(is_plain, records):
        setup, ground = record["setup"], record["ground"]
        fusion, overlap = forecast.schedule_flags(setup)[1::2]
        text += ",".join(str(value) for value in (
            "proving-ground-held-out" if record["name"] in judges else "proving-ground", setup["model"], f"proving/iteration-{setup['model']}.csv", 8,
            f"{record['compute_seconds']:.6f}", "proving-ground", setup["hosts"], 1, "dense", 1, fusion,
            overlap, f"{record['measured']['seconds']:.6f}",
            f"{8e-6 * ground['bytes_per_second']:.3f}Mbps", f"{1e6 * ground['latency_seconds']:.1f}us", "gloo",
            "ddp-gloo", "yes")) + "\n"
    return text


def write_traces(records, results):
    """Writes how each model's layers sleep: a layer its share of the operations, two thirds of it in backward. Rows
    have their own time, so that one of the model's stands for all: the longest."""
    longest = sorted((record["setup"] for record in filter(is_plain, records)), key=lambda setup: setup["compute_seconds"])
    for setup in {setup["model"]: setup for setup in longest}.values():
        forecast.write_trace(setup, setup["compute_seconds"], results / f"iteration-{setup['model']}.csv")


def record_of(path):
    """The record in a run's file. Ends the program in one line where a file is not as scripts/prove wrote it."""
    try:
        record = json.loads(path.read_text())
        if record["name"] != path.stem:
            raise ValueError(f"its name is {record['name']!r}")
        lacking = (set(setups.setups()[0]) - set(record["setup"])) | ({"kind"} - set(record["setup"]["event"]))
        if lacking:
            raise ValueError(f"its set-up lacks {', '.join(sorted(lacking))}")
        measured, told, link = record["measured"], record["forecast"], record["ground"]
        low, high = told["interval"]
        if (low is None) != (high is None):
            raise ValueError("its interval has one end")
        for seconds in [*measured["iteration_seconds"], measured["seconds"], told["seconds"],
                        told["physics_seconds"], 1 / link["bytes_per_second"], link["latency_seconds"],
                        1 + record["compute_seconds"], *([] if low is None else [low, high])]:
            if not 0 < seconds < math.inf:
                raise ValueError(f"{seconds} is no time in seconds")
    except (OSError, ArithmeticError, ValueError, KeyError, TypeError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise SystemExit(f"scripts/prove: {path} is no result of this program: {reason}; remove it, and "
                         "prove it again") from None
    return record


def write(root, results):
    """Puts the tables between the page's markers, and the picture beside the page; and the runs that are rows."""
    records = [record_of(path) for path in sorted(results.glob("*.json"))
               if not path.name.endswith(".forecast.json")]
    if not records:
        return
    page = root / "docs" / "proving.md"
    text = page.read_text()
    made = f"{BEGIN}\n{summary(records)}{winners(records)}{own_hooks(records)}\n{table(records)}{END}"
    page.write_text(text[:text.index(BEGIN)] + made + text[text.index(END) + len(END):])
    (root / "docs" / "proving.svg").write_text(picture(records))
    (root / "traces" / "measured-proving.csv").write_text(measured_runs(records))
    write_traces(records, results)
