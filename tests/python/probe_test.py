#!/usr/bin/env python3
"""gradcast.probe on two Gloo processes. Needs torch; exits with 77 where it is not."""
import contextlib
import io
import json
import math
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from unittest import mock

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import torch
    import torch.distributed as dist
except ImportError:
    print("skipped: no torch")
    sys.exit(77)
if not dist.is_available() or not dist.is_gloo_available():
    print("skipped: a torch without Gloo")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import gradcast  # noqa: E402
import gradcast.probe  # noqa: E402
from gradcast.probe import _forecast, _networks, _probe, _steps  # noqa: E402

TIMEOUT = 100  # seconds, of a world
STEPS = """
import os
import torch

def net():
    return torch.nn.Sequential(torch.nn.Linear(64, 300), torch.nn.ReLU(), torch.nn.Linear(300, 10))

def step():
    return net(), torch.randn(8, 64), lambda output: output.square().mean()

class Dies(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = net()
    def forward(self, x):
        if os.environ["RANK"] == "1" and os.path.exists("die"):
            os._exit(3)
        return self.inner(x)

def dies():
    return Dies(), torch.randn(8, 64)

def number():
    return 7

def no_optimizer():
    return net(), torch.randn(8, 64), None, 7

def own_gradients():
    its = net()
    return its, torch.randn(8, 64), None, torch.optim.LBFGS(its.parameters())

def of_another():
    return net(), torch.randn(8, 64), None, torch.optim.SGD(net().parameters(), lr=0.1)

def no_rate():
    its = net()
    optimizer = torch.optim.SGD(its.parameters(), lr=0.1)
    optimizer.param_groups[0]["lr"] = None
    return its, torch.randn(8, 64), None, optimizer

def no_net():
    return "net", torch.randn(8, 64)

def no_loss():
    return net(), torch.randn(8, 64), 3

def fails():
    raise ValueError("no data here\\nmore of it")

def sparse():
    return torch.nn.EmbeddingBag(9, 3, sparse=True), torch.ones(4, 2, dtype=torch.int64)

def misfits():
    return net(), torch.randn(8, 65)
"""


class World:
    """Two probes at work in a folder; what rank 0 printed so far."""

    def __init__(self, folder, *words, size=2):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        self.text, self.errors = "", [tempfile.TemporaryFile("w+") for _ in range(size)]
        self.processes = [
            subprocess.Popen(
                [sys.executable, "-m", "gradcast.probe", *words], cwd=folder, text=True, bufsize=1,
                stdout=subprocess.PIPE if rank == 0 else subprocess.DEVNULL, stderr=self.errors[rank],
                env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1",
                     "MASTER_PORT": port, "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1",
                     "GLOO_SOCKET_IFNAME": "lo"})
            for rank in range(size)]
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        while True:
            piece = self.processes[0].stdout.read(1)
            if not piece:
                return
            self.text += piece

    def wait_for(self, pattern):
        end = time.monotonic() + TIMEOUT
        while not re.search(pattern, self.text) and self.processes[0].poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        return re.search(pattern, self.text)

    def codes(self):
        try:
            return [process.wait(TIMEOUT) for process in self.processes]
        finally:
            for process in self.processes:
                process.kill()
            self.reader.join()
            self.processes[0].stdout.close()

    def error_lines(self):
        lines = []
        for file in self.errors:
            file.seek(0)
            # PyTorch's own warnings begin with [W.
            lines += [line for line in file.read().splitlines() if line and not line.startswith("[")]
            file.close()
        return lines


class HostBeside:
    """Forecasts all-reduces of two hosts whose stack has a host of 4 Gbit/s beside the NIC."""

    def forecast(self, payload, cluster, nic_bandwidth=None, **_):
        lines = [line.split(",") for line in cluster.text.splitlines() if line[0] not in "#p"]
        said = {line[0]: line[1] for line in lines}
        nic = float((nic_bandwidth or said["nic_bandwidth"])[:-len("Mbps")]) * 1e6 / 8
        host = said.get("host_bandwidth", "4000Mbps")
        rate = 1 / math.hypot(1 / nic, 8e-6 / float(host[:-len("Mbps")]))
        latency = 1e-6 * float(said["nic_latency"][:-len("us")])
        return types.SimpleNamespace(seconds=2 * latency + float(payload[:-1]) / rate)


