"""Survivability: which pool takes the hits and which layers soften them."""

from __future__ import annotations

from collections.abc import Iterator

from app.knowledge.words import listing
from app.model.names import Demand, Goal, Provenance, SubProblemName
from app.model.sub_problems import Decision, Option, SurvivabilityChoice
from app.reasoning.questions.brief import Brief
from app.reasoning.questions.options import decide, fresh

_NAME = SubProblemName.SURVIVABILITY
_STEP = 1.5
_LAYER = {"str": "armour", "dex": "evasion", "int": "energy_shield"}
_POOLS = ("life", "hybrid", "energy_shield")


def decide_survivability(brief: Brief) -> Decision:
    """Follow the defence asked for, else what the class's attributes make cheap."""
    options = [_option(brief, pool, layers) for pool, layers in _ways(brief)]
    chosen = fresh(brief, _NAME, _heavier(brief, options[0]))
    provenance = Provenance.EXPLICIT if brief.explicit("defence") else Provenance.INFERRED
    return decide(brief, _NAME, [chosen, *options[1:]], provenance)


def _ways(brief: Brief) -> list[tuple[str, list[str]]]:
    """Return pools with their layers, the best way first, without repetition and without what is ruled out."""
    usual = _usual_layers(brief)
    asked = brief.listed("defence")
    ways = [_asked(brief, asked, usual)] if asked else [_usual_way(brief, usual)]
    for pool in _POOLS:
        layers = usual if pool != "energy_shield" else ["energy_shield", *(x for x in usual if x != "energy_shield")]
        ways.append((pool, layers if pool == "energy_shield" or len(layers) > 1 else [*layers]))
    gone = brief.exclusions.terms
    kept: dict[tuple[str, ...], tuple[str, list[str]]] = {}
    for pool, layers in ways:
        no_shield = "energy shield" in gone
        fine = (
            "life" if no_shield and pool != "life" else "energy_shield" if "life" in gone and pool == "life" else pool
        )
        left = [x for x in layers if x.replace("_", " ") not in gone] or ["evasion" if _dexterous(brief) else "armour"]
        kept.setdefault((fine, *left), (fine, left))
    return list(kept.values())


def _usual_layers(brief: Brief) -> list[str]:
    """Return the defences of the class's attributes, the strongest attribute first."""
    have = brief.class_fact.attributes
    if not have:
        return ["armour", "evasion"]
    most = max(have.values())
    return [_LAYER[name] for name in ("str", "dex", "int") if have.get(name) == most] or ["armour"]


def _usual_way(brief: Brief, usual: list[str]) -> tuple[str, list[str]]:
    if "energy_shield" not in usual:
        return "life", usual
    if len(usual) > 1 or brief.demands.level < 60:
        return "hybrid", [*(x for x in usual if x != "energy_shield"), "energy_shield"]
    return "energy_shield", usual


def _asked(brief: Brief, asked: list[str], usual: list[str]) -> tuple[str, list[str]]:
    layers = [word for word in asked if word in {"armour", "evasion"}]
    if "hybrid" in asked:
        return "hybrid", list(dict.fromkeys([*layers, *usual, "energy_shield"]))
    if "energy_shield" in asked:
        return "energy_shield", list(
            dict.fromkeys(["energy_shield", *layers, *(x for x in usual if x != "energy_shield")])
        )
    without = [x for x in usual if x != "energy_shield"] or ["evasion" if _dexterous(brief) else "armour"]
    if "block" in asked and "armour" not in without:
        without = ["armour", *without]
    if "mana" in asked:
        return "hybrid", list(dict.fromkeys([*layers, *usual, "energy_shield"]))
    if layers and "life" not in asked:
        return _usual_way(brief, usual)[0] if "energy_shield" in usual and brief.demands.level >= 60 else "life", layers
    return "life", layers or without


def _dexterous(brief: Brief) -> bool:
    have = brief.class_fact.attributes
    return have.get("dex", 0) >= have.get("str", 0)


def _option(brief: Brief, pool: str, layers: list[str]) -> Option:
    weight = (1.5 if brief.demands.hardcore else 1.0) * (1.15 if brief.demands.goal is Goal.BOSSING else 1.0)
    choice = SurvivabilityChoice.model_validate(
        {
            "pool": pool,
            "mitigation": layers,
            "ehp_target": round(brief.demands.floors.ehp.good * (1.25 if brief.demands.hardcore else 1.0)),
            "ehp_weight": round(weight, 3),
        }
    )
    shown = listing(layers)
    name = pool.replace("_", " ") if layers == [pool] else f"{pool.replace('_', ' ')} with {shown}"
    return Option(name=name, choice=choice, reason=_reason(brief, pool, shown), rejected_because=_lost(brief, pool))


def _reason(brief: Brief, pool: str, shown: str) -> str:
    pool_word = {"hybrid": "life and energy shield"}.get(pool, pool.replace("_", " "))
    if brief.explicit("defence"):
        asked = listing(brief.listed("defence"))
        return f"You asked for {asked}: {pool_word} takes the hits, with {shown} before it."
    if pool_word == shown:
        return f"The {brief.class_fact.name}'s attributes make {shown} cheap."
    return f"The {brief.class_fact.name}'s attributes make {shown} cheap, with {pool_word} behind."


def _lost(brief: Brief, pool: str) -> str:
    if brief.explicit("defence"):
        return "another defence was asked for"
    return {
        "life": "life alone gives this class less than its energy shield",
        "hybrid": "spreading over two pools makes both dearer",
    }.get(pool, "the class starts far from energy shield")


def _heavier(brief: Brief, option: Option) -> Iterator[Option]:
    """Yield the answer with the weight that conflicts ask for, then ever heavier."""
    assert isinstance(option.choice, SurvivabilityChoice)
    steps = len(brief.constraints(_NAME, Demand.MORE_EFFECTIVE_LIFE))
    while True:
        weight = round(option.choice.ehp_weight * _STEP**steps, 3)
        name = option.name if not steps else f"{option.name}, weighed {_STEP**steps:.3g} times"
        yield option.model_copy(
            update={"name": name, "choice": option.choice.model_copy(update={"ehp_weight": weight})}
        )
        steps += 1
