#!/usr/bin/env python3
"""A wheel, as a user makes and installs it: its CPU seconds, and a virtual environment that has nothing else.

A wheel compiles whole rooms and several rooms as one file, which no other build does. Where ccache stands before the
compiler it is switched off.
usage: wheel_test.py       some minutes
"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_CPU_SECONDS = 240
# A machine whose neighbours use its memory takes three times as long: there one known file is the measure. A wheel
# took 46 to 59 times as long as this file (320 and 7.0 CPU seconds, 305 and 5.2), and fails from 75 times on.
MOST_OF_KNOWN = 75
THREE_LINES = """
import gradcast as gc
f = gc.forecast(model="resnet-50", cluster="dgx-a100", nodes=16, compressor="powersgd")
print(gc.__file__, f.seconds, f.interval.low <= f.seconds <= f.interval.high)
"""


def cpu_seconds(*words, **more):
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = spent()
    done = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1500, **more)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stdout[-3000:]}")
    return spent() - before, done.stdout


class Wheel(unittest.TestCase):
    def test_it_compiles_in_four_cpu_minutes_and_needs_nothing_but_python(self):
        alone = {name: value for name, value in os.environ.items()
                 if not name.startswith(("PYTHON", "GRADCAST", "CMAKE_CXX_COMPILER_LAUNCHER"))}
        alone["CCACHE_DISABLE"] = "1"
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            spent, _ = cpu_seconds(str(ROOT / "scripts/wheel"), folder, env=alone)
            took = time.monotonic() - began
            _, said = cpu_seconds("bash", "-c", ". scripts/packages.sh; cpu_seconds_of_known_file", cwd=ROOT, env=alone)
            known = float(said)
            print(f"the wheel took {spent:.0f} CPU seconds, {took:.0f} s on {os.cpu_count()} cores; "
                  f"one file with <regex> {known:.1f} CPU seconds")
            wheel, = pathlib.Path(folder).glob("gradcast-*.whl")
            own = pathlib.Path(folder) / "own"
            cpu_seconds(sys.executable, "-m", "venv", str(own))
            cpu_seconds(str(own / "bin/pip"), "install", "--no-index", str(wheel), env=alone)
            _, said = cpu_seconds(str(own / "bin/python"), "-c", THREE_LINES, env=alone, cwd=folder)
            self.assertTrue(said.startswith(str(own)), said)
            self.assertTrue(said.endswith(" True\n"), said)
            _, said = cpu_seconds(str(own / "bin/gradcast"), "--version", env=alone, cwd=folder)
            self.assertRegex(said, r"^gradcast \d+\.\d+\.\d+")
            if spent > MOST_CPU_SECONDS:
                self.assertLess(spent, MOST_OF_KNOWN * known, "the wheel costs too much, also for this machine")


if __name__ == "__main__":
    unittest.main()