class Links(unittest.TestCase):
    def fitted(self, gbit):
        # Two ranks send what they have once, in two halves: 4 KiB take 0.2 ms of latency.
        rows = [{"collective": "all-reduce", "where": "hosts", "ranks": 2, "bytes": size,
                 "seconds": 2e-4 + size * 8e-9 / gbit} for size in (4096, 64 << 20)]
        with mock.patch.object(_forecast, "Forecaster", HostBeside):
            rate, latency, _, as_fast = _forecast.fitted(rows, "hosts", "ddp-gloo", "gloo")
        self.assertAlmostEqual(latency, 1e-4, delta=2e-6)
        return 8e-9 * rate, as_fast

    def test_a_nic_beside_the_stacks_host_is_as_fast_as_what_was_measured_says(self):
        # 1 / hypot(1 / 3, 1 / 4) = 2.4 Gbit/s.
        rate, as_fast = self.fitted(2.4)
        self.assertAlmostEqual(rate, 3, delta=0.03)
        self.assertFalse(as_fast)

    def test_a_fast_nic_beside_the_stacks_host_is_found_too(self):
        # 1 / hypot(1 / 7.23, 1 / 4) = 3.5 Gbit/s.
        rate, as_fast = self.fitted(3.5)
        self.assertAlmostEqual(rate, 7.23, delta=0.1)
        self.assertFalse(as_fast)

    def test_a_rate_beyond_the_stacks_host_makes_a_host_as_fast_as_its_nic(self):
        # 1 / hypot(1 / 7.07, 1 / 7.07) = 5 Gbit/s, and no NIC beside 4 Gbit/s gives that.
        rate, as_fast = self.fitted(5)
        self.assertAlmostEqual(rate, 50 ** 0.5, delta=0.05)
        self.assertTrue(as_fast)


class Steps(unittest.TestCase):
    def test_the_users_optimizer_steps_and_changes_no_weight(self):
        for make, name in ((lambda its: torch.optim.AdamW(its, lr=0.1), "adam"),
                           (lambda its: torch.optim.Adam(its, lr=torch.tensor(0.1), fused=True), "adam, fused"),
                           (lambda its: torch.optim.SGD(its, lr=0.1, momentum=0.9, weight_decay=0.1), "momentum"),
                           (lambda its: torch.optim.SGD(its, lr=0.1), "sgd"),
                           (lambda its: torch.optim.RMSprop(its, lr=0.1), "RMSprop"), (None, "sgd")):
            net = torch.nn.Linear(3, 2)
            optimizer = make(net.parameters()) if make else None
            before = [parameter.detach().clone() for parameter in net.parameters()]
            step = _steps.Step(net, torch.ones(4, 3), None, optimizer, None)
            step.prepare([])
            for _ in range(2):
                step.once(net)
            self.assertEqual(step.optimizer_name, name)
            self.assertIs(step.optimizer, optimizer or step.optimizer)
            for parameter, its in zip(net.parameters(), before):
                self.assertTrue(torch.equal(parameter, its), name)
                self.assertIsNotNone(parameter.grad)


