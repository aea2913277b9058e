#!/usr/bin/env python3
"""python/gradcast/torch on real Gloo processes: every compressor trains as `gradcast train` does, sends the bytes that
`gradcast simulate` forecasts, and goes on from a checkpoint to the same weights.

usage: torch_hook_test.py [--long] [unittest's arguments]      exit code 77: skipped, there is no torch
--long: all compressors against `gradcast train`, on 2 and on 4 processes; some minutes.
$GRADCAST_PROGRAM is the program; the library is found as a user's is (python/gradcast/_compressors.py).
"""
import csv
import functools
import inspect
import json
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
except Exception as failure:
    print(f"skipped: no torch: {failure}")
    sys.exit(77)
if not dist.is_available() or not dist.is_gloo_available():
    print("skipped: a torch without Gloo")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).parent)]
import gradcast.torch as gt  # noqa: E402
import made  # noqa: E402
from gradcast.torch import _exchange  # noqa: E402

PROGRAM = os.environ.get("GRADCAST_PROGRAM", str(ROOT / "build" / "gradcast"))
ENVIRONMENT = {**os.environ, "GRADCAST_CONFIG": "none", "NO_COLOR": "1"}
LONG = "--long" in sys.argv
TIMEOUT = 1500 if LONG else 150  # seconds, of a world
ALL = [compressor.name for compressor in gt.compressors()]
# One of each way to exchange; what these three draw at random matters little.
SOME = ["dense", "topk", "gaussian", "fp16", "qsgd", "signsgd", "powersgd"]
DENSITY = 0.01
BATCH, IN_EPOCH = 50, {2: 60, 4: 30}
# Options of trainings that are killed.
RESUMED = [{"compressor": "topk", "density": 0.05}, {"compressor": "qsgd"}, {"compressor": "powersgd"},
           {"compressor": "dgc", "density": 0.05, "momentum_correction": 0.9, "masking": True,
            "warmup_iterations": 8}]
# Options, and the forecast's flags for them. The last two are of several buckets, after DDP has rebuilt them.
SENT = [({"compressor": "qsgd", "shared_scale": True}, ["--collective", "ring-all-reduce"]),
        ({"compressor": "terngrad", "shared_scale": True, "selection": "per-tensor"},
         ["--collective", "ring-all-reduce", "--selection", "per-tensor"]),
        ({"compressor": "randk", "density": DENSITY, "shared_seed": True}, ["--collective", "ring-all-reduce"]),
        ({"compressor": "topk", "density": DENSITY, "value_type": "fp16"}, ["--value-type", "fp16"]),
        ({"compressor": "topk", "density": DENSITY, "selection": "per-tensor"}, ["--selection", "per-tensor"]),
        ({"compressor": "onebit", "selection": "per-tensor"}, ["--selection", "per-tensor"]),
        ({"compressor": "powersgd", "mode": "paper", "parameter": 4}, ["--mode", "paper", "--parameter", 4]),
        ({"compressor": "topk", "density": DENSITY}, ["--fusion", "ddp:20KiB"]),
        ({"compressor": "powersgd"}, ["--fusion", "ddp:20KiB"])]
SAVED, KILLED, END = 5, 7, 10  # iterations
LOOK = 6


def takes_density(name):
    return next(its for its in gt.compressors() if its.name == name).takes_density


def options_of(name):
    return {"compressor": name, **({"density": DENSITY} if takes_density(name) else {})}


def learning_rate_of(name):
    return 0.0005 if name == "signsgd" else 0.005  # its votes are +-1


# ---- what runs in each process -------------------------------------------------------------------------------------


