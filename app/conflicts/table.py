"""The rule table of validate: every rule, in the order in which its conflicts are shown."""

from __future__ import annotations

from app.conflicts.case import Case, Rule
from app.conflicts.items import (
    charms_within_limit,
    hands_free,
    items_legal,
    no_unparsed_line,
    uniques_within_reach,
)
from app.conflicts.points import (
    ascendancy_points,
    no_point_unspent,
    passives_connected,
    points_within_level,
    tree_of_today,
    weapon_set_points,
)
from app.conflicts.requirements import (
    gems_within_level,
    holds_what_was_decided,
    main_skill_usable,
    no_engine_warning,
    no_gem_without_effect,
    requirements_met,
    skills_to_be_had,
    supports_affordable,
)
from app.conflicts.resources import main_skill_sustained, spirit_within_pool
from app.conflicts.roots import with_causes, with_roles
from app.conflicts.strength import (
    called_minions,
    chaos_resistance,
    damage,
    effective_hit_points,
    largest_hits,
    pace,
    passives_and_items_in_full,
    plausible_damage,
    readiness,
    recovery_in_fights,
    resistances,
    supports_and_items_at_times,
)
from app.conflicts.wishes import asked_for, nothing_excluded
from app.model.conflicts import BuildConflict

RULES: tuple[Rule, ...] = (
    # what was asked for
    asked_for,
    nothing_excluded,
    # points
    tree_of_today,
    points_within_level,
    weapon_set_points,
    passives_connected,
    ascendancy_points,
    no_point_unspent,
    # requirements
    main_skill_usable,
    holds_what_was_decided,
    requirements_met,
    supports_affordable,
    gems_within_level,
    skills_to_be_had,
    # resources
    spirit_within_pool,
    main_skill_sustained,
    # items and gems
    items_legal,
    no_unparsed_line,
    uniques_within_reach,
    hands_free,
    charms_within_limit,
    no_gem_without_effect,
    no_engine_warning,
    # strength
    resistances,
    chaos_resistance,
    effective_hit_points,
    largest_hits,
    recovery_in_fights,
    damage,
    plausible_damage,
    readiness,
    pace,
    called_minions,
    supports_and_items_at_times,
    passives_and_items_in_full,
)


def find_conflicts(case: Case) -> list[BuildConflict]:
    """Apply every rule, then tell causes from consequences; one conflict per id, in rule order."""
    found: dict[str, BuildConflict] = {}
    for rule in RULES:
        for conflict in rule(case):
            found.setdefault(conflict.id, conflict)
    return related(list(found.values()))


def related(conflicts: list[BuildConflict]) -> list[BuildConflict]:
    """Return the conflicts with their causes, as roots and symptoms."""
    return with_roles(with_causes(conflicts))
