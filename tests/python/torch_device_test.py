#!/usr/bin/env python3
"""python/gradcast/torch with the kernels of a GPU in place of the definitions: the same weights, bit for bit. The
kernels run in the emulator, on the CPU.

usage: torch_device_test.py [unittest's arguments]      exit code 77: skipped, there is no torch, or no emulator
The libraries are found as a user's are (python/gradcast/_paths.py).
"""
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import torch
except Exception as failure:
    print(f"skipped: no torch: {failure}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "python"), str(pathlib.Path(__file__).parent)]
import gradcast.torch as gt  # noqa: E402
import made  # noqa: E402
from gradcast import _device  # noqa: E402
from gradcast._paths import library_path  # noqa: E402
from gradcast.torch import _coders, _exchange  # noqa: E402
from worlds import in_world, short_training  # noqa: E402

try:
    EMULATED = _device.Kernels(str(library_path("libgradcast_emulated_compressors.so")))
except ImportError as failure:
    print(f"skipped: no emulator: {failure}")
    sys.exit(77)

WORKERS = 3


def net():
    """10,342 elements in five tensors: one that the kernels count as large, and small ones."""
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Conv2d(1, 6, 3), torch.nn.Flatten(), torch.nn.Linear(216, 46, bias=False),
                               torch.nn.Tanh(), torch.nn.Linear(46, 6))


def batches(iteration):
    draw = torch.Generator().manual_seed(100 + iteration)
    return [(torch.randn(4, 1, 8, 8, generator=draw), torch.randint(6, (4,), generator=draw))
            for _ in range(WORKERS)]


def trained(options, kernels, iterations=3, dtype=torch.float32):
    """Weights and residuals of all workers, by these kernels (None: the definitions)."""
    model = net().to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with mock.patch.object(_coders, "kernels_of", lambda device: kernels):
        workers = gt.Workers(WORKERS, model, optimizer, gt.hook(**options))
        for iteration in range(iterations):
            workers.step([lambda x=x, y=y: torch.nn.functional.cross_entropy(model(x.to(dtype)), y)
                          for x, y in batches(iteration)])
    kinds = {type(group.coder) for memory in workers._memories for group in memory._groups.values()}
    assert kinds == {_coders.OnCpu if kernels is None else _coders.OnDevice}
    weights = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    kept = [memory.state() for memory in workers._memories]
    return weights, kept, workers.bytes_sent


OPTIONS = [*({"compressor": its.name} for its in gt.compressors()),
           *({"compressor": its.name, "mode": "paper"} for its in gt.compressors() if its.two_modes),
           {"compressor": "topk", "selection": "per-tensor", "density": 0.05},
           {"compressor": "gaussian", "selection": "per-tensor", "density": 0.05, "value_type": "bf16"},
           {"compressor": "randk", "selection": "per-tensor", "feedback": False},
           {"compressor": "randk", "shared_seed": True}, {"compressor": "topk", "value_type": "fp16"},
           {"compressor": "dgc", "density": 0.02, "momentum_correction": 0.9, "masking": True, "warmup_iterations": 3},
           {"compressor": "qsgd", "shared_scale": True}, {"compressor": "qsgd", "selection": "per-tensor"},
           {"compressor": "terngrad", "shared_scale": True, "selection": "per-tensor", "feedback": True},
           {"compressor": "int8", "parameter": 64, "selection": "per-tensor"},
           {"compressor": "powersgd", "parameter": 2, "feedback": False}]


