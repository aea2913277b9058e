"""Training with compressed gradients in PyTorch.

    state = gradcast.torch.hook(compressor="topk", density=0.01)
    state.register(ddp_model)           # a DistributedDataParallel
    ...                                 # train as ever
    state.bytes_sent                    # as `gradcast simulate` counts payloads

On the CPU the definitions are computed that `gradcast train` uses, on a GPU the CUDA kernels that give the same bits.
"""

from __future__ import annotations

import torch.distributed as dist

from .._compressors import Compressor, Parameter, compressors
from ..errors import InputError
from ._hook import Hook
from ._settings import Settings
from ._workers import Workers

__all__ = ["Compressor", "Hook", "InputError", "Parameter", "Workers", "compressors", "hook"]


def hook(compressor: str = "topk", density: float | None = None, *, parameter: float | None = None,
         mode: str | None = None, selection: str = "merged", value_type: str = "fp32",
         candidates: int | None = None, feedback: bool | None = None, shared_seed: bool = False,
         shared_scale: bool = False, momentum_correction: float = 0.0, masking: bool = False,
         warmup_iterations: int = 0, seed: int = 1, process_group: dist.ProcessGroup | None = None) -> Hook:
    """A communication hook by a compressor of `gradcast list` (here: `compressors()`, with their sources).

    compressor: its name. Sparsifiers send values and indices of some elements, which all processes gather; casts
        and PowerSGD are all-reduced; quantisers are gathered.
    density: of a sparsifier, the share of a bucket's elements to send, above 0 to 1; 0.01 if not given. At least one
        element is sent.
    parameter: the compressor's number: PowerSGD's rank, QSGD's levels, int8's block, TernGrad's clip, the threshold.
        Its source's if not given.
    mode: "code" (the usual) or "paper", of compressors whose authors' code differs from their paper.
    selection: "merged": a bucket of DDP is encoded as one tensor; "per-tensor": each parameter by itself. What has more
        than 2^31 - 1 elements is encoded and sent in cuts of so many.
    value_type: "fp32", "fp16" or "bf16": how a sparsifier's values travel. Rounding stays in the residual.
    candidates: rTop-k's r; 5 k if not given.
    feedback: error feedback: what is not sent is added to the next gradient. As the compressor's source has it if not
        given. It takes 4 bytes a parameter.
    shared_seed: Rand-k: all processes draw the same indices, so that an all-reduce carries the values.
    shared_scale: QSGD, TernGrad: all processes take the largest scale, so that an all-reduce adds up their levels.
    momentum_correction: DGC's, 0 (none) to below 1: each process accumulates v = m v + gradient and sends of v. The
        optimizer's momentum must be 0 then. Lin et al., ICLR 2018, section 3.1. Without it, what the optimizer does
        with momentum is what DGC's paper improves on. Its clipping of local gradients is not there.
    masking: DGC's momentum factor masking: v is zero where it was sent. Lin et al., section 3.2.
    warmup_iterations: iterations in the beginning that send gradients as they are; for dgc, in which the density falls
        geometrically to its value (Lin et al., section 3.3, by epochs).
    seed: of all that is drawn at random, 0 to 2^32 - 1; the same in all processes.
    process_group: the model's if not given.

    Gradients are float32, bfloat16 or float16, on the CPU or on an NVIDIA GPU, where the build has the CUDA kernels.
    Those read and write them as they are; the CPU's definitions take a float32 copy. Residuals and sums are float32,
    but dense and PowerSGD send and add up numbers of the gradient's type, as PyTorch's hooks do.
    signSGD gives the optimizer votes of +1, 0 and -1: it needs a small learning rate.
    Parameters that DDP leaves out of its buckets are not compressed: those it is told to ignore, and those of
    delay_all_reduce_named_params. Sparse gradients are refused.
    With find_unused_parameters=True, DDP throws away what arrives for a parameter that no process used in an iteration.
    Error feedback that was sent then is lost: train such a parameter in each iteration, or without error feedback.
    Raises InputError, one line, for values that are wrong or mean nothing to the compressor.
    """
    if process_group is not None and not isinstance(process_group, dist.ProcessGroup):
        raise InputError(f"process_group is a {type(process_group).__name__}, and must be a ProcessGroup")
    settings = Settings.of(compressor, density, parameter, mode, selection, value_type, candidates, feedback,
                           shared_seed, shared_scale, momentum_correction, masking, warmup_iterations, seed)
    return Hook(settings, process_group)
