"""All numbers of a build: an estimate by the game's plain rules, not Path of Building's full model."""

from __future__ import annotations

from app.engine.sketch.defence import Defence, enemy_for
from app.engine.sketch.inspection import Needs
from app.engine.sketch.offence import Offence
from app.engine.sketch.pack import Pack
from app.engine.sketch.sheet import Sheet, Sheets
from app.model.blueprint import Blueprint
from app.model.stats import DPS, FREE_SPIRIT, damage_per_second


class Calculator:
    """Calculates blueprints; holds no build."""

    def __init__(self, pack: Pack, sheets: Sheets, defence: Defence, offence: Offence, needs: Needs) -> None:
        self._game = pack.game
        self._sheets = sheets
        self._defence = defence
        self._offence = offence
        self._needs = needs

    def values(self, blueprint: Blueprint) -> dict[str, float]:
        """Return every output under PoB's names, plus DPS.

        Raises:
            Refused: the blueprint names something the pack does not know.
        """
        sheet = self._sheets.sheet(blueprint)
        pools = self._defence.pools(sheet.stats, blueprint.level)
        enemy = enemy_for(self._game, blueprint.level, blueprint.config)
        out = self._defence.outputs(sheet.stats, pools, enemy, blueprint.config)
        out[FREE_SPIRIT] = pools["spirit"] - sheet.reserved
        out |= self._needs.outputs(sheet)
        if sheet.main is not None:
            out |= self._offence.outputs(sheet, sheet.main, pools, enemy)
        full = self._full_dps(blueprint)
        if full > 0:
            out["FullDPS"] = full
        dps = damage_per_second(out)
        if dps is not None:
            out[DPS] = dps
        return out

    def sheet(self, blueprint: Blueprint) -> Sheet:
        """Return the character sheet the numbers come from."""
        return self._sheets.sheet(blueprint)

    def _full_dps(self, blueprint: Blueprint) -> float:
        total = 0.0
        for index, group in enumerate(blueprint.groups, 1):
            if group.in_full_dps and group.enabled:
                sheet = self._sheets.sheet(blueprint, index)
                pools = self._defence.pools(sheet.stats, blueprint.level)
                enemy = enemy_for(self._game, blueprint.level, blueprint.config)
                if sheet.main is not None:
                    total += self._offence.outputs(sheet, sheet.main, pools, enemy).get("CombinedDPS", 0.0)
        return total
