-- Marks as they help in a fight (docs/damage.md). Those that answer to an ailment give a buff, which Path of Building takes as always up. It is not counted for skills that
-- cannot inflict the ailment (docs/damage.md): Elemental Focus and a Voltaic Mark together would be 1.25 x 1.5 the damage.
local ANSWERS = {
	VoltaicMarkPlayer = { stat = "thaumaturgist_mark_damage_buff_damage_%_to_gain_as_lightning", unless = "CannotElectrocute" },
	FreezingMarkPlayer = { stat = "freezing_mark_damage_buff_damage_%_to_gain_as_cold", unless = "CannotFreeze" },
}

-- What a flag of a skill says becomes a condition, too, which a modifier from elsewhere can ask for.
local function as_condition(flag)
	for _, map in pairs(data.skillStatMap) do
		for place = 1, #map do
			if map[place].name == flag then
				local condition = copyTable(map[place])
				condition.name = "Condition:" .. flag
				map[#map + 1] = condition
			end
		end
	end
end

for skill, answer in pairs(ANSWERS) do
	as_condition(answer.unless)
	for _, set in ipairs(data.skills[skill] and data.skills[skill].statSets or {}) do
		for _, mod in ipairs(rawget(set.statMap, answer.stat) or {}) do
			mod[#mod + 1] = { type = "Condition", var = answer.unless, neg = true }
		end
	end
end

-- The next critical hit uses up a Sniper's Mark: it does not raise the damage of every one.
for _, set in ipairs(data.skills.SnipersMarkPlayer and data.skills.SnipersMarkPlayer.statSets or {}) do
	for _, mod in ipairs(rawget(set.statMap, "enemy_additional_critical_strike_multiplier_against_self") or {}) do
		mod[#mod + 1] = { type = "Condition", var = "MarkedForEveryHit" }
	end
end
