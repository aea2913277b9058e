"""Real trainings on the ground, each forecast before it runs. scripts/prove starts this.

usage: prove.py [--list] [--again] [--quick] [--page] [--now] [NAME...]
NAME: of setups.csv; without names, all that have no result.
"""
import argparse
import datetime
import itertools
import json
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import forecast
import ground
import mpi
import page
import setups

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
RESULTS = ROOT / "traces" / "proving"
PROGRAM = str(ROOT / "build" / "gradcast")
WARM_UP = 3  # DDP rebuilds its buckets after the first
ITERATIONS = 10
LONGEST = 180  # seconds that a run should take at most
BUSY_SHARE = 0.1  # of the machine, by others, makes a run worthless
TRIES = 3
CALIBRATE_FLAGS = {"density": "--densities", "parameter": "--parameters"}
# --quick runs two short set-ups, which the commit's hash draws among those whose recorded iterations lie no further
# apart than its bound: no single run of the others shows whether a forecast is right. And among those that were not
# forecast worse than its smaller bound, so that it fails where something got worse: the page shows the others.
QUICK_RUNS, QUICK_ITERATIONS, QUICK_SECONDS, QUICK_PERCENT, QUICK_RECORDED_PERCENT = 2, 5, 48, 15, 10


# Load of the machine by others.

def cpu_times():
    fields = [int(field) for field in open("/proc/stat").readline().split()[1:]]
    return sum(fields), fields[3] + fields[4]


def busy_since(before):
    """The share of the machine's cores that worked since `before` was taken."""
    (total, idle), (later, later_idle) = before, cpu_times()
    return 1 - (later_idle - idle) / max(1, later - total)


def busy_share(seconds):
    """The share that works over so many seconds in which we do nothing."""
    before = cpu_times()
    time.sleep(seconds)
    return busy_since(before)


class Busy(RuntimeError):
    """Others use the machine, so that a run would measure them."""


def wait_until_quiet():
    """The share that others take. Raises Busy if the machine stays so for a minute."""
    for _ in range(20):
        share = busy_share(3)
        if share <= BUSY_SHARE:
            return share
    raise Busy(f"others keep {share:.0%} of this machine busy (at most {BUSY_SHARE:.0%})")


# Runs.

def start(hosts, ranks_by_host, job, *, folder, port=29500, together=True, progress=""):
    """Starts a job on the hosts: its processes, and the file that rank 0 writes. together: in one world; else each
    rank in a world of its own."""
    host_of = [host for host, count in enumerate(ranks_by_host) for _ in range(count)]
    setup, output = os.path.join(folder, f"setup-{port}.json"), os.path.join(folder, f"output-{port}.json")
    with open(setup, "w") as file:
        json.dump(job, file)
    processes = []
    for rank, host in enumerate(host_of):
        world = {"RANK": str(rank), "WORLD_SIZE": str(len(host_of)), "MASTER_PORT": str(port),
                 "MASTER_ADDR": hosts.address(0)} if together else {
                     "RANK": "0", "WORLD_SIZE": "1", "MASTER_PORT": str(port + rank),
                     "MASTER_ADDR": hosts.address(host)}
        log = open(os.path.join(folder, f"log-{port}-{rank}"), "w+")
        mine = output if together or rank == 0 else f"{output}.{rank}"
        process = hosts.start(host, [sys.executable, str(FOLDER / "job.py"), setup, mine],
                              {**world, "GLOO_SOCKET_IFNAME": "eth0", "OMP_NUM_THREADS": "1",
                               "PYTHONWARNINGS": "ignore", "PROGRESS": progress,
                               "PYTHONPATH": str(ROOT / "python"), "GRADCAST_LIBRARY_DIR": str(ROOT / "build")}, log)
        process.log = log
        processes.append(process)
    return processes, output


