"""The trainings of torch_hook_test.py in processes of their own, and the start of those."""
import copy
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import gradcast.torch as gt
import made

LONG = "--long" in sys.argv
TIMEOUT = 1500 if LONG else 300  # seconds, of a world
ALL = [compressor.name for compressor in gt.compressors()]
# One compressor of each kind of exchange.
SOME = ["dense", "topk", "gaussian", "fp16", "qsgd", "signsgd", "powersgd"]
DENSITY = 0.01
BATCH = 50
# Options of trainings that are killed.
RESUMED = [{"compressor": "topk", "density": 0.05}, {"compressor": "qsgd"}, {"compressor": "powersgd"},
           {"compressor": "dgc", "density": 0.05, "momentum_correction": 0.9, "masking": True,
            "warmup_iterations": 8}]
# Options, and the forecast's flags for them. The last two are of several buckets, after DDP has rebuilt them.
SENT = [({"compressor": "qsgd", "shared_scale": True}, ["--collective", "ring-all-reduce"]),
        ({"compressor": "terngrad", "shared_scale": True, "selection": "per-tensor"},
         ["--collective", "ring-all-reduce", "--selection", "per-tensor"]),
        ({"compressor": "randk", "density": DENSITY, "shared_seed": True}, ["--collective", "ring-all-reduce"]),
        ({"compressor": "topk", "density": DENSITY, "value_type": "fp16"}, ["--value-type", "fp16"]),
        ({"compressor": "topk", "density": DENSITY, "selection": "per-tensor"}, ["--selection", "per-tensor"]),
        ({"compressor": "onebit", "selection": "per-tensor"}, ["--selection", "per-tensor"]),
        ({"compressor": "powersgd", "mode": "paper", "parameter": 4}, ["--mode", "paper", "--parameter", 4]),
        ({"compressor": "topk", "density": DENSITY}, ["--fusion", "ddp:20KiB"]),
        ({"compressor": "powersgd"}, ["--fusion", "ddp:20KiB"])]
SAVED, KILLED, END = 5, 7, 10  # iterations
LOOK = 6


def takes_density(name):
    return next(its for its in gt.compressors() if its.name == name).takes_density


def options_of(name):
    return {"compressor": name, **({"density": DENSITY} if takes_density(name) else {})}


def learning_rate_of(name):
    return 0.0005 if name == "signsgd" else 0.005  # its votes are +-1


class Wire:
    """Counts what a process group is asked to carry."""

    def __enter__(self):
        self.asked, self.kept = [], (dist.all_gather, dist.all_reduce)

        def gather(out, tensor, **more):
            self.asked.append(("gather", tensor.numel() * tensor.element_size()))
            return self.kept[0](out, tensor, **more)

        def reduce(tensor, **more):
            self.asked.append(("reduce", tensor.numel() * tensor.element_size()))
            return self.kept[1](tensor, **more)

        dist.all_gather, dist.all_reduce = gather, reduce
        return self

    def __exit__(self, *_):
        dist.all_gather, dist.all_reduce = self.kept


def flat(net):
    return torch.cat([parameter.detach().flatten() for parameter in net.parameters()])


def wrapped(net, options, megabytes=None, scaler=None):
    ddp = DistributedDataParallel(net, **({} if megabytes is None else {"bucket_cap_mb": megabytes}))
    return ddp, gt.hook(**options).register(ddp, scaler) if options else None


class Training:
    """LeNet-5 on the made data, this process' share."""

    def __init__(self, data, shards, rank, options, megabytes=None, scaler=None):
        self.data, self.shards, self.rank = data, shards, rank
        self.net = made.LeNet5()
        self.ddp, self.hook = wrapped(self.net, options, megabytes, scaler)
        self.optimizer = made.optimizer(self.net, learning_rate_of(options.get("compressor", "")),
                                        0 if options.get("momentum_correction") else 0.9)

    def step(self, iteration):
        self.optimizer.zero_grad()
        made.loss_of(self.ddp, self.data, self.shards.batch_of(self.rank, iteration)).backward()
        self.optimizer.step()

    def state(self):
        return {"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict(),
                "hook": self.hook.state_dict()}

    def load(self, state):
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.hook.load_state_dict(state["hook"])


