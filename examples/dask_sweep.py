#!/usr/bin/env python3
"""A sweep over the machines of a Dask cluster: each worker makes the points of some numbers of nodes.

usage: dask_sweep.py [SCHEDULER]      without an address: a cluster of two workers on this machine
"""
import sys

import gradcast as gc


def part(settings):
    """The rows of one part, on a worker, whose other cores have other parts."""
    return gc.ask("sweep", progress=False, jobs=1, **settings).rows


def sweep_on(client, nodes, **settings):
    """The rows of gc.ask("sweep", nodes=nodes, **settings), in the same order within each number of nodes.
    `client`: a dask.distributed.Client."""
    parts = [{**settings, "nodes": number} for number in nodes]
    return [row for rows in client.gather(client.map(part, parts)) for row in rows]


if __name__ == "__main__":
    from dask.distributed import Client

    here = {"n_workers": 2, "dashboard_address": None}
    with Client(sys.argv[1]) if len(sys.argv) > 1 else Client(**here) as client:
        rows = sweep_on(client, nodes=[1, 2, 4, 8, 16, 32], models=["resnet-50", "bert-base"],
                        compressors=["dense", "powersgd"], cluster="25gbe")
    for row in rows:
        print(row["model"], row["compressor"], row["nodes"], f"{row['iteration_seconds']:.4f} s", row["verdict"] or "")
