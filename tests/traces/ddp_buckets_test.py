#!/usr/bin/env python3
"""traces/record_trace.py --ddp-buckets writes the buckets that DDP makes. Needs torch and
torchvision, no GPU, no network.

usage: ddp_buckets_test.py [unittest's arguments]      exit code 77: skipped, there is no torch
"""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import torch
    import torchvision  # noqa: F401
except Exception as failure:
    print(f"skipped: no torch or no torchvision: {failure}")
    sys.exit(77)
if not torch.distributed.is_available():
    print("skipped: a torch without torch.distributed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "traces" / "record_trace.py"
MODELS = ROOT / "models"
sys.path.insert(0, str(SCRIPT.parent))
sys.dont_write_bytecode = True
from recording import ddp_buckets, networks  # noqa: E402
from recording.ddp_buckets import Gradient, Sent  # noqa: E402
from recording.errors import TraceError  # noqa: E402

RESNET_50 = [2049000, 7875584, 6563840, 6637568, 2431040]
GRADIENTS = [Gradient("a.weight", 10, 40), Gradient("a.bias", 2, 8), Gradient("b.weight", 5, 20)]
LOG = {"has_rebuilt_buckets": 1, "rebuilt_per_bucket_param_indices": "2 1, 0",
       "rebuilt_bucket_sizes": "28, 40", "prev_iteration_grad_ready_order_indices": "1, 2, 0"}


def run_it(folder, *arguments):
    return subprocess.run([sys.executable, str(SCRIPT), "--device", "cpu", "--out", str(folder),
                           "--ddp-buckets", *arguments], capture_output=True, text=True,
                          timeout=300)


def train_in_world(rank, size, folder):
    """Writes what the last process's DDP says of ResNet-50."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/world", rank=rank,
                                         world_size=size)
    network = networks.build_network("resnet-50")
    wrapped = torch.nn.parallel.DistributedDataParallel(network)
    for _ in range(ddp_buckets.ITERATIONS):
        wrapped(torch.randn(2, 3, 64, 64)).sum().backward()
    if rank == size - 1:
        log = wrapped._get_ddp_logging_data()
        pathlib.Path(folder, "log").write_text(log["rebuilt_per_bucket_param_indices"], "utf-8")
    torch.distributed.destroy_process_group()


class Reading(unittest.TestCase):
    def test_rows_are_in_order_of_sending_with_the_place_in_which_each_became_ready(self):
        self.assertEqual(ddp_buckets.in_order_of_sending(LOG, GRADIENTS),
                         [Sent(1, "b.weight", 5, 20, 2), Sent(1, "a.bias", 2, 8, 1),
                          Sent(2, "a.weight", 10, 40, 3)])

    def test_a_log_without_rebuilt_buckets_is_an_error_of_one_line(self):
        for log in ({}, {**LOG, "has_rebuilt_buckets": 0}):
            with self.assertRaisesRegex(TraceError, "did not rebuild its buckets") as caught:
                ddp_buckets.in_order_of_sending(log, GRADIENTS)
            self.assertEqual(caught.exception.code, 1)
            self.assertNotIn("\n", str(caught.exception))

    def test_a_log_that_contradicts_itself_or_the_network_is_refused(self):
        for key, value, said in (("rebuilt_per_bucket_param_indices", "2 1", "3 gradients"),
                                 ("rebuilt_per_bucket_param_indices", "2 1, 0 0", "3 gradients"),
                                 ("prev_iteration_grad_ready_order_indices", "7", "3 gradients"),
                                 ("rebuilt_bucket_sizes", "28, 41", "not as large"),
                                 ("rebuilt_bucket_sizes", "many", "ValueError")):
            with self.assertRaisesRegex(TraceError, said):
                ddp_buckets.in_order_of_sending({**LOG, key: value}, GRADIENTS)
        with self.assertRaisesRegex(TraceError, "rebuilt_bucket_sizes"):
            ddp_buckets.in_order_of_sending(
                {key: LOG[key] for key in LOG if key != "rebuilt_bucket_sizes"}, GRADIENTS)


class Recording(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_resnet_50_has_the_five_buckets_of_a_real_run(self):
        done = run_it(self.folder, "--models", "resnet-50")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(", ".join(map(str, RESNET_50)), done.stdout)
        path = self.folder / "buckets-resnet-50-ddp.csv"
        lines = path.read_text("utf-8").splitlines()
        comments = [line for line in lines if line.startswith("#")]
        self.assertRegex(comments[0], "^# device: .")
        self.assertEqual(comments[1], "# batch: 2")
        self.assertEqual(comments[2], "# Recorded by traces/record_trace.py as ddp-buckets from:")
        self.assertIn(f"# software: torch {torch.__version__}", "\n".join(comments))
        self.assertIn("# bucket cap: 26214400 bytes, the first 1048576", "\n".join(comments))
        rows = list(csv.DictReader(lines[len(comments):]))
        self.assertEqual(list(rows[0]), ["bucket", "tensor", "elements", "bytes", "ready"])
        elements = [sum(int(row["elements"]) for row in rows if row["bucket"] == str(bucket))
                    for bucket in range(1, 6)]
        self.assertEqual(elements, RESNET_50)
        model = networks.read_model(MODELS / "resnet-50.csv")
        self.assertEqual({row["tensor"]: int(row["elements"]) for row in rows},
                         {row.tensor: row.elements for row in model})
        self.assertTrue(all(int(row["bytes"]) == 4 * int(row["elements"]) for row in rows))
        self.assertEqual(sorted(int(row["ready"]) for row in rows), list(range(1, 162)))
        self.assertEqual([row["bucket"] for row in rows], sorted(row["bucket"] for row in rows))

    def test_a_world_of_two_rebuilds_the_same_buckets_as_a_world_of_one(self):
        logs = []
        for size in (1, 2):
            folder = self.folder / str(size)
            folder.mkdir()
            torch.multiprocessing.spawn(train_in_world, (size, str(folder)), nprocs=size)
            logs.append((folder / "log").read_text("utf-8"))
        self.assertEqual(logs[0], logs[1])
        self.assertEqual(len(logs[0].split(",")), len(RESNET_50))

    def test_flags_that_only_times_need_are_refused(self):
        for flag in (["--batch", "4"], ["--precision", "amp"], ["--tf32"], ["--seconds", "1"],
                     ["--warm-up", "2"], ["--slug", "mine"]):
            done = run_it(self.folder, *flag)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            self.assertIn(f"{flag[0]} is of no use with --ddp-buckets", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
