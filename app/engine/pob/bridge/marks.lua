-- Marks as they help in a fight (docs/damage.md), not as Path of Building takes them: as always up.
-- What the stat of a skill gives is had under a condition only.
local function under(skill, stat, condition)
	for _, set in ipairs(data.skills[skill] and data.skills[skill].statSets or {}) do
		for _, mod in ipairs(rawget(set.statMap, stat) or {}) do mod[#mod + 1] = condition end
	end
end

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

-- The buff of a mark that answers to an ailment does not count for skills that cannot inflict it: Elemental Focus and a
-- Voltaic Mark together would be 1.25 x 1.5 the damage.
local function answering(skill, stat, flag)
	as_condition(flag)
	under(skill, stat, { type = "Condition", var = flag, neg = true })
end

answering("VoltaicMarkPlayer", "thaumaturgist_mark_damage_buff_damage_%_to_gain_as_lightning", "CannotElectrocute")
answering("FreezingMarkPlayer", "freezing_mark_damage_buff_damage_%_to_gain_as_cold", "CannotFreeze")

-- The next critical hit uses up a Sniper's Mark: it does not raise the damage of every one.
local never = { type = "Condition", var = "MarkedForEveryHit" }
under("SnipersMarkPlayer", "enemy_additional_critical_strike_multiplier_against_self", never)
