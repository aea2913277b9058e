"""A recording: from a model's name to its trace."""
import time

from .ddp_buckets import record_buckets
from .device import device_name, open_device, release
from .errors import USAGE, TraceError
from .layers import require_all_layers, tensor_times, time_layers
from .networks import (build_network, names_of_tensors, network_text, read_model,
                       require_packages)
from .precision import autocast_of, precision_text, set_tf32
from .provenance import provenance
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
    heading = provenance(
        [("device", device_name(device)), ("batch", flags.batch),
         ("update", f"{plain(parts.update)}s")],
        "layer-times", network_text(model),
        [("used", f"{unhooked} iterations without hooks, {hooked} with; medians"),
         ("used", f"the tensors of {model}.csv, {how}"),
         ("left out", f"iterations before them, to warm up: {flags.warm_up}"),
         ("left out", "zero_grad, which sets to none: it is in no time"),
         ("inferred", f"times without hooks: with them the parts add up to {plain(hooked_total)}s;"
                      f" all of them were multiplied by {factor:.4f}")],
        [("without hooks", f"forward {plain(parts.forward)}s, backward {plain(parts.backward)}s,"
                           f" together {plain(both)}s"),
         ("precision", precision_text(precision, device, flags.tf32_text)),
         ("optimizer", "SGD, momentum 0.9, weight decay 0.0001, as torch runs it by default"),
         ("method", "a layer's forward time lasts until the next one with parameters begins, a"
                    " gradient's backward time begins where the one before it was accumulated"
                    + ("; cuDNN searches for its fastest convolutions"
                       if device.type == "cuda" else "")),
         ("software", software(model, device))])
    target = flags.out / file_name(model, precision, device, flags)
    write_whole(target, trace_text(heading, tensor_times(rows, forward, backward, factor)))
    return target, (f"forward + backward {1e3 * both:.3f} ms, update {1e3 * parts.update:.3f} ms, "
                    f"factor {factor:.3f}")


def record_times(model, network, device, flags):
    for precision in flags.precision:
        begin = time.perf_counter()
        path, line = record(model, precision, network, device, flags)
        print(f"{path}: {line} ({time.perf_counter() - begin:.0f} s)", flush=True)
        release(device)


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
        if flags.ddp_buckets:
            path, line = record_buckets(model, network, device, flags)
            print(f"{path}: {line}", flush=True)
        else:
            record_times(model, network, device, flags)
        del network
        release(device)
