#!/usr/bin/env python3
"""torch_baseline.py selects what it says and keeps its protocol. Needs torch, no GPU.

usage: torch_baseline_test.py [unittest's arguments]      exit code 77: skipped, there is no torch
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest
from unittest import mock

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import torch
except Exception as failure:
    print(f"skipped: no torch: {failure}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "kernels" / "bench" / "torch_baseline.py"
sys.path.insert(0, str(SCRIPT.parent))
sys.dont_write_bytecode = True
from torch_timing import decoders, encoders, inputs, measurement, selections  # noqa: E402
from torch_timing.bench import Bench, enough  # noqa: E402

CPU = torch.device("cpu")
QUICK = {"tensors": [3000, 500], "wanted": [30, 5], "distribution": "normal", "workers": [1, 3],
         "seconds": 0.01, "seed": 1}


def normal_sum(elements, seed=1):
    """Gradient and residual."""
    torch.manual_seed(seed)
    return torch.randn(elements), torch.randn(elements)


def encoded(key, gradient, residual, k):
    """(values, indices, new residual); the inputs stay as they are."""
    after = residual.clone()
    values, indices = encoders.ENCODERS[key](gradient.clone(), after, k)
    return values, indices, after


class Selection(unittest.TestCase):
    def test_nothing_is_lost_whatever_is_selected(self):
        for key in encoders.ENCODERS:
            for elements, k in ((1, 1), (7, 0), (7, 7), (1000, 1), (5000, 50), (5000, 4000)):
                with self.subTest(key=key, elements=elements, k=k):
                    gradient, residual = normal_sum(elements)
                    values, indices, after = encoded(key, gradient, residual, k)
                    self.assertEqual(indices.dtype, torch.int32)
                    self.assertEqual(len(set(indices.tolist())), indices.numel())
                    self.assertTrue(torch.all(after[indices.long()] == 0))
                    after[indices.long()] = values
                    self.assertTrue(torch.equal(after, gradient + residual))

    def test_nothing_is_lost_of_any_input(self):
        for distribution in inputs.INPUTS:
            for key in encoders.ENCODERS:
                with self.subTest(key=key, distribution=distribution):
                    point = measurement.Point(*key, [4000], [40], distribution, [])
                    buffers = measurement.Buffers(point, CPU, 1)
                    gradient, residual = (pristine[:4000] for pristine in buffers.pristine)
                    values, indices, after = encoded(key, gradient, residual, 40)
                    after[indices.long()] = values
                    u = gradient + residual
                    self.assertTrue(torch.equal(torch.nan_to_num(after), torch.nan_to_num(u)))

    def test_these_send_exactly_k(self):
        gradient, residual = normal_sum(20000)
        for key in (("topk", "", "as-launched"), ("topk", "", "best"), ("randk", "", "as-launched"),
                    ("rtopk", "", "as-launched"), ("trimmed", "paper", "as-launched"),
                    ("dgc", "code", "as-launched")):
            with self.subTest(key=key):
                self.assertEqual(encoded(key, gradient, residual, 20)[1].numel(), 20)

    def test_topk_in_both_variants_and_trimmed_of_the_paper_find_the_same(self):
        gradient, residual = normal_sum(20000)
        largest = set(torch.topk((gradient + residual).abs(), 20).indices.tolist())
        for key in (("topk", "", "as-launched"), ("topk", "", "best"),
                    ("trimmed", "paper", "as-launched")):
            self.assertEqual(set(encoded(key, gradient, residual, 20)[1].tolist()), largest)

    def test_rtopk_sends_of_the_five_k_largest(self):
        gradient, residual = normal_sum(20000)
        largest = set(torch.topk((gradient + residual).abs(), 100).indices.tolist())
        sent = set(encoded(("rtopk", "", "as-launched"), gradient, residual, 20)[1].tolist())
        self.assertLess(sent, largest)

    def test_gaussian_of_one_side_sends_half_and_of_two_sides_all_of_what_is_wanted(self):
        # kernels.md, section 5, of 4.2 M normal elements: 0.520 k and 1.021 k; here of 1 M, where
        # the count's own deviation is 1/sqrt(1000) = 3 %.
        gradient, residual = normal_sum(1 << 20)
        k = (1 << 20) // 1000
        for variant in ("as-launched", "best"):
            paper = encoded(("gaussian", "paper", variant), gradient, residual, k)[1].numel() / k
            code = encoded(("gaussian", "code", variant), gradient, residual, k)[1].numel() / k
            self.assertAlmostEqual(paper, 0.52, delta=0.08)
            self.assertAlmostEqual(code, 1.02, delta=0.10)

    def test_gaussian_evaluates_as_often_as_it_may(self):
        # One element in 1000 is far out: the deviation is theirs, and nothing passes at first.
        u = torch.full((10000,), 1e-3)
        u[::1000] = 1e3
        for mode, most in (("paper", 4), ("code", 3)):
            with mock.patch.object(selections, "above", wraps=selections.above) as above:
                encoded(("gaussian", mode, "as-launched"), u, torch.zeros(10000), 1000)
                self.assertEqual(above.call_count, most)

    def test_dgc_of_the_code_selects_again_and_of_the_paper_rarely(self):
        # The code's rank in the sample of 1 % is k, not k/100: about 100 k pass.
        gradient, residual = normal_sum(1 << 20)
        k = (1 << 20) // 1000
        with mock.patch.object(selections, "largest_among",
                               wraps=selections.largest_among) as again:
            encoded(("dgc", "code", "as-launched"), gradient, residual, k)
            (_, candidates, _), = (call.args for call in again.call_args_list)
            self.assertAlmostEqual(candidates.numel() / k, 100, delta=10)
        sent = encoded(("dgc", "paper", "as-launched"), gradient, residual, k)[1].numel()
        self.assertGreater(sent, 0.2 * k)
        self.assertLessEqual(sent, 4 * k / 3)

    def test_trimmed_of_the_code_sends_at_least_k_and_ends_on_a_constant(self):
        key = ("trimmed", "code", "as-launched")
        self.assertGreaterEqual(encoded(key, *normal_sum(20000), 20)[1].numel(), 20)
        constant = torch.full((100,), 0.01)
        self.assertEqual(encoded(key, constant, constant, 3)[1].numel(), 100)

    def test_decode_adds_the_sets_of_all_workers(self):
        values, indices = torch.tensor([1.0, 2.0]), torch.tensor([0, 5], dtype=torch.int32)
        # The second worker's set is moved by 8 / 2; a third sends the first one's again.
        for workers, sums in ((2, [1, 2, 0, 0, 1, 2, 0, 0]), (3, [2, 2, 0, 0, 1, 4, 0, 0])):
            sets = decoders.sets_of_workers(values, indices, 8, workers, distinct=2)
            for decode in decoders.DECODERS.values():
                dense = torch.full((8,), 9.0)
                decode(dense, sets)
                self.assertEqual(dense.tolist(), sums)

    def test_sets_of_many_workers_are_bounded(self):
        one = [(torch.zeros(1 << 20), None)]  # 8 MiB
        self.assertEqual([decoders.distinct_sets(one, n) for n in (1, 16, 256)], [1, 16, 128])


class Measurement(unittest.TestCase):
    def test_every_point_is_measured_in_every_variant(self):
        bench = Bench(CPU)
        bench.scratch = torch.empty(1)
        for key in encoders.ENCODERS:
            with self.subTest(key=key):
                point = measurement.Point(*key, [3000, 500], [30, 5], "normal", [1, 3])
                result = measurement.measure(bench, point, 0.002, 1)
                self.assertGreaterEqual(result.encode.samples, 3)
                self.assertGreater(result.encode.median, 0)
                self.assertLessEqual(result.encode.median, result.encode.p95)
                self.assertEqual(len(result.decode), 2)

    def test_residual_and_gradient_are_restored_before_each_sample(self):
        bench = Bench(CPU)
        bench.scratch = torch.empty(1)
        seen = []

        def encode(gradient, residual, k):
            seen.append((gradient.clone(), residual.clone()))
            return encoders.as_launched(selections.select_topk)(gradient, residual, k)

        key = ("topk", "", "as-launched")
        with mock.patch.dict(encoders.ENCODERS, {key: encode}):
            measurement.measure(bench, measurement.Point(*key, [100], [3], "normal", []), 0.001, 1)
        for gradient, residual in seen[1:]:
            self.assertTrue(torch.equal(gradient, seen[0][0]))
            self.assertTrue(torch.equal(residual, seen[0][1]))

    def test_recall_counts_equal_magnitudes_as_good(self):
        u = torch.tensor([3.0, -1.0, 1.0, 1.0, 0.0])
        for indices, found in (([0, 1], 2), ([0, 3], 2), ([1, 2, 3], 1), ([4], 0), ([], 0)):
            indices = torch.tensor(indices, dtype=torch.int32)
            self.assertEqual(measurement.found_of_largest(u, indices, 2), found)

    def test_samples_are_enough_by_time_number_or_certainty(self):
        steady = [1.0] * 20
        varied = [1.0, 2.0] * 10
        for times, elapsed, verdict in ((steady, 0.1, True), (varied, 0.1, False),
                                        (varied, 1.0, True), (varied[:3], 1.9, False),
                                        (varied[:3], 2.0, True), (varied[:2], 9.0, False),
                                        (varied * 50, 0.1, True)):
            self.assertEqual(enough(times, elapsed, seconds=1.0), verdict)

    def test_out_of_memory_is_a_line_and_the_next_point_is_measured(self):
        bench = Bench(CPU)
        bench.scratch = torch.empty(1)
        point = measurement.Point("topk", "", "as-launched", [100], [3], "normal", [])
        with mock.patch.object(measurement, "Buffers", side_effect=RuntimeError("out of\nmemory")):
            self.assertEqual(measurement.measured_or_error(bench, point, 0.01, 1),
                             (None, "out of memory"))
        self.assertIsNone(measurement.measured_or_error(bench, point, 0.01, 1)[1])


class Protocol(unittest.TestCase):
    def talk(self, *lines, arguments=()):
        """(exit code, the objects it wrote, standard error)."""
        done = subprocess.run([sys.executable, str(SCRIPT), "--serve", "--device", "cpu",
                               *arguments], input="".join(line + "\n" for line in lines),
                              capture_output=True, text=True, timeout=120)
        return done.returncode, [json.loads(s) for s in done.stdout.splitlines()], done.stderr

    def test_it_says_what_it_is_and_answers_every_request_on_a_line(self):
        requests = [{**QUICK, "compressor": "topk", "mode": ""},
                    {**QUICK, "compressor": "gaussian", "mode": "paper", "workers": []},
                    {**QUICK, "compressor": "dgc", "mode": "code", "distribution": "ties"}]
        code, (hello, *answers), errors = self.talk(*map(json.dumps, requests))
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(hello["torch"], torch.__version__.split("+")[0])
        self.assertEqual(hello["cuda"], "")
        self.assertTrue(hello["device"])
        self.assertEqual(len(answers), 3)
        for request, answer in zip(requests, answers):
            self.assertEqual(list(answer),
                             ["encode", "decode", "selected", "recall", "variant"])
            self.assertEqual(answer["variant"], "as-launched")
            self.assertEqual(len(answer["decode"]), len(request["workers"]))
            for median, p95, samples in [answer["encode"], *answer["decode"]]:
                self.assertTrue(0 < median <= p95)
                self.assertGreaterEqual(samples, 3)
        self.assertEqual((answers[0]["selected"], answers[0]["recall"]), (35, 1))

    def test_a_bad_request_is_answered_and_does_not_end_it(self):
        bad = ["{", "[]", json.dumps({**QUICK, "compressor": "topk", "mode": "code"}),
               json.dumps({**QUICK, "compressor": "topk", "mode": "", "distribution": "x"}),
               json.dumps({**QUICK, "compressor": "topk", "mode": "", "wanted": [1]}),
               json.dumps({**QUICK, "compressor": "topk", "mode": "", "tensors": [0, 1]}),
               json.dumps({**QUICK, "compressor": "topk", "mode": "", "seconds": 0}),
               json.dumps({**QUICK, "compressor": ["topk"], "mode": ""}),
               json.dumps({**QUICK, "compressor": "topk", "mode": "", "seed": None})]
        good = json.dumps({**QUICK, "compressor": "randk", "mode": ""})
        code, (_, *answers), errors = self.talk(*bad, good)
        self.assertEqual((code, errors), (0, ""))
        for line, answer in zip(bad, answers):
            self.assertEqual(list(answer), ["error"], line)
        self.assertEqual(answers[-1]["selected"], 35)

    def test_the_best_variant_is_served_when_asked_for(self):
        request = json.dumps({**QUICK, "compressor": "gaussian", "mode": "code"})
        lacking = json.dumps({**QUICK, "compressor": "randk", "mode": ""})
        _, (_, answer, error), _ = self.talk(request, lacking, arguments=["--variant", "best"])
        self.assertEqual(answer["variant"], "best")
        self.assertIn("best", error["error"])

    def test_a_device_that_is_not_there_is_an_error_and_exit_code_5(self):
        code, said, _ = self.talk(arguments=["--device", "gpu:77"])
        self.assertEqual((code, [list(line) for line in said]), (5, [["error"]]))

    def test_without_torch_it_is_an_error_and_exit_code_5(self):
        program = ("import sys; sys.modules['torch'] = None; sys.argv[0] = 'torch_baseline.py'; "
                   "import runpy; "
                   f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')")
        done = subprocess.run([sys.executable, "-c", program, "--serve"], capture_output=True,
                              text=True, input="")
        self.assertEqual(done.returncode, 5)
        self.assertIn("no torch", json.loads(done.stdout)["error"])


class Table(unittest.TestCase):
    def run_it(self, *arguments):
        return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True,
                              text=True, timeout=120)

    def test_a_row_for_each_compressor_mode_and_variant(self):
        done = self.run_it("--device", "cpu", "--elements", "5000", "--seconds", "0.01",
                           "--variant", "all", "--workers", "2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = done.stdout.splitlines()
        self.assertEqual(len(rows), 2 + len(encoders.ENCODERS))
        self.assertIn("decode 2", rows[1])

    def test_a_model_is_handled_tensor_by_tensor(self):
        done = self.run_it("--device", "cpu", "--models", "resnet-50", "--compressors", "gaussian",
                           "--densities", "0.01", "--seconds", "0.01", "--workers", "1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(" 161    25557032", done.stdout)

    def test_wrong_flags_and_files_are_one_line(self):
        for code, arguments in ((2, ["--densities", "2"]), (2, ["--compressors", "best"]),
                                (2, ["--elements", "0"]), (2, ["--device", "tpu"]),
                                (2, ["--serve", "--variant", "all"]),
                                (2, ["--variant", "best", "--compressors", "randk"]),
                                (3, ["--models", "no-such", "--device", "cpu"])):
            done = self.run_it(*arguments)
            self.assertEqual((done.returncode, len(done.stderr.splitlines()), done.stdout),
                             (code, 1, ""), (arguments, done.stderr))


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