def finish(processes, output, end):
    """Waits for all, and returns what rank 0 wrote."""
    for rank, process in enumerate(processes):
        try:
            status = process.wait(max(1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise RuntimeError("the run took too long") from None
        if status != 0:
            process.log.seek(0)
            raise RuntimeError(f"rank {rank} failed: {process.log.read().strip().splitlines()[-1:]}")
    with open(output) as file:
        return json.load(file)


def launch(job, mbits, ranks_by_host, seconds, *, uplink_mbit=0.0, together=True, event=setups.NO_EVENT):
    """Runs job.py on a ground of its own, and returns what rank 0 wrote."""
    with tempfile.TemporaryDirectory() as folder, ground.Ground(mbits, uplink_mbit) as hosts:
        end = time.monotonic() + seconds
        progress = os.path.join(folder, "progress") if event.kind in ("drop", "pause") else ""
        started = [start(hosts, ranks_by_host, job, folder=folder, port=29500 + 100 * number, together=together,
                         progress=progress if number == 0 else "")
                   for number in range(event.factor if event.kind == "jobs" else 1)]
        if progress:
            disturb(hosts, started[0][0], event, progress, end)
        return [finish(*each, end) for each in started][0]


def disturb(hosts, processes, event, progress, end):
    """The event begins with iteration WARM_UP + 2, and ends after its seconds."""
    while not os.path.exists(progress) or os.path.getsize(progress) < WARM_UP + 2:
        if time.monotonic() > end or processes[0].poll() is not None:
            return
        time.sleep(0.005)
    if event.kind == "drop":
        hosts.set_rate(event.who, hosts.mbits[event.who] * event.factor)
        time.sleep(event.seconds)
        hosts.set_rate(event.who, hosts.mbits[event.who])
    else:
        processes[event.who].send_signal(signal.SIGSTOP)
        time.sleep(event.seconds)
        processes[event.who].send_signal(signal.SIGCONT)


def hook_settings(setup):
    """The arguments of `gradcast.torch.hook`, where the hook is gradcast's own; else None."""
    if not setups.is_ours(setup):
        return None
    name, settings = setups.compressor_of(setup)
    return {"compressor": name, **{key: float(value) for key, value in settings.items()}}


def training(setup, iterations):
    layers = [[*layer] for layer in setups.layers_by_name(setup).values()]
    return {"work": "train", "layers": layers, "period": forecast.PERIOD, "warm_up": WARM_UP,
            "iterations": iterations, "hook_settings": hook_settings(setup),
            **{key: setup[key] for key in ("schedule", "hook", "bucket_mib", "accumulation", "ranks_per_host")}}


# Measurements that a forecast knows. Runs that share one take it once.

KNOWN = {}


def once(key, measure):
    """The measurement of that key, made where it is not known yet."""
    if key not in KNOWN:
        KNOWN[key] = measure()
    return KNOWN[key]


def link(mbit):
    """Bandwidth and latency between two hosts."""
    job = {"work": "link", "link_bytes": int(mbit * 1e6 / 8)}
    return once(("link", mbit), lambda: launch(job, [mbit] * 2, [1, 1], LONGEST))


def inside():
    """The same between two ranks of a host, whatever its link."""
    return once("inside", lambda: launch({"work": "link", "link_bytes": 64_000_000}, [1000.0], [2], LONGEST))


def beside_each_other(setup, job):
    """The result of as many ranks as the set-up has, at the same time, none of which sends."""
    return launch(job, [setup["mbit"]] * setup["hosts"], setups.ranks_by_host(setup), LONGEST, together=False)


def compute_seconds(setup):
    """A median iteration of ranks beside each other."""
    # The forecast adds what local SGD does with its peers; without them it is DDP.
    schedule = "ddp" if setup["schedule"] == "local-sgd" else setup["schedule"]
    key = ("compute", setup["model"], *setups.ranks_by_host(setup), setup["compute_seconds"], schedule,
           setup["bucket_mib"], setup["accumulation"])
    job = training({**setup, "hook": "", "schedule": schedule}, 5)
    return statistics.median(once(key, lambda: beside_each_other(setup, job))["iteration_seconds"])


def hook_seconds(setup):
    """The hook's time on each bucket, by its elements, on ranks beside each other. For a hook of ours: the cost
    table of `calibrate`, as lines. None without a hook."""
    if not setup["hook"]:
        return None
    if setups.is_ours(setup):
        return once(("costs", setup["model"], setup["hook"], setups.ranks_of(setup)), lambda: calibrated(setup))
    key = ("hook", setup["model"], setup["hook"], setup["bucket_mib"], *setups.ranks_by_host(setup))
    job = {**training({**setup, "compute_seconds": 0.1, "accumulation": 1}, 5), "work": "hook"}
    return once(key, lambda: beside_each_other(setup, job))["hook_seconds"]


def calibrated(setup):
    """The cost table that `calibrate` makes while as many of it run as the set-up has ranks."""
    name, settings = setups.compressor_of(setup)
    ranks = setups.ranks_of(setup)
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, f"costs-{rank}.csv") for rank in range(ranks)]
        running = [subprocess.Popen(
            [PROGRAM, "calibrate", "--device", "cpu", "--models", setup["model"], "--compressors", name, "--workers",
             str(ranks), "--seconds", "0.2", "--budget", "15s", "--quiet", "--output", file,
             *(word for key, value in settings.items() for word in (CALIBRATE_FLAGS[key], value))],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "GRADCAST_CONFIG": "none"}) for file in files]
        for process in running:
            said = process.communicate(timeout=LONGEST)[1]
            if process.returncode != 0:
                raise RuntimeError(f"calibrate failed: {said.strip()}")
        return pathlib.Path(files[0]).read_text().splitlines()


