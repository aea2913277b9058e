"""The made data set, LeNet-5 and the batches of `gradcast train --dataset made --network lenet-5`, in PyTorch: the same
numbers (sim/lab/dataset.cpp, network.cpp, training.cpp), so that both train alike.
"""
import math

import torch

SIDE, CLASSES = 28, 10
PARAMETERS, SHARDS, EPOCH, SAMPLES = 7, 8, 9, 11  # sim/base/random.hpp


def shifted(x, bits):
    return (x >> bits) & (2 ** (64 - bits) - 1)


def signed(x):
    return (x + 2**63) % 2**64 - 2**63


def mixed(x):
    x = x + signed(0x9E3779B97F4A7C15)
    x = (x ^ shifted(x, 30)) * signed(0xBF58476D1CE4E5B9)
    x = (x ^ shifted(x, 27)) * signed(0x94D049BB133111EB)
    return x ^ shifted(x, 31)


def draws(seed, what, parts, count):
    """Uniform numbers of doubles: parts x count."""
    bits = mixed(mixed(torch.tensor(seed)) ^ torch.as_tensor(parts))
    bits = mixed(bits ^ what)
    bits = mixed(bits.reshape(-1, 1) ^ torch.arange(1, count + 1))
    return (shifted(bits, 12).double() + 0.5) * 2.0**-52


def shuffled(places, numbers):
    for left in range(len(places), 1, -1):
        other = min(int(numbers[len(places) - left] * left), left - 1)
        places[left - 1], places[other] = places[other], places[left - 1]
    return places


def samples(count, first):
    """count x 784 bytes, and their classes."""
    labels = torch.arange(count) % CLASSES
    noise = draws(1, SAMPLES, torch.arange(first, first + count), SIDE * SIDE + 6)
    pixels = 110 * noise[:, :SIDE * SIDE]
    spots = draws(1, SAMPLES, torch.arange(CLASSES), 12).reshape(CLASSES, 6, 2) * SIDE
    y, x = torch.arange(SIDE).double().reshape(-1, 1), torch.arange(SIDE).double()
    for spot in range(6):
        centre = spots[:, spot]
        light = 100 * torch.exp(-((y - centre[:, 0].reshape(-1, 1, 1))**2 +
                                  (x - centre[:, 1].reshape(-1, 1, 1))**2) / 9)
        seen = (noise[:, SIDE * SIDE + spot] <= 0.75).double().reshape(-1, 1)
        pixels = pixels + seen * light.reshape(CLASSES, -1)[labels]
    return pixels.clamp(max=255).to(torch.uint8), labels


class Data:
    def __init__(self):
        bytes_, self.labels = samples(6000, 1000)
        test, self.test_labels = samples(1000, 1_000_000)
        mean = float(bytes_.double().mean())
        deviation = float(bytes_.double().var(unbiased=False).sqrt())
        self.images, self.test_images = (((them.float() - mean) * (1 / deviation)).reshape(-1, 1, SIDE, SIDE)
                                         for them in (bytes_, test))


class Shards:
    """The batches of each worker."""

    def __init__(self, workers, batch, seed=1, count=6000):
        self.seed, self.batch, self.size = seed, batch, count // workers
        self.in_epoch = self.size // batch
        self.places = shuffled(list(range(count)), draws(seed, SHARDS, 0, count)[0].tolist())
        self.known = {}

    def batch_of(self, worker, iteration):
        part = worker << 32 | iteration // self.in_epoch
        if part not in self.known:
            shard = self.places[worker * self.size:(worker + 1) * self.size]
            self.known[part] = shuffled(shard, draws(self.seed, EPOCH, part, self.size)[0].tolist())
        begin = iteration % self.in_epoch * self.batch
        return self.known[part][begin:begin + self.batch]


class LeNet5(torch.nn.Module):
    def __init__(self, seed=1):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = torch.nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = (torch.nn.Linear(a, b) for a, b in ((400, 120), (120, 84), (84, 10)))
        with torch.no_grad():
            for number, parameter in enumerate(self.parameters()):
                if parameter.dim() == 1:
                    parameter.zero_()
                    continue
                numbers = draws(seed, PARAMETERS, number, parameter.numel())[0]
                bound = math.sqrt(6 / (parameter.numel() // parameter.shape[0]))
                parameter.copy_(((2 * numbers - 1) * bound).float().reshape(parameter.shape))

    def forward(self, x):
        pool = torch.nn.functional.max_pool2d
        x = pool(self.conv1(x).relu(), 2)
        x = pool(self.conv2(x).relu(), 2).flatten(1)
        return self.fc3(self.fc2(self.fc1(x).relu()).relu())


def optimizer(net, learning_rate, momentum=0.9):
    """Weight decay of weights, not of biases."""
    return torch.optim.SGD([{"params": [p for p in net.parameters() if p.dim() > 1], "weight_decay": 1e-4},
                            {"params": [p for p in net.parameters() if p.dim() == 1]}], lr=learning_rate,
                           momentum=momentum)


def loss_of(net, data, places):
    return torch.nn.functional.cross_entropy(net(data.images[places]), data.labels[places])


def accuracy(net, data):
    with torch.no_grad():
        return 100 * float((net(data.test_images).argmax(1) == data.test_labels).double().mean())
