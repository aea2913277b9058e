"""A recording: from a model's name to its trace."""
import datetime
import time

from .device import device_name, open_device, release
from .errors import USAGE, TraceError
from .layers import require_all_layers, tensor_times, time_layers
from .networks import SOURCES, build_network, names_of_tensors, read_model, require_packages
from .precision import autocast_of, precision_text, set_tf32
from .software import software
from .torch_here import torch
from .trace_file import file_name, plain, trace_text, write_whole
from .training import Training, time_parts, warm_up


def record(model, precision, network, device, flags):
    """Measures and writes one file; returns its path and a line of what was measured."""
    path = flags.models_dir / f"{model}.csv"
    rows = read_model(path)
    mapping, how = names_of_tensors(network, rows, path)
    training = Training(network, flags.batch, device, autocast_of(precision, device))
    warm_up(training, flags.warm_up)
    parts, both, unhooked = time_parts(training, flags.seconds / 2)
    forward, backward, hooked = time_layers(training, mapping, flags.seconds / 2)
    require_all_layers(rows, forward, backward)
    hooked_total = sum(forward.values()) + sum(backward.values())
    factor = both / hooked_total
    package, function = SOURCES[model]
    heading = [
        f"device: {device_name(device)}",
        f"batch: {flags.batch}",
        f"update: {plain(parts.update)}s",
        f"precision: {precision_text(precision, device, flags.tf32_text)}",
        f"network: {package} {function}, random weights; images random, 3 x 224 x 224, NCHW",
        f"software: {software(model, device)}",
        f"date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}",
        f"samples: {unhooked} iterations without hooks, {hooked} with, after {flags.warm_up} to"
        " warm up; medians",
        f"without hooks: forward {plain(parts.forward)}s, backward {plain(parts.backward)}s,"
        f" together {plain(both)}s",
        f"with hooks: the parts add up to {plain(hooked_total)}s; all of them were multiplied by"
        f" {factor:.4f}",
        f"tensors: matched with {model}.csv {how}",
        "optimizer: SGD, momentum 0.9, weight decay 0.0001, as torch runs it by default; zero_grad"
        " sets to none and is in no time",
        "method: a layer's forward time lasts until the next one with parameters begins, a"
        " gradient's backward time begins where the one before it was accumulated"
        + ("; cuDNN searches for its fastest convolutions" if device.type == "cuda" else ""),
        "Made by traces/record_trace.py.",
    ]
    target = flags.out / file_name(model, precision, device, flags)
    write_whole(target, trace_text(heading, tensor_times(rows, forward, backward, factor)))
    return target, (f"forward + backward {1e3 * both:.3f} ms, update {1e3 * parts.update:.3f} ms, "
                    f"factor {factor:.3f}")


def record_all(flags):
    device = open_device(flags.device)
    if not flags.out.is_dir():
        raise TraceError(f"--out: no folder {flags.out}", USAGE)
    for model in flags.models:
        read_model(flags.models_dir / f"{model}.csv")
    require_packages(flags.models)
    torch.manual_seed(1)
    flags.tf32_text = "" if device.type == "cpu" else set_tf32(flags.tf32, device)
    torch.backends.cudnn.benchmark = True
    for model in flags.models:
        network = build_network(model)
        for precision in flags.precision:
            begin = time.perf_counter()
            path, line = record(model, precision, network, device, flags)
            print(f"{path}: {line} ({time.perf_counter() - begin:.0f} s)", flush=True)
            release(device)
        del network
        release(device)