def job_of(setup, iterations):
    """The job that every rank is told. A straggler's layers sleep longer."""
    event = setup["event"]
    slow = {"rank": event.who, "factor": event.factor} if event.kind == "slow" else None
    return {**training(setup, 3 * forecast.PERIOD if setup["schedule"] == "local-sgd" else iterations),
            "slow": slow}


def summary(setup, seconds, count):
    """The measured number that stands beside the forecast: the median; the mean over whole periods; or the
    sum over the iterations that an event touched."""
    if setup["schedule"] == "local-sgd":
        return statistics.mean(seconds)
    if setup["event"].kind in ("drop", "pause"):
        return sum(seconds[1:1 + count])  # it begins with the second that counts
    return statistics.median(seconds)


def run_collective(setup, iterations):
    """A collective alone, by Gloo or Open MPI."""
    library, kind = setups.collective_of(setup)
    job = {"work": "collective", "collective": kind, "bytes": setups.bytes_of(setup["model"]), "warm_up": WARM_UP,
           "iterations": iterations}
    mbits = [setup["mbit"]] * setup["hosts"]
    if library == "gloo":
        return launch(job, mbits, setups.ranks_by_host(setup), LONGEST)
    with tempfile.TemporaryDirectory() as folder, ground.Ground(mbits) as hosts:
        files = os.path.join(folder, "setup.json"), os.path.join(folder, "output.json")
        with open(files[0], "w") as file:
            json.dump(job, file)
        log = open(os.path.join(folder, "log"), "w+")
        process = hosts.start(0, mpi.mpirun([hosts.address(index) for index in range(len(mbits))], files),
                              {"GROUND": hosts.host(0).rsplit("-", 1)[0]}, log)
        process.log = log
        return finish([process], files[1], time.monotonic() + LONGEST)


