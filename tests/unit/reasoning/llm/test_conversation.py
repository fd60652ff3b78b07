"""Conversations: tool rounds, one repair, bounds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from app.core.errors import BudgetExceeded, LlmBadOutput, LlmRefused
from app.llm.base import FREE, Form, Judge, Message, Reply, ToolCall, ToolSpec
from app.model.names import Effort, Phase
from app.reasoning.llm.answers import PickAnswer
from app.reasoning.llm.conversation import Conversation
from app.reasoning.llm.toolbox import Arguments, Tool, Toolbox, shortened
from app.search.effort import DIALOGUE
from app.storage.store import open_storage
from app.tools.runner import ToolRunner
from app.tools.scope import Scope
from tests.fakes.steps import new_record

GOOD = "Here you are:\n```yaml\nconflict: a\nstrategy: b\nreason: c\n```"


class Replies:
    """A model that says what the test wrote down; keeps what it was sent."""

    provider, model = "scripted", "scripted-1"

    def __init__(self, *replies: Reply) -> None:
        self.left = list(replies)
        self.sent: list[list[Message]] = []
        self.forms: list[str] = []
        self.most: set[int] = set()
        self.verdicts: list[str] = []

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        max_output_tokens: int = 4096,
        form: Form = FREE,
        judge: Judge | None = None,
    ) -> Reply:
        self.sent.append(list(messages))
        self.forms.append(form.tools)
        self.most.add(max_output_tokens)
        reply = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        assert judge is not None
        self.verdicts.append(await judge(reply))
        return reply


class Echo(Arguments):
    text: str


async def echo(asked: Echo) -> str:
    return asked.text


def calls(*names: str) -> Reply:
    return Reply(
        tool_calls=[ToolCall(id=f"c{i}", name=name, arguments={"text": "hi"}) for i, name in enumerate(names)],
        finish="tool_calls",
    )


async def settled(answer: PickAnswer) -> str:
    if answer.strategy == "bad":
        raise LlmBadOutput("that strategy is not on offer")
    return answer.strategy


async def ask(folder: Path, chat: Replies, effort: Effort = Effort.NORMAL) -> str:
    async with open_storage(f"sqlite+aiosqlite:///{folder / 'c.db'}") as storage:
        build = await storage.builds.insert(new_record())
        tool = Tool("echo", "Say it again.", Echo, echo)
        box = Toolbox([tool], ToolRunner(storage.events), Scope(build.id, Phase.ITERATE))
        beginning = [Message(role="user", content="go")]
        return await Conversation(chat, box, beginning, DIALOGUE[effort]).answer(PickAnswer, settled)


async def test_an_answer_with_a_preamble_is_enough(tmp_path: Path) -> None:
    assert await ask(tmp_path, Replies(Reply(text=GOOD))) == "b"


async def test_tools_are_served_until_there_is_an_answer(tmp_path: Path) -> None:
    chat = Replies(calls("echo"), Reply(text=GOOD))
    assert await ask(tmp_path, chat) == "b"
    assert [message.role for message in chat.sent[1]] == ["user", "assistant", "tool"]
    assert '"hi"' in chat.sent[1][-1].content


async def test_arguments_that_do_not_fit_go_back_as_data(tmp_path: Path) -> None:
    wrong = Reply(tool_calls=[ToolCall(id="c", name="echo", arguments={"txt": 1})])
    chat = Replies(wrong, Reply(text=GOOD))
    assert await ask(tmp_path, chat) == "b"
    assert "txt: Extra inputs are not permitted" in chat.sent[1][-1].content


async def test_arguments_that_are_no_json_are_told(tmp_path: Path) -> None:
    chat = Replies(Reply(bad_arguments=[("c", "echo", "arguments are not JSON")]), Reply(text=GOOD))
    assert await ask(tmp_path, chat) == "b"
    assert "The call 'echo' was not made: arguments are not JSON." in chat.sent[1][-1].content


@pytest.mark.parametrize("effort", Effort)
async def test_too_many_calls_at_once_are_cut(effort: Effort, tmp_path: Path) -> None:
    chat = Replies(calls(*["echo"] * 50), Reply(text=GOOD))
    await ask(tmp_path, chat, effort)
    assert sum(message.role == "tool" for message in chat.sent[1]) == DIALOGUE[effort].calls
    assert f"Only {DIALOGUE[effort].calls} calls are served at a time." in chat.sent[1][-1].content
    assert chat.most == {DIALOGUE[effort].output}


@pytest.mark.parametrize("effort", Effort)
async def test_the_last_round_is_announced_and_one_more_ends_it(effort: Effort, tmp_path: Path) -> None:
    chat = Replies(calls("echo"))
    with pytest.raises(BudgetExceeded):
        await ask(tmp_path, chat, effort)
    rounds = DIALOGUE[effort].rounds
    assert len(chat.sent) == rounds + 1
    assert "No tool rounds are left" in chat.sent[-1][-1].content
    assert chat.forms == ["auto"] * rounds + ["none"]


def test_more_effort_allows_more() -> None:
    quick, normal, deep = (DIALOGUE[effort].model_dump() for effort in (Effort.QUICK, Effort.NORMAL, Effort.DEEP))
    assert all(quick[name] < normal[name] <= deep[name] for name in quick)
    assert all(normal[name] < deep[name] for name in quick if name != "calls")


async def test_a_bad_answer_is_quoted_back_once(tmp_path: Path) -> None:
    chat = Replies(Reply(text=GOOD.replace("b\n", "bad\n")), Reply(text=GOOD))
    assert await ask(tmp_path, chat) == "b"
    assert "cannot be used: that strategy is not on offer" in chat.sent[1][-1].content
    assert chat.verdicts == ["that strategy is not on offer", ""]
    with pytest.raises(LlmBadOutput):
        await ask(tmp_path / "..", Replies(Reply(text="conflict: a")))


async def test_a_refusal_is_not_argued_with(tmp_path: Path) -> None:
    chat = Replies(Reply(text="no", finish="refusal"))
    with pytest.raises(LlmRefused):
        await ask(tmp_path, chat)
    assert len(chat.sent) == 1


def test_long_results_lose_their_tail() -> None:
    text = shortened([{"name": "x" * 100} for _ in range(1000)])
    assert len(text) <= 8_000
    assert text.endswith("}]")
    assert shortened("y" * 20_000).endswith("[cut]")