class Wire:
    """Counts what a process group is asked to carry."""

    def __enter__(self):
        self.asked, self.kept = [], (dist.all_gather, dist.all_reduce)

        def gather(out, tensor, **more):
            self.asked.append(("gather", tensor.numel() * tensor.element_size()))
            return self.kept[0](out, tensor, **more)

        def reduce(tensor, **more):
            self.asked.append(("reduce", tensor.numel() * tensor.element_size()))
            return self.kept[1](tensor, **more)

        dist.all_gather, dist.all_reduce = gather, reduce
        return self

    def __exit__(self, *_):
        dist.all_gather, dist.all_reduce = self.kept


def flat(net):
    return torch.cat([parameter.detach().flatten() for parameter in net.parameters()])


def wrapped(net, options, megabytes=None):
    ddp = DistributedDataParallel(net, **({} if megabytes is None else {"bucket_cap_mb": megabytes}))
    return ddp, gt.hook(**options).register(ddp) if options else None


class Training:
    """LeNet-5 on the made data, this process' share."""

    def __init__(self, data, shards, rank, options, megabytes=None):
        self.data, self.shards, self.rank = data, shards, rank
        self.net = made.LeNet5()
        self.ddp, self.hook = wrapped(self.net, options, megabytes)
        self.optimizer = made.optimizer(self.net, learning_rate_of(options.get("compressor", "")),
                                        0 if options.get("momentum_correction") else 0.9)

    def step(self, iteration):
        self.optimizer.zero_grad()
        made.loss_of(self.ddp, self.data, self.shards.batch_of(self.rank, iteration)).backward()
        self.optimizer.step()

    def state(self):
        return {"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict(),
                "hook": self.hook.state_dict()}

    def load(self, state):
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.hook.load_state_dict(state["hook"])


def long_training(data, shards, rank, size, name):
    """An epoch; weights, accuracy, counts of the last iteration."""
    training = Training(data, shards, rank, options_of(name))
    for iteration in range(shards.in_epoch):
        with Wire() as wire:
            training.step(iteration)
    weights = flat(training.net)
    others = [torch.empty_like(weights) for _ in range(size)]
    dist.all_gather(others, weights)
    hook = training.hook
    return {"accuracy": made.accuracy(training.net, data), "wire": wire.asked, "bytes": hook.bytes_sent_last,
            "elements": hook.elements_sent_last, "of_counts": hook.bytes_of_counts / shards.in_epoch,
            "alike": all(torch.equal(weights, other) for other in others)}


def short_training(data, shards, rank, options, iterations):
    """Small buckets, which DDP rebuilds after the first iteration. The weights."""
    training = Training(data, shards, rank, options, 0.01)
    for iteration in range(iterations):
        training.step(iteration)
    return flat(training.net), len(training.hook._done) if training.hook else 0


def sent_by(data, shards, rank, options, flags):
    """The collectives of the third iteration, and the bytes that the hook counted."""
    training = Training(data, shards, rank, options, 20 / 1024 if "--fusion" in flags else None)
    for iteration in range(3):
        with Wire() as wire:
            training.step(iteration)
    return wire.asked, training.hook.bytes_sent_last


def world_of_all(rank, size, data, shards, folder):
    names = ALL if LONG else SOME
    done = {"long": {name: long_training(data, shards, rank, size, name) for name in names}}
    if size == 2:
        done["plain"] = short_training(data, shards, rank, {}, 4)[0]
        done["dense"] = short_training(data, shards, rank, {"compressor": "dense"}, 4)[0]
        done["per-tensor"] = {name: short_training(data, shards, rank, of_each_tensor(name), 4) for name in ALL}
        done["resumed"] = [short_training(data, shards, rank, options, END)[0] for options in RESUMED]
        done["sent"] = [sent_by(data, shards, rank, options, flags) for options, flags in SENT]
        done["refused"] = []
        for options in ({"compressor": "topk", "density": 0.1 + 0.1 * rank}, {"compressor": "topk", "seed": rank}):
            try:
                wrapped(made.LeNet5(), options)
            except gt.InputError as error:
                done["refused"].append(str(error))
        done["states"] = refused_states()
    return done


