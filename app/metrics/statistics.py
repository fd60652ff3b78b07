"""How sure a figure is: intervals for rates and for paired differences. Pure, and the same on every run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import sqrt
from statistics import fmean

from app.model.base import Model

_Z95 = 1.959963984540054
_RESAMPLES = 2000
_SEED = 20240229


class Interval(Model):
    """A 95 % interval."""

    low: float
    high: float


def wilson(successes: int, trials: int) -> Interval | None:
    """Return the Wilson score interval of a rate (E. B. Wilson, 1927); None of no trials."""
    if not trials:
        return None
    share, z2 = successes / trials, _Z95 * _Z95
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = _Z95 * sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials)
    return Interval(low=max(0.0, centre - half), high=min(1.0, centre + half))


def bootstrap(differences: Sequence[float]) -> Interval | None:
    """Return the percentile interval of the mean of paired differences, resampled 2,000 times with a fixed seed.

    None of fewer than two pairs: one pair says nothing about how much pairs vary.
    """
    if len(differences) < 2:
        return None
    draw = random.Random(_SEED)  # noqa: S311  a fixed seed, so that equal data give equal intervals
    means = sorted(fmean(draw.choices(differences, k=len(differences))) for _ in range(_RESAMPLES))
    return Interval(low=means[int(0.025 * _RESAMPLES)], high=means[int(0.975 * _RESAMPLES) - 1])
