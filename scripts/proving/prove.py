"""Real trainings on the ground, each forecast before it runs. scripts/prove starts this.

usage: prove.py [--list] [--again] [NAME...]   names of setups.csv; without names, all that have no result
"""
import argparse
import csv
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import ground
import page

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
RESULTS = ROOT / "traces" / "proving"
WARM_UP = 3  # DDP rebuilds its buckets after the first
ITERATIONS = 10
LONGEST = 180  # seconds that a run should take at most
BUSY_SHARE = 0.1  # of the machine, by others, makes a run worthless
TRIES = 3


def rows_of(path):
    """The rows of a CSV file, each a dict. Lines that begin with # are comments."""
    with open(path) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def setups():
    numbers = {"hosts": int, "ranks_per_host": int, "mbit": float, "compute_seconds": float,
               "bucket_mib": int, "accumulation": int}
    return [{key: numbers.get(key, str)(value) for key, value in row.items()}
            for row in rows_of(FOLDER / "setups.csv")]


# The model's layers, as the job and the forecast take them.

def model_of(setup):
    return rows_of(ROOT / "models" / f"{setup['model']}.csv")


def layers_by_name(setup):
    """[[shape of each tensor], seconds forward, seconds backward] of each layer, input to output.

    A layer's share of the compute time is its share of the operations; backward takes two thirds.
    """
    rows = model_of(setup)
    second = setup["compute_seconds"] / sum(float(row["forward_flops"] or 0) for row in rows)
    layers = {}
    for row in rows:
        layer = layers.setdefault(row["layer"], [[], 0.0, 0.0])
        layer[0].append([int(size) for size in (row["shape"] or row["elements"]).split("x")])
        taken = second * float(row["forward_flops"] or 0)
        layer[1] += taken / 3
        layer[2] += 2 * taken / 3
    return layers


def layers_of(setup):
    return list(layers_by_name(setup).values())


def write_trace(setup, compute_seconds, path):
    """An iteration trace: one rank's measured iteration, divided as its layers sleep."""
    scale = compute_seconds / setup["compute_seconds"]
    left = layers_by_name(setup)
    with open(path, "w") as file:
        file.write("# device: sleep\n# batch: 8\n# update: 0s\n"
                   "# Measured: one rank without communication. Its layers sleep.\n"
                   "tensor,forward_seconds,backward_seconds\n")
        for row in model_of(setup):  # a layer's times stand on its first tensor
            _, forward, backward = left.pop(row["layer"], ([], 0, 0))
            file.write(f"{row['tensor']},{forward * scale:.9f},{backward * scale:.9f}\n")


def write_cluster(setup, link, path):
    path.write_text(
        "# Hosts in network namespaces, measured before the run.\nproperty,value,source\n"
        f"nodes,{setup['hosts']},the set-up\ngpus_per_node,{setup['ranks_per_host']},the set-up\n"
        f"nic_bandwidth,{8e-6 * link['bytes_per_second']:.3f}Mbps,measured: a TCP connection while both ends send\n"
        f"nic_latency,{1e6 * link['latency_seconds']:.1f}us,measured: one element by send and receive over Gloo\n"
        f"intra_bandwidth,{link['inside_bytes_per_second'] / 1e9:.4f}GBps,measured: the same inside a host\n"
        f"intra_latency,{1e6 * link['inside_latency_seconds']:.1f}us,the same with one element\n"
        "network_kind,tcp,Gloo over TCP\n")


def write_costs(setup, casts, path):
    """A cost table of the hook's casts."""
    with open(path, "w") as file:
        file.write("# device: sleep\n# implementation: torch\n"
                   "compressor,mode,implementation,tensors,elements,density,workers,distribution,selected,"
                   "encode_seconds,encode_p95_seconds,decode_seconds,decode_p95_seconds,samples,evidence,parameter\n")
        for elements, (encode, decode) in casts["cast_seconds"].items():
            file.write(f"{setup['hook']},,torch,1,{elements},1,1,normal,{elements},{encode:.9f},{encode:.9f},"
                       f"{decode:.9f},{decode:.9f},7,measured,\n")


# Load of the machine by others.

def cpu_times():
    fields = [int(field) for field in open("/proc/stat").readline().split()[1:]]
    return sum(fields), fields[3] + fields[4]


def busy_share(seconds):
    """The share of the machine's cores that work, over so many seconds in which we do nothing."""
    total, idle = cpu_times()
    time.sleep(seconds)
    later, later_idle = cpu_times()
    return 1 - (later_idle - idle) / max(1, later - total)


