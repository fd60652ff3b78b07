"""Faults that were seen when a strong model answered by hand, each with a written exchange that shows it.

The exchanges are in tests/fixtures/llm/transcripts; here stands what becomes of them now.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.model.events import CallOutcome
from app.model.names import BuildStatus, ConflictType, Effort, Severity, SubProblemName
from app.model.race import RACED
from app.model.record import BuildRequest
from app.model.stats import HITS
from app.model.sub_problems import ScalingChoice
from app.reasoning.base import ReasoningContext
from app.search.effort import DIALOGUE, ON_DRAFTS
from app.service.presentation import as_text, presentation_of
from tests.fakes.llm_bench import DELIVERY, llm_bench, llm_settings
from tests.fakes.llm_player import Player
from tests.fakes.llm_reader import Reader, written
from tests.fakes.llm_server import Asked, LlmServer, Reaction, Say
from tests.integration.llm.test_builds import Made, make
from tests.integration.llm.test_choices import check_bound
from tests.integration.llm.test_liar import told_by
from tests.unit.reasoning.planning import plan

Q = SubProblemName
PAID = 3
"""Evaluations of an experiment with one variant: the draft as it was loaded, as it is, and the variant."""


@dataclass(frozen=True)
class Whole:
    """A build for which `whole_build` was said, and what was asked."""

    made: Made
    asked: list[Asked]

    def of(self, step: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.step == step]

    def about(self, question: Q) -> Asked:
        return next(asked for asked in self.asked if question.value in asked.questions)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    async def said() -> Whole:
        async with LlmServer(Reader(written("whole_build"))) as server:
            settings = llm_settings(f"{server.url}/v1", tmp_path_factory.mktemp("seen"), llm_timeout_s=20)
            return Whole(await make(settings, level=24), list(server.requests))

    return asyncio.run(said())


@pytest.mark.slow
class TestWholeBuild:
    """One build at level 24 on the estimator."""

    def test_1_choices_bind(self, whole: Whole) -> None:
        check_bound(whole.made, ["Spark", "Considered Casting", "Rapid Casting I", "Supercritical"], {})

    def test_2_explore_is_not_blind(self, whole: Whole) -> None:
        for question in (Q.DAMAGE_DELIVERY, Q.DAMAGE_SCALING, Q.SPIRIT_ALLOCATION):
            facts = str(whole.about(question).block("facts"))
            assert RACED in facts
            assert facts.count("DPS / ") > 2

    def test_4_what_is_invented_does_not_reach_people(self, whole: Whole) -> None:
        for place, text in told_by(whole.made).items():
            for lie in ("95,123", "95123", "verified with", "7.31", "calculator confirms"):
                assert lie not in text, place
        assert "The model: Spark fills rooms." in told_by(whole.made)["text"]

    def test_5_what_the_rules_had_to_decide_is_told(self, whole: Whole) -> None:
        who = whole.made.view.reasoner
        assert who.asked - who.decided == 1
        sentence = f"The model decided {who.decided} of {who.asked} steps; fallbacks: invariant-extraction"
        assert sentence in as_text(presentation_of(whole.made.record))
        assert "no class called (a name of its own)" in who.share
        rejected = [one for one in whole.made.of("llm.chat") if one.outcome is CallOutcome.ERROR]
        assert [one.error_type for one in rejected] == ["answer_rejected"] * 2
        assert all(one.cost_usd for one in rejected), "it was paid for"

    def test_6_a_false_opinion_forces_no_rebuild(self, whole: Whole) -> None:
        assert whole.made.view.status is BuildStatus.COMPLETE
        assert len(whole.of("validate")) == 1 + whole.made.record.state.iteration
        assert "does not deal lightning" not in str(told_by(whole.made))
        kinds = [one.type for one in whole.made.record.state.conflicts if "opinion" in one.subject]
        assert ConflictType.GOAL_MISMATCH not in kinds

    def test_9_tools_say_what_a_model_needs(self, whole: Whole) -> None:
        ranked, crafted = whole.of("construct")[1].results
        assert all(row["made"] for row in ranked), "what is replaced, or that nothing is"
        assert any("mana" in line.lower() for line in crafted["made"])
        assert crafted["why"], "the parts that change"
        found = [row for row in (*ranked, crafted) if row["gain"]]
        assert all(sum(row["why"].values()) == pytest.approx(row["gain"], abs=0.01) for row in found)
        (validate, *_) = whole.of("validate")
        assert set(HITS) <= set(validate.block("build")["figures"])


async def test_3_words_are_read_as_they_are_meant(tmp_path: Path) -> None:
    said = written("hated_totems")
    request = BuildRequest(prompt=said.head.request.prompt)
    async with LlmServer(Reader(said)) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        got = await bench.reasoner.extract(request, bench.world)
        (asked,) = server.requests
        assert bench.reasoner.remarks.degraded == ()
    shown = {row["field"]: row["value"] for row in asked.block("read")}
    assert (shown["damage_type"], "totem" in shown["style"]) == ("cold", True)
    assert (got.get("style"), got.get("exclude")) == (["critical", "damage_over_time"], ["totems"])
    assert got.listed("damage_type") == ["chaos"]
    assert got.question is not None
    assert got.question.text == "The model: Should it be cold, or damage over time of another kind?"
    assert sum("reads no wish for" in line for line in got.assumptions) == 2


async def test_3_wishes_that_cannot_all_be_met_are_put_to_the_model_first(tmp_path: Path) -> None:
    request = BuildRequest(prompt="level 10 sorceress with archmage")
    async with LlmServer(Player(use_tools=False)) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        got = await bench.reasoner.extract(request, bench.world)
        (asked,) = server.requests
    line = "Archmage can first be used at level 58, and the character is level 10: both cannot be had."
    assert line in asked.block("assumed")
    assert line in got.assumptions, "and told, before anything is built"


async def test_6_an_opinion_that_rests_on_a_false_claim_blocks_nothing(tmp_path: Path) -> None:
    said = written("false_opinions")
    async with LlmServer(Reader(said)) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        found = await bench.reasoner.assess(bench.ctx)
    told = [(one.message, one.severity) for one in found if one.evidence.judged_by]
    assert told == [("The model: The skill is slow to clear.", Severity.BLOCKING)]


async def test_7_weights_are_absolute_and_labels_need_not_be_exact(tmp_path: Path) -> None:
    said = written("weights_and_labels")
    async with LlmServer(Reader(said)) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        scaling = (await bench.reasoner.explore(bench.ctx, Q.DAMAGE_SCALING, [])).decision.choice
        delivery = (await bench.next_step().explore(bench.ctx, DELIVERY, [])).decision
    assert isinstance(scaling, ScalingChoice)
    assert scaling.damage_weight == 1.2
    against = {option.name: option.rejected_because for option in delivery.alternatives}
    assert against["Arc with wand and focus"] == "The model: It strikes each enemy once."


async def test_8_a_witch_is_sent_nothing_of_other_classes(tmp_path: Path) -> None:
    said = written("another_class")
    async with LlmServer(Reader(said)) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        ready = await plan(said.head.request.prompt, bench.world)
        ctx = ReasoningContext(said.head.request, ready.invariants, ready.state, bench.ctx.engine)
        await bench.reasoner.explore(ctx, Q.ASCENDANCY, [])
        (asked,) = server.requests
        classes = await bench.world.facts.classes()
    others = {name for one in classes if one.name != "Witch" for name in one.ascendancies}
    options = " ".join(option["name"] for option in asked.block("options")["ascendancy"])
    rows = [line for text in (*asked.texts, str(asked.messages[0])) for line in text.split("\\n")]
    assert others
    assert [name for name in others if name in options] == []
    assert [line for line in rows if line.startswith("| ") and line.split("|")[1].strip() in others] == []


async def test_9_no_tool_may_be_called_when_the_rounds_are_over(tmp_path: Path) -> None:
    said, rounds = written("tools_without_end"), DIALOGUE[Effort.NORMAL].rounds
    async with LlmServer(Reader(said)) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        got = await bench.reasoner.explore(bench.ctx, DELIVERY, [])
        bodies = [asked.body for asked in server.requests]
        descriptions = {gem.description for gem in await bench.world.facts.gems() if len(gem.description) > 200}
        told = str([asked.results for asked in server.requests])
    assert got.decision.name == "Arc with wand and focus"
    assert len(bodies) == rounds + 1
    assert [body.get("tool_choice") == "none" for body in bodies] == [False] * rounds + [True]
    assert all(body["tools"] == bodies[0]["tools"] for body in bodies), "what was sent before stays a prefix"
    assert all(text[:300] in told for text in descriptions if "lightning" in text.lower())


class Curious(Player):
    """Tries changes on the drafts of the race before it answers the first questions, one on none that is there."""

    def __call__(self, asked: Asked) -> Reaction:
        if asked.step == "explore-ascendancy" or "damage_delivery" in asked.questions:
            names = asked.block("drafts")["names"]
            skill = names[-1].partition(" with ")[0]
            change = {"op": "set_supports", "skill": skill, "supports": []}
            variants = [{"name": "bare", "changes": [change]}]
            if asked.turn == 0:
                calls = [("run_experiment", {"variants": variants, "draft": name}) for name in (names[-1], "Nothing")]
                return Say(calls=[*calls, ("rank_supports", {"skill": skill})])
        return super().__call__(asked)


@pytest.mark.slow
async def test_2_changes_are_tried_on_drafts_before_anything_is_decided(tmp_path: Path) -> None:
    async with LlmServer(Curious()) as server:
        made = await make(llm_settings(f"{server.url}/v1", tmp_path, llm_timeout_s=20), level=12)
        asked = next(one for one in server.requests if "damage_delivery" in one.questions and one.turn == 1)
        later = next(one for one in server.requests if "damage_scaling" in one.questions)
    table, nothing, refused = asked.results
    draft = asked.block("drafts")["names"][-1]
    assert [(row["variant"], row["of draft"]) for row in table] == [("as it is", draft), ("bare", draft)]
    assert (table[0]["gain"], table[0]["DPS"] > 0, table[1]["gain"] < 0) == (0, True, True)
    assert "there is no draft called 'Nothing'" in nothing["error"]
    assert "no such tool in this step" in refused["error"]
    assert asked.block("drafts")["evaluations left"] == ON_DRAFTS[Effort.NORMAL]
    assert later.block("drafts")["evaluations left"] == ON_DRAFTS[Effort.NORMAL] - PAID
    assert made.view.reasoner.decided == made.view.reasoner.asked
