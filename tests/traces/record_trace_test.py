#!/usr/bin/env python3
"""traces/record_trace.py gives each layer its time. Needs torch and torchvision, no GPU, no timm.

usage: record_trace_test.py [unittest's arguments]      exit code 77: skipped, there is no torch
GRADCAST_PROGRAM, or build/gradcast where it is there, is made to read what was recorded.
"""
import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import torch
    import torchvision
except Exception as failure:
    print(f"skipped: no torch or no torchvision: {failure}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "traces" / "record_trace.py"
PROGRAM = pathlib.Path(os.environ.get("GRADCAST_PROGRAM", ROOT / "build" / "gradcast"))
MODELS = ROOT / "models"
PROFILE = ROOT / "tests" / "sim" / "import" / "traces" / "resnet50-ddp-a100x2.json.gz"
sys.path.insert(0, str(SCRIPT.parent))
sys.dont_write_bytecode = True
from recording import layers, networks, trace_file  # noqa: E402
from recording.clocks import CpuClock, GpuClock  # noqa: E402
from recording.device import slug_of  # noqa: E402
from recording.errors import TraceError  # noqa: E402
from recording.precision import rounds_to_tf32  # noqa: E402
from recording.provenance import comments  # noqa: E402
from recording.record import record  # noqa: E402
from recording.training import CLASSES, Training, time_parts, warm_up  # noqa: E402

CPU = torch.device("cpu")


def read_trace(path):
    """(comment lines, rows)"""
    lines = path.read_text("utf-8").splitlines()
    rows = [line.split(",") for line in lines if not line.startswith("#")]
    assert rows[0] == ["tensor", "forward_seconds", "backward_seconds"], rows[0]
    return ([line for line in lines if line.startswith("#")],
            [(tensor, float(forward), float(backward)) for tensor, forward, backward in rows[1:]])


def kinds_of(comments):
    """The subjects of the comment lines, each once, in order: a key, or the source."""
    kinds = []
    for line in comments:
        text = line[len("# "):]
        kind = ("what was read" if text.startswith("  ") else
                "source" if text.endswith(" from:") else text.split(":")[0])
        if kind not in kinds:
            kinds.append(kind)
    return kinds


def tensors_of(model):
    return [row.tensor for row in networks.read_model(MODELS / f"{model}.csv")]


# ---- stand-ins -----------------------------------------------------------------------------------


class Owner(torch.nn.Module):
    """Parameters of the rows' sizes; adds their mean to what it is given."""

    def __init__(self):
        super().__init__()
        self.act = torch.nn.ReLU()  # as timm's normalisation has one: parameters beside a child

    def forward(self, x):
        return self.act(x + sum(parameter.mean() for parameter in self.parameters()))


class StandIn(torch.nn.Module):
    """A network of a model file's parameters, named and nested as they are, called in order."""

    def __init__(self, rows, rename=lambda name: name):
        super().__init__()
        self.order = []
        for row in rows:
            path, _, last = rename(row.tensor).rpartition(".")
            owner = self.child(path)
            owner.register_parameter(last, torch.nn.Parameter(torch.zeros(row.elements)))
            if owner not in self.order:
                self.order.append(owner)

    def child(self, path):
        """Made where it is not there; the last of the path owns parameters."""
        module = self
        names = path.split(".")
        for i, name in enumerate(names):
            if name not in dict(module.named_children()):
                module.add_module(name, Owner() if i == len(names) - 1 else torch.nn.Module())
            module = getattr(module, name)
        return module

    def forward(self, images):
        x = images.mean(dim=(1, 2, 3))[:, None].expand(-1, CLASSES)
        for owner in self.order:
            x = owner(x)
        return x


def stand_in_for_timm(rename=lambda name: name):
    rows = networks.read_model(MODELS / "inception-v4.csv")

    def create_model(name, pretrained):
        assert (name, pretrained) == ("inception_v4", False)
        return StandIn(rows, rename)

    return types.SimpleNamespace(create_model=create_model, __version__="stand-in")


class Sleep(torch.autograd.Function):
    """An operator without parameters that takes a known time."""

    @staticmethod
    def forward(context, x, forward_seconds, backward_seconds):
        context.seconds = backward_seconds
        time.sleep(forward_seconds)
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        time.sleep(context.seconds)
        return gradient.clone(), None, None


class ThreeLayers(torch.nn.Module):
    """first, then 20 ms forward and 40 ms backward, second, then 60 ms and 10 ms, third."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 4)
        self.second = torch.nn.BatchNorm1d(4)
        self.third = torch.nn.Linear(4, CLASSES, bias=False)

    def forward(self, images):
        x = self.first(images.mean(dim=(2, 3)))
        x = Sleep.apply(x, 0.02, 0.04)
        x = self.second(x)
        x = Sleep.apply(x, 0.06, 0.01)
        return self.third(x)


THREE_LAYERS = [networks.Row(layer, f"{layer}.{name}", elements)
                for layer, name, elements in (("first", "weight", 12), ("first", "bias", 4),
                                              ("second", "weight", 4), ("second", "bias", 4),
                                              ("third", "weight", 4 * CLASSES))]


# ---- tests ---------------------------------------------------------------------------------------


class Attribution(unittest.TestCase):
    def test_operators_without_parameters_belong_to_the_layer_before_them(self):
        network = ThreeLayers()
        mapping, _ = networks.names_of_tensors(network, THREE_LAYERS, "three.csv")
        training = Training(network, 2, CPU, contextlib.nullcontext)
        warm_up(training, 1)
        parts, both, _ = time_parts(training, 0)
        forward, backward, iterations = layers.time_layers(training, mapping, 1)
        self.assertGreaterEqual(iterations, 3)
        for times, expected in ((forward, {"first": 0.02, "second": 0.06, "third": 0}),
                                (backward, {"first": 0.04, "second": 0.01, "third": 0})):
            self.assertEqual(set(times), set(expected))
            for layer, seconds in expected.items():
                self.assertGreaterEqual(times[layer], seconds)
                self.assertLess(times[layer], seconds + 0.03)  # the machine may be busy
        self.assertGreaterEqual(both, 0.13)
        self.assertAlmostEqual(parts.forward + parts.backward, both, delta=0.03)

    def test_hooks_are_gone_afterwards(self):
        network = ThreeLayers()
        mapping, _ = networks.names_of_tensors(network, THREE_LAYERS, "three.csv")
        training = Training(network, 2, CPU, contextlib.nullcontext)
        layers.time_layers(training, mapping, 0)
        with mock.patch.object(training.clock, "mark", wraps=training.clock.mark) as mark:
            training.iterate()
        self.assertEqual(mark.call_count, 4)

    def test_on_a_gpu_the_first_iteration_after_a_wait_does_not_count(self):
        class Clock(GpuClock):
            def __init__(self):
                self.waits = 0

            mark, seconds = CpuClock.mark, CpuClock.seconds

            def wait(self):
                self.waits += 1

        training = Training(ThreeLayers(), 2, CPU, contextlib.nullcontext)
        training.clock = Clock()
        begun = []
        training.iterate = lambda: begun.append(0) or [0, len(begun), 2 * len(begun), 100]
        (forward, _, _), _, iterations = time_parts(training, 0)
        self.assertEqual((len(begun), iterations, training.clock.waits), (6, 5, 1))
        self.assertEqual(forward, 4)  # of 2, 3, 4, 5, 6

    def test_fp32_is_not_taken_for_tf32(self):
        self.assertFalse(rounds_to_tf32(CPU))

    def test_marks_become_times_between_them(self):
        # Started at 10, layers a, b, a again at 11, 13, 16; forward ended at 20: a has what is
        # before its first mark, and 13 - 10 + 20 - 16 = 7 of the 10.
        clock = CpuClock()
        times = layers.forward_times(clock, [10, 20, 40], [("a", 11), ("b", 13), ("a", 16)])
        self.assertEqual(times, {"a": 7, "b": 3})
        # Backward from 20: gradients at 22, 27, 29, then nothing until 40, which is the last one's.
        times = layers.backward_times(clock, [10, 20, 40], [("c", 22), ("b", 27), ("a", 29)])
        self.assertEqual(times, {"c": 2, "b": 5, "a": 13})

    def test_a_layers_first_tensor_has_its_forward_and_the_last_its_backward_time(self):
        forward, backward = ({"first": 1, "second": 2, "third": 3},
                             {"first": 4, "second": 5, "third": 6})
        self.assertEqual(layers.tensor_times(THREE_LAYERS, forward, backward, 10),
                         [("first.weight", 10, 0), ("first.bias", 0, 40), ("second.weight", 20, 0),
                          ("second.bias", 0, 50), ("third.weight", 30, 60)])

    def test_a_layer_that_took_no_part_is_an_error(self):
        times = {"first": 1, "second": 1}
        with self.assertRaisesRegex(TraceError, "third took no part in forward"):
            layers.require_all_layers(THREE_LAYERS, times, {**times, "third": 1})


class Names(unittest.TestCase):
    def test_torchvisions_networks_have_the_tensors_of_the_models(self):
        for model, function, arguments in (("alexnet", "alexnet", {}),
                                           ("resnet-50", "resnet50", {}),
                                           ("vgg-16", "vgg16", {"init_weights": False})):
            network = getattr(torchvision.models, function)(weights=None, **arguments)
            path = MODELS / f"{model}.csv"
            mapping, how = networks.names_of_tensors(network, networks.read_model(path), path)
            self.assertEqual(how, "by name")
            self.assertEqual([row.tensor for row in mapping.values()], tensors_of(model))
            self.assertEqual(list(mapping), [name for name, _ in network.named_parameters()])

    def test_other_names_are_taken_in_order_where_the_elements_are_equal(self):
        network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4),
                                      torch.nn.Linear(4, CLASSES, bias=False))
        mapping, how = networks.names_of_tensors(network, THREE_LAYERS, "three.csv")
        self.assertIn("in order", how)
        self.assertEqual(mapping["1.bias"].tensor, "second.bias")

    def test_another_network_is_refused(self):
        rows = THREE_LAYERS
        wrong = rows[:2] + [rows[2]._replace(elements=5)] + rows[3:]
        for given, said in ((rows[:-1], "4 tensors, the network here has 5"),
                            (wrong, "second.weight has 5 elements")):
            with self.assertRaisesRegex(TraceError, said) as caught:
                networks.names_of_tensors(ThreeLayers(), given, "three.csv")
            self.assertEqual(caught.exception.code, 3)

    def test_slugs_name_devices_as_calibrate_does(self):
        for name, slug in (("NVIDIA H200", "h200"), ("Tesla V100-PCIE-32GB", "v100-pcie-32gb"),
                           ("NVIDIA GeForce RTX 4090", "rtx-4090"),
                           ("Intel(R) Xeon(R) CPU @ 2.20GHz", "intel-xeon")):
            self.assertEqual(slug_of(name), slug)

    def test_times_are_written_without_exponent(self):
        for seconds, text in ((0.0, "0"), (1.5, "1.5"), (2.1e-7, "0.00000021"), (3e-5, "0.00003")):
            self.assertEqual(trace_file.plain(seconds), text)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_it(self, *arguments):
        return subprocess.run([sys.executable, str(SCRIPT), "--device", "cpu", "--out",
                               str(self.folder), *arguments], capture_output=True, text=True,
                              timeout=300)

    def require_trace(self, path, model):
        """The file is a trace of the model, and its parts add up to what its comment says."""
        lines, rows = read_trace(path)
        self.assertEqual([tensor for tensor, _, _ in rows], tensors_of(model))
        self.assertEqual([line.split(":")[0] for line in lines[:3]],
                         ["# device", "# batch", "# update"])
        told = next(line for line in lines if line.startswith("# without hooks: "))
        together = float(told.split("together ")[1].split("s")[0])
        self.assertAlmostEqual(sum(f + b for _, f, b in rows), together, delta=1e-6, msg=told)
        if PROGRAM.exists():
            done = subprocess.run([str(PROGRAM), "simulate", "--model", model, "--trace", str(path),
                                   "--engine", "analytic"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        return lines

    def test_alexnet_in_both_precisions(self):
        done = self.run_it("--models", "alexnet", "--batch", "1", "--seconds", "0.2", "--warm-up",
                           "1", "--precision", "fp32,amp", "--slug", "test")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ["iteration-alexnet-test-amp.csv", "iteration-alexnet-test.csv"])
        plain = self.require_trace(self.folder / "iteration-alexnet-test.csv", "alexnet")
        mixed = self.require_trace(self.folder / "iteration-alexnet-test-amp.csv", "alexnet")
        self.assertIn("# batch: 1", plain)
        self.assertIn("# precision: fp32", plain)
        self.assertIn("bfloat16", "".join(mixed))

    def test_comment_lines_stand_in_the_importers_order(self):
        shared = ["device", "batch", "update", "source", "what was read", "used", "left out",
                  "inferred"]
        done = self.run_it("--models", "alexnet", "--batch", "1", "--seconds", "0", "--warm-up",
                           "1", "--slug", "test")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        recorded, _ = read_trace(self.folder / "iteration-alexnet-test.csv")
        self.assertEqual(kinds_of(recorded)[:len(shared)], shared)
        self.assertIn("#   torchvision alexnet, random weights", "\n".join(recorded))
        if PROGRAM.exists():
            subprocess.run([str(PROGRAM), "import", str(PROFILE), "-o", str(self.folder), "--name",
                            "net", "-q"], check=True, capture_output=True)
            imported = next((self.folder / "traces").glob("iteration-net-*.csv"))
            lines = imported.read_text("utf-8").splitlines()
            kinds = kinds_of(line for line in lines if line.startswith("#"))
            self.assertEqual([kind for kind in kinds if kind in shared], shared)

    def test_a_comment_is_one_line_whatever_a_device_is_called(self):
        self.assertEqual(comments(["device: a\nb\tc"]), "# device: a b c\n")

    def record_inception(self, timm):
        flags = argparse.Namespace(models_dir=MODELS, batch=2, warm_up=1, seconds=0.0,
                                   out=self.folder, slug="test", tf32=False, tf32_text="")
        with mock.patch.dict(sys.modules, timm=timm):
            network = networks.build_network("inception-v4")
            path, _ = record("inception-v4", "fp32", network, CPU, flags)
        return "".join(self.require_trace(path, "inception-v4"))

    def test_inception_v4_by_a_stand_in_for_timm(self):
        self.assertIn("inception-v4.csv, by name", self.record_inception(stand_in_for_timm()))

    def test_inception_v4_where_timm_names_it_otherwise(self):
        timm = stand_in_for_timm(lambda name: name.replace("features.", "blocks."))
        self.assertIn("inception-v4.csv, in order", self.record_inception(timm))

    def test_a_file_that_cannot_be_written_leaves_nothing(self):
        target = self.folder / "trace.csv"
        with mock.patch.object(os, "replace", side_effect=OSError("disk full")):
            with self.assertRaisesRegex(TraceError, "disk full"):
                trace_file.write_whole(target, "text\n")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_is_wrong_is_one_line(self):
        (self.folder / "alexnet.csv").write_text(
            "layer,tensor,elements,forward_flops\na,a.weight,3,0\n", encoding="utf-8")
        for code, arguments in ((2, ["--models", "lenet"]), (2, ["--batch", "0"]),
                                (2, ["--device", "tpu"]), (2, ["--out", "/no/such/folder"]),
                                (5, ["--device", "cuda:77"]),
                                (3, ["--models", "alexnet", "--models-dir", str(self.folder)]),
                                (3, ["--models", "alexnet", "--models-dir", "/no/such/folder"])):
            done = self.run_it(*arguments)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (code, 1),
                             (arguments, done.stderr))

    def test_without_timm_nothing_is_measured(self):
        with mock.patch.dict(sys.modules, timm=None):
            with self.assertRaisesRegex(TraceError, "inception-v4 needs timm") as caught:
                networks.require_packages(["alexnet", "inception-v4"])
        self.assertEqual(caught.exception.code, 5)


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