def long_training(data, shards, rank, size, name):
    """An epoch; weights, accuracy, counts of the last iteration."""
    training = Training(data, shards, rank, options_of(name))
    for iteration in range(shards.in_epoch):
        with Wire() as wire:
            training.step(iteration)
    weights = flat(training.net)
    others = [torch.empty_like(weights) for _ in range(size)]
    dist.all_gather(others, weights)
    hook = training.hook
    return {"accuracy": made.accuracy(training.net, data), "wire": wire.asked, "bytes": hook.bytes_sent_last,
            "elements": hook.elements_sent_last, "of_counts": hook.bytes_of_counts / shards.in_epoch,
            "alike": all(torch.equal(weights, other) for other in others)}


def short_training(data, shards, rank, options, iterations):
    """Small buckets, which DDP rebuilds after the first iteration. The weights."""
    training = Training(data, shards, rank, options, 0.01)
    for iteration in range(iterations):
        training.step(iteration)
    return flat(training.net), len(training.hook._done) if training.hook else 0


def sent_by(data, shards, rank, options, flags):
    """The collectives of the third iteration, and the bytes that the hook counted."""
    training = Training(data, shards, rank, options, 20 / 1024 if "--fusion" in flags else None)
    for iteration in range(3):
        with Wire() as wire:
            training.step(iteration)
    return wire.asked, training.hook.bytes_sent_last


# These send elements that are drawn by lot.
DRAWING = [{"compressor": "randk", "density": DENSITY}, {"compressor": "rtopk", "density": DENSITY},
           {"compressor": "randk", "density": DENSITY, "shared_seed": True}]


def drawn_training(data, shards, rank, options):
    """Four steps, and the order of the bucket's parameters in each. The weights."""
    training = Training(data, shards, rank, options)
    orders = []
    for iteration in range(4):
        training.step(iteration)
        orders.append(training.hook._done)
    return flat(training.net), orders


TYPES_OF_16_BITS = {"bf16": torch.bfloat16, "fp16": torch.float16}
SENT_OF_16_BITS = [(its_type, options, ["--parameter-type", its_type, *flags]) for its_type in TYPES_OF_16_BITS
                   for options, flags in (({"compressor": "powersgd"}, []),
                                          ({"compressor": "powersgd", "mode": "paper", "parameter": 4},
                                           ["--mode", "paper", "--parameter", 4]))]


def sent_of_16_bits(its_type, options):
    """As `sent_by`, of gradients of a type of 16 bits."""
    torch.manual_seed(dist.get_rank())
    dtype = TYPES_OF_16_BITS[its_type]
    ddp, hook = wrapped(made.LeNet5().to(dtype), options)
    for _ in range(3):
        with Wire() as wire:
            ddp(torch.randn(4, 1, 28, 28, dtype=dtype)).float().square().mean().backward()
    return wire.asked, hook.bytes_sent_last


# Options of trainings whose loss is scaled: nothing is drawn, and buckets decide nothing. Codes by themselves hide an
# infinity of one process from the others.
SCALED = [{"compressor": "topk", "density": 0.05, "selection": "per-tensor"}, {"compressor": "powersgd"},
          {"compressor": "topk", "density": 0.05, "momentum_correction": 0.9, "masking": True,
           "selection": "per-tensor"},
          *({"compressor": name, "selection": "per-tensor"} for name in ("efsignsgd", "onebit", "int8"))]


def scaled_training(data, shards, rank, options, overflows):
    """Six steps of a scaled loss. Before those of `overflows`, one of an infinite loss on rank 0. The weights, and
    the scale."""
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=1000)
    training = Training(data, shards, rank, options, 0.01, scaler)

    def step(iteration, factor):
        training.optimizer.zero_grad()
        loss = made.loss_of(training.ddp, data, shards.batch_of(rank, iteration))
        scaler.scale(loss * factor).backward()
        scaler.step(training.optimizer)
        scaler.update()

    for iteration in range(6):
        if iteration in overflows:
            step(iteration, float("inf") if rank == 0 else 1.0)
        if iteration == 3:  # goes on from a state
            training.load(training.state())
        step(iteration, 1.0)
    return flat(training.net), scaler.get_scale()


