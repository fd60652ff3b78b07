-- Marks as they help in a fight (docs/damage.md), not as Path of Building takes them: as always up.
-- What the stat of a skill gives is had under a condition that nothing brings about.
local function uncounted(skill, stat)
	for _, set in ipairs(data.skills[skill] and data.skills[skill].statSets or {}) do
		for _, mod in ipairs(rawget(set.statMap, stat) or {}) do
			mod[#mod + 1] = { type = "Condition", var = "UncountedMark" }
		end
	end
end

-- Ten seconds of a buff once the marked enemy is electrocuted or frozen. By Path of Building's own figures lightning builds
-- up no electrocution by itself, and bosses freeze once in twenty seconds (Comet) to minutes.
uncounted("VoltaicMarkPlayer", "thaumaturgist_mark_damage_buff_damage_%_to_gain_as_lightning")
uncounted("FreezingMarkPlayer", "freezing_mark_damage_buff_damage_%_to_gain_as_cold")

-- The next critical hit uses up a Sniper's Mark: it does not raise the damage of every one.
uncounted("SnipersMarkPlayer", "enemy_additional_critical_strike_multiplier_against_self")
