"""A rank of a training by PyTorch: real tensors and real collectives, compute that sleeps.

usage: job.py SETUP.json OUTPUT.json, with RANK, WORLD_SIZE and so on in the environment. SETUP has
`work`: train (`layers`: shape of each tensor, seconds forward and backward, unit; `schedule`, `hook`,
`hook_settings` of a hook of gradcast, `bucket_mib`, `accumulation`, `warm_up`, `iterations`), hook
(the same: what the hook takes on one rank), collective (`collective` of `bytes`) or link (a
measurement of the ground). Rank 0 writes the result, and to PROGRESS, where that is set, a byte when
an iteration begins.
"""
import itertools
import json
import os
import socket
import statistics
import sys
import threading
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Sleep(torch.autograd.Function):
    """Takes a layer's time, and has gradients for all its tensors when backward has slept."""

    @staticmethod
    def forward(context, x, layer, *_):
        context.layer = layer
        time.sleep(layer.forward_seconds)
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        time.sleep(context.layer.backward_seconds)
        return (gradient, None, *context.layer.gradients)


class Layer(nn.Module):
    def __init__(self, shapes, forward_seconds, backward_seconds):
        super().__init__()
        self.tensors = nn.ParameterList([nn.Parameter(torch.zeros(shape)) for shape in shapes])
        # The sleep stands for the time in which a GPU would make these.
        self.gradients = [1e-3 * torch.randn(shape) for shape in shapes]
        self.forward_seconds = forward_seconds
        self.backward_seconds = backward_seconds

    def forward(self, x):
        return Sleep.apply(x, self, *self.tensors)


def register(model, setup, hook_times):
    """Gives the model its communication hook. hook_times: takes what the hook takes on each bucket, or None."""
    if setup["hook_settings"] is not None:
        import gradcast.torch
        gradcast.torch.hook(**setup["hook_settings"]).register(model)
        return
    state, hook = hook_of(setup)
    model.register_comm_hook(state, hook if hook_times is None else timed(hook, hook_times))


def hook_of(setup):
    """A communication hook of PyTorch and its state."""
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
    if setup["hook"] == "fp16":
        return None, default_hooks.fp16_compress_hook
    if setup["hook"] == "bf16":
        # DDP refuses this hook by its name where there is no NCCL; Gloo adds up bfloat16 all the same.
        return None, lambda state, bucket: default_hooks.bf16_compress_hook(state, bucket)
    rank = int(setup["hook"].removeprefix("powersgd"))
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=rank, start_powerSGD_iter=2)
    return state, powerSGD_hook.powerSGD_hook


def timed(hook, times):
    """The hook, which notes elements of each bucket, and seconds until it sends and after."""
    def timing(state, bucket):
        elements = bucket.buffer().numel()
        begin = time.perf_counter()
        future = hook(state, bucket)
        middle = time.perf_counter()
        result = future.wait()
        times.setdefault(elements, []).append((middle - begin, time.perf_counter() - middle))
        done = torch.futures.Future()
        done.set_result(result)
        return done
    return timing


def merged_all_reduce(network):
    """All gradients in one vector, after backward."""
    gradients = [p.grad for p in network.parameters()]
    flat = torch.cat([g.reshape(-1) for g in gradients])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for gradient, part in zip(gradients, flat.split([g.numel() for g in gradients])):
        gradient.copy_(part.view_as(gradient))


