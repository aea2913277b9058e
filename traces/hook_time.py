#!/usr/bin/env python3
"""Host time of DistributedDataParallel over a bare network, and of its communication hooks over none, on one CPU process.

PyTorch's own, sparsifiers in PyTorch's operators, and gradcast's where the package is there. The tensors are so small that computing and sending take next
to no time: what remains is Python and the dispatch of operations, which the host of a GPU takes too.
usage: python traces/hook_time.py [STEPS]
Prints microseconds a step that DDP takes; then, for each hook and network, microseconds a bucket and a tensor.
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
DENSITY = 0.01
NETWORKS = [(40, 1), (40, 8), (160, 16), (160, 80)]  # linear layers; layers a bucket


def largest(gradient):
    return torch.topk(gradient.abs(), max(1, int(DENSITY * gradient.numel()))).indices


def at_random(gradient):
    return torch.randperm(gradient.numel())[:max(1, int(DENSITY * gradient.numel()))]


def above_sampled(gradient):
    """DGC: a threshold by a sample, moved until about as many elements lie above it as are wanted."""
    magnitudes = gradient.abs()
    wanted = max(1, int(DENSITY * gradient.numel()))
    sample = magnitudes[torch.randint(gradient.numel(), (max(1, gradient.numel() // 100),))]
    threshold = torch.topk(sample, max(1, int(DENSITY * sample.numel()))).values.min()
    for _ in range(10):
        found = int((magnitudes >= threshold).sum())
        if 0.8 * wanted <= found <= 1.25 * wanted:
            break
        threshold = threshold * (1.25 if found > wanted else 0.8)
    return (magnitudes >= threshold).nonzero().view(-1)


def above_deviations(gradient):
    """Gaussian-k: a threshold by mean and deviation, moved up to four times."""
    magnitudes = (gradient - gradient.mean()).abs()
    wanted = max(1, int(DENSITY * gradient.numel()))
    threshold = 2.6 * gradient.std()
    for _ in range(4):
        found = int((magnitudes > threshold).sum())
        if 2 / 3 * wanted <= found <= 4 / 3 * wanted:
            break
        threshold = threshold * (1.5 if found > wanted else 0.5)
    return (magnitudes > threshold).nonzero().view(-1)


IN_OPERATORS = {"topk": largest, "randk": at_random, "dgc": above_sampled, "gaussian": above_deviations}


def in_operators(selection):
    """A hook that selects, keeps the rest for the next step, and gathers values and indices."""
    residuals = {}

    def hook(_, bucket):
        gradient = bucket.buffer()
        key = bucket.index(), gradient.numel()  # buckets are formed anew after the first step
        gradient.add_(residuals.setdefault(key, torch.zeros_like(gradient)))
        indices = selection(gradient)
        values = gradient[indices]
        residuals[key].copy_(gradient)[indices] = 0
        gathered = [torch.empty_like(values)], [torch.empty_like(indices)]
        works = [dist.all_gather(gathered[0], values, async_op=True),
                 dist.all_gather(gathered[1], indices, async_op=True)]

        def summed(_):
            gradient.zero_()
            for each, at in zip(*gathered):
                gradient[at] += each
            return gradient

        return torch.futures.collect_all([work.get_future() for work in works]).then(summed)

    return hook


def registered(ddp, hook, calls):
    """Registers the hook, counting its calls."""
    if hook not in PYTORCHS and hook not in IN_OPERATORS:
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
                "powersgd": powersgd}.get(hook) or in_operators(IN_OPERATORS[hook])

    def counted(_, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        calls.append(1)
        return function(None, bucket)

    ddp.register_comm_hook(None, counted)


def seconds_a_step(layers, in_bucket, hook, steps, width=WIDTH):
    """The median step, and the calls of the hook in it. "bare": without DDP."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(layers)])
    mebibytes = (width * width + width) * 4 * in_bucket / 2**20
    ddp = net if hook == "bare" else DistributedDataParallel(net, bucket_cap_mb=1.01 * mebibytes)
    calls = []
    if hook not in ("none", "bare"):
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
    show_ddp(steps)
    ours = [] if gradcast is None else [its.name for its in gradcast.torch.compressors() if its.name not in PYTORCHS]
    for hooks, width in [(PYTORCHS, WIDTH), (list(IN_OPERATORS), OUR_WIDTH), (ours, OUR_WIDTH)]:
        show(hooks, width, steps)
    dist.destroy_process_group()


def show_ddp(steps):
    for layers in (1, 5, 20, 80):
        alone, with_ddp = (min(seconds_a_step(layers, 20, hook, steps, OUR_WIDTH)[0] for _ in range(3)) for hook in ("bare", "none"))
        print(f"{2 * layers:4d} tensors: DDP itself {1e6 * (with_ddp - alone):5.0f} us a step")


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