def overflow_before_another_exchange(data, shards, rank):
    """Two exchanges a step, an overflow in the first of step 1. The scale after five steps."""
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=1000)
    training = Training(data, shards, rank, {"compressor": "topk", "density": 0.05}, scaler=scaler)
    for iteration in range(5):
        training.optimizer.zero_grad()
        for factor in (float("inf") if iteration == 1 and rank == 0 else 1.0, 1.0):
            loss = made.loss_of(training.ddp, data, shards.batch_of(rank, iteration))
            scaler.scale(loss * factor).backward()
        scaler.step(training.optimizer)
        scaler.update()
    return scaler.get_scale()


def world_of_all(rank, size, data, shards, folder):
    names = ALL if LONG else SOME
    done = {"long": {name: long_training(data, shards, rank, size, name) for name in names}}
    done["drawn"] = [[drawn_training(data, shards, rank, options) for _ in range(2)] for options in DRAWING]
    if size == 2:
        done["plain"] = short_training(data, shards, rank, {}, 4)[0]
        done["dense"] = short_training(data, shards, rank, {"compressor": "dense"}, 4)[0]
        done["per-tensor"] = {name: short_training(data, shards, rank, of_each_tensor(name), 4) for name in ALL}
        done["resumed"] = [short_training(data, shards, rank, options, END)[0] for options in RESUMED]
        done["sent"] = [sent_by(data, shards, rank, options, flags) for options, flags in SENT]
        done["sent of 16 bits"] = [sent_of_16_bits(its_type, options) for its_type, options, _ in SENT_OF_16_BITS]
        done["twice"] = overflow_before_another_exchange(data, shards, rank)
        # PowerSGD draws Q in the first step, by a seed that counts iterations.
        done["scaled"] = [[scaled_training(data, shards, rank, options, overflows) for overflows in
                           ((), (1 if options["compressor"] == "powersgd" else 0, 3, 4))] for options in SCALED]
        done["refused"] = []
        for options, scaler in (({"compressor": "topk", "density": 0.1 + 0.1 * rank}, None),
                                ({"compressor": "topk", "seed": rank}, None),
                                ({"compressor": "topk"}, torch.amp.GradScaler("cpu", enabled=rank == 0))):
            try:
                wrapped(made.LeNet5(), options, scaler=scaler)
            except gt.InputError as error:
                done["refused"].append(str(error))
        done["states"] = refused_states()
        done["beside"] = {make.__name__: resumed_beside(rank, make) for make in (statically, ignoring, delaying)}
        done["sparse"] = []
        for options in ({"compressor": "dense"}, {"compressor": "topk"}):
            try:
                wrapped(torch.nn.Sequential(torch.nn.EmbeddingBag(9, 3, sparse=True)), options)
                done["sparse"].append("")
            except gt.InputError as error:
                done["sparse"].append(str(error))
    return done


def refused_states():
    """The errors of load_state_dict for states that do not fit, and of register for a second hook."""
    ddp, hook = wrapped(torch.nn.Linear(3, 3), {"compressor": "topk"})
    right = hook.state_dict()
    hook.load_state_dict(right)
    memory = {"weight": {"residual": torch.zeros(9)}, "bias": {"residual": torch.zeros(3)}}
    hook.load_state_dict({**right, "memory": memory})
    said = []
    for wrong in (None, {}, {**right, "settings": {}}, {**right, "settings": {**right["settings"], "density": 0.5}},
                  {**right, "memory": 5}, {**right, "memory": {"x": {}}}, {**right, "memory": {1: memory["bias"]}},
                  {**right, "memory": {"bias": memory["weight"]}}, {**right, "memory": {"bias": {}}},
                  {**right, "memory": {"bias": {"residual": torch.zeros(3).double()}}},
                  {**right, "buckets": 3}, {**right, "buckets": [["x"]]}, {**right, "buckets": [5]},
                  {**right, "rank": 1 - right["rank"]}, {**right, "processes": 3}, {**right, "iteration": "a"},
                  {**right, "bytes_sent": None}, {**right, "scale": 2.0}, {**right, "scale": "x"}):
        try:
            hook.load_state_dict(wrong)
            said.append("")
        except gt.InputError as error:
            said.append(str(error))
    try:
        gt.hook().register(ddp)
        said.append("")
    except gt.InputError as error:
        said.append(str(error))
    return said


