"""The selection of each compressor, as its authors' program launches it."""
import statistics

from .torch_here import torch


def above(magnitudes, threshold):
    """Indices; the host waits until it knows how many."""
    return (magnitudes > threshold).nonzero().view(-1)


def largest_among(magnitudes, indices, k):
    return indices[torch.topk(magnitudes[indices], k).indices]


def select_topk(u, k):
    return torch.topk(u.abs(), k).indices


def select_randk(u, k):
    return torch.randperm(u.numel(), device=u.device)[:k]


def select_rtopk(u, k):
    r = min(5 * k, u.numel())
    candidates = torch.topk(u.abs(), r).indices
    return candidates[torch.randperm(r, device=u.device)[:k]]


def sampled_threshold(magnitudes, size, rank):
    sample = magnitudes[torch.randperm(magnitudes.numel(), device=magnitudes.device)[:size]]
    return torch.topk(sample, rank).values[rank - 1]


def cut_to_k(magnitudes, indices, k):
    """DGC's second selection: only where far more passed."""
    return largest_among(magnitudes, indices, k) if 3 * indices.numel() > 4 * k else indices


def select_dgc_code(u, k):
    """The rank in a sample of 1 % is k itself, so about 100 k pass at a density of 0.001."""
    magnitudes = u.abs()
    size = max(u.numel() // 100, 1)
    threshold = sampled_threshold(magnitudes, size, min(k, size))
    return cut_to_k(magnitudes, above(magnitudes, threshold), k)


def select_dgc_paper(u, k):
    """The rank is k scaled to the sample, which has at least two of the k."""
    d = u.numel()
    magnitudes = u.abs()
    size = min(max(d // 100, 2 * -(-d // k)), d)
    threshold = sampled_threshold(magnitudes, size, -(-k * size // d))
    return cut_to_k(magnitudes, (magnitudes >= threshold).nonzero().view(-1), k)


def deviations(k, d, sides):
    """The first threshold of Gaussian-k, in sigma above the mean, for 0 < k < d."""
    return statistics.NormalDist().inv_cdf(1 - k / d / sides)


def adjusted(magnitudes, threshold, k, evaluations):
    """Indices that the last evaluation found; the threshold's last adjustment is lost."""
    for _ in range(evaluations):
        indices = above(magnitudes, threshold)
        if 3 * indices.numel() < 2 * k:
            threshold = threshold * 0.5
        elif 3 * indices.numel() > 4 * k:
            threshold = threshold * 1.5
        else:
            break
    return indices


def select_gaussian(sides, evaluations):
    def select(u, k):
        std = torch.std(u)
        mean = torch.mean(u)
        threshold = float(mean) + deviations(k, u.numel(), sides) * float(std)  # two waits
        return adjusted(u.abs(), threshold, k, evaluations)

    return select


def trimmed(magnitudes, k):
    """mean + r (max - mean) for r = 0.8, and again 0.8, 0.6 ... 0 until k pass; then everything."""
    mean = torch.mean(magnitudes)
    reach = torch.max(magnitudes) - mean
    indices = above(magnitudes, mean + 0.8 * reach)
    for ratio in (0.8, 0.6, 0.4, 0.2, 0.0):
        if indices.numel() >= k:
            return indices
        indices = above(magnitudes, mean + ratio * reach)
    return indices if indices.numel() >= k else above(magnitudes, -1.0)


def select_trimmed_code(u, k):
    return trimmed(u.abs(), k)


def select_trimmed_paper(u, k):
    magnitudes = u.abs()
    return largest_among(magnitudes, trimmed(magnitudes, k), k)


def everything_or_nothing(u, k):
    return torch.arange(u.numel() if k > 0 else 0, device=u.device)
