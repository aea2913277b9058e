#!/usr/bin/env python3
"""Turns a PipeDream profile into traces/profile-<model>-pipedream.csv, on standard output.

usage: import_pipedream.py GRAPH.txt

GRAPH.txt is profiler/image_classification/profiles/<model>/graph.txt of msr-fiddle/pipedream@7db6a1c
(MIT). Its lines name one operator each, with milliseconds and bytes; edges between them are indented and
not needed, since nodes are numbered in the order they ran.
"""
import re
import sys

NODE = re.compile(
    r"node(\d+) -- (\w+).*forward_compute_time=([\d.]+), backward_compute_time=([\d.]+), "
    r"activation_size=([\d.]+), parameter_size=([\d.]+)"
)
IMAGE_BYTES = 4 * 3 * 224 * 224

HEADER = """\
# Forward and backward time of each operator of one iteration, batch {batch}, as measured by others:
# msr-fiddle/pipedream@7db6a1c, profiler/image_classification/profiles (MIT, (c) 2015- Microsoft
# Corporation). The GPU is not named. Each operator was timed with a device synchronisation, and carries
# its 0.25 to 0.4 ms; the first convolution may have been timed cold. Use the shares, not the times.
# Operators without parameters are folded into the one before them, data loading is left out.
# Made by traces/import_pipedream.py.
operator,parameters,forward_seconds,backward_seconds"""


def read_nodes(path):
    """(number, operator, forward ms, backward ms, activation bytes, parameters), as they ran."""
    nodes = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("\t") or not line.strip():
                continue
            found = NODE.match(line)
            if not found:
                sys.exit(f"{path}:{number}: not a line of a PipeDream graph")
            node, name, *times, activation, parameters = found.groups()
            bytes_of = (int(float(activation)), int(float(parameters)) // 4)
            nodes.append((int(node), name, *map(float, times), *bytes_of))
    return sorted(nodes)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    (_, first, _, _, input_bytes, _), *nodes = read_nodes(sys.argv[1])
    if first != "Input" or input_bytes % IMAGE_BYTES:
        sys.exit(f"{sys.argv[1]}: does not begin with a batch of 224 x 224 images")
    rows = []
    for number, name, forward, backward, _, parameters in nodes:
        if parameters > 0:
            rows.append([f"node{number} {name}", parameters, 0.0, 0.0])
        rows[-1][2] += forward
        rows[-1][3] += backward
    print(HEADER.format(batch=input_bytes // IMAGE_BYTES))
    for name, parameters, forward, backward in rows:
        print(f"{name},{parameters},{forward / 1000:.6f},{backward / 1000:.6f}")


main()
