"""The closed vocabularies: phases, sub-problems, statuses, conflict types."""

from __future__ import annotations

from enum import StrEnum


class Phase(StrEnum):
    """Where a build stands."""

    DECOMPOSE = "decompose"
    EXPLORE = "explore"
    CONSTRUCT = "construct"
    VALIDATE = "validate"
    ITERATE = "iterate"
    COMPLETE = "complete"


class Trigger(StrEnum):
    """What moves a build from one phase to the next (the table is in `app.machine.phases`)."""

    DECOMPOSED = "decomposed"
    EXPLORED = "explored"
    CONSTRUCTED = "constructed"
    ASSUMPTION_FAILED = "assumption_failed"
    CONFLICTS_FOUND = "conflicts_found"
    VALIDATED = "validated"
    REOPENED = "reopened"
    GAVE_UP = "gave_up"


LOCAL_OWNER = "local"
"""Whose builds those are that no access token came with."""


class BuildStatus(StrEnum):
    """The life of a build as its owner sees it."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Outcome(StrEnum):
    """How a complete build ended."""

    VALIDATED = "validated"
    CAVEATS = "caveats"


class Mode(StrEnum):
    """Why a build is made; sets entry phase and exploration budget."""

    INITIAL = "initial"
    REFINEMENT = "refinement"
    STRATEGIC = "strategic"


class Effort(StrEnum):
    """How much is tried for a build: counted in evaluations, never in seconds, so that it gives the same everywhere."""

    QUICK = "quick"
    NORMAL = "normal"
    DEEP = "deep"


class GearTier(StrEnum):
    """How good the gear may be: what real players of a stage own, or (`mirror`) the best that can exist."""

    STARTER = "starter"
    MID = "mid"
    ENDGAME = "endgame"
    MIRROR = "mirror"

    @property
    def has_rarities(self) -> bool:
        """Return whether the owner has lineage supports, which only one boss drops."""
        return self in (GearTier.ENDGAME, GearTier.MIRROR)


class UniqueTier(StrEnum):
    """How hard a unique item is to come by, from what anybody finds to what hardly anybody ever does."""

    COMMON = "common"
    RARE = "rare"
    CHASE = "chase"

    @property
    def rank(self) -> int:
        """Return the place in that order, from 0."""
        return list(UniqueTier).index(self)


class Goal(StrEnum):
    """What the build is for."""

    MAPPING = "mapping"
    BOSSING = "bossing"
    LEVELING = "leveling"
    ALL_ROUND = "all_round"


class SubProblemName(StrEnum):
    """The seven questions every build answers."""

    ASCENDANCY = "ascendancy"
    DAMAGE_DELIVERY = "damage_delivery"
    DAMAGE_SCALING = "damage_scaling"
    SURVIVABILITY = "survivability"
    RESOURCE_SUSTAIN = "resource_sustain"
    SPIRIT_ALLOCATION = "spirit_allocation"
    STAT_REQUIREMENTS = "stat_requirements"


class SubProblemStatus(StrEnum):
    """How far a question is answered."""

    PENDING = "pending"
    EXPLORING = "exploring"
    DECIDED = "decided"
    BLOCKED = "blocked"


class Provenance(StrEnum):
    """Where a value comes from."""

    EXPLICIT = "explicit"
    INFERRED = "inferred"
    DEFAULT = "default"


class ConflictType(StrEnum):
    """What can be wrong with a build."""

    DAMAGE_GAP = "damage_gap"
    SURVIVABILITY_GAP = "survivability_gap"
    RESISTANCE_GAP = "resistance_gap"
    SUSTAIN_GAP = "sustain_gap"
    STAT_REQUIREMENT = "stat_requirement"
    SPIRIT_OVERFLOW = "spirit_overflow"
    TREE_OVERFLOW = "tree_overflow"
    ATTRIBUTE_SQUEEZE = "attribute_squeeze"
    GEAR_SLOT_CONTENTION = "gear_slot_contention"
    ILLEGAL_ITEM = "illegal_item"
    INEFFECTIVE_SUPPORT = "ineffective_support"
    CORE_ASSUMPTION_INVALIDATED = "core_assumption_invalidated"
    GOAL_MISMATCH = "goal_mismatch"
    INVARIANT_VIOLATED = "invariant_violated"


class Severity(StrEnum):
    """Blocking conflicts trigger iteration; warnings become caveats."""

    BLOCKING = "blocking"
    WARNING = "warning"


class Role(StrEnum):
    """Whether a conflict is a cause or a consequence."""

    ROOT = "root"
    SYMPTOM = "symptom"


class Attribute(StrEnum):
    """The three attributes, also the choice an attribute passive offers."""

    STRENGTH = "str"
    DEXTERITY = "dex"
    INTELLIGENCE = "int"

    @property
    def word(self) -> str:
        """The attribute's whole name, in lower case."""
        return self.name.lower()


class Demand(StrEnum):
    """What a conflict asks of the next answer to a question; carried by suggestions and constraints."""

    MORE_DAMAGE = "more_damage"
    MORE_EFFECTIVE_LIFE = "more_effective_life"
    MORE_RESISTANCE = "more_resistance"
    MORE_ATTRIBUTES = "more_attributes"
    CHEAPER_SKILL = "cheaper_skill"
    MORE_RECOVERY = "more_recovery"
    LESS_SPIRIT = "less_spirit"
    DROP_SUPPORT = "drop_support"
    SPEND_POINTS = "spend_points"
    FEWER_POINTS = "fewer_points"
    REPLACE_ITEM = "replace_item"
    OTHER_WEAPON = "other_weapon"
    OTHER_SKILL = "other_skill"