def prove(setup, results, iterations=ITERATIONS):
    """Measures what is not known yet, writes the forecast, runs, and returns the whole as a dict, which also
    stands in the folder `results`."""
    wait_until_quiet()
    measured_link = {**{key: link(setup["mbit"])[key] for key in ("bytes_per_second", "latency_seconds", "torch")},
                     "inside_bytes_per_second": inside()["bytes_per_second"],
                     "inside_latency_seconds": inside()["latency_seconds"]}
    trains = not setups.collective_of(setup)
    alone = compute_seconds(setup) if trains else 0
    hook = hook_seconds(setup)
    expected = forecast.forecast(PROGRAM, setup, measured_link, alone, hook)
    record = {"name": setup["name"], "setup": {**setup, "event": setup["event"]._asdict()}, "ground": measured_link,
              "compute_seconds": alone, "hook_seconds": hook,
              "forecast": {**expected, "written": datetime.datetime.now(datetime.timezone.utc).isoformat()}}
    results.mkdir(exist_ok=True)
    write_whole(results / f"{setup['name']}.forecast.json", record)
    event = setup["event"]
    mbits = [setup["mbit"]] * setup["hosts"]
    if event.kind == "rate":
        mbits[event.who] *= event.factor
    for _ in range(TRIES):
        others = wait_until_quiet()
        begun = datetime.datetime.now(datetime.timezone.utc)
        before = cpu_times()
        measured = launch(job_of(setup, iterations), mbits, setups.ranks_by_host(setup), 4 * LONGEST,
                          uplink_mbit=setup["uplink_mbit"], event=event) if trains else run_collective(setup, iterations)
        own = busy_since(before)
        time.sleep(1)  # four processes that end, and their namespaces, keep the kernel busy for a while
        after = busy_share(1)
        if after <= BUSY_SHARE:
            break
        print(f"{setup['name']}: disturbed, once more", file=sys.stderr)
    else:
        raise Busy("something else disturbed every run")
    seconds = measured["iteration_seconds"]
    record["measured"] = {"begun": begun.isoformat(),
                          "iteration_seconds": seconds,
                          "seconds": summary(setup, seconds, expected.get("iterations", 0)),
                          "busy_share": own, "others_share": [others, after]}
    record["versions"] = {"torch": measured_link.pop("torch"), "python": platform.python_version(),
                          "kernel": platform.release(), "cores": os.cpu_count(),
                          "gradcast": commit(), **({"library": measured["library"]} if "library" in measured else {})}
    write_whole(results / f"{setup['name']}.json", record)
    (results / f"{setup['name']}.forecast.json").unlink()
    return record


def forecast_now(names):
    """Says what recorded runs are forecast to take now, from what was measured before each. Changes no record."""
    for name in names or sorted(path.stem for path in RESULTS.glob("*.json")):
        path = RESULTS / f"{name}.json"
        if not path.exists():
            print(f"{name}: no result yet", file=sys.stderr)
            continue
        record = json.loads(path.read_text())
        now = forecast_again(record)
        measured = record["measured"]["seconds"]
        print(f"{name}: measured {measured:.3f} s; " + "; ".join(
            f"{when} {result['seconds']:.3f} ({result['seconds'] / measured - 1:+.1%}), physics alone "
            f"{result['physics_seconds']:.3f} ({result['physics_seconds'] / measured - 1:+.1%})"
            for when, result in (("forecast then", record["forecast"]), ("now", now))), flush=True)
    return 0


def commit():
    return subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
                          capture_output=True, text=True).stdout.strip()


def write_whole(path, record):
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(record, indent=1) + "\n")
    temporary.rename(path)


