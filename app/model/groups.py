"""What the skill groups of a build are for."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from app.model.base import Model


class GroupRole(StrEnum):
    """What a player has a skill for."""

    MAIN = "main skill"
    CLEAR = "clear"
    SINGLE_TARGET = "single target"
    MOVEMENT = "movement"
    CURSE = "curse"
    MARK = "mark"
    EXPOSURE = "exposure"
    WARCRY = "warcry"
    HERALD = "herald"
    BANNER = "banner"
    GUARD = "guard"
    MINIONS = "minions"
    OFFERING = "offering"
    TOTEM = "totem"
    EMPOWERMENT = "empowerment"
    LASTING = "lasting buff"
    SUPPORTING = "supporting skill"
    GRANTED = "granted skill"


class GroupUse(Model):
    """What one group is for, and what the engine measures of it.

    `skill` leads it, `supports` are in it. `damage` and `ehp`: shares (0-1) of the build's damage per second and
    effective hit points that go without it, None where the engine sees none. `alone`: damage per second of a second
    damage skill used by itself, which is in no sum of the build. `counted`: whether its lasting effect is in the
    figures; None = it has none that the engine could count. `weapon_set`: the one that it is used with, 0 = either.
    """

    skill: str
    role: GroupRole
    purpose: str
    supports: list[str] = Field(default_factory=list)
    damage: float | None = None
    ehp: float | None = None
    alone: float | None = None
    counted: bool | None = None
    weapon_set: int = 0

    @property
    def line(self) -> str:
        """Return the group in a sentence: what it is for, and its figures where there are any."""
        shares = [(self.damage, "damage"), (self.ehp, "effective hit points")]
        told = [f"{share:.1%} of the {of} hangs on it" for share, of in shares if share is not None]
        told += [f"{self.alone:,.0f} damage per second by itself, not in the sum"] if self.alone is not None else []
        told += ["its effect is not in the figures"] if self.counted is False else []
        told += [f"weapon set {self.weapon_set}"] if self.weapon_set else []
        with_ = f" with {', '.join(self.supports)}" if self.supports else ""
        return f"{self.skill}{with_} - {self.role.value}: {'; '.join([self.purpose, *told])}"