def network_of(setup):
    """The layers, or for sharded training the units of layers, one after the other."""
    slow = setup.get("slow")
    factor = slow["factor"] if slow and slow["rank"] == dist.get_rank() else 1
    layers = [(Layer(shapes, factor * forward, factor * backward), unit)
              for shapes, forward, backward, unit in setup["layers"]]
    if setup["schedule"] not in ("fsdp", "hsdp"):
        return nn.Sequential(*[layer for layer, _ in layers])
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    ranks = dist.get_world_size()
    inside = setup["ranks_per_host"] if setup["schedule"] == "hsdp" and ranks > 1 else 1
    mesh = (init_device_mesh("cpu", (ranks // inside, inside), mesh_dim_names=("replica", "shard"))
            if inside > 1 else init_device_mesh("cpu", (ranks,)))
    units = [nn.Sequential(*[layer for layer, _ in group])
             for _, group in itertools.groupby(layers, key=lambda each: each[1])]
    for unit in units:
        fully_shard(unit, mesh=mesh)
    return fully_shard(nn.Sequential(*units), mesh=mesh)


def train(setup, hook_times=None):
    network = network_of(setup)
    schedule = setup["schedule"]
    model, averager = network, None
    if schedule in ("ddp", "static-graph", "find-unused", "zero1", "local-sgd"):
        # Without a size, DDP's first bucket is of 1 MiB; with one, as large as the others.
        size = None if setup["bucket_mib"] == 25 else setup["bucket_mib"]
        model = DistributedDataParallel(network, bucket_cap_mb=size, broadcast_buffers=False,
                                        gradient_as_bucket_view=True, static_graph=schedule == "static-graph",
                                        find_unused_parameters=schedule == "find-unused")
        if setup["hook"]:
            register(model, setup, hook_times)
    if schedule == "zero1":
        from torch.distributed.optim import ZeroRedundancyOptimizer
        optimizer = ZeroRedundancyOptimizer(network.parameters(), optimizer_class=torch.optim.SGD, lr=0.01)
    else:
        optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    if schedule == "local-sgd":
        from torch.distributed.algorithms.ddp_comm_hooks import post_localSGD_hook
        from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
        from torch.distributed.optim import PostLocalSGDOptimizer
        alone = [dist.new_group([rank]) for rank in range(dist.get_world_size())][dist.get_rank()]
        model.register_comm_hook(
            post_localSGD_hook.PostLocalSGDState(None, subgroup=alone, start_localSGD_iter=1),
            post_localSGD_hook.post_localSGD_hook)
        optimizer = PostLocalSGDOptimizer(optimizer, PeriodicModelAverager(period=setup["period"], warmup_steps=1))
    progress = os.environ.get("PROGRESS") if dist.get_rank() == 0 else None
    x = torch.zeros(1, requires_grad=True)
    ends = [time.perf_counter()]
    for _ in range(setup["warm_up"] + setup["iterations"]):
        if progress:
            with open(progress, "a") as file:
                file.write(".")
        for step in range(setup["accumulation"]):
            if model is network or step + 1 == setup["accumulation"]:
                model(x).sum().backward()
            else:
                with model.no_sync():
                    model(x).sum().backward()
        if schedule == "merged":
            merged_all_reduce(network)
        optimizer.step()
        optimizer.zero_grad()
        ends.append(time.perf_counter())
    seconds = [end - begin for begin, end in zip(ends, ends[1:])]
    return {"iteration_seconds": seconds[setup["warm_up"]:]}


def measure_hook(setup):
    """Median seconds of the hook on each size of bucket, on one rank: until it sends, and after."""
    times = {}
    train(setup, times)
    halves = {}
    for elements, pairs in times.items():
        pairs = pairs[setup["warm_up"]:] or pairs
        halves[elements] = [statistics.median(pair[half] for pair in pairs) for half in (0, 1)]
    return {"hook_seconds": halves}


def time_collective(setup):
    """A collective of Gloo; its ranks begin together. `bytes`: of an all-gather, what each contributes."""
    ranks = dist.get_world_size()
    mine = torch.full((setup["bytes"] // 4,), 1e-3)
    collective = {
        "all-reduce": lambda: dist.all_reduce(mine),
        "all-gather": lambda whole=torch.empty(ranks * mine.numel()): dist.all_gather_into_tensor(whole, mine),
        "reduce-scatter": lambda part=torch.empty(mine.numel() // ranks): dist.reduce_scatter_tensor(part, mine),
    }[setup["collective"]]
    seconds = []
    for _ in range(setup["warm_up"] + setup["iterations"]):
        dist.barrier()
        begin = time.perf_counter()
        collective()
        seconds.append(time.perf_counter() - begin)
    return {"iteration_seconds": seconds[setup["warm_up"]:]}


def measure_link(setup):
    """The rate of a TCP connection between two ranks while both send, in bytes a second; and seconds one way.

    Rings send and receive at the same time, so that acknowledgements take a share of each direction.
    """
    rank = dist.get_rank()

    def median_of(times, exchange):
        seconds = []
        for _ in range(times):
            begin = time.perf_counter()
            exchange()
            seconds.append(time.perf_counter() - begin)
        return sorted(seconds[1:])[len(seconds[1:]) // 2]

    one = torch.zeros(1)

    def there_and_back():
        for sender in (0, 1):
            (dist.send if rank == sender else dist.recv)(one, 1 - rank)

    latency = median_of(50, there_and_back) / 2
    address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]) + 1)
    if rank == 0:
        with socket.create_server(address) as server:
            dist.barrier()
            connection = server.accept()[0]
    else:
        dist.barrier()
        connection = socket.create_connection(address)
    data, received = bytes(setup["link_bytes"]), bytearray(1 << 20)

    def both_ways():
        sender = threading.Thread(target=connection.sendall, args=(data,))
        sender.start()
        left = len(data)
        while left > 0:
            left -= connection.recv_into(received, min(left, len(received)))
        sender.join()

    with connection:
        seconds = median_of(4, both_ways)
    return {"latency_seconds": latency, "bytes_per_second": len(data) / (seconds - latency)}


def main():
    torch.set_num_threads(1)
    setup = json.load(open(sys.argv[1]))
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    work = {"train": train, "link": measure_link, "hook": measure_hook,
            "collective": time_collective}[setup["work"]]
    result = work(setup)
    if dist.get_rank() == 0:
        with open(sys.argv[2], "w") as file:
            json.dump({**result, "torch": torch.__version__}, file)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.2)  # PyTorch 2.13 aborts if a thread of Gloo still drops tensors while the interpreter ends


main()
