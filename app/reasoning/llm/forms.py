"""The answers as tools: a model answers a step by calling that step's, whose arguments are the answer.

The tools of all steps are on offer in every request, so that what was sent before stays a prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, cast

from pydantic import BaseModel, create_model, model_validator

from app.llm.base import ToolSpec
from app.model.names import SubProblemName
from app.reasoning.llm import answers
from app.reasoning.llm.toolbox import schema_of
from app.reasoning.questions import QUESTIONS
from app.reasoning.questions.base import ModelAnswer

_PREFIX = "answer_"


class _Alone(ModelAnswer):
    """The answer to one question, with the question's name before it or without."""

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        (name,) = cls.model_fields
        return value if isinstance(value, dict) and isinstance(value.get(name), dict) else {name: value}


def answers_to(names: Sequence[SubProblemName]) -> type[ModelAnswer]:
    """Return the form of the answers to these questions of `explore`, each under its question's name."""
    fields: dict[str, Any] = {name.value: (QUESTIONS[name].answer, ...) for name in names}
    base = _Alone if len(names) == 1 else ModelAnswer
    return cast("type[ModelAnswer]", create_model("Answers", __base__=base, **fields))


def entries_of(shape: type[BaseModel]) -> list[str]:
    """Return the questions that a form answers; none where it is the form of another step."""
    return [name for name in shape.model_fields if name in set(SubProblemName)]


def answer_tool(prompt: str) -> str:
    """Return the name of the tool that takes the answer to a prompt; the questions of `explore` share one."""
    step = answers.EXPLORE if prompt.startswith(f"{answers.EXPLORE}-") else prompt
    return _PREFIX + step.replace("-", "_")


@cache
def answer_tools() -> tuple[ToolSpec, ...]:
    """Return the answer of every step as a tool."""
    explore: dict[str, Any] = {name.value: (kind.answer | None, None) for name, kind in QUESTIONS.items()}
    every: dict[str, type[BaseModel]] = {
        prompt: shape for prompt, shape in answers.ANSWERS.items() if answer_tool(prompt) != EXPLORE_TOOL
    }
    every[answers.EXPLORE] = create_model("Answers", __base__=ModelAnswer, **explore)
    return tuple(
        ToolSpec(name=answer_tool(prompt), description=f"The answer to the step {prompt}.", parameters=schema_of(shape))
        for prompt, shape in every.items()
    )


EXPLORE_TOOL: Final = answer_tool(answers.EXPLORE)
