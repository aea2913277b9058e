"""Two of everything at once, on the same files: both end, and the files are as one run leaves them."""

import os
import shutil

from jobs import JOBS, prepared, state
from program import progress, require, run, start


def soak(times, folder):
    for job in JOBS:
        where = prepared(os.path.join(folder, job.name + "-reference"))
        run(job.arguments, where)
        reference = state(job, where)
        codes = []
        for number in range(times):
            both = prepared(os.path.join(folder, job.name + "-both"))
            processes = [start(job.arguments, both) for _ in range(2)]
            for process in processes:
                _, err = process.communicate()
                text = err.decode(errors="replace")
                codes.append(process.returncode)
                require("internal error" not in text, f"two of {job.name}: {text[-300:]}")
                require(process.returncode == 0 or len(text.splitlines()) == 1, f"two of {job.name}: {text[-300:]}")
            after = state(job, both)
            require(sorted(after) == sorted(reference), f"two of {job.name} leave {sorted(after)}")
            if job.again:
                require(after == reference, f"two of {job.name} leave other bytes than one")
            shutil.rmtree(both)
            progress(f"{job.name}: {number + 1} of {times} pairs")
        progress("")
        print(f"{job.name:<10} {times} pairs: {codes.count(0)} of {len(codes)} ended with 0"
              + (", the same bytes" if job.again else ""))
