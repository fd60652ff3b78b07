"""What the calls of a build brought in: useful results per second, per call and per dollar, and one number of them.

Unlike `efficiency` it never reaches its best: twice as fast, or half as many calls for the same results, is always
better, so that it tells builds apart that both did everything right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

from app.core.errors import InputError
from app.metrics.figures import Figures, History, rate
from app.model.base import Model
from app.model.events import Attempt

Weights = Mapping[str, float]
WEIGHTS: Weights = {"second": 0.5, "call": 0.3, "usd": 0.2}
_FLOOR = 0.01


def parse_weights(text: str) -> Weights:
    """Return the weights in "second=0.5,call=0.3,usd=0.2"; one that is not named counts nothing.

    Raises:
        InputError: another word, no number, a negative one, or nothing above 0.
    """
    found: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in WEIGHTS or name in found:
            raise InputError(f"Weights are given once each, of {', '.join(WEIGHTS)}: {part!r} is none of them.")
        if not value.replace(".", "", 1).isdecimal():
            raise InputError(f"The weight of {name} is a number from 0 on, not {value!r}.")
        found[name] = float(value)
    if not any(found.values()):
        raise InputError("At least one weight is above 0, for example second=0.5,call=0.3,usd=0.2.")
    return found


class Productivity(Model):
    """Useful results and what they took; null where there is nothing to divide by, or the cost is not known.

    `per_second`: of the wall time of a run and of a phase, of the time in which the tool was busy. `per_call`: of all
    attempts, answers from the cache and failed ones too. `score`: 0-1, the weighted geometric mean of what is known of
    pace / (1 + pace), where pace is the time that as many results took in the baseline over the time now; results per
    call / (1 + results per call); budget / (budget + cost). 0 when nothing useful came of any call.
    """

    score: float | None
    useful: int
    per_second: float | None
    per_call: float | None
    per_usd: float | None

    @classmethod
    def of(
        cls,
        used: Figures,
        seconds: float | None,
        baseline_s: float | None,
        budget_usd: float | None,
        weights: Weights = WEIGHTS,
    ) -> Productivity:
        """Return what the figures amount to; `baseline_s`: seconds that the same answers took in the baseline."""
        per_call = rate(used.useful, used.attempts)
        usd = float(used.cost_usd) if used.cost_usd is not None and used.cost_complete else None
        terms = {
            "second": None if not baseline_s or not seconds else baseline_s / (baseline_s + seconds),
            "call": None if per_call is None else per_call / (1 + per_call),
            "usd": budget_usd / (budget_usd + usd) if usd and budget_usd else None,
        }
        known = {name: value for name, value in terms.items() if value is not None and weights.get(name)}
        weight = sum(weights[name] for name in known)
        score = None if not weight else exp(sum(weights[n] * log(max(_FLOOR, v)) for n, v in known.items()) / weight)
        return cls(
            score=0.0 if used.attempts and not used.useful else score,
            useful=used.useful,
            per_second=rate(used.useful, seconds) if seconds else None,
            per_call=per_call,
            per_usd=rate(used.useful, usd) if usd else None,
        )


def baseline_seconds(events: Sequence[Attempt], history: History, usual_ms: Mapping[str, float]) -> float | None:
    """Return the seconds that the useful results among the events took in the baseline; None of unknown tools.

    `usual_ms`: milliseconds per result, by tool.
    """
    inside = (event for event in events if event.seq in history.answers and event.call_id not in history.parents)
    known = [usual_ms[event.tool] * (event.results or 1) for event in inside if event.tool in usual_ms]
    return sum(known) / 1000 if known else None
