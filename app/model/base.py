"""How our data behaves: immutable, no unknown fields, changed only by field names and types that exist."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, TypeAdapter, model_serializer


class Model(BaseModel):
    """Base of all data: frozen; unknown fields are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Sparse(Model):
    """Data of which only what was said is written: a field that was never set is left out, one set to None is null."""

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {name: value for name, value in write(self).items() if name in self.model_fields_set}


M = TypeVar("M", bound=BaseModel)


def changed(model: M, **fields: object) -> M:
    """Return a copy of the model with these fields; the others are shared with the original.

    Types are strict: a text is no number. A dictionary becomes the model it is for, if it is whole and right.

    Raises:
        AttributeError: the model has no field of that name.
        pydantic.ValidationError: a value is not of its field's type.
    """
    kind = type(model)
    return model.model_copy(update={name: _check(kind, name)(fields[name]) for name in fields})


@cache
def _check(kind: type[BaseModel], name: str) -> Callable[[object], Any]:
    """Return what checks one field, made once: searches change models by the thousand."""
    field = kind.model_fields.get(name)
    if field is None:
        raise AttributeError(f"{kind.__name__} has no field {name!r}")
    annotation: Any = field.annotation
    for each in field.metadata:
        annotation = Annotated[annotation, each]
    if field.discriminator is not None:
        annotation = Annotated[annotation, field]
    own = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    adapter: TypeAdapter[Any] = TypeAdapter(annotation, config=None if own else ConfigDict(strict=True))
    check: Callable[[object], Any] = adapter.validator.validate_python
    return check
