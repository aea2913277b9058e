"""--serve: one JSON object a line, one answer a request."""
import json
import os
import sys

from .device import cuda_version, device_name, open_bench, version
from .encoders import ENCODERS
from .errors import BaselineError, one_line
from .inputs import INPUTS
from .limits import are_counts, is_count, is_seconds
from .measurement import Point, measured_or_error


def need(request, key, good, what):
    value = request.get(key)
    if not good(value):
        raise BaselineError(f"'{key}' is {json.dumps(value)}: should be {what}")
    return value


def point_of(request, variant):
    if not isinstance(request, dict):
        raise BaselineError("a request is a JSON object")
    tensors = need(request, "tensors", are_counts(1), "a list of elements, 1 to 2147483647")
    wanted = need(request, "wanted", are_counts(0), "a list of what is wanted of each tensor")
    if not tensors or len(tensors) != len(wanted):
        raise BaselineError(f"{len(tensors)} tensors, {len(wanted)} wanted")
    workers = need(request, "workers", are_counts(1), "a list of numbers of workers")
    distribution = need(request, "distribution", lambda value: isinstance(value, str), "a name")
    if distribution not in INPUTS:
        raise BaselineError(f"no distribution '{distribution}' here: {', '.join(INPUTS)}")
    names = [need(request, key, lambda value: isinstance(value, str), "a text")
             for key in ("compressor", "mode")]
    if (*names, variant) not in ENCODERS:
        raise BaselineError(f"no compressor '{names[0]}' of mode '{names[1]}', variant {variant}")
    return Point(*names, variant, tensors, wanted, distribution, workers)


def answer(bench, line, variant):
    try:
        request = json.loads(line)
        point = point_of(request, variant)
        seconds = need(request, "seconds", is_seconds, "seconds, above 0")
        seed = need(request, "seed", is_count, "a number from 0 on")
    except (ValueError, BaselineError) as error:
        return {"error": one_line(error)}
    result, failure = measured_or_error(bench, point, seconds, seed)
    if failure:
        return {"error": failure}
    return {"encode": result.encode[:3], "decode": [timing[:3] for timing in result.decode],
            "selected": result.selected, "recall": result.recall, "variant": variant}


def take_stdout():
    """The protocol's own stream; whatever else writes to standard output goes to standard error."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    return stream


def serve(flags):
    protocol = take_stdout()

    def say(value):
        protocol.write(json.dumps(value) + "\n")
        protocol.flush()

    try:
        bench = open_bench(flags.device)
    except BaselineError as error:
        say({"error": one_line(error)})
        return error.code
    say({"torch": version(), "device": device_name(bench.device), "cuda": cuda_version(bench)})
    for line in iter(sys.stdin.readline, ""):
        if line.strip():
            say(answer(bench, line, flags.variant))
    return 0
