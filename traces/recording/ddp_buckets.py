"""The buckets that DDP sends, as its own logger tells them.

DDP notes in the first iteration in which order gradients become ready, and puts them into buckets
anew in that order before the second. Its logger tells the new buckets from the third on. A world of
one process rebuilds its buckets as any other does (seen with torch 1.13: as a world of two)."""
import collections
import contextlib
import tempfile

from .device import device_name
from .errors import FAILURE, MISSING, TraceError
from .networks import names_of_tensors, network_text, read_model
from .precision import autocast_of
from .provenance import comments, provenance
from .software import software
from .torch_here import torch
from .trace_file import write_whole
from .training import Training

ITERATIONS = 3
BATCH = 2  # buckets do not depend on it
COLUMNS = "bucket,tensor,elements,bytes,ready"
Gradient = collections.namedtuple("Gradient", "tensor elements bytes")
Sent = collections.namedtuple("Sent", COLUMNS.split(","))


@contextlib.contextmanager
def world_of_one():
    """One process that talks to itself: no network, no port."""
    if not torch.distributed.is_available():
        raise TraceError(f"torch {torch.__version__} was built without torch.distributed", MISSING)
    with tempfile.TemporaryDirectory() as folder:
        torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/world", rank=0,
                                             world_size=1)
        try:
            yield
        finally:
            torch.distributed.destroy_process_group()


def log_of_ddp(network, device):
    """The words of DDP's logger after three iterations."""
    with world_of_one():
        wrapped = torch.nn.parallel.DistributedDataParallel(network.to(device))
        training = Training(wrapped, BATCH, device, autocast_of("fp32", device))
        for _ in range(ITERATIONS):
            training.iterate()
        training.clock.wait()
        return dict(wrapped._get_ddp_logging_data())


def gradients_of(network, mapping):
    """The gradients in the order in which DDP counts them: the module's."""
    return [Gradient(mapping[name].tensor, parameter.numel(),
                     parameter.numel() * parameter.element_size())
            for name, parameter in network.named_parameters() if parameter.requires_grad]


def numbers(text):
    """The numbers of "5, 4" or "5 4"."""
    return [int(word) for word in text.replace(",", " ").split()]


def in_order_of_sending(log, gradients):
    """A Sent for each gradient. `log` has strings such as "5 4, 3 2, 1 0"."""
    if not int(log.get("has_rebuilt_buckets", 0)):
        raise TraceError(f"DDP of torch {torch.__version__} did not rebuild its buckets in "
                         f"{ITERATIONS} iterations, or its logger does not tell", FAILURE)
    try:
        buckets = [numbers(text) for text in log["rebuilt_per_bucket_param_indices"].split(",")]
        ready = numbers(log["prev_iteration_grad_ready_order_indices"])
        told = numbers(log["rebuilt_bucket_sizes"])
    except (KeyError, ValueError) as error:
        raise not_understood(f"{type(error).__name__} {error}") from error
    everything = list(range(len(gradients)))
    if sorted(sum(buckets, [])) != everything or sorted(ready) != everything:
        raise not_understood(f"its buckets are not of the network's {len(gradients)} gradients")
    if [sum(gradients[i].bytes for i in bucket) for bucket in buckets] != told:
        raise not_understood("its buckets are not as large as it says")
    place = {index: number for number, index in enumerate(ready, 1)}
    return [Sent(number, *gradients[index], place[index])
            for number, bucket in enumerate(buckets, 1) for index in bucket]


def not_understood(why):
    return TraceError(f"the log of DDP of torch {torch.__version__} is not understood: {why}",
                      FAILURE)


def elements_of_buckets(sent):
    sums = collections.Counter()
    for gradient in sent:
        sums[gradient.bucket] += gradient.elements
    return list(sums.values())


def bucket_text(heading, sent):
    """All that a file of buckets says."""
    rows = [",".join(map(str, gradient)) for gradient in sent]
    return comments(heading) + "\n".join([COLUMNS] + rows) + "\n"


def record_buckets(model, network, device, flags):
    """Writes one file; returns its path and a line of what is in it."""
    path = flags.models_dir / f"{model}.csv"
    rows = read_model(path)
    mapping, how = names_of_tensors(network, rows, path)
    gradients = gradients_of(network, mapping)
    log = log_of_ddp(network, device)
    sent = in_order_of_sending(log, gradients)
    first = getattr(torch.distributed, "_DEFAULT_FIRST_BUCKET_BYTES", "unknown")
    heading = provenance(
        [("device", device_name(device)), ("batch", BATCH)],
        "ddp-buckets", network_text(model),
        [("used", f"the last of {ITERATIONS} iterations, in a world of one process, with gloo"),
         ("used", f"the tensors of {model}.csv, {how}")],
        [("software", software(model, device)),
         ("bucket cap", f"{log.get('bucket_cap_bytes', 'unknown')} bytes, the first {first}: the"
                        " defaults. A bucket closes when it has as many"),
         ("gradients", "views of the buckets" if int(log.get("gradient_as_bucket_view", 0))
                       else "copied into buckets and back"),
         ("bucket, ready", "from 1; ready is the place in which the gradient became ready")])
    target = flags.out / f"buckets-{model}-ddp.csv"
    write_whole(target, bucket_text(heading, sent))
    buckets = elements_of_buckets(sent)
    return target, f"{len(buckets)} buckets, in elements: {', '.join(map(str, buckets))}"
