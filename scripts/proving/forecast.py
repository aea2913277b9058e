"""gradcast's forecast of a set-up, from measurements of the ground and of one rank, and nothing of the run."""
import functools
import json
import os
import pathlib
import subprocess
import tempfile

import setups

# Iterations between two averages of local SGD.
PERIOD = 4


def write_trace(setup, compute_seconds, path):
    """An iteration trace: the measured iteration without communication, divided as the layers sleep."""
    scale = compute_seconds / setup["compute_seconds"]
    left = setups.layers_by_name(setup)
    with open(path, "w") as file:
        file.write("# device: sleep\n# batch: 8\n# update: 0s\n"
                   "# Measured: ranks that train beside each other, without communication. Layers sleep.\n"
                   "tensor,forward_seconds,backward_seconds\n")
        for row in setups.model_of(setup):  # a layer's times stand on its first tensor
            layer = left.pop(row["layer"], None)
            forward, backward = (layer.forward, layer.backward) if layer else (0, 0)
            file.write(f"{row['tensor']},{forward * scale:.9f},{backward * scale:.9f}\n")


def write_cluster(setup, link, path):
    rows = [
        ("nodes", setup["hosts"], "the set-up"),
        ("gpus_per_node", setups.ranks_by_host(setup)[0], "the set-up"),
        ("nic_bandwidth", f"{8e-6 * link['bytes_per_second']:.3f}Mbps",
         "measured: a TCP connection while both ends send"),
        ("nic_latency", f"{1e6 * link['latency_seconds']:.1f}us",
         "measured: one element by send and receive over Gloo"),
        ("intra_bandwidth", f"{link['inside_bytes_per_second'] / 1e9:.4f}GBps",
         "measured: the same inside a host"),
        ("intra_latency", f"{1e6 * link['inside_latency_seconds']:.1f}us", "the same with one element"),
        ("network_kind", "tcp", "Gloo over TCP"),
    ]
    rows += [(f"gpus_per_node@{host}", ranks, "the set-up")
             for host, ranks in enumerate(setups.ranks_by_host(setup)) if ranks != setups.ranks_by_host(setup)[0]]
    if setup["uplink_mbit"]:
        share = setup["uplink_mbit"] / setup["mbit"]
        rows += [("nodes_per_leaf", setup["hosts"] // 2, "the set-up"),
                 ("leaf_uplink_bandwidth", f"{8e-6 * link['bytes_per_second'] * share:.3f}Mbps",
                  "that of a host by the ratio of the rates")]
    path.write_text("# Hosts in network namespaces, measured before the run.\nproperty,value,source\n" +
                    "".join(f"{name},{value},{source}\n" for name, value, source in rows))


def write_costs(setup, hook_seconds, path):
    """A cost table of what a hook of PyTorch takes on a bucket of one rank, until it sends and after; of a hook of
    ours what `calibrate` wrote."""
    if setups.is_ours(setup):
        path.write_text("\n".join(hook_seconds) + "\n")
        return
    name, settings = setups.compressor_of(setup)
    parameter = settings.get("parameter", "")
    with open(path, "w") as file:
        file.write("# device: sleep\n# implementation: torch\n"
                   "compressor,mode,implementation,tensors,elements,density,workers,distribution,selected,"
                   "encode_seconds,encode_p95_seconds,decode_seconds,decode_p95_seconds,samples,evidence,parameter\n")
        for elements, (encode, decode) in sorted(hook_seconds.items(), key=lambda item: int(item[0])):
            file.write(f"{name},,torch,1,{elements},1,1,normal,{elements},{encode:.9f},{encode:.9f},"
                       f"{decode:.9f},{decode:.9f},7,measured,{parameter}\n")


def schedule_flags(setup):
    kind = setup["schedule"]
    size = "" if setup["bucket_mib"] == 25 else f":{setup['bucket_mib']}MiB"
    buckets = ("ddp-find-unused" if kind == "find-unused" else "ddp") + size
    if kind in ("ddp", "static-graph", "find-unused", "local-sgd"):
        return ["--fusion", buckets, "--overlap", "yes"]
    if kind == "merged":
        return ["--fusion", "merged", "--overlap", "no"]
    if kind == "zero1":
        return ["--sharding", "zero1", "--fusion", buckets, "--overlap", "yes"]
    # On the CPU FSDP2 has no streams: each gather and scatter blocks (_fsdp_collectives.py).
    return ["--sharding", kind, "--overlap", "no"]


def events_of(setup, elapsed):
    """The lines of an events file for an iteration that begins so long after the event did."""
    event = setup["event"]
    if event.kind == "slow":
        return [f"speed,rank {event.who},0s,,{100 / event.factor:.4f}%"]
    if event.kind == "rate":
        return [f"bandwidth,node{event.who}.nic0,0s,,{100 * event.factor:.4f}%"]
    left = event.seconds - elapsed
    if left <= 0:
        return []
    if event.kind == "drop":
        return [f"bandwidth,node{event.who}.nic0,0s,{left:.6f}s,{100 * event.factor:.4f}%"]
    if event.kind == "pause":
        return [f"pause,rank {event.who},0s,{left:.6f}s,"]
    raise ValueError(event.kind)


def ask(program, flags, folder):
    done = subprocess.run([program, "simulate", *flags, "--format", "json", "--quiet"], capture_output=True,
                          text=True, cwd=folder, env={**os.environ, "GRADCAST_CONFIG": "none"})
    if done.returncode != 0:
        raise RuntimeError(f"the forecast failed: {done.stderr.strip()}")
    result = json.loads(done.stdout)["results"][0]
    return {"seconds": result["iteration_seconds"],
            "interval": [result.get("interval_low_seconds"), result.get("interval_high_seconds")],
            "physics_seconds": result.get("physics_seconds", result["iteration_seconds"])}


def forecast(program, setup, link, compute_seconds, hook_seconds):
    """Seconds, their 90 % interval, physics alone, and the flags. Of an event that ends (`drop`,
    `pause`) the seconds are of all iterations that it touches, and `iterations` says how many."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if setups.collective_of(setup):
            library, kind = setups.collective_of(setup)
            write_cluster(setup, link, folder / "ground.csv")
            flags = ["--payload", setup["model"], "--cluster", "ground.csv", "--stack", "none",
                     "--collective", library if kind == "all-reduce" else f"{library}-{kind}"]
            return {**ask(program, flags, folder), "flags": flags}
        write_trace(setup, compute_seconds, folder / "trace.csv")
        write_cluster(setup, link, folder / "ground.csv")
        flags = ["--model", setup["model"], "--trace", "trace.csv", "--cluster", "ground.csv",
                 "--stack", "ddp-gloo", "--collective", "gloo", "--framework-in-compute", "yes",
                 "--broadcast-buffers", "no",  # as job.py tells DDP
                 "--nic-share", "100%",  # the rate was measured through TCP itself
                 "--accumulation", str(setup["accumulation"]), *schedule_flags(setup)]
        if setup["hook"]:
            write_costs(setup, hook_seconds, folder / "costs.csv")
            compressor, settings = setups.compressor_of(setup)
            flags += ["--compressor", compressor, "--costs", "costs.csv"]
            flags += [word for name, value in settings.items() for word in (f"--{name}", value)]
        event = setup["event"]
        if event.kind == "jobs":
            flags += ["--concurrent-jobs", str(event.factor)]

        @functools.cache
        def once(elapsed=0.0):
            lines = events_of(setup, elapsed) if event.kind not in ("", "jobs") else []
            if not lines:
                return ask(program, flags, folder)
            (folder / "events.csv").write_text("event,target,at,lasting,value\n" + "\n".join(lines) + "\n")
            return ask(program, [*flags, "--events", "events.csv"], folder)

        if event.kind in ("drop", "pause"):
            return {**over_iterations(once, event.seconds), "flags": flags}
        if setup["schedule"] == "local-sgd":
            flags[flags.index("--fusion"):] = ["--fusion", "merged", "--overlap", "no"]
            return {**averaged(once(), compute_seconds), "flags": flags}
        return {**once(), "flags": flags}


def over_iterations(once, lasting):
    """All iterations that an event touches, one after the other, each with what is left of it."""
    parts = {}
    for key, pick in (("seconds", lambda r: r["seconds"]), ("physics_seconds", lambda r: r["physics_seconds"]),
                      ("low", lambda r: r["interval"][0]), ("high", lambda r: r["interval"][1])):
        elapsed, iterations = 0.0, 0
        while elapsed < lasting:
            elapsed += pick(once(elapsed))
            iterations += 1
        parts[key], parts[f"{key}_iterations"] = elapsed, iterations
    usual = once(lasting)
    # An interval of another number of iterations is brought to that of the forecast by usual ones.
    count = parts["seconds_iterations"]
    low = parts["low"] + (count - parts["low_iterations"]) * usual["interval"][0]
    high = parts["high"] + (count - parts["high_iterations"]) * usual["interval"][1]
    physics = parts["physics_seconds"] + (count - parts["physics_seconds_iterations"]) * usual["physics_seconds"]
    return {"seconds": parts["seconds"], "physics_seconds": physics, "interval": [low, high], "iterations": count}


def averaged(synchronous, compute_seconds):
    """Local SGD: of PERIOD iterations one averages all parameters, in one all-reduce."""
    def mean(seconds):
        return ((PERIOD - 1) * compute_seconds + seconds) / PERIOD
    return {"seconds": mean(synchronous["seconds"]), "physics_seconds": mean(synchronous["physics_seconds"]),
            "interval": [mean(end) for end in synchronous["interval"]]}
