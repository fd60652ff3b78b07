"""The tools that a model may call in one step: checked arguments in, bounded results out, errors as data."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from app.core.errors import AppError, LeaseLost, StorageError, ToolRefused
from app.llm.base import ToolCall, ToolSpec
from app.model.events import ToolKind
from app.prompting.library import fenced
from app.tools.payload import plain
from app.tools.runner import ToolRunner
from app.tools.scope import Scope

MOST_RESULT_CHARS: Final = 8_000
UNKNOWN: Final = "unknown_tool"
"""What a call of a tool that is not on offer is recorded as: its name is the model's, so it stays an argument."""


class Arguments(BaseModel):
    """Base of all tool arguments: exactly these keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Tool:
    """A tool: `run` gets validated arguments and returns JSON-ready data."""

    name: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Any], Awaitable[object]]

    @property
    def spec(self) -> ToolSpec:
        """Return what the model is told about it."""
        return ToolSpec(name=self.name, description=self.description, parameters=schema_of(self.arguments))


def schema_of(shape: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a form, without what says nothing to a model: titles, and notes about our own types.

    Which keys a mapping may have is written where the mapping is.
    """
    whole = shape.model_json_schema()
    types = whole.get("$defs", {})

    def plain_of(value: Any) -> Any:
        if isinstance(value, list):
            return [plain_of(one) for one in value]
        if not isinstance(value, dict):
            return value
        kept = {key: plain_of(one) for key, one in value.items() if key != "title" or not isinstance(one, str)}
        keys = kept.get("propertyNames", {}).get("$ref")
        return {**kept, "propertyNames": {"enum": types[keys.rpartition("/")[2]]["enum"]}} if keys else kept

    schema: dict[str, Any] = {key: plain_of(one) for key, one in whole.items() if key not in ("title", "description")}
    for one in schema.get("$defs", {}).values():
        one.pop("description", None)
    return schema


class Toolbox:
    """The tools of one step; everything asked for is recorded, refusals too.

    `offered` is what the model is told, the same in every step; only `tools` can be called in this one.
    """

    def __init__(
        self, tools: Sequence[Tool], runner: ToolRunner, scope: Scope, offered: Sequence[ToolSpec] = ()
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._runner = runner
        self._scope = scope
        self._offered = list(offered)

    @property
    def specs(self) -> list[ToolSpec]:
        """Return what the model is told."""
        return self._offered or [tool.spec for tool in self._tools.values()]

    async def serve(self, call: ToolCall) -> str:
        """Return the result as fenced text; what goes wrong is part of it.

        Raises:
            LeaseLost, StorageError: the build itself cannot go on.
        """
        tool = self._tools.get(call.name)
        name = UNKNOWN if tool is None else tool.name
        args = {"name": call.name, "arguments": call.arguments} if tool is None else call.arguments

        async def run() -> object:
            return await self._run(tool, call.arguments)

        try:
            result = await self._runner.call(self._scope, ToolKind.OTHER, name, args, run, retries=1)
        except (LeaseLost, StorageError):
            raise
        except AppError as error:
            result = {"error": error.message[:1000]}
        return fenced(f"result of {call.name[:40]}", shortened(result))

    async def _run(self, tool: Tool | None, arguments: Mapping[str, Any]) -> object:
        """Return the result as plain data.

        Raises:
            ToolRefused: there is no such tool, or it does not take these arguments.
        """
        if tool is None:
            raise ToolRefused(f"there is no such tool in this step; the tools are {', '.join(self._tools) or 'none'}")
        try:
            checked = tool.arguments.model_validate(arguments)
        except ValidationError as error:
            lines = [f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}" for item in error.errors()[:6]]
            raise ToolRefused("; ".join(lines)[:800]) from error
        return plain(await tool.run(checked))


def shortened(result: object) -> str:
    """Return the result as JSON of bounded length; a list loses its tail, anything else is cut."""
    text = _json(result)
    if isinstance(result, list):
        while len(text) > MOST_RESULT_CHARS and len(result) > 1:
            result = result[: max(1, len(result) * MOST_RESULT_CHARS // len(text))]
            text = _json(result)
    return text if len(text) <= MOST_RESULT_CHARS else text[:MOST_RESULT_CHARS] + " [cut]"


def _json(result: object) -> str:
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))