def refused_states():
    """The errors of load_state_dict for states that do not fit, and of register for a second hook."""
    ddp, hook = wrapped(torch.nn.Linear(3, 3), {"compressor": "topk"})
    right = hook.state_dict()
    hook.load_state_dict(right)
    memory = {"weight": {"residual": torch.zeros(9)}, "bias": {"residual": torch.zeros(3)}}
    hook.load_state_dict({**right, "memory": memory})
    said = []
    for wrong in (None, {}, {**right, "settings": {}}, {**right, "settings": {**right["settings"], "density": 0.5}},
                  {**right, "memory": 5}, {**right, "memory": {"x": {}}}, {**right, "memory": {1: memory["bias"]}},
                  {**right, "memory": {"bias": memory["weight"]}}, {**right, "memory": {"bias": {}}},
                  {**right, "memory": {"bias": {"residual": torch.zeros(3).double()}}},
                  {**right, "buckets": 3}, {**right, "buckets": [["x"]]}, {**right, "buckets": [5]},
                  {**right, "iteration": "a"}, {**right, "bytes_sent": None}):
        try:
            hook.load_state_dict(wrong)
            said.append("")
        except gt.InputError as error:
            said.append(str(error))
    try:
        gt.hook().register(ddp)
        said.append("")
    except gt.InputError as error:
        said.append(str(error))
    return said


def of_each_tensor(name):
    options = options_of(name)
    return options if name == "powersgd" else {**options, "selection": "per-tensor"}


def world_to_kill(rank, size, data, shards, folder):
    for number, options in enumerate(RESUMED):
        training = Training(data, shards, rank, options, 0.01)
        for iteration in range(KILLED):
            if iteration == SAVED:
                torch.save(training.state(), folder / f"state-{number}-{rank}")
            training.step(iteration)
        if number + 1 == len(RESUMED):
            dist.barrier()  # everyone has saved
            os.kill(os.getpid(), signal.SIGKILL)


def world_to_resume(rank, size, data, shards, folder):
    done = []
    for number, options in enumerate(RESUMED):
        training = Training(data, shards, rank, options, 0.01)
        training.load(torch.load(folder / f"state-{number}-{rank}"))
        for iteration in range(SAVED, END):
            training.step(iteration)
        done.append((flat(training.net), training.hook.iteration))
    return done


def process(rank, size, folder, work):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/{work.__name__}-{size}", rank=rank, world_size=size)
    data, shards = torch.load(folder / "data", weights_only=False), made.Shards(size, BATCH)
    torch.save(work(rank, size, data, shards, folder), folder / f"{work.__name__}-{size}-{rank}")
    dist.destroy_process_group()


# ---- what asks them ------------------------------------------------------------------------------------------------


def in_world(size, folder, work):
    """The answers of all processes."""
    context = torch.multiprocessing.start_processes(process, (size, folder, work), nprocs=size, join=False,
                                                    start_method="spawn")
    until = time.monotonic() + TIMEOUT
    while not context.join(timeout=5):  # True once all have ended
        if time.monotonic() < until:
            continue
        for child in context.processes:
            child.kill()
        raise TimeoutError(f"{work.__name__} of {size} took more than {TIMEOUT} s")
    return [torch.load(folder / f"{work.__name__}-{size}-{rank}", weights_only=False) for rank in range(size)]


def gradcast(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments), "--format", "json"], capture_output=True, text=True,
                          timeout=120, env=ENVIRONMENT)
    if done.returncode != 0:
        raise AssertionError(f"gradcast {arguments}: {done.stderr}")
    return json.loads(done.stdout)


@functools.lru_cache(maxsize=None)
def lab(name, workers, seed):
    """The evaluations of `gradcast train`, each after LOOK iterations."""
    density = ["--density", DENSITY] if takes_density(name) else []
    return gradcast("train", "--network", "lenet-5", "--dataset", "made", "--workers", workers, "--batch", BATCH,
                    "--epochs", 1, "--learning-rate", learning_rate_of(name), "--compressor", name, "--seed", seed,
                    "--evaluate-every", LOOK, *density)["results"]


