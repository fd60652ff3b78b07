"""Survivability: which pool takes the hits and which layers soften them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from app.core.errors import LlmBadOutput
from app.knowledge.styles import GLASS_CANNON
from app.knowledge.words import listing
from app.model.base import changed
from app.model.names import Demand, Goal, Provenance, SubProblemName
from app.model.sub_problems import Choice, Decision, Discovery, Option, Pool, SurvivabilityChoice, pool_of
from app.reasoning.base import FoundBuild
from app.reasoning.questions.base import ExploreAnswer, QuestionKind
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.measured import defences_measured_first, told_of_race

Way = tuple[Pool, list[str]]
"""A pool and the layers before it, the most important first."""
_STEP = 1.5
_GOALS = {Goal.BOSSING: 1.15, Goal.LEVELING: 0.8}
_GLASS = 0.4
"""What effective hit points count for a glass cannon beside others; what is needed of each kind of hit stays needed."""

_KEYSTONES: dict[str, tuple[Pool, list[str]]] = {
    "Chaos Inoculation": ("energy_shield", ["energy_shield"]),
    "Blood Magic": ("life", []),
    "Mind Over Matter": ("hybrid", []),
    "Eldritch Battery": ("life", []),
}
"""What a keystone that the user named makes of the pools: with life at 1, or mana before life, or no shield at all."""

_LAYER = {"str": "armour", "dex": "evasion", "int": "energy_shield"}
_LAYER_STATS = {"armour": "Armour", "evasion": "Evasion", "energy_shield": "EnergyShield"}
_POOLS: tuple[Pool, ...] = ("life", "hybrid", "energy_shield")
_PURE: tuple[Way, ...] = (("life", ["armour"]), ("life", ["evasion"]), ("energy_shield", ["energy_shield"]))
"""One layer alone. Two of them were never the best of six in quick builds of seven classes at level 85, but for the
Druid's own mix: a mix has both kinds of bases to choose among, but must pay for both."""


class SurvivabilityAnswer(ExploreAnswer):
    """`explore-survivability`. `mitigation` in order of importance; `ehp_weight` None = as the rules weigh it."""

    pool: Pool
    mitigation: Annotated[list[Literal["armour", "evasion", "energy_shield"]], Field(min_length=1, max_length=3)]
    ehp_weight: Annotated[float, Field(ge=0.25, le=4.0)] | None = None