class Probes(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "tiny.py").write_text(STEPS)

    def test_forecasts_come_first_and_the_folder_is_what_gradcast_reads(self):
        world = World(self.folder, "tiny:step", "--budget", "20", "--hooks", "topk:0.02", "--output", "mine")
        self.assertTrue(world.wait_for(r"2 ranks, DDP: forecast [0-9.]+ s"), world.text)
        self.assertEqual(world.codes(), [0, 0], world.text)
        self.assertEqual(world.error_lines(), [])
        mine = self.folder / "mine"
        self.assertEqual(sorted(path.name for path in mine.iterdir()),
                         ["README.txt", "cluster.csv", "collectives.csv", "costs.csv", "gradcast.toml", "model.csv",
                          "probe.json", "runs.csv", "stack.csv", "trace.csv"])
        self.assertEqual([path.name for path in self.folder.iterdir() if "unfinished" in path.name], [])
        self.assertIn("# optimizer: sgd\n", (mine / "trace.csv").read_text())  # whose step it timed
        found = json.loads((mine / "probe.json").read_text())
        runs = found["forecasts"]
        self.assertEqual([run["run"] for run in runs],
                         ["DDP", "one all-reduce after backward", "fp16 hook", "PowerSGD hook, rank 4",
                          "gradcast's topk, density 0.02"])
        for run in runs:
            self.assertLess(run["forecast_at"], run["measured_at"])
            self.assertGreater(run["seconds"], 0)
            self.assertIn(f"2 ranks, {run['run']}: forecast ", world.text)
        self.assertRegex(world.text, r"Mean error [0-9.]+ % over 5 runs; \d inside their 90 % interval")
        # The first two forecasts know nothing of these runs; the others have learned from them.
        self.assertEqual([run["forecast"]["stack"] for run in runs], ["ddp-gloo"] * 2 + ["learned"] * 3)
        self.assertEqual({row["collective"] for row in found["collectives"]} >= {"all-reduce", "all-gather"}, True)
        # 64 x 300 + 300 + 300 x 10 + 10 = 22,510 parameters.
        forecast = gradcast.forecast(**gradcast.probe.settings(mine))
        self.assertEqual(forecast.row["parameters"], 22510)
        self.assertEqual(forecast.row["ranks"], 2)
        self.assertGreater(len(gradcast.decide(**gradcast.probe.settings(mine), progress=False)), 2)
        self.assertEqual(len(gradcast.compare(measured=str(mine / "runs.csv"), progress=False)), 5)
        # The command that README.txt prints is one that the program takes.
        command = re.search(r"^  gradcast (decide .*)$", (mine / "README.txt").read_text(), re.M).group(1)
        done = subprocess.run([sys.executable, "-m", "gradcast", *command.split()], cwd=self.folder, text=True,
                              capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("topk (density 0.02)", done.stdout)
        # Nothing is overwritten.
        again = World(self.folder, "tiny:step", "--output", "mine", size=1)
        self.assertEqual(again.codes(), [2])
        self.assertEqual(again.error_lines(), ["gradcast.probe: mine exists, and nothing is overwritten: remove it, or "
                                               "name another --output"])

    def test_an_interrupted_probe_keeps_what_it_has(self):
        world = World(self.folder, "tiny:step", "--budget", "15")
        # A forecast that stands there without its measurement was printed before it.
        self.assertTrue(world.wait_for(r"one all-reduce after backward: forecast [0-9.]+ s [^,]*$"), world.text)
        for process in world.processes:
            process.send_signal(signal.SIGINT)
        self.assertEqual(world.codes()[0], 130)
        [line] = world.error_lines()
        self.assertRegex(line, r"^gradcast.probe: interrupted during .*; what was measured is in my-cluster/$")
        runs = gradcast.compare(measured=str(self.folder / "my-cluster" / "runs.csv"), progress=False)
        self.assertGreaterEqual(len(runs), 1)
        gradcast.forecast(**gradcast.probe.settings(self.folder / "my-cluster"))

    def test_a_rank_that_dies_ends_the_others_with_one_line(self):
        world = World(self.folder, "tiny:dies", "--budget", "15")
        self.assertTrue(world.wait_for("2 ranks, DDP: forecast"), world.text)
        (self.folder / "die").touch()
        begin = time.monotonic()
        codes = world.codes()
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(codes, [1, 3])
        [line] = world.error_lines()
        self.assertRegex(line, "^gradcast.probe: another rank ended or did not answer, during .* is in my-cluster/$")

    def test_wrong_words_and_steps_get_one_line(self):
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        self.addCleanup(sys.modules.pop, "tiny", None)
        for word, line in (("tiny", "is no MODULE:FUNCTION"), ("tiny.py:step", "is a path"),
                           ("tiny:nothing", "no attribute 'nothing'"), ("absent:step", "No module named 'absent'"),
                           ("tiny:number", "gives a int, and must give (net, example)"),
                           ("tiny:no_net", "gives a str as net"), ("tiny:no_loss", "gives a int as loss"),
                           ("tiny:no_optimizer", "gives a int as optimizer"),
                           ("tiny:own_gradients", "gives LBFGS, whose step changes weights at any learning rate"),
                           ("tiny:of_another", "gives SGD with no parameter of the net"),
                           ("tiny:no_rate", "gives SGD without a number as learning rate"),
                           ("tiny:fails", "tiny:fails ended with ValueError: no data here")):
            with self.assertRaises(gradcast.InputError, msg=word) as caught:
                _networks.adapted(word)
            self.assertIn(line, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))
        for words, code, line in ((["--budget", "1"], 2, "must be from 5 to"), (["--modle", "x"], 2, "unrecognized"),
                                  (["tiny:step", "--model", "fnn-3"], 2, "not both"),
                                  (["--hooks", "topp"], 2, "--hooks: 'topp': "),
                                  (["--hooks", "topk:2"], 2, "--hooks: 'topk:2': density is 2.0"),
                                  (["--hooks", "qsgd,int8:3"], 2, "--hooks: 'int8:3': "),
                                  (["--hooks", "topk:0"], 2, "--hooks: 'topk:0' needs a number above 0"),
                                  (["--hooks", "signsgd:4"], 2, "--hooks: 'signsgd:4': parameter: signsgd takes none"),
                                  (["--hooks", "topk:x"], 2, "--hooks: 'topk:x' has no number"),
                                  (["--output", "no/such/folder"], 3, "cannot make"),
                                  (["tiny:sparse"], 2, "parameter 'weight' gets sparse gradients"),
                                  (["tiny:misfits"], 2, "cannot be run on the example")):
            with contextlib.chdir(self.folder) if hasattr(contextlib, "chdir") else contextlib.nullcontext():
                errors = io.StringIO()
                with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
                    got = _probe.run(words)
            if dist.is_initialized():
                dist.destroy_process_group()
            self.assertEqual(got, code, errors.getvalue())
            self.assertIn(line, errors.getvalue())
            self.assertEqual(errors.getvalue().count("\n"), 1, errors.getvalue())
        with self.assertRaisesRegex(gradcast.InputError, "no folder of gradcast.probe"):
            gradcast.probe.settings(self.folder)

    def test_without_torch_the_exit_code_is_5(self):
        (self.folder / "torch.py").write_text("raise ImportError('none here')\n")
        done = subprocess.run([sys.executable, "-m", "gradcast.probe"], cwd=self.folder, text=True, capture_output=True,
                              env={**os.environ, "PYTHONPATH": f"{self.folder}:{ROOT / 'python'}"})
        self.assertEqual((done.returncode, done.stderr), (5, "gradcast.probe: needs PyTorch: none here\n"))


if __name__ == "__main__":
    unittest.main()
