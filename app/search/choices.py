"""The stage that holds a plan's named choices against the build: what was chosen is in it, unless that is impossible
or costs too much.

For reasoners whose choices bind. The search tries everything, so a chosen skill, support or passive may have lost by a
hair; here it comes in again, in the place of what nobody chose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.knowledge.gems import tags
from app.knowledge.weapons import matches, word_of
from app.model.blueprint import MAIN_HAND
from app.model.construction import ChoiceTrial, StageNotes
from app.model.facts import GemFact
from app.model.moves import AddSkill, CraftItem, Move, RemoveSkill, SetSupports
from app.model.stats import DPS, EHP
from app.search.base import SearchContext, StageResult
from app.search.experiments import MoveExperimenter
from app.search.skills.gems import by_id, support_slots, weapon_types

MARGIN: Final = 0.03
"""What all choices together may cost of the objective: a score lower by this is about 3 % of damage or hit points."""

MOST_BASES: Final = 2


@dataclass(frozen=True)
class NamedChoice:
    """A thing that was chosen by name, and the ways to bring it into the build, each by itself."""

    name: str
    ways: Sequence[Sequence[Move]]


@dataclass(frozen=True)
class Choices:
    """What a plan chose by name, looked up in the build as it is when it is asked."""

    ctx: SearchContext
    experimenter: MoveExperimenter
    gems: Mapping[str, GemFact]

    async def weapon(self) -> list[NamedChoice]:
        """The kind of weapon in the main hand."""
        wanted = self.ctx.plan.delivery.weapon_types[:1]
        if not wanted or matches(list(await weapon_types(self.ctx)), wanted[0]):
            return []
        bases = [base for base in await self.ctx.engine.facts.bases() if word_of(base) == wanted[0]]
        usable = [base for base in bases if base.requirements.get("level", 1) <= self.ctx.demands.level]
        usable.sort(key=lambda base: (-base.requirements.get("level", 1), base.name))
        ways = [[CraftItem(op="craft_item", slot=MAIN_HAND, base=base.name)] for base in usable[:MOST_BASES]]
        return [NamedChoice(wanted[0], ways)]

    async def spirit(self) -> list[NamedChoice]:
        """Persistent skills, in the Spirit of those that nobody chose."""
        return self.skills(self.ctx.plan.spirit.skill_ids, lambda fact: fact.spirit > 0)

    async def helpers(self) -> list[NamedChoice]:
        """Helpers, in the place of a curse or mark that nobody chose."""
        kinds = {"curse", "mark", "appliescurse"}
        return self.skills(self.ctx.plan.delivery.helper_skills, lambda fact: not kinds.isdisjoint(tags(fact)))

    def skills(self, chosen: Sequence[str], gives_way: Callable[[GemFact], bool]) -> list[NamedChoice]:
        """Return the chosen skills that are missing; those that give way do so one by one, or all at once."""
        build = self.experimenter.incumbent.blueprint
        plan = self.ctx.plan
        wanted = {plan.delivery.skill_id, *plan.spirit.skill_ids, *plan.delivery.helper_skills}
        there = [self.gems[group.gems[0].gem_id] for group in build.groups if group.gems[0].gem_id in self.gems]
        named = {name.casefold() for name in self.ctx.invariants.listed("with")}
        spare = [
            RemoveSkill(op="remove_skill", skill=fact.name)
            for fact in there
            if fact.id not in wanted and fact.name.casefold() not in named and gives_way(fact)
        ]
        found = []
        for fact in (self.gems[i] for i in chosen if i in self.gems and i not in {one.id for one in there}):
            add = AddSkill(op="add_skill", skill=fact.name)
            ways: list[list[Move]] = [[add]]
            ways += [[one, add] for one in spare]
            ways += [[*spare, add]] if len(spare) > 1 else []
            found.append(NamedChoice(fact.name, ways))
        return found

    async def supports(self) -> list[NamedChoice]:
        """Supports of the main skill, added or in the place of one that nobody chose."""
        chosen = [self.gems[i] for i in self.ctx.plan.delivery.supports if i in self.gems]
        main = self.experimenter.incumbent.blueprint.main
        if main is None or not chosen:
            return []
        have = [gem.name for gem in main.gems[1:]]
        names = {fact.name for fact in chosen}
        room = len(have) < support_slots(self.ctx.demands.level)
        found = []
        for name in (fact.name for fact in chosen if fact.name not in have):
            teams = [[*have, name]] if room else []
            teams += [[name if one == other else one for one in have] for other in have if other not in names]
            skill = main.gems[0].name
            ways = [[SetSupports(op="set_supports", skill=skill, supports=team)] for team in teams]
            found.append(NamedChoice(name, ways))
        return found

    async def notables(self) -> list[NamedChoice]:
        """Ascendancy passives, in the place of those that nobody chose."""
        build, chosen = self.experimenter.incumbent.blueprint, self.ctx.plan.ascendancy.notables
        owned = {node.id for node in build.nodes}
        nodes = {node.id: node.name for node in await self.ctx.engine.facts.nodes()}
        missing = [node for node in chosen if node in nodes and node not in owned]
        reader = self.experimenter.reader
        return [NamedChoice(nodes[one], reader.exchanges(build, one, frozenset(chosen))) for one in missing]


async def hold_choices(ctx: SearchContext) -> StageResult:
    """Bring in what was chosen and is missing, while that costs no more than the margin in all; note what stays out."""
    experimenter = await MoveExperimenter.open(ctx)
    choices = Choices(ctx, experimenter, by_id(await ctx.engine.facts.gems()))
    left, trials = MARGIN, list[ChoiceTrial]()
    for kind in (choices.weapon, choices.spirit, choices.helpers, choices.supports, choices.notables):
        names = [one.name for one in await kind()]
        for name in names:
            # what came in before may have changed the ways
            now = next((one for one in await kind() if one.name == name), None)
            if now is None:
                continue
            before = dict(experimenter.incumbent.outputs)
            trial, is_held = await experimenter.hold(now.ways, left)
            left += min(trial.gain or 0.0, 0.0) if is_held else 0.0
            trials.append(
                ChoiceTrial(
                    name=name,
                    held=is_held,
                    gain=trial.gain,
                    problem=trial.problem,
                    without={key: before[key] for key in (DPS, EHP) if key in before},
                    figures=dict(trial.figures),
                )
            )
    told = [f"{trial.name} {'held' if trial.held else 'left out'}" for trial in trials]
    label = f"choices: {', '.join(told) or 'every one is in the build'}"
    notes = StageNotes(choices=trials, for_ideas=ctx.notes.for_ideas + experimenter.spent)
    return StageResult(experimenter.incumbent.blueprint, notes, label=label)
