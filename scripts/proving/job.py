"""A rank of a training by PyTorch: real tensors and real collectives, compute that sleeps.

usage: job.py SETUP.json OUTPUT.json, with RANK, WORLD_SIZE and so on in the environment. SETUP has
`layers` ([shape of each tensor], seconds forward, seconds backward), `schedule`, `hook`,
`bucket_mib`, `accumulation`, `warm_up` and `iterations`; or `work`: a measurement of the ground.
Rank 0 writes the seconds of each iteration.
"""
import json
import os
import socket
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
        self.gradients = [torch.full(shape, 1e-3) for shape in shapes]
        self.forward_seconds = forward_seconds
        self.backward_seconds = backward_seconds

    def forward(self, x):
        return Sleep.apply(x, self, *self.tensors)


def hook_of(setup):
    """The communication hook and its state."""
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
    if setup["hook"] in ("fp16", "bf16"):
        return None, getattr(default_hooks, f"{setup['hook']}_compress_hook")
    rank = int(setup["hook"].removeprefix("powersgd"))
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=rank, start_powerSGD_iter=2)
    return state, powerSGD_hook.powerSGD_hook


def merged_all_reduce(network):
    """All gradients in one vector, after backward."""
    gradients = [p.grad for p in network.parameters()]
    flat = torch.cat([g.reshape(-1) for g in gradients])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for gradient, part in zip(gradients, flat.split([g.numel() for g in gradients])):
        gradient.copy_(part.view_as(gradient))


def train(setup):
    network = nn.Sequential(*[Layer(*layer) for layer in setup["layers"]])
    ranks = dist.get_world_size()
    model = network
    if setup["schedule"] == "ddp" and ranks > 1:
        model = DistributedDataParallel(network, bucket_cap_mb=setup["bucket_mib"],
                                        broadcast_buffers=False, gradient_as_bucket_view=True)
        if setup["hook"]:
            model.register_comm_hook(*hook_of(setup))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    x = torch.zeros(1, requires_grad=True)
    ends = [time.perf_counter()]
    for _ in range(setup["warm_up"] + setup["iterations"]):
        for step in range(setup["accumulation"]):
            last = step + 1 == setup["accumulation"]
            if model is network or last:
                model(x).sum().backward()
            else:
                with model.no_sync():
                    model(x).sum().backward()
        if setup["schedule"] == "merged" and ranks > 1:
            merged_all_reduce(network)
        optimizer.step()
        optimizer.zero_grad()
        ends.append(time.perf_counter())
    seconds = [end - begin for begin, end in zip(ends, ends[1:])]
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


def measure_casts(setup):
    """The seconds of a 16-bit hook's work on a bucket: to 16 bits and divided, and back."""
    times = {}
    for elements in setup["cast_elements"]:
        bucket = torch.full((elements,), 1e-3)
        ranks = 2
        encode, decode = [], []
        for _ in range(7):
            begin = time.perf_counter()
            small = bucket.to(torch.float16 if setup["hook"] == "fp16" else torch.bfloat16).div_(ranks)
            middle = time.perf_counter()
            bucket.copy_(small)
            encode.append(middle - begin)
            decode.append(time.perf_counter() - middle)
        times[elements] = [sorted(encode)[3], sorted(decode)[3]]
    return {"cast_seconds": times}


def main():
    torch.set_num_threads(1)
    setup = json.load(open(sys.argv[1]))
    dist.init_process_group("gloo")
    work = {"train": train, "link": measure_link, "casts": measure_casts}[setup["work"]]
    result = work(setup)
    if dist.get_rank() == 0:
        with open(sys.argv[2], "w") as file:
            json.dump({**result, "torch": torch.__version__}, file)
    dist.barrier()
    dist.destroy_process_group()


main()
