#!/usr/bin/env python3
"""Host time of communication hooks (DistributedDataParallel), beside no hook, on one CPU process.

PyTorch's own, and gradcast's where the package is there. The tensors are so small that computing and sending take next
to no time: what remains is Python and the dispatch of operations, which the host of a GPU takes too.
usage: python traces/hook_time.py [STEPS]
Prints, for each hook and network, microseconds a bucket and a tensor.
"""

import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel

try:
    import gradcast.torch
except ImportError:
    gradcast = None

WIDTH = 64
OUR_WIDTH = 8  # ours compute on the CPU here, and in kernels on a GPU
PYTORCHS = ["fp16", "bf16", "powersgd"]
NETWORKS = [(40, 1), (40, 8), (160, 16), (160, 80)]  # linear layers; layers a bucket


def registered(ddp, hook, calls):
    """Registers the hook, counting its calls."""
    if hook not in PYTORCHS:
        ours = gradcast.torch.hook(compressor=hook)
        take = ours._take
        ours._take = lambda bucket: (calls.append(1), take(bucket))[1]
        ours.register(ddp)
        return
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=2)

    def powersgd(_, bucket):
        result = powerSGD_hook.powerSGD_hook(state, bucket).wait()
        done = torch.futures.Future()
        done.set_result(result)
        return done

    function = {"fp16": default_hooks.fp16_compress_hook, "bf16": default_hooks.bf16_compress_hook,
                "powersgd": powersgd}[hook]

    def counted(_, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        calls.append(1)
        return function(None, bucket)

    ddp.register_comm_hook(None, counted)


def seconds_a_step(layers, in_bucket, hook, steps, width=WIDTH):
    """The median step, and the calls of the hook in it."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(layers)])
    mebibytes = (width * width + width) * 4 * in_bucket / 2**20
    ddp = DistributedDataParallel(net, bucket_cap_mb=1.01 * mebibytes)
    calls = []
    if hook != "none":
        registered(ddp, hook, calls)
    x = torch.randn(1, width)
    taken = []
    for _ in range(steps):
        calls.clear()
        begin = time.perf_counter()
        ddp(x).sum().backward()
        taken.append(time.perf_counter() - begin)
        ddp.zero_grad()
    return statistics.median(taken[steps // 3:]), len(calls)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 90
    torch.set_num_threads(1)
    os.environ.update({"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": os.environ.get("MASTER_PORT", "29533")})
    dist.init_process_group("gloo", rank=0, world_size=1)
    print(f"torch {torch.__version__}, {steps} steps")
    ours = [] if gradcast is None else [its.name for its in gradcast.torch.compressors() if its.name not in PYTORCHS]
    for hooks, width in [(PYTORCHS, WIDTH), (ours, OUR_WIDTH)]:
        show(hooks, width, steps)
    dist.destroy_process_group()


def show(hooks, width, steps):
    for layers, in_bucket in NETWORKS:
        alone, _ = seconds_a_step(layers, in_bucket, "none", steps, width)
        for hook in hooks:
            with_hook, calls = seconds_a_step(layers, in_bucket, hook, steps, width)
            more = 1e6 * (with_hook - alone)
            print(f"{layers:4d} layers, {calls:3d} buckets: {hook:9s} {more / calls:7.0f} us a bucket"
                  f" {more / (2 * layers):6.1f} us a tensor")


if __name__ == "__main__":
    main()
