"""Trees on paper, and what is known about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.model.names import Attribute
from app.search.effects import Vector


@dataclass(frozen=True)
class Draft:
    """A tree on paper: its passives, what its attribute passives give, its vector and score.

    `plain` is the mere sum of what the passives do alone; `vector` adds what was learned of their company.
    """

    owned: frozenset[int]
    attributes: Mapping[int, Attribute]
    plain: Vector
    vector: Vector
    score: float


@dataclass(frozen=True)
class Lesson:
    """How a measurement differed from the sum: passives given back together, passives bought together, the error."""

    gone: frozenset[int]
    new: frozenset[int]
    error: Vector


@dataclass(frozen=True)
class Cut:
    """Passives that go together, and the score lost per point without them."""

    nodes: frozenset[int]
    loss: float
