"""A small disk that fills up at a random byte: the old file is kept, and one line says what happened."""

import os
import shutil
import subprocess

from jobs import JOBS, prepared, state
from program import progress, random, require, run


def free_bytes(folder):
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


def fill(folder, leave):
    with open(os.path.join(folder, "ballast"), "wb") as file:
        file.write(b"\0" * max(0, free_bytes(folder) - leave))


def soak(times, folder):
    disk = os.path.join(folder, "disk")
    os.makedirs(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk], capture_output=True).returncode != 0:
        print("skipped: a small disk needs the right to mount one (root)")
        return
    try:
        full(times, folder, disk)
    finally:
        subprocess.run(["umount", disk], check=False)


def full(times, folder, disk):
    jobs = [job for job in JOBS if job.again]
    sizes = {}
    for job in jobs:
        where = prepared(os.path.join(folder, job.name + "-reference"))
        run(job.arguments, where)
        sizes[job.name] = state(job, where)
    refused = {job.name: 0 for job in jobs}
    ended = {job.name: 0 for job in jobs}
    for number in range(times):
        job = jobs[number % len(jobs)]
        reference = sizes[job.name]
        where = os.path.join(disk, "work")
        os.makedirs(where)
        shutil.copy(os.path.join(folder, "given.json"), where)
        for name in job.files:
            os.makedirs(os.path.dirname(os.path.join(where, name)), exist_ok=True)
            with open(os.path.join(where, name), "w") as file:
                file.write("old\n")
        before = state(job, where)
        needed = sum(len(text) for text in reference.values())
        fill(disk, random.randint(0, int(1.3 * needed)))
        code, err = run(job.arguments, where, exit_codes=(0, 1))
        if code == 0:
            ended[job.name] += 1
        else:
            refused[job.name] += 1
            lines = [line for line in err.splitlines() if "No space left on device" in line]
            require(len(lines) == 1 and "internal error" not in err, f"{job.name} on a full disk: {err[-300:]}")
        job.require_whole(where, before, reference)
        left = [name for _, _, names in os.walk(where) for name in names if ".tmp." in name]
        require(not left, f"{job.name} leaves {left} on a full disk")
        # With room again the same command ends as ever.
        os.remove(os.path.join(disk, "ballast"))
        run(job.arguments, where)
        for name in reference:
            require(state(job, where)[name] == reference[name], f"{job.name}: {name} differs after a full disk")
        shutil.rmtree(where)
        progress(f"{number + 1} of {times} disks")
    progress("")
    for job in jobs:
        print(f"{job.name:<10} {refused[job.name]:3} times no room, {ended[job.name]:3} times just enough: "
              "old files kept or new ones whole; with room again the same bytes")
    print(f"{times} full disks")