def wait_until_quiet():
    """The share that others take. Raises RuntimeError if the machine stays busy for a minute."""
    for _ in range(20):
        share = busy_share(3)
        if share <= BUSY_SHARE:
            return share
    raise RuntimeError(f"others keep {share:.0%} of this machine busy (at most {BUSY_SHARE:.0%})")


# Runs.

def launch(job, mbits, ranks_per_host, seconds):
    """Runs job.py on a ground of its own, and returns what rank 0 wrote."""
    ranks = len(mbits) * ranks_per_host
    with tempfile.TemporaryDirectory() as folder, ground.Ground(mbits) as hosts:
        setup, output = os.path.join(folder, "setup.json"), os.path.join(folder, "output.json")
        with open(setup, "w") as file:
            json.dump(job, file)
        processes = []
        logs = [open(os.path.join(folder, f"log-{rank}"), "w+") for rank in range(ranks)]
        for rank in range(ranks):
            environment = {"RANK": str(rank), "WORLD_SIZE": str(ranks), "MASTER_PORT": "29500",
                           "MASTER_ADDR": hosts.address(0), "GLOO_SOCKET_IFNAME": "eth0",
                           "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
            processes.append(hosts.start(rank // ranks_per_host,
                                         [sys.executable, str(FOLDER / "job.py"), setup, output],
                                         environment, logs[rank]))
        end = time.monotonic() + seconds
        for rank, process in enumerate(processes):
            try:
                status = process.wait(max(1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise RuntimeError(f"the run took longer than {seconds:.0f} s") from None
            if status != 0:
                logs[rank].seek(0)
                raise RuntimeError(f"rank {rank} failed: {logs[rank].read().strip().splitlines()[-1:]}")
        with open(output) as file:
            return json.load(file)


def measured_ground(setup):
    """Bandwidth and latency between two hosts, and between two ranks of one."""
    second = int(setup["mbit"] * 1e6 / 8)
    link = launch({"work": "link", "link_bytes": second}, [setup["mbit"]] * 2, 1, 120)
    inside = launch({"work": "link", "link_bytes": 64_000_000}, [setup["mbit"]], 2, 120)
    return {"bytes_per_second": link["bytes_per_second"], "latency_seconds": link["latency_seconds"],
            "inside_bytes_per_second": inside["bytes_per_second"],
            "inside_latency_seconds": inside["latency_seconds"], "torch": link["torch"]}


def training(setup, iterations):
    return {"work": "train", "layers": layers_of(setup), "schedule": setup["schedule"],
            "hook": setup["hook"], "bucket_mib": setup["bucket_mib"],
            "accumulation": setup["accumulation"], "warm_up": WARM_UP, "iterations": iterations}


def forecast(setup, link, compute_seconds, casts, folder):
    """gradcast's forecast, from the ground's measurements and nothing of the run."""
    folder = pathlib.Path(folder)
    write_trace(setup, compute_seconds, folder / "trace.csv")
    write_cluster(setup, link, folder / "ground.csv")
    command = [str(ROOT / "build" / "gradcast"), "simulate", "--model", setup["model"],
               "--trace", "trace.csv", "--cluster", "ground.csv",
               "--stack", "ddp-gloo", "--format", "json", "--quiet",
               "--accumulation", str(setup["accumulation"])]
    if setup["schedule"] == "ddp":
        command += ["--fusion", f"ddp:{setup['bucket_mib']}MiB", "--overlap", "yes"]
    else:
        command += ["--fusion", "merged", "--overlap", "no"]
    if setup["hook"]:
        write_costs(setup, casts, folder / "costs.csv")
        command += ["--compressor", setup["hook"], "--costs", "costs.csv"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder,
                          env={**os.environ, "GRADCAST_CONFIG": "none"})
    if done.returncode != 0:
        raise RuntimeError(f"the forecast failed: {done.stderr.strip()}")
    result = json.loads(done.stdout)["results"][0]
    return {"seconds": result["iteration_seconds"],
            "interval": [result.get("interval_low_seconds"), result.get("interval_high_seconds")],
            "physics_seconds": result.get("physics_seconds", result["iteration_seconds"]),
            "flags": command[2:]}


def prove(setup):
    """Measures the ground, writes the forecast, runs, and returns the whole as a dict."""
    others = wait_until_quiet()
    link = measured_ground(setup)
    alone = launch(training({**setup, "hook": ""}, 5), [setup["mbit"]], 1, LONGEST)
    compute_seconds = statistics.median(alone["iteration_seconds"])
    casts = None
    if setup["hook"]:
        casts = launch({"work": "casts", "hook": setup["hook"],
                        "cast_elements": [4096, 65536, 1 << 20, 1 << 23, 1 << 25, 1 << 27]},
                       [setup["mbit"]], 1, LONGEST)
    with tempfile.TemporaryDirectory() as folder:
        expected = forecast(setup, link, compute_seconds, casts, folder)
    record = {"name": setup["name"], "setup": setup, "ground": link, "compute_seconds": compute_seconds,
              "casts": casts and casts["cast_seconds"],
              "forecast": {**expected, "written": datetime.datetime.now(datetime.timezone.utc).isoformat()}}
    RESULTS.mkdir(exist_ok=True)
    write_whole(RESULTS / f"{setup['name']}.forecast.json", record)
    for _ in range(TRIES):
        others = wait_until_quiet()
        measured = launch(training(setup, ITERATIONS),
                          [setup["mbit"]] * setup["hosts"], setup["ranks_per_host"], 4 * LONGEST)
        after = busy_share(1)
        if after <= BUSY_SHARE:
            break
        print(f"{setup['name']}: disturbed, once more", file=sys.stderr)
    else:
        raise RuntimeError("something else disturbed every run")
    record["measured"] = {"begun": datetime.datetime.now(datetime.timezone.utc).isoformat(),
                          "iteration_seconds": measured["iteration_seconds"],
                          "median_seconds": statistics.median(measured["iteration_seconds"]),
                          "others_share": [others, after]}
    record["versions"] = {"torch": link["torch"], "python": platform.python_version(),
                          "kernel": platform.release(), "cores": os.cpu_count(),
                          "gradcast": commit()}
    write_whole(RESULTS / f"{setup['name']}.json", record)
    (RESULTS / f"{setup['name']}.forecast.json").unlink()
    return record


def commit():
    return subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
                          capture_output=True, text=True).stdout.strip()


def write_whole(path, record):
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(record, indent=1) + "\n")
    temporary.rename(path)


def expected_seconds(setup):
    """About how long a set-up takes, for the one who waits."""
    bits = 32 * sum(int(row["elements"]) for row in model_of(setup))
    ranks = setup["hosts"] * setup["ranks_per_host"]
    on_wire = 2 * (ranks - 1) / ranks * bits / (2 if setup["hook"] else 1) / (setup["mbit"] * 1e6)
    iteration = max(on_wire, setup["compute_seconds"] * setup["accumulation"])
    return 60 + 9 * setup["compute_seconds"] * setup["accumulation"] + (WARM_UP + ITERATIONS) * iteration


def main():
    parser = argparse.ArgumentParser(prog="scripts/prove", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="set-ups of scripts/proving/setups.csv")
    parser.add_argument("--list", action="store_true", help="names, and about how long each takes")
    parser.add_argument("--again", action="store_true", help="also those that have a result")
    parser.add_argument("--page", action="store_true", help="only write docs/proving.md from the results")
    asked = parser.parse_args()
    known = {setup["name"]: setup for setup in setups()}
    for name in asked.names:
        if name not in known:
            parser.error(f"'{name}' is no set-up; --list names them")
    chosen = [known[name] for name in asked.names or known]
    if not asked.again:
        chosen = [setup for setup in chosen if not (RESULTS / f"{setup['name']}.json").exists()]
    if asked.list:
        for setup in known.values():
            print(f"{setup['name']:32} {expected_seconds(setup):5.0f} s")
        return 0
    if not asked.page:
        reason = ground.missing()
        if reason:
            print(f"scripts/prove: skipped: {reason}", file=sys.stderr)
            return 77
        total = sum(expected_seconds(setup) for setup in chosen)
        print(f"scripts/prove: {len(chosen)} runs, about {total / 60:.0f} minutes", file=sys.stderr)
    failed = 0
    for number, setup in enumerate([] if asked.page else chosen, 1):
        try:
            record = prove(setup)
        except RuntimeError as error:
            failed += 1
            print(f"{setup['name']}: {error}", file=sys.stderr)
            continue
        measured, expected = record["measured"]["median_seconds"], record["forecast"]["seconds"]
        print(f"{number}/{len(chosen)} {setup['name']}: measured {measured:.3f} s, forecast {expected:.3f} s "
              f"({100 * (expected / measured - 1):+.1f} %)", flush=True)
    page.write(ROOT, RESULTS)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