def small_net():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 16), torch.nn.Tanh(),
                               torch.nn.Linear(16, 3))


def statically():
    return DistributedDataParallel(small_net(), bucket_cap_mb=0.0002, static_graph=True)


def ignoring():
    net = small_net()
    DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(net, ["0.bias", "2.weight"])
    return DistributedDataParallel(net, bucket_cap_mb=0.0002)


def delaying():
    net = small_net()
    return DistributedDataParallel(net, bucket_cap_mb=0.0002, param_to_hook_all_reduce=net[0].weight,
                                   delay_all_reduce_named_params=[("4.weight", net[4].weight)])


def resumed_beside(rank, make):
    """The buckets of a training that goes on from its state, and the weights of both after each of four more steps."""
    trainings = []
    answers = []
    for iteration in range(8):
        if iteration == 4:
            [(ddp, hook, optimizer)] = trainings
            state = copy.deepcopy((ddp.module.state_dict(), hook.state_dict(), optimizer.state_dict()))
        if iteration in (0, 4):
            ddp = make()
            hook = gt.hook("topk", density=0.05).register(ddp)
            trainings.append((ddp, hook, torch.optim.SGD(ddp.parameters(), lr=0.05, momentum=0.9)))
        if iteration == 4:
            for each, its in zip((ddp.module, hook, trainings[1][2]), state):
                each.load_state_dict(its)
        for ddp, _, optimizer in trainings:
            torch.manual_seed(10 * iteration + rank)
            optimizer.zero_grad()
            ddp(torch.randn(4, 8)).square().mean().backward()
            optimizer.step()
        if iteration >= 4:
            answers.append([flat(ddp) for ddp, _, _ in trainings])
    return state[1]["buckets"], answers


def of_each_tensor(name):
    options = options_of(name)
    return options if name == "powersgd" else {**options, "selection": "per-tensor"}


def world_to_kill(rank, size, data, shards, folder):
    for number, options in enumerate(RESUMED):
        training = Training(data, shards, rank, options, 0.01)
        for iteration in range(KILLED):
            if iteration == SAVED:
                torch.save(training.state(), folder / f"state-{number}-{rank}")
            training.step(iteration)
        if number + 1 == len(RESUMED):
            dist.barrier()  # everyone has saved
            os.kill(os.getpid(), signal.SIGKILL)


def world_to_resume(rank, size, data, shards, folder):
    done = []
    for number, options in enumerate(RESUMED):
        training = Training(data, shards, rank, options, 0.01)
        training.load(torch.load(folder / f"state-{number}-{rank}"))
        for iteration in range(SAVED, END):
            training.step(iteration)
        done.append((flat(training.net), training.hook.iteration))
    return done


def world_of_a_late_thread(rank, size, data, shards, folder):
    """Rank 0 ends while the thread that ran the hook's callback still holds it, for half a second."""
    ddp, hook = wrapped(torch.nn.Linear(4, 4), {"compressor": "topk", "density": 0.5})
    launch = hook._launch

    def late(exchanging, buffer):
        future = launch(exchanging, buffer)
        if rank == 0:  # rank 1 has not begun: so the callback runs in the thread
            future.then(lambda _: time.sleep(0.5))
        return future

    hook._launch = late
    time.sleep(0.5 * rank)
    ddp(torch.ones(2, 4)).sum().backward()


def process(rank, size, folder, work):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/{work.__name__}-{size}", rank=rank, world_size=size)
    data, shards = torch.load(folder / "data", weights_only=False), made.Shards(size, BATCH)
    torch.save(work(rank, size, data, shards, folder), folder / f"{work.__name__}-{size}-{rank}")
    dist.destroy_process_group()


def in_world(size, folder, work):
    """The answers of all processes."""
    context = torch.multiprocessing.start_processes(process, (size, folder, work), nprocs=size, join=False,
                                                    start_method="spawn")
    until = time.monotonic() + TIMEOUT
    while not context.join(timeout=5):  # True once all have ended
        if time.monotonic() < until:
            continue
        for child in context.processes:
            child.kill()
        raise TimeoutError(f"{work.__name__} of {size} took more than {TIMEOUT} s")
    return [torch.load(folder / f"{work.__name__}-{size}-{rank}", weights_only=False) for rank in range(size)]
