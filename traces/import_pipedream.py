#!/usr/bin/env python3
"""Turns a PipeDream profile into traces/profile-<model>-pipedream.csv, on standard output.

usage: import_pipedream.py GRAPH.txt BATCH

GRAPH.txt is profiler/image_classification/profiles/<model>/graph.txt of msr-fiddle/pipedream@7db6a1c
(MIT). Its lines name one operator each, with milliseconds and bytes; edges between them are indented and
not needed, since nodes are numbered in the order they ran.
"""
import re
import sys

NODE = re.compile(
    r"node(\d+) -- (\w+).*forward_compute_time=([\d.]+), backward_compute_time=([\d.]+), "
    r"activation_size=[\d.]+, parameter_size=([\d.]+)"
)

HEADER = """\
# Forward and backward time of each operator of one iteration, batch {batch}, as measured by others:
# msr-fiddle/pipedream@7db6a1c, profiler/image_classification/profiles (MIT, (c) 2015- Microsoft
# Corporation). The GPU is not named. Each operator was timed with a device synchronisation, and carries
# its 0.25 to 0.4 ms: use the shares, not the times. Operators without parameters are folded into the one
# before them, data loading is left out. Made by traces/import_pipedream.py.
operator,parameters,forward_seconds,backward_seconds"""


def read_nodes(path):
    """(number, operator, forward ms, backward ms, parameters), in the order of execution."""
    nodes = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("\t") or not line.strip():
                continue
            found = NODE.match(line)
            if not found:
                sys.exit(f"{path}:{number}: not a line of a PipeDream graph")
            node, name, forward, backward, size = found.groups()
            nodes.append((int(node), name, float(forward), float(backward), int(float(size)) // 4))
    return sorted(node for node in nodes if node[1] != "Input")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rows = []
    for number, name, forward, backward, parameters in read_nodes(sys.argv[1]):
        if parameters > 0:
            rows.append([f"node{number} {name}", parameters, 0.0, 0.0])
        rows[-1][2] += forward
        rows[-1][3] += backward
    print(HEADER.format(batch=int(sys.argv[2])))
    for name, parameters, forward, backward in rows:
        print(f"{name},{parameters},{forward / 1000:.6f},{backward / 1000:.6f}")


main()
