"""Decoders, and the sets of all workers that they add up."""
from .encoders import AS_LAUNCHED, BEST


def decode_as_launched(dense, sets):
    dense.zero_()
    for values, indices in sets:
        where = indices.long()
        dense[where] += values


def decode_best(dense, sets):
    dense.zero_()
    for values, indices in sets:
        dense.index_add_(0, indices, values)


DECODERS = {AS_LAUNCHED: decode_as_launched, BEST: decode_best}
MOST_BYTES_OF_SETS = 1 << 30


def distinct_sets(encoded, workers):
    """The number of workers whose sets fit; further workers send the same ones again."""
    size = sum(8 * values.numel() for values, _ in encoded)
    return min(max(MOST_BYTES_OF_SETS // max(size, 1), 1), workers)


def sets_of_workers(values, indices, elements, workers, distinct):
    """One set a worker, in memory of its own: the first's, moved along the tensor."""
    sets = [(values.clone(), ((indices.long() + elements * worker // distinct) % elements).int())
            for worker in range(distinct)]
    return [sets[worker % distinct] for worker in range(workers)]
