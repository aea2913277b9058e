"""The proving ground: what a run is forecast from, and that nothing of it stays behind. No PyTorch needed."""
import json
import math
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
import forecast  # noqa: E402
import ground  # noqa: E402
import page  # noqa: E402
import setups  # noqa: E402

KILLS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 3


def leftovers(pid):
    names = [line.split()[0] for line in ground.run("ip", "netns", "list", check=False).splitlines() if line]
    names += os.listdir("/sys/class/net")
    return [name for name in names if ground.owner_of(name) == pid]


class Forecasts(unittest.TestCase):
    def test_every_set_up_has_its_model_and_a_name_of_its_own(self):
        known = setups.setups()
        self.assertEqual(len({setup["name"] for setup in known}), len(known))
        for setup in known:
            if setups.collective_of(setup):
                self.assertGreater(setups.bytes_of(setup["model"]), 0)
                continue
            self.assertTrue((setups.ROOT / "models" / f"{setup['model']}.csv").exists(), setup["model"])

    def test_a_collective_alone_is_named_by_library_and_kind(self):
        self.assertEqual(setups.collective_of({"schedule": "open-mpi-all-gather"}), ("open-mpi", "all-gather"))
        self.assertIsNone(setups.collective_of({"schedule": "ddp"}))
        self.assertEqual(setups.bytes_of("16MiB"), 16_777_216)

    def test_a_hook_of_ours_says_its_settings(self):
        setup = {"hook": "gradcast-topk:density=0.01"}
        self.assertEqual(setups.compressor_of(setup), ("topk", {"density": "0.01"}))
        self.assertTrue(setups.is_ours(setup))
        self.assertEqual(setups.compressor_of({"hook": "powersgd4"}), ("powersgd", {"parameter": "4"}))
        self.assertIn("resnet-50-2-300-gradcast-topk-0.01", [setup["name"] for setup in setups.setups()])

    def test_layers_sleep_as_long_as_the_set_up_says_backward_twice_as_long_as_forward(self):
        layers = setups.layers_by_name({"model": "resnet-50", "compute_seconds": 1.5}).values()
        self.assertAlmostEqual(sum(layer.forward for layer in layers), 0.5)
        self.assertAlmostEqual(sum(layer.backward for layer in layers), 1.0)
        self.assertEqual(sum(math.prod(shape) for layer in layers for shape in layer.shapes), 25_557_032)  # ResNet-50

    def test_the_trace_adds_up_to_the_measured_iteration(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.csv"
            forecast.write_trace({"model": "resnet-50", "compute_seconds": 1.0}, 1.2, path)
            rows = setups.rows_of(path)
        total = sum(float(row["forward_seconds"]) + float(row["backward_seconds"]) for row in rows)
        self.assertAlmostEqual(total, 1.2, places=5)
        self.assertEqual(len(rows), 161)

    def test_hosts_may_have_unequal_numbers_of_ranks(self):
        equal, unequal = ({"hosts": 2, "ranks_per_host": setups.parse_ranks(text), "mbit": 200, "uplink_mbit": 0}
                          for text in ("2", "2+1"))
        self.assertEqual((setups.ranks_by_host(equal), setups.ranks_of(equal)), ([2, 2], 4))
        self.assertEqual((setups.ranks_by_host(unequal), setups.ranks_of(unequal)), ([2, 1], 3))
        self.assertIn("resnet-50-2+1-200", [setup["name"] for setup in setups.setups()])
        link = {key: 1e6 for key in ("bytes_per_second", "latency_seconds", "inside_bytes_per_second",
                                     "inside_latency_seconds")}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ground.csv"
            forecast.write_cluster(unequal, link, path)
            values = {row["property"]: row["value"] for row in setups.rows_of(path)}
            self.assertEqual((values["gpus_per_node"], values["gpus_per_node@1"]), ("2", "1"))
            forecast.write_cluster(equal, link, path)
            self.assertNotIn("@", path.read_text())
        self.assertEqual([page.hosts_in_words(ranks) for ranks in ((1, 1, 1), (2, 2), (2, 1))],
                         ["3", "2 x 2", "2 + 1"])

    def test_an_event_that_ends_is_forecast_iteration_by_iteration(self):
        # A pause of 5 s, then iterations of 3 s: the first ends after 5 + 3 = 8 s, and touches one. A drop that lasts
        # 20 s, with iterations of 12 s: the second has 8 s of it left, and takes 3 + 8 * 3/4 = 9 s.
        def result(seconds):
            return {"seconds": seconds, "physics_seconds": seconds, "interval": [seconds, seconds]}
        pause = forecast.over_iterations(lambda elapsed: result(3 + max(0, 5 - elapsed)), 5)
        self.assertEqual((pause["seconds"], pause["iterations"]), (8, 1))
        drop = forecast.over_iterations(lambda elapsed: result(12 if elapsed == 0 else 9), 20)
        self.assertEqual((drop["seconds"], drop["interval"], drop["iterations"]), (21, [21, 21], 2))

    def test_local_sgd_averages_once_in_four_iterations(self):
        # Three of 1 s, and one of 5 s: 2 s in the mean.
        synchronous = {"seconds": 5, "physics_seconds": 5, "interval": [5, 9]}
        self.assertEqual(forecast.averaged(synchronous, 1), {"seconds": 2, "physics_seconds": 2, "interval": [2, 3]})

    def test_what_is_drawn_depends_on_the_seed_and_not_on_the_order(self):
        names = [setup["name"] for setup in setups.setups()]
        drawn = setups.drawn(names, 20, 20261125)
        self.assertEqual(len(drawn), 20)
        self.assertEqual(drawn, setups.drawn(reversed(names), 20, 20261125))
        self.assertNotEqual(drawn, setups.drawn(names, 20, 20261126))


class Page(unittest.TestCase):
    @staticmethod
    def record(seconds, measured=1.0, hook="", interval=(0.9, 1.3)):
        return {"name": "x", "forecast": {"seconds": seconds, "physics_seconds": seconds, "interval": list(interval)},
                "setup": {"event": {"kind": ""}, "schedule": "ddp", "hook": hook, "model": "m", "hosts": 2, "mbit": 300,
                          "ranks_per_host": 1, "compute_seconds": 1, "accumulation": 1, "uplink_mbit": 0,
                          "bucket_mib": 25},
                "measured": {"seconds": measured, "iteration_seconds": [0.9 * measured, measured, 1.1 * measured]}}

    def test_it_counts_errors_and_what_lies_inside(self):
        # Forecasts of 1.1 and 0.8 s for 1 s: +10 and -20 %, in the mean 15, bias -5. The first interval holds 1.
        records = [self.record(1.1), self.record(0.8, interval=(0.7, 0.9))]
        text = page.summary(records)
        self.assertIn("15.0 % in the mean (bias -5.0 %, worst -20.0 %)", text)
        self.assertIn("1 lie inside", text)
        self.assertIn("| 20.0 % |", page.table(records))  # from 0.9 to 1.1 s

    def test_it_counts_the_orders_that_are_right_and_leaves_ties_out(self):
        # Measured 1, 2 and 2.04 s; the last two are 2 % apart. Forecast 1, 3 and 0.5 s: one of two pairs is right.
        records = [self.record(1.0), self.record(3.0, 2.0), self.record(0.5, 2.04)]
        self.assertEqual(page.orders(records), (1, 2))

    def test_the_map_names_the_fastest_measured_and_forecast(self):
        text = page.winners([self.record(1.0, 2.0), self.record(1.5, 1.8, "fp16")])
        self.assertIn("| m | 2 | 300 | 2.00, 1.00 | 1.80, 1.50 |  | fp16 | none |", text)

    def test_the_runs_on_fast_links_that_judge_are_rows_of_another_source(self):
        judge, other = page.held_out()[0], setups.setups()[0]["name"]
        records = [{**self.record(1.0), "name": name, "compute_seconds": 1.0,
                    "ground": {"bytes_per_second": 1e8, "latency_seconds": 1e-4}} for name in (judge, other)]
        rows = [line.split(",")[0] for line in page.measured_runs(records).splitlines() if not line.startswith("#")]
        self.assertEqual(rows, ["source", "proving-ground-held-out", "proving-ground"])
        self.assertEqual(len(page.held_out()), 8)

    def test_a_result_that_is_damaged_ends_it_in_one_line(self):
        whole = (FOLDER.parent.parent / "traces" / "proving" / "16MiB-2-200-gloo-all-gather.json").read_text()
        seconds = json.loads(whole)["measured"]["seconds"]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "16MiB-2-200-gloo-all-gather.json"
            path.write_text(whole)
            self.assertEqual(page.record_of(path)["measured"]["seconds"], seconds)
            for text, reason in ((whole[:100], "Unterminated string"), ("", "Expecting"), ("[]", "list indices"),
                                 (whole.replace('"measured"', '"mesured"'), "it lacks 'measured'"),
                                 (whole.replace('"mbit"', '"rate"'), "its set-up lacks mbit"),
                                 (whole.replace(f'"seconds": {seconds}', '"seconds": NaN'), "nan is no time"),
                                 (whole.replace(f'"seconds": {seconds}', '"seconds": 0'), "0 is no time"),
                                 (whole.replace("16MiB-2-200-gloo", "x"), "its name is 'x-all-gather'")):
                path.write_text(text)
                with self.assertRaises(SystemExit) as ended:
                    page.record_of(path)
                self.assertIn(reason, str(ended.exception))
                self.assertNotIn("\n", str(ended.exception))


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
