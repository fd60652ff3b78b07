"""The names that a backend knows, without an engine's processes."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from pydantic import TypeAdapter

from app.knowledge.catalogue import Catalogue
from app.model.facts import BaseFact, ClassFact, GemFact, NodeFact, UniqueFact

T = TypeVar("T")


class Backend(Protocol):
    """What answers for facts."""

    def handle(self, op: str, args: dict[str, Any]) -> Any:
        """Answer a call."""
        ...


def catalogue_of(backend: Backend) -> Catalogue:
    """Return everything that has a name."""

    def facts(op: str, kind: type[T]) -> tuple[T, ...]:
        return tuple(TypeAdapter(list[kind]).validate_python(backend.handle(op, {})))  # type: ignore[valid-type]

    classes = sorted(facts("classes", ClassFact), key=lambda fact: fact.name)
    gems = sorted(facts("gems", GemFact), key=lambda fact: fact.id)
    nodes, uniques, bases = facts("nodes", NodeFact), facts("uniques", UniqueFact), facts("bases", BaseFact)
    return Catalogue(tuple(classes), tuple(gems), nodes, uniques, bases)