class Kernels(unittest.TestCase):
    def test_the_kernels_train_as_the_definitions_do(self):
        self.assert_alike(OPTIONS, torch.float32)

    def test_the_kernels_read_gradients_of_16_bits_as_they_are(self):
        """The definitions are given widened copies of them; what is received is rounded once."""
        self.assert_alike(OPTIONS, torch.bfloat16)
        self.assert_alike([options for options in OPTIONS if options["compressor"] in ("dgc", "qsgd")], torch.float16)

    def test_a_bucket_with_more_elements_than_indices_is_cut(self):
        """10,342 elements in five tensors. Where indices reach 5,000, they are 5,000, 5,000 and 342."""
        for options in ({"compressor": "topk"}, {"compressor": "gaussian", "selection": "per-tensor"},
                        {"compressor": "qsgd"}, {"compressor": "qsgd", "shared_scale": True},
                        {"compressor": "dgc", "momentum_correction": 0.9, "masking": True, "warmup_iterations": 2}):
            with mock.patch.object(_exchange, "MOST_TOGETHER", 5000):
                self.assert_alike([options], torch.float32)
        net = torch.nn.Sequential(torch.nn.Linear(10, 10, bias=False), torch.nn.Linear(10, 10, bias=False))
        start = net.state_dict()
        start = {name: tensor.clone() for name, tensor in start.items()}
        weights = []
        for most, selection in ((100, "merged"), (2**31 - 1, "per-tensor")):
            net.load_state_dict(start)
            with mock.patch.object(_exchange, "MOST_TOGETHER", most):
                workers = gt.Workers(2, net, torch.optim.SGD(net.parameters(), lr=0.1),
                                     gt.hook("topk", density=0.05, selection=selection))
                for _ in range(3):
                    workers.step([lambda x=x: net(x).square().sum() for x in torch.eye(10)[:2]])
            self.assertEqual(workers.elements_sent, 3 * 2 * 2 * 5)
            weights.append(torch.cat([parameter.detach().flatten() for parameter in net.parameters()]))
        self.assertTrue(torch.equal(*weights))

    def assert_alike(self, many, dtype):
        for options in many:
            with self.subTest(dtype=dtype, **options):
                expected, kept_there, bytes_there = trained(options, None, dtype=dtype)
                weights, kept, sent = trained(options, EMULATED, dtype=dtype)
                self.assertEqual(sent, bytes_there)
                if options["compressor"] == "powersgd":  # to the rounding of sums of floats
                    rounding = {"rtol": 1e-4, "atol": 1e-6} if dtype == torch.float32 else {}  # of a mean to 16 bits
                    torch.testing.assert_close(weights, expected, **rounding)
                    continue
                self.assertTrue(torch.equal(weights, expected))
                for mine, theirs in zip(kept, kept_there):
                    for name, views in theirs.items():
                        for what, view in views.items():
                            self.assertTrue(torch.equal(mine[name][what], view), f"{what} of {name}")

    def test_processes_over_gloo_train_alike(self):
        """DDP's buckets, which it rebuilds after the first iteration; and the second one's addresses."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            torch.save(made.Data(), folder / "data")
            for by_definitions, by_kernels in in_world(2, folder, world_of_both):
                for options, expected, weights in zip(IN_PROCESSES, by_definitions, by_kernels):
                    with self.subTest(**options):
                        self.assertTrue(torch.equal(weights, expected))

    def test_a_gradient_of_16_bits_that_is_sent_whole_comes_back(self):
        """topk of everything over one worker sends the gradient itself."""
        for dtype in (torch.bfloat16, torch.float16):
            for kernels in (None, EMULATED):
                with mock.patch.object(_coders, "kernels_of", lambda device: kernels):
                    settings = gt.hook("topk", density=1).settings
                    memory = _exchange.Memory(settings, [_exchange.Piece("w", 0, 5, 1)])
                    gradient = torch.tensor([1, -2, 0.1, 3, 0.5], dtype=dtype)
                    before = gradient.clone()
                    group = memory.group(0, ["w"], gradient.device)
                    running = _exchange.exchange(settings, group, gradient, _exchange.Turn(0, 1, 0))
                    gathering = next(running)
                    self.assertEqual(gathering.bytes, 5 * 8)
                    with self.assertRaises(StopIteration):
                        running.send([gathering.tensor])
                    self.assertTrue(torch.equal(gradient, before))
                    self.assertEqual(gradient.dtype, dtype)

    def test_calls_that_no_caller_should_make(self):
        floats, words = torch.zeros(64), torch.zeros(64, dtype=torch.int32)
        at, place = floats.data_ptr(), words.data_ptr()
        pack = _device.PackTensor(at, None, 8, 1, place, place)
        with self.assertRaisesRegex(gt.InputError, "^gradcast_prepare_pack_encode: no compressor 'x'"):
            EMULATED.pack_encode("x", 0, [pack])
        with self.assertRaisesRegex(gt.InputError, "topk is no cast or quantiser"):
            EMULATED.pack_encode("topk", 0, [pack])
        with self.assertRaisesRegex(gt.InputError, "qsgd's levels is 0, and must be a whole number from 1"):
            EMULATED.pack_encode("qsgd", 0, [pack])
        with self.assertRaisesRegex(gt.InputError, "a tensor lacks a pointer"):
            EMULATED.pack_encode("fp16", 0, [_device.PackTensor(None, None, 8, 1, place, place)])
        with self.assertRaisesRegex(gt.InputError, "elements, not 0"):
            EMULATED.pack_encode("fp16", 0, [_device.PackTensor(at, None, 0, 1, place, place)])
        with self.assertRaisesRegex(gt.InputError, "a matrix of 0 x 3"):
            EMULATED.low_rank("powersgd", 1, "code", [_device.LowRankTensor(at, at, 0, 3, 1, at, at, at, place)])
        preparation = EMULATED.pack_encode("fp16", 0, [pack])
        with self.assertRaisesRegex(gt.InputError, f"of 16 bytes, where {preparation.bytes} are needed"):
            preparation.call(at, 16, 0)
        memory = torch.zeros(preparation.bytes + 255, dtype=torch.uint8)
        call = preparation.call(memory.data_ptr() + -memory.data_ptr() % 256, preparation.bytes, 0)
        with self.assertRaisesRegex(gt.InputError, "^gradcast_run: no step 1: there are 1"):
            call.run(1, 0)
        call.run(0, 0)
        decode = EMULATED.pack_decode("fp16", 0, 1, 1.0, [_device.unpacked([place], at, 8)])
        room = torch.zeros(decode.bytes + 255, dtype=torch.uint8)
        with self.assertRaisesRegex(gt.InputError, "a decode draws nothing"):
            decode.call(room.data_ptr() + -room.data_ptr() % 256, decode.bytes, 0).set_round(1, 0)
        call.release()
        with self.assertRaisesRegex(gt.InputError, "call is null"):
            call.run(0, 0)

    def test_two_sets_are_merged_in_memory_that_is_lent(self):
        """3 at 1 and 4 at 5; -3 at 1, 2 at 2 and 1 at 5: of 0, 2 and 5 the two largest."""
        sets = []
        kept = []
        for indices, values in (((1, 5), (3.0, 4.0)), ((1, 2, 5), (-3.0, 2.0, 1.0))):
            kept.append((torch.tensor(values), torch.tensor(indices, dtype=torch.int32), torch.tensor([len(values)])))
            sets.append(_device.SparseSet(*(tensor.data_ptr() for tensor in kept[-1])))
        values, indices, count = torch.zeros(2), torch.zeros(2, dtype=torch.int32), torch.zeros(1, dtype=torch.int64)
        places = values.data_ptr(), indices.data_ptr(), count.data_ptr()
        merge = EMULATED.sparse_merge(*sets, 3, 2, "fp32", *places)
        room = torch.zeros(merge.bytes + 255, dtype=torch.uint8)
        merge.call(room.data_ptr() + -room.data_ptr() % 256, merge.bytes, 0).run(0, 0)
        self.assertEqual((values.tolist(), indices.tolist(), count.item()), ([2, 5], [2, 5], 2))
        with self.assertRaisesRegex(gt.InputError, f"of 64 bytes, where {merge.bytes} are needed"):
            merge.call(room.data_ptr(), 64, 0)
        with self.assertRaisesRegex(gt.InputError, "a set has 1 to 1073741823 pairs"):
            EMULATED.sparse_merge(*sets, 0, 2, "fp32", *places)
        with self.assertRaisesRegex(gt.InputError, "a momentum is 0 to below 1"):
            EMULATED.momentum(1, _device.MomentumTensor(places[0], places[0], 2, None, None))
        with self.assertRaisesRegex(gt.InputError, "indices with their count, or neither"):
            EMULATED.momentum(0.9, _device.MomentumTensor(places[0], places[0], 2, places[1], None))

    def test_a_gpu_without_kernels_is_said(self):
        with mock.patch.object(_device, "LIBRARY", "none.so"), self.assertRaisesRegex(gt.InputError, "where nvcc is"):
            _device.cuda_kernels.__wrapped__()


IN_PROCESSES = [{"compressor": "topk", "density": 0.05}, {"compressor": "gaussian", "density": 0.05},
                {"compressor": "qsgd"}, {"compressor": "terngrad", "shared_scale": True}, {"compressor": "fp16"}]


def world_of_both(rank, size, data, shards, folder):
    def weights():
        return [short_training(data, shards, rank, options, 3)[0] for options in IN_PROCESSES]

    by_definitions = weights()
    with mock.patch.object(_coders, "kernels_of", lambda device: EMULATED):
        return by_definitions, weights()


if __name__ == "__main__":
    unittest.main(verbosity=1)
