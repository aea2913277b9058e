#!/usr/bin/env python3
"""Models and traces of PyTorch modules. Needs torch; exits with 77 where it is not."""
import pathlib
import sys
import time
import unittest

try:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import cross_entropy
    from torch.utils.checkpoint import checkpoint
except ImportError:
    print("skipped: no torch")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import gradcast as gc  # noqa: E402


def lenet():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 6, 5, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(6, 16, 5), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(),
        torch.nn.Linear(400, 120), torch.nn.ReLU(), torch.nn.Linear(120, 84), torch.nn.ReLU(),
        torch.nn.Linear(84, 10))


def rows_of(text):
    lines = [line.split(",") for line in text.splitlines() if not line.startswith("#")]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


class Models(unittest.TestCase):
    def test_layers_tensors_and_arithmetic_are_those_of_the_shipped_lenet(self):
        # 2 x 28 x 28 x 6 x 25 = 235,200 FLOPs of the first convolution, and so on.
        rows = rows_of(gc.Model.from_torch(lenet(), torch.randn(4, 1, 28, 28)).text)
        shipped = rows_of((ROOT / "models/lenet-5.csv").read_text())
        self.assertEqual([int(row["elements"]) for row in rows if "weight" in row["tensor"]],
                         [int(row["elements"]) for row in shipped if "weight" in row["tensor"]])
        by_layer = {row["layer"]: int(row["forward_flops"]) for row in rows if int(row["forward_flops"])}
        self.assertEqual(list(by_layer.values()),
                         [235_200, 2 * 10 * 10 * 16 * 150, 2 * 400 * 120, 2 * 120 * 84, 2 * 84 * 10])
        self.assertEqual(rows[0]["layer"], "0")

    def test_a_type_of_pytorch_is_a_setting(self):
        def bytes_kept(kind):
            run = gc.forecast(model="gpt2-small", cluster="dgx-a100", nodes=2, parameter_type=kind, engine="analytic")
            return run.row["parameters_memory_bytes"]

        self.assertEqual(bytes_kept(torch.bfloat16), bytes_kept("bf16"))
        self.assertNotEqual(bytes_kept(torch.bfloat16), bytes_kept(torch.float32))

    def test_rows_stand_in_the_order_in_which_gradients_get_ready_the_last_first(self):
        class Crossed(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.second = torch.nn.Linear(8, 8, bias=False)  # registered first, used second
                self.first = torch.nn.Linear(8, 8, bias=False)

            def forward(self, x):
                return self.second(self.first(x).relu())

        rows = rows_of(gc.Model.from_torch(Crossed(), torch.randn(2, 8)).text)
        self.assertEqual([row["tensor"] for row in rows], ["first.weight", "second.weight"])

    def test_arithmetic_between_layers_counts_to_the_layer_before(self):
        class Attends(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.qkv = torch.nn.Linear(16, 48, bias=False)
                self.out = torch.nn.Linear(16, 16, bias=False)

            def forward(self, x):
                q, k, v = self.qkv(x).chunk(3, -1)
                return self.out((q @ k.transpose(1, 2)).softmax(-1) @ v)

        rows = rows_of(gc.Model.from_torch(Attends(), torch.randn(3, 10, 16)).text)
        # qkv: 2 x 10 x 16 x 48; two products of 10 x 10 x 16, 2 x 1600 each; out: 2 x 10 x 16 x 16.
        self.assertEqual([int(row["forward_flops"]) for row in rows], [15_360 + 6_400, 5_120])

    def test_what_is_kept_for_backward_counts_once_and_without_parameters(self):
        # A linear layer keeps its input, which is what the ReLU before it keeps too; a maximum's places have 8 bytes.
        net = torch.nn.Sequential(torch.nn.Linear(8, 6), torch.nn.ReLU(), torch.nn.Linear(6, 4), torch.nn.MaxPool1d(2))
        rows = rows_of(gc.Model.from_torch(net, torch.randn(5, 8)).text)
        kept = [(int(row["kept_elements"]), int(row["kept_bytes"])) for row in rows if "weight" in row["tensor"]]
        self.assertEqual(kept, [(8 + 6, 0), (4, 2 * 8)])

    def test_a_slice_of_a_data_set_is_kept_as_the_batch_that_it_is(self):
        images, labels = torch.randn(1000, 8), torch.arange(1000) % 3
        net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(8, 3))

        def kept(example, targets):
            text = gc.Model.from_torch(net, example, loss=lambda output: cross_entropy(output, targets)).text
            return next((int(row["kept_elements"]), int(row["kept_bytes"])) for row in rows_of(text))

        # The input, and log-softmax's output; the labels have 8 bytes each.
        self.assertEqual(kept(images[:5].clone(), labels[:5].clone()), (8 + 3, 8))
        self.assertEqual(kept(images[:5], labels[5:10]), (8 + 3, 8))

    def test_a_part_of_what_a_layer_made_keeps_all_of_it(self):
        class Squares(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(8, 12)

            def forward(self, x):
                return self.linear(x)[:, :4].square()  # keeps its input, a part of 12

        rows = rows_of(gc.Model.from_torch(Squares(), torch.randn(5, 8)).text)
        self.assertEqual([int(row["kept_elements"]) for row in rows], [8 + 12, 0])

    def test_the_meta_device_has_the_model_of_the_cpu_and_no_trace(self):
        net = torch.nn.Sequential(torch.nn.Linear(8, 6), torch.nn.ReLU(), torch.nn.Linear(6, 4))
        example = torch.randn(5, 8)
        text = gc.Model.from_torch(net, example).text
        self.assertEqual(gc.Model.from_torch(net.to("meta"), example.to("meta")).text, text)
        with self.assertRaisesRegex(gc.InputError, "the meta device computes nothing"):
            gc.Trace.measure(net, example.to("meta"))

    def test_sparse_gradients_and_nested_outputs_make_a_model(self):
        class Nested(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.table, self.side = torch.nn.Embedding(9, 4, sparse=True), torch.nn.Linear(4, 4)

            def forward(self, x):
                x = self.table(x)
                return x, {"aux": [self.side(x)], "none": None}

        rows = rows_of(gc.Model.from_torch(Nested(), torch.arange(3).reshape(3, 1)).text)
        self.assertEqual([row["layer"] for row in rows], ["table", "side", "side"])

    def test_recurrent_layers_and_attention_have_their_arithmetic(self):
        # 10 tokens; 4 gates of 64: 2 x 10 x 4 x 64 x (32 + 64) one way, and as many the other way.
        for both_ways, flops in ((False, 491_520), (True, 983_040)):
            lstm = torch.nn.LSTM(32, 64, batch_first=True, bidirectional=both_ways)
            rows = rows_of(gc.Model.from_torch(lstm, torch.randn(4, 10, 32)).text)
            self.assertEqual(sum(int(row["forward_flops"]) for row in rows), flops)

        class Attends(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.project = torch.nn.Linear(16, 48, bias=False)

            def forward(self, x):
                heads = self.project(x).view(*x.shape[:2], 3, 2, 8).permute(2, 0, 3, 1, 4)
                return torch.nn.functional.scaled_dot_product_attention(*heads)

        for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.MATH):
            with sdpa_kernel(backend):
                [row] = rows_of(gc.Model.from_torch(Attends(), torch.randn(3, 10, 16)).text)
            # 2 x 10 x 16 x 48; two products of 2 heads, 2 x 10 x 10 x 8 each.
            self.assertEqual(int(row["forward_flops"]), 15_360 + 2 * 2 * 1_600)

    def test_buffers_stand_on_their_layers_first_row(self):
        class Masked(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mask", torch.ones(3, 3, dtype=torch.bool), persistent=False)
                self.linear = torch.nn.Linear(8, 6)
                self.norm = torch.nn.BatchNorm1d(6)

            def forward(self, x):
                return self.norm(self.linear(x))

        rows = rows_of(gc.Model.from_torch(Masked(), torch.randn(5, 8)).text)
        said = [(row["layer"], int(row["buffer_bytes"]), int(row["counter_bytes"])) for row in rows]
        # The norm has a mean and a variance of 6 floats, and a count; the mask's module has no parameters.
        self.assertEqual(said, [("linear", 0, 9), ("linear", 0, 0), ("norm", 48, 8), ("norm", 0, 0)])
        plain = gc.Model.from_torch(torch.nn.Linear(8, 6), torch.randn(5, 8)).text
        self.assertNotIn("buffer_bytes", plain)

    def test_a_trace_is_measured_and_forecast(self):
        net = lenet()
        trace = gc.Trace.measure(net, torch.randn(16, 1, 28, 28), name="lenet", iterations=3)
        alone = gc.forecast(trace=trace, nodes=1, gpus_per_node=1, preset="paper")
        self.assertEqual(alone.row["model"], "lenet")
        self.assertEqual(alone.row["batch"], 16)
        self.assertGreater(alone.parts["backward"], 0)
        self.assertLess(alone.seconds, 1)
        spread = gc.forecast(trace=trace, cluster="1gbe", nodes=8, preset="paper")
        self.assertGreater(spread.parts["exposed_communication"], 0)
        self.assertTrue(all(parameter.grad is None for parameter in net.parameters()))

    def test_layers_without_a_row_count_to_the_layer_before(self):
        class Sleeps(torch.nn.Linear):
            def forward(self, x):
                time.sleep(0.02)
                return super().forward(x)

        layers = [Sleeps(8, 8), torch.nn.Linear(8, 6), torch.nn.ReLU(), Sleeps(6, 4), torch.nn.ReLU(),
                  torch.nn.Linear(4, 2)]
        for frozen in (0, 3):
            layers[frozen].requires_grad_(False)
        trace = gc.Trace.measure(torch.nn.Sequential(*layers), torch.randn(5, 8), iterations=1)
        rows = [row for row in rows_of(trace.model.text) if "weight" in row["tensor"]]
        self.assertEqual([row["layer"] for row in rows], ["1", "5"])
        # The first has 2 x 8 x 8 of the frozen layer before it, its own 2 x 8 x 6, and 2 x 6 x 4 of the one after it.
        self.assertEqual([int(row["forward_flops"]) for row in rows], [128 + 96 + 48, 16])
        # It keeps its input and the ReLU's output, and the second ReLU's output, since the layer before that is frozen.
        self.assertEqual([int(row["kept_elements"]) for row in rows], [8 + 6 + 4, 0])
        self.assertIn(f"# frozen, in no row: 4 tensors of {4 * (64 + 8 + 24 + 4)} bytes", trace.model.text)
        seconds = {row["tensor"]: float(row["forward_seconds"]) for row in rows_of(trace.text)}
        self.assertGreaterEqual(seconds["1.weight"], 0.04)
        self.assertLess(seconds["5.weight"], 0.02)

    def test_layers_under_no_grad_count_too(self):
        class Features(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.body, self.head = torch.nn.Linear(8, 8), torch.nn.Linear(8, 2)

            def forward(self, x):
                with torch.no_grad():
                    x = self.body(x)
                return self.head(x)

        model = gc.Model.from_torch(Features(), torch.randn(5, 8)).text
        self.assertEqual([int(row["forward_flops"]) for row in rows_of(model)], [128 + 32, 0])
        self.assertIn("left out: body.weight, body.bias", model)

    def test_what_backward_computes_again_is_no_forward(self):
        class Checkpointed(torch.nn.Module):
            def __init__(self, reentrant):
                super().__init__()
                self.first, self.often, self.reentrant = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8), reentrant

            def forward(self, x):
                x = self.first(x)
                for _ in range(3):
                    x = checkpoint(self.often, x, use_reentrant=self.reentrant)
                return x

        for reentrant in (False, True):
            with self.subTest(reentrant=reentrant):
                trace = gc.Trace.measure(Checkpointed(reentrant), torch.randn(5, 8), iterations=3)
                rows = [row for row in rows_of(trace.model.text) if "weight" in row["tensor"]]
                self.assertEqual([row["layer"] for row in rows], ["first", "often"])
                self.assertEqual([int(row["forward_flops"]) for row in rows], [128, 3 * 128])
                self.assertEqual(sum(int(row["kept_elements"]) for row in rows), 8 + 3 * 8)
                self.assertTrue(all(float(row["backward_seconds"]) >= 0 for row in rows_of(trace.text)))
                self.assertGreater(gc.forecast(trace=trace, cluster="1gbe").seconds, 0)

    def test_the_module_the_example_and_random_numbers_are_as_before(self):
        net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Dropout(0.5),
                                  torch.nn.Flatten(), torch.nn.Linear(4 * 36, 5))
        net[0].weight.grad = torch.ones_like(net[0].weight)
        example = torch.full((2, 3, 8, 8), 5.0, requires_grad=True)
        before = {name: value.clone() for name, value in net.state_dict().items()}
        mean, numbers = net[1].running_mean, torch.get_rng_state()
        gc.Model.from_torch(net, example)
        gc.Trace.measure(net, example, iterations=1)
        with self.assertRaises(gc.InputError):
            gc.Model.from_torch(net, example, loss=lambda output: output.nothing)
        for name, value in net.state_dict().items():
            self.assertTrue(torch.equal(value, before[name]), name)
        self.assertIs(net[1].running_mean, mean)
        self.assertTrue(torch.equal(torch.get_rng_state(), numbers))
        self.assertIsNone(example.grad)
        self.assertTrue(torch.equal(net[0].weight.grad, torch.ones_like(net[0].weight)))
        self.assertIsNone(net[4].weight.grad)

    def test_any_name_of_a_layer_makes_a_file(self):
        for name in ("a,b", '"q"', "#c", "é x", "n\nl"):
            net = torch.nn.Module()
            net.add_module(name, torch.nn.Linear(4, 4))
            net.forward = lambda x, net=net, name=name: getattr(net, name)(x)
            with self.subTest(name):
                trace = gc.Trace.measure(net, torch.randn(2, 4), iterations=1)
                self.assertEqual(gc.forecast(trace=trace, cluster="1gbe", nodes=2).row["tensors"], 2)

    def test_a_profile_without_a_gpu_is_one_line(self):
        net = torch.nn.Linear(64, 64)
        with torch.profiler.profile(record_shapes=True) as profile:
            net(torch.randn(8, 64)).sum().backward()
        with self.assertRaises(gc.InputError) as raised:
            gc.Trace.from_profiler(profile)
        self.assertIn("has no kernel of a GPU", str(raised.exception))


class Wrong(unittest.TestCase):
    def test_what_is_no_model_is_one_line(self):
        example = torch.randn(2, 8)
        frozen = torch.nn.Linear(8, 8)
        frozen.requires_grad_(False)
        for net, batch, line in [
            (None, example, "NoneType is no torch.nn.Module"),
            (torch.nn.ReLU(), example, "ReLU has no parameters that are trained"),
            (frozen, example, "Linear has no parameters that are trained"),
            (torch.nn.Linear(9, 8), example, "Linear cannot be run on the example"),
            (torch.nn.Linear(8, 8), None, "example: a tensor whose first dimension is the batch"),
            (torch.nn.Linear(8, 8), torch.tensor(1.0), "example: a tensor whose first dimension is the batch"),
            (torch.nn.Linear(8, 8).double(), example.double(), "weight is of torch.float64"),
            (torch.nn.LazyLinear(8), example, "weight has no shape yet"),
        ]:
            with self.subTest(line):
                with self.assertRaises(gc.InputError) as raised:
                    gc.Model.from_torch(net, batch)
                self.assertIn(line, str(raised.exception))
                self.assertNotIn("\n", str(raised.exception))
        for iterations in (0, 1.5, True, torch.tensor(10_001)):
            with self.assertRaises(gc.InputError):
                gc.Trace.measure(torch.nn.Linear(8, 8), example, iterations=iterations)
        gc.Trace.measure(torch.nn.Linear(8, 8), example, iterations=torch.tensor(1))
        with self.assertRaises(gc.InputError):
            gc.Trace.from_profiler("/nowhere.json")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
