"""SIGKILL at random moments: nothing is damaged, nothing is half, and the next run ends with the same bytes."""

import os
import shutil

from jobs import JOBS, prepared, state
from program import killed, progress, random, require, run, seconds_of


def soak(kills, folder):
    done = {job.name: 0 for job in JOBS}
    ends = {job.name: 0 for job in JOBS}
    references = {}
    for job in JOBS:
        where = prepared(os.path.join(folder, job.name + "-reference"))
        given = job.visible(where)
        took = seconds_of(job.arguments, where)
        references[job.name] = (state(job, where), took)
        unlisted = {name for name in references[job.name][0] if not name.endswith(".points")} - {*job.files, *given}
        require(not unlisted, f"{job.name}'s list of files lacks {sorted(unlisted)}")
    while sum(done.values()) < kills:
        for job in JOBS:
            if sum(done.values()) >= kills:
                break
            reference, took = references[job.name]
            where = os.path.join(folder, job.name)
            shutil.rmtree(where, ignore_errors=True)
            prepared(where)
            # An old answer in its place, sometimes.
            if random.random() < 0.5:
                for name in job.files:
                    if not job.growing:
                        os.makedirs(os.path.dirname(os.path.join(where, name)), exist_ok=True)
                        with open(os.path.join(where, name), "w") as file:
                            file.write("old\n")
            before = state(job, where)
            # Several kills of one job: each run goes on from what the one before left.
            for _ in range(random.randint(1, 6)):
                if not killed(job.arguments, where, random.uniform(0, 1.05 * took)):
                    break
                done[job.name] += 1
                job.require_whole(where, before, reference)
                before = state(job, where)
                progress(f"{sum(done.values())} of {kills} kills")
                if sum(done.values()) >= kills:
                    break
            run(job.arguments, where)
            ends[job.name] += 1
            after = state(job, where)
            require(sorted(after) == sorted(reference), f"{job.name} leaves {sorted(after)} instead of {sorted(reference)}")
            if job.again:
                for name in reference:
                    require(after[name] == reference[name], f"{job.name}: {name} differs from an undisturbed run's")
            leftovers = [name for _, _, names in os.walk(where) for name in names
                         if ".tmp." in name or name.endswith(".part")]
            require(not leftovers, f"{job.name} leaves {leftovers} after a run to its end")
    progress("")
    for job in JOBS:
        print(f"{job.name:<10} {done[job.name]:4} kills, then {ends[job.name]:3} runs to the end: none damaged, none half"
              + (", the same bytes" if job.again else ", every row whole"))
    print(f"{sum(done.values())} kills")