class SurvivabilityQuestion(QuestionKind[SurvivabilityAnswer]):
    """What keeps the character alive."""

    name = SubProblemName.SURVIVABILITY
    answer = SurvivabilityAnswer
    demands = frozenset({Demand.MORE_EFFECTIVE_LIFE})
    answered_by = "defence"

    def waits_for(self, *, ascendancy_named: bool, skill_named: bool) -> list[SubProblemName]:
        """Wait for the ascendancy."""
        return [SubProblemName.ASCENDANCY]

    def gather(self, brief: Brief) -> list[Discovery]:
        """Return how much the level and gear need."""
        floors = brief.demands.floors
        here = f"At level {brief.demands.level} with {brief.demands.gear.value} gear"
        text = f"{here}, {floors.ehp.least:.0f} effective hit points are the least, {floors.ehp.good:.0f} are good."
        physical, elemental = floors.physical_hit.least, floors.elemental_hit.least
        hits = f"a physical hit of {physical:.0f} and an elemental one of {elemental:.0f}"
        text += f" It must survive {hits}, and recover {floors.recovery.least:.0f} hit points per second."
        return [self.discovery(text, "floors"), *told_of_race(brief, self.name)]

    def decide(self, brief: Brief) -> Decision:
        """Follow the defence asked for, else what measured best, else what the class's attributes make cheap."""
        options = [_option(brief, pool, layers) for pool, layers in _ways(brief)]
        first, *others = defences_measured_first(brief, options) if len(defences(brief)) > 1 else options
        chosen = self.fresh(brief, self._heavier(brief, first))
        provenance = Provenance.EXPLICIT if brief.explicit("defence") else Provenance.INFERRED
        return self.choose(brief, [chosen, *others], provenance)

    def _heavier(self, brief: Brief, option: Option) -> Iterator[Option]:
        """Yield the answer with the weight that conflicts ask for, then ever heavier."""
        assert isinstance(option.choice, SurvivabilityChoice)
        steps = len(brief.constraints(self.name, Demand.MORE_EFFECTIVE_LIFE))
        while True:
            choice = changed(option.choice, ehp_weight=round(option.choice.ehp_weight * _STEP**steps, 3))
            name = option.name if not steps else f"{option.name}, weighed {_STEP**steps:.3g} times"
            yield changed(option, name=name, choice=choice)
            steps += 1

    def settle(self, answer: SurvivabilityAnswer, brief: Brief, usual: Decision) -> tuple[str, Choice]:
        """Refuse what was ruled out, and another defence than asked for."""
        assert isinstance(usual.choice, SurvivabilityChoice)
        layers: list[str] = list(dict.fromkeys(answer.mitigation))
        used = {answer.pool.replace("_", " "), *(layer.replace("_", " ") for layer in layers)}
        if answer.pool == "hybrid":
            used |= {"life", "energy shield"}
        if gone := used & brief.exclusions.terms:
            raise LlmBadOutput(f"the user ruled out {listing(sorted(gone))}")
        if brief.explicit("defence") and not _is_as_asked(brief, answer.pool, layers):
            raise LlmBadOutput(f"the user asked for {listing(sorted(set(brief.listed('defence'))))}")
        if answer.pool != "energy_shield" and brief.is_named("Chaos Inoculation"):
            raise LlmBadOutput("the user asked for Chaos Inoculation: life is 1, so energy shield is the pool")
        weight = usual.choice.ehp_weight if answer.ehp_weight is None else round(answer.ehp_weight, 3)
        if brief.constraints(self.name, Demand.MORE_EFFECTIVE_LIFE):
            weight = max(weight, usual.choice.ehp_weight)
        choice = changed(usual.choice, pool=answer.pool, mitigation=layers, ehp_weight=weight)
        return f"{answer.pool.replace('_', ' ')} with {listing(layers)}, weighed {weight:g}", choice

    def recognise(self, found: FoundBuild) -> tuple[str, Choice]:
        """Return pool and layers of a finished build, from its figures."""
        pool = pool_of(found.stats)
        order = sorted(_LAYER_STATS, key=lambda name: (-found.stats.get(_LAYER_STATS[name]), name))
        worn = [name for name in order if found.stats.get(_LAYER_STATS[name]) > 0] or ["armour"]
        choice = SurvivabilityChoice(pool=pool, mitigation=worn[:2])
        return f"{pool.replace('_', ' ')}, {', '.join(choice.mitigation)}", choice


def defences(brief: Brief) -> list[SurvivabilityChoice]:
    """Return what is worth measuring: the class's own defence, and each layer alone; one where the words say which."""
    ways = _ways(brief)
    said = brief.explicit("defence") or any(brief.is_named(name) for name in _KEYSTONES)
    tried = ways[:1] if said else [ways[0], *(way for way in ways[1:] if way in _PURE)]
    found = [_option(brief, pool, layers).choice for pool, layers in tried]
    return [choice for choice in found if isinstance(choice, SurvivabilityChoice)]


def _is_as_asked(brief: Brief, pool: str, layers: list[str]) -> bool:
    asked = set(brief.listed("defence"))
    pools = asked & {"life", "energy_shield", "hybrid"}
    return (not pools or pool in pools) and asked & {"armour", "evasion"} <= set(layers)


