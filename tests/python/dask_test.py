#!/usr/bin/env python3
"""A sweep on a Dask cluster of two processes has the rows of one sweep. Exits with 77 without dask.distributed."""
import pathlib
import sys
import unittest

try:
    from dask.distributed import Client
except ImportError:
    print("skipped: no dask.distributed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples"))
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import gradcast as gc  # noqa: E402
from dask_sweep import sweep_on  # noqa: E402


class Dask(unittest.TestCase):
    def test_parts_have_the_rows_of_the_whole(self):
        lists = {"models": ["alexnet", "resnet-50"], "compressors": ["dense", "topk"], "cluster": "10gbe"}
        nodes = [2, 4, 8]
        with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
            client.upload_file(str(ROOT / "examples/dask_sweep.py"))
            by_dask = sweep_on(client, nodes, **lists)
        whole = gc.ask("sweep", nodes=nodes, progress=False, **lists).rows
        self.assertEqual(len(whole), 12)
        by_key = {row["key"]: row for row in whole}
        self.assertEqual({row["key"]: row for row in by_dask}, by_key)
        self.assertEqual(len(by_dask), len(whole))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
