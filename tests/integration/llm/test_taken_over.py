"""What becomes of a model's answer: weights, alternatives, questions that are not worth asking."""

from __future__ import annotations

from pathlib import Path

from app.model.conflicts import BuildConflict, Suggestion
from app.model.names import ConflictType, Demand, Severity, SubProblemName
from app.model.sub_problems import ScalingChoice
from tests.fakes.llm_bench import DELIVERY, llm_bench
from tests.fakes.llm_server import LlmServer, answer

SCALING = SubProblemName.DAMAGE_SCALING
WORDS = {"damage_types": ["lightning"], "keywords": ["Lightning Damage"], "reason": "It fits."}


async def test_a_weight_takes_the_place_of_the_suggested_one(tmp_path: Path) -> None:
    replies = iter([answer({**WORDS, "damage_weight": 1.3}), answer(WORDS)])
    async with LlmServer(lambda _: next(replies)) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        state = bench.ctx.state
        usual = state.sub_problems[SCALING].decision
        assert usual is not None
        assert isinstance(usual.choice, ScalingChoice)
        given = (await bench.reasoner.explore(bench.ctx, SCALING, [])).decision.choice
        left_out = (await bench.reasoner.explore(bench.ctx, SCALING, [])).decision.choice
        assert isinstance(given, ScalingChoice)
        assert isinstance(left_out, ScalingChoice)
        assert (given.damage_weight, left_out.damage_weight) == (1.3, usual.choice.damage_weight)


async def test_an_alternative_is_known_by_the_beginning_of_its_name(tmp_path: Path) -> None:
    against = [{"name": "Arc", "rejected_because": "It strikes each enemy once."}]
    said = {"skill": "Spark", "weapon_types": ["Wand"], "off_hand": "Focus", "reason": "Fine.", "alternatives": against}
    async with LlmServer(lambda _: answer(said)) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        got = await bench.reasoner.explore(bench.ctx, DELIVERY, [])
        found = {option.name: option.rejected_because for option in got.decision.alternatives}
        assert found["Arc with wand and focus"] == "The model: It strikes each enemy once."


async def test_a_conflict_with_one_way_out_is_not_asked_about(tmp_path: Path) -> None:
    way = Suggestion(strategy="a", sub_problem=SCALING, demand=Demand.MORE_DAMAGE)
    one = BuildConflict(
        id="damage_gap:damage_scaling:dps",
        type=ConflictType.DAMAGE_GAP,
        severity=Severity.BLOCKING,
        affected=[SCALING],
        suggested_solutions=[way],
    )
    async with LlmServer(lambda _: answer({"picks": []})) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        got = await bench.reasoner.resolve(bench.ctx, [one])
        assert [pick.strategy for _, pick in got.picks] == ["a"]
        assert server.requests == []


async def test_knowledge_is_that_of_the_class(tmp_path: Path) -> None:
    said = {"class": "Sorceress", "ascendancy": "Stormweaver", "reason": "Fine."}
    async with LlmServer(lambda _: answer(said)) as server, llm_bench(f"{server.url}/v1", tmp_path) as bench:
        whole = bench.ctx.invariants.text("class")
        await bench.reasoner.explore(bench.ctx, SubProblemName.ASCENDANCY, [])
        sent = str(server.requests[0].messages)
    assert whole == "Sorceress"
    assert "Stormweaver | Constant Gale" in sent
    assert "Chronomancer" in sent
    known = {name for one in await bench.world.facts.classes() for name in one.ascendancies if one.name != "Sorceress"}
    rows = [name for name in known if f"\n| {name} |" in server.requests[0].messages[0]["content"]]
    assert known
    assert rows == []
