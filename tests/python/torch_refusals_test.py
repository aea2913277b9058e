#!/usr/bin/env python3
"""Bad input to python/gradcast/torch raises InputError, in one line.

usage: torch_refusals_test.py [unittest's arguments]      exit code 77: skipped, there is no torch
"""
import fractions
import inspect
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import torch
    import torch.distributed as dist
except Exception as failure:
    print(f"skipped: no torch: {failure}")
    sys.exit(77)
if not dist.is_available():
    print("skipped: a torch without torch.distributed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "python"))
import gradcast.torch as gt  # noqa: E402


class Refusals(unittest.TestCase):
    def refused(self, call, *parts):
        with self.assertRaises(gt.InputError) as caught:
            call()
        self.assertNotIn("\n", str(caught.exception))
        for part in parts:
            self.assertIn(part, str(caught.exception))

    def test_settings(self):
        nan = math.nan
        for options, part in (
                ({"compressor": "topp"}, "known: dense, topk"), ({"compressor": None}, "name like"),
                ({"compressor": "a\nb"}, "'a\\nb'"),
                ({"density": nan}, "density"), ({"density": 0}, "above 0"), ({"density": 1.5}, "density"),
                ({"density": "much"}, "'much'"), ({"density": True}, "True"),
                ({"compressor": "fp16", "density": 0.1}, "takes none"), ({"parameter": 3}, "takes none"),
                ({"compressor": "powersgd", "parameter": 0}, "rank"),
                ({"compressor": "powersgd", "parameter": 1.5}, "whole"),
                ({"compressor": "qsgd", "parameter": nan}, "levels"),
                ({"mode": "paper"}, "one definition"), ({"mode": "none"}, "code, paper"),
                ({"selection": "all"}, "merged"), ({"value_type": "fp8"}, "fp32"),
                ({"compressor": "qsgd", "value_type": "fp16"}, "no selected values"),
                ({"candidates": 4}, "rtopk"), ({"shared_seed": True}, "randk"),
                ({"compressor": "int8", "shared_scale": True}, "qsgd and terngrad"),
                ({"masking": True}, "momentum_correction"), ({"momentum_correction": 1.0}, "momentum_correction"),
                ({"compressor": "dense", "momentum_correction": 0.9}, "optimizer"),
                ({"warmup_iterations": -1}, "warmup"), ({"warmup_iterations": 1.5}, "whole"),
                ({"seed": -1}, "seed"), ({"seed": 2**32}, "seed"), ({"feedback": 1}, "True or False"),
                ({"process_group": "all"}, "ProcessGroup")):
            with self.subTest(**options):
                self.refused(lambda: gt.hook(**options), part)

    def test_numbers_of_other_types_are_taken(self):
        class Counts:
            def __index__(self):
                return 3

        for given in (torch.tensor(3), Counts()):
            self.assertEqual(gt.hook("topk", seed=given).settings.seed, 3)
        self.assertEqual(gt.hook("powersgd", parameter=torch.tensor(3)).settings.parameter, 3)
        for given in (torch.tensor(0.25), fractions.Fraction(1, 4)):
            self.assertEqual(gt.hook("topk", given).settings.density, 0.25)
        self.assertTrue(gt.hook("topk", feedback=torch.tensor(True)).settings.feedback)
        net = torch.nn.Linear(2, 2)
        workers = gt.Workers(torch.tensor(2), net, torch.optim.SGD(net.parameters(), lr=1), gt.hook())
        self.assertEqual(workers.n, 2)
        for wrong in ({"seed": torch.tensor(3.0)}, {"seed": torch.tensor(True)}, {"density": torch.ones(2)},
                      {"density": torch.tensor(True)}, {"seed": torch.ones(2, dtype=torch.int64)},
                      {"density": torch.empty((), device="meta")}):
            self.refused(lambda: gt.hook("topk", **wrong), next(iter(wrong)))

    def test_settings_by_chance(self):
        """Each makes a hook, or is refused in one line."""
        chance = random.Random(1)
        values = [None, True, False, 0, 1, 2, -1, 0.5, 1e-3, 1e300, -0.0, math.nan, math.inf, 2**70, "", "topk", "qsgd",
                  "rtopk", "powersgd", "code", "paper", "per-tensor", "fp16", [], {}, b"x", "\x00", "\n", object()]
        names = [name for name in inspect.signature(gt.hook).parameters if name != "process_group"]
        made_ones = 0
        for _ in range(10_000):
            options = {name: chance.choice(values) for name in chance.sample(names, chance.randint(1, 4))}
            try:
                gt.hook(**options)
                made_ones += 1
            except gt.InputError as error:
                self.assertNotIn("\n", str(error), options)
        self.assertGreater(made_ones, 100)

    def test_models(self):
        self.refused(lambda: gt.hook().register(torch.nn.Linear(2, 2)), "DistributedDataParallel")
        self.refused(lambda: gt.hook().state_dict(), "register")
        net = torch.nn.Linear(2, 2)
        adam = torch.optim.SGD(net.parameters(), lr=1)
        self.refused(lambda: gt.Workers(0, net, adam, gt.hook()), "n is 0")
        self.refused(lambda: gt.Workers(2, torch.nn.ReLU(), adam, gt.hook()), "no parameter")
        self.refused(lambda: gt.Workers(2, torch.nn.Linear(2, 0, bias=False), adam, gt.hook()), "no parameter")
        self.refused(lambda: gt.Workers(2, "net", adam, gt.hook()), "Module")
        self.refused(lambda: gt.Workers(2, net, None, gt.hook()), "optimizer")
        self.refused(lambda: gt.Workers(2, net, adam, "topk"), "hook")
        self.refused(lambda: gt.Workers(2, torch.nn.Linear(2, 2).double(), adam, gt.hook()), "float64")
        table = torch.nn.EmbeddingBag(9, 3, sparse=True)
        sgd = torch.optim.SGD(table.parameters(), lr=1)
        self.refused(lambda: gt.Workers(2, table, sgd, gt.hook("dense")), "'weight' gets sparse gradients")
        table.sparse = False
        workers = gt.Workers(2, table, sgd, gt.hook())
        table.sparse = True
        self.refused(lambda: workers.step([lambda: table(torch.tensor([[1]])).sum()] * 2), "worker 0 has a sparse")
        workers = gt.Workers(2, net, adam, gt.hook())
        self.refused(lambda: workers.step([]), "2 workers")
        self.refused(lambda: workers.step([lambda: 1.0] * 2), "worker 0")
        self.refused(lambda: workers.step([net(torch.ones(2)).sum()] * 2), "worker 0 is a Tensor", "a function")
        self.refused(lambda: workers.step([(torch.ones(2), 1)] * 2), "worker 0 is a tuple", "a function")
        self.refused(lambda: workers.step(lambda: net(torch.ones(2)).sum()), "losses is a function", "a list")
        self.refused(lambda: workers.step([lambda: torch.tensor(1.0)] * 2), "worker 0 depends on no parameter")
        workers.step(lambda: net(torch.ones(2)).sum() for _ in range(2))
        workers.tested(torch.tensor(50.0))
        other = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=1)
        self.refused(lambda: gt.Workers(2, net, other, gt.hook()), "optimizer holds no parameter of the module")
        self.refused(lambda: workers.tested(50), "no iteration")
        self.refused(lambda: gt.Workers(2, net, adam, gt.hook()).write("x.json", network="a", dataset="b", batch=1),
                     "tested")

    def test_a_missing_library_is_one_line_that_says_where_it_was_looked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "python", f"{folder}/python")
            done = subprocess.run([sys.executable, "-c", "import gradcast.torch; gradcast.torch.hook()"], text=True,
                                  capture_output=True, timeout=120,
                                  env={**os.environ, "PYTHONPATH": f"{folder}/python",
                                       "GRADCAST_LIBRARY_DIR": "/none"})
        self.assertRegex(done.stderr.splitlines()[-1],
                         "^ImportError: libgradcast\\S*.so is in none of .*/none, .*build")

    def test_a_file_that_cannot_be_written_leaves_nothing(self):
        net = torch.nn.Linear(2, 2)
        workers = gt.Workers(1, net, torch.optim.SGD(net.parameters(), lr=0.1), gt.hook("dense"))
        workers.step([lambda: net(torch.ones(2)).sum()])
        self.refused(lambda: workers.tested(math.nan), "accuracy_percent")
        workers.tested(10)
        with tempfile.TemporaryDirectory() as folder:
            self.refused(lambda: workers.write(f"{folder}/x", network="", dataset="b", batch=1), "network")
            self.refused(lambda: workers.write(f"{folder}/none/x", network="a", dataset="b", batch=1),
                         f"cannot write {folder}/none/x: No such file or directory")
            os.mkdir(f"{folder}/x")
            self.refused(lambda: workers.write(f"{folder}/x", network="a", dataset="b", batch=1), "Is a directory")
            self.refused(lambda: workers.write(None, network="a", dataset="b", batch=1), "NoneType is no path")
            for nowhere in ("", ".", "a\0b"):
                self.refused(lambda: workers.write(nowhere, network="a", dataset="b", batch=1), "is no name of a file")
            self.assertEqual(os.listdir(folder), ["x"])


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
