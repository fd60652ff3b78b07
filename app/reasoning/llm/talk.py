"""One conversation per build: each step is appended to what was said, so that a request begins as an earlier one did.

The beginning is the same for every step. After it comes, for each step that the model answered, what it was asked; its
tool calls and its own words are not repeated, for what was made of them is told in the data of the next step. Nothing
is said twice: instructions and knowledge are sent when they are first needed, data when it is new or another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from app.llm.base import Message
from app.model.base import changed
from app.model.dialogue import Turn
from app.prompting.library import Focus, PromptLibrary, fenced
from app.reasoning.base import ReasoningContext
from app.tools.payload import plain

BEGINNING: Final = "conversation"
"""The prompt that every request begins with."""

STEP = "Step: "
"""The first line of what is asked names the prompt, so that a person reading a recording knows what it was."""

MOST_CHARS: Final = 120_000
"""A conversation of more data than this (about 30,000 tokens) is begun anew, for the sake of small windows."""

ANSWERED = "(answered; what was made of it is told below)"
"""What stands for the model's own words in the requests that follow."""

OPEN = "open again"
"""What is told of an entry that is there no more."""

_NO_WRAP = 100_000
"""Texts keep their lines: a person's words are quoted as they were written."""


class Entries(dict[str, Any]):
    """A block of which only the entries are shown that are new or others than when they were last shown."""


class HeldEntries(Entries):
    """Entries that hold until something else is said; one that is there no more is told of as open."""


@dataclass(frozen=True)
class StepRequest:
    """The messages of a request, the turn that it becomes when it is answered, and the knowledge that was missing."""

    messages: list[Message]
    turn: Turn
    domain_gaps: tuple[str, ...]


async def focus_of(ctx: ReasoningContext) -> Focus | None:
    """Return whom the build is about; None where its class is open."""
    classes = await ctx.engine.facts.classes()
    mine = next((one for one in classes if one.name == ctx.invariants.text("class")), None)
    if mine is None:
        return None
    others = {name for one in classes if one is not mine for name in (one.name, *one.ascendancies)}
    asked = [*ctx.invariants.listed("skill"), *ctx.invariants.listed("weapon"), *ctx.invariants.listed("with")]
    return Focus(frozenset({mine.name, *mine.ascendancies}), frozenset(others), tuple(asked))


def question(
    library: PromptLibrary,
    turns: Sequence[Turn],
    prompts: Sequence[str],
    shown: Mapping[str, Any],
    ending: str,
    focus: Focus | None = None,
) -> StepRequest:
    """Return the request of a step: the conversation so far, then its instructions and data.

    Inputs are data: each is fenced and labelled, never expanded. The last of the prompts names the step; `ending` says
    how to answer.

    Raises:
        NotFound: there is no such prompt.
    """
    before = conversation(turns)
    size = sum(len(turn.asked) for turn in before)
    if size > MOST_CHARS:
        before = []
    messages, told = _spoken(library, before, focus)
    data, digests = _data(before, shown)
    turn = Turn(step=prompts[-1], prompts=list(prompts), asked=f"{data}\n\n{ending}", shown=digests)
    turn = changed(turn, anew=not before, narrowed=focus is not None)
    text, gaps = _asked(library, turn, told, focus)
    return StepRequest([*messages, Message(role="user", content=text)], turn, gaps)


def ending(tools: Sequence[str], answer: str, questions: Sequence[str] = ()) -> str:
    """Return how to answer a step: which tools it has, the tool that takes the answer, and the entries it must have."""
    own = f"Tools of this step: {', '.join(tools)}." if tools else "This step has no tools."
    entries = f" One entry for each of: {', '.join(questions)}." if questions else ""
    return f"{own} Answer by calling {answer}; as text, with one YAML mapping in the form asked for.{entries}"


def conversation(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns that the next request goes on from: what was asked and answered since it began anew."""
    begun = max((at for at, turn in enumerate(turns) if turn.anew), default=0)
    return [turn for turn in turns[begun:] if turn.asked and not turn.fallen]


def _spoken(library: PromptLibrary, turns: Sequence[Turn], focus: Focus | None) -> tuple[list[Message], frozenset[str]]:
    """Return the messages of the turns, and which prompts and knowledge they hold."""
    messages = [Message(role="system", content=library.render(BEGINNING, {}).text)]
    told: frozenset[str] = frozenset()
    for turn in turns:
        text, _ = _asked(library, turn, told, focus)
        messages.append(Message(role="user", content=text))
        messages.append(Message(role="assistant", content=ANSWERED))
        told |= _held(library, turn.prompts)
    return messages, told


def _held(library: PromptLibrary, prompts: Collection[str]) -> frozenset[str]:
    return frozenset([*prompts, *(name for prompt in prompts for name in library.domain_files(prompt))])


def _asked(
    library: PromptLibrary, turn: Turn, told: frozenset[str], focus: Focus | None
) -> tuple[str, tuple[str, ...]]:
    """Return what a turn said: instructions and knowledge that were not told before, then its data."""
    parts, gaps = [f"{STEP}{turn.step}"], list[str]()
    for name in turn.prompts:
        if name in told:
            parts.append(f"(The instructions of {name} are above.)")
            continue
        # what a prompt places itself comes as data after it
        placed = dict.fromkeys(library.inputs(name), "(below)")
        rendered = library.render(name, placed, focus if turn.narrowed else None, told)
        parts.append(rendered.text.strip())
        gaps += rendered.domain_gaps
        told |= _held(library, [name])
    return "\n\n".join([*parts, turn.asked]), tuple(dict.fromkeys(gaps))


def _data(turns: Sequence[Turn], shown: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the blocks of what is new, and the digests of all that is shown now."""
    known = {name: digest for turn in turns for name, digest in turn.shown.items()}
    blocks, same, digests = list[str](), list[str](), dict[str, str]()
    for name, value in shown.items():
        if isinstance(value, Entries):
            whole = {f"{name}.{key}": _text({key: one}) for key, one in value.items()}
            lost = isinstance(value, HeldEntries)
            gone = [key for key in known if lost and key.startswith(f"{name}.") and key not in whole]
            whole |= {key: _text({key.partition(".")[2]: OPEN}) for key in gone}
        else:
            whole = {name: _text(value)}
        digests |= {key: hashlib.sha256(text.encode()).hexdigest()[:16] for key, text in whole.items()}
        fresh = [text for key, text in whole.items() if known.get(key) != digests[key]]
        if fresh:
            blocks.append(fenced(name, "\n".join(fresh)))
        elif whole:
            same.append(name)
    unchanged = [f"As shown before: {', '.join(same)}."] if same else []
    return "\n\n".join([*blocks, *unchanged]), digests


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return yaml.safe_dump(plain(value), sort_keys=False, allow_unicode=True, width=_NO_WRAP).strip()