def _ways(brief: Brief) -> list[Way]:
    """Return pools with their layers, the best way first, without repetition and without what is ruled out."""
    have, usual = brief.class_fact.attributes, _cheap(brief)
    agile = "evasion" if have.get("dex", 0) >= have.get("str", 0) else "armour"
    asked = brief.listed("defence")
    ways = [_asked(brief, asked, usual, agile) if asked else _usual(brief, usual)]
    for name, (pool, first) in _KEYSTONES.items():
        if brief.is_named(name):
            layers = [layer for layer in ways[0][1] if pool != "life" or layer != "energy_shield"] or [agile]
            ways.insert(0, (pool, list(dict.fromkeys([*first, *layers]))))
            break
    ways += _PURE
    for pool in _POOLS:
        shielded = ["energy_shield", *(x for x in usual if x != "energy_shield")]
        ways.append((pool, shielded if pool == "energy_shield" else list(usual)))
    gone = brief.exclusions.terms
    kept: dict[tuple[str, ...], Way] = {}
    for pool, layers in ways:
        fine: Pool = pool
        if "energy shield" in gone and pool != "life":
            fine = "life"
        elif "life" in gone and pool == "life":
            fine = "energy_shield"
        left = [x for x in layers if x.replace("_", " ") not in gone] or [agile]
        kept.setdefault((fine, *left), (fine, left))
    return list(kept.values())


def _cheap(brief: Brief) -> list[str]:
    """Return the layers that go with the class's strongest attributes."""
    have = brief.class_fact.attributes
    if not have:
        return ["armour", "evasion"]
    return [_LAYER[name] for name in _LAYER if have.get(name) == max(have.values())] or ["armour"]


def _usual(brief: Brief, usual: list[str]) -> Way:
    if "energy_shield" not in usual:
        return "life", usual
    if len(usual) > 1 or brief.demands.level < 60:
        return "hybrid", [*(x for x in usual if x != "energy_shield"), "energy_shield"]
    return "energy_shield", usual


def _asked(brief: Brief, asked: list[str], usual: list[str], agile: str) -> Way:
    layers = [word for word in asked if word in {"armour", "evasion"}]
    without = [x for x in usual if x != "energy_shield"]
    if "hybrid" in asked:
        return "hybrid", list(dict.fromkeys([*layers, *usual, "energy_shield"]))
    if "energy_shield" in asked:
        return "energy_shield", list(dict.fromkeys(["energy_shield", *layers, *without]))
    without = without or [agile]
    if "block" in asked and "armour" not in without:
        without = ["armour", *without]
    if "mana" in asked:
        return "hybrid", list(dict.fromkeys([*layers, *usual, "energy_shield"]))
    if layers and "life" not in asked:
        return _usual(brief, usual)[0] if "energy_shield" in usual and brief.demands.level >= 60 else "life", layers
    return "life", layers or without


def _option(brief: Brief, pool: Pool, layers: list[str]) -> Option:
    weight = _GOALS.get(brief.demands.goal, 1.0) * (1.5 if brief.demands.hardcore else 1.0)
    weight *= _GLASS if GLASS_CANNON in brief.listed("style") else 1.0
    choice = SurvivabilityChoice(
        pool=pool,
        mitigation=layers,
        ehp_target=round(brief.demands.floors.ehp.good),
        ehp_weight=round(weight, 3),
    )
    shown = listing(layers)
    pool_word = "life and energy shield" if pool == "hybrid" else pool.replace("_", " ")
    owner, cheap = brief.class_fact.name, _cheap(brief)
    reason = f"The {owner}'s attributes make {shown} cheap, with {pool_word} behind."
    if not set(layers) & set(cheap):
        reason = f"It is worn whatever it asks for, though the {owner}'s attributes make {listing(cheap)} cheap."
    if brief.explicit("defence"):
        asked = listing(brief.listed("defence"))
        reason = f"You asked for {asked}: {pool_word} takes the hits, with {shown} before it."
    elif pool_word == shown and pool in cheap:
        reason = f"The {owner}'s attributes make {shown} cheap."
    lost = {
        "life": "life alone gives this class less than its energy shield"
        if "energy_shield" in cheap
        else f"the class's attributes make {listing(cheap)} cheap",
        "hybrid": "spreading over two pools makes both dearer",
        "energy_shield": "the class starts far from energy shield",
    }[pool]
    return Option(
        name=choice.title,
        choice=choice,
        reason=reason,
        rejected_because="another defence was asked for" if brief.explicit("defence") else lost,
    )
