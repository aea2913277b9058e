"""The proving ground: what a run is forecast from, and that nothing of it stays behind. No PyTorch needed."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "proving"
sys.path.insert(0, str(FOLDER))
import ground  # noqa: E402
import page  # noqa: E402
import prove  # noqa: E402

KILLS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 3


def leftovers(pid):
    names = [line.split()[0] for line in ground.run("ip", "netns", "list", check=False).splitlines() if line]
    names += os.listdir("/sys/class/net")
    return [name for name in names if ground.owner_of(name) == pid]


class Forecasts(unittest.TestCase):
    def test_every_set_up_has_its_model_and_a_name_of_its_own(self):
        setups = prove.setups()
        self.assertEqual(len({setup["name"] for setup in setups}), len(setups))
        for setup in setups:
            self.assertTrue((prove.ROOT / "models" / f"{setup['model']}.csv").exists(), setup["model"])

    def test_layers_sleep_as_long_as_the_set_up_says_backward_twice_as_long_as_forward(self):
        setup = {"model": "resnet-50", "compute_seconds": 1.5}
        layers = prove.layers_of(setup)
        self.assertAlmostEqual(sum(layer[1] for layer in layers), 0.5)
        self.assertAlmostEqual(sum(layer[2] for layer in layers), 1.0)
        elements = 0
        for shapes, _, _ in layers:
            for shape in shapes:
                size = 1
                for side in shape:
                    size *= side
                elements += size
        self.assertEqual(elements, 25_557_032)  # ResNet-50

    def test_the_trace_adds_up_to_the_measured_iteration(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.csv"
            prove.write_trace({"model": "resnet-50", "compute_seconds": 1.0}, 1.2, path)
            rows = prove.rows_of(path)
        total = sum(float(row["forward_seconds"]) + float(row["backward_seconds"]) for row in rows)
        self.assertAlmostEqual(total, 1.2, places=5)
        self.assertEqual(len(rows), 161)

    def test_the_page_counts_errors_and_what_lies_inside(self):
        # Forecasts of 1.1 and 0.8 s for 1 s: +10 and -20 %, in the mean 15, bias -5. The first interval holds 1.
        def record(seconds, low, high):
            return {"name": "x", "forecast": {"seconds": seconds, "physics_seconds": seconds, "interval": [low, high]},
                    "measured": {"median_seconds": 1.0, "iteration_seconds": [0.9, 1.0, 1.1]}}
        records = [record(1.1, 0.9, 1.3), record(0.8, 0.7, 0.9)]
        text = page.summary(records)
        self.assertIn("15.0 % in the mean (bias -5.0 %, worst -20.0 %)", text)
        self.assertIn("1 lie inside", text)
        self.assertIn("| 20.0 % |", page.table(records))  # from 0.9 to 1.1 s


class Leftovers(unittest.TestCase):
    def setUp(self):
        reason = ground.missing()
        if reason:
            self.skipTest(reason)

    def test_names_say_whose_they_are(self):
        self.assertEqual(ground.owner_of("gcp123-4"), 123)
        self.assertIsNone(ground.owner_of("gcp-4"))
        self.assertIsNone(ground.owner_of("eth0"))

    def test_a_link_takes_the_rate_that_it_was_given(self):
        with ground.Ground([100, 40]) as hosts:
            shape = ground.run("ip", "netns", "exec", hosts.host(1), "tc", "qdisc", "show", "dev", "eth0")
            self.assertIn("rate 40Mbit", shape)
            hosts.set_rate(1, 10)
            shape = ground.run("ip", "netns", "exec", hosts.host(1), "tc", "qdisc", "show", "dev", "eth0")
            self.assertIn("rate 10Mbit", shape)
        self.assertEqual(leftovers(os.getpid()), [])

    def test_nothing_is_left_of_a_run_that_was_killed_at_any_moment(self):
        random.seed(2026)
        program = ("import sys, time; sys.path.insert(0, sys.argv[1]); import ground\n"
                   "with ground.Ground([100] * 4) as hosts:\n"
                   "    hosts.start(0, ['sleep', '60'], {}, None); time.sleep(60)\n")
        for first in range(0, KILLS, 4):  # four at once
            begun = [subprocess.Popen([sys.executable, "-c", program, str(FOLDER)], start_new_session=True)
                     for _ in range(min(4, KILLS - first))]
            for process in begun:
                time.sleep(random.uniform(0.05, 0.4))
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            for process in begun:
                end = time.monotonic() + 10
                while time.monotonic() < end and (leftovers(process.pid) or janitors(process.pid)):
                    time.sleep(0.05)
                self.assertEqual(leftovers(process.pid), [])
                self.assertEqual(janitors(process.pid), [])


def janitors(pid):
    """The janitors of a process that still run."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[1:3] == [str(FOLDER / "ground.py").encode(), str(pid).encode()]:
            found.append(folder.name)
    return found


if __name__ == "__main__":
    unittest.main()