def forecast(folder, name, workers, counts, flags=()):
    """Payload and sent bytes of a rank, by rings. counts: the pairs of each worker where they vary."""
    more = [*flags, *(["--density", DENSITY] if takes_density(name) else [])]
    varies = next(its for its in gt.compressors() if its.name == name)
    if varies.family == "sparsifier" and not varies.exact_count:
        path = folder / "counts.csv"
        with path.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["iteration", "worker", "elements", "density", "wanted", "sent"])
            for worker, count in enumerate(counts, 1):
                density = DENSITY if varies.takes_density else 1
                rows.writerow([1, worker, 61706, density, math.floor(61706 * density), count])
        more += ["--counts", path]
    answer = gradcast("simulate", "--preset", "paper", "--model", "lenet-5", "--cluster", "1gbe", "--nodes", workers,
                      "--gpus-per-node", 1, "--engine", "analytic", "--compressor", name, *more)["results"][0]
    return answer["payload_bytes_per_rank"], answer["sent_bytes_per_rank"]


def by_rings(wire, size):
    """Bytes that a rank sends for what it asked of its group."""
    return round(sum(its * (size - 1) if kind == "gather" else 2 * its * (size - 1) / size for kind, its in wire))


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(kept.cleanup)
        cls.folder = pathlib.Path(kept.name)
        cls.data = made.Data()
        torch.save(cls.data, cls.folder / "data")


