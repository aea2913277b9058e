"""The settings of a compressing exchange, and their checks."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, Mapping

from .. import _compressors
from .._compressors import Compressor
from .._values import number, whole, word, yes_or_no
from ..errors import InputError

_MOST_SEED = 2**32 - 1  # as `gradcast train` takes it
_MOST_ITERATIONS = 100_000_000


@dataclass(frozen=True)
class Settings:
    """The settings that decide the workers' payloads. `Settings.of` checks them."""

    compressor: str
    density: float  # 1 for compressors that take none
    parameter: float  # 0 for compressors that take none
    mode: str  # "code" or "paper"
    selection: str  # "merged": over all elements of a bucket; "per-tensor"
    value_type: str  # "fp32", "fp16", "bf16"
    candidates: int  # rTop-k's r; 0: 5 k
    feedback: bool
    shared_seed: bool
    shared_scale: bool
    momentum_correction: float  # 0: none
    masking: bool
    warmup_iterations: int
    seed: int

    @property
    def its(self) -> Compressor:
        return _compressors.find(self.compressor)

    @staticmethod
    def of(compressor: object, density: object, parameter: object, mode: object, selection: object,
           value_type: object, candidates: object, feedback: object, shared_seed: object, shared_scale: object,
           momentum_correction: object, masking: object, warmup_iterations: object, seed: object) -> Settings:
        """Raises InputError, one line, where a value is wrong or means nothing to this compressor."""
        if not isinstance(compressor, str):
            raise InputError(f"compressor is {compressor!r:.80}, and must be a name like 'topk'")
        its = _compressors.find(compressor)
        name = its.name

        def refuse(what: str, given: bool, why: str) -> None:
            if given:
                raise InputError(f"{what}: {why}")

        dense = its.family == "dense"
        selects = its.family == "sparsifier"
        refuse("density", density is not None and not its.takes_density, f"{name} takes none")
        refuse("parameter", parameter is not None and its.parameter is None, f"{name} takes none")
        made = Settings(
            compressor=name,
            density=number("density", 0.01 if density is None else density, 0, 1, above=True)
            if its.takes_density else 1.0,
            parameter=Settings._parameter(its, parameter),
            mode=word("mode", "code" if mode is None else mode, ("code", "paper")),
            selection=word("selection", selection, ("merged", "per-tensor")),
            value_type=word("value_type", value_type, tuple(_compressors.VALUE_TYPES)),
            candidates=0 if candidates is None else whole("candidates", candidates, 1, 2**31 - 1),
            feedback=its.feedback if feedback is None else yes_or_no("feedback", feedback),
            shared_seed=yes_or_no("shared_seed", shared_seed),
            shared_scale=yes_or_no("shared_scale", shared_scale),
            momentum_correction=number("momentum_correction", momentum_correction, 0, 0.999999),
            masking=yes_or_no("masking", masking),
            warmup_iterations=whole("warmup_iterations", warmup_iterations, 0, _MOST_ITERATIONS),
            seed=whole("seed", seed, 0, _MOST_SEED))
        refuse("mode", made.mode == "paper" and not its.two_modes, f"{name} has one definition")
        refuse("feedback", dense and feedback is not None, "dense sends everything")
        refuse("value_type", made.value_type != "fp32" and not selects, f"{name} sends no selected values")
        refuse("candidates", made.candidates > 0 and name != "rtopk", "only rtopk draws from candidates")
        refuse("shared_seed", made.shared_seed and not its.shared_seed,
               f"workers of {name} do not select alike by a seed; those of randk do")
        refuse("shared_seed", made.shared_seed and made.value_type != "fp32",
               "an all-reduce adds up fp32 values: value_type is fp32 there")
        refuse("shared_scale", made.shared_scale and not its.shared_scale,
               f"{name} has no levels that add up; qsgd and terngrad have")
        refuse("momentum_correction", dense and made.momentum_correction > 0,
               "dense sends everything; the optimizer has momentum")
        refuse("masking", made.masking and not selects, f"{name} sends something of every element")
        refuse("masking", made.masking and made.momentum_correction == 0,
               "it forgets momentum of what was sent, and needs momentum_correction")
        refuse("selection", its.family == "low-rank" and made.selection == "per-tensor",
               f"{name} sends a matrix in place of each tensor anyway")
        return made

    @staticmethod
    def _parameter(its: Compressor, value: object) -> float:
        if its.parameter is None:
            return 0.0
        if value is None:
            return its.parameter.usual
        given = number(f"{its.name}'s {its.parameter.name}", value, its.parameter.least, its.parameter.most)
        if its.parameter.whole and given != math.floor(given):
            raise InputError(f"{its.name}'s {its.parameter.name} is {given!r}, and must be a whole number")
        return given

    def density_at(self, iteration: int) -> float:
        """DGC's warm-up: the density falls geometrically to its value, from iteration to iteration. Lin et al.,
        ICLR 2018, section 3.3, lets it fall from epoch to epoch."""
        if self.compressor != "dgc" or iteration + 1 >= self.warmup_iterations:
            return self.density
        return float(self.density ** ((iteration + 1) / self.warmup_iterations))

    def sends_all(self, iteration: int) -> bool:
        """True in the warm-up of compressors other than DGC: gradients are sent as they are."""
        return self.its.family == "dense" or (self.compressor != "dgc" and iteration < self.warmup_iterations)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def difference(self, other: Mapping[str, object]) -> str:
        """The first setting in which a dictionary of settings differs, in words; "" if none does."""
        for field in fields(self):
            mine = getattr(self, field.name)
            if field.name not in other or other[field.name] != mine:
                return f"{field.name} is {other.get(field.name)!r:.80} there and {mine!r:.80} here"
        return ""


def selection_seed(seed: int, drawer: int, part: int, iteration: int) -> int:
    """The seed of one encode, as `gradcast train` draws it (sim/lab/draws.cpp). drawer 0: all workers draw alike."""
    mask = 2**64 - 1
    bits = 0
    for number_ in (seed, drawer << 32 | part, 10, iteration):  # 10: selections
        bits = ((bits ^ number_) + 0x9E3779B97F4A7C15) & mask
        bits = ((bits ^ bits >> 30) * 0xBF58476D1CE4E5B9) & mask
        bits = ((bits ^ bits >> 27) * 0x94D049BB133111EB) & mask
        bits ^= bits >> 31
    return bits >> 12
