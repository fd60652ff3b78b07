"""JSON Schema as a matcher: references inside the schema only, patterns in linear time, a clock over every keyword."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, Final

from jsonschema import Draft4Validator, Draft6Validator, Draft7Validator, Draft201909Validator, Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry, Specification
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT4, DRAFT6, DRAFT7, DRAFT201909, DRAFT202012

from app.metrics.limits import MAX_PARTS, InvalidMatcher, check_time, compile_pattern

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]

_DRAFTS: Final[dict[str, tuple[Any, Specification[Any]]]] = {
    "https://json-schema.org/draft/2020-12/schema": (Draft202012Validator, DRAFT202012),
    "https://json-schema.org/draft/2019-09/schema": (Draft201909Validator, DRAFT201909),
    "http://json-schema.org/draft-07/schema": (Draft7Validator, DRAFT7),
    "http://json-schema.org/draft-06/schema": (Draft6Validator, DRAFT6),
    "http://json-schema.org/draft-04/schema": (Draft4Validator, DRAFT4),
}
_NEWEST: Final = next(iter(_DRAFTS))
_NOT_OFFERED: Final = frozenset({"$dynamicRef", "$recursiveRef"})


def compile_schema(schema: dict[str, Any]) -> Callable[[Any], str | None]:
    """Return what finds the first fault of a value, None when it has none.

    Raises:
        InvalidMatcher: not a schema of a draft from 4 to 2020-12, or one that refers to itself, or outside, or nowhere.
    """
    draft = schema.get("$schema", _NEWEST)
    if not isinstance(draft, str) or draft.removesuffix("#") not in _DRAFTS:
        raise InvalidMatcher(f"json_schema knows these values of $schema: {', '.join(_DRAFTS)}")
    kind, specification = _DRAFTS[draft.removesuffix("#")]
    schema = {name: part for name, part in schema.items() if name not in ("$id", "id")}
    with _typed_errors():
        _Walk(schema, _timed(kind), specification).check()
    validator = _timed(kind)(schema, registry=Registry())

    def first_fault(value: Any) -> str | None:
        with _typed_errors():
            error = next(validator.iter_errors(value), None)
        return None if error is None else str(error.message)

    return first_fault


@contextmanager
def _typed_errors() -> Iterator[None]:
    try:
        yield
    except Unresolvable as exc:
        raise InvalidMatcher(f"json_schema has nothing at {str(exc.ref)[:100]!r}") from exc
    except RecursionError as exc:
        raise InvalidMatcher("json_schema has too many levels once its references are followed") from exc


class _Walk:
    """Goes through a schema as its evaluation would, following references, so that its price is known before."""

    def __init__(self, schema: dict[str, Any], kind: Any, specification: Specification[Any]) -> None:
        self._schema = schema
        self._kind = kind
        self._specification = specification
        resource = specification.create_resource(schema)
        self._resolver = Registry().with_resource("", resource).resolver_with_root(resource)
        self._steps = 0
        self._keywords: set[str] = set()

    def check(self) -> None:
        self._check_shape(self._schema)
        self._visit(self._schema, ("#",))
        if {"unevaluatedProperties", "patternProperties"} <= self._keywords:
            raise InvalidMatcher("json_schema takes unevaluatedProperties or patternProperties, not both")

    def _check_shape(self, schema: Any) -> None:
        fault = next(self._kind(self._kind.META_SCHEMA).iter_errors(schema), None)
        if fault is not None:
            raise InvalidMatcher(f"invalid json_schema: {fault.message[:300]}")

    def _visit(self, schema: Any, via: tuple[str, ...]) -> None:
        self._steps += 1
        if self._steps > MAX_PARTS:
            raise InvalidMatcher(f"json_schema has more than {MAX_PARTS} parts once its references are followed")
        if not isinstance(schema, Mapping):
            return
        self._keywords |= schema.keys()
        if isinstance(schema.get("$id", schema.get("id")), str):
            raise InvalidMatcher("json_schema takes $id at its beginning only")
        if refused := _NOT_OFFERED & schema.keys():
            raise InvalidMatcher(f"json_schema does not offer {', '.join(sorted(refused))}")
        for pattern in [*schema.get("patternProperties", ()), *([schema["pattern"]] if "pattern" in schema else ())]:
            compile_pattern(pattern)
        if "$ref" in schema:
            self._follow(schema["$ref"], via)
        for part in self._specification.subresources_of(schema):
            self._visit(part, via)

    def _follow(self, reference: object, via: tuple[str, ...]) -> None:
        if not isinstance(reference, str):
            raise InvalidMatcher("json_schema has a $ref that is no text")
        if reference in via:
            raise InvalidMatcher(f"json_schema refers to itself by {reference[:100]!r}; write the levels out")
        if not reference.startswith("#/"):
            raise InvalidMatcher(f"json_schema refers to {reference[:100]!r}; only #/… inside of it can be followed")
        target = self._resolver.lookup(reference).contents
        self._check_shape(target)
        self._visit(target, (*via, reference))


@cache
def _timed(kind: Any) -> Any:
    """Return the validator of a draft with linear keywords, each of which looks at the clock first."""
    keywords: dict[str, Keyword] = {**kind.VALIDATORS, **_LINEAR}
    make: Callable[..., Any] = extend
    return make(kind, {name: partial(_in_time, keyword) for name, keyword in keywords.items()})


def _in_time(keyword: Keyword, validator: Any, part: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    check_time()
    yield from keyword(validator, part, value, schema) or ()


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(value, "string") and compile_pattern(pattern).search(value) is None:
        yield ValidationError(f"{value[:100]!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(value, "object"):
        for pattern, part in patterns.items():
            matches = compile_pattern(pattern).search
            for name in value:
                if matches(name) is not None:
                    yield from validator.descend(value[name], part, path=name, schema_path=pattern)


def _additional_properties(validator: Any, part: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if not validator.is_type(value, "object"):
        return
    matches = [compile_pattern(pattern).search for pattern in schema.get("patternProperties", {})]
    known = schema.get("properties", {})
    further = [name for name in value if name not in known and all(match(name) is None for match in matches)]
    if isinstance(part, Mapping):
        for name in further:
            yield from validator.descend(value[name], part, path=name)
    elif part is False and further:
        yield ValidationError(f"these properties are not allowed: {', '.join(map(repr, further[:10]))}")


_LINEAR: Final[dict[str, Keyword]] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
}
"""The keywords for which the library would use Python's own engine, which backtracks."""