class Processes(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.answers = {size: in_world(size, cls.folder, world_of_all) for size in ((2, 4) if LONG else (2,))}

    def test_a_compressor_trains_lenet_5_as_the_lab_does(self):
        for size, answers in self.answers.items():
            for name, answer in answers[0]["long"].items():
                with self.subTest(name, processes=size):
                    self.assertTrue(answer["alike"], "processes have different weights")
                    # Draws and ties depend on the order of a bucket's elements: so other seeds are as right.
                    band = [lab(name, size, seed)[-1]["test_accuracy_percent"]
                            for seed in ((1, 2, 3) if LONG else (1,))]
                    print(f"{name}, {size} processes: {answer['accuracy']:.1f} %, the lab's "
                          f"{', '.join(f'{one:.1f}' for one in band)} %")
                    margin = max(3.0, max(band) - min(band))
                    self.assertGreaterEqual(answer["accuracy"], min(band) - margin)
                    self.assertLessEqual(answer["accuracy"], max(band) + margin)

    def test_bytes_are_those_of_the_forecast(self):
        for size, answers in self.answers.items():
            for name in answers[0]["long"]:
                with self.subTest(name, processes=size):
                    wire = answers[0]["long"][name]["wire"]
                    varies = answers[0]["long"][name]["of_counts"] > 0
                    if varies:  # 8 bytes a bucket, to know the longest
                        self.assertEqual(wire.pop(0), ("reduce", 8))
                    for answer in answers:
                        self.assertEqual(answer["long"][name]["bytes"], sum(its for _, its in wire))
                    longest = max(answer["long"][name]["elements"] for answer in answers)
                    payload, sent = forecast(self.folder, name, size, [longest] * size)
                    self.assertEqual(by_rings(wire, size), sent)
                    # The forecast's payload is that of the last collective.
                    self.assertEqual(wire[-1][1], payload)

    def test_bytes_are_those_of_the_forecast_with_options(self):
        for number, (options, flags) in enumerate(SENT):
            with self.subTest(**options):
                for answer in self.answers[2]:
                    wire, bytes_sent = answer["sent"][number]
                    self.assertEqual(bytes_sent, sum(its for _, its in wire))
                    sent = forecast(self.folder, options["compressor"], 2, [], flags)[1]
                    self.assertEqual(by_rings(wire, 2), sent)

    def test_dense_by_the_hook_is_plain_ddp_to_the_bit(self):
        for answer in self.answers[2]:
            self.assertTrue(torch.equal(answer["plain"], answer["dense"]))

    def test_rebuilt_buckets_keep_residuals(self):
        """Tensor by tensor, buckets decide nothing: so the hook's weights are those of workers without buckets."""
        shards = made.Shards(2, BATCH)
        for name in ALL:
            with self.subTest(name):
                net = made.LeNet5()
                workers = gt.Workers(2, net, made.optimizer(net, learning_rate_of(name)),
                                     gt.hook(**of_each_tensor(name)))
                for iteration in range(4):
                    workers.step([lambda w=worker: made.loss_of(net, self.data, shards.batch_of(w, iteration))
                                  for worker in range(2)])
                weights, buckets = self.answers[2][0]["per-tensor"][name]
                self.assertGreater(buckets, 2)
                self.assertTrue(torch.equal(flat(net), weights))

    def test_processes_with_other_settings_are_refused(self):
        for answer in self.answers[2]:
            self.assertEqual(len(answer["refused"]), 2)
            for error, setting in zip(answer["refused"], ("density", "seed")):
                self.assertIn(setting, error)
                self.assertNotIn("\n", error)
            for error in answer["states"]:
                self.assertRegex(error, r"\A(no state|the state is|the model takes no hook).*\Z")

    def test_a_killed_training_resumes_to_the_same_weights(self):
        with self.assertRaisesRegex(Exception, "SIGKILL"):
            in_world(2, self.folder, world_to_kill)
        for answers, whole in zip(in_world(2, self.folder, world_to_resume), self.answers[2]):
            for (weights, iteration), expected, options in zip(answers, whole["resumed"], RESUMED):
                with self.subTest(options["compressor"]):
                    self.assertEqual(iteration, END)
                    self.assertTrue(torch.equal(weights, expected))


class SimulatedWorkers(Folder):
    def trained(self, name, iterations, **more):
        net = made.LeNet5()
        shards = made.Shards(2, BATCH)
        workers = gt.Workers(2, net, made.optimizer(net, learning_rate_of(name)), gt.hook(**options_of(name), **more))
        losses = [workers.step([lambda w=worker: made.loss_of(net, self.data, shards.batch_of(w, iteration))
                                for worker in range(2)]) for iteration in range(iterations)]
        return workers, losses, net

    def test_losses_are_those_of_the_lab(self):
        for name in ALL if LONG else ("dense", "randk", "powersgd"):
            with self.subTest(name):
                expected = lab(name, 2, 1)[0]["train_loss"]
                losses = self.trained(name, LOOK)[1]
                self.assertAlmostEqual(sum(losses) / LOOK, expected, delta=1e-4 * expected)

    def test_tta_reads_what_they_write(self):
        files = []
        for name in ("dense", "topk"):
            workers, _, net = self.trained(name, 5)
            workers.tested(50)
            for _ in range(2):
                workers.step([lambda: made.loss_of(net, self.data, [0, 1])] * 2)
            workers.tested(80)
            files.append(self.folder / f"{name}.json")
            workers.write(files[-1], network="mine", dataset="made", batch=BATCH)
        self.assertEqual([its.name for its in self.folder.glob("*.part")], [])
        answer = gradcast("tta", "--preset", "paper", "--training", ",".join(map(str, files)), "--target", 75,
                          "--model", "lenet-5", "--cluster", "1gbe", "--nodes", 2, "--engine", "analytic")
        rows = {row["compressor"]: row for row in answer["results"]}
        self.assertEqual(set(rows), {"dense", "topk"})
        self.assertEqual(rows["topk"]["iterations"], 7)


class Document(unittest.TestCase):
    """docs/compressors.md, "Train with a compressor": blocks that begin with `# NAME.py`, and what they print."""

    def test_its_programs_print_what_it_shows(self):
        text = (ROOT / "docs" / "compressors.md").read_text("utf-8")
        with tempfile.TemporaryDirectory() as folder:
            found = re.findall(r"(?m)^    # (\w+\.py)\n((?:    .*\n|\n)+)", text)
            self.assertEqual([name for name, _ in found], ["train.py", "workers.py"])
            for name, block in found:
                program, shown = re.split(r"(?m)^    \$ .*\n", block)
                pathlib.Path(folder, name).write_text(re.sub(r"(?m)^    ", "", program), "utf-8")
                launched = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
                done = subprocess.run([sys.executable, *(launched if name == "train.py" else []), name], cwd=folder,
                                      capture_output=True, text=True, timeout=TIMEOUT,
                                      env={**ENVIRONMENT, "PYTHONPATH": str(ROOT / "python")})
                self.assertEqual((done.returncode, done.stdout.strip()), (0, shown.strip()), done.stderr)


class Memory(unittest.TestCase):
    def test_what_is_kept_moves_with_the_parameter(self):
        settings = gt.hook("topk").settings
        pieces = [_exchange.Piece(name, number, 2, 1) for number, name in enumerate("abc")]
        memory = _exchange.Memory(settings, pieces)
        memory.group(0, ["a", "b", "c"]).kept["residual"].copy_(torch.arange(6.0))
        self.assertEqual(memory.group(0, ["c"]).kept["residual"].tolist(), [4, 5])
        self.assertEqual(memory.group(1, ["b", "a"]).kept["residual"].tolist(), [2, 3, 0, 1])
        self.assertEqual(memory.state()["a"]["residual"].tolist(), [0, 1])


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
        self.refused(lambda: gt.hook().register(made.LeNet5()), "DistributedDataParallel")
        self.refused(lambda: gt.hook().state_dict(), "register")
        net = torch.nn.Linear(2, 2)
        adam = torch.optim.SGD(net.parameters(), lr=1)
        self.refused(lambda: gt.Workers(0, net, adam, gt.hook()), "n is 0")
        self.refused(lambda: gt.Workers(2, torch.nn.ReLU(), adam, gt.hook()), "no parameter")
        self.refused(lambda: gt.Workers(2, "net", adam, gt.hook()), "Module")
        self.refused(lambda: gt.Workers(2, net, None, gt.hook()), "optimizer")
        self.refused(lambda: gt.Workers(2, net, adam, "topk"), "hook")
        self.refused(lambda: gt.Workers(2, torch.nn.Linear(2, 2).double(), adam, gt.hook()), "float64")
        workers = gt.Workers(2, net, adam, gt.hook())
        self.refused(lambda: workers.step([]), "2 workers")
        self.refused(lambda: workers.step([lambda: 1.0] * 2), "worker 0")
        self.refused(lambda: workers.tested(50), "no iteration")
        self.refused(lambda: workers.write("x.json", network="a", dataset="b", batch=1), "tested")

    def test_a_file_that_cannot_be_written_leaves_nothing(self):
        net = torch.nn.Linear(2, 2)
        workers = gt.Workers(1, net, torch.optim.SGD(net.parameters(), lr=0.1), gt.hook("dense"))
        workers.step([lambda: net(torch.ones(2)).sum()])
        self.refused(lambda: workers.tested(math.nan), "accuracy_percent")
        workers.tested(10)
        with tempfile.TemporaryDirectory() as folder:
            self.refused(lambda: workers.write(f"{folder}/x", network="", dataset="b", batch=1), "network")
            with self.assertRaises(OSError):
                workers.write(f"{folder}/none/x", network="a", dataset="b", batch=1)
            os.mkdir(f"{folder}/x")
            with self.assertRaises(OSError):
                workers.write(f"{folder}/x", network="a", dataset="b", batch=1)
            self.assertEqual(os.listdir(folder), ["x"])


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main(argv=[argument for argument in sys.argv if argument != "--long"])
