#!/usr/bin/env python3
"""python/gradcast/torch on real Gloo processes: every compressor trains as `gradcast train` does, sends the bytes that
`gradcast simulate` forecasts, and goes on from a checkpoint to the same weights.

usage: torch_hook_test.py [--long] [unittest's arguments]      exit code 77: skipped, there is no torch
--long: all compressors against `gradcast train`, on 2 and on 4 processes; some minutes.
$GRADCAST_PROGRAM is the program; the library is found as a user's is (python/gradcast/_compressors.py).
"""
import csv
import functools
import json
import math
import os
import pathlib
import re
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
if not dist.is_available() or not dist.is_gloo_available():
    print("skipped: a torch without Gloo")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).parent)]
import gradcast.torch as gt  # noqa: E402
import made  # noqa: E402
from gradcast.torch import _exchange  # noqa: E402
from worlds import (ALL, BATCH, DENSITY, DRAWING, END, LONG, LOOK, RESUMED, SCALED, SENT, SENT_OF_16_BITS, TIMEOUT,  # noqa: E402
                    flat, in_world, learning_rate_of, of_each_tensor, options_of, takes_density, world_of_a_late_thread,
                    world_of_all, world_to_kill, world_to_resume)

PROGRAM = os.environ.get("GRADCAST_PROGRAM", str(ROOT / "build" / "gradcast"))
ENVIRONMENT = {**os.environ, "GRADCAST_CONFIG": "none", "NO_COLOR": "1"}


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

    def test_what_is_drawn_depends_on_seed_iteration_and_the_buckets_order_alone(self):
        """Two trainings end at the same bits, on all processes. They are those of workers in one process, whose bucket
        has DDP's order: that of the module in the first iteration, later that in which gradients become ready. Workers
        in the module's order are `gradcast train`'s (below)."""
        for size, answers in self.answers.items():
            for number, options in enumerate(DRAWING):
                with self.subTest(**options, processes=size):
                    weights, orders = answers[0]["drawn"][number][0]
                    for answer in answers:
                        for again, _ in answer["drawn"][number]:
                            self.assertTrue(torch.equal(again, weights))
                    self.assertEqual([len(buckets) for buckets in orders], [1] * 4)
                    net = made.LeNet5()
                    shards = made.Shards(size, BATCH)
                    workers = gt.Workers(size, net, made.optimizer(net, learning_rate_of(options["compressor"])),
                                         gt.hook(**options))
                    parameters = dict(net.named_parameters())
                    for iteration, [order] in enumerate(orders):
                        workers._names, workers._parameters = list(order), [parameters[name] for name in order]
                        workers.step([lambda w=worker: made.loss_of(net, self.data, shards.batch_of(w, iteration))
                                      for worker in range(size)])
                    rounding = 1e-6 if options.get("shared_seed") else 0  # Gloo's all-reduce has an order of its own
                    self.assertLessEqual(float((flat(net) - weights).abs().max()), rounding)

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
                    self.assertEqual(sum(its for _, its in wire), payload)

    def test_bytes_are_those_of_the_forecast_with_options(self):
        for number, (options, flags) in enumerate(SENT):
            with self.subTest(**options):
                for answer in self.answers[2]:
                    wire, bytes_sent = answer["sent"][number]
                    self.assertEqual(bytes_sent, sum(its for _, its in wire))
                    sent = forecast(self.folder, options["compressor"], 2, [], flags)[1]
                    self.assertEqual(by_rings(wire, 2), sent)

    def test_powersgd_sends_numbers_of_the_gradients_type_as_the_forecast_has_it(self):
        for number, (its_type, options, flags) in enumerate(SENT_OF_16_BITS):
            for answer in self.answers[2]:
                with self.subTest(type=its_type, **options):
                    wire, bytes_sent = answer["sent of 16 bits"][number]
                    self.assertEqual(bytes_sent, sum(its for _, its in wire))
                    payload, sent = forecast(self.folder, "powersgd", 2, [], flags)
                    self.assertEqual((bytes_sent, by_rings(wire, 2)), (payload, sent))

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

    def test_a_step_that_overflows_leaves_no_trace(self):
        """An infinity on one process: all skip the step. Scales are powers of two, so nothing else is rounded."""
        for number, options in enumerate(SCALED):
            for answer in self.answers[2]:
                with self.subTest(options["compressor"]):
                    (plain, scale), (weights, reduced) = answer["scaled"][number]
                    self.assertEqual((scale, reduced), (1024, 128))  # halved three times
                    self.assertTrue(torch.isfinite(weights).all())
                    self.assertTrue(torch.equal(weights, plain), (weights - plain).abs().max())

    def test_an_overflow_that_another_exchange_follows_costs_one_step(self):
        for answer in self.answers[2]:
            self.assertEqual(answer["twice"], 512)

    def test_processes_with_other_settings_are_refused(self):
        for answer in self.answers[2]:
            self.assertEqual(len(answer["refused"]), 3)
            for error, setting in zip(answer["refused"], ("density", "seed", "scaler")):
                self.assertIn(setting, error)
                self.assertNotIn("\n", error)
            for error in answer["states"]:
                self.assertRegex(error, r"\A(no state|the state is|the model takes no hook).*\Z")

    def test_sparse_gradients_are_refused(self):
        line = ("parameter '0.weight' gets sparse gradients, and compressors take dense ones: make its embedding with "
                "sparse=False")
        for answer in self.answers[2]:
            self.assertEqual(answer["sparse"], [line] * 2)

    def test_a_training_resumes_whatever_buckets_ddp_makes(self):
        for answer in self.answers[2]:
            for make, (buckets, steps) in answer["beside"].items():
                with self.subTest(make):
                    self.assertGreater(len(buckets), 1)
                    if make == "delaying":  # DDP itself does not wait for the all-reduce that is delayed
                        continue
                    for step, (whole, resumed) in enumerate(steps):
                        self.assertTrue(torch.equal(whole, resumed), f"step {step}")

    def test_a_process_ends_well_while_a_thread_holds_a_callback(self):
        in_world(2, self.folder, world_of_a_late_thread)  # "terminate called without an active exception" before

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

    def test_modules_of_16_bits_and_of_mixed_types_train(self):
        """A gradient has its parameter's type. Of one type in all, what is sent whole is as wide as that."""
        for types, bytes_of_number in (((torch.bfloat16, torch.bfloat16), 2), ((torch.bfloat16, torch.float32), 4)):
            net = torch.nn.Sequential(*(torch.nn.Linear(3, 3, bias=False, dtype=dtype) for dtype in types))
            before = [parameter.clone() for parameter in net.parameters()]
            workers = gt.Workers(2, net, torch.optim.SGD(net.parameters(), lr=0.5), gt.hook("dense"))
            draw = torch.ones(3, dtype=torch.bfloat16)
            workers.step([lambda: net[1](net[0](draw).to(types[1])).sum()] * 2)
            self.assertEqual(workers.bytes_sent, 2 * 18 * bytes_of_number)
            for parameter, old, dtype in zip(net.parameters(), before, types):
                self.assertEqual(parameter.grad.dtype, dtype)
                self.assertFalse(torch.equal(parameter, old))

    def test_what_powersgd_rounds_is_made_up_for(self):
        """Of one gradient again and again, the mean of what arrives comes to be that gradient, also where both workers'
        numbers are rounded on the way. Of rank 1, a matrix of rank 12 takes some iterations. A gradient of 30s has a P
        of 30 x 30 x 240 where Q is as large as the gradient: fp16 ends at 65,504."""
        for dtype, mode, size in ((torch.bfloat16, "code", 1), (torch.bfloat16, "paper", 1), (torch.float16, "code", 1),
                                  (torch.float16, "paper", 1), (torch.float16, "paper", 30)):
            with self.subTest(dtype=dtype, mode=mode, size=size):
                torch.manual_seed(1)
                net = torch.nn.Linear(20, 12, dtype=dtype)
                wanted = [(size * torch.randn(12, 20)).to(dtype) for _ in range(2)]
                workers = gt.Workers(2, net, torch.optim.SGD(net.parameters(), lr=0.0),
                                     gt.hook("powersgd", mode=mode, parameter=1))
                arrived = torch.zeros(12, 20)
                for _ in range(300):
                    workers.step([lambda its=its: (net.weight * its).sum() + net.bias.sum() for its in wanted])
                    arrived += net.weight.grad / 300
                mean = sum(its.float() for its in wanted) / 2
                self.assertLess(float((arrived - mean).norm() / mean.norm()), 0.1)

    def test_parameters_without_elements_send_nothing(self):
        """A layer of no outputs, say. DDP takes it."""
        for name in ALL:
            sent = []
            for outputs in (None, 0):
                torch.manual_seed(1)
                net = torch.nn.Linear(4, 4)
                if outputs is not None:
                    net.empty = torch.nn.Linear(4, outputs)
                workers = gt.Workers(2, net, torch.optim.SGD(net.parameters(), lr=0.1), gt.hook(name))
                workers.step([lambda: net(torch.ones(4)).square().sum() + sum(p.sum() for p in net.parameters())] * 2)
                sent.append((workers.bytes_sent, net.weight.tolist()))
            self.assertEqual(*sent, name)

    def test_parameters_that_the_optimizer_lacks_do_not_add_up(self):
        """Their gradients would take the place of others' in a selection over the whole model."""
        def trained(held):
            torch.manual_seed(1)
            net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 3))
            parameters = net[1].parameters() if held == "head" else net.parameters()
            workers = gt.Workers(2, net, torch.optim.SGD(parameters, lr=0.0), gt.hook("topk", density=0.1))
            for _ in range(4):
                workers.step([lambda: net(torch.ones(1, 8)).square().sum()] * 2)
            return torch.cat([parameter.grad.flatten() for parameter in net.parameters()])

        self.assertTrue(torch.equal(trained("head"), trained("all")))

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


CPU = torch.device("cpu")


class Memory(unittest.TestCase):
    def test_what_is_kept_moves_with_the_parameter(self):
        settings = gt.hook("topk").settings
        pieces = [_exchange.Piece(name, number, 2, 1) for number, name in enumerate("abc")]
        memory = _exchange.Memory(settings, pieces)
        memory.group(0, ["a", "b", "c"], CPU).kept["residual"].copy_(torch.arange(6.0))
        self.assertEqual(memory.group(0, ["c"], CPU).kept["residual"].tolist(), [4, 5])
        self.assertEqual(memory.group(1, ["b", "a"], CPU).kept["residual"].tolist(), [2, 3, 0, 1])
        self.assertEqual(memory.state()["a"]["residual"].tolist(), [0, 1])


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main(argv=[argument for argument in sys.argv if argument != "--long"])
