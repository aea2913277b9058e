"""The commands that keep something: how to run each, what it leaves, and when that is whole."""

import dataclasses
import os
import shutil

from program import content, require, run

MODEL = ["--model", "resnet-50", "--engine", "analytic"]


@dataclasses.dataclass
class Job:
    name: str
    arguments: list
    files: list           # that it leaves
    again: bool = True    # the same bytes whenever it is run to its end
    growing: bool = False  # its file grows while it runs, and holds whole rows at any time

    def visible(self, folder):
        """The names in the folder that are the user's: not our temporary ones."""
        names = []
        for where, _, files in os.walk(folder):
            names += [os.path.relpath(os.path.join(where, name), folder) for name in files]
        return sorted(name for name in names if not (".tmp." in name or name.endswith(".part")))

    def require_whole(self, folder, before, reference):
        """Each file is absent, as it was, or as a run to the end leaves it."""
        for name in self.visible(folder):
            require(name in self.files or name.endswith(".points") or name in before, f"{self.name} left {name}")
        for name in self.files:
            now = content(os.path.join(folder, name))
            if now is None:
                require(name not in before, f"{self.name}: {name} is gone")
            elif self.growing:
                require(now.endswith(b"\n"), f"{self.name}: {name} is cut off")
            else:
                require(now in (before.get(name), reference.get(name)), f"{self.name}: {name} is neither old nor new")


JOBS = [
    Job("sweep", ["sweep", *MODEL, "--compressor", "dense,topk,dgc,gaussian", "--nodes", "1..64",
                  "--nic-bandwidth", "1Gbps..100Gbps", "-j", "2", "-q", "-o", "sweep.json"], ["sweep.json"]),
    Job("fit", ["fit", "--engine", "analytic", "--starts", "3", "-q", "-o", "fit.json", "--save", "."],
        ["fit.json", "platforms/10gbe-4x4-fitted.csv", "platforms/stack-shi2019-table2.csv",
         "traces/cost-v100-pytorch-1.1-fitted.csv"]),
    Job("report", ["report", "given.json", "-o", "report.html"], ["report.html"]),
    Job("timeline", ["simulate", *MODEL, "--fusion", "layer", "--overlap", "yes", "--nodes", "64",
                     "--timeline-ranks", "all", "--timeline", "t.json.gz", "-o", "t.csv"], ["t.json.gz", "t.csv"]),
    Job("calibrate", ["calibrate", "--device", "cpu", "--models", "resnet-20", "--compressors", "gaussian,topk",
                      "--workers", "1", "--seconds", "0.02", "-q", "-o", "costs.csv"], ["costs.csv"],
        again=False, growing=True),
]


def prepared(folder):
    """The folder, with the file that jobs read."""
    os.makedirs(folder, exist_ok=True)
    given = os.path.join(os.path.dirname(folder), "given.json")
    if not os.path.exists(given):
        run(["compare", "--engine", "analytic", "-o", given], folder)
    shutil.copy(given, os.path.join(folder, "given.json"))
    return folder


def state(job, folder):
    return {name: content(os.path.join(folder, name)) for name in job.visible(folder)}