def quick(known):
    """The short set of this commit. Returns 1 where a set-up is beyond its bound twice in a row."""
    # More ranks than cores would measure how the cores are shared, and take minutes to start.
    short = [name for name, setup in known.items()
             if quick_seconds(setup) <= QUICK_SECONDS and setups.ranks_of(setup) <= (os.cpu_count() or 1)]
    in_order = setups.drawn(short, len(short), commit())
    chosen = sorted(itertools.islice(filter(repeats, in_order), QUICK_RUNS))
    print(f"scripts/prove: {', '.join(chosen)}: about {sum(quick_seconds(known[name]) for name in chosen):.0f} s",
          file=sys.stderr)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            errors = []
            while len(errors) < 2 and (not errors or abs(errors[-1]) > QUICK_PERCENT):
                record = prove(known[name], pathlib.Path(folder), QUICK_ITERATIONS)
                errors.append(page.error_percent(record))
                print(f"{name}: measured {record['measured']['seconds']:.3f} s, forecast "
                      f"{record['forecast']['seconds']:.3f} s ({errors[-1]:+.1f} %, at most {QUICK_PERCENT})", flush=True)
            failed = failed or abs(errors[-1]) > QUICK_PERCENT
    return int(failed)


def repeats(name):
    """Whether the recorded run of a set-up is one that --quick can be held to, as it would be forecast now."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return False
    record = json.loads(path.read_text())
    spread = page.spread_percent(record)
    return (spread is not None and spread <= QUICK_PERCENT
            and abs(page.error_percent({**record, "forecast": forecast_again(record)})) <= QUICK_RECORDED_PERCENT)


def forecast_again(record):
    """The forecast of a recorded run by the program as it is, from what was measured before the run."""
    setup = {**record["setup"], "event": setups.Event(**record["setup"]["event"])}
    return forecast.forecast(PROGRAM, setup, record["ground"], record["compute_seconds"], record["hook_seconds"])


def quick_seconds(setup):
    """About how long a run of --quick takes."""
    iteration, whole = setups.expected_seconds(setup)
    return whole - (ITERATIONS - QUICK_ITERATIONS) * iteration


def prove_all(chosen):
    """Keeps a result for each, and makes the page. Returns 1 where a run failed."""
    total = sum(setups.expected_seconds(setup)[1] for setup in chosen)
    print(f"scripts/prove: {len(chosen)} runs, about {total / 60:.0f} minutes", file=sys.stderr)
    failed = 0
    for number, setup in enumerate(chosen, 1):
        try:
            record = prove(setup, RESULTS)
        except RuntimeError as error:
            failed = 1
            print(f"{setup['name']}: {error}", file=sys.stderr)
            continue
        print(f"{number}/{len(chosen)} {setup['name']}: measured {record['measured']['seconds']:.3f} s, forecast "
              f"{record['forecast']['seconds']:.3f} s ({page.error_percent(record):+.1f} %)", flush=True)
    page.write(ROOT, RESULTS)
    return failed


def main():
    parser = argparse.ArgumentParser(prog="scripts/prove", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="set-ups of scripts/proving/setups.csv")
    parser.add_argument("--list", action="store_true", help="names, and about how long each takes")
    parser.add_argument("--again", action="store_true", help="also those that have a result")
    parser.add_argument("--page", action="store_true", help="only write docs/proving.md from the results")
    parser.add_argument("--now", action="store_true",
                        help="only forecast recorded runs anew, from what was measured then; changes nothing")
    parser.add_argument("--quick", action="store_true",
                        help="two short set-ups that the commit's hash draws, checked and not kept; 77: cannot run here")
    asked = parser.parse_args()
    known = {setup["name"]: setup for setup in setups.setups()}
    for name in asked.names:
        if name not in known:
            parser.error(f"'{name}' is no set-up; --list names them")
    if asked.list:
        for setup in known.values():
            print(f"{setup['name']:40} {setups.expected_seconds(setup)[1]:5.0f} s")
        return 0
    if asked.page:
        page.write(ROOT, RESULTS)
        return 0
    if asked.now:
        return forecast_now(asked.names)
    reason = ground.missing()
    if not reason:
        try:
            return quick(known) if asked.quick else prove_all(
                [known[name] for name in asked.names or known
                 if asked.again or not (RESULTS / f"{name}.json").exists()])
        except Busy as busy:
            reason = busy
    print(f"scripts/prove: skipped: {reason}", file=sys.stderr)
    return 77


if __name__ == "__main__":
    sys.exit(main())
