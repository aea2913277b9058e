"""Very many forecasts in one pool: memory and open files do not grow with them."""

import os
import time

from program import progress, require, start


def lists(points):
    """About that many combinations."""
    latencies = min(points, 1000)  # the most of one list
    return ["--nodes", ",".join(str(2 + i) for i in range(-(-points // latencies))),
            "--nic-latency", ",".join(f"{i}us" for i in range(1, latencies + 1))]


def processes_of(group):
    """Process numbers of a session."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                if int(fields[3]) == group:
                    found.append(int(name))
            except (FileNotFoundError, ProcessLookupError):
                pass
    return found


def sample(group):
    """For each process: MiB of resident memory, open files."""
    seen = {}
    for process in processes_of(group):
        try:
            with open(f"/proc/{process}/statm") as file:
                pages = int(file.read().split()[1])
            seen[process] = (pages * 4096 / 2**20, len(os.listdir(f"/proc/{process}/fd")))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return seen


def soak(points, folder):
    arguments = ["sweep", "--model", "resnet-50", "--engine", "analytic", *lists(points), "-j", "2", "-q",
                 "-o", "pool.csv"]
    process = start(arguments, folder)
    samples = []
    begin = time.monotonic()
    while process.poll() is None:
        samples.append(sample(process.pid))
        progress(f"{time.monotonic() - begin:.0f} s")
        time.sleep(0.2)
    out, err = process.communicate()
    require(process.returncode == 0, f"the sweep ended with {process.returncode}: {err.decode()[-300:]}")
    progress("")
    with open(os.path.join(folder, "pool.csv")) as file:
        rows = sum(1 for line in file if not line.startswith("#")) - 1
    workers = [s for s in samples if len(s) == 3]  # the parent and two workers
    require(len(workers) >= 8, "the sweep was too short to tell")
    parent = process.pid

    def most(part, which, of):
        return max(value[which] for s in part for number, value in s.items() if of(number))

    early, late = workers[len(workers) // 8:len(workers) // 4], workers[-len(workers) // 4:]
    is_worker = lambda number: number != parent
    for name, which, unit in (("memory", 0, "MiB"), ("open files", 1, "")):
        first, last = most(early, which, is_worker), most(late, which, is_worker)
        print(f"a worker's {name}: {first:.0f} {unit} early, {last:.0f} {unit} at the end")
        require(last <= first * 1.1 + 2, f"a worker's {name} grows from {first} to {last}")
    first, last = most(early, 1, lambda n: n == parent), most(late, 1, lambda n: n == parent)
    print(f"the parent's open files: {first:.0f} early, {last:.0f} at the end")
    require(last <= first, "the parent's open files grow")
    memory = most(workers, 0, lambda n: n == parent)
    print(f"the parent's memory: {memory:.0f} MiB for {rows} answers, {memory * 2**20 / max(rows, 1):.0f} bytes each")
    print(f"{rows} forecasts in {time.monotonic() - begin:.0f} s")
